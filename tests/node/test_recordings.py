"""Requests recorded from the original, replayed against our daemon as far as they need no API server.

What differs on purpose stands in tests/data/recordings/README.md.
"""

import json
import re
from pathlib import Path

import pytest
from harness import unix_http

RECORDINGS = Path(__file__).resolve().parents[1] / "data" / "recordings"
CONTAINER = "0123456789abcdef" * 4


def recorded(folder, name):
    (path,) = (RECORDINGS / folder).glob(f"*-{name}")
    return path.read_bytes()


def replay(daemon, folder, name="cni"):
    """Our answer and the recorded one."""
    return (daemon.raw(recorded(folder, f"{name}.request")),
            unix_http.parse(recorded(folder, f"{name}.response")))


@pytest.fixture
def recorded_node(host, daemons):
    """The node of the recordings: its cluster network in a file, its namespace by name."""
    host.write("/host/etc/cni/net.d/10-primary.conflist", (RECORDINGS / "10-primary.conflist").read_bytes())
    host.add_pod("cap0")
    return daemons(socketDir="/run/multus-cap")


@pytest.mark.parametrize("folder", ["status-110", "gc-110", "del-unknown", "del-again"])
def test_answers_equal_the_originals(recorded_node, folder):
    probe = "readyz" if folder in ("status-110", "gc-110") else "healthz"
    ours, theirs = replay(recorded_node, folder, probe)
    assert (ours.status, ours.body) == (theirs.status, theirs.body)

    ours, theirs = replay(recorded_node, folder)

    assert (ours.status, ours.body) == (theirs.status, theirs.body)


def settled(result):
    """What every run makes anew is replaced; the rest must be equal."""
    text = re.sub(rb'"mac":"[0-9a-f:]+"', b'"mac":"M"', result)
    text = re.sub(rb'"veth[0-9a-f]+"', b'"veth"', text)
    return re.sub(rb"10\.244\.0\.\d+/24", b"10.244.0.N/24", text)


@pytest.mark.parametrize("add, delete", [("add-031", "del-031"), ("add-110", "del-110")])
def test_add_of_the_cluster_network_equals_the_originals(host, recorded_node, add, delete):
    """The folder of objects holds no such pod: it is attached to the cluster network alone, whose result is
    the answer in both."""
    ours, theirs = replay(recorded_node, add)

    assert ours.status == theirs.status == 200
    assert settled(ours.body) == settled(theirs.body)
    ours, theirs = replay(recorded_node, delete)
    assert (ours.status, ours.body) == (theirs.status, theirs.body)


def test_the_stored_result_equals_the_originals(host, recorded_node):
    replay(recorded_node, "add-031")
    name = f"primary-{CONTAINER}-eth0"

    ours = json.loads(host.path(f"/var/lib/cni/multus/results/{name}").read_text())
    theirs = json.loads((RECORDINGS / "state-after-add" / name).read_text())

    for entry in (ours, theirs):
        entry["result"] = json.loads(settled(json.dumps(entry["result"], separators=(",", ":")).encode()))
        entry["cniArgs"] = dict(entry["cniArgs"])
    assert ours == theirs
    replay(recorded_node, "del-031")


def test_check_of_what_was_added(recorded_node):
    replay(recorded_node, "add-110")

    ours, theirs = replay(recorded_node, "check-100")

    assert (ours.status, ours.body) == (theirs.status, theirs.body)
    replay(recorded_node, "del-110")


def test_without_arguments_a_folder_of_objects_suffices(recorded_node):
    """00-index: the original refuses, ours serves it from the configuration."""
    ours, theirs = replay(recorded_node, "add-no-args")

    assert theirs.status == 400 and ours.status == 200
    replay(recorded_node, "del-110")


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
