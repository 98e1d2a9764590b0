"""The one generated source file: version, commit, tree state, date of the commit; never the time of the build."""

import subprocess

import pytest
from small_tree import ROOT, run


@pytest.fixture
def source(tree):
    tree.write("VERSION", "1.2.3\n")
    tree.write("version.in", "@MNET_VERSION@ @MNET_COMMIT@ @MNET_TREE_STATE@ @MNET_DATE@\n")
    return tree


def generate(tree):
    done = run("cmake", "-D", f"SOURCE={tree.path}", "-D", f"IN={tree.path}/version.in", "-D",
               f"OUT={tree.path}/.git-ignored-out", "-P", ROOT / "cmake" / "version.cmake")
    assert done.returncode == 0, done.stdout
    return (tree.path / ".git-ignored-out").read_text().split()


def commit(tree):
    tree.write(".gitignore", ".git-ignored-out\n")
    git = ["git", "-C", tree.path, "-c", "user.name=n", "-c", "user.email=e@x"]
    subprocess.run(["git", "init", "-q", tree.path], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first", "--date=2020-01-01T00:00:00Z"], check=True,
                   env={"GIT_COMMITTER_DATE": "2021-02-03T04:05:06Z", "PATH": "/usr/bin:/bin"})
    return run("git", "-C", tree.path, "rev-parse", "HEAD").stdout.strip()


def test_says_unknown_in_a_tarball(source):
    assert generate(source) == ["1.2.3", "unknown", "unknown", "unknown"]


def test_names_the_commit_and_its_date(source):
    head = commit(source)

    assert generate(source) == ["1.2.3", head, "clean", "2021-02-03T04:05:06+00:00"]


def test_says_when_the_tree_was_changed(source):
    head = commit(source)
    source.write("VERSION", "1.2.4\n")

    assert generate(source) == ["1.2.4", head, "dirty", "2021-02-03T04:05:06+00:00"]


def test_leaves_the_file_alone_when_nothing_changed(source):
    generate(source)
    before = (source.path / ".git-ignored-out").stat().st_mtime_ns
    generate(source)

    assert (source.path / ".git-ignored-out").stat().st_mtime_ns == before
