"""Restart, upgrade, crash, reboot and removal, with pods that need their networks all the while.

KILL_SECONDS: for how long the daemon is killed again and again, KILL_REBOOTS: how often the node loses power meanwhile
(`make e2e KILL_SECONDS=600 KILL_REBOOTS=1`); KILL_SEED repeats a run."""

import contextlib
import json
import os
import random
import signal
import time

import pytest

from harness.machine.wait import until
from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN
from harness.whole_node.pod_load import PodLoad, PodTrickle
from harness.whole_node.pod_space import pod_object

ALL = {"eth0", "net1", "net2"}


@pytest.fixture
def load(space):
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)
    return PodLoad(space, "mac, lab")


@pytest.mark.short
@pytest.mark.spec("03:157")
def test_a_restart_of_the_daemon_set_costs_no_pod_an_interface(multus, load):
    with load:
        multus.restart()
        multus.wait_rolled_out()
        until(lambda: len(load.names) > 10, "pods that came after it, too")

    load.check(ALL)


@pytest.mark.spec("03:157")
def test_an_upgrade_of_the_image_and_back_costs_no_pod_an_interface(node, multus, load):
    old = multus.image
    new = old.rpartition(":")[0] + ":next"
    node.ctr("images", "tag", "--force", old, new)

    with load:
        for image in (new, old):
            multus.set_image(image)
            multus.wait_rolled_out()
            assert image in [pod["spec"]["containers"][0]["image"] for pod in multus.pods()]

    load.check(ALL)


@pytest.mark.ours
@pytest.mark.spec("03:157")
def test_an_upgrade_and_the_way_back_refuse_no_pod(node, multus, space):
    """Pain 43: pods come and go all the while, and no sandbox fails even once."""
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)
    old = multus.image
    new = old.rpartition(":")[0] + ":next"
    node.ctr("images", "tag", "--force", old, new)

    with PodTrickle(space, "mac, lab", pause=1) as trickle:
        for image in (new, old):
            multus.set_image(image)
            multus.wait_rolled_out()
        until(lambda: trickle.failure or trickle.deleted == 60, "60 pods came and went", 400)

    assert not trickle.failure and not trickle.refusals()
    until(lambda: len(multus.pods()) == 1, "the old daemon has ended", 240)
    assert "no other daemon runs any more" in multus.log()
    for verb in ("ADD", "DEL"):
        assert f"{verb} of container" not in multus.log()  # ... failed after N ms


def daemons_of(node):
    return [pid for pid, line in node.host.processes().items()
            if line.split(" ")[0].endswith("/multus-daemon") and "-probe" not in line]


def attached(node, space):
    """The attachment records of the namespace's pods, by container."""
    found = {}
    for path in node.host.path("/var/lib/cni/multus/_attachments").glob("*.json"):
        with contextlib.suppress(FileNotFoundError):  # it is just deleted
            record = json.loads(path.read_text())
            if record["podNamespace"] == space.name:
                found[record["containerID"]] = record
    return found


def kill_runtime_after_add(node, space, known):
    """As soon as an ADD is carried out: most often before the runtime has saved that there is such a sandbox."""
    deadline = time.monotonic() + 120
    while not any(record["state"] == "ready" for container, record in attached(node, space).items() if container not in known):
        assert time.monotonic() < deadline
        time.sleep(0.001)
    node.restart_runtime(signal.SIGKILL)


@pytest.mark.ours
@pytest.mark.leaves("namespace *", "mount /run/netns/*", "result *", "process *", "firewall chain *")
def test_a_runtime_that_dies_after_an_add_costs_no_address(node, multus, space):
    """Pain 8: the kubelet makes another sandbox, and for the first one no DEL ever comes. What the runtime itself forgot stays: its
    namespaces, for one."""
    space.network("mac", NODE_MACVLAN)
    multus.configure(reconcileGrace=5)
    names = []
    while (forgotten := len(attached(node, space)) - len(names)) < 2 and len(names) < 12:
        known = set(attached(node, space))
        names.append(f"lost-{len(names)}")
        space.apply(pod_object(names[-1], "mac"))
        kill_runtime_after_add(node, space, known)
        space.wait_ready(f"pod/{names[-1]}")
    print(f"{forgotten} of {len(names)} sandboxes were forgotten", flush=True)
    assert forgotten, "the runtime was killed too late each time"

    multus.restart()
    multus.wait_rolled_out()

    until(lambda: len(attached(node, space)) == len(names), lambda: multus.log()[-4000:], 120)
    assert "were deleted: its pod has another container" in multus.log()
    pool = node.host.path("/var/lib/cni/networks/mac")
    held = {path.read_text().split()[0] for path in pool.iterdir() if path.name[0].isdigit()}
    assert held == set(attached(node, space))
    seen = {name: space.addresses(name).keys() for name in names}
    assert set(map(frozenset, seen.values())) == {frozenset({"eth0", "net1"})}
    space.delete_pods()
    multus.configure(reconcileGrace=None)


