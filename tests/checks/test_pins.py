"""What comes from outside into a build is named by its content, not by a name that can move."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")


def foreign_images(path):
    """Those that a manifest or a Containerfile names, but for our own and for earlier stages."""
    text = path.read_text()
    stages = set(re.findall(r"^FROM .* AS (\S+)", text, re.M)) | {"scratch"}
    named = re.findall(r"^FROM (\S+)|\bimage: [\"']?([^\s\"'},]+)", text, re.M)
    return [name for pair in named for name in pair if name and name not in stages and not name.startswith("localhost/")]


# Those in the templates of the chart come from its values.
WITH_IMAGES = [ROOT / "Containerfile", *sorted(path for path in (ROOT / "deploy").rglob("*.y*ml") if "templates" not in path.parts)]


@pytest.mark.parametrize("path", WITH_IMAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_foreign_images_are_named_by_digest(path):
    assert [name for name in foreign_images(path) if not DIGEST.search(name)] == []


def test_the_containerfile_has_a_foreign_image():
    assert len(foreign_images(ROOT / "Containerfile")) == 1


def installs():
    """Lines of scripts that install with pip."""
    scripts = [path for folder in ("scripts", "tests", "cmake") for path in (ROOT / folder).rglob("*")
               if path.is_file() and path.suffix in ("", ".py", ".sh", ".cmake") and path != Path(__file__)]
    for path in [*scripts, ROOT / "Makefile", ROOT / "Containerfile"]:
        for line in path.read_text(errors="replace").splitlines():
            if re.search(r"\bpip3?\b.*\binstall\b", line):
                yield path.relative_to(ROOT), line


def test_pip_takes_nothing_without_a_hash():
    found = list(installs())

    assert found
    assert [(path, line) for path, line in found if "--require-hashes" not in line] == []


def test_every_requirement_has_one_version_and_hashes():
    for path in (ROOT / "scripts").rglob("*requirements.txt"):
        lines = [line for line in path.read_text().replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
        assert lines
        for line in lines:
            assert re.fullmatch(r"[\w-]+==[\w.]+(\s+--hash=sha256:[0-9a-f]{64})+", line), line


@pytest.mark.parametrize("module", sorted(subprocess.run(["git", "ls-files", "*go.mod"], cwd=ROOT, text=True, check=True,
                                                         capture_output=True).stdout.split()))
def test_go_modules_have_checksums(module):
    """Go itself refuses a module that is not in this file, or differs from it."""
    assert " h1:" in (ROOT / module).with_name("go.sum").read_text()
