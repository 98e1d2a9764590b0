"""Hot-plug by annotation under the kubelet (05, 3): kubectl annotate changes the networks of pods that run."""

import contextlib
import json
import os
import random
import signal

import pytest
from harness.evidence import metrics
from harness.machine.wait import until
from harness.node import networks
from harness.node.objects import NETWORKS, STATUS
from harness.whole_node.hotplug import Controller
from harness.whole_node.pod_space import pod_object

pytestmark = pytest.mark.ours


def annotate(space, pod, text):
    space.kubectl("annotate", "--overwrite", "pod", pod, f"{NETWORKS}={text}")


def links_in_status(space, pod):
    text = space.get("pod", pod)["metadata"]["annotations"].get(STATUS, "[]")
    return {entry["interface"]: entry["name"].split("/")[-1] for entry in json.loads(text)}


def annotated(space, pod):
    text = space.get("pod", pod)["metadata"]["annotations"].get(NETWORKS, "")
    return {one.partition("@")[2]: one.partition("@")[0] for one in text.split(",") if one}


def wait_for(space, pod, **links):
    """Annotation, network status and the pod's own view of its links say the same."""
    assert annotated(space, pod) == links

    def is_so():
        status = links_in_status(space, pod)
        return space.addresses(pod).keys() == {"eth0", *links} and \
            {link: name for link, name in status.items() if link != "eth0"} == links
    until(is_so, lambda: f"{links}: {space.addresses(pod)}, {links_in_status(space, pod)}", timeout=90)


# A process that runs before, and says which links it sees whenever that changes.
WATCH = """trap 'exit 0' TERM
while :; do
  now=$(echo $(ls /sys/class/net))
  [ "$now" = "$seen" ] || echo "$now"
  seen=$now
  sleep 0.1
done"""


def seen(space, pod):
    """Which links the pod's own process has seen, one set for each change."""
    return [set(line.split()) - {"lo"} for line in space.kubectl("logs", pod).splitlines()]


def test_annotations_attach_replace_and_detach(plugging, space):
    space.network("red", networks.ptp("red", "10.61.0.0/24"))
    space.network("blue", networks.ptp("blue", "10.62.0.0/24"))
    space.pod("web", script=WATCH)

    annotate(space, "web", "red@net1")
    wait_for(space, "web", net1="red")
    assert space.addresses("web")["net1"].startswith("10.61.")
    annotate(space, "web", "blue@net1")
    wait_for(space, "web", net1="blue")
    assert space.addresses("web")["net1"].startswith("10.62.")
    until(lambda: seen(space, "web")[-1] == {"eth0", "net1"}, lambda: seen(space, "web"))
    annotate(space, "web", "")
    wait_for(space, "web")
    until(lambda: seen(space, "web")[-1] == {"eth0"}, lambda: seen(space, "web"))


