"""What was recorded from the original on a real node, replayed against our daemon with the same objects in a real API server.
The server chooses the pod's UID; all else is equal."""

import json
import re

import pytest

from harness.cluster.control_plane import ROOT
from harness.evidence.recordings import AFTER_ADD, RECORDINGS, cause, recorded, recorded_status, replay, settled
from harness.machine.wait import until


@pytest.fixture
def recorded_node(node, host, cluster):
    """The node of the recordings; its pod and definitions are made with kubectl."""
    host.write("/host/etc/cni/net.d/10-primary.conflist", (RECORDINGS / "10-primary.conflist").read_bytes())
    host.add_bridge("nodebr")
    host.add_pod("cap0")
    objects = re.sub(r"(?m)^  uid: .*\n", "", (RECORDINGS / "objects.yaml").read_text())
    objects = objects.replace("spec:\n  containers:", f"spec:\n  nodeName: {node.space.node}\n  containers:", 1)
    cluster.kubectl("apply", "-f", "-", stdin=objects)
    node.start(socketDir="/run/multus-cap")
    yield node
    cluster.kubectl("delete", "--force", "--grace-period=0", "--wait=false", "-f", "-", stdin=objects)
    cluster.request("DELETE", "/api/v1/namespaces/default/events")


@pytest.fixture
def cap0(host, recorded_node):
    return host.pods[0]


@pytest.fixture
def ask(recorded_node, cluster):
    """Replays one recording: our answer and the original's."""
    uid = cluster.get("/api/v1/namespaces/default/pods/p2")["metadata"]["uid"].encode()
    return lambda folder: replay(recorded_node.daemon, folder, uid=uid)


@pytest.mark.parametrize("add, delete", [("add-031", "del-031"), ("add-110", "del-110")])
def test_add_and_del_equal_the_originals(ask, cap0, add, delete):
    ours, theirs = ask(add)

    assert (ours.status, settled(ours.body)) == (theirs.status, settled(theirs.body))
    assert cap0.links() == {"eth0", "net1", "net2"}
    ours, theirs = ask(delete)
    assert (ours.status, ours.body) == (theirs.status, theirs.body)
    assert cap0.links() == set()


def test_status_and_events_equal_the_originals(ask, cluster, recorded_node):
    ask("add-031")

    pod = json.loads(cluster.kubectl("get", "pod", "p2", "-o", "json"))
    status = pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"]
    assert settled(status.encode()) == settled(recorded_status())
    event = until(lambda: event_of(cluster, pod["metadata"]["uid"]), "the event")
    theirs = [event for event in json.loads((AFTER_ADD / "events.json").read_text())
              if event["reportingComponent"] == "multus"]
    # The original's three, in one (02, 5.6).
    parts = [{**event, "message": message} for message in event["message"].split("; ")]
    assert {said(event) for event in theirs} <= {said(part) for part in parts}
    ask("del-031")


def said(event):
    return (*(event[member] for member in ("apiVersion", "kind", "reason", "type", "reportingComponent")),
            event["source"]["component"], settled(event["message"].encode()))


def event_of(cluster, uid):
    """Of this pod: those of one before it may come late."""
    shown = [event for event in json.loads(cluster.kubectl("get", "events", "-o", "json"))["items"]
             if event["involvedObject"]["uid"] == uid]
    return shown[0] if len(shown) == 1 else None


def test_add_again_gives_the_stored_result(ask):
    """Pain 21: an error in the original."""
    first, _ = ask("add-110")

    ours, _ = ask("add-again-110")

    assert (ours.status, ours.body) == (200, first.body)
    ask("del-110")


def test_check_of_what_was_added_equals_the_originals(ask):
    ask("add-110")

    ours, theirs = ask("check-100")

    assert (ours.status, ours.body) == (theirs.status, theirs.body)
    ask("del-110")


@pytest.mark.parametrize("folder", ["del-again", "del-unknown", "gc-110", "status-110"])
def test_what_needs_no_pod_equals_the_originals(ask, folder):
    ours, theirs = ask(folder)

    assert (ours.status, ours.body) == (theirs.status, theirs.body)


def test_a_request_without_arguments_is_refused(ask, cap0):
    ours, theirs = ask("add-no-args")

    assert ours.status == theirs.status == 400
    assert cap0.links() == set()


def test_a_request_with_another_uid_gets_the_originals_answer(ask, cap0):
    ours, theirs = ask("add-wrong-uid")

    def any_uid(answer):
        return re.sub(rb'but got "[0-9a-f-]+"', b'but got "U"', cause(answer.body))
    assert (ours.status, any_uid(ours)) == (theirs.status, any_uid(theirs))
    assert cap0.links() == set()


def test_a_missing_cluster_network_has_the_originals_text(ask, cap0):
    ours, theirs = ask("add-bad-network")

    assert ours.status == theirs.status == 400
    assert cause(ours.body).startswith(cause(theirs.body))  # ours adds the cause (02-F15)
    assert cap0.links() == set()
    ask("del-110")


@pytest.mark.spec("02:113")
def test_a_pod_that_is_not_there_gets_an_answer(recorded_node, cap0):
    """The original drops the connection."""
    ours = recorded_node.daemon.raw(recorded("add-no-pod", "cni.request"))

    assert recorded("add-no-pod", "cni.response") == b""
    assert ours.status == 200 and b"0.0.0.0/0" in ours.body
    assert cap0.links() == set()


def test_every_recorded_request_is_replayed_here():
    folders = {path.name for path in RECORDINGS.iterdir() if path.is_dir()} - {"state-after-add", "version"}
    text = (ROOT / "tests" / "cluster" / "test_recorded_pods.py").read_text()
    assert {name for name in folders if f'"{name}"' not in text} == set()
