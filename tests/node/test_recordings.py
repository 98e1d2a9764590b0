"""Requests recorded from the original, all of them, replayed against our daemon with the objects beside them.

What differs on purpose stands in tests/data/recordings/README.md.
"""

import base64
import json
from pathlib import Path

import pytest

from harness.evidence.recordings import AFTER_ADD, CONTAINER, RECORDINGS, cause, recorded, recorded_status, replay, settled

CNI_DIR = "/var/lib/cni/multus"
RESULTS = [f"primary-{CONTAINER}-eth0", f"mac1-{CONTAINER}-net1", f"br1-{CONTAINER}-net2"]


@pytest.fixture
def recorded_node(host, objects, daemons):
    """The node of the recordings: its cluster network in a file, its pod and definitions, its namespace by name."""
    host.write("/host/etc/cni/net.d/10-primary.conflist", (RECORDINGS / "10-primary.conflist").read_bytes())
    host.add_bridge("nodebr")
    objects.write("objects.yaml", (RECORDINGS / "objects.yaml").read_bytes(), pods=1, networks=2)
    host.add_pod("cap0")
    return daemons(socketDir="/run/multus-cap")


@pytest.fixture
def cap0(host, recorded_node):
    return host.pods[0]


@pytest.mark.parametrize("folder", ["status-110", "gc-110", "del-unknown", "del-again"])
def test_answers_equal_the_originals(recorded_node, folder):
    probe = "readyz" if folder in ("status-110", "gc-110") else "healthz"
    ours, theirs = replay(recorded_node, folder, probe)
    assert (ours.status, ours.body) == (theirs.status, theirs.body)

    ours, theirs = replay(recorded_node, folder)

    assert (ours.status, ours.body) == (theirs.status, theirs.body)


@pytest.mark.parametrize("add, delete", [("add-031", "del-031"), ("add-110", "del-110")])
def test_add_equals_the_originals(recorded_node, cap0, add, delete):
    """The answer is the cluster network's result; the pod has its other two networks besides."""
    ours, theirs = replay(recorded_node, add)

    assert ours.status == theirs.status == 200
    assert settled(ours.body) == settled(theirs.body)
    assert cap0.links() == {"eth0", "net1", "net2"}
    ours, theirs = replay(recorded_node, delete)
    assert (ours.status, ours.body) == (theirs.status, theirs.body)
    assert cap0.links() == set()


def test_stored_results_equal_the_originals(host, recorded_node):
    replay(recorded_node, "add-031")

    for name in RESULTS:
        ours = json.loads(host.path(f"{CNI_DIR}/results/{name}").read_text())
        theirs = json.loads((AFTER_ADD / name).read_text())
        for entry in (ours, theirs):
            entry["result"] = json.loads(settled(json.dumps(entry["result"], separators=(",", ":")).encode()))
            entry["cniArgs"] = dict(entry["cniArgs"])
            entry["config"] = json.loads(base64.b64decode(entry["config"]))
        assert ours == theirs
    replay(recorded_node, "del-031")


def test_the_scratch_file_has_the_originals_shape(host, recorded_node):
    replay(recorded_node, "add-031")

    ours = json.loads(host.path(f"{CNI_DIR}/{CONTAINER}").read_text())
    theirs = json.loads((AFTER_ADD / "scratch").read_text())

    assert [list(element) for element in ours] == [list(element) for element in theirs]  # members and their order
    for element in ours + theirs:
        element["Bytes"] = json.loads(base64.b64decode(element["Bytes"]))
    assert ours == theirs
    replay(recorded_node, "del-031")


def test_network_status_and_events_equal_the_originals(objects, recorded_node):
    replay(recorded_node, "add-031")

    assert settled(objects.status_text("p2").encode()) == settled(recorded_status())
    (ours,) = objects.wait_events(1, "p2")
    recorded_event = json.loads((AFTER_ADD / "events.json").read_text())[0]
    for member in ("apiVersion", "kind", "reason", "type", "reportingComponent", "source"):
        assert ours[member] == recorded_event[member]
    assert ours["involvedObject"]["uid"] == recorded_event["involvedObject"]["uid"]
    # One of ours has what the original sends as one for each interface.
    assert settled(ours["message"].split("; ")[1].encode()) == settled(recorded_event["message"].encode())
    replay(recorded_node, "del-031")


