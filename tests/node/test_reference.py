"""docs/reference.md against the programs themselves. Together with scripts/checks/reference, which reads what the sources register, each
flag stands in all three: the parser, --help (of which manual pages are made) and the reference."""

import re
from pathlib import Path

import pytest
from harness.docs import guide
from harness.machine.host import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference.md"
# Go's way, `  -config string`, pflag's, `  -d, --dest-dir string`, and `  --name=value`.
SHOWN = re.compile(r"^\s{1,8}(--?[a-zA-Z][\w-]*)(?:,\s+(--?[a-zA-Z][\w-]*))?", re.MULTILINE)
NAMED = re.compile(r"`(--?[a-zA-Z][\w-]*)")
# `(default "x")` of the two libraries, in the flag's line or in the one after it, and `--name=/default` of the others.
DEFAULT = re.compile(r"^\s+(?:-\w(?:=\w)?, )?--?([\w-]+)[^\n]*\n?[^\n-]*\(default \"?([^\s\"),$]*[^\s\"):,$])", re.MULTILINE)
PRESET = re.compile(r"^\s+--([\w-]+)=([/\d]\S*)(?!.*\bdefault\b)", re.MULTILINE)
UNKNOWN = re.compile(r"flag provided but not defined|unknown flag|unknown shorthand|Unknown option")
# Words before the flags, such that each flag is taken after one of them.
BEFORE = {"cni-node": ([], ["install"], ["watch"], ["list"]), "kube-watch": (["object", "pods", "x"], ["file", "/x"])}
ALONE = {"multusctl": "--version"}  # taken as the only word


def section(program):
    found = re.search(rf"^### `{re.escape(program)}`$(.*?)(?=^##|\Z)", REFERENCE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{REFERENCE.name} has no section on {program}"
    return found[1]


def rows(program):
    """First and second cell of each row of the section's tables that is about flags."""
    cells = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in section(program).splitlines() if line.startswith("|")]
    return [(row[0], row[1]) for row in cells if row[0].startswith("`-")]


def bare(flag):
    return flag.lstrip("-")


def said(host, program, *words):
    done = host.run(f"{PROGRAMS}/{program}", *words, check=False)
    return done.stdout + done.stderr


def shown_by(host, program, *command):
    return {bare(flag) for pair in SHOWN.findall(said(host, program, *command, "--help")) for flag in pair if flag}


def named_for(program):
    """`-name value` is how a flag is written."""
    return {flag for flag in NAMED.findall(section(program)) if bare(flag) != "name"}


def takes(host, program, flag):
    """Nothing is done: the last word is wrong in any case."""
    if ALONE.get(program) == flag:
        return not UNKNOWN.search(said(host, program, flag))
    forms = [f"{flag}=1", *([flag] if program in BEFORE else [])]
    return any(not UNKNOWN.search(line) or flag not in re.findall(r"--?[\w-]+", line)
               for before in BEFORE.get(program, ([],)) for form in forms
               for line in said(host, program, *before, form, "--nosuch=1").splitlines()[:1])


@pytest.fixture
def all_programs(programs):
    found = sorted(path.name for path in programs.iterdir() if path.is_file() and path.stat().st_mode & 0o111)
    assert "multus-daemon" in found
    return found


def test_every_program_and_every_flag_that_it_shows_is_described(host, all_programs):
    missing = {program: sorted(shown_by(host, program) - {bare(flag) for flag in named_for(program)})
               for program in all_programs}

    assert {program: flags for program, flags in missing.items() if flags} == {}


def test_every_flag_that_is_described_is_taken(host, all_programs):
    unknown = {program: sorted(flag for flag in named_for(program) if not takes(host, program, flag))
               for program in all_programs if program != "passthru"}

    assert {program: flags for program, flags in unknown.items() if flags} == {}


def test_every_default_that_help_shows_is_described(host, all_programs):
    wrong, seen = [], 0
    for program in all_programs:
        help_text = said(host, program, "--help")
        for flag, default in DEFAULT.findall(help_text) + PRESET.findall(help_text):
            seen += 1
            cells = [second for first, second in rows(program) if flag in map(bare, NAMED.findall(first))]
            if not any(default in re.findall(r"[^\s`,;]+", cell) for cell in cells):
                wrong.append(f"{program} {flag}: {default}, not {cells}")

    assert wrong == [] and seen > 20


def described_commands(of, before, every):
    """Which commands of multusctl a cell means; None: prose."""
    named = set(re.findall(r"`([a-z]+)`", of))
    if of == "the same":
        return before
    if of.startswith("all but "):
        return every - named
    return every if of == "all" else named or None


def test_each_command_of_multusctl_has_the_flags_that_are_described(host, program):
    program("multusctl")
    every = set(re.findall(r"^  ([a-z]+) ", said(host, "multusctl", "--help").partition("Commands:")[2], re.MULTILINE))
    shown = {command: shown_by(host, "multusctl", command) for command in every}
    described, before = {command: set() for command in every}, None
    for first, of in rows("multusctl"):
        before = described_commands(of, before, every)
        for flag in map(bare, NAMED.findall(first)):
            for command in before if before is not None else {one for one in every if flag in shown[one]}:
                described[command].add(flag)

    assert described == shown
    assert {"lint", "gc", "man"} <= every


# Whose first word is a command.
WITH_COMMANDS = ("cni-node", "kube-watch", "multusctl")


def documented(program):
    """Every use of the program in README and docs, with words that a reader does not have to choose."""
    for document in [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for words in map(str.split, guide.commands(document)):
            if len(words) > 1 and words[0] == program and re.match(r"-|[a-z]+$", words[1]):
                yield words[1:]


@pytest.mark.parametrize("program", ["multus-daemon", *WITH_COMMANDS])
def test_commands_in_documents_have_words_that_the_program_knows(host, program, programs):
    assert (programs / program).exists()
    seen, wrong = 0, []
    for words in documented(program):
        seen += 1
        before = [words[0]] if program in WITH_COMMANDS else []
        asked = said(host, program, *before, "--help")
        known = asked + said(host, program, "--help")
        flags = [word.partition("=")[0] for word in words if re.match(r"'?--?[a-zA-Z]", word)]
        wrong += [words for flag in flags if not re.search(rf"(^|[\s,]){re.escape(flag.strip(chr(39)))}([\s,=]|$)", known, re.M)]
        wrong += [words for name in before if not re.search(rf"^(?:Usage:)?\s+(?:{program} )?{name}\b", known, re.M)]

    assert wrong == [] and seen


def test_help_is_really_read(host, program):
    program("multus-daemon")

    shown = shown_by(host, "multus-daemon")

    assert {"config", "probe", "metricsPort", "check", "uninstall"} <= shown
    assert not takes(host, "multus-daemon", "-nosuch") and takes(host, "multus-daemon", "-probe")
