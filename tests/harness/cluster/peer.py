"""The original's programs beside ours (`scripts/peer`): a node that goes from one to the other and back."""

import json
import os
import re
import shutil

import pytest

from harness.cluster.kube_node import KubeNode
from harness.evidence.leaks import IPAM_DIR
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node.autoconf import NET_D, OWN
from harness.node.cni import Runtime
from harness.node.daemon import Daemon, default_config
from harness.node.thin import ServiceAccount

OURS, ORIGINAL = "ours", "original"
BOTH = [OURS, ORIGINAL]
FOLDER = "/srv/original"
VARIABLES = {"multus-shim": "PEER_SHIM", "multus-daemon": "PEER_DAEMON", "multus": "PEER_MULTUS", "passthru": "PEER_PASSTHRU",
             "install_multus": "PEER_INSTALL_MULTUS", "thin_entrypoint": "PEER_THIN_ENTRYPOINT",
             "kubeconfig_generator": "PEER_KUBECONFIG_GENERATOR", "cert-approver": "PEER_CERT_APPROVER"}


def needs_original(*programs):
    """The mark of tests that are skipped where these programs of the original are not named."""
    variables = [VARIABLES[program] for program in programs]
    return pytest.mark.skipif(
        not all(map(os.environ.get, variables)),
        reason=f"needs {', '.join(variables)}: programs of the original; scripts/peer builds them")


needs_the_original = needs_original("multus-shim", "multus-daemon", "multus")


def install(host, name):
    """Puts a program of the original on a host."""
    target = host.path(f"{FOLDER}/{name}")
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        shutil.copy(os.environ[VARIABLES[name]], target)
    return f"{FOLDER}/{name}"


def program_of(host, who, name):
    """The path of either's program on a host."""
    return install(host, name) if who == ORIGINAL else f"{PROGRAMS}/{name}"


def told(who, done):
    """What is on stdout, but for the complaint about a command line that v4.2.4 has there, too."""
    return "" if who == ORIGINAL and done.returncode == 2 else done.stdout


def plugin_of(host, who, name):
    """multus-shim, multus or passthru of either, as a container runtime calls it."""
    program = program_of(host, who, name)
    link = host.path(f"{PLUGIN_DIR}/{name}-{who}")
    if not link.is_symlink():
        link.symlink_to("../" * PLUGIN_DIR.count("/") + program[1:])
    return Runtime(host, link.name)


class OriginalDaemon(Daemon):
    program = f"{FOLDER}/multus-daemon"

    def answers(self, target="/healthz"):
        """v4.3.0 and older have no /readyz; they do not listen before they are ready."""
        return super().answers("/healthz")

    def wait_ready(self, timeout=60):
        super().wait_ready(timeout)
        self.idle = None  # what Go keeps open is not ours to judge
        return self


class PeerNode(KubeNode):
    """A node with one configuration and one account for both: those of the original's manifest."""

    def __init__(self, host, daemons, space, proxy, token):
        super().__init__(host, daemons, None, space, proxy)
        self.account = ServiceAccount(host)
        self.act_as(token)
        self.who = None
        self.version = "0.4.0"

    def act_as(self, token):
        """The account that both have from now on: thin in a kubeconfig, thick in the pod's own folder."""
        self.log_in(token)
        self.account.place(token, self.space.cluster.authority.certificate.read_text())

    def use(self, daemon, shim=None, **keys):
        """Replaces the daemon by that of `daemon`, with further keys of its configuration; the node's own is then what it
        has written."""
        if self.daemon is not None:
            assert self.daemon.stop() == 0, self.daemon.log
        self.who = daemon
        self.shim = plugin_of(self.host, shim or daemon, "multus-shim")
        self.host.path(OWN).unlink(missing_ok=True)
        config = default_config(objectsDir=None, podLookupTimeout=None, multusConfigFile="auto", cniVersion=self.version,
                                multusAutoconfigDir=NET_D, **keys)
        env = {"MULTUS_NODE_NAME": self.space.node, "KUBERNETES_SERVICE_HOST": "127.0.0.1",
               "KUBERNETES_SERVICE_PORT": str(self.proxy.port)}
        self.daemon = self.daemons.launch(config, make=self._kind(daemon), env=env).wait_ready()
        self.conf = until(self.own, lambda: f"{OWN}; log:\n{self.daemon.log}")
        return self.daemon

    def _kind(self, who):
        if who == OURS:
            return Daemon
        install(self.host, "multus-daemon")
        return OriginalDaemon

    def own(self):
        """The node's CNI configuration as a runtime reads it; None while there is none or half of one."""
        try:
            return json.loads(self.host.path(OWN).read_text())
        except (FileNotFoundError, ValueError):
            return None

    def new_pod(self, networks=None):
        """One of the implementation that is in use; addresses start anew, so that both give the same."""
        shutil.rmtree(self.host.path(IPAM_DIR), ignore_errors=True)
        return self.pod(f"{self.who}-{len(self.sandboxes)}", networks)


def settled(value, pod):
    """What each pod and each run has for itself is replaced in a text or a JSON value; the rest must be equal."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    for member in ("name", "pod_name", "uid"):  # a network namespace without a pod has only the first
        text = text.replace(getattr(pod, member, None) or pod.name, f"<{member}>")
    text = re.sub(r"\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b", "<mac>", text)
    text = re.sub(r"\bveth[0-9a-f]+\b", "<veth>", text)
    return text if isinstance(value, str) else json.loads(text)


def answer(outcome, pod):
    """What a runtime gets: exit status and JSON, or the code of an error."""
    if outcome.exit != 0:
        return outcome.exit, outcome.error["code"]
    return 0, settled(json.loads(outcome.stdout), pod) if outcome.stdout else None
