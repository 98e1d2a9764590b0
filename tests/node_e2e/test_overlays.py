"""Overlays for distributions with other paths, on a node whose container runtime has configurations and plugins there."""

import pytest

from harness.cluster.control_plane import ROOT
from harness.node.networks import NODE_BRIDGE
from harness.whole_node.boot import CONFIG_DIR, PLUGIN_DIR
from harness.whole_node.installation import Installation
from harness.whole_node.pod_space import PodSpace

K3S = ("/var/lib/rancher/k3s/agent/etc/cni/net.d", "/var/lib/rancher/k3s/data/cni")
CRIO = (CONFIG_DIR, "/usr/libexec/cni")
OPENSHIFT = ("/etc/kubernetes/cni/net.d", "/var/lib/cni/bin")


@pytest.fixture
def moved(bare):
    """Puts the node's folders elsewhere for the time of the test."""
    def move(config_dir, plugin_dir):
        bare.move_cni(config_dir, plugin_dir)
        return bare
    yield move
    bare.move_cni(CONFIG_DIR, PLUGIN_DIR)


@pytest.mark.ours
@pytest.mark.parametrize("name, folders", [("k3s", K3S), ("crio", CRIO), ("openshift", OPENSHIFT)])
def test_pods_get_their_networks_where_the_distribution_has_other_folders(moved, leaks, name, folders):
    node = moved(*folders)
    installation = Installation(node, ROOT / "deploy" / "overlays" / name).install()
    space = PodSpace(node.cluster)
    space.network("lab", NODE_BRIDGE)

    space.pod("web", "lab")

    assert space.addresses("web").keys() == {"eth0", "net1"}
    assert node.host.path(f"{folders[1]}/multus-shim").exists() and not node.host.path(f"{PLUGIN_DIR}/multus-shim").exists()
    assert node.host.path(f"{CONFIG_DIR}/00-multus.conf").exists() == (folders[0] == CONFIG_DIR)
    space.close()
    installation.remove()
