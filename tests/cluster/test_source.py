"""Pods and networks as the object source finds them, against a real API server."""

import shutil
import subprocess

import pytest

from harness.cluster.control_plane import Refused
from harness.cluster.probe import Failed, Probe
from harness.cluster.workspace import Workspace
from harness.machine.wait import until
from harness.net.api_proxy import ApiProxy


@pytest.mark.spec("03:101")
def test_only_the_pods_of_this_node_are_kept(space, probe):
    space.add_pod("mine", networks="a,b")
    space.add_pod("theirs", node="another-node")
    until(lambda: probe.stats()["pods"] == 1, "the pod in the store")

    before = probe.stats()["requests"]
    found = probe.ask("find_pod", namespace=space.namespace, name="mine")

    assert found["annotations"] == {"k8s.v1.cni.cncf.io/networks": "a,b"}
    assert probe.stats()["requests"] == before, "a pod in the store was read from the API"


def test_a_pod_whose_annotations_are_too_long_to_keep_is_read(space, probe):
    """The authors of pods choose their size."""
    space.add_pod("long", networks=",".join(f"network-{number}" for number in range(2000)))
    until(lambda: probe.stats()["pods"] == 1, "the pod in the store")

    before = probe.stats()["requests"]
    found = probe.ask("find_pod", namespace=space.namespace, name="long")

    assert len(found["annotations"]["k8s.v1.cni.cncf.io/networks"]) > 20000
    assert probe.stats()["requests"] == before + 1


@pytest.mark.spec("03:101")
def test_pods_are_asked_for_as_a_stream_of_this_nodes(space, proxied, proxy):
    (pods,) = [target for method, target in proxy.requests if target.startswith("/api/v1/pods?")]

    assert {"watch=true", "allowWatchBookmarks=true", "sendInitialEvents=true", "resourceVersionMatch=NotOlderThan",
            f"fieldSelector=spec.nodeName%3D{space.node}"} <= set(pods.split("?")[1].split("&"))
    assert proxied.stats()["podWatch"]["lists"] == 1


@pytest.mark.spec("03:102")
def test_where_lists_are_not_streamed_they_come_in_pages(space, probes, proxy, cluster):
    space.add_pod("mine")
    proxy.refuse("sendInitialEvents", 422)

    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))

    until(lambda: probe.stats()["podWatch"]["streams"] == 1, "the watch after the list")
    asked = [target for method, target in proxy.requests if target.startswith("/api/v1/pods?")]
    assert len(asked) == 3
    assert "limit=500&resourceVersion=0&" in asked[1] and "watch" not in asked[1]
    assert "watch=true" in asked[2] and "&resourceVersion=" in asked[2] and "sendInitialEvents" not in asked[2]
    assert probe.stats()["pods"] == 1


@pytest.mark.slow
@pytest.mark.spec("03:103")
def test_a_streamed_list_that_never_ends_is_given_up_after_30_seconds(space, probes, proxy, cluster):
    space.add_pod("mine")
    proxy.stall("sendInitialEvents")

    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")), synced=False)
    answer = probe.start("wait_synced", waitMs=150000).whole()

    assert answer["result"] is True and 29000 < answer["ms"]
    assert probe.stats()["pods"] == 1


def test_a_pod_that_is_not_of_this_node_is_read(space, probe):
    made = space.add_pod("theirs", node="another-node")

    found = probe.ask("find_pod", namespace=space.namespace, name="theirs")

    assert found["uid"] == made["metadata"]["uid"]


@pytest.mark.spec("03:112")
def test_without_a_node_name_no_pods_are_kept_and_it_is_said(space, probes, kubeconfig):
    space.add_pod("mine")
    probe = probes(kubeconfig, node="")

    found = probe.ask("find_pod", namespace=space.namespace, name="mine")

    assert found["name"] == "mine"
    assert probe.stats()["pods"] == 0
    assert "MULTUS_NODE_NAME is not set" in probe.log


