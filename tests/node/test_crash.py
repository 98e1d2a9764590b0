"""kill -9 of the daemon at any step: restart and DEL leave no address, no interface, no record behind."""

import os
import re
import threading
import time
from http.client import HTTPException
from pathlib import Path

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import environment
from harness.node.daemon import body
from harness.node.netconf import netconf
from harness.node.pending import FOLDER, leave_pending_del

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
SOURCE = Path(__file__).resolve().parents[2] / "src" / "base" / "failpoint.h"
POINTS = re.findall(r'"([a-z-]+)"', re.search(r"kFailPoints = \{(.*?)\};", SOURCE.read_text(), re.S)[1])


def two_networks():
    return netconf(networks.conflist(networks.bridge(), networks.TUNING),
                   networks.bridge("second", "br2", "10.6.0.0/24", default_route=False))


GC_OF_ALL = {**two_networks(), "cniVersion": "1.1.0", "cni.dev/valid-attachments": []}


class Node:
    """A node whose daemon dies and is started again, as its supervisor would."""

    def __init__(self, host, daemons, shim, pod):
        self.host, self.daemons, self.shim, self.pod = host, daemons, shim, pod
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

    def restart_until(self, plan, done):
        """Starts a daemon with fail points, then one without, until it is done; yields whether the first died."""
        self.daemon = self.daemons.launch(failpoints=plan)
        until(lambda: done() or not self.daemon.process.running or "fail point" in self.daemon.log,
              lambda: f"done, or hindered:\n{self.daemon.log}")
        status = self.daemon.stop()
        assert status in (0, -9), self.daemon.log
        self.start()
        until(done, lambda: f"done:\n{self.daemon.log}")
        return status == -9

    def assert_clean(self):
        """A process that was killed while it wrote leaves a temporary file; the daemon removes it when it is old."""
        for path in self.host.path("/var/lib/cni/multus").rglob(".multus-tmp-*"):
            os.utime(path, (0, 0))
        until(lambda: not self.host.leaks.found(running=[self.daemon.pid]),
              lambda: f"clean: {self.host.leaks.found(running=[self.daemon.pid])}\n{self.daemon.log}")


@pytest.fixture
def node(host, daemons, shim, pod):
    return Node(host, daemons, shim, pod)


def life(node, plan):
    """ADD, CHECK, DEL of a pod."""
    conf, pod = two_networks(), node.pod
    node.start(plan)
    added = node.shim.add(conf, pod, args=ARGS)
    died = node.revive()
    checked = node.shim.check(conf, pod, args=ARGS)
    died = node.revive() or died
    deleted = node.shim.delete(conf, pod, args=ARGS)
    if is_kill(plan):
        assert deleted.ok, deleted
        assert died or (added.ok and checked.ok), (added, checked)
    elif not deleted.ok:
        assert node.shim.delete(conf, pod, args=ARGS).ok  # as a runtime does
    return node.revive() or died


def collection(node, plan):
    """GC of a pod that is gone."""
    conf = GC_OF_ALL
    pod = node.host.add_pod("gone")
    node.start()
    assert node.shim.add(conf, pod, args=ARGS).ok
    node.daemon.kill()
    pod.remove()
    node.start(plan)
    collected = node.shim.gc(conf)
    died = node.revive()
    assert died or collected.ok or not is_kill(plan), collected
    assert collected.ok or node.shim.gc(conf).ok  # the runtime's next one
    return died


def replay(node, plan):
    """A DEL that did not reach a daemon, replayed by a daemon that starts."""
    conf, pod = two_networks(), node.pod
    node.start()
    assert node.shim.add(conf, pod, args=ARGS).ok
    node.daemon.kill()
    leave_pending_del(node.host, pod, conf, ARGS)
    return node.restart_until(plan, lambda: not node.host.files_below(FOLDER))


def bad_record(node, plan):
    """A damaged pending DEL, set aside by a daemon that starts."""
    node.host.write(f"{FOLDER}/c9-eth0.json", "nonsense")
    died = node.restart_until(plan, lambda: node.host.files_below(FOLDER) == ["bad/c9-eth0.json"])
    node.host.path(f"{FOLDER}/bad/c9-eth0.json").unlink()
    return died


def plugging(node, plan):
    """An interface comes and goes in a running sandbox, one of the pod's own goes, then the pod."""
    conf, pod = two_networks(), node.pod
    hot = networks.ptp("hot", "10.7.0.0/24")
    node.start()
    assert node.shim.add(conf, pod, args=ARGS).ok
    node.daemon.kill()
    node.start(plan)
    died = False
    for command, config, ifname in (("ADD", hot, "hot0"), ("DEL", hot, "hot0"), ("DEL", conf["delegates"][1], "net1")):
        env = environment(command, pod, f"c-{pod.name}", ifname=ifname, args=ARGS, path=None)
        try:
            answer = node.daemon.http("POST", "/delegate", body(env, config))
            assert answer.status == 200 or not is_kill(plan), answer
        except (OSError, HTTPException):
            assert is_kill(plan)
        died = node.revive() or died
    deleted = node.shim.delete(conf, pod, args=ARGS)
    assert deleted.ok or not is_kill(plan), deleted
    assert deleted.ok or node.shim.delete(conf, pod, args=ARGS).ok
    return node.revive() or died


# Which points each story passes; that it passes them is part of the test.
STORIES = {
    life: r"request-.*|scratch-.*|record-.*|delegate-.*|result-cache-.*|sync-.*|reply-.*",
    collection: r"request-.*|delegate-.*|(scratch|record|result-cache)-.*-remove|reply-.*",
    replay: r"delegate-.*|(scratch|record|result-cache|pending)-.*-remove",
    bad_record: r"pending-.*-set-aside",
    plugging: r"request-.*|scratch-.*|record-.*|delegate-.*|result-cache-.*|reply-.*",
}
WAYS = [(story, point) for story, points in STORIES.items() for point in POINTS if re.fullmatch(points, point)]
each_way = pytest.mark.parametrize("story, point", WAYS, ids=[f"{story.__name__}-{point}" for story, point in WAYS])


def is_kill(plan):
    return plan.endswith("crash")


def test_every_fail_point_lies_on_the_way_of_a_story():
    assert {point for _, point in WAYS} == set(POINTS)


@pytest.mark.failpoints
@each_way
def test_killed_at_a_fail_point_and_started_again(node, story, point):
    """Killed at the first passage of the point, then at the second, until the story does not reach it."""
    for passage in range(1, 40):
        died = story(node, f"{point}={passage}*crash")
        node.assert_clean()
        assert node.daemon.stop() == 0
        if not died:
            break
    else:
        pytest.fail(f"{point} is passed more often than this test can be right about")
    assert passage > 1, f"{point} is never reached by {story.__name__}"


@pytest.mark.failpoints
@each_way
def test_failing_at_a_fail_point_leaves_nothing_behind(node, story, point):
    """The step fails instead: with or without an error, what a runtime does anyway cleans up. If everything else was removed, a
    file that could not be is not an error of DEL, and stays for GC."""
    story(node, f"{point}=fail")
    assert node.shim.gc(GC_OF_ALL).ok
    node.assert_clean()


@pytest.mark.release("speed")
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
