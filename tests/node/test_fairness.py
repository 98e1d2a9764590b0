"""The pods of one namespace do not keep those of others waiting (03, 2.11; decision 0041)."""

import contextlib
import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.machine.wait import until
from harness.node.cni import environment
from harness.node.daemon import body

pytestmark = pytest.mark.release("speed")

GREEDY = "greedy"  # the namespace whose pods ask for everything
BYSTANDERS = ["one", "two", "three"]
SAFE = "tap"  # networks of this type are attached in parallel (docs/parallel-attach.md)
SOON = 12  # seconds: far more than it takes here, far less than half a minute, which all of the greedy pod's networks take


def node_with(node, fake, **config):
    node.configure(fake.network("cluster"))
    node.network("quick", fake.network("quick"))
    fake.install(SAFE)
    return config


def greedy_pod(node, fake, networks, **add):
    """A pod with that many networks, all of which may be attached at once."""
    names = [f"slow{number}" for number in range(networks)]
    for name in names:
        node.network(name, fake.network(name, plugin_type=SAFE, ADD=add), namespace=GREEDY)
    return node.pod(",".join(names), namespace=GREEDY)


def bystander(node, namespace):
    return node.pod("default/quick", name=f"by-{len(node.sandboxes)}", namespace=namespace)


@contextlib.contextmanager
def asking(node, command, *pods):
    """Each pod's client waits for its answer; in the end they leave."""
    node.settle()
    with contextlib.ExitStack() as clients:
        for pod in pods:
            pod.is_added = True
            variables = environment(command, pod, pod.container_id, args=pod.args)
            content = json.dumps(body(variables, node.conf)).encode()
            client = clients.enter_context(contextlib.closing(node.daemon.connect()))
            client.sendall(b"POST /cni HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n" % len(content) + content)
        yield


def running(fake, command):
    return [call for call in fake.calls(command) if call.network.startswith("slow") and call.end is None]


def seconds(call):
    begun = time.monotonic()
    outcome = call(timeout=60)
    assert outcome.ok, outcome
    return time.monotonic() - begun


def comes_and_goes(pod):
    """How long its ADD and its DEL took."""
    return seconds(pod.add), seconds(pod.delete)


def test_a_pod_with_200_slow_networks_holds_up_nobody(node, fake):
    """Neither pods of other namespaces nor, for longer than one of its plugins takes, those of its own."""
    config = node_with(node, fake, maxDelegates=8)
    greedy = greedy_pod(node, fake, 200, delay_ms=1000)
    others = [bystander(node, namespace) for namespace in BYSTANDERS]
    neighbour = bystander(node, GREEDY)
    node.start(**config)
    alone = comes_and_goes(others[0])

    with asking(node, "ADD", greedy):
        until(lambda: len(running(fake, "ADD")) >= 6, "as many run as may")
        times = [comes_and_goes(pod) for pod in others]
        took = comes_and_goes(neighbour)
        begun = len(fake.calls("ADD"))

    print(f"ADD and DEL alone: {alone}; of other namespaces: {times}; of the same: {took}")
    assert max(map(max, times)) < SOON and max(took) < SOON
    assert begun < 150, "the greedy pod was still at it"


def test_plugins_that_do_not_end_leave_a_slot_to_other_namespaces(node, fake):
    """They take turns at it, so all of them get on; and DELs have theirs."""
    config = node_with(node, fake, maxDelegates=8)
    gate = fake.gate()
    greedy = greedy_pod(node, fake, 20, gate=gate.path)
    others = [bystander(node, namespace) for namespace in BYSTANDERS]
    neighbour = bystander(node, GREEDY)
    node.start(**config)
    assert neighbour.add().ok

    with asking(node, "ADD", greedy):
        until(lambda: len(running(fake, "ADD")) >= 6, "one slot is kept for DELs, one left to others")
        with ThreadPoolExecutor() as runtimes:
            assert all(runtimes.map(comes_and_goes, others))
        assert seconds(neighbour.delete)
        assert len(running(fake, "ADD")) == 6
    gate.open()


def test_dels_that_do_not_end_leave_one_too(node, fake):
    config = node_with(node, fake, maxDelegates=8)
    gate = fake.gate()
    node.network("slow", fake.network("slow", DEL={"gate": gate.path}), namespace=GREEDY)
    pods = [node.pod("slow", namespace=GREEDY) for _ in range(9)]
    other = bystander(node, "other")
    node.start(**config)
    for pod in pods:
        assert pod.add().ok

    with asking(node, "DEL", *pods):
        until(lambda: len(running(fake, "DEL")) >= 6, "two of eight are left to ADDs and to others")
        comes_and_goes(other)
        assert len(running(fake, "DEL")) == 6
        gate.open()
        until(lambda: len(fake.calls("DEL", "slow")) == 9 and not running(fake, "DEL"), "the DELs are through")


def test_requests_that_do_not_end_leave_one_to_be_executed(node, fake):
    config = node_with(node, fake, connectionLimit=4)
    gate = fake.gate()
    node.network("slow", fake.network("slow", ADD={"gate": gate.path}), namespace=GREEDY)
    pods = [node.pod("slow", namespace=GREEDY) for _ in range(6)]
    other = bystander(node, "other")
    node.start(**config)

    with asking(node, "ADD", *pods):
        until(lambda: len(running(fake, "ADD")) >= 3, "three of four are executed")
        comes_and_goes(other)
        assert len(running(fake, "ADD")) == 3
    gate.open()
