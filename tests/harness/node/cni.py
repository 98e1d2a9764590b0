"""Runs a CNI plugin the way a container runtime does: environment, stdin, stdout, exit status."""

import json
from dataclasses import dataclass

from harness.evidence.sanitizers import assert_clean
from harness.machine.host import PLUGIN_DIR
from harness.machine.wait import PATIENCE

KUBERNETES_ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={name};" \
                  "K8S_POD_INFRA_CONTAINER_ID={id};K8S_POD_UID=00000000-0000-4000-8000-000000000001"


@dataclass
class Outcome:
    exit: int
    stdout: str
    stderr: str

    @property
    def ok(self):
        return self.exit == 0

    @property
    def result(self):
        assert self.exit == 0, f"exit {self.exit}: {self.stdout}\n{self.stderr}"
        return json.loads(self.stdout)

    @property
    def error(self):
        """The CNI error object; its presence is part of the contract of a failure."""
        assert self.exit != 0, f"success, not an error: {self.stdout}"
        error = json.loads(self.stdout)
        assert isinstance(error.get("code"), int) and error.get("msg"), self.stdout
        return error


def environment(command, pod=None, container_id=None, ifname="eth0", args="", netns=None,
                path=PLUGIN_DIR):
    """The CNI variables of one call; None leaves a variable out."""
    if netns is None and pod is not None:
        netns = pod.netns
    env = {"CNI_COMMAND": command, "CNI_CONTAINERID": container_id, "CNI_NETNS": netns,
           "CNI_IFNAME": ifname, "CNI_ARGS": args, "CNI_PATH": path}
    return {name: value for name, value in env.items() if value is not None}


def call(host, binary, config, env, timeout=2 * PATIENCE):
    """`config`: a value to be sent as JSON, or the very text or bytes."""
    if not isinstance(config, (str, bytes)):
        config = json.dumps(config)
    data = config.encode() if isinstance(config, str) else config
    done = host.run(binary, env=env, input=data, text=False, check=False, timeout=timeout)
    outcome = Outcome(done.returncode, done.stdout.decode(errors="replace"),
                      done.stderr.decode(errors="replace"))
    assert_clean(outcome.stderr)
    return outcome


class Runtime:
    """Calls one plugin for containers of a host."""

    def __init__(self, host, plugin="multus-shim"):
        self.host = host
        self.binary = f"{PLUGIN_DIR}/{plugin}"

    def call(self, command, config, pod=None, container_id=None, timeout=2 * PATIENCE, extra_env=None, **env):
        if pod is not None and container_id is None:
            container_id = f"c-{pod.name}"
        variables = environment(command, pod, container_id, **env)
        return call(self.host, self.binary, config, {**variables, **(extra_env or {})}, timeout)

    def add(self, config, pod, **options):
        return self.call("ADD", config, pod, **options)

    def delete(self, config, pod, **options):
        return self.call("DEL", config, pod, **options)

    def check(self, config, pod, **options):
        return self.call("CHECK", config, pod, **options)

    def status(self, config, **options):
        return self.call("STATUS", config, ifname=None, **options)

    def gc(self, config, **options):
        return self.call("GC", config, ifname=None, **options)
