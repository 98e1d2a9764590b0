"""The thin DaemonSet on a whole node: no daemon, the plugin itself asks the API server."""

import pytest

from harness.cluster.control_plane import ROOT
from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN
from harness.whole_node.devices import (CLAIMED, RESOURCE, Devices, claim, claiming_pod, container, device_ids, ids,
                                        network, printed)
from harness.whole_node.installation import SHIM, Installation
from harness.whole_node.pod_space import PodSpace

ALL = {"eth0", "net1", "net2"}


@pytest.fixture
def thin(bare):
    """Not installed yet."""
    return Installation(bare, ROOT / "deploy" / "multus-daemonset.yml")


def make_pods(space, *names):
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)
    for name in names:
        space.pod(name, "mac, lab")


@pytest.mark.ours
def test_the_thin_daemon_set_from_apply_to_pods_with_three_interfaces_to_removal(thin, bare, leaks):
    thin.install()
    space = PodSpace(bare.cluster)
    make_pods(space, "one", "two")

    one, two = space.addresses("one"), space.addresses("two")

    assert one.keys() == two.keys() == ALL
    for interface in one:
        space.execute("one", "ping", "-c", "1", "-W", "30", two[interface].split("/")[0])
    assert [entry["interface"] for entry in space.status("one")] == ["eth0", "net1", "net2"]
    space.delete_pods()
    thin.remove()
    space.pod("after")
    assert list(space.addresses("after")) == ["eth0"]
    space.close()


@pytest.mark.ours
def test_thin_gives_devices_of_the_kubelet_and_of_claims(thin, bare, leaks):
    thin.install()
    devices, space = Devices(bare), PodSpace(bare.cluster)
    devices.start_plugin()
    devices.start_driver()
    pod = claiming_pod("p", "n,m", resourceClaimName="c")
    pod["spec"]["containers"].append(container("second"))
    space.apply(network("n", RESOURCE), network("m", CLAIMED), claim("c", "vf"), pod)
    space.wait_ready("pod/p")

    given, claimed = printed(space, "p", "second")[0], device_ids(space, "c")[0]
    space.close()
    added, deleted = (sorted(ids(devices.calls(command))) for command in ("ADD", "DEL"))
    devices.close()
    thin.remove()

    assert added == deleted == [("net1", given), ("net2", claimed)]


@pytest.mark.ours
def test_thick_takes_the_place_of_thin_with_the_pods_still_running(multus, thin, bare, leaks):
    thin.install()
    space = PodSpace(bare.cluster)
    make_pods(space, "before")

    multus.install()

    assert bare.host.path(SHIM).exists()
    space.pod("later", "mac, lab")
    assert space.addresses("later").keys() == space.addresses("before").keys() == ALL
    space.close()
    multus.remove()
