"""Pods of a node whose objects are in a folder of manifests, with the requests that a runtime makes for them."""

import functools
import json

from harness.machine.host import Pod
from harness.node import networks
from harness.node.cni import environment
from harness.node.daemon import body
from harness.node.netconf import netconf_from_files
from harness.node.objects import NETWORKS, UID

CNI_DIR = "/var/lib/cni/multus"


class Sandbox(Pod):
    """A network namespace and the pod it belongs to. Container id: c-<its name>."""

    def __init__(self, host, name, node, pod_name, namespace, uid):
        super().__init__(host, name)
        self.node = node
        self.pod_name, self.namespace, self.uid = pod_name, namespace, uid
        self.container_id = f"c-{name}"
        self.is_added = False

    @property
    def args(self):
        return (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={self.namespace};K8S_POD_NAME={self.pod_name};"
                f"K8S_POD_INFRA_CONTAINER_ID={self.container_id};K8S_POD_UID={self.uid}")

    def call(self, command, conf=None, **options):
        """One request of the runtime, through the shim."""
        self.node.settle()
        options.setdefault("args", self.args)
        return self.node.shim.call(command, conf or self.node.conf, self, **options)

    def add(self, conf=None, **options):
        self.is_added = True  # the runtime deletes what failed to be added, too
        return self.call("ADD", conf, **options)

    def delete(self, conf=None, **options):
        outcome = self.call("DEL", conf, **options)
        self.is_added = self.is_added and not outcome.ok
        return outcome

    def check(self, conf=None, **options):
        return self.call("CHECK", conf, **options)

    def delegate(self, command, config, ifname="net1", attributes=None, target="/delegate", **env):
        """One request to /delegate, made as the hot-plug controller makes it (05, 1.4)."""
        self.node.settle()
        env.setdefault("args", f"K8S_POD_NAMESPACE={self.namespace};K8S_POD_NAME={self.pod_name};"
                               f"K8S_POD_UID={self.uid}")
        variables = environment(command, self, env.pop("container_id", self.container_id), ifname=ifname,
                                path=None, **env)
        return self.node.daemon.http("POST", target, body(variables, config, attributes))

    @property
    def status_text(self):
        return self.node.objects.status_text(self.pod_name, self.namespace)

    @property
    def status(self):
        """The elements of network-status; None if none was written."""
        text = self.status_text
        return None if text is None else json.loads(text)

    def events(self, reason=None):
        return self.node.objects.events(self.pod_name, reason)

    def cached(self, network, ifname):
        """The entry of the result cache."""
        return json.loads(self.host.path(f"{CNI_DIR}/results/{network}-{self.container_id}-{ifname}").read_text())

    def scratch(self):
        return json.loads(self.host.path(f"{CNI_DIR}/{self.container_id}").read_text())

    def record(self):
        """The attachment record (05, 3.2)."""
        path = self.host.path(f"{CNI_DIR}/_attachments/{self.container_id}.json")
        return json.loads(path.read_text()) if path.exists() else None

    def remembered(self):
        """Names of all files about this container."""
        return [name for name in self.host.files_below(CNI_DIR) if self.container_id in name]


class PodNode:
    """The first request starts the daemon, with the objects that exist by then; or start() does."""

    def __init__(self, host, daemons, shim, objects):
        self.host, self.daemons, self.shim, self.objects = host, daemons, shim, objects
        self.daemon = None
        self.sandboxes = []
        self.conf = None
        self.configure()

    def configure(self, *confs, **keys):
        """What the node's CNI configuration says: the cluster network (a bridge, if none is given) and default
        networks, each in a file; keywords are further keys."""
        self.conf = netconf_from_files(self.host, *(confs or [networks.bridge()]), **keys)
        return self.conf

    def start(self, failpoints=None, **config):
        self.daemon = self.daemons(failpoints=failpoints, **config)
        self.objects.is_dirty = False  # read before it was ready
        return self.daemon

    def settle(self):
        if self.daemon is None:
            self.start()
        if self.daemon.process.running:
            self.objects.settle(self.daemon)

    def network(self, name, config=None, namespace="default", annotations=None):
        self.objects.network(name, config, namespace, annotations)

    def pod(self, networks=None, name=None, namespace="default", uid=None, annotations=None, is_known=True):
        """A pod with a network namespace. `networks`: its networks annotation; a value that is not text becomes JSON."""
        number = len(self.sandboxes)
        name = name or f"web{number}"
        uid = UID % number if uid is None else uid
        annotations = dict(annotations or {})
        if networks is not None:
            annotations[NETWORKS] = networks if isinstance(networks, str) else json.dumps(networks)
        if is_known:
            self.objects.pod(name, namespace, uid, annotations)
        make = functools.partial(Sandbox, node=self, pod_name=name, namespace=namespace, uid=uid)
        self.sandboxes.append(self.host.add_pod(f"{namespace}-{name}", make))
        # No other host is on these links: skips the search for duplicate IPv6 addresses.
        self.sandboxes[-1].run("sysctl", "-qw", "net.ipv6.conf.default.accept_dad=0")
        return self.sandboxes[-1]

    def close(self):
        """Deletes what is still attached, as a runtime does in the end."""
        for sandbox in self.sandboxes:
            if sandbox.is_added:
                outcome = sandbox.delete()
                assert outcome.ok, outcome