@pytest.mark.spec("03:113")
def test_a_pod_that_comes_late_ends_the_wait_with_its_event(space, probes, kubeconfig, proxy, cluster):
    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))
    waiting = probe.start("find_pod", namespace=space.namespace, name="late", waitMs=20000)
    until(lambda: proxy.count("GET .*/pods/late") == 1, "the first read")

    space.add_pod("late")
    answer = waiting.whole()

    assert answer["result"]["name"] == "late"
    assert proxy.count("GET .*/pods/late") <= 3
    assert answer["ms"] < 9000, "it waited for a read instead of the event"


def test_a_pod_that_never_comes_is_read_three_times_in_all(space, probes, proxy, cluster):
    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))

    answer = probe.start("find_pod", namespace=space.namespace, name="never", waitMs=600).whole()

    assert answer["result"] is None
    assert proxy.count("GET .*/pods/never") == 3
    assert answer["ms"] >= 600


def test_without_a_wait_the_first_answer_is_final(space, probes, proxy, cluster):
    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))

    assert probe.ask("find_pod", namespace=space.namespace, name="never") is None
    assert proxy.count("GET .*/pods/never") == 1


@pytest.mark.spec("03:114")
def test_a_recreated_pod_is_found_although_the_store_is_behind(space, probes, proxy, cluster):
    space.add_pod("web-0")
    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))
    watches = proxy.count("watch=true")
    assert watches >= 2
    proxy.refuse("watch=true", 503)
    proxy.cut()  # the store stays as it is
    space.delete_pod("web-0")
    made = space.add_pod("web-0")

    found = probe.ask("find_pod", namespace=space.namespace, name="web-0", uid=made["metadata"]["uid"], waitMs=2500)

    assert found["uid"] == made["metadata"]["uid"]


@pytest.mark.spec("03:114")
def test_a_recreated_pod_is_waited_for_while_the_api_still_has_the_old_one(space, probe):
    """A static pod's object without a hash fits every UID: the only one of our making that a request can know before it is there."""
    space.add_pod("web-0")
    until(lambda: probe.stats()["pods"] == 1, "the pod in the store")
    waiting = probe.start("find_pod", namespace=space.namespace, name="web-0", uid="future", waitMs=20000)
    until(lambda: probe.stats()["requests"] >= 3, "the first read")

    space.delete_pod("web-0")
    space.add_pod("web-0", annotations={"kubernetes.io/config.source": "file"})
    answer = waiting.whole()

    assert answer["result"]["static"]
    assert answer["ms"] < 9000, "it waited for a read instead of the event"


@pytest.mark.spec("03:115")
def test_a_static_pod_fits_by_its_hash(space, probe):
    """06, pain 32: of two mirrors that follow each other only one is the pod that was asked for."""
    def add(digest):
        annotations = {"kubernetes.io/config.source": "file", "kubernetes.io/config.hash": digest}
        return space.add_pod("etcd-node", annotations=annotations)["metadata"]["uid"]

    def find(uid):
        return probe.ask("find_pod", namespace=space.namespace, name="etcd-node", uid=uid, waitMs=0)
    mirror = add("first")

    assert find("first")["uid"] == mirror
    with pytest.raises(Failed, match=f'expected pod UID "second" but got "{mirror}" from Kube API'):
        find("second")
    space.delete_pod("etcd-node")
    add("second")
    assert find("second")["static"]


@pytest.mark.spec("03:115")
def test_a_static_pod_without_a_hash_fits_whatever_its_uid(space, probe):
    space.add_pod("etcd-node", annotations={"kubernetes.io/config.source": "file"})

    found = probe.ask("find_pod", namespace=space.namespace, name="etcd-node", uid="of-the-kubelet", waitMs=2500)

    assert found["static"]


@pytest.mark.spec("03:116")
def test_a_pod_with_another_uid_is_an_error(space, probe):
    made = space.add_pod("a")

    with pytest.raises(Failed, match=f'expected pod UID "x" but got "{made["metadata"]["uid"]}" from Kube API'):
        probe.ask("find_pod", namespace=space.namespace, name="a", uid="x")


@pytest.mark.spec("03:117")
def test_a_network_that_the_store_does_not_know_yet_is_read(space, probes, proxy, cluster):
    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))
    proxy.refuse("watch=true", 503)
    proxy.cut()
    space.add_network("fresh", config="{}")

    found = probe.ask("find_network", namespace=space.namespace, name="fresh")

    assert found["config"] == "{}"