def lose_power(node, multus, trickle):
    """Pods that are just being made or deleted stay so; the others come back."""
    with trickle.at_rest:
        node.power_off()
        node.boot()
        node.wait_ready()
        multus.wait_rolled_out()


@pytest.mark.short
@pytest.mark.ours
@pytest.mark.leaves("firewall chain *")
def test_a_daemon_that_is_killed_again_and_again_loses_nothing(node, multus, space):
    """Pods come and go; the daemon dies at random moments, sometimes with its pod, sometimes during an update."""
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)
    seed = int(os.environ.get("KILL_SEED", "1"))
    chance, kills = random.Random(seed), 0
    began, seconds, reboots = time.monotonic(), float(os.environ.get("KILL_SECONDS", "40")), int(os.environ.get("KILL_REBOOTS", "0"))
    reboot_at = [began + seconds * number / (reboots + 1) for number in range(1, reboots + 1)]

    with PodTrickle(space, "mac, lab", at_most=10 ** 6) as trickle:
        while time.monotonic() < began + seconds:
            if reboot_at and time.monotonic() > reboot_at[0]:
                reboot_at.pop(0)
                lose_power(node, multus, trickle)
            if chance.random() < 0.3:
                multus.restart()
            time.sleep(chance.uniform(0.5, 6))
            for pid in daemons_of(node):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    kills += 1
            # A new pod starts without the kubelet's back-off.
            multus.system.kubectl("delete", "pod", "-l", "name=multus", "--force", "--grace-period=0", check=False)
            until(lambda: daemons_of(node), "the next daemon", 120)

    multus.wait_rolled_out()
    print(f"seed {seed}: {kills} daemons killed, {reboots} reboots, {len(trickle.names)} pods came, {trickle.deleted} went", flush=True)
    assert not trickle.failure and not reboot_at and kills > 3
    living = {f"load-{number}" for number in range(trickle.deleted, len(trickle.names))}
    space.wait_ready(*(f"pod/{name}" for name in living))
    seen = space.logged_addresses()
    assert all(seen[name].keys() == ALL for name in living), seen
    space.delete_pods()
    until(lambda: not any(node.host.path("/var/lib/cni/multus/pending-del").glob("*.json")), "pending DELs replayed", 120)


def test_a_daemon_that_vanishes_is_waited_for(multus, load):
    with load:
        multus.system.kubectl("delete", "pod", "-l", "name=multus", "--force", "--grace-period=0")
        multus.wait_rolled_out()

    load.check(ALL)


@pytest.mark.leaves("firewall chain *")
def test_pods_that_go_while_no_daemon_is_there_leave_nothing(multus, space):
    """The DELs of that time are made good by the next daemon. By then their network namespaces are gone, and without
    one the bridge plugin of Debian forgets its masquerading."""
    space.network("lab", NODE_BRIDGE)
    space.apply(*(pod_object(f"leaving-{number}", "lab") for number in range(5)))
    space.wait_ready("pods", "--all")
    nowhere = '{"spec":{"template":{"spec":{"nodeSelector":{"no-such":"node"}}}}}'
    multus.system.kubectl("patch", "daemonset", "kube-multus-ds", "--patch", nowhere)
    multus.system.kubectl("wait", "--for=delete", "pod", "-l", "name=multus", "--timeout=240s")

    space.delete_pods(timeout=120)

    multus.system.kubectl("patch", "daemonset", "kube-multus-ds", "--type=json", "--patch",
                          '[{"op":"remove","path":"/spec/template/spec/nodeSelector/no-such"}]')
    multus.wait_rolled_out()
