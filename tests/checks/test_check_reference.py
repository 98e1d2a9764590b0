"""checks/reference: what the code knows and the reference does not."""

import re

import pytest
from small_tree import ROOT, SCRIPTS

CONFIG = "src/settings/config.cc"


@pytest.fixture
def known(tree):
    """A tree whose daemon knows one key, and a reference that has it."""
    tree.write(CONFIG, 'json::Fields fields(document);\nfields.read("socketDir", config.socket_dir);\n')
    tree.write("docs/reference.md", "# Reference\n\n## daemon-config.json\n\n| `socketDir` | path |\n")
    return tree


def add(tree, name, text):
    path = tree.path / name
    tree.write(name, (path.read_text() if path.exists() else "") + text)


def test_accepts_a_reference_that_knows_everything(known):
    done = known.check("checks/reference")

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("source, addition, complaint", [
    (CONFIG, 'fields.read("newKey", config.new_key);', "'daemon-config.json' does not tell of the key `newKey`"),
    (CONFIG, 'read_positive(fields, "newKey", config.new_key);', "the key `newKey`"),
    (CONFIG, 'fields.object("newKey", [&](auto& object) {});', "the key `newKey`"),
    ("src/new/new.cc", 'json::Fields fields(x);\nfields.read("a", b);', "src/new/new.cc reads keys"),
    ("src/new/new.cc", '#include "base/pflags.h"\nflags.text({"type", \'t\'}, &type, "");', "src/new/new.cc registers flags"),
    ("src/daemon/command_line.cc", '#include "base/command_line.h"\nflags.boolean("new-flag", &x, "");',
     "'multus-daemon' does not tell of the flag `new-flag`"),
    ("src/daemon/command_line.cc", '#include "base/command_line.h"\nLegacyFlag{"old-flag", Kind::kText, ""},',
     "'multus-daemon' does not tell of the flag `old-flag`"),
    ("src/new/new.cc", 'variable(environment, "MULTUS_NEW_NAME");', "nothing about `MULTUS_NEW_NAME`"),
    ("src/new/new.h", 'constexpr auto kNew = "v1.multus-cni.io/new";', "nothing about `v1.multus-cni.io/new`"),
    ("apps/new-program/main.cc", "int main() {}", "no section '### `new-program`'"),
])
def test_refuses_what_the_reference_does_not_have(known, source, addition, complaint):
    add(known, source, addition + "\n")

    done = known.check("checks/reference")

    assert done.returncode == 1
    assert complaint in done.stdout


def test_text_between_two_code_spans_tells_of_nothing(known):
    add(known, CONFIG, 'fields.read("name", config.name);\n')
    add(known, "docs/reference.md", "| `socketDir` has a name that `daemonSocketDir` repeats | path |\n")

    assert "'daemon-config.json' does not tell of the key `name`" in known.check("checks/reference").stdout


def test_a_source_without_fields_is_looked_at_where_users_write_what_it_reads(known):
    add(known, "src/cni/new.cc", 'read_flag("disableThing", list.disable_thing);\n')

    assert "src/cni/new.cc reads keys" in known.check("checks/reference").stdout


def test_refuses_a_key_that_is_not_in_the_list_of_keys(known):
    known.write("src/settings/daemon_keys.cc", 'return {"socketDir"};\n')
    assert known.check("checks/reference").stdout == ""
    add(known, CONFIG, 'fields.read("newKey", config.new_key);\n')
    add(known, "docs/reference.md", "| `newKey` | text |\n")

    done = known.check("checks/reference")

    assert done.stdout == "checks/reference: src/settings/daemon_keys.cc lacks the key `newKey` (src/settings/config.cc)\n"


def test_refuses_metrics_without_a_description(known):
    known.write("docs/operating.md", "| `multus_old` | what it is |\n")
    add(known, "src/daemon/metrics.cc", 'counter("multus_old", "Help");\ncounter("multus_new_total", "Help");\n')

    done = known.check("checks/reference")

    assert done.stdout == "checks/reference: docs/operating.md: nothing about the metric `multus_new_total`\n"


def test_refuses_events_without_an_explanation(known):
    known.write("docs/operating.md", "| `Known` | Normal | what it means |\n")
    known.write("src/model/event_reasons.h", 'inline constexpr char kKnown[] = "Known";\ninline constexpr char kNew[] = "New";\n')

    done = known.check("checks/reference")

    assert done.stdout == "checks/reference: docs/operating.md: nothing about the event `New`\n"


def test_refuses_alerts_on_what_nobody_counts(known):
    known.write("docs/operating.md", "| `multus_old_seconds` | what it is |\n")
    add(known, "src/daemon/metrics.cc", 'histogram("multus_old_seconds", "Help");\n')
    known.write("deploy/monitoring/rules.yaml", "expr: rate(multus_old_seconds_bucket[5m]) > multus_wrong\n")

    done = known.check("checks/reference")

    assert done.stdout == "checks/reference: deploy/monitoring/rules.yaml: no program counts multus_wrong\n"


def test_a_key_counts_only_in_its_own_section(known):
    add(known, CONFIG, 'fields.read("name", config.name);\n')
    add(known, "docs/reference.md", "\n## Networks of a pod\n\n| `name` | string |\n")

    assert "'daemon-config.json' does not tell of the key `name`" in known.check("checks/reference").stdout


@pytest.mark.parametrize("word", ["oldKey", "v1.multus-cni.io/old"])
def test_refuses_what_nothing_reads(known, word):
    add(known, "docs/reference.md", f"| `{word}` | text |\n")

    done = known.check("checks/reference")

    assert done.stdout == f"checks/reference: docs/reference.md: 'daemon-config.json' tells of the key `{word}`, which nothing reads\n"


def test_what_only_tests_know_does_not_count(known):
    add(known, "src/settings/config_test.cc", 'json::Fields fields(x);\nfields.read("a", b);\nf("SOME_NAME");\n')

    assert known.check("checks/reference").returncode == 0


def test_the_sources_it_looks_at_are_there():
    """Otherwise a renamed source would no longer be checked."""
    text = (SCRIPTS / "checks" / "reference").read_text()
    for path in re.findall(r'"((?:src|apps)/[\w/.-]+)"', text):
        assert (ROOT / path).exists(), path
