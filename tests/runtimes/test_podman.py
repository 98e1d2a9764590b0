"""A real podman with its CNI back end: no cluster, no kubelet, our shim in the network's conflist."""

from harness.machine.inside import addresses
from harness.node import networks
from harness.node.netconf import write_networks


def test_the_ground_a_plain_bridge_works_here(host, podman):
    host.write("/etc/cni/net.d/10-plain.conflist", networks.conflist(networks.bridge(version="0.4.0")))

    podman.run("plain", "cluster", "sleep", "1000")

    shown = podman.podman("exec", "plain", "ip", "-o", "addr").stdout
    assert addresses(shown.splitlines()) == {"eth0": "10.244.0.2/24"}
    podman.podman("rm", "-f", "-t", "0", "plain")


def test_a_container_gets_three_interfaces_and_gives_them_back(host, podman, daemon, shim):
    host.add_bridge("nodebr")
    first, *others = write_networks(host, networks.conflist(networks.bridge(), networks.PORTMAP),
                                    networks.macvlan(),
                                    networks.bridge("third", "br3", "10.10.3.0/24", default_route=False))
    plugin = {"type": "multus-shim", "clusterNetwork": first, "defaultNetworks": others}
    host.write("/etc/cni/net.d/10-multus.conflist", {"cniVersion": "0.4.0", "name": "multus", "plugins": [plugin]})

    podman.run("web", "multus", "sleep", "1000")

    shown = podman.podman("exec", "web", "ip", "-o", "addr").stdout
    assert addresses(shown.splitlines()) == {"eth0": "10.244.0.2/24", "net1": "10.10.1.2/24",
                                             "net2": "10.10.3.2/24"}
    for gateway in ("10.244.0.1", "10.10.3.1"):
        podman.podman("exec", "web", "ping", "-c", "1", "-W", "30", gateway)
    podman.podman("rm", "-f", "-t", "0", "web")
    assert host.files_below("/var/lib/cni/multus") == []
