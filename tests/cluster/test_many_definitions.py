"""What authors of definitions and pods may cost each node and the API server."""

import json

from harness.evidence import metrics
from harness.machine.wait import until

COUNT, SIZE = 120, 500_000
LIVE_READS = "GET .*/network-attachment-definitions/"


def config_of(size):
    return json.dumps({"cniVersion": "1.0.0", "name": "extra", "type": "macvlan", "master": "uplink",
                       "ipam": {"type": "host-local", "subnet": "10.77.0.0/24"}, "description": "x" * size})


def memory(pid, field):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field + ":"))


def test_definitions_of_60_megabytes_cost_little_memory_and_each_can_be_attached(node, space):
    """06, pain 44: what does not fit in memory is read when a pod names it, once."""
    names = [f"big{number}" for number in range(COUNT)]
    space.add_many(space.add_network, names, config=config_of(SIZE))
    daemon = node.start(metricsPort=metrics.PORT)

    def series(name, **labels):
        return metrics.page(node.host).value(name, **labels)
    until(lambda: series("multus_store_objects", kind="network") == COUNT, "all definitions")
    peak = memory(daemon.pid, "VmHWM")
    print(f"definitions of {COUNT * SIZE // 10**6} MB: the daemon took {peak / 2**20:.1f} MB at most")
    assert peak < 32 * 2**20
    assert 6 * SIZE < series("multus_store_text_bytes") <= 4 * 2**20
    node.proxy.forget()

    for name in ("big0", "big60", "big119"):  # whatever is kept of what came first, last, and between
        pods = [node.pod(f"{name}-{number}", networks=name) for number in range(2)]
        assert all(pod.add().ok for pod in pods)
        assert [entry["interface"] for entry in pods[1].status] == ["eth0", "net1"]
        assert node.proxy.count(LIVE_READS + name) <= 1, "the text was not kept for the next pod"

    assert 1 <= node.proxy.count(LIVE_READS) <= 3
    assert series("multus_store_text_bytes") <= 4 * 2**20
    assert memory(daemon.pid, "VmRSS") < 32 * 2**20, "what an ADD took was not given back"


def test_a_pod_that_names_hundreds_of_unknown_networks_has_eight_looked_for(node, space):
    names = [f"unknown{number}" for number in range(700)]
    pod = node.pod("flood", networks=",".join(names))
    daemon = node.start()
    daemon.wait_log("self-check: ")
    assert node.proxy.count(LIVE_READS) <= 8
    node.proxy.forget()

    outcome = pod.add()

    assert not outcome.ok and "unknown0" in outcome.stdout
    assert 1 <= node.proxy.count(LIVE_READS) <= 8


def test_a_definition_that_comes_with_its_pod_is_found_although_it_was_missing_before(node, space):
    """03-F39: that it was missing a moment ago is not remembered for longer than the watch needs to tell."""
    node.start()
    early = node.pod("early", networks="late")
    assert not early.add().ok

    space.add_network("late", config=config_of(1))
    pod = node.pod("together", networks="late")

    until(lambda: pod.add().ok, "the definition", 20)
