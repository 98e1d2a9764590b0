"""Definitions and manifests that change or vanish while pods live: DEL works from records alone (02, 6)."""

import threading

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.netconf import netconf


@pytest.fixture
def attached(node, fake):
    """A pod with a recorded network whose plugin makes a real link."""
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    node.network("n", fake.network("inner", plugin_type=linking, more={"generation": 1}))
    pod = node.pod([{"name": "n", "cni-args": {"a": 1}}])
    assert pod.add().ok
    return pod


def assert_deleted_as_added(pod, fake):
    (add,), (delete,) = fake.calls("ADD", "inner"), fake.calls("DEL", "inner")
    assert {**delete.conf, "prevResult": None} == {**add.conf, "prevResult": None}
    assert delete.conf["generation"] == 1 and delete.conf["args"] == {"cni": {"a": 1}}
    assert fake.order() == ["ADD cluster", "ADD inner", "DEL inner", "DEL cluster"]
    assert pod.links() == set() and pod.remembered() == []


def test_a_definition_that_was_edited(attached, node, fake):
    node.network("n", fake.network("other", more={"generation": 2}))

    assert attached.delete().ok

    assert_deleted_as_added(attached, fake)


def test_a_definition_that_is_gone(attached, node, fake):
    node.objects.remove_network("n")

    assert attached.check().ok
    assert attached.delete().ok

    assert fake.calls("CHECK", "inner")[0].conf["generation"] == 1
    assert [word for word in fake.order() if not word.startswith("CHECK")] \
        == ["ADD cluster", "ADD inner", "DEL inner", "DEL cluster"]
    assert attached.links() == set()


def test_a_definition_that_became_nonsense(attached, node, fake):
    node.network("n", "{ nonsense")

    assert attached.delete().ok

    assert_deleted_as_added(attached, fake)


@pytest.mark.spec("02:128")
def test_the_folder_of_objects_is_gone(attached, node, host, fake):
    """DEL never asks the source."""
    host.path("/srv/objects").rename(host.path("/srv/elsewhere"))
    node.daemon.wait_log("objects: 0 pods|/srv/objects.*(missing|no such|gone)")
    node.objects.is_dirty = False

    assert attached.delete().ok

    assert_deleted_as_added(attached, fake)


@pytest.mark.spec("02:128")
def test_the_daemon_was_restarted_without_the_folder(attached, node, host, fake):
    node.daemon.stop()
    host.path("/srv/objects").rename(host.path("/srv/elsewhere"))
    node.daemon = node.daemons(objectsDir="/srv/nothing-here")
    node.objects.is_dirty = False

    assert attached.delete().ok

    assert_deleted_as_added(attached, fake)


def test_the_cluster_networks_file_was_edited_or_removed(attached, node, host, fake):
    host.path(node.conf["clusterNetwork"]).unlink()

    assert attached.delete().ok

    assert_deleted_as_added(attached, fake)


def test_the_pods_annotation_was_edited(attached, node, fake):
    """Hot-plug by annotation is not on: DEL removes what was attached."""
    node.objects.pod(attached.pod_name, uid=attached.uid, annotations={"k8s.v1.cni.cncf.io/networks": "x,y,z"})

    assert attached.check().ok
    assert attached.delete().ok

    assert [call.network for call in fake.calls("DEL")] == ["inner", "cluster"]


def test_the_pod_was_replaced_by_one_of_the_same_name(attached, node, fake):
    """Its status stays that of the new pod."""
    node.objects.pod(attached.pod_name, uid="another")

    assert attached.delete().ok

    assert_deleted_as_added(attached, fake)


def test_a_definition_that_was_edited_counts_for_the_next_pod(attached, node, fake):
    node.network("n", fake.network("inner", more={"generation": 2}))
    other = node.pod("n")

    assert other.add().ok

    assert [call.conf["generation"] for call in fake.calls("ADD", "inner")] == [1, 2]


@pytest.mark.spec("02:124")
@pytest.mark.parametrize("known", [True, False])
def test_without_any_record_del_rebuilds_the_list(node, fake, known):
    """Best effort: it succeeds even if plugins fail."""
    failing = {"DEL": {"error": {"code": 7, "msg": "no"}}}
    node.configure(fake.network("cluster", **failing))
    node.network("n", fake.network("n", **failing))
    pod = node.pod("n", is_known=known)

    assert pod.delete().ok

    assert fake.order() == (["DEL n"] if known else []) + ["DEL cluster"]


def test_without_any_record_each_network_is_deleted_on_its_own(node, fake):
    """The others keep their names, and there is no event: the pod goes away."""
    node.configure(fake.network("cluster"))
    node.network("n", fake.network("n"))
    pod = node.pod("lost,n")

    assert pod.delete().ok

    assert [(call.conf["name"], call.env["CNI_IFNAME"]) for call in fake.calls("DEL")] == [("n", "net2"), ("cluster", "eth0")]
    node.daemon.wait_log(r"cannot find a network-attachment-definition \(lost\)")
    assert pod.events() == []


def test_a_broken_manifest_keeps_the_last_good_objects(node, host):
    """File, line and reason are in the log; other files are read on."""
    node.objects.write("all.yaml", "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\n"
                                   "metadata: {name: late, namespace: default}\n"
                                   "spec:\n  config: '{\"cniVersion\":\"1.0.0\",\"type\":\"ptp\",\"ipam\":"
                                   "{\"type\":\"host-local\",\"subnet\":\"10.9.0.0/24\"}}'\n", networks=1)
    node.settle()
    node.objects.write("all.yaml", "kind: Pod\nmetadata: {name: [\n", networks=1)
    node.daemon.wait_log(r"objects: .*all\.yaml.*line \d")
    pod = node.pod("late")

    assert pod.add().ok

    assert pod.links() == {"eth0", "net1"}


def test_lists_and_several_documents_in_one_file(node):
    node.objects.write("list.json", {"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
         "metadata": {"name": name, "namespace": "default"},
         "spec": {"config": '{"cniVersion":"1.0.0","type":"ptp","ipam":{"type":"host-local","subnet":"10.9.%d.0/24"}}'
                            % number}} for number, name in enumerate("ab")]}, networks=2)
    pod = node.pod("a,b")

    assert pod.add().ok

    assert pod.links() == {"eth0", "net1", "net2"}


def test_edits_during_an_add_change_nothing_of_it(node, fake):
    gate = fake.gate()
    node.configure(fake.network("cluster", ADD={"gate": gate.path}))
    node.network("n", fake.network("n", more={"generation": 1}))
    pod = node.pod("n")
    node.settle()
    outcomes = []
    adding = threading.Thread(target=lambda: outcomes.append(pod.add()))
    adding.start()
    gate.reached()

    node.network("n", fake.network("n", more={"generation": 2}))
    node.settle()
    gate.open()
    adding.join()

    assert outcomes[0].ok
    assert fake.calls("ADD", "n")[0].conf["generation"] == 1
    until(lambda: pod.status is not None, "status")


def test_gc_deletes_from_records_whatever_the_definitions_say(attached, node, host, fake):
    """Pain 8: secondary networks too."""
    node.objects.remove_network("n")
    node.settle()
    valid = {"cni.dev/valid-attachments": []}

    assert node.shim.gc({**netconf(networks.bridge(), version="1.1.0"), **valid}).ok

    assert [call.network for call in fake.calls("DEL")] == ["inner", "cluster"]
    assert attached.remembered() == []
    attached.run("ip", "link", "del", "net1")  # GC names no namespace (02, 7.3)
    attached.run("ip", "link", "del", "eth0")
