import pytest

SPEC = "\n## 10. How to test it\n\n| row | what |\n|---|---|\n| P1 | a |\n| P2 | b |\n| P7 | c |\n| P8 | d |\n"
CPP = """
// P1, and more.
TEST(Front, RefusesNothing) {
}

// L5: of a helper, not of a test.
int helper();

TEST_F(Front,
       LongName) {
  EXPECT_EQ(1, 1);  // 02, 12: rows 3 to 5 and 9
}

// 05, R1; 05, 4: rows 2 and 69; pain 21: a rollback (P2) harms nothing.
TEST(HotPlug, AnswersFromTheRecord) {}

INSTANTIATE_TEST_SUITE_P(
    All, FrontCases,
    Values(Case{"P7 dash", 1},
           Case{"P8", 2}));
"""
PROMISES = """# Security

`Front.LongName` holds this sentence, and `daemon-config.json` holds none.

| boundary | checks | held by |
|---|---|---|
| socket | root only | `Front.RefusesNothing`, `test_http.py::test_probes` |
| rights | `nodes` are left out | see `HotPlug.*` |
"""
FAULTS = """# Testing

| tier | where |
|---|---|
| 1 | `src/` |

| fault | told by | held by |
|---|---|---|
| no daemon | status | `test_http.py::test_probes` |
"""
PYTHON = """
@pytest.mark.spec("03:21", "03:22")
def test_probes():
    pass


@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.spec("02:7"))])
def test_cases(x):
    pass
"""


@pytest.fixture
def index(load, tree, monkeypatch):
    module = load("checks/test-index")
    monkeypatch.setattr(module.tree, "ROOT", tree.path)
    monkeypatch.setattr(module.tree, "files", lambda: [p.relative_to(tree.path) for p in tree.path.rglob("*.*")])
    monkeypatch.setattr(module, "INDEX", tree.path / "docs" / "test-index.md")
    monkeypatch.setattr(module, "SECURITY", tree.path / "SECURITY.md")
    monkeypatch.setattr(module, "TESTING", tree.path / "docs" / "testing.md")
    monkeypatch.setattr(module, "OPERATING", tree.path / "docs" / "operating.md")
    monkeypatch.setattr(module, "TABLES", (("01", "01-cni.md", "## 10."),))
    monkeypatch.setattr("sys.argv", ["checks/test-index"])
    tree.write("docs/spec/01-cni.md", SPEC)
    tree.write("SECURITY.md", PROMISES)
    tree.write("docs/testing.md", FAULTS)
    tree.write("docs/operating.md", FAULTS)
    tree.write("src/skel/front_test.cc", CPP)
    tree.write("tests/node/test_http.py", PYTHON)
    return module


def test_reads_the_rows_that_tests_name(index):
    assert set(index.cpp_marks(CPP)) == {
        ("Front.RefusesNothing", "01 P1"), ("Front.LongName", "02 3"), ("Front.LongName", "02 4"),
        ("HotPlug.AnswersFromTheRecord", "05 2"), ("HotPlug.AnswersFromTheRecord", "05 69"), ("Front.LongName", "02 5"), ("Front.LongName", "02 9"), ("FrontCases.*", "01 P7"), ("FrontCases.*", "01 P8")}
    assert index.tests()[1]["03 22"] == ["test_http.py::test_probes"]
    assert index.tests()[1]["02 7"] == ["test_http.py::test_cases"]


@pytest.mark.parametrize("cells, complaint", [
    ({"P1": "`Front.RefusesNothing`", "P2": "open: later"}, None),
    ({"P1": "`Front.RefusesNothing`"}, "row 01 P2 is missing"),
    ({"P1": "`Front.IsGone`", "P2": "open: later"}, "row 01 P1 names Front.IsGone, which does not exist"),
    ({"P1": "nothing", "P2": "open: later"}, "row 01 P1 names no test"),
    ({"P1": "open", "P2": "open: later"}, "row 01 P1 is open and does not say why"),
    ({"P1": "open: x", "P2": "open: x", "P3": "open: x"}, "row 01 P3 is not in the specification"),
])
def test_holds_the_index_to_specification_and_tests(index, tree, capsys, cells, complaint):
    cells = {"P7": "open: x", "P8": "open: x", **cells}
    tree.write("docs/test-index.md", "".join(f"| 01 {row} | {cell} |\n" for row, cell in cells.items()))

    status = index.main()

    assert status == (1 if complaint else 0)
    assert complaint is None or complaint in capsys.readouterr().out