def test_add_again_gives_the_stored_result(recorded_node):
    """Pain 21: an error in the original."""
    first, _ = replay(recorded_node, "add-110")

    ours, theirs = replay(recorded_node, "add-again-110")

    assert theirs.status == 400 and b"interface name eth0 already exists" in theirs.body
    assert (ours.status, ours.body) == (200, first.body)
    replay(recorded_node, "del-110")


@pytest.mark.parametrize("folder", ["add-bad-network", "add-wrong-uid"])
def test_refusals_have_the_originals_text(recorded_node, cap0, folder):
    ours, theirs = replay(recorded_node, folder)

    assert ours.status == theirs.status == 400
    assert cause(ours.body).startswith(cause(theirs.body))  # ours adds the cause (02-F15)
    assert cap0.links() == set()
    replay(recorded_node, "del-110")


def test_a_pod_in_no_file_is_served(recorded_node, cap0):
    """The original drops the connection; with a folder it is a pod without annotations (00-index)."""
    ours = recorded_node.raw(recorded("add-no-pod", "cni.request"))

    assert recorded("add-no-pod", "cni.response") == b""
    assert ours.status == 200
    assert cap0.links() == {"eth0"}
    replay(recorded_node, "del-110")


def test_check_of_what_was_added(recorded_node, cap0):
    replay(recorded_node, "add-110")

    ours, theirs = replay(recorded_node, "check-100")

    assert (ours.status, ours.body) == (theirs.status, theirs.body)
    replay(recorded_node, "del-110")


def test_without_arguments_a_folder_of_objects_suffices(recorded_node):
    """00-index: the original refuses, ours serves it from the configuration."""
    ours, theirs = replay(recorded_node, "add-no-args")

    assert theirs.status == 400 and ours.status == 200
    replay(recorded_node, "del-110")


def test_every_recorded_request_is_replayed_here():
    folders = {path.name for path in RECORDINGS.iterdir() if path.is_dir()} - {"state-after-add", "version"}
    assert {name for name in folders if f'"{name}"' not in Path(__file__).read_text()} == set()


@pytest.fixture
def attached_by_the_original(host, recorded_node, cap0):
    """A pod as the original leaves it: attached, with the original's records instead of ours."""
    replay(recorded_node, "add-031")
    for name in RESULTS:
        theirs = json.loads((AFTER_ADD / name).read_text())
        ours = json.loads(host.path(f"{CNI_DIR}/results/{name}").read_text())
        theirs["result"] = ours["result"]  # the names and addresses of this run
        host.write(f"{CNI_DIR}/results/{name}", theirs)
    host.write(f"{CNI_DIR}/{CONTAINER}", (AFTER_ADD / "scratch").read_bytes())
    host.path(f"{CNI_DIR}/_attachments/{CONTAINER}.json").unlink()
    return cap0


@pytest.mark.spec("02:120")
@pytest.mark.parametrize("without", [None, "scratch", "results"])
def test_what_the_original_attached_is_deleted_from_its_records(host, recorded_node, attached_by_the_original, without):
    """02, 6.1 and 6.2: upgrade with running pods."""
    if without == "scratch":
        host.path(f"{CNI_DIR}/{CONTAINER}").unlink()
    if without == "results":
        for name in RESULTS:
            host.path(f"{CNI_DIR}/results/{name}").unlink()

    ours, theirs = replay(recorded_node, "del-031")

    assert (ours.status, ours.body) == (theirs.status, theirs.body)
    assert attached_by_the_original.links() == set()
    assert host.files_below(CNI_DIR) == []


def test_what_the_original_attached_is_checked(recorded_node, attached_by_the_original):
    ours, theirs = replay(recorded_node, "check-100")

    assert (ours.status, ours.body) == (theirs.status, theirs.body)
    replay(recorded_node, "del-031")


def test_version_is_answered_by_the_shim_alone(host, shim):
    folder = RECORDINGS / "version"

    outcome = shim.call("VERSION", (folder / "stdin.json").read_text())

    assert outcome.exit == int((folder / "exit").read_text())
    assert outcome.stdout == (folder / "stdout").read_text()


@pytest.mark.parametrize("folder", ["status-110", "gc-110", "del-unknown"])
def test_our_shim_behaves_as_the_originals(host, recorded_node, shim, folder):
    command = folder.split("-", maxsplit=1)[0].upper()
    stdin = (RECORDINGS / folder / "stdin.json").read_text()

    outcome = shim.call(command, stdin, container_id=CONTAINER, netns="/var/run/netns/cap0")

    assert outcome.exit == int((RECORDINGS / folder / "exit").read_text())
    assert outcome.stdout == (RECORDINGS / folder / "stdout").read_text()
