"""Restart, upgrade, crash, reboot and removal, with pods that need their networks all the while."""

import pytest

from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN
from harness.whole_node.pod_load import PodLoad
from harness.whole_node.pod_space import pod_object

ALL = {"eth0", "net1", "net2"}


@pytest.fixture
def load(space):
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)
    return PodLoad(space, "mac, lab")


@pytest.mark.short
@pytest.mark.spec("03:157")
def test_a_restart_of_the_daemon_set_costs_no_pod_an_interface(multus, load):
    with load:
        multus.restart()
        multus.wait_rolled_out()

    assert len(load.names) > 10
    load.check(ALL)


@pytest.mark.spec("03:157")
def test_an_upgrade_of_the_image_and_back_costs_no_pod_an_interface(node, multus, load):
    old = multus.image
    new = old.rpartition(":")[0] + ":next"
    node.ctr("images", "tag", "--force", old, new)

    with load:
        for image in (new, old):
            multus.set_image(image)
            multus.wait_rolled_out()
            assert multus.pods()[0]["spec"]["containers"][0]["image"] == image

    load.check(ALL)


def test_a_daemon_that_vanishes_is_waited_for(multus, load):
    with load:
        multus.system.kubectl("delete", "pod", "-l", "name=multus", "--force", "--grace-period=0")
        multus.wait_rolled_out()

    load.check(ALL)


@pytest.mark.leaves("firewall chain *")
def test_pods_that_go_while_no_daemon_is_there_leave_nothing(multus, space):
    """The DELs of that time are made good by the next daemon. By then their network namespaces are gone, and without
    one the bridge plugin of Debian forgets its masquerading."""
    space.network("lab", NODE_BRIDGE)
    space.apply(*(pod_object(f"leaving-{number}", "lab") for number in range(5)))
    space.wait_ready("pods", "--all")
    nowhere = '{"spec":{"template":{"spec":{"nodeSelector":{"no-such":"node"}}}}}'
    multus.system.kubectl("patch", "daemonset", "kube-multus-ds", "--patch", nowhere)
    multus.system.kubectl("wait", "--for=delete", "pod", "-l", "name=multus", "--timeout=240s")

    space.delete_pods(timeout=120)

    multus.system.kubectl("patch", "daemonset", "kube-multus-ds", "--type=json", "--patch",
                          '[{"op":"remove","path":"/spec/template/spec/nodeSelector/no-such"}]')
    multus.wait_rolled_out()
