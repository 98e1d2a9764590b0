"""A real containerd with `ctr run --cni`: from the start of a container to its removal."""

import json

from harness.machine.inside import addresses
from harness.node import networks
from harness.node.netconf import netconf_from_files

WAIT = "ip -o addr; echo up; exec sleep 1000"


def read_until_up(process):
    lines = []
    for line in process.stdout:
        if line.strip() == "up":
            return lines
        lines.append(line)
    raise AssertionError(f"the container did not come up: {lines}")


def remove(containerd, process, name):
    containerd.ctr("task", "kill", "--signal", "KILL", name)
    process.wait()


def test_the_ground_a_plain_bridge_works_here(host, containerd):
    host.write("/etc/cni/net.d/10-plain.conflist", networks.conflist(networks.bridge()))

    process = containerd.start("plain", WAIT)

    assert addresses(read_until_up(process)) == {"eth0": "10.244.0.2/24"}
    remove(containerd, process, "plain")


def test_a_container_gets_three_interfaces_and_gives_them_back(host, containerd, daemon, shim):
    host.add_bridge("nodebr")
    conf = netconf_from_files(host, networks.conflist(networks.bridge(), networks.PORTMAP), networks.macvlan(),
                              networks.bridge("third", "br3", "10.10.3.0/24", default_route=False))
    host.write("/etc/cni/net.d/00-multus.conf", conf)

    process = containerd.start("web", WAIT)

    assert addresses(read_until_up(process)) == {"eth0": "10.244.0.2/24", "net1": "10.10.1.2/24",
                                                 "net2": "10.10.3.2/24"}
    shown = containerd.execute("web", "ip", "-o", "addr")
    assert addresses(shown.splitlines()) == {"eth0": "10.244.0.2/24", "net1": "10.10.1.2/24",
                                             "net2": "10.10.3.2/24"}
    containerd.execute("web", "ping", "-c", "1", "-W", "30", "10.244.0.1")
    containerd.execute("web", "ping", "-c", "1", "-W", "30", "10.10.3.1")
    remove(containerd, process, "web")
    assert host.files_below("/var/lib/cni/multus") == []


def test_a_container_whose_network_fails_does_not_start_and_leaves_nothing(host, containerd, daemon, shim, fake):
    bad = fake.conf("bad", ADD={"exit": 1, "result": {"code": 100, "msg": "out of luck"}})
    host.write("/etc/cni/net.d/00-multus.conf", netconf_from_files(host, networks.bridge(), bad))

    process = containerd.start("web", WAIT)

    output = process.stdout.read()
    assert process.wait() != 0
    assert "out of luck" in output
    # ctr leaves the container object, and no DEL, behind.
    containerd.ctr("task", "rm", "-f", "web", check=False)
    containerd.ctr("container", "rm", "web", check=False)
    conf = json.loads(host.path("/etc/cni/net.d/00-multus.conf").read_text())
    assert shim.delete(conf, None, container_id=f"{containerd.namespace}-web", netns="").ok
