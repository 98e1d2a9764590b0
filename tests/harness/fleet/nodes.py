"""Nodes without machines: each is a process of the real daemon with a node name, a token, a socket and folders of its own. They share a host
of namespaces and a control plane, which counts what each of them asks."""

import concurrent.futures
import contextlib
import json
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.control_plane import free_ports
from harness.cluster.host_cluster import HostCluster
from harness.fleet.requests import AuditLog, record_of_refusals, token_id
from harness.machine.host import PROGRAMS, children_of
from harness.machine.wait import until
from harness.net import unix_http
from harness.node import cni
from harness.node.daemon import body, default_config
from harness.node.thin import ACCOUNT

TOP = "/srv/fleet"
USER = "system:serviceaccount:kube-system:multus"
NAMESPACE = "fleet"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
DEFINITIONS = f"/apis/k8s.cni.cncf.io/v1/namespaces/{NAMESPACE}/network-attachment-definitions"
NETNS = "/var/run/netns/fleet"
PRIMARY = {"cniVersion": "1.0.0", "name": "primary", "type": "fake"}
# One process for each folder, in a mount namespace of its own, where its account is what a pod sees. Arguments: the daemon, the
# port of its API server, folders.
LAUNCH = """
daemon=$1 port=$2; shift 2
mkdir -p %(account)s
for folder in "$@"; do
  MULTUS_NODE_NAME=${folder##*/} KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=$port unshare --mount \\
    sh -c 'mount --bind "$1/account" %(account)s && exec "$0" -config "$1/daemon-config.json"' \\
    "$daemon" "$folder" >"$folder/log" 2>&1 </dev/null &
done
wait
""" % {"account": ACCOUNT}


