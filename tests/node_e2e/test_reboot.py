"""A node that loses power: every process, namespace and link is gone, and all pods come back at once."""

import os

import pytest

from harness.machine.wait import until
from harness.node.networks import NODE_MACVLAN
from harness.whole_node.boot import PRIMARY_FILE
from harness.whole_node.installation import GENERATED
from harness.whole_node.pod_space import pod_object

PODS = int(os.environ.get("E2E_REBOOT_PODS", "200"))


@pytest.fixture
def crowd(space):
    """A Deployment, as the pods of a real node belong to something."""
    space.network("mac", NODE_MACVLAN)
    template = pod_object("crowd", "mac")
    del template["metadata"]["name"]
    space.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "crowd"}, "spec": {
        "replicas": PODS, "selector": {"matchLabels": {"app": "test"}},
        "template": {"metadata": template["metadata"], "spec": template["spec"]}}})
    space.kubectl("rollout", "status", "deployment/crowd", "--timeout=400s", timeout=430)
    yield space
    space.kubectl("delete", "deployment", "crowd", "--wait", check=False)
    space.delete_pods(timeout=300)


def come_back(pods):
    """Whether each runs in a container that was started after the reboot."""
    states = [pod["status"].get("containerStatuses", [{}])[0] for pod in pods]
    return len(pods) == PODS and all(state.get("ready") and state.get("restartCount", 0) > 0 for state in states)


@pytest.mark.spec("03:158")
def test_after_a_reboot_with_a_late_primary_and_a_late_api_every_pod_has_its_interfaces(node, multus, crowd):
    primary = node.disk / PRIMARY_FILE[1:]
    kept = primary.rename(node.folder / "primary")
    node.power_off()
    assert (node.disk / GENERATED[1:]).exists()  # no pod comes up without us

    node.power_on()
    node.start_agents()
    until(lambda: "connection refused" in node.parts["kubelet"].log.read_text(), node.parts["kubelet"].tail, 90)
    node.start_control_plane()
    until(lambda: any(state.get("started") for pod in multus.pods()
                      for state in pod["status"].get("containerStatuses", [])), "a daemon without a primary", 120)
    kept.rename(primary)

    until(lambda: come_back(crowd.items("pods")), "all pods back", 420)
    multus.wait_rolled_out()
    assert node.out_of_memory_kills() == 0
    seen = crowd.logged_addresses()
    assert len(seen) == PODS
    assert all(found.keys() == {"eth0", "net1"} for found in seen.values()), seen
    assert len({address for found in seen.values() for address in found.values()}) == 2 * PODS