def test_writes_what_tests_say_and_keeps_what_was_written_by_hand(index, tree, monkeypatch):
    tree.write("docs/test-index.md", "| 01 P1 | `Front.LongName`, `Front.IsGone` |\n| 01 P2 | open: needs more than `Front.LongName` |\n")
    monkeypatch.setattr("sys.argv", ["checks/test-index", "--write"])

    index.main()

    assert index.load() == {"01 P1": "`Front.LongName`, `Front.RefusesNothing`", "01 P2": "open: needs more than `Front.LongName`",
                            "01 P7": "`FrontCases.*`", "01 P8": "`FrontCases.*`"}


def test_refuses_a_test_that_names_a_row_which_is_none(index, tree, capsys):
    tree.write("tests/node/test_more.py", PYTHON.replace("03:21", "01:P9"))
    tree.write("docs/test-index.md", "".join(f"| 01 P{row} | open: later |\n" for row in (1, 2, 7, 8)))

    assert index.main() == 1
    assert "test_more.py::test_probes names row 01 P9, which is not in the specification" in capsys.readouterr().out


@pytest.mark.parametrize("before, after, complaint", [
    ("", "", None),
    ("Front.LongName", "Front.IsGone", "SECURITY.md names Front.IsGone, which does not exist"),
    ("::test_probes", "::test_gone", "SECURITY.md names test_http.py::test_gone, which does not exist"),
    ("test_http.py::", "tests/node/test_http.py::", "names tests/node/test_http.py::test_probes, which does not exist"),
    ("HotPlug.*", "Gone.*", "SECURITY.md names Gone.*, which does not exist"),
    ("see `HotPlug.*`", "", 'row "rights" of the table "boundary" names no test'),
    ("see `HotPlug.*`", "`nodes`", 'row "rights" of the table "boundary" names no test'),
    (" | see `HotPlug.*`", "", 'row "rights" of the table "boundary" names no test'),
    ("held by", "tests", 'the last column of the table "boundary" is not "held by"'),
    ("|", "", "SECURITY.md has no table"),
])
def test_holds_promises_to_the_tests(index, tree, capsys, before, after, complaint):
    tree.write("docs/test-index.md", "".join(f"| 01 P{row} | open: later |\n" for row in (1, 2, 7, 8)))
    tree.write("SECURITY.md", PROMISES.replace(before, after) if before else PROMISES)

    status = index.main()

    out = capsys.readouterr().out
    assert status == (1 if complaint else 0), out
    assert complaint is None or complaint in out


@pytest.mark.parametrize("file", ["testing.md", "operating.md"])
@pytest.mark.parametrize("before, after, complaint", [
    ("", "", None),
    ("::test_probes", "::test_gone", " names test_http.py::test_gone, which does not exist"),
    ("`test_http.py::test_probes`", "", ': row "no daemon" of the table "fault" names no test'),
    ("held by", "tests", ' has no table whose last column is "held by"'),
])
def test_holds_the_tables_of_faults_to_the_tests(index, tree, capsys, file, before, after, complaint):
    tree.write("docs/test-index.md", "".join(f"| 01 P{row} | open: later |\n" for row in (1, 2, 7, 8)))
    tree.write(f"docs/{file}", FAULTS.replace(before, after) if before else FAULTS)

    status = index.main()

    out = capsys.readouterr().out
    assert status == (1 if complaint else 0), out
    assert complaint is None or file + complaint in out
