"""The examples of cni-node on a whole node: from apply to files on the node and back to a clean node on delete."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from harness.cluster.control_plane import ROOT
from harness.machine.wait import until
from harness.node.networks import NODE_MACVLAN
from harness.whole_node.boot import NAME, PRIMARY
from harness.whole_node.installation import image_archive
from harness.whole_node.pod_space import PodSpace

EXAMPLES = ROOT / "deploy" / "cni-node"
CONFIG = "/etc/cni/net.d/05-multus-cni.conf"
PLUGINS = "/opt/cni/bin"
WATCHING = ("multus-cni-config.yaml", "multus-cni-rbac.yaml", "multus-cni.yaml")
CONTAINERS = (*WATCHING[:2], "multus-cni-kube-watch.yaml")
ORIGINAL = Path(__file__).resolve().parents[1] / "data" / "manifests" / "original-cni-node.yml"
OUR_IMAGE = f"localhost/cni-node:{(ROOT / 'VERSION').read_text().strip()}"
ORIGINAL_SIMPLE = ORIGINAL.with_name("original-cni-node-simple.yml")
KUBECTL = "/opt/bin/kubectl"  # where the original's example looks for it on the node
PLACED = {"05-multus-cni.conf", "multus-cni", "macvlan", "ipvlan"}


@pytest.fixture(scope="module")
def cni_node_image(node, programs):
    node.load_image(image_archive("cni-node", programs, node.folder / "images"))


class Example:
    """Its files are those of deploy/cni-node, with the name of this node's primary network in place of Calico's."""

    def __init__(self, node, *files):
        self.node = node
        self.texts = [(EXAMPLES / file).read_text().replace("10-calico.conflist", "10-primary.conflist")
                      .replace("quay.io/openvnf/cni-node:latest", OUR_IMAGE) for file in files]
        self.system = PodSpace(node.cluster, "kube-system")

    def apply(self):
        for text in self.texts:
            self.node.cluster.kubectl("apply", "-f", "-", stdin=text)
        self.system.kubectl("rollout", "status", "daemonset/multus-cni-node", "--timeout=240s")

    def delete(self):
        """In the reverse order, as the files say."""
        for text in reversed(self.texts):
            self.node.cluster.kubectl("delete", "--wait", "--ignore-not-found", "-f", "-", stdin=text)
            self._await_no_pods()

    def delete_pods(self):
        """And nothing else: they may still ask for all that they had."""
        self.system.kubectl("delete", "daemonset", "multus-cni-node")
        self._await_no_pods()

    def _await_no_pods(self):
        self.system.kubectl("wait", "--for=delete", "pod", "-l", "app=multus-cni-node", "--timeout=180s", check=False)

    def edit(self, **lists):
        self.system.kubectl("patch", "configmap", "multus-cni", "--patch", json.dumps({"data": lists}))

    def log(self):
        return self.system.kubectl("logs", "-l", "app=multus-cni-node", "--all-containers", "--prefix", "--tail=20")


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
    until(lambda: files_of(poor) == before, lambda: f"a clean node: {files_of(poor) ^ before}")


@pytest.mark.ours
def test_the_originals_simple_example_applies_an_edit_when_its_pods_are_deleted(cni_node_image, poor, leaks):
    """Its document says: edit the ConfigMap, delete the pods, see it applied."""
    before = files_of(poor)
    example = Example(poor, ORIGINAL_SIMPLE)
    example.apply()
    until(lambda: poor.host.path(CONFIG).exists(), "the configuration on the node")
    space = PodSpace(poor.cluster)
    space.pod("plain")
    assert list(space.addresses("plain")) == ["eth0"]
    space.close()

    edited = json.loads(example.system.kubectl("get", "configmap", "multus-cni-configs", "-o", "json"))
    template = edited["data"]["05-multus-cni.conf"].replace('"name": "multus-cni"', '"name": "edited"')
    example.system.kubectl("patch", "configmap", "multus-cni-configs", "--patch",
                           json.dumps({"data": {"05-multus-cni.conf": template}}))
    example.system.kubectl("delete", "pod", "-l", "app=multus-cni-node")

    until(lambda: poor.host.path(CONFIG).exists() and json.loads(poor.host.path(CONFIG).read_text())["name"] == "edited",
          lambda: f"the edit on the node\n{example.log()}", 120)
    example.delete()
    until(lambda: files_of(poor) == before, lambda: f"a clean node: {files_of(poor) ^ before}")


@pytest.mark.ours
def test_three_deletes_in_a_row_leave_a_clean_node(cni_node_image, poor, leaks):
    """Without waiting: the rights may go before the pod has asked whether it is still wanted."""
    before = files_of(poor)
    example = Example(poor, *WATCHING)
    example.apply()
    until(lambda: poor.host.path(CONFIG).exists(), "the configuration on the node")

    for text in reversed(example.texts):
        poor.cluster.kubectl("delete", "--wait=false", "-f", "-", stdin=text)

    until(lambda: files_of(poor) == before, lambda: f"a clean node: {files_of(poor) ^ before}", 120)


@pytest.mark.ours
def test_a_rollout_of_the_watching_example_takes_nothing_away(cni_node_image, poor, leaks):
    before = files_of(poor)
    example = Example(poor, *WATCHING)
    example.apply()
    until(lambda: files_of(poor) - before == PLACED, lambda: f"placed: {files_of(poor) - before}")
    placed = {name: poor.host.path(f"{PLUGINS}/{name}").stat().st_ino for name in PLACED - {"05-multus-cni.conf"}}

    example.system.kubectl("rollout", "restart", "daemonset/multus-cni-node")
    example.system.kubectl("rollout", "status", "daemonset/multus-cni-node", "--timeout=240s")

    assert {name: poor.host.path(f"{PLUGINS}/{name}").stat().st_ino for name in placed} == placed
    example.delete()
    until(lambda: files_of(poor) == before, lambda: f"a clean node: {files_of(poor) ^ before}")


@pytest.mark.ours
def test_the_watching_example_follows_its_configuration_and_leaves_a_clean_node(cni_node_image, poor, leaks):
    before = files_of(poor)
    example = Example(poor, *WATCHING)
    example.apply()
    until(lambda: poor.host.path(CONFIG).exists(), "the configuration on the node")
    space = PodSpace(poor.cluster)
    space.network("mac", NODE_MACVLAN)

    space.pod("watched", "mac")

    assert space.addresses("watched").keys() == {"eth0", "net1"}
    assert len(space.status("watched")) == 2  # written with the kubelet's own rights
    space.delete_pods()
    example.edit(plugins="multus-cni,macvlan")
    until(lambda: not poor.host.path(f"{PLUGINS}/ipvlan").exists(), "a plugin taken away by an edit")
    space.close()
    example.delete()
    until(lambda: files_of(poor) == before, lambda: f"a clean node: {files_of(poor) ^ before}")


@pytest.fixture
def containers(poor, leaks):
    """Makes an example; what it leaves, on purpose or because the test fails, is taken away at the end."""
    examples = []

    def make(*files):
        examples.append(Example(poor, *files))
        return examples[-1]
    yield make
    for example in examples:
        example.delete()
    poor.cluster.kubectl("delete", "clusterrolebinding", f"multus-cni-{NAME}", "--ignore-not-found")
    for path in (CONFIG, *(f"{PLUGINS}/{name}" for name in PLACED)):
        poor.host.path(path).unlink(missing_ok=True)
    poor.set_primary(PRIMARY)


@contextlib.contextmanager
def kubectl_on(node):
    """For pods that mount it from the node."""
    path = node.host.path(KUBECTL)
    path.parent.mkdir()
    shutil.copy(node.binaries["kubectl"], path)
    try:
        yield
    finally:
        shutil.rmtree(path.parent)


@contextlib.contextmanager
def no_kubectl_on(node):
    """The container runtime makes a folder in its place."""
    path = node.host.path(KUBECTL)
    assert not path.exists()
    try:
        yield
        assert path.is_dir() and not any(path.iterdir())
    finally:
        shutil.rmtree(path.parent, ignore_errors=True)


def is_bound(node):
    """Whether the node has its own binding, which one of the manifests is about."""
    return f"/multus-cni-{NAME}\n" in node.cluster.kubectl("get", "clusterrolebindings", "-o", "name")


def written_bridge(node):
    return json.loads(node.host.path(CONFIG).read_text())["delegates"][0]["plugins"][0]


def see_containers_at_work(node, before, example, has_manifest):
    """Everything is placed and serves a pod, and edits are followed; at the end ipvlan is gone again."""
    example.apply()
    until(lambda: files_of(node) - before == PLACED and is_bound(node) == has_manifest,
          lambda: f"placed: {files_of(node) - before}\n{example.log()}", 60)
    space = PodSpace(node.cluster)
    space.network("mac", NODE_MACVLAN)
    space.pod("watched", "mac")
    assert space.addresses("watched").keys() == {"eth0", "net1"}
    space.close()

    example.edit(plugins="multus-cni,macvlan")
    until(lambda: files_of(node) - before == PLACED - {"ipvlan"}, "a plugin taken away by an edit")

    assert written_bridge(node)["hairpinMode"] is True
    bridge, *others = PRIMARY["plugins"]
    node.set_primary({**PRIMARY, "plugins": [{**bridge, "hairpinMode": False}, *others]})
    until(lambda: written_bridge(node)["hairpinMode"] is False, lambda: f"the edited file in ours\n{example.log()}")


@pytest.mark.ours
@pytest.mark.spec("04:119")
@pytest.mark.parametrize("files, kubectl", [(CONTAINERS, contextlib.nullcontext), ((ORIGINAL,), kubectl_on)],
                         ids=["ours", "original"])
def test_the_containers_follow_their_configuration_and_uninstall(cni_node_image, poor, containers, files, kubectl):
    before = files_of(poor)
    example = containers(*files)
    with kubectl(poor):
        see_containers_at_work(poor, before, example, has_manifest=files == (ORIGINAL,))

        example.delete_pods()

        assert files_of(poor) == before
        assert not is_bound(poor)


@pytest.mark.ours
@pytest.mark.spec("04:119")
def test_the_originals_four_containers_without_kubectl_do_all_but_uninstall(cni_node_image, poor, containers):
    before = files_of(poor)
    example = containers(ORIGINAL)
    with no_kubectl_on(poor):
        see_containers_at_work(poor, before, example, has_manifest=True)

        example.delete_pods()

        assert files_of(poor) - before == PLACED - {"ipvlan"}
        assert is_bound(poor)
