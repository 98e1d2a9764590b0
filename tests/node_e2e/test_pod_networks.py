"""Pods with several interfaces under a real kubelet, by kubectl alone."""

import json

import pytest

from harness.machine.wait import until
from harness.node import networks
from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN
from harness.whole_node.boot import NAME as NODE
from harness.whole_node.pod_space import pod_object

WISHES = {**NODE_BRIDGE, "capabilities": {"ips": True, "mac": True}}


def only_default_route(space, pod):
    lines = space.show("exec", pod, "--", "ip", "route").splitlines()
    (words,) = (line.split() for line in lines if line.startswith("default"))
    return words[words.index("via") + 1], words[words.index("dev") + 1]


def test_a_simple_pod_has_the_cluster_network_alone(space):
    space.pod("simple")

    assert list(space.addresses("simple")) == ["eth0"]
    (entry,) = space.status("simple")
    assert (entry["name"], entry["interface"], entry["default"]) == ("primary", "eth0", True)


@pytest.mark.short
def test_a_pod_gets_macvlan_and_bridge_networks_and_they_carry_packets(space):
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)
    space.pod("one", "mac, lab@lab0")
    space.pod("two", "mac, lab@lab0")

    one, two = space.addresses("one"), space.addresses("two")

    assert one.keys() == two.keys() == {"eth0", "net1", "lab0"}
    for interface in one:
        space.execute("one", "ping", "-c", "1", "-W", "30", two[interface].split("/")[0])
    assert [(entry["name"], entry["interface"]) for entry in space.status("one")] == [
        ("primary", "eth0"), (f"{space.name}/mac", "net1"), (f"{space.name}/lab", "lab0")]
    assert {entry["interface"]: entry["ips"] for entry in space.status("one")} == {
        interface: [address.split("/")[0]] for interface, address in one.items()}
    described = until(lambda: (text := space.kubectl("describe", "pod", "one")).count("AddedInterface") == 1 and text,
                      "one event for all interfaces")
    assert f"from {space.name}/mac; Add lab0" in described and f"from {space.name}/lab" in described


@pytest.mark.short
def test_an_address_and_a_mac_that_were_asked_for(space):
    space.network("lab", WISHES)

    space.pod("wishful", [{"name": "lab", "ips": ["10.20.4.77/22"], "mac": "c2:b0:57:49:47:f1", "interface": "wish0"}])

    assert space.addresses("wishful")["wish0"] == "10.20.4.77/22"
    assert "c2:b0:57:49:47:f1" in space.execute("wishful", "ip", "link", "show", "dev", "wish0")
    entry = space.status("wishful")[1]
    assert (entry["ips"], entry["mac"]) == (["10.20.4.77"], "c2:b0:57:49:47:f1")


@pytest.mark.short
def test_the_default_route_goes_where_the_pod_wants_it(space):
    space.network("lab", NODE_BRIDGE)

    space.pod("routed", [{"name": "lab", "default-route": ["10.20.4.1"]}])

    assert only_default_route(space, "routed") == ("10.20.4.1", "net1")


@pytest.mark.short
def test_a_static_pod_gets_its_networks(node, space):
    """Its UID in the API (of the mirror pod) is not the one that the runtime sends."""
    space.network("lab", NODE_BRIDGE)
    static = pod_object("fixed", "lab")
    static["metadata"]["namespace"] = space.name
    place = node.host.path("/etc/kubernetes/manifests/fixed.json")
    place.write_text(json.dumps(static))
    try:
        until(lambda: space.kubectl("get", "pods", "-o", "name"), "the mirror pod")
        space.wait_ready(f"pod/fixed-{NODE}")

        assert space.addresses(f"fixed-{NODE}").keys() == {"eth0", "net1"}
        until(lambda: len(space.status(f"fixed-{NODE}")) == 2, "the status of the mirror pod")
    finally:
        place.unlink()
        until(lambda: not space.kubectl("get", "pods", "-o", "name"), "the static pod gone")


def test_a_conflist_of_the_node_is_chained_with_the_files_of_its_folder(node, space):
    """A definition without a configuration: the node's file of that name, and what lies in its subdirectory."""
    folder = "/etc/cni/multus/net.d"
    node.host.write(f"{folder}/chained.conflist", networks.conflist(networks.bridge("chained", "brchain", "10.20.8.0/24",
                                                                                     default_route=False)))
    node.host.write(f"{folder}/chained/10-tuning.conf", networks.TUNING)
    space.network("chained")

    space.pod("chain", "chained")

    assert space.addresses("chain").keys() == {"eth0", "net1"}
    assert space.execute("chain", "cat", "/proc/sys/net/core/somaxconn") == "500\n"


def test_a_network_that_fails_is_told_to_the_user_and_mended_without_a_new_pod(space):
    space.network("late", {**NODE_BRIDGE, "type": "no-such-plugin"})
    space.apply(pod_object("patient", "late"))
    until(lambda: "no-such-plugin" in space.kubectl("describe", "pod", "patient"), "the reason in the description")
    space.show("get", "events")

    space.network("late", NODE_BRIDGE)

    space.wait_ready("pod/patient")
    assert space.addresses("patient").keys() == {"eth0", "net1"}


def test_sixty_pods_at_once(space):
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)

    space.apply(*(pod_object(f"crowd-{number}", "mac, lab") for number in range(60)))
    space.wait_ready("pods", "--all", timeout=240)

    seen = space.logged_addresses()
    assert len(seen) == 60
    assert all(found.keys() == {"eth0", "net1", "net2"} for found in seen.values()), seen
    everything = [address for found in seen.values() for address in found.values()]
    assert len(set(everything)) == 180
