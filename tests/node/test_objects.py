"""The folder of manifests (`objectsDir`) behind a real daemon: what it means for pods, and how it is followed."""

import concurrent.futures
import json
import os

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.daemon import default_config
from harness.node.objects import FOLDER, NETWORKS, network_manifest, pod_manifest


def two_networks(node):
    node.host.add_bridge("nodebr")
    node.network("storage", networks.macvlan(name="storage"))
    node.network("backup", networks.conflist(networks.bridge("backup", "br-backup", "10.10.2.0/24",
                                                             default_route=False), networks.TUNING))


def test_a_pod_gets_what_its_manifest_says(node):
    two_networks(node)
    pod = node.pod("storage,backup@data")

    result = pod.add().result

    assert [ip["address"] for ip in result["ips"]] == ["10.244.0.2/24"]  # the cluster network's alone
    assert pod.links() == {"eth0", "net1", "data"}
    assert pod.addresses("net1") == ["10.10.1.2/24"] and pod.addresses("data") == ["10.10.2.2/24"]
    written = node.objects.status_object("web0")
    assert written["kind"] == "Pod" and written["metadata"]["uid"] == pod.uid
    assert [(entry["name"], entry["interface"], entry["ips"], entry.get("default"))
            for entry in pod.status] == [("cluster", "eth0", ["10.244.0.2"], True),
                                         ("default/storage", "net1", ["10.10.1.2"], None),
                                         ("default/backup", "data", ["10.10.2.2"], None)]
    (event,) = node.objects.wait_events(1, "web0")
    assert event["message"] == ("Add eth0 [10.244.0.2/24] from cluster; Add net1 [10.10.1.2/24] from default/storage; "
                                "Add data [10.10.2.2/24] from default/backup")
    assert (event["type"], event["reason"], event["reportingComponent"]) == ("Normal", "AddedInterface", "multus")
    assert pod.check().ok

    assert pod.delete().ok
    assert pod.links() == set()


def test_yaml_lists_and_several_documents(host, node):
    two = "---\n".join(json.dumps(network_manifest(name, networks.macvlan(name=name, subnet=subnet))) + "\n"
                       for name, subnet in (("a", "10.11.1.0/24"), ("b", "10.11.2.0/24")))
    host.add_bridge("nodebr")
    node.objects.write("networks.yml", two, networks=2)
    pod = node.pod(is_known=False)
    items = [pod_manifest("other"), pod_manifest("web0", uid=pod.uid, annotations={NETWORKS: "b,a"})]
    node.objects.write("pods.yaml", json.dumps({"apiVersion": "v1", "kind": "List", "items": items}), pods=2)

    assert pod.add().ok

    assert pod.addresses("net1") == ["10.11.2.2/24"] and pod.addresses("net2") == ["10.11.1.2/24"]


def replace(host, path, text):
    """At once: an empty file in between would be one without objects."""
    beside = host.write(f"{FOLDER}/.beside", text)
    os.rename(host.path(beside), host.path(path))


def test_a_broken_file_is_reported_once_and_keeps_its_last_good_objects(host, node):
    two_networks(node)
    pod = node.pod("storage")
    daemon = node.start()
    broken = f"{FOLDER}/net-default-storage.json"

    replace(host, broken, "kind: Pod\nmetadata: {name: [\n")
    daemon.wait_log(f"\\[error\\] objects: {broken}: line 3, column 1: ")
    assert pod.add().ok
    assert pod.links() == {"eth0", "net1"}
    assert pod.delete().ok

    replace(host, broken, json.dumps(network_manifest("storage", networks.macvlan(subnet="10.12.0.0/24"))))
    host.write(f"{FOLDER}/sign.json", json.dumps(pod_manifest("sign")))
    daemon.wait_log("objects: 2 pods and 2 network")
    assert pod.add().ok
    assert pod.addresses("net1") == ["10.12.0.2/24"]
    assert daemon.log.count(f"objects: {broken}: line") == 1


def test_a_file_replaced_while_running_counts_for_the_next_pod(node):
    """What is attached stays as it was attached, even if its definition changes between ADD and DEL."""
    two_networks(node)
    first = node.pod("storage")
    assert first.add().ok

    node.network("storage", networks.macvlan(name="storage", subnet="10.13.0.0/24"))
    second = node.pod("storage")
    assert second.add().ok

    assert first.addresses("net1") == ["10.10.1.2/24"] and second.addresses("net1") == ["10.13.0.2/24"]
    node.objects.remove_network("storage")
    assert first.delete().ok and second.delete().ok
    third = node.pod("storage")
    assert "cannot find a network-attachment-definition (storage)" in third.add().error["msg"]


@pytest.mark.spec("02:49")
def test_a_network_written_a_moment_before_is_found(host, node):
    """Nothing waits for the folder's event."""
    host.add_bridge("nodebr")
    pod = node.pod("late")
    daemon = node.start()

    host.write(f"{FOLDER}/late.json", json.dumps(network_manifest("late", networks.macvlan(name="late"))))
    outcome = node.shim.add(node.conf, pod, args=pod.args)

    assert outcome.ok, daemon.log
    pod.is_added = True


