"""multus-daemon as a process of a host: configuration, socket, log, end."""

import base64
import collections
import contextlib
import json
import os
import re
import signal

from harness.machine.host import PROGRAMS
from harness.machine.wait import PATIENCE, Late, until
from harness.net import unix_http
from harness.node import cni
from harness.node.netconf import netconf

CONNECTED = "03"  # the state of a socket in /proc/net/unix
CONFIG = "/etc/cni/net.d/multus.d/daemon-config.json"


def default_config(**keys):
    """What most tests need: no cluster, no generated configuration, no wait for pods that are not in any
    file, everything in the log. None removes a key."""
    config = {"socketDir": "/run/multus/", "objectsDir": "/srv/objects", "podLookupTimeout": 0,
              "logLevel": "debug", "logToStderr": True, "cniConfigDir": "/etc/cni/net.d",
              "multusConfigFile": "/etc/cni/net.d/00-multus.conf", **keys}
    return {key: value for key, value in config.items() if value is not None}


def body(env, config, attributes=None):
    """A request for /cni or /delegate (03, 2.8)."""
    if not isinstance(config, (str, bytes)):
        config = json.dumps(config)
    data = config.encode() if isinstance(config, str) else config
    request = {"env": env, "config": base64.b64encode(data).decode()}
    if attributes is not None:
        request["interfaceAttributes"] = attributes
    return request


class Daemon:
    """Starts at once. `config` is written to the configuration file; text is written as it is."""

    program = f"{PROGRAMS}/multus-daemon"

    def __init__(self, host, config, number=0, env=None, args=None, failpoints=None, config_path=CONFIG,
                 through=()):
        """`through`: words before the program's, of a command that in the end becomes the program."""
        self.host = host
        self.socket_dir = (config.get("socketDir") if isinstance(config, dict) else None) or "/run/multus"
        self.socket = f"{self.socket_dir.rstrip('/')}/multus.sock"
        self.log_path = host.path(f"/srv/daemon{number}.log")
        host.path("/srv/objects").mkdir(exist_ok=True)
        host.write(config_path, config)
        if isinstance(config, dict) and config.get("hotplug"):
            self._write_users_configuration(config.get("multusConfigFile", "auto"))
        env = dict(env or {})
        if failpoints:
            env["MULTUS_FAILPOINTS"] = failpoints
        with open(self.log_path, "wb") as log:
            self.process = host.spawn(*through, self.program,
                                      *(["-config", config_path] if args is None else args),
                                      env=env, stdout=log, stderr=log)
        self.idle = None  # what it held when it became ready
        self.ending = False  # it was told to end, or killed

    def _write_users_configuration(self, path):
        """Hot-plug waits until it can read what restricts pods: there is one on every node."""
        if path != "auto" and not self.host.path(path).exists():
            self.host.write(path, netconf())

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    @property
    def pid(self):
        return self.process.pid

    def http(self, method, target, content=None, **options):
        return unix_http.request(self.host.path(self.socket), method, target, content, **options)

    def raw(self, data, **options):
        return unix_http.raw(self.host.path(self.socket), data, **options)

    def connect(self, **options):
        return unix_http.connect(self.host.path(self.socket), **options)

    def answers(self, target="/readyz"):
        try:
            return self.http("GET", target).status == 200
        except (OSError, unix_http.http.client.HTTPException):
            return False

    def wait_alive(self):
        """Until it answers at all, ready or not: what it logs may come before its socket does."""
        until(lambda: self.answers("/healthz") or not self.process.running, lambda: f"an answer; the log:\n{self.log}")
        return self

    def wait_ready(self, timeout=PATIENCE):
        def ready():
            assert self.process.running, f"daemon ended with {self.process.wait()}:\n{self.log}"
            return self.answers()
        until(ready, lambda: f"daemon ready; its log:\n{self.log}", timeout)
        self.idle = self._without_connections()
        return self

    def cni(self, command, config, pod=None, container_id=None, timeout=2 * PATIENCE, headers=None, **env):
        """One request to /cni, made as the shim makes it."""
        if pod is not None and container_id is None:
            container_id = f"c-{pod.name}"
        variables = cni.environment(command, pod, container_id, **env)
        return self.http("POST", "/cni", body(variables, config), timeout=timeout,
                         headers={"Content-Type": "application/json", **(headers or {})})

    def resources(self):
        """How many descriptors of each kind are open, and how many children there are. The daemon holds its own CNI
        configuration open, whatever happens to the file."""
        kinds = collections.Counter(kind for kind in self.process.descriptors().values()
                                    if "/00-multus.conf" not in kind)
        kinds["child"] = len(self.children())
        return kinds

    def links(self):
        """What its descriptors are."""
        return set(_links(self.pid))

    def children(self):
        return _children(self.pid)

    def connections(self):
        """Inodes of the connections that it has not closed yet, whether or not their clients have."""
        held = {link[len("socket:["):-1] for link in _links(self.pid) if link.startswith("socket:[")}
        return held & (_connected("/proc/self/net/unix") | _connected(f"/proc/{self.pid}/net/unix"))

    def _without_connections(self):
        """What it holds besides connections, which it may close a moment after their clients, the tests' own included."""
        while True:
            before = self.connections()
            held = self.resources()
            if before == self.connections():
                held["socket"] -= len(before)
                return held

    def wait_idle(self, timeout=PATIENCE, kept_sockets=0):
        """Waits until it holds nothing that it did not hold when it became ready, if it ever did, besides connections that it keeps."""
        if self.idle is None:
            return
        usual = self.idle + collections.Counter(socket=kept_sockets)
        try:
            until(lambda: not (self.resources() - usual), "idle", timeout)
        except Late:
            raise AssertionError(f"daemon still holds {dict(self.resources() - usual)}") from None

    def wait_log(self, pattern, timeout=PATIENCE, count=1):
        found = re.compile(pattern)
        until(lambda: len(found.findall(self.log)) >= count,
              lambda: f"{pattern!r} in the log:\n{self.log}", timeout)

    def kill(self):
        self.ending = True
        self.process.signal(signal.SIGKILL)
        return self.process.wait()

    def terminate(self, times=1):
        self.ending = True
        for _ in range(times):
            self.process.signal(signal.SIGTERM)
            # Two equal signals that are pending at once would be one.
            until(lambda: not self.process.running or not _pending(self.pid), "signal taken")

    def stop(self, timeout=PATIENCE):
        """An orderly end without the ten seconds for late shims."""
        if self.process.running:
            self.terminate(times=2)
        return self.process.wait(timeout)


def _links(pid):
    """What its descriptors are."""
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed while we looked
            yield os.readlink(f"/proc/{pid}/fd/{fd}")


def _connected(table):
    """Inodes of the connected sockets of a network namespace; a connection is in the one that its client is in."""
    with open(table, encoding="utf-8", errors="replace") as file:
        return {line.split()[6] for line in file if line.split()[5] == CONNECTED}


def _children(pid):
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def _pending(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(status["ShdPnd"], 16) & (1 << (signal.SIGTERM - 1))
