"""Pods that the runtime started without us, seen when the daemon starts (pain 3)."""

import json

from harness.evidence import metrics
from harness.machine.host import PROGRAMS
from harness.machine.wait import until
from harness.node.objects import STATUS

REASON = "NetworksNotAttached"
ON_UPLINK = {"cniVersion": "1.0.0", "name": "extra", "type": "macvlan", "master": "uplink"}


def change(space, name, what, part=""):
    space.cluster.request("PATCH", space.path("pods", name) + part, what, "application/merge-patch+json")


def run_without_us(space, name, networks="extra", spec=None, **more):
    space.cluster.request("POST", space.path("pods"), {
        "metadata": {"name": name, "annotations": {"k8s.v1.cni.cncf.io/networks": networks, **more}},
        "spec": {"nodeName": space.node, "containers": [{"name": "c", "image": "none"}], **(spec or {})}})
    change(space, name, {"status": {"phase": "Running"}}, "/status")


def told(space):
    return {event["involvedObject"]["name"]: event for event in space.events() if event["reason"] == REASON}


# pain 3
def test_pods_that_run_without_their_networks_get_a_warning_when_the_daemon_starts(host, node, space, program):
    space.add_network("extra", config=json.dumps(ON_UPLINK))
    node.start()
    ours = node.pod("ours", networks="extra")
    assert ours.add().ok
    change(space, "ours", {"status": {"phase": "Running"}}, "/status")
    change(space, "ours", {"metadata": {"annotations": {STATUS: None}}})  # there is its record
    node.daemon.stop()
    run_without_us(space, "missed")
    run_without_us(space, "of-the-original", **{STATUS: "[{}]"})
    run_without_us(space, "on-the-host", spec={"hostNetwork": True})
    run_without_us(space, "plain", networks="")
    space.add_pod("starts", networks="extra")

    node.start(metricsPort=metrics.PORT)

    until(lambda: told(space), "the warning", timeout=40)
    event = told(space)["missed"]
    assert event["type"] == "Warning" and "delete the pod" in event["message"]
    assert set(told(space)) == {"missed"}
    assert f"without the networks they ask for: 1 ({space.namespace}/missed)" in node.daemon.log
    assert metrics.page(host).value("multus_pods_without_networks") == 1
    program("multusctl")
    told_by_status = host.run(f"{PROGRAMS}/multusctl", "status").stderr
    assert "1 pod without the networks asked for: `multusctl pods -A` lists them" in told_by_status
    space.delete_pod("missed")
    until(lambda: metrics.page(host).value("multus_pods_without_networks") == 0, "nobody is left")
    assert "1 pod without" not in host.run(f"{PROGRAMS}/multusctl", "status").stderr
