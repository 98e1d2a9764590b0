"""multus-daemon -check with a real API server: reach, rights, clock (docs/operating.md, "Self-check")."""

import json
import struct

import pytest

from harness.cluster.kube_node import KUBECONFIG
from harness.machine.host import PROGRAMS, TOOLS
from harness.node import networks
from harness.node.daemon import CONFIG, default_config

CLOCK = "/srv/clock"


@pytest.fixture
def check(node):
    def run(env=None):
        node.host.write(CONFIG, default_config(objectsDir=None, kubeconfig=KUBECONFIG, podLookupTimeout=None))
        node.host.write("/etc/cni/net.d/00-multus.conf", {"cniVersion": "1.0.0", "name": "m", "type": "multus-shim"})
        done = node.host.run(f"{PROGRAMS}/multus-daemon", "-check", "-config", CONFIG, check=False,
                             env={"MULTUS_NODE_NAME": node.space.node, **(env or {})})
        return done.returncode, done.stdout.splitlines()
    return run


def test_what_pods_of_this_node_need_is_looked_for_and_nothing_is_written(node, check):
    node.space.add_network("lan", json.dumps(networks.macvlan("lan", master="eth7")))
    node.space.add_pod("web", networks="lan")
    node.space.add_pod("elsewhere", networks="none", node="another-node")

    status, lines = check()

    assert status == 1 and len(lines) == 1, lines
    assert lines[0].startswith('error: masters: master "eth7" does not exist on this node.')
    assert {method for method, _ in node.proxy.requests} == {"GET"}


def test_a_server_that_cannot_be_reached(node, check):
    node.proxy.close()

    status, lines = check()

    assert status == 1 and len(lines) == 1, lines
    assert lines[0].startswith("error: api: the API server ") and "connection refused" in lines[0]


def test_rights_that_are_missing(node, check, account):
    node.log_in(account("poor", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]))

    status, lines = check()

    assert status == 1 and len(lines) == 1, lines
    assert lines[0].startswith("error: api: ") and "network-attachment-definitions" in lines[0] and "forbidden" in lines[0]


@pytest.fixture
def stepped(node, check):
    def run(seconds):
        node.host.write(CLOCK, struct.pack("q", seconds))
        return check({"LD_PRELOAD": f"{TOOLS}/libstepped-clock.so", "STEPPED_CLOCK": CLOCK})
    return run


def test_a_clock_that_differs(stepped):
    status, lines = stepped(600)

    assert status == 0 and len(lines) == 1, lines
    assert lines[0].startswith("warning: clock: the clock of this node is ") and " s ahead of that of the API server" in lines[0]


def test_a_clock_that_is_behind_the_servers_certificate(stepped):
    status, lines = stepped(-3 * 86400)

    assert status == 1 and len(lines) == 1, lines
    assert "certificate is not yet valid" in lines[0] and "this node's clock" in lines[0]
