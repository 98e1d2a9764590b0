"""Many pods at once, and many networks."""

import collections
import concurrent.futures
import json

import pytest

from harness.machine.proc import own_memory, pss
from harness.machine.wait import until
from harness.node.cni import environment
from harness.node.daemon import body
from harness.node.netconf import netconf_from_files

COUNT = 500


def add_all(node, conf, pods, command="ADD"):
    """All at once, as so many shims would; the answers by name."""
    def one(name):
        args = (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={node.space.namespace};K8S_POD_NAME={name};"
                f"K8S_POD_INFRA_CONTAINER_ID=c-{name};K8S_POD_UID={pods[name]['metadata']['uid']}")
        request = body(environment(command, node.host.pods[0], f"c-{name}", args=args), conf)
        return node.daemon.http("POST", "/cni", request, timeout=600)
    with concurrent.futures.ThreadPoolExecutor(len(pods)) as threads:
        return dict(zip(pods, threads.map(one, pods)))


def test_a_burst_of_adds_loses_and_doubles_nothing(node, space, fake, cluster):
    """Each pod gets its networks once, its own status once, and its events once."""
    conf = netconf_from_files(node.host, fake.network("cluster"), type="multus-shim")
    space.add_network("extra", config=json.dumps(fake.network("extra")))
    pods = space.add_many(space.add_pod, [f"p{number}" for number in range(COUNT)], networks="extra")
    node.host.add_pod("all")
    node.start()
    node.proxy.forget()

    answers = add_all(node, conf, pods)

    assert {answer.status for answer in answers.values()} == {200}, \
        [answer.body for answer in answers.values() if answer.status != 200][:3]
    found = {pod["metadata"]["name"]: json.loads(pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"])
             for pod in cluster.get(space.path("pods"))["items"]}
    expected = [("cluster", "eth0"), (f"{space.namespace}/extra", "net1")]
    assert all([(entry["name"], entry["interface"]) for entry in status] == expected for status in found.values())
    assert len(found) == node.proxy.count("PATCH .*/pods/") == COUNT
    assert node.proxy.count("GET .*/pods/") == 0
    runs = collections.Counter((call.env["CNI_CONTAINERID"], call.network) for call in fake.calls("ADD"))
    assert len(runs) == 2 * COUNT and set(runs.values()) == {1}
    until(lambda: len(space.events()) == COUNT, lambda: f"all events; {len(space.events())} are there")
    assert collections.Counter(event["involvedObject"]["name"] for event in space.events()) == dict.fromkeys(pods, 1)

    assert {answer.status for answer in add_all(node, conf, pods, "DEL").values()} == {200}


@pytest.mark.without_sanitizers  # they take memory themselves
def test_the_memory_of_a_burst_of_pods_is_given_back(node, space, fake):
    """The watch tells of each pod's new status while requests run. What it put in the place of the pods kept the pages of the whole burst."""
    conf = netconf_from_files(node.host, fake.network("cluster"), type="multus-shim")
    space.add_network("extra", config=json.dumps(fake.network("extra")))
    pods = space.add_many(space.add_pod, [f"p{number}" for number in range(COUNT)], networks="extra")
    node.host.add_pod("all")
    daemon = node.start()
    idle = own_memory(daemon.pid)

    for command in ("ADD", "DEL"):
        assert {answer.status for answer in add_all(node, conf, pods, command).values()} == {200}

    busy = own_memory(daemon.pid)
    until(lambda: own_memory(daemon.pid) - idle <= 2 << 20,
          lambda: f"2 MiB more than {idle >> 10} KiB; {busy >> 10} KiB after the last answer, {own_memory(daemon.pid) >> 10} now", 60)
    print(f"{idle >> 10} KiB idle, {busy >> 10} KiB after {COUNT} pods, {own_memory(daemon.pid) >> 10} KiB at rest")


def test_the_daemon_knows_250_pods_and_1000_networks_in_little_memory(node, space):
    """03, 12: row 111, for the daemon itself. Each pod carries 100 KiB that the daemon does not need."""
    empty = node.start()
    before = pss(empty.pid)
    empty.stop()
    ballast = {f"test/ballast-{i}": "x" * 10000 for i in range(10)}
    space.add_many(space.add_network, [f"n{number}" for number in range(1000)])
    space.add_many(space.add_pod, [f"p{number}" for number in range(250)], networks="n1", annotations=ballast)

    grown = pss(node.start().pid) - before  # ready: it has read everything

    assert grown < 6 * 2**20, f"the stores take {grown / 2**20:.1f} MB"
