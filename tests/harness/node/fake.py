"""The fake delegate (tests/fakes/fake_delegate.cc) as seen by a test: what it has to do, and how it was called."""

import base64
import json
import shutil
from dataclasses import dataclass
from typing import Optional

from harness.machine.host import PLUGIN_DIR
from harness.machine.wait import PATIENCE, until, whole_lines

FOLDER = "/srv/fake"
RECORD = f"{FOLDER}/calls"
# A fake that really makes what its result says: a link in the pod, which DEL removes.
LINKING = """#!/bin/sh
pod=${CNI_NETNS##*/}
case $CNI_COMMAND in
ADD) ip -n "$pod" link add "$CNI_IFNAME" type bridge || exit 9 ;;
DEL) ip -n "$pod" link del "$CNI_IFNAME" 2>/dev/null ;;
esac
exec %s
"""


@dataclass
class Call:
    command: str
    network: str  # the name in its configuration
    env: dict
    stdin: bytes
    cwd: str
    fds: list
    pid: int
    pgid: int
    begin: float
    end: Optional[float] = None  # None: it did not end by itself

    @property
    def conf(self):
        return json.loads(self.stdin)

    @property
    def args(self):
        pairs = [pair.partition("=") for pair in self.env["CNI_ARGS"].split(";") if pair]
        return {key: value for key, _, value in pairs}


class Gate:
    """A place where a program stops until the test lets it go on."""

    def __init__(self, host, path):
        self.host = host
        self.path = path

    def reached(self, timeout=PATIENCE):
        until(lambda: self.host.path(self.path + ".here").exists(), f"gate {self.path} reached", timeout)

    def open(self):
        self.host.write(self.path, "")


def _call(entry):
    env = dict(variable.split("=", 1) for variable in entry["env"])
    return Call(entry["command"], entry["network"], env, base64.b64decode(entry["stdin"]), entry["cwd"],
                entry["descriptors"], entry["pid"], entry["group"], entry["time_ns"] / 1e9)


class Fake:
    def __init__(self, host, name="fake", program=None):
        """`program`: where it is, if not beside the host's programs."""
        self.host = host
        self._program = program or host.programs.parent / "tools" / "fake-delegate"
        assert self._program.exists(), f"{self._program} is not built"
        self._gates = 0
        host.path(FOLDER).mkdir(exist_ok=True)
        self.install(name)

    def install(self, name, folder=PLUGIN_DIR):
        """Puts the fake under another plugin name or into another folder."""
        target = self.host.path(f"{folder}/{name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)  # not through a link, which may lead anywhere
        shutil.copyfile(self._program, target)
        target.chmod(0o755)
        return target

    def install_linking(self, name="linking"):
        """Installs a fake that makes a link, and whose result lists it."""
        self.host.write(f"{PLUGIN_DIR}/{name}", LINKING % f"{PLUGIN_DIR}/fake", mode=0o755)
        return name

    def orders(self, **behaviour):
        """The member "fake" of a configuration; keywords are commands: ADD={'exit': 1}, ANY for all others."""
        return {"record": RECORD, "record_end": True,
                **{command.replace("ANY", "*"): plan for command, plan in behaviour.items()}}

    def conf(self, name="fakenet", version="1.0.0", plugin_type="fake", more=None, **behaviour):
        """A conf of the fake that makes nothing: unless told otherwise it answers an ADD with its version alone."""
        told = behaviour.get("ADD", behaviour.get("ANY", {}))
        if not {"result", "stdout", "stdout_bytes", "error"} & set(told):
            behaviour["ADD"] = {**told, "result": {"cniVersion": version}}
        return {"cniVersion": version, "name": name, "type": plugin_type, **(more or {}),
                "fake": self.orders(**behaviour)}

    def network(self, name="fakenet", version="1.0.0", plugin_type="fake", more=None, **behaviour):
        """A conf of the fake that answers an ADD with one interface and one address, 10.1.2.3/24."""
        return {"cniVersion": version, "name": name, "type": plugin_type, **(more or {}),
                "fake": self.orders(**behaviour)}

    def gate(self):
        self._gates += 1
        return Gate(self.host, f"{FOLDER}/gate{self._gates}")

    def calls(self, command=None, network=None):
        path = self.host.path(RECORD)
        if not path.exists():
            return []
        calls, running = [], {}
        for line in whole_lines(path):
            entry = json.loads(line)
            if "ended" in entry:
                running.pop(entry["pid"]).end = entry["time_ns"] / 1e9
                continue
            calls.append(_call(entry))
            running[entry["pid"]] = calls[-1]
        return [call for call in calls
                if command in (None, call.command) and network in (None, call.network)]

    def order(self):
        """The calls as words, for example ['ADD a', 'DEL a']."""
        return [f"{call.command} {call.network}" for call in self.calls()]

    def most_at_once(self):
        """How many calls ran at the same time at the worst moment."""
        edges = sorted([(call.begin, 1) for call in self.calls()]
                       + [(call.end, -1) for call in self.calls() if call.end is not None])
        now = worst = 0
        for _, step in edges:
            now += step
            worst = max(worst, now)
        return worst


def address_result(address="10.9.0.5/24", ifname="eth0", netns="/var/run/netns/pod0", version="1.0.0",
                   gateway="10.9.0.1"):
    """A result as the bridge plugin would print it, without any interface being made."""
    ip = {"address": address, "gateway": gateway, "interface": 0}
    if version in ("0.3.0", "0.3.1", "0.4.0"):
        ip["version"] = "4"
    return {"cniVersion": version, "interfaces": [{"name": ifname, "mac": "02:00:00:00:00:01",
                                                   "sandbox": netns}],
            "ips": [ip], "routes": [{"dst": "0.0.0.0/0"}], "dns": {}}
