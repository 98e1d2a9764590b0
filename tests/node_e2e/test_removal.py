"""Taking Multus off a node, and putting it back."""

import pytest

from harness.machine.wait import until
from harness.node.networks import NODE_BRIDGE
from harness.whole_node.installation import GENERATED, SHIM
from harness.whole_node.pod_space import PodSpace


def records(node):
    return node.host.files_below("/var/lib/cni/multus")


@pytest.fixture
def installed_again(multus):
    yield
    multus.install()


@pytest.mark.short
@pytest.mark.ours
def test_an_uninstalled_node_works_with_its_primary_network_alone(node, multus, leaks, installed_again):
    """Pain 19."""
    space = PodSpace(node.cluster)
    space.network("lab", NODE_BRIDGE)
    space.pod("before", "lab")

    space.delete_pods()
    multus.uninstall()

    space.pod("after")
    assert list(space.addresses("after")) == ["eth0"]
    space.close()
    left = [path for path in (GENERATED, SHIM, "/run/multus/multus.sock") if node.host.path(path).exists()]
    assert left == []
    until(lambda: not records(node), lambda: f"no records, but there are {records(node)}")
