"""deploy/flow-control.yml in a real API server: which requests get Multus's own share of it."""

import http.client
import ssl

import pytest
from harness.cluster.control_plane import DEPLOY
from harness.machine.wait import until

MANIFEST = "flow-control.yml"
GROUP = "/apis/flowcontrol.apiserver.k8s.io/v1"
OF_A_NODE = {"Impersonate-User": "system:multus:node1", "Impersonate-Group": "system:multus"}
PODS = "/api/v1/pods?limit=1"


@pytest.fixture(scope="module")
def shared(cluster):
    cluster.apply_files("common/role.yaml", MANIFEST)
    yield cluster
    cluster.kubectl("delete", "-f", DEPLOY / MANIFEST)


def levels_of(cluster, path, token=None, headers=None):
    """The UIDs of the flow schema and of the priority level that a request was given."""
    context = ssl.create_default_context(cafile=cluster.authority.certificate)
    if not token:
        context.load_cert_chain(*cluster.admin)
    connection = http.client.HTTPSConnection(cluster.address, cluster.port, context=context, timeout=60)
    try:
        connection.request("GET", path, headers={**(headers or {}), **({"Authorization": f"Bearer {token}"} if token else {})})
        answer = connection.getresponse()
        answer.read()
        return answer.getheader("X-Kubernetes-PF-FlowSchema-UID"), answer.getheader("X-Kubernetes-PF-PriorityLevel-UID")
    finally:
        connection.close()


def test_the_daemons_have_their_own_priority_level_and_others_do_not(shared, space):
    ours = tuple(shared.get(f"{GROUP}/{kind}/multus")["metadata"]["uid"]
                 for kind in ("flowschemas", "prioritylevelconfigurations"))
    daemon = shared.token_for("kube-system", "multus")
    until(lambda: levels_of(shared, PODS, daemon) == ours, "requests of the daemon's account to be Multus's", 120)

    assert levels_of(shared, "/apis/k8s.cni.cncf.io/v1", daemon) == ours
    assert levels_of(shared, PODS, headers=OF_A_NODE) == ours, "a node's own certificate"
    shared.kubectl("-n", "kube-system", "create", "serviceaccount", f"not-{space.namespace}")
    stranger = shared.token_for("kube-system", f"not-{space.namespace}")
    for other in ({"token": stranger}, {}, {"headers": {"Impersonate-User": "system:multus:node1"}}):
        schema, level = levels_of(shared, PODS, **other)
        assert schema and schema != ours[0] and level != ours[1], other


def test_the_flow_schema_finds_its_priority_level(shared):
    def conditions():
        status = shared.get(f"{GROUP}/flowschemas/multus").get("status", {})
        return {each["type"]: each["status"] for each in status.get("conditions", [])}
    until(lambda: conditions().get("Dangling") == "False", "the priority level to be found", 120)
