"""The daemon with named capabilities, the runtime's seccomp profile and no token (docs/privileges.md)."""

import pytest

from harness.cluster.control_plane import ROOT
from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN, TUNING, conflist
from harness.whole_node.installation import Installation
from harness.whole_node.pod_space import PodSpace

CERTIFICATES = "/etc/cni/multus/certs"
# As <linux/capability.h> numbers them.
NUMBERS = {"DAC_OVERRIDE": 1, "NET_ADMIN": 12, "NET_RAW": 13, "SYS_CHROOT": 18, "SYS_ADMIN": 21}


@pytest.fixture
def hardened(bare, leaks):
    installation = Installation(bare, ROOT / "deploy" / "overlays" / "hardened").install()
    yield installation
    installation.remove()
    for file in bare.host.files_below(CERTIFICATES):
        bare.host.path(f"{CERTIFICATES}/{file}").unlink()


def daemon_status(node):
    """Of the daemon's process, as the node sees it: fields of /proc/<pid>/status."""
    (pid,) = node.host.run("pidof", "multus-daemon").stdout.split()
    lines = node.host.run("cat", f"/proc/{pid}/status").stdout.splitlines()
    return {name: value.strip() for name, value in (line.split(":", 1) for line in lines)}


@pytest.mark.ours
@pytest.mark.short
def test_a_hardened_daemon_attaches_and_detaches_pods(bare, hardened):
    status = daemon_status(bare)
    assert int(status["CapEff"], 16) == sum(1 << number for number in NUMBERS.values())
    assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
    (daemon,) = hardened.pods()
    projected = [source for volume in daemon["spec"]["volumes"] for source in volume.get("projected", {}).get("sources", [])]
    assert not [source for source in projected if "serviceAccountToken" in source]
    space = PodSpace(bare.cluster)
    space.network("mac", NODE_MACVLAN)
    space.network("lab", conflist(NODE_BRIDGE, TUNING))

    space.pod("routed", [{"name": "mac"}, {"name": "lab", "default-route": ["10.20.4.1"]}])

    assert space.addresses("routed").keys() == {"eth0", "net1", "net2"}
    assert "default via 10.20.4.1 dev net2" in space.show("exec", "routed", "--", "ip", "route")
    assert len(space.status("routed")) == 3
    space.close()
