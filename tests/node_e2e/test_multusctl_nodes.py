"""multusctl with two nodes: what it says of each, and of networks between them, with faults between them made on purpose."""

import json
import os
import re
import shlex
import signal

import pytest

from harness.cluster.control_plane import ROOT
from harness.evidence.node_leaks import NodeLeaks
from harness.evidence.outcome import passed
from harness.machine.wait import until
from harness.node.networks import bridge
from harness.whole_node.boot import NAME
from harness.whole_node.installation import GENERATED
from harness.whole_node.multusctl import pods_left, trial
from harness.whole_node.pod_space import RUN, pod_object
from harness.whole_node.second_node import SecondNode

pytestmark = pytest.mark.ours
OTHER = SecondNode.name
IN_POD = "/usr/src/multus-cni/bin/multusctl"
FOLDER = "/etc/cni/multus/net.d"
# Of four pods on two nodes: every pod to every other one, within a node and between the nodes.
ALL, WITHIN, BETWEEN = 12, 4, 8


@pytest.fixture(scope="module")
def second(node, multus):
    second = SecondNode(node)
    try:
        second.wait_ready()
        until(lambda: len(multus.pods()) == 2, "a daemon for the second node", 60)
        multus.wait_rolled_out()
        until(second.host.path(GENERATED).exists, "the daemon's configuration on the second node")
        yield second
    finally:
        second.keep_logs(ROOT / "build" / "logs" / "node_e2e-second")
        second.leave()
        second.close()
        until(lambda: len(multus.pods()) == 1, "one daemon", 60)
        multus.wait_rolled_out()


@pytest.fixture
def nodes(request, node, second):
    """Both, and nothing is left over on the second one either."""
    leaks = NodeLeaks(second)
    yield node, second
    if passed(request):
        leaks.check()


def between(subnet, first, last):
    """A network over the cable between the nodes, with addresses of one node."""
    network = bridge("span", "uplink", default_route=False, isGateway=False)
    network["ipam"] = {"type": "host-local", "ranges": [[{"subnet": subnet, "rangeStart": first, "rangeEnd": last}]]}
    return network


@pytest.fixture
def span(nodes, space):
    """A definition without a configuration: each node has one of its own, with a part of the addresses."""
    space.network("span")
    for number, node in enumerate(nodes):
        node.host.write(f"{FOLDER}/span.conf", between("10.41.0.0/24", f"10.41.0.{10 + 20 * number}", f"10.41.0.{20 + 20 * number}"))
    yield "span"
    for node in nodes:
        node.host.path(f"{FOLDER}/span.conf").unlink()


def test_both_nodes_are_seen_by_every_command(outside, nodes, space):
    space.network("lab", between("10.42.0.0/24", "10.42.0.10", "10.42.0.20"))
    space.apply(*(pod_object(f"on-{name}", "lab", nodeName=name) for name in (NAME, OTHER)))
    space.wait_ready("pods", "--all")

    status = outside("status")
    assert all(re.search(rf"^{name} .* yes ", status.out, re.M) for name in (NAME, OTHER))
    assert len(outside("status", OTHER).out.splitlines()) == 2
    pods = outside("pods", "-n", space.name)
    assert pods.out.count(" ok\n") == 4 and OTHER in pods.line(f"on-{OTHER}")
    assert f"net1  {space.name}/lab" in outside("explain", "-n", space.name, f"on-{OTHER}").out
    doctor = outside("doctor", "--check-pods")
    assert doctor.exit == 0 and "(2 of 2)" in doctor.out
    assert all(f"node {name}: CHECK of" in doctor.out for name in (NAME, OTHER))
    assert outside("pending").out == "no pending DELs\n" and outside("gc", "--dry-run").out == "nothing to do\n"
    assert outside("report", "-o", "/srv/report.html").exit == 0
    page = nodes[0].host.path("/srv/report.html").read_text()
    assert NAME in page and OTHER in page


