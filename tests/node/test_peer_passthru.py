"""passthru of the original beside ours, as a container runtime calls it. Ours knows versions below 0.3.0, too (02, 3.9), and reads
nothing of its configuration but the version."""

import json

import pytest

from harness.cluster.peer import BOTH, needs_original, plugin_of
from harness.node.netconf import netconf

pytestmark = needs_original("passthru")

COMMANDS = ["ADD", "CHECK", "DEL", "STATUS", "GC"]
PREVIOUS = {"cniVersion": "0.3.1", "interfaces": [{"name": "eth0"}], "dns": {"nameservers": ["10.9.0.9"]}}
CONF = {"cniVersion": "1.0.0", "name": "x", "type": "passthru"}


@pytest.fixture
def ask(host, program, pod):
    """The whole answers of ours and of the original."""
    program("passthru")
    plugins = [plugin_of(host, who, "passthru") for who in BOTH]

    def both(command="ADD", conf=None, **given):
        outcomes = [plugin.call(command, CONF if conf is None else conf, pod, **given) for plugin in plugins]
        return [(outcome.exit, outcome.stdout, outcome.stderr) for outcome in outcomes]
    return both


@pytest.mark.parametrize("version", ["0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"])
def test_every_command_is_answered_alike(ask, version):
    conf = {**CONF, "cniVersion": version, "prevResult": PREVIOUS, "cni.dev/valid-attachments": []}
    for command in COMMANDS:
        ours, theirs = ask(command, conf)

        assert ours == theirs, command
    assert ask("ADD", conf)[0] == (0, f'{{\n    "cniVersion": "{version}"\n}}', "")


BAD = {
    "an unknown command": {"command": "FOO"}, "no container": {"container_id": ""}, "a bad container": {"container_id": "a/b"},
    "no namespace": {"netns": ""}, "DEL without one": {"command": "DEL", "netns": ""}, "no interface": {"ifname": ""},
    "a long interface": {"ifname": "a" * 16}, "..": {"ifname": ".."}, "no path": {"path": ""}, "arguments": {"args": "A=1"},
    "bad arguments": {"args": "A"}, "no name": {"conf": {"cniVersion": "1.0.0", "type": "x"}}, "null": {"conf": "null"},
    "a bad name": {"conf": CONF | {"name": "a b"}}, "unknown keys": {"conf": netconf(version="1.0.0")}}


def test_bad_calls_get_the_same_words(ask):
    for what, given in BAD.items():
        ours, theirs = ask(**given)

        assert ours == theirs, what


MALFORMED = {"nothing": b"", "half an object": "{", "a list": "[]", "a number as version": CONF | {"cniVersion": 7},
             "a future version": CONF | {"cniVersion": "9.9.9"}, "no version at all": CONF | {"cniVersion": "x"}}


def test_malformed_input_gets_the_same_code(ask):
    """Words of Go's JSON reader are not ours, nor is its list of versions."""
    for what, conf in MALFORMED.items():
        (our_exit, ours, _), (their_exit, theirs, _) = ask(conf=conf)

        assert our_exit == their_exit == 1, what
        assert json.loads(ours)["code"] == json.loads(theirs)["code"], what


def test_ours_takes_the_oldest_versions_and_minds_only_what_it_uses(ask):
    (ours, theirs), (about_ours, about_theirs) = ask("VERSION"), ask("")
    assert json.loads(ours[1])["supportedVersions"] == ["0.1.0", "0.2.0", *json.loads(theirs[1])["supportedVersions"]]
    assert about_ours[2].replace("0.1.0, 0.2.0, ", "") == about_theirs[2]

    for conf in (CONF | {"cniVersion": "0.2.0"}, CONF | {"dns": 7}, CONF | {"prevResult": 7}):
        (ours, *_), (theirs, *_) = ask(conf=conf)
        assert (ours, theirs) == (0, 1), conf