class CountingCluster(HostCluster):
    """Its audit log has every request of the daemons."""

    def __init__(self, host, folder, **options):
        folder = Path(folder)
        self.audit = AuditLog(folder / "audit.log")
        (folder / "audit-policy.json").write_text(json.dumps({
            "apiVersion": "audit.k8s.io/v1", "kind": "Policy",
            "rules": [{"level": "Metadata", "users": [USER]}, {"level": "None"}]}))
        super().__init__(host, folder, **options)

    def admission(self):
        return [*super().admission(), f"--audit-policy-file={self.folder}/audit-policy.json",
                f"--audit-log-path={self.audit.path}", "--audit-log-maxsize=100000"]

    def start_balancer(self):
        """What stands between nodes and server from now on; it listens at `balancer_port`."""
        (self.balancer_port,) = free_ports(1)
        source = Path(__file__).with_name("balancer.py").read_text()
        self.balancer = self.host.spawn(
            "/usr/bin/python3", "-I", "-c", source, self.balancer_port, self.port, self.folder / "server.crt",
            self.folder / "server.key", self.folder / "refused", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.balancer.stdout.readline() == b"pass\n", "the balancer did not start"

    def _switch_balancer(self, mode):
        self.balancer.stdin.write(f"{mode}\n".encode())
        self.balancer.stdin.flush()
        assert self.balancer.stdout.readline() == f"{mode}\n".encode()

    @contextlib.contextmanager
    def refusing(self, status):
        """The balancer refuses everything, although the server is well; yields a function that gives the requests so far."""
        self._switch_balancer(status)
        began = time.time()
        try:
            yield lambda: [one for one in record_of_refusals(self.folder / "refused") if one.at >= began]
        finally:
            self._switch_balancer("pass")


@dataclass(frozen=True)
class Node:
    name: str
    folder: str  # inside the host
    token_id: str

    @property
    def socket(self):
        return f"{self.folder}/run/multus.sock"

    @property
    def conf(self):
        """What a runtime of this node sends."""
        return {"cniVersion": "1.0.0", "name": "multus-cni-network", "type": "multus-shim",
                "clusterNetwork": f"{self.folder}/net.d/10-primary.conf", "cniDir": f"{self.folder}/cni",
                "multusNamespace": "kube-system", "confDir": f"{self.folder}/net.d"}


@dataclass(frozen=True)
class FleetPod:
    name: str
    node: Node
    uid: str

    def request(self, command):
        args = (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={NAMESPACE};K8S_POD_NAME={self.name};"
                f"K8S_POD_INFRA_CONTAINER_ID=c-{self.name};K8S_POD_UID={self.uid}")
        return body(cni.environment(command, None, f"c-{self.name}", args=args, netns=NETNS), self.node.conf)


def definition(number, text=""):
    config = {"cniVersion": "1.0.0", "name": f"n{number}", "type": "macvlan", "master": "eth1", "mtu": 1400 + number % 100,
              "ipam": {"type": "host-local", "subnet": "10.1.0.0/16"}, "about": text}
    return {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": f"n{number}"}, "spec": {"config": json.dumps(config)}}


class Fleet:
    """`host` has the daemon of one implementation among its programs and a plugin `fake`."""

    def __init__(self, host, cluster, count, follows_primary=False):
        self.host, self.cluster, self.follows_primary = host, cluster, follows_primary
        cluster.install_definitions()
        cluster.apply_files("common/role.yaml")
        cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        cluster.start_balancer()
        host.run("ip", "netns", "add", NETNS.rsplit("/", 1)[1])
        self.nodes = self._make_nodes(count)
        self.launcher = None

    def _make_nodes(self, count):
        ask = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 24 * 3600}}
        made = self.cluster.create("/api/v1/namespaces/kube-system/serviceaccounts/multus/token", [ask] * count)
        ca = self.cluster.authority.certificate.read_text()
        nodes = []
        for number, token in enumerate(one["status"]["token"] for one in made):
            name = f"node-{number}"
            node = Node(name, f"{TOP}/{name}", token_id(token))
            self.host.write(f"{node.folder}/account/token", token)
            self.host.write(f"{node.folder}/account/ca.crt", ca)
            self.host.write(f"{node.folder}/account/namespace", "kube-system")
            self.host.write(f"{node.folder}/net.d/10-primary.conf", PRIMARY)
            self.host.write(f"{node.folder}/daemon-config.json", default_config(
                objectsDir=None, podLookupTimeout=None, logLevel="error", socketDir=f"{node.folder}/run",
                cniDir=f"{node.folder}/cni", cniConfigDir=f"{node.folder}/net.d", **self._configuration(node)))
            nodes.append(node)
        return nodes

    def _configuration(self, node):
        """A daemon that follows its primary holds an inotify instance, of which the machine has few (128) for all its processes.
        The original cannot do without."""
        if self.follows_primary:
            return {"multusConfigFile": "auto", "multusAutoconfigDir": f"{node.folder}/net.d", "cniVersion": "1.0.0"}
        return {"multusConfigFile": f"{node.folder}/net.d/00-multus.conf"}

    def make_objects(self, definitions, pods_per_node):
        self.cluster.create(DEFINITIONS, [definition(number) for number in range(definitions)])
        return self.make_pods("old", pods_per_node * len(self.nodes))

    def make_pods(self, prefix, count):
        """Dealt to the nodes in turn. They ask for a network of the node's own, so that each waits for its status."""
        wanted = [(f"{prefix}-{number}", self.nodes[number % len(self.nodes)]) for number in range(count)]
        made = self.cluster.create(PODS, [{
            "metadata": {"name": name, "annotations": {"k8s.v1.cni.cncf.io/networks": ""}},
            "spec": {"nodeName": node.name, "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "none"}]}} for name, node in wanted])
        return [FleetPod(name, node, one["metadata"]["uid"]) for (name, node), one in zip(wanted, made)]

    def launch(self):
        self.launcher = self.host.spawn("/bin/sh", "-c", LAUNCH, "sh", f"{PROGRAMS}/multus-daemon", self.cluster.balancer_port,
                                        *(node.folder for node in self.nodes))

    @property
    def pids(self):
        return children_of(self.launcher.pid)

    def wait_ready(self, timeout=300):
        waiting = list(self.nodes)

        def ready():
            waiting[:] = [node for node in waiting if not self._answers(node)]
            return not waiting
        until(ready, lambda: f"{len(waiting)} nodes ready; {waiting[0].name} says:\n{self.log(waiting[0])}", timeout)

    def _answers(self, node):
        """The original has no /readyz, and listens only when it is ready."""
        try:
            return unix_http.request(self.host.path(node.socket), "GET", "/readyz").status in (200, 404)
        except (OSError, unix_http.http.client.HTTPException):
            return False

    def log(self, node):
        return self.host.path(f"{node.folder}/log").read_text(errors="replace")[-3000:]

    def wait_fresh(self, since, timeout=600, settled=10.0):
        """Waits until each node follows pods and definitions by a watch that began since then and lasts; gives when the last of these
        watches began."""
        while True:
            until(lambda: len(self.cluster.audit.open_watches(since)) >= 2 * len(self.nodes),
                  lambda: f"{len(self.cluster.audit.open_watches(since))} of {2 * len(self.nodes)} watches", timeout)
            time.sleep(settled)
            begun = self.cluster.audit.open_watches(since)
            if len(begun) >= 2 * len(self.nodes):
                return max(map(max, begun.values()))

    def run_all(self, command, pods, at_once=32):
        """The requests of the runtimes for these pods; the bodies of the answers that are not 200."""
        def one(pod):
            answer = unix_http.request(self.host.path(pod.node.socket), "POST", "/cni", pod.request(command), timeout=600)
            return None if answer.status == 200 else answer.body.decode(errors="replace")
        with concurrent.futures.ThreadPoolExecutor(at_once) as threads:
            return [said for said in threads.map(one, pods) if said is not None]

    def _connections(self):
        """What the kernel says of each connection of a daemon to the API server."""
        said = self.host.run("ss", "-tinpH", "state", "established", "dst", f"127.0.0.1:{self.cluster.balancer_port}", timeout=300).stdout
        return [entry for entry in re.split(r"\n(?=\S)", said) if "multus-daemon" in entry]

    def connections(self):
        return len(self._connections())

    def bytes(self):
        """What the daemons' connections to the API server, those that are open, have received and sent so far; TLS included."""
        found = self._connections()

        def total(name):
            return sum(int(value) for entry in found for value in re.findall(rf"\b{name}:(\d+)", entry))
        return total("bytes_received"), total("bytes_sent")