@pytest.mark.spec("02:161")
def test_a_pod_that_comes_within_its_time_is_waited_for(host, node):
    two_networks(node)
    pod = node.pod(is_known=False)
    daemon = node.start(podLookupTimeout=60)
    pod.is_added = True
    with concurrent.futures.ThreadPoolExecutor() as threads:
        adding = threads.submit(node.shim.add, node.conf, pod, args=pod.args)
        daemon.wait_log("ADD starting CNI request")
        node.objects.pod("web0", uid="another", annotations={NETWORKS: "backup"})
        daemon.wait_log("objects: 1 pods and 2 network")
        assert not adding.done()
        node.objects.pod("web0", uid=pod.uid, annotations={NETWORKS: "storage"})
        assert adding.result(timeout=180).ok

    assert pod.links() == {"eth0", "net1"} and pod.addresses("net1") == ["10.10.1.2/24"]


@pytest.mark.spec("02:115")
def test_a_pod_of_another_uid_is_refused(node):
    pod = node.pod()
    node.objects.pod("web0", uid="another")

    error = pod.add().error

    assert f'expected pod UID "{pod.uid}" but got "another" from Kube API' in error["msg"]
    assert pod.links() == set()


def test_a_pod_in_no_file_is_a_pod_without_annotations(node):
    """00-index, "Folder of manifests"."""
    pod = node.pod(is_known=False)

    assert pod.add().ok

    assert pod.links() == {"eth0"} and pod.status is None


def test_core_keys_of_the_daemon_reach_the_core(node):
    """03, 2.2 and 2.9 step 4: multusNamespace, systemNamespaces, namespaceIsolation, globalNamespaces."""
    node.host.add_bridge("nodebr")
    node.network("cluster", networks.bridge(), namespace="infra")
    node.network("extra", networks.macvlan(name="extra"), namespace="infra")
    node.network("shared", networks.macvlan(name="shared", subnet="10.14.0.0/24"), namespace="pool")
    node.network("private", networks.macvlan(name="private", subnet="10.15.0.0/24"), namespace="team")
    node.configure(clusterNetwork="nowhere", multusNamespace="elsewhere")
    node.start(clusterNetwork="cluster", defaultNetworks=["extra"], multusNamespace="infra",
               systemNamespaces=["quiet"], namespaceIsolation=True, globalNamespaces="pool,infra")

    usual, quiet = node.pod("pool/shared"), node.pod(namespace="quiet")
    assert usual.add().ok and quiet.add().ok
    assert [entry["name"] for entry in usual.status] == ["infra/cluster", "infra/extra", "pool/shared"]
    assert [entry["name"] for entry in quiet.status] == ["infra/cluster"]
    error = node.pod("team/private").add().error
    assert "namespace isolation enabled" in error["msg"]


def test_a_folder_that_comes_late_is_read_when_it_is_there(host, daemons, shim, objects):
    os.rmdir(host.path(FOLDER))
    daemon = daemons.launch(default_config(objectsDir="/srv/late"))
    daemon.wait_ready()
    assert "objects: open /srv/late: no such file or directory" in daemon.log

    host.write("/srv/late/pod.json", json.dumps(pod_manifest("web")))

    daemon.wait_log("objects: 1 pods and 0 network definitions in /srv/late")


def test_events_are_written_before_the_daemon_ends(node):
    pod = node.pod()
    assert pod.add().ok
    assert pod.delete().ok

    assert node.daemon.stop() == 0

    assert node.objects.messages("web0") == ["Add eth0 [10.244.0.2/24] from cluster"]


def test_a_status_that_cannot_be_written_fails_the_add_and_undoes_it(host, node):
    pod = node.pod()
    node.start()
    host.write(f"{FOLDER}/status", "in the way")

    error = pod.add().error

    assert "error setting the networks status" in error["msg"]
    until(lambda: pod.links() == set(), "undone")


def test_a_folder_that_is_away_takes_no_network_from_a_pod(host, node):
    """Pain 30: better no pod than one without its networks."""
    node.network("extra", networks.ptp("extra", "10.10.7.0/24"))
    pod = node.pod("extra")
    node.start()
    host.path(FOLDER).rename(host.path("/srv/elsewhere"))
    node.daemon.wait_log("no such file or directory; its last objects stay in use")

    refused = pod.call("ADD").error

    assert "objects folder /srv/objects is missing" in refused["msg"]
    assert pod.links() == set()
    host.path("/srv/elsewhere").rename(host.path(FOLDER))
    until(lambda: pod.add().ok, "the folder is back")
    assert pod.links() == {"eth0", "net1"}


def test_a_read_only_folder_leaves_the_status_below_the_daemons_own(node, host, fake):
    """A volume of a ConfigMap is read-only."""
    node.configure(fake.network("cluster"))
    pod = node.pod()
    host.run("mount", "--bind", FOLDER, FOLDER)
    host.run("mount", "-o", "remount,bind,ro", FOLDER)
    try:
        assert pod.add().ok
        node.daemon.wait_log(rf"warning: objects folder {FOLDER} is read-only")
        written = host.path(f"/var/lib/cni/multus/_status/default/{pod.pod_name}.json")
        assert "network-status" in written.read_text()
        assert pod.delete().ok
    finally:
        host.run("umount", "-l", FOLDER)
        host.run("rm", "-rf", "/var/lib/cni/multus/_status")
