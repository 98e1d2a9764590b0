"""The examples of kube-watch on a whole node: their logs are what the pods' users see of them."""

import json
import re

import pytest

from harness.cluster.control_plane import ROOT
from harness.images import image
from harness.machine.wait import until
from harness.whole_node.installation import image_archive
from harness.whole_node.pod_space import PodSpace

EXAMPLES = ROOT / "deploy" / "kube-watch"
LOGGED = """### Channel data ###
{current}
###
### Channel data diff ###
{diff}
###
Handling channel data with /usr/share/kube-watch/handler...
Channel: /var/run/kube-watch/channel
Current fruits: {current}
Previous fruits: {previous}
"""
UNENDED = "\\ No newline at end of file"
FIRST, NEXT = "orange,apple,banana", "orange,mango,banana"
FIRST_LOGGED = LOGGED.format(current=FIRST, previous="", diff=f"@@ -0,0 +1 @@\n+{FIRST}\n{UNENDED}")
NEXT_LOGGED = LOGGED.format(current=NEXT, previous=FIRST, diff=f"@@ -1 +1 @@\n-{FIRST}\n{UNENDED}\n+{NEXT}\n{UNENDED}")


@pytest.fixture(scope="module")
def kube_watch_image(node, programs):
    node.load_image(image_archive("kube-watch", programs, node.folder / "images"))


class Example:
    """A Deployment of the same name as its file."""

    def __init__(self, space, name):
        self.space = space
        self.name = name
        self.text = (EXAMPLES / f"{name}.yaml").read_text()

    def apply(self):
        self.space.kubectl("apply", "-f", "-", stdin=self.text)
        self.space.kubectl("rollout", "status", f"deployment/{self.name}", "--timeout=240s")

    def log(self):
        return self.space.kubectl("logs", f"deployment/{self.name}", "--tail=-1")

    def delete(self):
        self.space.kubectl("delete", "--wait", "-f", "-", stdin=self.text)
        self.space.kubectl("wait", "--for=delete", "pod", "-l", f"app={self.name}", "--timeout=180s", check=False)


@pytest.mark.ours
@pytest.mark.spec("04:120")
def test_fruits_are_shown_with_their_differences(kube_watch_image, space):
    example = Example(space, "kube-watch-fruits")
    example.apply()
    until(lambda: "Previous fruits" in example.log(), example.log)
    assert example.log().endswith(FIRST_LOGGED)

    space.kubectl("patch", "configmap", "kube-watch-fruits", "--patch", json.dumps({"data": {"fruits": NEXT}}))

    until(lambda: example.log().count("Previous fruits") == 2, example.log)
    assert example.log().endswith(FIRST_LOGGED + NEXT_LOGGED)
    example.delete()


@pytest.fixture
def default(multus, leaks):
    return PodSpace(multus.cluster, "default")


@pytest.fixture
def pods(multus):
    """The example's pods, of an image that the node has."""
    cluster = multus.cluster
    text = re.sub(r'"registry.k8s.io/pause:\S+"', image.PAUSE, (EXAMPLES / "pods.yaml").read_text())
    cluster.kubectl("apply", "-f", "-", stdin=text)
    yield [PodSpace(cluster, "n1"), PodSpace(cluster, "n2")]
    cluster.kubectl("delete", "--wait", "--grace-period=2", "-f", "-", stdin=text)


def calls(log):
    """Of the handler: what it was told, in pairs."""
    return re.findall(r"^Current: (.*)\nPrevious: (.*)$", log, re.MULTILINE)


def last_told(log):
    return {current[:2]: current for current, _ in calls(log)}


def versions(pods):
    """Name and version of the pods that the example is to report."""
    found = [pod["metadata"] for space in pods for pod in space.items("pods", "-l", "purpose=a")]
    return {pod["name"]: pod["name"] + pod["resourceVersion"] for pod in found}


@pytest.mark.ours
@pytest.mark.spec("04:120")
def test_pods_of_all_namespaces_are_shown_by_their_label(kube_watch_image, default, pods):
    example = Example(default, "kube-watch-pods")
    example.apply()
    for space in pods:
        space.wait_ready("pod", "--all")
        space.kubectl("annotate", "pod", "--all", "seen=twice")

    until(lambda: last_told(example.log()) == versions(pods), lambda: f"{versions(pods)}:\n{example.log()}")

    told = {}
    for current, previous in calls(example.log()):
        assert previous == told.get(current[:2], "")
        told[current[:2]] = current
    assert told.keys() == {"a1", "a2"}
    example.delete()
