"""Devices of claims (02, 8.4), read from a real API server of resource.k8s.io/v1."""

import itertools
import json
import re
import uuid

import pytest

from harness.cluster.claims import API, RESOURCE, add_claim, add_claiming_pod, add_slice, device
from harness.cluster.probe import Failed
from harness.cluster.workspace import Workspace
from harness.machine.proc import peak_memory
from harness.machine.wait import until
from harness.node.kubelet import FOLDER as KUBELET
from harness.node.kubelet import save_checkpoint
from harness.node.objects import NETWORKS

pytestmark = pytest.mark.kubernetes("1.34")


@pytest.fixture
def driver(space):
    """The name of one; what it published is gone in the end."""
    name = f"d{uuid.uuid4().hex[:8]}.example.com"
    yield name
    for one in space.cluster.get(f"{API}/resourceslices")["items"]:
        if one["spec"]["driver"] == name:
            space.cluster.request("DELETE", f"{API}/resourceslices/{one['metadata']['name']}")


def claimed(probe, space, name="p"):
    return probe.ask("claimed_devices", namespace=space.namespace, name=name)


@pytest.mark.spec("02:88")
def test_claims_count_in_the_order_of_the_pod_and_of_their_results(space, probe, driver):
    add_slice(space, driver, *(device(str(i)) for i in range(4)))
    add_claim(space, "first", driver, "3", "1")
    add_claim(space, "second", driver, "0")
    add_claiming_pod(space, "p", "first", "second")
    assert claimed(probe, space) == {RESOURCE: ["id-3", "id-1", "id-0"]}


