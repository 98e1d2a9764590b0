"""One daemon takes over from another that still runs: no gap, no failed request, one container's requests one after the other
(03, 2.4; pain 43)."""

import os
import random
import signal
import threading
import time

import pytest
from harness.machine.beside import Call
from harness.machine.host import PROGRAMS
from harness.machine.wait import until
from harness.net import unix_http
from harness.node import networks
from harness.node.autoconf import OWN, PRIMARY, AutoNode, auto_config, conflist
from harness.node.daemon import CONFIG, default_config
from harness.node.netconf import netconf
from harness.node.pending import FOLDER as PENDING
from harness.node.pending import leave_pending_del

DAEMON = f"{PROGRAMS}/multus-daemon"
ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
SOCKET = "/run/multus/multus.sock"
LOCKS = "/run/multus/multus-locks"


class Trickle:
    """`with Trickle(...):` adds and deletes containers through the shim, some at a time, for as long as the block runs."""

    def __init__(self, host, shim, conf, workers=3):
        self.host, self.shim, self.conf = host, shim, conf
        self.failures, self.done = [], 0
        self._stopped = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=[host.add_pod()]) for _ in range(workers)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *failure):
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _work(self, pod):
        number = 0
        while not self._stopped.is_set():
            number += 1
            for call in (self.shim.add, self.shim.delete):
                answer = call(self.conf, pod, container_id=f"c-{pod.name}-{number}")
                if not answer.ok:
                    self.failures.append(answer)
                self.done += 1
            # Each container has a namespace of its own, as under a runtime.
            self.host.run("ip", "netns", "delete", pod.name)
            self.host.run("ip", "netns", "add", pod.name)


def wait_taken(host, old, new):
    """Until `new` serves the socket and `old` knows it."""
    old.wait_log("another daemon has taken")
    new.wait_ready()


def pending(host):
    return host.files_below(PENDING) if host.path(PENDING).exists() else []


@pytest.mark.spec("03:10")
def test_a_trickle_of_requests_notices_no_hand_over(host, daemons, shim):
    conf = netconf(networks.bridge())
    daemon = daemons()

    with Trickle(host, shim, conf) as trickle:
        for _ in range(3):
            before, old, daemon = trickle.done, daemon, daemons.launch()
            wait_taken(host, old, daemon)
            old.terminate()
            assert old.process.wait() == 0
            until(lambda: trickle.done > before + 6, "requests beside and after the hand-over")

    assert not trickle.failures
    assert not pending(host)
    daemon.wait_log("no other daemon runs any more")
    assert host.files_below("/run/multus") == ["multus.sock"]


@pytest.mark.spec("03:10")
def test_the_new_daemons_del_waits_for_the_old_ones_add(host, daemons, shim, pod, fake):
    gate = fake.gate()
    slow, quick = fake.conf("a", ADD={"gate": gate.path}), fake.conf("b")
    old = daemons()
    adding = Call(old.cni, "ADD", netconf(slow), pod, args=ARGS)
    gate.reached()
    new = daemons.launch()
    wait_taken(host, old, new)

    deleting = Call(shim.delete, netconf(slow), pod, args=ARGS)
    other = host.add_pod()
    assert shim.add(netconf(quick), other, args=ARGS).ok
    assert shim.delete(netconf(quick), other, args=ARGS).ok
    assert fake.order() == ["ADD a", "ADD b", "DEL b"] and deleting.is_alive()
    gate.open()

    assert adding.result().status == 200
    assert deleting.result().ok
    assert fake.order() == ["ADD a", "ADD b", "DEL b", "DEL a"]
    old.terminate()
    assert old.process.wait() == 0


@pytest.mark.spec("03:10")
def test_what_a_killed_daemon_left_running_is_ended_before_its_container_is_touched(host, daemons, shim, pod, fake):
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}))
    old = daemons()
    adding = Call(quietly, old.cni, "ADD", conf, pod, args=ARGS)
    gate.reached()
    new = daemons.launch()
    wait_taken(host, old, new)
    deleting = Call(shim.delete, conf, pod, args=ARGS)

    old.kill()

    assert deleting.result().ok
    adding.result()
    # The new daemon finishes the ADD that was cut off; the runtime's DEL may come before or after that.
    add, *deletes = fake.calls()
    assert add.command == "ADD" and {call.command for call in deletes} == {"DEL"}
    assert add.end is None
    until(lambda: not host.path(f"/proc/{add.pid}").exists(), "the first delegate has ended and is reaped", 10)
    new.wait_log("ended 1 processes that an earlier daemon")
    new.wait_log("no other daemon runs any more")
    assert not host.path(LOCKS).exists()


@pytest.mark.slow
def test_daemons_are_killed_at_any_moment_of_a_hand_over(host, daemons, shim):
    chance = random.Random(int(os.environ.get("MNET_SEED", "1")))
    conf = netconf(networks.bridge())
    daemon = daemons()

    with Trickle(host, shim, conf) as trickle:
        for _ in range(6):
            old, daemon = daemon, daemons.launch()
            time.sleep(chance.random() * 0.6)
            old.kill()
            daemon.wait_ready()

    # An ADD whose daemon was killed has failed, and its client deletes it: nothing is left of it.
    for answer in trickle.failures:
        assert "failed to send CNI request" in answer.stdout or "failed to read CNI result" in answer.stdout, answer
    until(lambda: not pending(host), "pending DELs replayed")
    daemon.wait_log("no other daemon runs any more")


def probe(host, path, uid=None):
    env = {} if uid is None else {"MULTUS_POD_UID": uid}
    return host.run(DAEMON, "-config", CONFIG, f"-probe={path}", env=env, check=False).returncode