def test_a_link_that_the_pod_has_renamed_is_detached(plugging, space):
    """As virt-launcher does (kubevirt#14074): the name is another link's by then."""
    space.network("red", networks.ptp("red", "10.61.0.0/24"))
    space.pod("web", containers={"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}})
    annotate(space, "web", "red@net1")
    wait_for(space, "web", net1="red")

    space.execute("web", "sh", "-c", "ip link set net1 down && ip link set net1 name net1-nic && ip link set net1-nic up && "
                                     "ip link add net1 type bridge && ip link set net1-nic master net1")
    annotate(space, "web", "")

    wait_for(space, "web")


def test_a_pod_that_is_deleted_ends_a_plugin_that_hangs(node, plugging, space):
    plugin = node.host.path("/opt/cni/bin/hangs")
    plugin.write_text("#!/bin/sh\n[ $CNI_COMMAND = ADD ] && exec sleep 600\nexec /opt/cni/bin/ptp\n")
    plugin.chmod(0o755)

    def hangs():
        return any(line.startswith("sleep 600") for line in node.host.processes().values())
    space.network("slow", {**networks.ptp("slow", "10.61.0.0/24"), "type": "hangs"})
    space.pod("web")
    annotate(space, "web", "slow@net1")
    until(hangs, lambda: node.host.processes(), 30)

    space.kubectl("delete", "pod", "web", "--timeout=90s")  # not before its DEL

    assert not hangs()
    plugin.unlink()


def test_the_external_controllers_calls_are_served_beside_it(node, plugging, space):
    space.network("red", networks.ptp("red", "10.61.0.0/24"))
    space.pod("web")
    controller = Controller(node, space)
    hot = networks.ptp("hot", "10.64.0.0/24")

    assert controller.delegate("ADD", "web", hot, "hot0")[0] == 200
    annotate(space, "web", "red@net1")
    until(lambda: space.addresses("web").keys() == {"eth0", "hot0", "net1"}, lambda: space.addresses("web"), 60)

    assert controller.delegate("ADD", "web", networks.ptp("red", "10.61.0.0/24"), "net1")[0] == 200  # R3
    assert controller.delegate("DEL", "web", hot, "hot0")[0] == 200
    wait_for(space, "web", net1="red")


@pytest.fixture
def counted(node):
    """A plugin that is ptp, and the commands that it got so far."""
    plugin, calls = node.host.path("/opt/cni/bin/counted"), node.host.path("/srv/calls")
    plugin.write_text("#!/bin/sh\necho $CNI_COMMAND >>/srv/calls\nexec /opt/cni/bin/ptp\n")
    plugin.chmod(0o755)
    yield lambda: calls.read_text().split()
    plugin.unlink()
    calls.unlink()


def versions(space):
    """Every write to a pod is another one."""
    return {pod["metadata"]["name"]: pod["metadata"]["resourceVersion"] for pod in space.items("pods")}


def present(node):
    """Attachments that the daemon has compared with their annotations; None if no daemon tells."""
    page = metrics.fetch(node.host)
    return page and metrics.Page(page.body).value("multus_hotplug_attachments", state="present")


def test_a_restart_with_a_hundred_pods_runs_no_plugin_and_writes_no_status(node, plugging, space, counted):
    plugging.configure(metricsPort=metrics.PORT)
    space.network("red", {**networks.ptp("red", "10.61.0.0/24"), "type": "counted"})
    names = [f"web{number}" for number in range(100)]
    space.apply(*(pod_object(name, "red@net1") for name in names))
    space.wait_ready("pods", "--all", timeout=480)
    until(lambda: present(node) == 100, lambda: f"{present(node)} were compared", 60)
    old, before = plugging.pods()[0]["metadata"]["name"], versions(space)
    assert counted().count("ADD") >= 100

    calls = counted()
    plugging.restart()
    plugging.wait_rolled_out()
    until(lambda: old not in [pod["metadata"]["name"] for pod in plugging.pods()], "the old daemon's end", 240)
    until(lambda: present(node) == 100, lambda: f"{present(node)} were compared", 60)

    assert counted() == calls
    assert versions(space) == before
    space.delete_pods()
    plugging.configure(metricsPort=None)


def kill_daemons(node):
    for pid, line in node.host.processes().items():
        if line.split(" ")[0].endswith("/multus-daemon") and "-probe" not in line:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def test_random_edits_with_a_roll_and_a_kill_in_between_end_with_what_the_last_ones_say(node, plugging, space):
    space.network("red", networks.ptp("red", "10.61.0.0/24"))
    space.network("blue", networks.ptp("blue", "10.62.0.0/24"))
    pods = [f"web{number}" for number in range(10)]
    space.apply(*map(pod_object, pods))
    space.wait_ready(*(f"pod/{pod}" for pod in pods))
    dice = random.Random(11)
    wishes = {pod: {} for pod in pods}
    for turn in range(100):
        pod = dice.choice(pods)
        wishes[pod] = dict(zip(dice.sample(["net1", "net2"], dice.randint(0, 2)), dice.sample(["red", "blue"], 2)))
        annotate(space, pod, ",".join(f"{name}@{link}" for link, name in wishes[pod].items()))
        if turn == 40:
            plugging.restart()
        if turn == 70:
            plugging.wait_rolled_out()
            kill_daemons(node)
    plugging.wait_rolled_out()

    for pod, links in wishes.items():
        wait_for(space, pod, **links)
