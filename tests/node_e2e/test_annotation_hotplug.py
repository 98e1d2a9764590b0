"""Hot-plug by annotation under the kubelet (05, 3): kubectl annotate changes the networks of pods that run."""

import json
import random

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.objects import NETWORKS, STATUS

pytestmark = pytest.mark.ours


@pytest.fixture
def plugging(multus, leaks):
    multus.configure(hotplug=True)
    yield multus
    multus.configure(hotplug=None)


def annotate(space, pod, text):
    space.kubectl("annotate", "--overwrite", "pod", pod, f"{NETWORKS}={text}")


def links_in_status(space, pod):
    text = space.get("pod", pod)["metadata"]["annotations"].get(STATUS, "[]")
    return {entry["interface"]: entry["name"].split("/")[-1] for entry in json.loads(text)}


def wait_for(space, pod, **links):
    def is_so():
        status = links_in_status(space, pod)
        return space.addresses(pod).keys() == {"eth0", *links} and \
            {link: name for link, name in status.items() if link != "eth0"} == links
    until(is_so, lambda: f"{links}: {space.addresses(pod)}, {links_in_status(space, pod)}", timeout=60)


def test_annotations_attach_replace_and_detach(plugging, space):
    space.network("red", networks.ptp("red", "10.61.0.0/24"))
    space.network("blue", networks.ptp("blue", "10.62.0.0/24"))
    space.pod("web")

    annotate(space, "web", "red@net1")
    wait_for(space, "web", net1="red")
    annotate(space, "web", "blue@net1")
    wait_for(space, "web", net1="blue")
    annotate(space, "web", "")
    wait_for(space, "web")


def test_random_edits_with_a_roll_in_between_end_with_what_the_last_ones_say(plugging, space):
    space.network("red", networks.ptp("red", "10.61.0.0/24"))
    space.network("blue", networks.ptp("blue", "10.62.0.0/24"))
    pods = [f"web{number}" for number in range(10)]
    for pod in pods:
        space.pod(pod)
    dice = random.Random(11)
    wishes = {pod: {} for pod in pods}
    for turn in range(100):
        pod = dice.choice(pods)
        wishes[pod] = dict(zip(dice.sample(["net1", "net2"], dice.randint(0, 2)), dice.sample(["red", "blue"], 2)))
        annotate(space, pod, ",".join(f"{name}@{link}" for link, name in wishes[pod].items()))
        if turn == 40:
            plugging.restart()
        if turn == 70:
            plugging.system.kubectl("delete", "pod", "-l", "name=multus", "--grace-period=0", "--force")
    plugging.wait_rolled_out()

    for pod, links in wishes.items():
        wait_for(space, pod, **links)
