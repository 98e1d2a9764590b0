"""checks/format and checks/words."""

import pytest

from small_tree import SCRIPTS, run


def test_accepts_a_tidy_tree(tree):
    tree.copy(".clang-format")
    tree.write("src/base/a.cc", "int answer() { return 42; }\n")
    tree.write("docs/a.md", "# Title\n")

    assert tree.check("checks/format").returncode == 0
    assert tree.check("checks/words").returncode == 0


@pytest.mark.parametrize("name, content, complaint", [
    ("src/base/a.cc", "int  answer(){return 42;}\n", "src/base/a.cc:1:"),
    ("docs/a.md", "# Title \n", "docs/a.md:1: white space at the end of the line"),
    ("Makefile", "all:", "Makefile: no newline at the end"),
])
def test_refuses_untidy_text(tree, name, content, complaint):
    tree.copy(".clang-format")
    tree.write(name, content)

    done = tree.check("checks/format")

    assert done.returncode == 1
    assert complaint in done.stdout


@pytest.mark.parametrize("content", [
    "see /wor" + "k/main", "in ../share" + "d/spec", "/roo" + "t/.cache", "/hom" + "e/user", "deb.debian" + ".org",
    "STYLE" + ".md says", "`share" + "d/vectors`",
])
def test_refuses_words_of_one_machine(tree, content):
    tree.write("docs/a.md", f"first line\n{content}\n")

    done = tree.check("checks/words")

    assert done.returncode == 1
    assert "docs/a.md:2:" in done.stdout


@pytest.mark.parametrize("content, advice", [
    ("`/run/x` is n" + "o socket.", "socket': write 'X is not a Y'"),
    ("Two of them are n" + "o files.", "'X are not Ys'"),
    ("What fails there, n" + "obody counts.", "the actor and what does not happen"),
    ("S" + "omebody removed it.", "the actor: another process"),
    ("W" + "hoever reads it waits.", "'a user who', 'the code that'"),
    ("T" + "hose who wait go first.", "'a request that', 'callers that'"),
    ("It is gone. W" + "ho waits finds nothing.", "'a request that waits'"),
    ("For a caller w" + "ho left.", "'that' for what is not a person"),
    ("It is written b" + "ehind the call.", "'after' for time and order"),
    ("It stays, a" + "lso if it is empty.", "'even if'"),
])
def test_refuses_the_worst_forms_of_english(tree, content, advice):
    tree.write("docs/a.md", f"first line\n{content}\n")

    done = tree.check("checks/words")

    assert done.returncode == 1
    assert "docs/a.md:2: " in done.stdout
    assert advice in done.stdout


@pytest.mark.parametrize("content", [
    "There is no socket, and it is no longer needed.", "That is no reason to stop: there are no files.",
    "The server is behind a proxy; nothing is left behind.", "Security says who is trusted with what.",
    "The log has `s" + "omebody removed it` in that case.", "A user who may write there, and the user=n" + "obody.",
])
def test_accepts_plain_english(tree, content):
    tree.write("docs/a.md", f"{content}\n")

    done = tree.check("checks/words")

    assert (done.returncode, done.stdout) == (0, "")


def test_finds_bad_english_across_the_end_of_a_line(tree):
    tree.write("deploy/a.yaml", "# A folder is n" + "o\n# file; where there\n# is n" + "o file, there may be a folder.\n")

    done = tree.check("checks/words")

    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("checks/words: deploy/a.yaml:1: 'is n" + "o file': write")


@pytest.mark.parametrize("name", ["docs/spec/a.md", "docs/decisions/0001-a.md", "tests/data/a/README.md"])
def test_leaves_the_english_of_others_and_of_the_past_alone(tree, name):
    tree.write(name, "N" + "obody rewrites it.\n")

    assert tree.check("checks/words").returncode == 0


def test_accepts_documents_whose_files_exist(tree):
    tree.write("src/base/log.h", "#pragma once\n")
    tree.write("docs/a.md", "See [the other](b.md#parts-of-it-and-b), [a host](https://example.com/x), `src/base/log.h` and `log.h`.\n")
    tree.write("docs/b.md", "# Parts of it, and [`b`](b.md)\n[above](#parts-of-it-and-b)\n")

    assert tree.check("checks/docs").returncode == 0


@pytest.mark.parametrize("content, complaint", [
    ("[gone](c.md)", "docs/a.md: the link to c.md leads nowhere"),
    ("# A\n[gone](#b)", "docs/a.md: it has no heading for #b"),
    ("```\n# a\n```\n[gone](a.md#a)", "docs/a.md: a.md has no heading for #a"),
    ("`src/base/gone.h`", "docs/a.md: there is no src/base/gone.h"),
    ("`gone.cc`", "docs/a.md: no file is called gone.cc"),
])
def test_refuses_documents_that_name_files_which_do_not_exist(tree, content, complaint):
    tree.write("docs/a.md", content + "\n")

    done = tree.check("checks/docs")

    assert done.returncode == 1
    assert complaint in done.stdout


def test_refuses_a_decision_that_the_index_does_not_list(tree):
    tree.write("docs/decisions/README.md", "| [0001](0001-one.md) | One | in force |\n")
    tree.write("docs/decisions/0001-one.md", "# 0001 One\n")
    assert tree.check("checks/docs").returncode == 0
    tree.write("docs/decisions/0002-two.md", "# 0002 Two\n")

    done = tree.check("checks/docs")

    assert done.returncode == 1
    assert "docs/decisions/0002-two.md: docs/decisions/README.md does not list it" in done.stdout


def test_refuses_a_decision_whose_title_is_not_that_of_the_index(tree):
    tree.write("docs/decisions/README.md", "| [0001](0001-one.md) | One | in force |\n")
    tree.write("docs/decisions/0001-one.md", "# 0001: Another\n")

    done = tree.check("checks/docs")

    assert done.returncode == 1
    assert "docs/decisions/0001-one.md: docs/decisions/README.md calls it 'One'" in done.stdout


@pytest.mark.parametrize("check", ["checks/docs", "checks/format", "checks/layers", "checks/reference", "checks/words"])
def test_refuses_a_tree_that_is_not_there(tmp_path, check):
    done = run(SCRIPTS / check, tmp_path / "mistyped")

    assert done.returncode == 2
    assert "there is no folder" in done.stdout
