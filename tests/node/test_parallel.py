"""parallelAttach: what runs side by side, and that the outcome does not show it (02-F33, pain 20)."""

import threading

import pytest
from harness.machine.wait import until
from harness.node import networks

pytestmark = pytest.mark.release("speed")

FOUR = ["n1", "n2", "n3", "n4"]


SAFE = "tap"  # a type that leaves other networks alone (docs/parallel-attach.md), and that no other test needs


def gated(node, fake, mode, *types, **more):
    """A pod whose four secondaries wait at gates of their own."""
    gates = [fake.gate() for _ in FOUR]
    node.configure(fake.network("cluster"), **({} if mode is None else {"parallelAttach": mode}))
    for name, gate, kind in zip(FOUR, gates, types or [SAFE] * 4):
        fake.install(kind)
        node.network(name, fake.network(name, plugin_type=kind, more=more.get(name), ADD={"gate": gate.path}))
    return node.pod(",".join(FOUR)), gates


def here(node, gate):
    return node.host.path(gate.path + ".here").exists()


class Adding:
    """An ADD that runs while the test looks on."""

    def __init__(self, pod):
        self._outcome = []
        self._thread = threading.Thread(target=lambda: self._outcome.append(pod.add()))
        self._thread.start()

    def result(self):
        self._thread.join(180)
        return self._outcome[0]


@pytest.mark.parametrize("mode", [None, "safe", "all"])
def test_secondaries_run_side_by_side_after_the_cluster_network(node, fake, mode):
    pod, gates = gated(node, fake, mode)
    adding = Adding(pod)

    for gate in gates:
        gate.reached()  # all four at once
    for gate in reversed(gates):
        gate.open()
    assert adding.result().ok

    cluster = fake.calls("ADD", "cluster")[0]
    assert all(call.begin > cluster.end for call in fake.calls("ADD") if call.network != "cluster")
    assert fake.most_at_once() == 4


def test_off_runs_one_after_another(node, fake):
    pod, gates = gated(node, fake, "off")
    adding = Adding(pod)

    for number, gate in enumerate(gates):
        gate.reached()
        assert [here(node, other) for other in gates] == [i <= number for i in range(4)]
        gate.open()

    assert adding.result().ok
    assert fake.most_at_once() == 1
    assert fake.order() == ["ADD cluster"] + [f"ADD {name}" for name in FOUR]


@pytest.mark.parametrize("mode", ["safe", "all"])
def test_status_events_and_records_are_in_the_order_of_the_annotation(node, fake, mode):
    """However long each takes."""
    node.configure(fake.network("cluster"), parallelAttach=mode)
    for number, name in enumerate(FOUR):
        node.network(name, fake.network(name, ADD={"delay_ms": 60 - 20 * number}))
    pod = node.pod(",".join(FOUR))

    assert pod.add().ok

    names = ["cluster"] + [f"default/{name}" for name in FOUR]
    assert [entry["name"] for entry in pod.status] == names
    assert [entry["interface"] for entry in pod.status] == ["eth0", "net1", "net2", "net3", "net4"]
    assert [element["Name"] for element in pod.scratch()] == names
    (event,) = node.objects.wait_events(1)
    assert [added.rsplit(" ", 1)[1] for added in event["message"].split("; ")] == names
    assert pod.delete().ok
    assert [call.network for call in fake.calls("DEL")] == FOUR[::-1] + ["cluster"]


@pytest.mark.parametrize("unsafe, more", [("sbr", {}), ("unheard-of", {}), (SAFE, {"linkInContainer": True})])
def test_what_builds_on_others_keeps_its_turn_in_safe_mode(node, fake, unsafe, more):
    """Source-based routing looks for a free table number; linkInContainer builds on an earlier interface; other plugins are
    unknown."""
    pod, gates = gated(node, fake, "safe", SAFE, SAFE, unsafe, SAFE, n3=more)
    adding = Adding(pod)

    gates[0].reached()
    gates[1].reached()
    gates[0].open()
    until(lambda: fake.calls("ADD", "n1")[0].end, "the first has ended")
    assert not here(node, gates[2])
    gates[1].open()
    gates[2].reached()
    assert not here(node, gates[3])
    gates[2].open()
    gates[3].reached()
    gates[3].open()

    assert adding.result().ok


def test_all_lets_everything_run_at_once(node, fake):
    pod, gates = gated(node, fake, "all", SAFE, "unheard-of", "sbr", SAFE)
    adding = Adding(pod)

    for gate in gates:
        gate.reached()
    for gate in gates:
        gate.open()

    assert adding.result().ok


@pytest.mark.parametrize("mode", ["off", "safe", "all"])
def test_real_networks_come_out_equal(host, node, mode):
    host.add_bridge("nodebr")
    node.start(parallelAttach=mode)
    node.network("a", networks.macvlan("a", subnet="10.40.1.0/24", subnet6="fd00:41::/64"))
    node.network("b", networks.bridge("b", "brb", "10.40.2.0/24", default_route=False))
    node.network("c", networks.conflist(networks.ptp("c", "10.40.3.0/24"), networks.TUNING))
    node.network("d", networks.bridge("d", "brd", "10.40.4.0/24", subnet6="fd00:44::/64", default_route=True))
    pod = node.pod([{"name": "a"}, {"name": "b"}, {"name": "c"},
                    {"name": "d", "interface": "last", "default-route": ["10.40.4.1", "fd00:44::1"]}])

    assert pod.add().ok

    assert [{**entry, "mac": ""} for entry in pod.status] == [
        {"name": "cluster", "interface": "eth0", "ips": ["10.244.0.2"], "mac": "", "default": True, "dns": {}},
        {"name": "default/a", "interface": "net1", "ips": ["10.40.1.2", "fd00:41::2"], "mac": "", "dns": {}},
        {"name": "default/b", "interface": "net2", "ips": ["10.40.2.2"], "mac": "", "dns": {}},
        {"name": "default/c", "interface": "net3", "ips": ["10.40.3.2"], "mac": "", "dns": {}},
        {"name": "default/d", "interface": "last", "ips": ["10.40.4.2", "fd00:44::2"], "mac": "", "dns": {},
         "gateway": ["10.40.4.1", "fd00:44::1"]}]
    assert pod.defaults(4) == [("last", "10.40.4.1")] and pod.defaults(6) == [("last", "fd00:44::1")]
    assert pod.check().ok
    assert pod.delete().ok and pod.links() == set()


def test_one_network_twice_keeps_two_addresses(host, node):
    """host-local locks its own files; both runs may be under way at once."""
    host.add_bridge("nodebr")
    node.network("a", networks.macvlan("a"))
    pod = node.pod(",".join(["a"] * 6))

    assert pod.add().ok

    assert len({entry["ips"][0] for entry in pod.status[1:]}) == 6


@pytest.mark.parametrize("mode", ["", "sometimes", 5])
def test_another_mode_is_refused(node, fake, mode):
    node.configure(fake.network("cluster"), parallelAttach=mode)
    pod = node.pod()

    assert "parallelAttach" in pod.add().error["msg"]
    assert fake.calls() == []
    node.configure(fake.network("cluster"))
