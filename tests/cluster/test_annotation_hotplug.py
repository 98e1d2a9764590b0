"""Hot-plug by annotation against a real API server (05, 3): the watch brings the edit, the status comes back."""

import json

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.objects import NETWORKS, STATUS

MERGE = "application/merge-patch+json"


@pytest.fixture
def plugging(node, space):
    space.add_network("red", json.dumps(networks.ptp("red", "10.61.0.0/24")))
    space.add_network("blue", json.dumps(networks.ptp("blue", "10.62.0.0/24")))
    node.start(hotplug=True)
    return node


def annotate(space, pod, text):
    space.cluster.request("PATCH", space.path("pods", pod.pod_name), {"metadata": {"annotations": {NETWORKS: text}}}, MERGE)


def entries(pod):
    return [(entry["name"].split("/")[-1], entry["interface"]) for entry in pod.status or []]


def wait_for(pod, *wanted):
    until(lambda: entries(pod) == [("cluster", "eth0"), *wanted] and
          pod.links() == {"eth0", *(link for _, link in wanted)},
          lambda: f"{wanted}: links {pod.links()}, status {entries(pod)}; the log:\n{pod.node.daemon.log[-4000:]}", timeout=30)


@pytest.mark.spec("05:17", "05:19", "05:22")
def test_an_annotation_attaches_replaces_and_detaches(plugging, space):
    pod = plugging.pod("web")
    assert pod.add().ok

    annotate(space, pod, "red@net1")
    wait_for(pod, ("red", "net1"))
    annotate(space, pod, "blue@net1")
    wait_for(pod, ("blue", "net1"))
    annotate(space, pod, None)
    wait_for(pod)

    until(lambda: len(pod.events("RemovedInterface")) == 2, lambda: [event["reason"] for event in pod.events()])
    assert pod.delete().ok


@pytest.mark.spec("05:37")
def test_a_definition_that_comes_later_is_attached_at_once(plugging, space):
    pod = plugging.pod("web")
    assert pod.add().ok
    annotate(space, pod, "late@net1")
    until(lambda: pod.events("FailedAddingInterface"), "the event")

    space.add_network("late", json.dumps(networks.ptp("late", "10.63.0.0/24")))

    wait_for(pod, ("late", "net1"))
    assert pod.delete().ok


@pytest.mark.spec("05:41", "05:43")
def test_what_others_write_into_the_status_stays(plugging, space):
    pod = plugging.pod("web", networks="red@net1")
    assert pod.add().ok
    foreign = [*pod.status, {"name": "foreign", "interface": "x0"}]
    space.cluster.request("PATCH", space.path("pods", "web") + "/status",
                          {"metadata": {"annotations": {STATUS: json.dumps(foreign)}}}, MERGE)

    annotate(space, pod, "blue@net2")

    until(lambda: entries(pod) == [("cluster", "eth0"), ("foreign", "x0"), ("blue", "net2")], lambda: entries(pod))
    assert pod.delete().ok


def test_what_the_external_controller_writes_over_the_status_comes_back(plugging, space):
    """It writes what it had read before it called (05, 1.6 and 3.12)."""
    pod = plugging.pod("web", networks="red@net1")
    assert pod.add().ok
    read, hot = pod.status, networks.ptp("hot", "10.64.0.0/24")

    assert pod.delegate("ADD", hot, "hot0").status == 200
    annotate(space, pod, "blue@net2")
    until(lambda: entries(pod) == [("cluster", "eth0"), ("blue", "net2")], lambda: entries(pod))
    written = [{"name": f"{pod.namespace}/hot", "interface": "hot0"}, *reversed(read)]
    space.cluster.request("PATCH", space.path("pods", "web") + "/status",
                          {"metadata": {"annotations": {STATUS: json.dumps(written)}}}, MERGE)

    until(lambda: entries(pod) == [("hot", "hot0"), ("cluster", "eth0"), ("blue", "net2")], lambda: entries(pod), timeout=30)
    assert pod.links() == {"eth0", "hot0", "net2"}
    assert pod.delete().ok


@pytest.mark.spec("05:51")
def test_a_restart_asks_the_server_for_nothing_but_watches(plugging, space):
    pod = plugging.pod("web", networks="red@net1")
    assert pod.add().ok
    version = space.pod("web")["metadata"]["resourceVersion"]
    plugging.daemon.stop()

    plugging.start(hotplug=True)
    plugging.daemon.wait_log("hot-plug: edits of the networks annotation are applied")
    other = plugging.pod("other")
    assert other.add().ok
    annotate(space, other, "blue@net1")
    wait_for(other, ("blue", "net1"))

    assert space.pod("web")["metadata"]["resourceVersion"] == version
    assert pod.delete().ok and other.delete().ok
