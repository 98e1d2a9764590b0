"""The original's shim and thin program beside ours, on a node without a cluster: the original's daemon needs one, so it is in
tests/cluster/test_peer_daemon.py."""

import json
import shutil

import pytest

from harness.cluster.peer import BOTH, ORIGINAL, OURS, answer, needs_the_original, plugin_of, program_of, settled
from harness.evidence.leaks import IPAM_DIR
from harness.node import networks
from harness.node.netconf import netconf
from harness.node.pods import CNI_DIR

pytestmark = needs_the_original

LIST = networks.conflist(networks.macvlan("extra", "nodebr", "10.10.2.0/24"), networks.TUNING)


@pytest.fixture
def shims(host, program):
    program("multus-shim")
    return {who: plugin_of(host, who, "multus-shim") for who in BOTH}


@pytest.fixture
def thin(host, program):
    program("multus")
    host.add_bridge("nodebr")
    return {who: plugin_of(host, who, "multus") for who in BOTH}


@pytest.mark.spec("03:94")
@pytest.mark.parametrize("version", ["0.3.1", "0.4.0", "1.0.0"])
def test_the_originals_shim_gets_from_our_daemon_what_ours_gets(node, shims, version):
    node.host.add_bridge("uplink")
    node.network("mac", networks.macvlan("mac", "uplink", version=version))
    node.configure(networks.bridge(version=version), version=version)
    seen = {}
    for who, shim in shims.items():
        shutil.rmtree(node.host.path(IPAM_DIR), ignore_errors=True)  # addresses start anew
        pod = node.pod("mac")
        node.shim = shim
        commands = ["ADD", *(["CHECK"] if version != "0.3.1" else []), "DEL", "DEL", "VERSION"]
        seen[who] = [answer(pod.call(command), pod) for command in commands]
        seen[who].append(answer(pod.call("STATUS", {**node.conf, "cniVersion": "1.1.0"}), pod))
        assert pod.links() == set()

    assert seen[OURS] == seen[ORIGINAL]
    assert seen[OURS][0][0] == 0


@pytest.mark.spec("05:67")
@pytest.mark.leaves("record */_attachments/*")  # the original knows nothing of them
def test_the_original_deletes_the_rest_after_one_was_unplugged(node, thin):
    conf = netconf(networks.bridge(), networks.macvlan(), LIST)
    pod = node.pod()
    assert pod.add(conf).ok
    assert pod.links() == {"eth0", "net1", "net2"}
    assert pod.delegate("DEL", networks.macvlan(), "net1").status == 200
    assert pod.links() == {"eth0", "net2"}

    deleted = thin[ORIGINAL].delete({**conf, "type": "multus"}, pod, container_id=pod.container_id)

    assert deleted.ok, deleted
    assert pod.links() == set()
    assert [name for name in pod.remembered() if not name.startswith("_")] == []
    pod.is_added = False


BAD_INPUT = {
    "no command": {"command": ""}, "an unknown one": {"command": "FOO"}, "no container": {"container_id": ""},
    "a bad container": {"container_id": "a/b"}, "no namespace": {"netns": ""}, "no interface": {"ifname": ""},
    "a long interface": {"ifname": "a" * 16}, "..": {"ifname": ".."}, "no path": {"path": ""},
    "nothing": {"conf": b""}, "half an object": {"conf": "{"}, "no name": {"conf": {"cniVersion": "1.0.0", "type": "x"}},
    "a bad name": {"conf": netconf(version="1.0.0") | {"name": "a b"}}, "a future version": {"conf": netconf(version="9.9.9")},
    "GC of 1.0.0": {"command": "GC"}, "STATUS of 1.0.0": {"command": "STATUS"}, "VERSION": {"command": "VERSION"},
    "VERSION without input": {"command": "VERSION", "conf": b""}}


@pytest.mark.spec("03:94")
def test_bad_input_gets_the_originals_answer_from_our_shim(shims, pod):
    """No daemon is asked."""
    def ask(shim, command="ADD", conf=None, **given):
        outcome = shim.call(command, netconf() if conf is None else conf, pod, **given)
        if outcome.stdout.startswith("{"):
            told = json.loads(outcome.stdout)
            return outcome.exit, sorted(told), told.get("code")
        return outcome.exit, outcome.stdout
    ours, theirs = ({what: ask(shims[who], **given) for what, given in BAD_INPUT.items()} for who in BOTH)

    assert ours == theirs
    assert {told[2] for told in theirs.values() if told[0] == 1} == {1, 4, 6, 7}


def attached(thin, pod, conf, first, second):
    """ADD by one, CHECK and DEL by the other; the answer to ADD and the files that were there then."""
    added = thin[first].add(conf, pod)
    assert added.ok, added
    files = pod.host.files_below(CNI_DIR)
    assert pod.links() == {"eth0", "net1", "net2"}
    assert thin[second].check(conf, pod).ok
    assert thin[second].delete(conf, pod).ok
    assert pod.links() == set()
    left = pod.host.files_below(CNI_DIR)
    assert [name for name in left if not name.startswith("_")] == []
    return added, [name for name in files if not name.startswith("_")]


@pytest.mark.leaves("record */_attachments/*")  # of the one that the original deletes
def test_each_thin_program_deletes_what_the_other_added(host, thin):
    conf = netconf(networks.bridge(), networks.macvlan(), LIST, type="multus")
    first, second = host.add_pod(), host.add_pod()

    theirs, their_files = attached(thin, first, conf, ORIGINAL, OURS)
    shutil.rmtree(host.path(IPAM_DIR))  # addresses start anew
    ours, our_files = attached(thin, second, conf, OURS, ORIGINAL)

    assert settled(ours.result, second) == settled(theirs.result, first)
    assert settled(our_files, second) == settled(their_files, first)


FLAGS = ["", "-v", "--v", "-version", "--version", "-v=true", "-v=false", "-version=0", "-v=maybe", "-h", "-help", "--help", "-x", "--nosuch",
         "-nosuch=1", "word", "-", "--", "---v", "-=x", "-version word", "word -version"]
OF_DAEMON = ["-config=/none", "--config=/none", "-config /none", "-config", "-config=/etc/passwd", "-config=/etc", "-config=", "word -config",
             "-- -config", "-version -config=/none"]


@pytest.mark.parametrize("name", ["multus-shim", "multus", "multus-daemon"])
def test_the_same_command_lines_are_taken_and_refused(host, program, name):
    """Exit status, and where something is said; the version as one word of a line."""
    program(name)
    for line in FLAGS + OF_DAEMON * (name == "multus-daemon"):
        ours, theirs = (host.run(program_of(host, who, name), *line.split(), check=False) for who in BOTH)

        assert (ours.returncode, bool(ours.stderr)) == (theirs.returncode, bool(theirs.stderr)), f"{line}: {ours}\n{theirs}"
        assert ours.stdout.partition(" version:")[0] == theirs.stdout.partition(" version:")[0], line
        if ours.returncode == 2:
            assert "flag" in ours.stderr and "-version" in ours.stderr, line
