"""docs/reference.md against the programs themselves: every flag that --help shows stands in the program's section."""

import re
from pathlib import Path

import pytest
from harness.machine.host import PROGRAMS

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"
# Go's way, `  -config string`, pflag's, `  -d, --dest-dir string`, and `  --name=value`.
SHOWN = re.compile(r"^\s{1,8}(--?[a-zA-Z][\w-]*)(?:,\s+(--?[a-zA-Z][\w-]*))?", re.MULTILINE)
NAMED = re.compile(r"`(--?[a-zA-Z][\w-]*)")


def section(program):
    found = re.search(rf"^### `{re.escape(program)}`$(.*?)(?=^##|\Z)", REFERENCE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{REFERENCE.name} has no section on {program}"
    return found[1]


def bare(flag):
    return flag.lstrip("-")


def shown_by(host, program):
    done = host.run(f"{PROGRAMS}/{program}", "--help", check=False)
    return {bare(flag) for pair in SHOWN.findall(done.stdout + done.stderr) for flag in pair if flag}


@pytest.fixture
def all_programs(programs):
    found = sorted(path.name for path in programs.iterdir() if path.is_file() and path.stat().st_mode & 0o111)
    assert "multus-daemon" in found
    return found


def test_every_program_and_every_flag_that_it_shows_is_described(host, all_programs):
    missing = {program: sorted(shown_by(host, program) - {bare(flag) for flag in NAMED.findall(section(program))})
               for program in all_programs}

    assert {program: flags for program, flags in missing.items() if flags} == {}


def test_help_is_really_read(host, program):
    program("multus-daemon")

    shown = shown_by(host, "multus-daemon")

    assert {"config", "probe", "metricsPort", "check", "uninstall"} <= shown
