"""kill -9 of the daemon at any step: restart and DEL leave no address, no interface, no record behind."""

import re
import threading
import time
from pathlib import Path

import pytest
from harness import networks
from harness.cni import environment
from harness.netconf import netconf
from harness.wait import until

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
SOURCE = Path(__file__).resolve().parents[2] / "src" / "base" / "failpoint.h"
POINTS = re.findall(r'"([a-z-]+)"', re.search(r"kFailPoints = \{(.*?)\};", SOURCE.read_text(), re.S)[1])


def two_networks():
    return netconf(networks.conflist(networks.bridge(), networks.TUNING),
                   networks.bridge("second", "br2", "10.6.0.0/24", default_route=False))


class Node:
    """A node whose daemon dies and is started again, as its supervisor would."""

    def __init__(self, host, daemons, shim):
        self.host, self.daemons, self.shim = host, daemons, shim
        self.daemon = None

    def start(self, failpoints=None):
        self.daemon = self.daemons(failpoints=failpoints)

    def revive(self):
        """Starts a daemon if the last one died; yields whether it had."""
        died = not self.daemon.process.running or self.dying()
        if died:
            assert self.daemon.process.wait() == -9, self.daemon.log
            self.start()
        return died

    def dying(self):
        """A crash after the reply may come a moment later than the reply."""
        try:
            self.daemon.http("GET", "/healthz")
            return False
        except (OSError, ValueError):
            return True

    def assert_clean(self):
        until(lambda: not self.host.leaks.found(running=[self.daemon.pid]),
              lambda: f"clean: {self.host.leaks.found(running=[self.daemon.pid])}\n{self.daemon.log}")


@pytest.fixture
def node(host, daemons, shim):
    return Node(host, daemons, shim)


@pytest.mark.failpoints
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_fail_point_then_restarted_and_deleted(host, node, pod, point):
    """ADD and DEL, killed at the first passage of the point, then at the second, until neither reaches it."""
    conf = two_networks()
    for passage in range(1, 30):
        node.start(failpoints=f"{point}={passage}*crash")
        added = node.shim.add(conf, pod, args=ARGS)
        died_in_add = node.revive()
        if not died_in_add:
            assert added.ok, added
        assert node.shim.delete(conf, pod, args=ARGS).ok
        died_in_del = node.revive()
        node.assert_clean()
        assert node.daemon.stop() == 0
        if not died_in_add and not died_in_del:
            break
    else:
        pytest.fail(f"{point} is passed more often than this test can be right about")
    assert passage > 1, f"{point} is never reached by ADD and DEL"


@pytest.mark.failpoints
@pytest.mark.parametrize("point", POINTS)
def test_failing_at_a_fail_point_leaves_nothing_after_delete(host, node, pod, point):
    """The step fails instead: an error or none, but DEL (repeated, as a runtime does) cleans up."""
    conf = two_networks()
    node.start(failpoints=f"{point}=fail")

    node.shim.add(conf, pod, args=ARGS)
    for _ in range(2):
        deleted = node.shim.delete(conf, pod, args=ARGS)

    assert deleted.ok, deleted
    node.assert_clean()


@pytest.mark.parametrize("milliseconds", range(0, 120, 8))
def test_killed_at_any_time_during_add(host, node, pod, milliseconds):
    conf = two_networks()
    node.start()
    adding = threading.Thread(target=node.shim.add, args=[conf, pod], kwargs={"args": ARGS})
    adding.start()
    begun = time.monotonic()
    until(lambda: (time.monotonic() - begun) * 1000 >= milliseconds, "the moment")
    node.daemon.kill()
    node.start()
    adding.join()

    assert node.shim.delete(conf, pod, args=ARGS).ok

    node.assert_clean()


@pytest.mark.parametrize("finishes", [False, True])
def test_a_delegate_that_outlived_the_daemon_is_over_before_delete_runs(host, node, pod, fake, finishes):
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}))
    node.start()
    adding = threading.Thread(target=node.shim.add, args=[conf, pod], kwargs={"args": ARGS})
    adding.start()
    gate.reached()
    node.daemon.kill()
    adding.join()
    assert any("fake" in line for line in host.processes().values())

    node.start()
    deleting = threading.Thread(target=node.shim.delete, args=[conf, pod], kwargs={"args": ARGS})
    deleting.start()
    if finishes:
        gate.open()
    deleting.join()

    (add,) = fake.calls("ADD")
    deletes = fake.calls("DEL")
    assert deletes
    if add.end is not None:
        assert all(call.begin > add.end for call in deletes)
    node.assert_clean()


def test_the_daemon_killed_while_a_delete_runs(host, node, pod, fake):
    gate = fake.gate()
    conf = netconf(fake.conf("a", DEL={"gate": gate.path, "first": 1}))
    node.start()
    assert node.shim.add(conf, pod, args=ARGS).ok
    deleting = threading.Thread(target=node.shim.delete, args=[conf, pod], kwargs={"args": ARGS})
    deleting.start()
    gate.reached()
    node.daemon.kill()
    deleting.join()
    assert host.files_below("/var/lib/cni/multus/pending-del") == ["c-pod0-eth0.json"]

    node.start()

    until(lambda: len(fake.calls("DEL")) >= 2, fake.order)
    node.assert_clean()


def test_the_shim_killed_while_an_add_runs(host, node, pod, fake):
    gate = fake.gate()
    conf = netconf(networks.bridge(), fake.conf("a", ADD={"gate": gate.path}))
    node.start()
    host.write("/srv/conf", conf)

    process = host.spawn("sh", "-c", "exec /opt/cni/bin/multus-shim </srv/conf",
                         env=environment("ADD", pod, "c-pod0", args=ARGS))
    gate.reached()
    process.signal(9)
    process.wait()
    gate.open()

    until(lambda: pod.links() == set(), "undone")
    assert node.shim.delete(conf, pod, args=ARGS).ok
    node.assert_clean()
