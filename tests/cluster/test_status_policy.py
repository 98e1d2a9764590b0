"""deploy/pod-status-policy.yml in a real API server: what an attacker with a daemon's token or certificate cannot write, and that
Multus's own writes pass."""

import http.client
import json
import ssl

import pytest
from harness.cluster.control_plane import DEPLOY, Cluster, Refused
from harness.cluster.kube_node import KUBECONFIG
from harness.cluster.workspace import Workspace
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import Runtime
from harness.node.netconf import netconf_from_files
from harness.node.objects import NETWORKS, STATUS

POLICY = "pod-status-policy.yml"
MERGE = "application/merge-patch+json"
GROUP = "system:multus"
# What a compromised node would write, and what the refusal tells of it.
ATTACKS = {
    "networks": ({"metadata": {"annotations": {NETWORKS: "red@net1"}}}, NETWORKS),
    "default-network": ({"metadata": {"annotations": {"v1.multus-cni.io/default-network": "red"}}}, "default-network"),
    "no-annotations": ({"metadata": {"annotations": None}}, "kept"),
    "beside-its-own": ({"metadata": {"annotations": {STATUS: "[]", "kept": "another"}}}, "kept"),
    "labels": ({"metadata": {"labels": {"app": "payments"}}}, "labels"),
    "no-labels": ({"metadata": {"labels": None}}, "labels"),
    "finalizers": ({"metadata": {"finalizers": ["example.org/stuck"]}}, "finalizers"),
    "no-finalizers": ({"metadata": {"finalizers": None}}, "finalizers"),
    "phase": ({"status": {"phase": "\u001b[2J"}}, "spec or status"),
    "address": ({"status": {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}}, "spec or status"),
    "conditions": ({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}, "spec or status"),
}


class Caller:
    """A client with a token, or with a certificate and its key."""

    def __init__(self, cluster, token=None, certificate=None):
        self.cluster, self.token, self.certificate = cluster, token, certificate

    def kubeconfig(self, name):
        return self.cluster.write_kubeconfig(name, token=self.token, certificate=self.certificate)

    def write(self, space, name, body, method="PATCH", content_type=MERGE):
        """Of a pod's status."""
        context = ssl.create_default_context(cafile=self.cluster.authority.certificate)
        if self.certificate:
            context.load_cert_chain(*self.certificate)
        headers = {"Content-Type": content_type, **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        connection = http.client.HTTPSConnection(self.cluster.address, self.cluster.port, context=context, timeout=60)
        try:
            connection.request(method, space.path("pods", name) + "/status", json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise Refused(answer.status, text)


def account(cluster):
    return Caller(cluster, token=cluster.token_for("kube-system", "multus"))


def daemon_of(cluster, node):
    """The account as the kubelet gives it to the daemon's pod there."""
    name = f"multus-{node}"
    cluster.request("POST", "/api/v1/namespaces/kube-system/pods", {"metadata": {"name": name}, "spec": {
        "nodeName": node, "serviceAccountName": "multus", "containers": [{"name": "c", "image": "none"}]}})
    made = cluster.request("POST", "/api/v1/namespaces/kube-system/serviceaccounts/multus/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
        "spec": {"expirationSeconds": 3600, "boundObjectRef": {"kind": "Pod", "apiVersion": "v1", "name": name}}})
    return Caller(cluster, token=made["status"]["token"])


def certified(cluster, node):
    return Caller(cluster, certificate=cluster.authority.sign(f"multus-{node}", f"/O={GROUP}/CN={GROUP}:{node}", "clientAuth"))


CALLERS = {"account": lambda cluster, node: account(cluster), "token": daemon_of, "certificate": certified}
OF_A_NODE = ["token", "certificate"]


@pytest.fixture(scope="module")
def cluster():
    """A control plane with the policy in force; before it was, the attacks succeeded."""
    cluster = Cluster()
    try:
        cluster.install_definitions()
        cluster.apply_files("common/role.yaml")
        cluster.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "of-nodes"},
                       "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "multus"},
                       "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": GROUP}]})
        probe = Workspace(cluster)
        probe.add_pod("probe")
        attacker, number = account(cluster), iter(range(10_000))

        def is_refused():
            try:
                attacker.write(probe, "probe", {"metadata": {"labels": {"app": f"payments{next(number)}"}}})
            except Refused as refused:
                return "labels" in str(refused)
            return False
        assert not is_refused(), "without the policy"
        cluster.apply_files(POLICY)
        until(is_refused, "the policy in force", 120)
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def victim(space):
    space.add_pod("web", annotations={"kept": "as it is"}, labels={"app": "web"}, finalizers=["example.org/kept"])
    yield space
    space.cluster.request("PATCH", space.path("pods", "web"), {"metadata": {"finalizers": None}}, MERGE)


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_compromised_node_writes_nothing_but_network_statuses(victim, cluster, attack):
    body, reason = ATTACKS[attack]
    before = victim.pod("web")

    for caller in (account(cluster), certified(cluster, victim.node)):
        with pytest.raises(Refused, match=reason) as refused:
            caller.write(victim, "web", body)
        assert refused.value.status == 422

    assert victim.pod("web") == before