@pytest.mark.spec("02:88")
def test_a_claim_made_from_a_template_is_named_by_the_status(space, probe, driver):
    add_slice(space, driver, device("1"))
    add_claim(space, "made", driver, "1")
    add_claiming_pod(space, "p", resourceClaims=[{"name": "c", "resourceClaimTemplateName": "t"}],
                     status={"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "made"}]})
    assert claimed(probe, space) == {RESOURCE: ["id-1"]}


@pytest.mark.spec("02:89")
def test_devices_that_are_not_for_networks_are_ignored(space, probe, driver):
    add_slice(space, driver, device("1"), {"name": "gpu"})
    add_claim(space, "mixed", driver, "gpu", "1")
    add_claiming_pod(space, "p", "mixed")
    assert claimed(probe, space) == {RESOURCE: ["id-1"]}


@pytest.mark.spec("02:90")
def test_a_claim_that_is_not_allocated_or_not_there_is_an_error(space, probe, driver):
    add_claim(space, "waiting", driver, allocated=False)
    add_claiming_pod(space, "early", "waiting")
    add_claiming_pod(space, "lost", "missing")
    with pytest.raises(Failed, match="claim waiting has no device allocation"):
        claimed(probe, space, "early")
    with pytest.raises(Failed, match="missing not found"):
        claimed(probe, space, "lost")


@pytest.mark.spec("02:92")
def test_only_the_newest_generation_of_a_pool_counts(space, probe, driver):
    add_slice(space, driver, device("1", "old.example.com/vf"), name="old")
    add_slice(space, driver, device("1"), generation=2, name="new")
    add_claim(space, "c", driver, "1")
    add_claiming_pod(space, "p", "c")
    assert claimed(probe, space) == {RESOURCE: ["id-1"]}


def test_slices_of_other_nodes_do_not_count_and_those_of_all_nodes_do(space, probe, driver):
    add_slice(space, driver, device("theirs"), node="another-node", name="theirs")
    add_slice(space, driver, device("shared"), node="", name="shared")
    add_claim(space, "c", driver, "theirs", "shared")
    add_claiming_pod(space, "p", "c")
    assert claimed(probe, space) == {RESOURCE: ["id-shared"]}


def test_slices_are_asked_for_by_node_and_driver(space, proxied, proxy, driver):
    """No node of a large cluster reads the slices of the others."""
    add_slice(space, driver, device("1"))
    add_claim(space, "c", driver, "1")
    add_claiming_pod(space, "p", "c")

    claimed(proxied, space)

    asked = [target for _, target in proxy.requests if "resourceslices" in target]
    assert len(asked) == 1 and f"fieldSelector=spec.nodeName%3D{space.node}%2Cspec.driver%3D{driver}" in asked[0], asked


def test_requests_at_once_share_lists_of_slices(space, proxied, proxy, driver):
    """A burst of pods costs the API server a handful of lists."""
    names = [f"p{i}" for i in range(30)]
    add_slice(space, driver, *(device(name) for name in names))
    for name in names:
        add_claim(space, name, driver, name)
        add_claiming_pod(space, name, name)

    def wait_for_the_claims(_client):
        until(lambda: proxy.count("resourceclaims/") == len(names), "all claims read", 60)
        return False
    proxy.rules.append((re.compile("resourceslices"), wait_for_the_claims))
    asked = [proxied.start("claimed_devices", namespace=space.namespace, name=name) for name in names]

    assert [one.result() for one in asked] == [{RESOURCE: [f"id-{name}"]} for name in names]
    assert proxy.count("resourceslices") < 6


def test_a_list_of_slices_without_end_costs_little(node, space):
    """A broken API server, or what stands before it, gives page after page, each of another pool. It is followed for a while."""
    space.add_network("dev", annotations={"k8s.v1.cni.cncf.io/resourceName": RESOURCE})
    add_claim(space, "c", "d.example.com", "1")
    add_claiming_pod(space, "web", "c")
    space.cluster.request("PATCH", space.path("pods", "web"), {"metadata": {"annotations": {NETWORKS: "dev"}}},
                          "application/merge-patch+json")
    pod = node.sandbox("web", space.pod("web")["metadata"]["uid"])
    save_checkpoint(node.host)
    pages = itertools.count(1)

    def give_another(client):
        number = next(pages)
        page = json.dumps({"metadata": {"continue": f"after-{number}"}, "items": [
            {"spec": {"driver": "d.example.com", "pool": {"name": f"{number}-" + "x" * 100_000, "generation": 1}, "devices": []}}]})
        client.sendall(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(page)}\r\n\r\n{page}".encode())
        return True
    node.proxy.rules.append((re.compile("resourceslices"), give_another))
    node.start(kubeletDir=KUBELET)

    answer = pod.add()

    assert "the list did not end" in answer.error["msg"], answer
    assert next(pages) <= 2 * 1001, "the claim is read twice: for its devices, and for what its resource is"
    assert peak_memory(node.daemon.pid) <= 32 * 2**20


@pytest.fixture
def extended(own_cluster, probes):
    """A space of an API server that knows claims for extended resources: the gate is off in 1.34."""
    cluster = own_cluster()
    cluster.stop_apiserver()
    cluster.start_apiserver("--feature-gates=DRAExtendedResource=true")
    cluster.install_definitions()
    space = Workspace(cluster)
    return space, probes(cluster.kubeconfig, node=space.node)


def add_extended_pod(space, name, request, resource=RESOURCE):
    mapping = {"containerName": "c", "resourceName": resource, "requestName": request}
    space.cluster.request("POST", space.path("pods"), {
        "metadata": {"name": name}, "spec": {"nodeName": space.node, "containers": [
            {"name": "c", "image": "none", "resources": {"limits": {resource: 1}}}]}})
    space.cluster.request("PATCH", space.path("pods", name) + "/status", {"status": {"extendedResourceClaimStatus": {
        "resourceClaimName": "ec", "requestMappings": [mapping]}}}, "application/merge-patch+json")


@pytest.mark.spec("02:91")
def test_extended_resources_are_matched_strictly(extended):
    space, probe = extended
    driver = "d.example.com"
    add_slice(space, driver, device("1"))
    add_claim(space, "ec", driver, "1")
    add_extended_pod(space, "good", "r0")
    add_extended_pod(space, "unknown", "r9")
    add_extended_pod(space, "other", "r0", "other.example.com/vf")

    assert claimed(probe, space, "good") == {RESOURCE: ["id-1"]}
    with pytest.raises(Failed, match="request r9 not found in claim ec"):
        claimed(probe, space, "unknown")
    with pytest.raises(Failed, match=f"{RESOURCE}.*other.example.com/vf"):
        claimed(probe, space, "other")
