"""What lint looks at again, and what it knows to be clean."""

import json

import pytest

TIDY = """#!/bin/sh
[ "$1" = --version ] && echo "$TIDY_VERSION" && exit
for source; do :; done
echo "$source" >>"$LOOKED_AT"
! grep -n BAD "$source"
"""


@pytest.fixture
def lint(load, tree, monkeypatch, tmp_path):
    module = load("lint")
    tree.write(".clang-tidy", "Checks: '*'\n")
    tree.write("src/base/a.h", "int a();\n")
    tree.write("src/base/a.cc", '#include "a.h"\nint a() { return 1; }\n')
    tree.write("src/base/b.cc", "int b() { return 1; }\n")
    build = tree.path / "build" / "tidy"
    tree.write("build/tidy/compile_commands.json", json.dumps([
        {"file": f"{tree.path}/src/base/{name}.cc", "command": f"clang++-19 -o {name}.o -c {tree.path}/src/base/{name}.cc"}
        for name in "ab"]))
    tree.write("tidy", TIDY).chmod(0o755)
    monkeypatch.setattr(module, "ROOT", tree.path)
    monkeypatch.setattr(module, "BUILD", build)
    monkeypatch.setattr(module, "TIDY", str(tree.path / "tidy"))
    monkeypatch.setattr(module, "configure", lambda: None)
    monkeypatch.setenv("MNET_LINT_CACHE", str(tmp_path / "memory"))
    monkeypatch.setenv("LOOKED_AT", str(tmp_path / "looked-at"))
    monkeypatch.setenv("TIDY_VERSION", "19")
    monkeypatch.setattr("sys.argv", ["lint"])
    return module


@pytest.fixture
def run(lint, tmp_path):
    """Runs lint; gives its status and the files it looked at."""
    def run():
        log = tmp_path / "looked-at"
        log.unlink(missing_ok=True)
        lint.configuration.cache_clear()
        status = lint.main()
        return status, sorted(line.rsplit("/", 1)[1] for line in log.read_text().split()) if log.exists() else []
    return run


def test_looks_at_everything_once(run):
    assert run() == (0, ["a.cc", "b.cc"])
    assert run() == (0, [])


@pytest.mark.parametrize("name, content, looked_at", [
    ("src/base/b.cc", "int b() { return 2; }\n", ["b.cc"]),
    ("src/base/a.h", "int a();  // new\n", ["a.cc"]),
    (".clang-tidy", "Checks: 'x'\n", ["a.cc", "b.cc"]),
])
def test_looks_again_at_what_a_change_can_touch(run, tree, name, content, looked_at):
    run()
    tree.write(name, content)

    assert run() == (0, looked_at)


def test_looks_again_when_clang_tidy_is_another(run, monkeypatch):
    run()
    monkeypatch.setenv("TIDY_VERSION", "20")

    assert run() == (0, ["a.cc", "b.cc"])


def test_findings_fail_and_are_not_remembered_as_clean(run, tree, capsys):
    tree.write("src/base/b.cc", "int b() { return 1; }  // BAD\n")

    assert run() == (1, ["a.cc", "b.cc"])
    assert run() == (1, ["b.cc"])
    assert capsys.readouterr().out.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
