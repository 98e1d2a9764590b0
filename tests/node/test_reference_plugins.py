"""The reference plugins on their own: what the host and the leak checker make of them.

Every other test relies on this ground: a real ADD is seen, a real DEL leaves nothing, and what is left
on purpose is found.
"""

import os

import pytest
from harness.evidence.leaks import unexpected
from harness.node import networks


def test_bridge_gives_the_pod_an_address_and_takes_it_back(host, pod, plugin):
    conf = networks.bridge(ipMasq=True)

    result = plugin("bridge").add(conf, pod).result

    assert [ip["address"] for ip in result["ips"]] == ["10.244.0.2/24"]
    assert pod.addresses("eth0") == ["10.244.0.2/24"]
    pod.run("ping", "-c1", "-w60", "10.244.0.1")

    assert plugin("bridge").delete(conf, pod).ok
    assert pod.links() == set()


def test_macvlan_on_a_bridge_works_here(host, pod, plugin):
    host.add_bridge("nodebr")
    conf = networks.macvlan()

    assert plugin("macvlan").add(conf, pod, ifname="net1").ok
    assert pod.addresses("net1") == ["10.10.1.2/24"]

    assert plugin("macvlan").delete(conf, pod, ifname="net1").ok


def test_leak_check_names_everything_an_add_leaves(host, pod, plugin):
    conf = networks.bridge(ipMasq=True)
    plugin("bridge").add(conf, pod)

    found = host.leaks.found()

    kinds = sorted(leak.split(" ")[0] for leak in found)
    assert kinds == ["address", "firewall", "interface", "link"], found
    assert unexpected(found, ["address *", "firewall *", "interface *", "link *"]) == []
    assert plugin("bridge").delete(conf, pod).ok


def test_leak_check_finds_processes_records_and_mounts(host):
    sleeper = host.spawn("sleep", "1000")
    host.write("/var/lib/cni/multus/results/n-c-eth0", "{}")
    host.run("mount", "-t", "tmpfs", "tmpfs", "/mnt")

    kinds = sorted(leak.split(" ")[0] for leak in host.leaks.found(patience=0.5))

    assert kinds == ["mount", "process", "record"]
    sleeper.signal(9)
    assert sleeper.wait() == -9
    host.path("/var/lib/cni/multus/results/n-c-eth0").unlink()
    host.run("umount", "/mnt")


@pytest.mark.leaves("link *", "interface *", "address *")
def test_a_host_takes_everything_with_it_when_it_is_closed(host, pod, plugin):
    assert plugin("bridge").add(networks.bridge(), pod).ok


def test_nothing_written_on_a_host_reaches_the_machine(host):
    for path in ("/made-by-a-test", "/etc/made-by-a-test", "/var/lib/made-by-a-test", "/run/made-by-a-test"):
        host.write(path, "x")
        assert host.run("cat", path).stdout == "x"
        assert not os.path.exists(path)
    host.add_bridge("made-by-a-test")
    assert not os.path.exists("/sys/class/net/made-by-a-test")