def test_a_network_between_nodes_and_its_faults(outside, nodes, space, span):
    cable = nodes[1].host
    good = trial(space, outside, span)
    assert good.exit == 0 and good.out.count(" ok\n") == ALL, good.all

    cable.run("ip", "link", "set", "uplink-1", "mtu", "1400")
    small = trial(space, outside, span)
    assert small.exit == 1 and "wrong MTU: " in small.err
    assert (small.out.count(" mtu ("), small.out.count(" ok\n")) == (BETWEEN, WITHIN)
    cable.run("ip", "link", "set", "uplink-1", "mtu", "1500")

    cable.run("ip", "link", "set", "uplink-1", "down")
    cut = trial(space, outside, span)
    assert cut.exit == 1 and "no answer: " in cut.err
    assert (cut.out.count(" no-answer ("), cut.out.count(" ok\n")) == (BETWEEN, WITHIN)
    cable.run("ip", "link", "set", "uplink-1", "up")

    assert trial(space, outside, span).exit == 0
    one = trial(space, outside, span, OTHER)
    assert one.exit == 0 and one.out.count(" ok\n") == 2 and NAME not in one.out


def test_host_local_addresses_of_two_nodes_are_told_as_duplicates(outside, nodes, space):
    """The usual mistake: the plugin knows the addresses of its own node alone."""
    space.network("both", between("10.43.0.0/24", "10.43.0.10", "10.43.0.11"))

    said = trial(space, outside, "both")

    assert said.exit == 1 and "duplicate address: " in said.err
    assert {f"10.43.0.{last}" for last in (10, 11)} == set(re.findall(r"address (\S+) is used twice", said.err))


def test_the_cluster_network_is_tried_between_the_nodes(outside, nodes, space):
    said = outside("test", "-n", space.name, "--yes")

    assert said.exit == 0 and said.out.count(" ok\n") == ALL, said.all
    assert pods_left(space) == []


def test_daemons_of_different_versions_are_told_with_the_command_that_shows_their_rollout(outside, obey, nodes, multus):
    """The second node's is of an earlier installation, and answers as its program did."""
    old = json.loads(outside("status", OTHER, "-o", "json").out)
    old["nodes"][0]["status"]["multus"] = "v0.0.9"
    answer = shlex.quote(json.dumps(old))
    script = f"mkdir -p {os.path.dirname(IN_POD)}; printf '#!/bin/sh\\necho %s\\n' {shlex.quote(answer)} >{IN_POD}; chmod +x {IN_POD}; {RUN}"
    multus.system.apply(pod_object("a-daemon-of-before", labels={"app": "multus"}, script=script, nodeName=OTHER))
    multus.system.wait_ready("pod/a-daemon-of-before")
    try:
        told = "the daemons have different versions: "
        said = until(lambda: told in (now := outside("doctor")).out and now, "the other version", 60)
        assert said.exit == 1 and f"v0.0.9 on [{OTHER}]" in said.line(told)
        assert "successfully rolled out" in obey(said.hint(told))
    finally:
        multus.system.kubectl("delete", "pod", "a-daemon-of-before")

    until(lambda: outside("doctor").exit == 0, "one version", 60)


def test_a_node_that_does_not_answer_is_a_row_with_its_reason(outside, nodes, space, span):
    kubelet = nodes[1].parts["kubelet"].process
    kubelet.signal(signal.SIGSTOP)
    try:
        status = outside("status")
        assert re.search(rf"^{NAME} .* yes ", status.out, re.M) and re.search(rf"^{OTHER} .* unknown ", status.out, re.M)
        assert len(status.err.split(f"{OTHER}: ")[1]) > 10, "with its reason"
        assert outside("doctor").exit == 1
        said = outside("test", "--network", f"{space.name}/{span}", "--yes", "--timeout", "20")
        assert said.exit == 1 and said.out.count(" ok\n") == 2, "the first node goes on"
        assert said.err.count(f"node {OTHER}, pod ") == 2 and "daemon away: " in said.err
        assert pods_left(space) == []
    finally:
        kubelet.signal(signal.SIGCONT)
    nodes[1].wait_ready()
    until(lambda: outside("doctor").exit == 0, "both nodes", 120)
