"""Plugins that are started ahead of their turn (docs/parallel-attach.md): they get ready, and do nothing before they
have their configuration."""

import re
import subprocess
import threading
from pathlib import Path

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import environment
from harness.node.netconf import netconf

SOURCE = Path(__file__).resolve().parents[2] / "src" / "chain" / "early_start.cc"
EARLY = re.findall(r'"([a-z-]+)"', re.search(r"kEarly = .*?\{(.*?)\}", SOURCE.read_text(), re.S)[1])
OURS = "passthru"
HERE = [name for name in EARLY if name == OURS or Path("/usr/lib/cni", name).exists()]


def waits_for_stdin(pid):
    """One of its threads has asked for it (read, descriptor 0)."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            call = (task / "syscall").read_text().split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if call[:2] == ["0", "0x0"]:
            return True
    return False


def waiting(host, name):
    """The plugin's processes that wait for their configuration."""
    return [pid for pid, line in host.processes().items() if line == f"{PLUGIN_DIR}/{name}" and waits_for_stdin(pid)]


class Adding:
    """An ADD that runs while the test looks on."""

    def __init__(self, shim, conf, pod):
        self._outcome = []
        self._thread = threading.Thread(target=lambda: self._outcome.append(shim.add(conf, pod)))
        self._thread.start()

    def result(self):
        self._thread.join(180)
        return self._outcome[0]


def state_of(host, pod):
    """Links, addresses, routes, rules and firewall of node and pod, and the files plugins keep."""
    looks = [("ip", "-o", "link"), ("ip", "-o", "addr"), ("ip", "route", "show", "table", "all"), ("ip", "rule"),
             ("tc", "qdisc"), ("iptables-save",), ("nft", "list", "ruleset")]
    seen = [where.run(*look, check=False).stdout for where in (host, pod) for look in looks]
    return [re.sub(r"^#.*|\[\d+:\d+\]", "", text, flags=re.M) for text in seen] + host.files_below("/var/lib/cni")


def test_the_table_names_plugins_that_are_here():
    assert {"bridge", "macvlan", "portmap", "tuning"} <= set(HERE)


@pytest.mark.parametrize("name", HERE)
def test_a_plugin_does_nothing_before_it_has_its_configuration(host, pod, name):
    """The promise that the table makes for the real ones."""
    if name == OURS:
        host.path(f"{PLUGIN_DIR}/{name}").symlink_to(f"{PROGRAMS}/{name}")
    before = state_of(host, pod)
    process = host.spawn(f"{PLUGIN_DIR}/{name}", env=environment("ADD", pod, "c1"), stdin=subprocess.PIPE,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    until(lambda: waiting(host, name), f"{name} asks for its configuration")
    assert state_of(host, pod) == before
    process.stdin.close()

    assert process.wait() != 0
    assert state_of(host, pod) == before


def chain(fake, **first):
    """Two plugins of names that may start early; the first does as it is told."""
    fake.install("vlan")
    fake.install("vrf")
    return netconf(networks.conflist(fake.conf("a", plugin_type="vlan", **first), fake.conf("a", plugin_type="vrf")))


def test_the_next_plugin_gets_ready_while_one_works(host, daemon, shim, pod, fake):
    gate = fake.gate()
    conf = chain(fake, ADD={"gate": gate.path})
    adding = Adding(shim, conf, pod)

    gate.reached()
    until(lambda: waiting(host, "vrf"), "the next one waits")
    assert fake.order() == ["ADD a"]  # it was told nothing
    gate.open()

    assert adding.result().ok
    first, second = fake.calls("ADD")
    assert second.begin > first.end
    assert "prevResult" in second.conf and "prevResult" not in first.conf
    assert shim.delete(conf, pod).ok


def test_the_next_plugin_is_told_nothing_if_one_fails(host, daemon, shim, pod, fake):
    gate = fake.gate()
    conf = chain(fake, ADD={"gate": gate.path, "error": {"code": 11, "msg": "busy"}})
    adding = Adding(shim, conf, pod)

    gate.reached()
    until(lambda: waiting(host, "vrf"), "the next one waits")
    gate.open()

    assert adding.result().error["code"] == 11
    assert not waiting(host, "vrf")
    assert len(fake.calls("ADD")) == 1
    assert shim.delete(conf, pod).ok


def test_a_plugin_whose_daemon_is_killed_does_nothing(host, daemons, shim, pod, fake):
    gate = fake.gate()
    conf = chain(fake, ADD={"gate": gate.path})
    daemon = daemons()
    adding = Adding(shim, conf, pod)
    gate.reached()
    until(lambda: waiting(host, "vrf"), "the next one waits")

    daemon.kill()
    gate.open()

    assert not adding.result().ok
    until(lambda: not any(PLUGIN_DIR in line for line in host.processes().values()), host.processes)
    assert all(not call.stdin for call in fake.calls("ADD")[1:])  # the end of its stdin, nothing else
    daemons()
    assert shim.delete(conf, pod).ok


@pytest.mark.parametrize("settings, most", [({}, 2), ({"maxDelegates": 2}, 1)])
def test_no_more_run_at_once_than_are_allowed(host, daemons, shim, pod, fake, settings, most):
    """One of two slots is kept for DEL: there is no room for one that only waits."""
    gate = fake.gate()
    conf = chain(fake, ADD={"gate": gate.path})
    daemons(**settings)
    adding = Adding(shim, conf, pod)

    gate.reached()
    if most > 1:
        until(lambda: waiting(host, "vrf"), "the next one waits")
    assert len([line for line in host.processes().values() if line.startswith(PLUGIN_DIR + "/v")]) == most
    gate.open()

    assert adding.result().ok
    assert shim.delete(conf, pod).ok


def test_a_script_in_the_place_of_a_plugin_is_left_for_its_turn(host, daemon, shim, pod, fake):
    """People wrap plugins in scripts to debug them; a wrapper may do anything before it reads its input."""
    gate = fake.gate()
    conf = chain(fake, ADD={"gate": gate.path})
    host.write(f"{PLUGIN_DIR}/vrf", f"#!/bin/sh\necho $CNI_COMMAND >>/srv/seen\nexec {PLUGIN_DIR}/fake\n", mode=0o755)
    adding = Adding(shim, conf, pod)

    gate.reached()
    assert not host.path("/srv/seen").exists()
    gate.open()

    assert adding.result().ok
    assert host.path("/srv/seen").read_text() == "ADD\n"
    assert shim.delete(conf, pod).ok


def test_off_starts_nothing_early(host, daemon, shim, pod, fake):
    gate = fake.gate()
    conf = {**chain(fake, ADD={"gate": gate.path}), "parallelAttach": "off"}
    adding = Adding(shim, conf, pod)

    gate.reached()
    assert not [line for line in host.processes().values() if line.endswith("/vrf")]
    gate.open()

    assert adding.result().ok
    assert shim.delete(conf, pod).ok
