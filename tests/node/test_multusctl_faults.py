"""Faults made on purpose on a node with a real daemon: multusctl names each one and what to do; once that is done, it is silent.
docs/testing.md lists all faults, with the tier of each."""

import json
import re
import shlex
from dataclasses import dataclass
from typing import Callable

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.autoconf import NET_D, PRIMARY, auto_config, conflist
from harness.node.daemon import CONFIG
from harness.node.netconf import netconf
from harness.node.pending import FOLDER as PENDING

CTL = f"{PROGRAMS}/multusctl"
FRAGMENT = "/etc/cni/net.d/multus.d/daemon-config.d/10-site.json"
ADDRESS = "/var/lib/cni/networks/lan/10.1.0.3"
INDICATOR = "/run/primary-is-ready"


class Said:
    def __init__(self, done):
        self.exit, self.lines = done.returncode, (done.stdout + done.stderr).splitlines()
        print(f"exit {self.exit}", *self.lines, sep="\n", flush=True)

    def find(self, part):
        return [line for line in self.lines if part in line]


class Node:
    """A node that configures itself, with a pod that asks for the network `lan`."""

    def __init__(self, host, daemons, objects):
        self.host, self.daemons, self.objects = host, daemons, objects
        host.add_bridge("eth0")
        host.write(PRIMARY, conflist())
        objects.pod("web", annotations={"k8s.v1.cni.cncf.io/networks": "lan"})
        self.define(master="eth0")

    def define(self, **keys):
        self.objects.network("lan", networks.macvlan("lan", **keys))

    def configure(self, **keys):
        """The file alone: the daemon has read it at its start."""
        self.host.write(CONFIG, auto_config(**keys))

    def launch(self, **keys):
        self.daemon = self.daemons.launch(auto_config(**keys))
        return self.daemon

    def ctl(self, *words, through=()):
        print("$", *words, flush=True)
        return Said(self.host.run(*through, CTL, *words, check=False))

    def doctor(self, **options):
        return self.ctl("doctor", "--this-node", **options)

    def move(self, path):
        """Takes a file away."""
        path = self.host.path(path)
        path.rename(f"{path}.away")

    def move_back(self, path):
        path = self.host.path(path)
        path.with_name(f"{path.name}.away").rename(path)

    def obey(self, line):
        (hint,) = re.findall(r"`(.*)`", line)
        print("$", hint, flush=True)
        self.host.run("sh", "-c", hint)


@pytest.fixture
def sick(host, daemons, objects, program):
    program("multusctl")
    node = Node(host, daemons, objects)
    yield node


@dataclass
class Fault:
    make: Callable
    told: str
    mend: Callable | None  # None: the line names a command
    mark: str = "✗"


def fill(node):
    node.host.path("/srv/state").mkdir()
    node.host.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", "/srv/state")
    node.configure(cniDir="/srv/state")


def protect(node):
    node.host.path("/srv/state").mkdir()
    node.host.run("mount", "-t", "tmpfs", "-o", "ro,size=1g,mode=700", "tmpfs", "/srv/state")
    node.configure(cniDir="/srv/state")


