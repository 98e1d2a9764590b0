"""Restart, upgrade, crash, reboot and removal, with pods that need their networks all the while.

KILL_SECONDS: for how long the daemon is killed again and again, KILL_REBOOTS: how often the node loses power meanwhile
(`make e2e KILL_SECONDS=600 KILL_REBOOTS=1`); KILL_SEED repeats a run."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time

import pytest

from harness.machine.wait import until
from harness.node.cni import call, environment
from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN
from harness.whole_node.installation import DAEMON_SET, GENERATED, SHIM
from harness.whole_node.pod_load import PodLoad, PodTrickle
from harness.whole_node.pod_space import pod_object

ALL = {"eth0", "net1", "net2"}
# A daemon to which no namespace of the host is propagated: an empty folder is where they would be.
BLIND = {"spec": {"template": {"spec": {
    "volumes": [{"name": "nothing", "emptyDir": {}}],
    "containers": [{"name": "kube-multus", "volumeMounts": [
        {"mountPath": "/run/netns", "name": "nothing"}, {"mountPath": "/hostroot/run/netns", "name": "nothing"}]}]}}}}
# Runtimes call it in the place of the shim. An ADD that is armed kills its runtime when the answer is given and not yet taken. Some
# runtimes have forgotten such a sandbox when they are back (pain 8), that of this node has not: its DEL is kept from the daemon.
DEADLY = """#!/bin/sh
CNI_PATH=/opt/cni/bin
[ "$CNI_COMMAND" = DEL ] && [ -e "/run/deadly-$CNI_CONTAINERID" ] && exit 0
/opt/cni/bin/multus-shim
status=$?
if [ "$CNI_COMMAND" = ADD ] && mv /run/deadly "/run/deadly-$CNI_CONTAINERID" 2>/dev/null; then kill -9 $PPID; fi
exit $status
"""


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

    since = node.runtime_log_size()
    with PodTrickle(space, "mac, lab", pause=1) as trickle:
        updates = 0
        while not trickle.failure and (updates < 2 or trickle.deleted < 60):
            for image in (new, old):
                multus.set_image(image)
                multus.wait_rolled_out()
                updates += 1

    print(f"{updates} updates, {len(trickle.names)} pods came, {trickle.deleted} went", flush=True)
    assert not trickle.failure and not trickle.refusals()
    until(lambda: len(multus.pods()) == 1, "the old daemon has ended", 240)
    assert "no other daemon runs any more" in multus.log()
    # Whichever daemon was asked, some of which are gone with their logs: what the runtime heard.
    assert node.network_failures(since) == []


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


def holders(node, network):
    """The containers that hold addresses of a network."""
    pool = node.host.path(f"/var/lib/cni/networks/{network}")
    return {path.read_text().split()[0] for path in pool.iterdir() if path.name[0].isdigit()}


@contextlib.contextmanager
def deadly_shim(node):
    """Yields what arms the next ADD."""
    usual, node.plugin_dir = node.plugin_dir, "/opt/deadly"
    node.host.write("/opt/deadly/multus-shim", DEADLY, mode=0o755)
    node.host.run("ln", "-s", "/opt/cni/bin/loopback", "/opt/deadly/loopback")
    try:
        node.restart_runtime(signal.SIGTERM)
        yield node.host.path("/run/deadly").touch
    finally:
        node.plugin_dir = usual
        node.restart_runtime(signal.SIGTERM)
        node.host.run("sh", "-c", "rm -r /opt/deadly /run/deadly*")


@pytest.mark.ours
@pytest.mark.leaves("firewall chain *")
def test_a_runtime_that_dies_after_an_add_costs_no_address(node, multus, space):
    """Pain 8: the kubelet makes another sandbox, and for the first one no DEL ever comes."""
    space.network("mac", NODE_MACVLAN)
    multus.configure(reconcileGrace=5)
    names = [f"lost-{number}" for number in range(3)]
    with deadly_shim(node) as arm:
        for name in names:
            arm()
            space.apply(pod_object(name, "mac"))
            node.parts["containerd"].process.wait(120)
            node.restart_runtime(signal.SIGKILL)
            space.wait_ready(f"pod/{name}")
        assert len(holders(node, "mac")) == len(attached(node, space)) == 2 * len(names)

        multus.restart()
        multus.wait_rolled_out()

        until(lambda: len(attached(node, space)) == len(names), lambda: multus.log()[-4000:], 120)
        assert multus.log().count("were deleted: its pod has another container") == len(names)
    assert holders(node, "mac") == set(attached(node, space))
    seen = {name: space.addresses(name).keys() for name in names}
    assert set(map(frozenset, seen.values())) == {frozenset({"eth0", "net1"})}
    space.delete_pods()
    multus.configure(reconcileGrace=None)


def lose_sandbox(node, space, name, networks):
    """One is made, and then it is gone together with its pod and with what the runtime knew of it: no DEL ever comes."""
    space.apply(pod_object(name, networks, nodeSelector={"no-such": "node"}))  # for which no kubelet makes another one
    uid = space.get("pod", name)["metadata"]["uid"]
    sandbox = node.host.spawn("unshare", "--net", "sh", "-c", "echo $$; exec sleep 1000000", stdout=subprocess.PIPE, text=True)
    netns = f"/proc/{sandbox.stdout.readline().strip()}/ns/net"
    args = f"IgnoreUnknown=1;K8S_POD_NAMESPACE={space.name};K8S_POD_NAME={name};K8S_POD_UID={uid}"
    env = environment("ADD", container_id=name, args=args, netns=netns)
    assert call(node.host, SHIM, node.host.path(GENERATED).read_text(), env).result["ips"]
    sandbox.signal(signal.SIGKILL)
    sandbox.wait()
    sandbox.stdout.close()
    space.kubectl("delete", "pod", name)


@contextlib.contextmanager
def blinded(multus):
    multus.system.kubectl("patch", DAEMON_SET, "--patch", json.dumps(BLIND))
    try:
        multus.wait_rolled_out()
        yield
    finally:
        multus.system.kubectl("rollout", "undo", DAEMON_SET)
        multus.wait_rolled_out()


@pytest.mark.ours
@pytest.mark.leaves("firewall chain *")
def test_a_daemon_that_sees_no_namespaces_deletes_nothing_and_says_so(node, multus, space):
    """Propagation of mounts is lost: the namespace of a pod that runs then looks as that of one that is gone."""
    space.network("mac", NODE_MACVLAN)
    multus.configure(reconcileGrace=5)
    space.pod("runs", "mac")
    (runs,) = attached(node, space)
    lose_sandbox(node, space, "lost", "mac")
    assert attached(node, space).keys() == {runs, "lost"}

    with blinded(multus):
        until(lambda: "which runs, cannot be seen" in multus.log(), lambda: multus.log()[-4000:], 120)
        until(lambda: "its networks are not deleted: the host's namespaces cannot be seen" in multus.log(),
              lambda: multus.log()[-4000:], 120)
        assert "were deleted" not in multus.log()
        assert holders(node, "mac") == attached(node, space).keys() == {runs, "lost"}

    until(lambda: attached(node, space).keys() == {runs}, lambda: multus.log()[-4000:], 120)
    assert "were deleted: its pod is gone" in multus.log()
    assert holders(node, "mac") == {runs}
    assert space.addresses("runs").keys() == {"eth0", "net1"}
    space.delete_pods()
    multus.configure(reconcileGrace=None)


def free_half_taken(node):
    """As the self-check advises: a host-local that is killed, as all plugins are with their daemon's container, may have made the file of an
    address and not yet written its container into it."""
    half = [path for path in node.host.path("/var/lib/cni/networks").glob("*/[0-9]*") if path.stat().st_size == 0]
    for path in half:
        path.unlink()
    print(f"{len(half)} addresses of no container", flush=True)
    return len(half)


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
    assert free_half_taken(node) <= 1 + kills // 50


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
