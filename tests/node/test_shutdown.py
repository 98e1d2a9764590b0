"""How the daemon ends and how another one takes over (03, rows 70 to 77, 82)."""

import time

import pytest
from harness.machine.beside import Call
from harness.machine.wait import until
from harness.node import networks
from harness.node.netconf import netconf
from harness.node.pending import leave_pending_del

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"


@pytest.mark.slow
@pytest.mark.spec("03:70", "03:74")
def test_sigterm_drains_for_ten_seconds(host, daemons, pod, fake):
    daemon = daemons()
    conf = netconf(fake.conf("a"))
    host.write("/etc/cni/net.d/00-multus.conf", conf)
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    begun = time.monotonic()
    daemon.terminate()

    until(lambda: daemon.http("GET", "/readyz").status == 500, "not ready")
    assert daemon.answers("/healthz")
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200
    assert daemon.process.wait() == 0
    assert 9.5 < time.monotonic() - begun < 60
    assert "caught terminated, stopping..." in daemon.log
    assert "multus daemon is exited" in daemon.log
    assert not host.path(daemon.socket).exists()
    assert host.path("/etc/cni/net.d/00-multus.conf").exists()


@pytest.mark.slow
@pytest.mark.spec("03:71")
@pytest.mark.parametrize("seconds", [5, 30])
def test_a_running_add_is_finished_before_the_end(host, daemons, pod, fake, seconds):
    """No other request is refused meanwhile."""
    daemon = daemons()
    other, quick = host.add_pod(), netconf(fake.conf("b"))
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path, "delay_ms": 1000 * seconds}))
    adding = Call(daemon.cni, "ADD", conf, pod, args=ARGS)
    gate.reached()

    daemon.terminate()
    gate.open()

    while adding.is_alive():
        for command in ("ADD", "DEL"):
            answer = _quietly(daemon.cni, command, quick, other, args=ARGS)
            assert answer and answer.status == 200 or not adding.is_alive(), answer
        adding.join(0.5)
    assert adding.result().status == 200
    assert daemon.process.wait() == 0
    assert daemons().cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.slow
@pytest.mark.spec("03:72")  # the second signal leaves it 13 s instead of 190
def test_an_add_that_hangs_does_not_hold_the_end_up_for_ever(host, daemons, pod, fake):
    daemon = daemons()
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}))
    adding = Call(_quietly, daemon.cni, "ADD", conf, pod, args=ARGS)
    gate.reached()

    begun = time.monotonic()
    daemon.terminate(times=2)
    daemon.process.wait()

    assert time.monotonic() - begun < 90
    adding.result()
    until(lambda: not any("fake" in line for line in host.processes().values()), host.processes)
    assert daemons().cni("DEL", conf, pod, args=ARGS).status == 200


def _quietly(call, *args, **options):
    """The connection may be cut; that is an answer too."""
    try:
        return call(*args, **options)
    except (OSError, ValueError):
        return None


@pytest.mark.spec("03:73")
def test_a_second_signal_skips_the_wait_and_a_third_ends_at_once(daemons, pod, fake):
    daemon = daemons()
    begun = time.monotonic()
    daemon.terminate(times=2)
    assert daemon.process.wait() == 0
    assert time.monotonic() - begun < 9  # not the ten seconds of a drain

    daemon = daemons()
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}))
    adding = Call(_quietly, daemon.cni, "ADD", conf, pod, args=ARGS)
    gate.reached()
    begun = time.monotonic()
    daemon.terminate(times=3)
    assert daemon.process.wait() == 1
    assert time.monotonic() - begun < 9  # not the ten seconds of a drain
    adding.result()
    gate.open()
    assert daemons().cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.slow
@pytest.mark.spec("03:72")
def test_a_second_signal_hurries_even_when_only_a_replay_is_waited_for(host, daemons, pod, fake):
    """The first wait of ten seconds is over by then."""
    gate = fake.gate()
    leave_pending_del(host, pod, netconf(fake.conf("a", DEL={"gate": gate.path})), ARGS)
    daemon = daemons()
    gate.reached()
    begun = time.monotonic()
    daemon.terminate()
    until(lambda: not daemon.answers("/healthz"), "only the replay is left", timeout=60)

    daemon.terminate()
    daemon.process.wait()

    assert time.monotonic() - begun < 120  # it would have 190 s
    until(lambda: not any("fake" in line for line in host.processes().values()), host.processes)


@pytest.mark.slow
@pytest.mark.spec("03:75")
def test_an_add_during_the_drain_waits_for_the_next_daemon(host, daemons, shim, pod, fake):
    conf = netconf(fake.conf("a"))
    old = daemons()
    old.terminate()
    until(lambda: old.http("GET", "/readyz").status == 500, "draining")

    adding = Call(shim.add, conf, pod, args=ARGS)
    begun = time.monotonic()
    until(lambda: time.monotonic() - begun > 7, "7 s later")
    daemons()

    assert adding.result().ok
    assert fake.order() == ["ADD a"]
    assert old.process.wait() == 0
    assert shim.delete(conf, pod, args=ARGS).ok


@pytest.mark.slow
@pytest.mark.spec("03:75")
def test_an_add_during_the_drain_is_served_if_no_other_daemon_comes(daemons, shim, pod, fake):
    conf = netconf(fake.conf("a"))
    daemon = daemons()
    daemon.terminate()
    until(lambda: daemon.http("GET", "/readyz").status == 500, "draining")

    assert shim.add(conf, pod, args=ARGS).ok

    assert fake.order() == ["ADD a"]
    assert daemon.process.wait() == 0
    daemons()
    assert shim.delete(conf, pod, args=ARGS).ok


@pytest.mark.spec("03:77")
def test_after_a_kill_the_next_daemon_deletes_old_pods(daemons, shim, pod):
    conf = netconf(networks.bridge())
    first = daemons()
    assert shim.add(conf, pod).ok
    first.kill()

    daemons()

    assert shim.check(conf, pod).ok
    assert shim.delete(conf, pod).ok
    assert pod.links() == set()


@pytest.mark.slow
@pytest.mark.spec("03:82")
def test_the_shim_waits_for_a_daemon_that_comes_late(host, daemons, shim, pod, fake):
    conf = netconf(fake.conf("a"))
    adding = Call(shim.add, conf, pod, args=ARGS)
    begun = time.monotonic()
    until(lambda: time.monotonic() - begun > 5, "5 s without a socket")

    daemons()

    assert adding.result().ok
    assert shim.delete(conf, pod, args=ARGS).ok