FAULTS = {
    "a plugin is missing": Fault(
        lambda node: node.move(f"{PLUGIN_DIR}/macvlan"), 'the plugin "macvlan" is not in /opt/cni/bin',
        lambda node: node.move_back(f"{PLUGIN_DIR}/macvlan")),
    "a type is misspelt": Fault(
        lambda node: node.objects.network("lan", {**networks.macvlan("lan", master="eth0"), "type": "macvaln"}),
        'the plugin "macvaln" is not in /opt/cni/bin', lambda node: node.define(master="eth0")),
    "a master is missing": Fault(
        lambda node: node.define(master="eth7"), 'master "eth7" does not exist on this node',
        lambda node: node.host.add_bridge("eth7")),
    "a definition is missing": Fault(
        lambda node: node.objects.remove_network("lan"), "there is no network definition default/lan",
        lambda node: node.define(master="eth0")),
    "another configuration comes first": Fault(
        lambda node: node.host.write(f"{NET_D}/00-first.conf", networks.bridge()), f"{NET_D}/00-first.conf sorts before ",
        lambda node: node.host.path(f"{NET_D}/00-first.conf").unlink()),
    "there is another Multus": Fault(
        lambda node: node.host.write(f"{NET_D}/70-multus.conf", netconf()), "70-multus.conf is another Multus configuration",
        lambda node: node.host.path(f"{NET_D}/70-multus.conf").unlink(), "!"),
    "all users may write plugins": Fault(
        lambda node: node.host.path(PLUGIN_DIR).chmod(0o777), f"binDir: {PLUGIN_DIR} can be written by every user", None),
    "a user owns the plugins": Fault(
        lambda node: node.host.run("chown", "1000", PLUGIN_DIR), f"binDir: {PLUGIN_DIR} belongs to user 1000", None),
    "the disk is full": Fault(
        fill, "the disk of /srv/state has room for 0 MiB",
        lambda node: node.host.run("mount", "-o", "remount,size=8g", "/srv/state"), "!"),
    "the disk is read-only": Fault(
        protect, "cannot write to /srv/state: read-only file system",
        lambda node: node.host.run("mount", "-o", "remount,rw", "/srv/state")),
    "a key is misspelt": Fault(
        lambda node: node.configure(namespaceIsolaton=True), 'the key "namespaceIsolaton" is not known',
        lambda node: node.configure(namespaceIsolation=True), "!"),
    "a value is refused": Fault(
        lambda node: node.configure(delegateTimeout="180s"), "delegateTimeout", lambda node: node.configure()),
    "a fragment is broken": Fault(
        lambda node: node.host.write(FRAGMENT, "{"), FRAGMENT, lambda node: node.host.path(FRAGMENT).unlink()),
    "a pending DEL is damaged": Fault(
        lambda node: node.host.write(f"{PENDING}/bad/c2-eth0.json", "{"), "1 damaged DELs are in ",
        lambda node: node.host.path(f"{PENDING}/bad/c2-eth0.json").unlink(), "!"),
    "an address has no owner": Fault(
        lambda node: node.host.write(ADDRESS, "lost\r\neth0"), "1 addresses in /var/lib/cni/networks/lan belong to",
        lambda node: node.host.path(ADDRESS).unlink(), "!"),
}


def lasting(said, text):
    """What doctor finds; what the daemon said last of all stays said."""
    return [line for line in said.find(text) if "last error" not in line]


@pytest.mark.parametrize("name", FAULTS)
def test_doctor_names_a_fault_of_the_node_until_it_is_mended(sick, name):
    fault = FAULTS[name]
    sick.launch().wait_ready()
    sound = sick.doctor()
    assert sound.exit == 0 and not sound.find("✗") and not sound.find(fault.told)

    fault.make(sick)
    said = sick.doctor()
    (line,) = lasting(said, fault.told)

    assert line.startswith(fault.mark) and said.exit == (1 if fault.mark == "✗" else 0)
    if fault.mend is None:
        sick.obey(line)
    else:
        fault.mend(sick)
    mended = sick.doctor()
    assert mended.exit == 0 and not lasting(mended, fault.told)
    if sick.host.path("/srv/state").exists():
        sick.host.run("umount", "/srv/state")


def test_few_descriptors_are_told(sick):
    sick.launch().wait_ready()

    said = sick.doctor(through=["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"])

    assert said.find("! resources: the daemon may have 200 descriptors open")
    assert not sick.doctor().find("descriptors open")


def test_lint_names_what_the_daemon_would_refuse_and_in_which_fragment(sick):
    """From the files of the node, before the daemon is started anew."""
    sick.configure()
    assert sick.ctl("lint", "/etc/cni/net.d/multus.d").exit == 0
    sick.host.write(FRAGMENT, {"delegateTimeout": "180s", "namespaceIsolaton": True})

    said = sick.ctl("lint", "/etc/cni/net.d/multus.d")
    assert said.exit == 1 and said.find(f"{FRAGMENT}:") and said.find("MN050")

    sick.host.write(FRAGMENT, {"delegateTimeout": 180, "namespaceIsolaton": True})
    said = sick.ctl("lint", "--strict", "/etc/cni/net.d/multus.d")
    (line,) = said.find("MN051")
    assert said.exit == 1
    sick.host.write(FRAGMENT, {"delegateTimeout": 180, re.search(r'did you mean "(\w+)"', line)[1]: True})
    assert sick.ctl("lint", "--strict", "/etc/cni/net.d/multus.d").exit == 0


