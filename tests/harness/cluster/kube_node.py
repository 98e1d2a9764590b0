"""A host whose daemon takes its objects from a real API server, and pods that are both objects there and namespaces here."""

import functools
import json

from harness.node import networks
from harness.node.daemon import default_config
from harness.node.netconf import netconf_from_files
from harness.node.objects import STATUS
from harness.node.pods import Sandbox

KUBECONFIG = "/etc/multus/kubeconfig"


class KubePod(Sandbox):
    @property
    def status_text(self):
        return self.node.space.pod(self.pod_name)["metadata"].get("annotations", {}).get(STATUS)

    def events(self, reason=None):
        return [event for event in self.node.space.events() if event["involvedObject"]["name"] == self.pod_name
                and reason in (None, event["reason"])]


class KubeNode:
    def __init__(self, host, daemons, shim, space, proxy):
        self.host, self.daemons, self.shim, self.space, self.proxy = host, daemons, shim, space, proxy
        self.daemon = None
        self.sandboxes = []
        self.conf = netconf_from_files(host, networks.bridge())
        self.log_in(space.cluster.token_for("kube-system", "multus"))

    def log_in(self, token):
        """The account that the next daemon has."""
        config = json.loads(self.proxy.kubeconfig("node.kubeconfig", token=token).read_text())
        self.host.write("/etc/multus/ca.crt", self.space.cluster.authority.certificate.read_bytes())
        config["clusters"][0]["cluster"]["certificate-authority"] = "ca.crt"
        self.host.write(KUBECONFIG, config)

    def launch(self, **keys):
        config = default_config(objectsDir=None, kubeconfig=KUBECONFIG, podLookupTimeout=None, **keys)
        self.daemon = self.daemons.launch(config, env={"MULTUS_NODE_NAME": self.space.node})
        return self.daemon

    def start(self, **keys):
        return self.launch(**keys).wait_ready()

    def settle(self):
        if self.daemon is None:
            self.start()

    def sandbox(self, name, uid):
        """The runtime's side of a pod."""
        make = functools.partial(KubePod, node=self, pod_name=name, namespace=self.space.namespace, uid=uid)
        self.sandboxes.append(self.host.add_pod(f"{name}-{len(self.sandboxes)}", make))
        return self.sandboxes[-1]

    def pod(self, name, networks=None, **more):
        made = self.space.add_pod(name, networks=networks, **more)
        return self.sandbox(name, made["metadata"]["uid"])

    def close(self):
        for sandbox in self.sandboxes:
            if sandbox.is_added:
                outcome = sandbox.delete()
                assert outcome.ok, outcome
