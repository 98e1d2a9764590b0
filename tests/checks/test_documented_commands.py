"""Every command that a document shows in a block is run by a test, or stands here with what runs it or with the reason why none does.
(Blocks after `<!-- run: ... -->` are run as they stand: tests/harness/docs/guide.py.) Of commands in running text, targets, scripts and
files exist; tests/node/test_reference.py asks the programs for theirs."""

import os
import re
from pathlib import Path

import pytest
from harness.docs import guide

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(<!-- run: \w+ -->\n)?```(\w*)\n(.*?)^```$", re.M | re.S)
# What a command line begins with; other lines are output, pictures or files.
COMMAND = re.compile(r"(?:\$ )?((?:[A-Z_]+=\S+ )*(?:apt|build/|cmake|cni-node|ctr|curl|echo|helm|kube-watch|kubectl|make|minisign|"
                     r"multus-daemon|multusctl|openssl|podman|scripts/|set|sha256sum|skopeo|/usr/bin/python3|systemctl)\b[^:].*)")
# How a command begins: the file that runs it, or why none does.
RUN_BY = {
    "README.md": {"make demo": "tests/node/test_demo.py", "make test": "it runs all of this"},
    "CONTRIBUTING.md": {"cmake --preset dev": "the build that people have at hand", "make test": "it runs all of this",
                        "make lint": "a target of its own, of minutes", "make tsan": "a target of its own, of minutes"},
    "docs/lint.md": {"multusctl lint": "tests/node/test_multusctl.py"},
    "docs/operating.md": {"multus-daemon -check": "tests/node/test_self_check.py",
                          "kubectl annotate --overwrite": "tests/node_e2e/test_annotation_hotplug.py"},
    "docs/scale.md": {"make bench-fleet": "a target of its own, of minutes", "set -a": "the same"},
    "docs/single-machine.md": {"apt install": "tests/packages/test_packages.py"},
    "docs/testing.md": {"build/asan/tests/cni_test": "a part of scripts/run-tests unit", "MNET_BIN=build/asan/bin": "a part of node-asan",
                        "MULTUS_VECTORS=": "names a folder of the reader's", "scripts/fuzz": "scripts/run-tests",
                        "MNET_BIN=build/release/bin scripts/peer": "scripts/run-tests", "scripts/readers": "scripts/run-tests"},
}


def without_comment(line):
    return re.sub(r"\s+# .*", "", line)


def run_as_they_stand():
    """The lines of all blocks that guide tests run."""
    return {without_comment(line) for name in DOCUMENTS for is_run, _, text in BLOCK.findall((ROOT / name).read_text()) if is_run
            for line in text.splitlines()}


def shown(name):
    """The commands in blocks that no guide test runs as they stand."""
    for is_run, language, text in BLOCK.findall((ROOT / name).read_text()):
        if not is_run and language in ("", "sh"):
            yield from (found[1] for line in text.splitlines() if (found := COMMAND.match(line)))


def words_of(document):
    """The words of each command that a document shows, in a block or in running text."""
    return [words.split() for words in guide.commands(ROOT / document) if words]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_is_run_or_has_a_reason(name):
    known, run = RUN_BY.get(name, {}), run_as_they_stand()
    commands = [command for command in shown(name) if without_comment(command) not in run]

    assert [command for command in commands if not command.startswith(tuple(known))] == []
    assert [start for start in known if not any(command.startswith(start) for command in commands)] == []


def test_what_runs_them_is_there():
    named = {why for rows in RUN_BY.values() for why in rows.values() if why.startswith(("tests/", "scripts/"))}

    assert named and [why for why in named if not (ROOT / why).is_file()] == []


@pytest.mark.parametrize("name", RUN_BY)
def test_what_runs_them_has_their_words(name):
    """Each word of the command is in the test that is said to run it."""
    rows = {start: (ROOT / why).read_text() for start, why in RUN_BY[name].items() if why.startswith("tests/")}

    assert [(start, word) for start, text in rows.items() for word in start.split()[1:] if word not in text] == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_targets_scripts_and_files_of_commands_exist(name):
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.M))
    for words in words_of(name):
        if words[0] == "make" and len(words) > 1:
            assert targets & {*words}, words
        if words[0].startswith("scripts/") and len(words) > 1:
            assert os.access(ROOT / words[0], os.X_OK), words
        for word in words:
            if re.match(r"(deploy|docs|scripts|tests)/[\w./-]+$", word):
                assert (ROOT / word).exists(), words


def test_blocks_are_really_read():
    assert "make demo     # builds" in " ".join(shown("README.md"))
