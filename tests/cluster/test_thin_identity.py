"""What thin_entrypoint writes, used against a real API server: by kubectl, and by the thin multus (03, 9.2)."""

import json
import uuid

import pytest

from harness.machine.wait import until
from harness.net.api_proxy import ApiProxy, listen_in
from harness.node import networks
from harness.node.cni import Runtime
from harness.node.thin import CONF_DIR, KUBECONFIG, ServiceAccount, ThinEntrypoint, generated, token_in


class Identity:
    """A token of the multus account that can be made worthless: it is bound to an object."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.secret = f"bound-{uuid.uuid4().hex[:8]}"
        cluster.request("POST", "/api/v1/namespaces/kube-system/secrets", {"metadata": {"name": self.secret}})
        made = cluster.request("POST", "/api/v1/namespaces/kube-system/serviceaccounts/multus/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600,
                     "boundObjectRef": {"kind": "Secret", "apiVersion": "v1", "name": self.secret}}})
        self.token = made["status"]["token"]

    def revoke(self):
        self.cluster.request("DELETE", f"/api/v1/namespaces/kube-system/secrets/{self.secret}")


@pytest.fixture
def node(host, cluster, program):
    program("thin_entrypoint")
    program("multus")
    return Node(host, cluster)


class Node:
    """A host with a pod's service account and the API server on its own loopback."""

    def __init__(self, host, cluster):
        self.host, self.cluster = host, cluster
        self.ca = cluster.authority.certificate.read_text()
        self.multus = Runtime(host, "multus")
        host.write(f"{CONF_DIR}/10-primary.conflist", networks.conflist(networks.bridge(), networks.PORTMAP))
        host.add_bridge("nodebr")

    def start(self, token):
        self.account = ServiceAccount(self.host, token, self.ca)
        self.proxy = ApiProxy(self.cluster, listen_in(self.host.pid))
        self.entrypoint = ThinEntrypoint(self.host, env={"KUBERNETES_SERVICE_HOST": "127.0.0.1",
                                                         "KUBERNETES_SERVICE_PORT": str(self.proxy.port)})
        self.entrypoint.wait_installed()

    def stop(self):
        assert self.entrypoint.stop() == 0
        self.proxy.close()

    def kubectl(self, *words):
        return self.host.run(self.cluster.binaries["kubectl"], f"--kubeconfig={KUBECONFIG}", *words, check=False,
                             env={"HOME": "/tmp"})

    def call(self, command, space, pod, name):
        uid = space.pod(name)["metadata"]["uid"]
        args = (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={space.namespace};K8S_POD_NAME={name};"
                f"K8S_POD_INFRA_CONTAINER_ID=c-{pod.name};K8S_POD_UID={uid}")
        return self.multus.call(command, generated(self.host)[0], pod, args=args)


def test_the_kubeconfig_is_the_identity_of_the_account(node, cluster):
    identity = Identity(cluster)
    node.start(identity.token)

    whoami = json.loads(node.kubectl("auth", "whoami", "-o", "json").stdout)
    allowed = [node.kubectl("auth", "can-i", *what, "-A").stdout.strip()
               for what in (("get", "pods"), ("list", "network-attachment-definitions.k8s.cni.cncf.io"), ("get", "secrets"))]

    assert whoami["status"]["userInfo"]["username"] == "system:serviceaccount:kube-system:multus"
    assert allowed == ["yes", "yes", "no"]
    node.stop()


def test_multus_attaches_a_pods_networks_with_it(node, host, space):
    space.add_network("extra", config=json.dumps(networks.macvlan(name="extra")))
    space.add_pod("web", networks="extra")
    node.start(Identity(node.cluster).token)
    pod = host.add_pod("web")

    added = node.call("ADD", space, pod, "web")

    assert added.ok, added
    assert pod.links() == {"eth0", "net1"}
    assert [(entry["name"], entry["interface"]) for entry in json.loads(space.status_of("web"))] == \
        [("cluster", "eth0"), (f"{space.namespace}/extra", "net1")]
    assert node.call("CHECK", space, pod, "web").ok
    assert node.call("DEL", space, pod, "web").ok
    assert pod.links() == set()
    node.stop()


def test_when_the_token_is_rotated_pods_go_on(node, host, space):
    """Pain 15: the old token is worth nothing any more, and nothing has to be restarted."""
    first, second = Identity(node.cluster), Identity(node.cluster)
    space.add_pod("web")
    node.start(first.token)
    pod = host.add_pod("web")
    assert node.call("ADD", space, pod, "web").ok

    first.revoke()
    # The server remembers for some seconds whom it has let in.
    until(lambda: "Unauthorized" in node.kubectl("get", "pods", "-A").stderr, "first token refused")
    node.account.place(second.token, node.ca)
    until(lambda: token_in(host) == second.token, "second token")

    assert node.kubectl("get", "pods", "-A").returncode == 0
    assert node.call("CHECK", space, pod, "web").ok
    assert node.call("DEL", space, pod, "web").ok
    node.stop()
