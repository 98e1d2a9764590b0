"""cni-node under faults: killed at random moments, two at a time, on a full disk, without its API (04, 4: row 131).

  tool_chaos PROGRAM [--times N] [--seed S]

Runs in a mount namespace of its own (unshare -m): the node's disk is a small tmpfs. After each fault every file must be whole, and
after the next run as asked; when everything is taken away again the node must be as it was. The seed repeats a run, but for the
moments at which the kernel lets processes run.
"""

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PLUGINS = ("bridge", "host-device", "ipvlan", "macvlan", "vlan")
CONFIGS = ("05-m.conf", "06-n.conf")
LARGE = 300_000  # so that a kill may meet a half-written file
PATIENCE = 60


class Wrong(AssertionError):
    """What was found, and after what."""


class Chaos:
    def __init__(self, program, folder, seed):
        self.random = random.Random(seed)
        self.program, self.folder = program, Path(folder)
        self.host = self.folder / "host"
        self.bin, self.net = self.host / "opt/cni/bin", self.host / "etc/cni/net.d"
        self.state = self.host / "var/lib/cni-node/state.json"
        self.sources, self.templates, self.manifests = (self.folder / name for name in ("plugins", "templates", "manifests"))
        for path in (self.bin, self.net, self.state.parent, self.sources, self.templates, self.manifests):
            path.mkdir(parents=True)
        self.env = {"CNI_NODE_HOST_ROOT": str(self.host), "CNI_NODE_PLUGIN_SOURCE": str(self.sources),
                    "CNI_NODE_CONFIG_SOURCE": str(self.templates), "CNI_NODE_MANIFEST_SOURCE": str(self.manifests),
                    "KUBECONFIG": str(self.folder / "kubeconfig"), "PATH": os.environ["PATH"]}
        self.env |= {key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")}
        self.story = []
        self.version = 0
        self.upgrade()
        (self.templates / "05-m.conf").write_text('{"type": "multus-cni", "delegates": [\n__10-calico.conflist__\n]}\n')
        (self.templates / "06-n.conf").write_text('{"type": "bridge", "x": "%s"}\n' % ("n" * 20_000))
        (self.manifests / "m.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
        (self.folder / "kubeconfig").write_text(json.dumps({"current-context": "c", "clusters": [
            {"name": "k", "cluster": {"server": "http://127.0.0.1:1"}}], "contexts": [
                {"name": "c", "context": {"cluster": "k"}}]}))
        # Another program's: one that differs from ours, one that does not, and some that nothing names.
        self.foreign = {}
        self.put_foreign(self.bin / "macvlan", b"another's macvlan", 0o750)
        self.put_foreign(self.bin / "ipvlan", (self.sources / "ipvlan").read_bytes(), 0o755)
        self.put_foreign(self.bin / "calico", b"another's calico", 0o755)
        self.put_foreign(self.net / "10-calico.conflist", b'{"name": "k8s"}', 0o600)
        self.put_foreign(self.net / "06-n.conf", b'{"theirs": true}', 0o644)
        self.untouched = {path: self.identity(path) for path in (self.bin / "calico", self.net / "10-calico.conflist")}

    def put_foreign(self, path, content, mode):
        beside = path.with_name(f".distribution-{path.name}")
        beside.write_bytes(content)
        beside.chmod(mode)
        beside.rename(path)
        self.foreign[path] = (content, mode)

    @staticmethod
    def identity(path):
        stat = path.stat()
        return stat.st_ino, stat.st_mtime_ns, stat.st_mode

    def upgrade(self):
        """Other bytes for all plugins of the image but ipvlan, which another program has in the same version."""
        self.version += 1
        for name in PLUGINS:
            version = 0 if name == "ipvlan" else self.version
            beside = self.sources / ".new"
            beside.write_bytes(f"{name} {version}\n".encode() * (LARGE // 16))
            beside.rename(self.sources / name)

    # What is done, and how it is disturbed.

    def start(self, *words):
        self.story.append(" ".join(words))
        return subprocess.Popen([self.program, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, text=True)

    def run(self, *words, status=0):
        process = self.start(*words)
        said, _ = process.communicate(timeout=PATIENCE)
        if status is not None and process.returncode != status:
            raise Wrong(f"{words} ended with {process.returncode}:\n{said}")
        return said

    def some(self, names):
        return self.random.sample(names, self.random.randint(1, len(names)))

    def words(self):
        """A command with random lists."""
        command = self.random.choice(["install", "install", "apply", "uninstall", "watch", "watch", "rollback"])
        if command == "rollback":
            return [command]
        plugins, configs = ",".join(self.some(PLUGINS)), ",".join(self.some(CONFIGS))
        if command == "apply":
            plugins += ":" + ",".join(self.some(PLUGINS))
        words = [command, f"--plugins={plugins}", f"--configs={configs}", "--quiet"]
        if command == "watch" and self.random.random() < 0.5:
            words.append("--cleanup-on-exit")
        elif command != "watch" and self.random.random() < 0.2:
            words += ["--manifests=m.yaml", "--timeout=1s"]  # the API is away
        return words

    def disturb(self, process):
        """Ends it at a random moment."""
        time.sleep(self.random.random() ** 2 * 0.25)
        how = self.random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM])
        self.story.append(f"  signal {how}")
        process.send_signal(how)
        process.communicate(timeout=PATIENCE)

    @contextlib.contextmanager
    def full_disk(self):
        filler = self.host / "filler"
        self.story.append("  full disk")
        with open(filler, "wb", buffering=0) as out, contextlib.suppress(OSError):
            free = os.statvfs(self.host).f_bavail * os.statvfs(self.host).f_frsize
            out.write(b"\0" * max(0, free - self.random.randint(0, 2 * LARGE)))
        try:
            yield
        finally:
            filler.unlink()

    def fault(self):
        kind = self.random.choice(["one", "one", "two", "full"])
        if self.random.random() < 0.3:
            self.upgrade()
        if kind == "full":
            with self.full_disk():
                self.disturb(self.start(*self.words()))
            return
        processes = [self.start(*self.words()) for _ in range(2 if kind == "two" else 1)]
        if self.random.random() < 0.3:
            self.put_foreign(self.bin / "macvlan", b"another's macvlan %d" % self.random.randint(0, 9), 0o755)
        for process in processes:
            self.disturb(process)

    # What must hold.

    def check_whole(self):
        """Nothing is in between: a file is one of another program, or one of ours from its first byte to its last."""
        for path in [*self.bin.iterdir(), *self.net.iterdir()]:
            if path.name.startswith("."):
                if path.name.endswith((".conf", ".conflist", ".json")):
                    raise Wrong(f"a left-over that CNI loaders take: {path}")
                continue
            content = path.read_bytes()
            if path in self.foreign and self.foreign[path][0] == content:
                continue
            if path.parent == self.net:
                json.loads(content)
                continue
            lines = content.split(b"\n")
            if len(set(lines[:-1])) != 1 or len(lines) != LARGE // 16 + 1:
                raise Wrong(f"{path} is neither ours nor another's: {content[:60]!r}, {len(content)} bytes")
        for path, was in self.untouched.items():
            if self.identity(path) != was:
                raise Wrong(f"{path} was touched")

    def check_asked(self):
        """The next run makes everything as asked."""
        plugins, configs = self.some(PLUGINS), self.some(CONFIGS)
        self.run("install", f"--plugins={','.join(plugins)}", f"--configs={','.join(configs)}", "--quiet")
        for name in plugins:
            if (self.bin / name).read_bytes() != (self.sources / name).read_bytes():
                raise Wrong(f"{name} is not as asked")
        self.run("verify", f"--plugins={','.join(plugins)}", f"--configs={','.join(configs)}")
        if self.random.random() < 0.3:
            self.run("rollback", status=None)
            self.check_whole()

    def check_undone(self):
        """Removes what is left, by a watch with empty lists and then by command: the node is as it was before."""
        watch = self.start("watch", "--plugins=", "--configs=", "--quiet")
        end = time.monotonic() + PATIENCE
        while any(json.loads(self.state.read_text())[key] for key in ("plugins", "configs")):
            if time.monotonic() > end:
                raise Wrong(f"still in the ledger: {self.state.read_text()}")
            time.sleep(0.02)
        watch.terminate()
        watch.communicate(timeout=PATIENCE)
        self.run("uninstall", f"--plugins={','.join(PLUGINS)}", f"--configs={','.join(CONFIGS)}", "--quiet")
        found = {path: (path.read_bytes(), path.stat().st_mode & 0o7777) for folder in (self.bin, self.net)
                 for path in folder.iterdir() if not path.name.startswith(".")}
        if found != self.foreign:
            names = {path for path in {*found, *self.foreign} if found.get(path) != self.foreign.get(path)}
            raise Wrong(f"not as before: { {str(path): found.get(path, (b'nothing',))[0][:40] for path in names} }")
        if json.loads(self.state.read_text())["files"]:
            raise Wrong(f"still in the ledger: {self.state.read_text()}")
        if self.version == 1:
            assert (self.bin / "ipvlan").stat()

    def round(self):
        self.story.clear()
        self.fault()
        self.check_whole()
        self.check_asked()
        self.check_undone()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--times", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "none", folder], check=True)
        chaos = Chaos(options.program, folder, options.seed)
        try:
            for number in range(options.times):
                chaos.round()
                if (number + 1) % 50 == 0:
                    print(f"{number + 1} of {options.times}", flush=True)
        except Exception as wrong:
            print(f"round {number + 1}, seed {options.seed}:", *chaos.story, f"{type(wrong).__name__}: {wrong}", sep="\n")
            sys.exit(1)
        finally:
            subprocess.run(["umount", "-l", folder], check=False)
    print(f"{options.times} times, seed {options.seed}: each item was as asked or as before")


if __name__ == "__main__":
    main()