def test_probes_ask_their_own_daemon_and_the_name_is_taken_by_one_that_can_serve(host, daemons, program):
    program("multus-daemon")
    old = daemons(env={"MULTUS_POD_UID": "pod-a"})
    config = auto_config(readinessIndicatorFile="/srv/indicator", multusConfigFile="/etc/cni/net.d/00-multus.conf")
    new = daemons.launch(config, env={"MULTUS_POD_UID": "pod-b"})
    new.wait_log("another daemon listens on")
    until(lambda: probe(host, "healthz", "pod-b") == 0, "the new daemon lives")

    # While it cannot serve, the old one does.
    assert probe(host, "readyz", "pod-b") == 1
    assert probe(host, "readyz", "pod-a") == 0 and probe(host, "readyz") == 0
    own = host.path("/run/multus/multus-pod-b.sock")
    assert unix_http.request(own, "POST", "/cni", {}).status == 404

    host.write("/srv/indicator", "")

    wait_taken(host, old, new)
    assert probe(host, "readyz", "pod-b") == 0
    assert probe(host, "readyz", "pod-a") == 1 and probe(host, "healthz", "pod-a") == 0
    old.terminate()
    assert old.process.wait() == 0
    assert host.files_below("/run/multus") == ["multus-pod-b.sock", "multus.sock"]


def test_the_name_of_a_daemon_that_was_killed_is_removed(host, daemons):
    daemons(env={"MULTUS_POD_UID": "pod-a"}).kill()
    assert host.path("/run/multus/multus-pod-a.sock").exists()

    daemons(env={"MULTUS_POD_UID": "pod-b"})

    assert host.files_below("/run/multus") == ["multus-pod-b.sock", "multus.sock"]


def test_a_daemon_that_cannot_serve_yet_takes_the_name_when_the_old_one_goes(host, daemons, pod, fake):
    old = daemons()
    new = daemons.launch(default_config(readinessIndicatorFile="/srv/indicator"))
    new.wait_log("another daemon listens on")

    old.stop()

    new.wait_alive()
    host.write("/srv/indicator", "")
    new.wait_ready()


def test_the_old_daemon_leaves_the_node_to_the_new_one(host, daemons, pod, fake):
    """Neither the configuration nor pending DELs nor the metrics port are its business any more."""
    keys = dict(cleanupConfigOnExit=True, metricsPort=9091)
    auto = AutoNode(host, daemons)
    auto.replace(PRIMARY, conflist())
    old = auto.start(**keys)
    new = auto.launch(**keys)
    wait_taken(host, old, new)
    new.wait_log("started to watch file")
    inode = host.path(OWN).stat().st_ino

    auto.replace(PRIMARY, conflist(capabilities={"bandwidth": True}))
    auto.wait_own(capabilities={"bandwidth": True})
    leave_pending_del(host, pod, netconf(fake.conf("a")), ARGS)
    until(lambda: listens(new, 9091), "the new daemon has the metrics port")
    new.wait_log("replaying the pending DEL")
    until(lambda: not pending(host), "replayed")
    old.terminate()
    assert old.process.wait() == 0

    assert host.path(OWN).exists() and host.path(OWN).stat().st_ino != inode
    assert "replaying" not in old.log
    assert old.log.count("Generated MultusCNI config") == 1
    assert "address already in use" not in new.log
    host.path(OWN).unlink()
    auto.wait_own(capabilities={"bandwidth": True})
    new.wait_ready()  # what it holds now, with the metrics port, is what it holds when idle


def listens(daemon, port):
    sockets = {f"socket:[{line.split()[9]}]" for table in ("tcp", "tcp6") for line in open(f"/proc/{daemon.pid}/net/{table}")
               if line.split()[1].endswith(f":{port:04X}")}
    return not sockets.isdisjoint(daemon.links())


def test_a_name_that_is_removed_comes_back(host, daemons):
    """The original's daemon removes it when it ends, even if it is another daemon's by then."""
    daemon = daemons()
    host.path(SOCKET).unlink()

    daemon.wait_log("was removed, and is there again")

    assert daemon.answers()
    daemon.wait_ready()  # it keeps the old socket, for clients that found the name before; from here on nothing may be added


def test_an_old_daemon_ends_when_the_new_one_is_gone(host, daemons):
    """The kubelet starts it anew; it would be alive and useless otherwise, for ever."""
    old = daemons()
    new = daemons.launch()
    wait_taken(host, old, new)

    new.kill()

    assert old.process.wait() == 0
    old.ending = True
    assert "this one ends, to be started anew" in old.log
    daemons()


def test_three_daemons_in_a_row(host, daemons, shim, pod, fake):
    """The first one still works for a container when the third one gets a request for it."""
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}))
    first = daemons()
    adding = Call(first.cni, "ADD", conf, pod, args=ARGS)
    gate.reached()
    second = daemons.launch()
    wait_taken(host, first, second)
    second.kill()
    third = daemons()
    deleting = Call(shim.delete, conf, pod, args=ARGS)
    begun = time.monotonic()
    until(lambda: time.monotonic() - begun > 1, "a second later")
    assert fake.order() == ["ADD a"]

    gate.open()

    assert adding.result().status == 200 and deleting.result().ok
    assert fake.order() == ["ADD a", "DEL a"]
    first.process.signal(signal.SIGTERM)
    assert first.process.wait() == 0
    third.wait_log("no other daemon runs any more")


def quietly(call, *args, **options):
    """The connection may be cut; that is an answer too."""
    try:
        return call(*args, **options)
    except (OSError, ValueError):
        return None
