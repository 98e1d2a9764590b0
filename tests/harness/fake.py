"""The fake delegate as seen by a test: what it shall do, and how it was called."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from harness.host import PLUGIN_DIR
from harness.wait import until

FOLDER = "/srv/fake"


@dataclass
class Call:
    command: str
    env: dict
    stdin: str
    cwd: str
    fds: list
    pid: int
    pgid: int
    begin: float
    end: Optional[float] = None  # None: never came to its end

    @property
    def conf(self):
        return json.loads(self.stdin)

    @property
    def network(self):
        return self.conf.get("name")

    @property
    def args(self):
        pairs = [pair.partition("=") for pair in self.env["CNI_ARGS"].split(";") if pair]
        return {key: value for key, _, value in pairs}


class Gate:
    """A place where a program stops until the test lets it go on."""

    def __init__(self, host, path):
        self.host = host
        self.path = path

    def reached(self, timeout=20):
        until(lambda: self.host.path(self.path + ".here").exists(), f"gate {self.path} reached", timeout)

    def open(self):
        self.host.write(self.path, "")


class Fake:
    def __init__(self, host, name="fake"):
        self.host = host
        self._gates = 0
        host.path(FOLDER).mkdir(exist_ok=True)
        self.install(name)

    def install(self, name, folder=PLUGIN_DIR):
        """Puts the fake under another plugin name or into another folder."""
        target = self.host.path(f"{folder}/{name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(__file__).with_name("fake_delegate.py"), target)
        target.chmod(0o755)
        return target

    def conf(self, name="fakenet", version="1.0.0", plugin_type="fake", more=None, **behaviour):
        """A conf of the fake; keywords are commands: conf('a', ADD={'exit': 1})."""
        conf = {"cniVersion": version, "name": name, "type": plugin_type, **(more or {})}
        if behaviour:
            conf["fake"] = {command.replace("ANY", "*"): plan for command, plan in behaviour.items()}
        return conf

    def gate(self):
        self._gates += 1
        return Gate(self.host, f"{FOLDER}/gate{self._gates}")

    def calls(self, command=None, network=None):
        path = self.host.path(f"{FOLDER}/calls")
        if not path.exists():
            return []
        calls, running = [], {}
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            if entry["event"] == "begin":
                call = Call(entry["command"], entry["env"], entry["stdin"], entry["cwd"], entry["fds"],
                            entry["pid"], entry["pgid"], entry["time"])
                calls.append(call)
                running[entry["pid"]] = call
            else:
                running.pop(entry["pid"]).end = entry["time"]
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
