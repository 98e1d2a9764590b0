"""Networks for pods that run already, by the daemon's socket."""

import pytest

from harness.node.networks import NODE_BRIDGE
from harness.whole_node.hotplug import Controller

LAB = {**NODE_BRIDGE, "capabilities": {"mac": True}}


@pytest.mark.short
def test_an_interface_is_plugged_into_a_running_pod_and_out_again(node, space):
    space.pod("running")
    controller = Controller(node, space)
    assert list(space.addresses("running")) == ["eth0"]

    status, answer = controller.delegate("ADD", "running", LAB, "hot0",
                                         attributes={"macRequest": "c2:b0:57:49:47:f2"})

    assert status == 200, answer
    assert space.addresses("running").keys() == {"eth0", "hot0"}
    assert "c2:b0:57:49:47:f2" in space.execute("running", "ip", "link", "show", "dev", "hot0")

    status, answer = controller.delegate("DEL", "running", LAB, "hot0")

    assert status == 200, answer
    assert list(space.addresses("running")) == ["eth0"]


def test_what_was_plugged_in_goes_with_its_pod(node, space):
    space.pod("short")
    controller = Controller(node, space)

    status, answer = controller.delegate("ADD", "short", LAB, "hot0")

    assert status == 200, answer
    assert space.addresses("short").keys() == {"eth0", "hot0"}
    space.delete_pods()  # the check of leftovers follows
