"""scripts/release --check: which trees may not be released."""

import shutil
import subprocess

import pytest
from small_tree import ROOT


@pytest.fixture
def clone(tmp_path):
    """A repository with what the script looks at, committed."""
    for name in ("VERSION", "CHANGELOG.md"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "packaging", tmp_path / "packaging")
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    return tmp_path


def git(folder, *words):
    subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t.invalid", *words], check=True, capture_output=True)


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")


def check(folder):
    done = subprocess.run([folder / "scripts" / "release", "--check"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_a_clean_tree_with_a_changelog_may(clone):
    assert check(clone) == (0, "")


def test_a_change_that_is_not_committed_may_not(clone):
    (clone / "VERSION").write_text((clone / "VERSION").read_text() + "\n")

    status, said = check(clone)

    assert status == 1 and "changes that are not committed" in said and "VERSION" in said


@pytest.mark.parametrize("version, why", [("7.8.9", "no heading '## 7.8.9'"), ("latest", "not a semantic version")])
def test_a_version_without_an_entry_may_not(clone, version, why):
    (clone / "VERSION").write_text(version + "\n")
    commit(clone)

    status, said = check(clone)

    assert status == 1 and why in said
