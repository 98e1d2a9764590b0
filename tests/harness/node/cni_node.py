"""cni-node as a program, on directories of its own."""

import os
import signal
import subprocess
from pathlib import Path

from harness.machine.wait import PATIENCE, until

PLUGINS = ("host-device", "host-local", "ipvlan", "macvlan", "multus-cni", "vlan")


class CniNode:
    """A node's directories and the program that fills them."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = Path(folder)
        self.plugin_source = self.folder / "plugins"
        self.templates = self.folder / "templates"
        self.manifests = self.folder / "manifests"
        self.bin = self.folder / "host" / "opt" / "cni" / "bin"
        self.net = self.folder / "host" / "etc" / "cni" / "net.d"
        self.state = self.folder / "host" / "var" / "lib" / "cni-node" / "state.json"
        for folder_ in (self.plugin_source, self.templates, self.manifests, self.net):
            folder_.mkdir(parents=True)
        for name in PLUGINS:
            self.add_plugin(name)
        self.env = {"CNI_NODE_PLUGIN_SOURCE": str(self.plugin_source), "CNI_NODE_CONFIG_SOURCE": str(self.templates),
                    "CNI_NODE_MANIFEST_SOURCE": str(self.manifests), "CNI_NODE_HOST_ROOT": str(self.folder / "host"),
                    "PATH": os.environ["PATH"]}
        self.running = []

    def add_plugin(self, name, text=None):
        path = self.plugin_source / name
        path.write_text(text or f"#!/bin/sh\n# {name}\n")
        path.chmod(0o700)
        return path

    def run(self, *words, **env):
        return subprocess.run([self.program, *map(str, words)], env={**self.env, **env}, cwd=self.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def start(self, *words, **env):
        running = Running(self, words, env)
        self.running.append(running)
        return running

    def installed(self):
        return sorted(path.name for path in self.bin.iterdir()) if self.bin.exists() else []

    def configs(self):
        return sorted(path.name for path in self.net.iterdir())

    def close(self):
        for running in self.running:
            running.kill()


def replace(path, text):
    """At once: a program that follows the file sees the old text or the new one, never an empty file."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text)
    beside.rename(path)


class Running:
    """A cni-node in the background, its output in files."""

    def __init__(self, node, words, env):
        self.out = node.folder / f"out-{len(node.running)}"
        self.err = node.folder / f"err-{len(node.running)}"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([node.program, *map(str, words)], env={**node.env, **env}, stdout=out,
                                            stderr=err, stdin=subprocess.DEVNULL, cwd=node.folder)

    @property
    def stdout(self):
        return self.out.read_text()

    @property
    def stderr(self):
        return self.err.read_text()

    def wait_for(self, text, timeout=PATIENCE):
        until(lambda: text in self.stdout or text in self.stderr or self.process.poll() is not None, lambda:
              f"{text!r} in:\n{self.stdout}\n{self.stderr}", timeout)
        assert text in self.stdout or text in self.stderr, f"ended:\n{self.stdout}\n{self.stderr}"
        return self

    def stop(self, how=signal.SIGTERM, timeout=PATIENCE):
        """Its exit status."""
        self.process.send_signal(how)
        return self.process.wait(timeout)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
