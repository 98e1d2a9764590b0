"""The examples of cni-node on a whole node: from apply to files on the node and back to a clean node on delete."""

import json

import pytest

from harness.cluster import ROOT
from harness.installation import image_archive
from harness.networks import NODE_MACVLAN
from harness.pod_space import PodSpace
from harness.wait import until

EXAMPLES = ROOT / "deploy" / "cni-node"
CONFIG = "/etc/cni/net.d/05-multus-cni.conf"
PLUGINS = "/opt/cni/bin"
WATCHING = ("multus-cni-config.yaml", "multus-cni-rbac.yaml", "multus-cni.yaml")


@pytest.fixture(scope="module")
def cni_node_image(node, programs):
    node.load_image(image_archive("cni-node", programs, node.folder / "images"))


class Example:
    """Its files are those of deploy/cni-node, with the name of this node's primary network in place of Calico's."""

    def __init__(self, node, *files):
        self.node = node
        self.texts = [(EXAMPLES / file).read_text().replace("10-calico.conflist", "10-primary.conflist")
                      for file in files]
        self.system = PodSpace(node.cluster, "kube-system")

    def apply(self):
        for text in self.texts:
            self.node.cluster.kubectl("apply", "-f", "-", stdin=text)
        self.system.kubectl("rollout", "status", "daemonset/multus-cni-node", "--timeout=90s")

    def delete(self):
        """In the reverse order, as the files say."""
        for text in reversed(self.texts):
            self.node.cluster.kubectl("delete", "--wait", "-f", "-", stdin=text)
            self.system.kubectl("wait", "--for=delete", "pod", "-l", "app=multus-cni-node", "--timeout=60s", check=False)


def files_of(node):
    return {*node.host.files_below("/etc/cni/net.d"), *node.host.files_below(PLUGINS)}


@pytest.fixture
def poor(bare):
    """A node without the plugins that the examples bring."""
    folder = bare.disk / PLUGINS[1:]
    for name in ("macvlan", "ipvlan"):
        (folder / name).rename(bare.folder / name)
    yield bare
    for name in ("macvlan", "ipvlan"):
        (bare.folder / name).rename(folder / name)


@pytest.mark.ours
def test_the_simple_example_places_its_files_and_takes_them_off_again(cni_node_image, poor, leaks):
    before = files_of(poor)
    example = Example(poor, "multus-cni-simple.yaml")

    example.apply()

    until(lambda: poor.host.path(CONFIG).exists(), "the configuration on the node")
    assert files_of(poor) - before == {"05-multus-cni.conf", "multus-cni", "macvlan"}
    written = json.loads(poor.host.path(CONFIG).read_text())
    assert written["delegates"][0]["name"] == "primary"
    space = PodSpace(poor.cluster)
    space.pod("plain")
    assert list(space.addresses("plain")) == ["eth0"]
    space.close()
    example.delete()
    until(lambda: files_of(poor) == before, lambda: f"a clean node: {files_of(poor) ^ before}", 30)


@pytest.mark.ours
def test_the_watching_example_follows_its_configuration_and_leaves_a_clean_node(cni_node_image, poor, leaks):
    before = files_of(poor)
    example = Example(poor, *WATCHING)
    example.apply()
    until(lambda: poor.host.path(CONFIG).exists(), "the configuration on the node", 30)
    space = PodSpace(poor.cluster)
    space.network("mac", NODE_MACVLAN)

    space.pod("watched", "mac")

    assert space.addresses("watched").keys() == {"eth0", "net1"}
    space.delete_pods()
    example.system.kubectl("patch", "configmap", "multus-cni", "--patch", '{"data":{"plugins":"multus-cni,macvlan"}}')
    until(lambda: not poor.host.path(f"{PLUGINS}/ipvlan").exists(), "a plugin taken away by an edit", 60)
    space.close()
    example.delete()
    until(lambda: files_of(poor) == before, lambda: f"a clean node: {files_of(poor) ^ before}", 30)