def no_primary(node):
    node.host.path(PRIMARY).unlink()
    node.launch().wait_alive()


def no_indicator(node):
    node.launch(readinessindicatorfile=INDICATOR).wait_alive()


def no_kubeconfig(node):
    node.launch(objectsDir=None, kubeconfig="/srv/none.kubeconfig").wait_alive()


# How the daemon is made not ready, what status says of it, and what makes it ready again; None: nothing on this node does.
NOT_READY = {
    "no primary": (no_primary, "", lambda node: node.host.write(PRIMARY, conflist())),
    "no readiness indicator": (no_indicator, INDICATOR, lambda node: node.host.write(INDICATOR, "")),
    "no kubeconfig": (no_kubeconfig, "/srv/none.kubeconfig", None),
}


@pytest.mark.parametrize("name", NOT_READY)
def test_status_and_doctor_tell_why_the_daemon_is_not_ready(sick, name):
    make, why, mend = NOT_READY[name]
    make(sick)

    said = until(lambda: (now := sick.ctl("status")).find("not ready: ") and now, "the reason")
    assert why in said.find("not ready: ")[0] and said.find(" no ")
    assert sick.doctor().find("✗ the daemon: not ready: ")
    if mend is None:
        return
    mend(sick)

    until(lambda: not sick.ctl("status").find("not ready: "), "a ready daemon")
    assert sick.doctor().exit == 0


def test_a_stopped_daemon_is_told_with_where_to_look(sick):
    sick.launch().wait_ready()
    assert sick.ctl("status").exit == 0
    sick.daemon.stop()

    status, doctor = sick.ctl("status", "--this-node"), sick.doctor()
    assert status.exit == 1 and status.find("is multus-daemon running on this node")
    assert doctor.exit == 1 and len(doctor.find("no daemon answers")) == 1

    sick.launch().wait_ready()
    assert sick.ctl("status").exit == 0 and sick.doctor().exit == 0


def test_a_plugin_that_was_missing_is_told_until_it_has_run(node, host, program):
    """`status` says what requests met."""
    program("multusctl")
    node.network("lab", networks.ptp("lab", "10.9.0.0/24"))
    plugin = host.path(f"{PLUGIN_DIR}/ptp")
    plugin.rename(f"{plugin}.away")
    pod = node.pod("lab")
    assert not pod.add().ok
    (hint,) = [line for line in host.run(CTL, "status").stderr.splitlines() if "plugins missing on the node: ptp" in line]
    assert "`multusctl lint --cluster`" in hint

    plugin.with_name("ptp.away").rename(plugin)
    assert pod.add().ok

    assert json.loads(host.run(CTL, "status", "-o", "json").stdout)["nodes"][0]["status"]["missingPlugins"] == []
    assert pod.delete().ok


def test_a_pending_del_is_told_with_the_command_that_shows_why(node, host, program):
    program("multusctl")
    host.write(f"{PLUGIN_DIR}/stubborn", f"#!/bin/sh\n[ $CNI_COMMAND = DEL ] && [ -e /srv/no ] && echo '{{\"code\":11,\"msg\":\"not today\"}}' "
               f"&& exit 1\nexec {PLUGIN_DIR}/host-local\n", mode=0o755)
    bridge = networks.bridge()
    bridge["ipam"]["type"] = "stubborn"
    node.configure(bridge)
    pod = node.pod()
    assert pod.add().ok
    host.write("/srv/no", "")
    assert pod.delete().ok
    line = until(lambda: [one for one in host.run(CTL, "status").stderr.splitlines() if "1 pending DEL:" in one], "a pending DEL")[0]

    (hint,) = re.findall(r"`multusctl (.*?)`", line)
    until(lambda: "not today" in host.run(CTL, *shlex.split(hint)).stdout, "the reason of its last attempt")
    host.path("/srv/no").unlink()
    assert host.run(CTL, "pending", "retry", "--yes").returncode == 0

    assert "1 pending DEL:" not in host.run(CTL, "status").stderr
