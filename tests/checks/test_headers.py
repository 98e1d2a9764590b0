"""checks/headers: each header compiles alone, whatever is compiled ahead of it."""

import pytest

NAMES = [f"user{number}" for number in range(4)]


@pytest.fixture
def headers(tree, monkeypatch):
    """A header that many others include, so that it is compiled ahead of them."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tree.path / "cache"))
    add(tree, "base/common", "#include <cstddef>", "#include <cstdint>", "using Count = std::size_t;")
    for name in NAMES:
        add(tree, f"base/{name}", '#include "base/common.h"', f"Count {name}();")
    return tree


def add(tree, name, *lines):
    tree.write(f"src/{name}.h", "\n".join(["#pragma once", *lines, ""]))


def refused(tree):
    """The headers that the check complains of."""
    done = tree.check("checks/headers")
    assert done.returncode == (1 if done.stdout else 0), done.stdout
    return {word.split(":")[0] for word in done.stdout.split() if word.startswith("src/") and ": error" in done.stdout}


def test_what_many_include_is_compiled_ahead(headers, load):
    module = load("checks/headers")
    found = module.load(headers.path)

    assert module.choose_ahead(found, list(found)) == ["base/common.h"]


def test_accepts_headers_that_stand_alone(headers):
    assert refused(headers) == set()


def test_refuses_a_header_that_needs_another_first(headers):
    add(headers, "base/lonely", "std::size_t size();")

    done = headers.check("checks/headers")

    assert done.returncode == 1
    assert done.stdout.startswith("checks/headers: src/base/lonely.h:2")
    assert done.stdout.count("src/base/lonely.h:2") == 1 and "user" not in done.stdout


@pytest.mark.parametrize("lines", [
    ("Count early();", '#include "base/common.h"'),
    ("#ifdef SOMETHING", '#include "base/common.h"', "#endif", "Count conditional();"),
    ("// Count of all", "Count none();", '// #include "base/common.h"'),
])
def test_what_is_compiled_ahead_does_not_help_who_does_not_include_it_first(headers, lines):
    add(headers, "base/lonely", *lines)

    assert refused(headers) == {"src/base/lonely.h"}


def test_what_is_included_on_the_way_is_looked_at_by_itself(headers):
    add(headers, "base/lonely", "Count wrong();")
    add(headers, "base/includes_it", '#include "base/common.h"', '#include "base/lonely.h"', "Count right();")

    assert refused(headers) == {"src/base/lonely.h"}


def test_headers_that_include_each_other_are_no_trap(headers):
    add(headers, "base/one", '#include "base/two.h"', "struct One {};")
    add(headers, "base/two", '#include "base/one.h"', "struct Two {};")

    assert refused(headers) == set()


def test_what_was_clean_is_looked_at_again_when_something_that_it_includes_changes(headers):
    assert refused(headers) == set()

    add(headers, "base/common", "#include <cstddef>", "#include <cstdint>", "using Number = std::size_t;")

    assert refused(headers) == {f"src/base/{name}.h" for name in NAMES}


def test_what_was_refused_is_refused_again(headers):
    add(headers, "base/lonely", "std::size_t size();")

    assert refused(headers) == refused(headers) == {"src/base/lonely.h"}