def test_an_update_is_judged_like_a_patch(victim, cluster):
    whole = victim.pod("web")
    with pytest.raises(Refused, match="labels"):
        account(cluster).write(victim, "web", {**whole, "metadata": {**whole["metadata"], "labels": {}}}, "PUT", "application/json")


@pytest.mark.parametrize("who", OF_A_NODE)
def test_a_compromised_node_writes_no_network_status_of_another_nodes_pod(victim, cluster, who):
    stranger = CALLERS[who](cluster, f"evil-{who}")
    with pytest.raises(Refused, match=f"of node evil-{who}.*{victim.node}"):
        stranger.write(victim, "web", {"metadata": {"annotations": {STATUS: "[]"}}})

    assert victim.status_of("web") is None


def test_others_write_what_they_may(victim, cluster):
    """The policy is about Multus: kubelets and controllers write statuses as before."""
    cluster.request("PATCH", victim.path("pods", "web") + "/status",
                    {"metadata": {"labels": {"app": "other"}}, "status": {"phase": "Running"}}, MERGE)

    assert victim.pod("web")["status"]["phase"] == "Running"


@pytest.mark.parametrize("who", CALLERS)
def test_the_network_status_is_written_by_patch_and_by_update(victim, cluster, probes, who):
    """As this daemon does, and as the original does."""
    caller = CALLERS[who](cluster, victim.node)
    probe = probes(caller.kubeconfig(f"{victim.node}-{who}"))
    for text in ("[]", '[{"name":"a"}]'):
        probe.ask("write_status", namespace=victim.namespace, name="web", uid=victim.pod("web")["metadata"]["uid"], text=text)
        assert victim.status_of("web") == text
    whole = victim.pod("web")
    whole["metadata"]["annotations"][STATUS] = "[ ]"
    caller.write(victim, "web", whole, "PUT", "application/json")
    assert victim.status_of("web") == "[ ]"
    caller.write(victim, "web", {"metadata": {"annotations": {STATUS: None}}})
    assert victim.status_of("web") is None


def entries(pod):
    return [(entry["name"].split("/")[-1], entry["interface"]) for entry in pod.status or []]


def test_pods_are_attached_and_hot_plugged_under_it(node, space, cluster):
    space.add_network("red", json.dumps(networks.ptp("red", "10.61.0.0/24")))
    space.add_network("blue", json.dumps(networks.ptp("blue", "10.62.0.0/24")))
    node.log_in(daemon_of(cluster, space.node).token)
    node.start(hotplug=True)
    pod = node.pod("web", networks="red@net1")
    assert pod.add().ok
    assert entries(pod) == [("cluster", "eth0"), ("red", "net1")]

    for wanted in ("blue@net2", None):
        cluster.request("PATCH", space.path("pods", "web"), {"metadata": {"annotations": {NETWORKS: wanted}}}, MERGE)
        until(lambda: entries(pod) == [("cluster", "eth0")] + [("blue", "net2")] * bool(wanted),
              lambda: f"{entries(pod)}; the log:\n{node.daemon.log[-3000:]}", 30)

    assert pod.delete().ok


def test_thin_attaches_pods_under_it(node, space, host, program, cluster):
    program("multus")
    space.add_network("red", json.dumps(networks.ptp("red", "10.61.0.0/24")))
    node.log_in(daemon_of(cluster, space.node).token)
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin = Runtime(host, "multus")
    conf = netconf_from_files(host, networks.bridge(), type="multus", kubeconfig=KUBECONFIG)
    pod = node.sandbox("web", space.add_pod("web", networks="red")["metadata"]["uid"])

    added = thin.call("ADD", conf, pod, args=pod.args)

    assert added.ok, added
    assert entries(pod) == [("cluster", "eth0"), ("red", "net1")]
    assert thin.call("DEL", conf, pod, args=pod.args).ok


def test_no_other_manifest_contains_it():
    """Off until applied."""
    for path in sorted(DEPLOY.rglob("*.y*ml")):
        if path.name != POLICY:
            assert "multus-pod-status" not in path.read_text() and POLICY not in path.read_text(), path