@pytest.mark.spec("03:118")
def test_a_network_that_is_missing_is_asked_for_once(space, probes, proxy, cluster):
    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))

    answer = probe.start("find_network", namespace=space.namespace, name="none").whole()

    assert answer["result"] is None
    assert proxy.count("GET .*/network-attachment-definitions/none") == 1
    assert answer["ms"] < 30000


def test_a_changed_network_is_seen_at_once(space, probe):
    space.add_network("n", config="1")
    until(lambda: probe.stats()["networks"] == 1, "the network in the store")
    requests = probe.stats()["requests"]
    for number in range(2, 30):
        space.change_network("n", str(number))
        until(lambda: probe.ask("find_network", namespace=space.namespace, name="n")["config"] == str(number),
              "the change in the store")
    space.delete_network("n")
    until(lambda: probe.stats()["networks"] == 0, "the end of the network")

    assert probe.stats()["requests"] == requests, "the store was not asked"


def test_names_that_cannot_exist_are_not_asked_for(space, probes, proxy, cluster):
    probe = probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))
    proxy.forget()

    for name in ("../secrets", "a?b", "A", ""):
        assert probe.ask("find_network", namespace=space.namespace, name=name) is None
        assert probe.ask("find_pod", namespace=space.namespace, name=name) is None
    assert proxy.count("GET") == 0


@pytest.mark.spec("03:111")
def test_memory_does_not_grow_with_what_we_do_not_use(space, probes, kubeconfig, cluster):
    """250 pods with 100 KiB each of what we do not need, and 1000 networks."""
    empty = probes(kubeconfig, node="a-node-without-pods")
    before = empty.memory()
    ballast = {f"test/ballast-{i}": "x" * 10000 for i in range(10)}
    space.add_many(space.add_pod, [f"p{number}" for number in range(250)], networks="a,b,c", annotations=ballast)
    space.add_many(space.add_network, [f"n{number}" for number in range(1000)])

    probe = probes(kubeconfig)
    until(lambda: probe.stats()["pods"] == 250 and probe.stats()["networks"] == 1000, "all in the store")

    grown = probe.memory() - before
    assert grown < 6 * 2**20, f"the store takes {grown / 2**20:.1f} MB"


def test_a_storage_without_progress_is_listed_in_pages_and_watched(own_cluster, tools):
    """etcd 3.4: the server answers a streamed list with an error event."""
    etcd = shutil.which("etcd")
    version = subprocess.run([etcd, "--version"], capture_output=True, text=True).stdout if etcd else "no etcd"
    if "Version: 3.4" not in version:
        pytest.skip(f"Debian's etcd 3.4 is not here: {version.splitlines()[0]}")
    cluster = own_cluster(etcd=etcd)
    cluster.install_definitions()
    cluster.apply_files("common/role.yaml")
    space = Workspace(cluster)
    space.add_pod("first")
    proxy = ApiProxy(cluster)

    probe = Probe(tools / "kube-probe", proxy.kubeconfig("old", token=cluster.token_for("kube-system", "multus")), space.node)
    probe.ask("wait_synced", waitMs=90000)
    space.add_pod("second")
    space.add_network("n")

    until(lambda: probe.stats()["pods"] == 2 and probe.stats()["networks"] == 1, "what came later")
    assert proxy.count("GET /api/v1/pods.limit=500") == 1
    assert "no streamed list, reading pages" in probe.log and "RequestWatchProgress" in probe.log
    probe.close()
    proxy.close()


def test_a_definition_without_a_config_is_one(space, probe, cluster):
    cluster.request("POST", space.path("network-attachment-definitions"), {
        "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": "bare", "annotations": {"k8s.v1.cni.cncf.io/resourceName": "intel.com/x"}}})

    found = probe.ask("find_network", namespace=space.namespace, name="bare")

    assert "config" not in found and found["resourceName"] == "intel.com/x"


def test_our_definition_takes_nothing_but_text(space):
    with pytest.raises(Refused):
        space.add_network("wrong", config={"type": "bridge"})
