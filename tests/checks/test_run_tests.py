"""How run-tests counts: nothing that did not run may look as if it had."""

import re

import pytest
from lib.reports import Count, of_closing_line, of_ctest, of_junit


def gtest(*cases):
    return f'<testsuites><testsuite name="S">{"".join(cases)}</testsuite></testsuites>'


PASSED = '<testcase name="Works" status="run" result="completed" classname="S"/>'
FAILED = '<testcase name="Breaks" status="run" result="completed" classname="S"><failure message="1 != 2"/></testcase>'
SKIPPED = '<testcase name="Waits" status="run" result="skipped" classname="S"><skipped message="no root"/></testcase>'
DISABLED = '<testcase name="Off" status="notrun" result="suppressed" classname="S"/>'


def ctest(folder, **programs):
    cases = "".join(f'<testcase name="{name}" classname="{name}" status="{status}"/>'
                    for name, status in programs.items())
    (folder / "ctest.xml").write_text(f"<testsuite>{cases}</testsuite>")


def test_counts_what_passed_failed_and_was_skipped(tmp_path):
    (tmp_path / "a.xml").write_text(gtest(PASSED, FAILED, SKIPPED, DISABLED))

    count = of_junit(tmp_path / "a.xml")

    assert (count.passed, count.failures, count.skips) == (1, [("S.Breaks", "1 != 2")], [("S.Waits", "no root")])


def test_counts_the_tests_inside_each_program(tmp_path):
    ctest(tmp_path, base_test="run", script="run")
    (tmp_path / "base_test.xml").write_text(gtest(PASSED, PASSED))

    assert of_ctest(tmp_path / "ctest.xml").passed == 3


@pytest.mark.parametrize("report", [None, gtest(PASSED)])
def test_a_program_that_died_has_failed_whatever_its_report_says(tmp_path, report):
    ctest(tmp_path, base_test="fail")
    if report:
        (tmp_path / "base_test.xml").write_text(report)

    assert [name for name, why in of_ctest(tmp_path / "ctest.xml").failures] == ["base_test"]


def test_a_program_that_ran_no_test_has_failed(tmp_path):
    ctest(tmp_path, base_test="run")
    (tmp_path / "base_test.xml").write_text(gtest(DISABLED))

    assert of_ctest(tmp_path / "ctest.xml").failures == [("base_test", "ran no test")]


def test_reads_the_closing_line_and_the_cases_above_it():
    count = of_closing_line("skel: 3 passed, 1 failed, 0 skipped\nskel-7: wrong code\n3 passed, 1 failed, 2 skipped\n")

    assert (count.passed, count.failures, count.left_out) == (3, [("skel-7: wrong code", "")], 2)


def test_a_second_try_accounts_for_each_failure_or_for_none():
    first = Count(5, [("a", "late"), ("b", "broken")], second_tries=[])

    mended = first.after_second_try(Count(1, [("b", "broken again")]))
    assert (mended.passed, mended.failures, mended.second_tries) == (6, [("b", "broken")], [("a", "late")])
    for other in (Count(1), Count(1, [], [("b", "skipped")]), Count(3)):
        assert first.after_second_try(other) is first


@pytest.fixture
def run_tests(load, tmp_path, monkeypatch):
    module = load("run-tests")
    monkeypatch.setattr(module, "LOGS", tmp_path / "logs")
    return module


def steps(module, **commands):
    """One check for each keyword; `second` needs `first`."""
    return [module.check(name, "sh", "-c", command, needs=["first"] if name == "second" else [])
            for name, command in commands.items()]


def test_counts_checks_by_their_exit_status(run_tests):
    count = run_tests.Run(steps(run_tests, good="exit 0", bad="echo broken; exit 3")).all()

    assert count.passed == 1
    assert count.failures == [("bad", "exit status 3\nbroken")]


def test_a_failure_is_told_as_soon_as_its_step_ends(run_tests, capsys):
    run_tests.Run(steps(run_tests, bad="echo broken; exit 3")).all()

    assert "bad: broken" in capsys.readouterr().out


def test_the_gist_of_a_failure_is_what_was_raised(run_tests):
    assert run_tests.gist("def test():\n>   assert a\nE   AssertionError: a\nE     more\nx.py:3") == "AssertionError: a"
    assert run_tests.gist("") == ""


@pytest.fixture
def suite_of(run_tests, tmp_path, monkeypatch):
    """Makes a suite of a text; its tests see `count`, how often they were run."""
    def make(text):
        (tmp_path / "tests" / "small").mkdir(parents=True)
        (tmp_path / "tests" / "pytest.ini").write_text("[pytest]\n")
        (tmp_path / "tests" / "small" / "test_small.py").write_text(text)
        monkeypatch.setattr(run_tests, "ROOT", tmp_path)
        monkeypatch.setattr(run_tests, "BUILD", tmp_path / "build")
        monkeypatch.setattr(run_tests, "missing_for_namespaces", lambda: None)
        return run_tests.suite("small", "release")
    return make


ONCE = """
import pathlib
seen = pathlib.Path("seen")
def test_good(): pass
def test_fails_once():
    again = seen.exists()
    seen.touch()
    assert again, "the first time"
"""


def test_one_failure_of_a_suite_is_tried_again_and_named(run_tests, suite_of, capsys):
    run_tests.report(run_tests.Run([suite_of(ONCE)]).all())

    out = capsys.readouterr().out
    assert "PASSED ONLY AT THE SECOND TRY" in out and "the first time" in out
    assert out.splitlines()[-1] == "2 passed, 0 failed, 0 skipped"


def test_what_fails_again_has_failed(run_tests, suite_of):
    count = run_tests.Run([suite_of("def test_good(): pass\ndef test_bad(): assert False\n")]).all()

    assert (count.passed, len(count.failures), count.second_tries) == (1, 1, [])


FAILS_ONCE = """#!/bin/sh
# As a program of GoogleTest: `S.Breaks` fails unless it is the only one asked for.
case ${GTEST_FILTER-all} in S.Breaks) case='%s' ;; all) case='%s%s' status=1 ;; *) case= ;; esac
echo "<testsuites><testsuite name='S'>$case</testsuite></testsuites>" >reports/base_test.xml
exit ${status-0}
""" % (PASSED.replace("Works", "Breaks"), PASSED, FAILED)


DIES_ONCE = """#!/bin/sh
# As a program of GoogleTest that the first time dies before it reports; asked for tests that it lacks, it runs none.
[ -e died ] || { touch died; exit 1; }
case ${GTEST_FILTER-all} in all) case='%s' ;; *) case= ;; esac
echo "<testsuites><testsuite name='S'>$case</testsuite></testsuites>" >reports/base_test.xml
""" % PASSED


@pytest.mark.parametrize("program, expected", [(FAILS_ONCE, (2, "S.Breaks")), (DIES_ONCE, (1, "base_test"))],
                         ids=["fails", "dies"])
def test_one_failure_of_a_unit_test_is_tried_again_and_named(run_tests, tmp_path, monkeypatch, program, expected):
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)
    monkeypatch.setattr(run_tests, "BUILD", tmp_path / "build")
    (tmp_path / "build" / "asan").mkdir(parents=True)
    (tmp_path / "build" / "asan" / "base_test").write_text(program)
    (tmp_path / "build" / "asan" / "base_test").chmod(0o755)
    (tmp_path / "build" / "asan" / "CTestTestfile.cmake").write_text('add_test(base_test "./base_test")\n')
    step = run_tests.ctest("unit", "asan")
    step.command = ["sh", "-c", 'mkdir build/asan/reports && "$@"', "sh", *step.command]

    count = run_tests.Run([step]).all()

    passed, again = expected
    assert (count.passed, count.failures, [name for name, _ in count.second_tries]) == (passed, [], [again])


def test_many_failures_are_no_accident(run_tests, suite_of, tmp_path):
    text = ONCE + "".join(f"def test_bad{i}(): assert False\n" for i in range(run_tests.MOST_TRIED_AGAIN))

    count = run_tests.Run([suite_of(text)]).all()

    assert len(count.failures) == run_tests.MOST_TRIED_AGAIN + 1
    assert not list(tmp_path.rglob("*-again.*"))


def test_a_skip_without_excuse_has_failed_and_nothing_is_run_again(run_tests, suite_of, tmp_path):
    text = "import pytest\ndef test_good(): open('runs', 'a').write('x')\n@pytest.mark.skip\ndef test_left_out(): pass\n"

    count = run_tests.Run([suite_of(text)]).all()

    assert (count.passed, len(count.failures)) == (1, 1)
    assert (tmp_path / "runs").read_text() == "x"


def test_comparisons_with_the_original_have_one_step_and_are_in_no_suite(run_tests, suite_of, tmp_path):
    step = suite_of("def test_good(): pass\n")
    (tmp_path / "tests" / "small" / "test_peer_small.py").write_text("def test_beside(): pass\n")

    assert run_tests.Run([step]).all().passed == 1
    assert "tests/small/test_peer_small.py" in run_tests.beside_the_original().command


def test_a_command_that_does_not_exist_has_failed(run_tests):
    count = run_tests.Run([run_tests.check("gone", "no-such-program")]).all()

    assert [name for name, why in count.failures] == ["gone"]


def test_what_needs_a_failed_step_does_not_run_and_fails(run_tests):
    count = run_tests.Run(steps(run_tests, first="exit 1", second="exit 0")).all()

    assert count.passed == 0
    assert ("second", "not run: first failed") in count.failures


def test_what_needs_a_thing_that_cannot_be_had_is_skipped_and_says_so(run_tests, capsys):
    made = run_tests.Step("binaries", ["sh", "-c", "echo no Go here; exit 77"])
    suite = run_tests.check("suite", "true", needs=["binaries"])

    run_tests.report(run_tests.Run([made, suite, run_tests.check("other", "true")]).all())

    out = capsys.readouterr().out
    assert "SKIPPED binaries: no Go here" in out and "SKIPPED suite: not run: binaries was skipped" in out
    assert out.splitlines()[-1] == "1 passed, 0 failed, 2 skipped"


def test_a_check_cannot_excuse_itself(run_tests):
    count = run_tests.Run(steps(run_tests, first="exit 77", second="exit 0")).all()

    assert (count.passed, len(count.failures), count.skips) == (0, 2, [])


def test_small_steps_do_not_overtake_one_that_waits_for_all_cores(run_tests, tmp_path, monkeypatch):
    monkeypatch.setattr(run_tests, "CORES", 2)
    order = tmp_path / "order"
    names = [("first", 1), ("large", 2), ("small", 1)]
    steps = [run_tests.Step(name, ["sh", "-c", f"sleep 0.1; echo {name} >>{order}"], cores=cores)
             for name, cores in names]

    run_tests.Run(steps).all()

    assert order.read_text().split() == ["first", "large", "small"]


def test_a_report_that_was_not_written_is_a_failure(run_tests, tmp_path):
    step = run_tests.Step("suite", ["true"], count=lambda output, ended_well: of_junit(tmp_path / "none.xml"))

    count = run_tests.Run([step]).all()

    assert [name for name, why in count.failures] == ["suite"]


def test_a_report_of_an_earlier_run_does_not_count(run_tests, tmp_path):
    report = tmp_path / "old.xml"
    report.write_text(gtest(PASSED))
    step = run_tests.Step("suite", ["true"], stale=[report], count=lambda output, ended_well: of_junit(report))

    count = run_tests.Run([step]).all()

    assert (count.passed, len(count.failures)) == (0, 1)


def empty_suite(module, tmp_path, monkeypatch, *files):
    """A suite of Python tests in a tree where its folder holds only these files; without any there is none."""
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "BUILD", tmp_path / "build")
    monkeypatch.setattr(module, "missing_for_namespaces", lambda: None)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "pytest.ini").write_text("[pytest]\n")
    for name in files:
        path = tmp_path / "tests" / "node" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    return module.suite("node", "asan")


@pytest.mark.parametrize("files", [[], ["notes.md"], ["test_nothing.py"]])
def test_a_suite_that_vanished_or_is_empty_has_failed(run_tests, tmp_path, monkeypatch, files):
    step = empty_suite(run_tests, tmp_path, monkeypatch, *files)

    count = run_tests.Run([step]).all()

    assert count.passed == 0
    assert [name for name, why in count.failures] == ["node-asan"]


def test_the_plan_has_its_suites_whether_or_not_their_folders_are_there(run_tests, tmp_path, monkeypatch):
    monkeypatch.setattr(run_tests, "ROOT", tmp_path)

    names = [step.name for step in run_tests.plan()]

    assert {"node-asan", "node-release", "runtimes-release", "cluster-release"} <= set(names)


def test_a_program_that_counts_nothing_has_failed_even_if_it_ended_well(run_tests):
    step = run_tests.Step("vectors", ["echo", "no closing line"], count=run_tests.closing_line)

    count = run_tests.Run([step]).all()

    assert count.failures == [("vectors", "ran no test\nno closing line")]


def test_a_skip_is_a_failure_where_nothing_is_missing(run_tests):
    count = run_tests.strict(Count(passed=1, skips=[("S.Waits", "no root")]))

    assert count.skips == []
    assert count.failures == [("S.Waits", "skipped, although nothing is missing here: no root")]


def test_a_tier_that_cannot_run_is_skipped_and_never_passed(run_tests, monkeypatch, capsys):
    monkeypatch.setattr(run_tests, "missing_for_namespaces", lambda: "needs root")
    step = run_tests.Step("node-asan", ["true"], needs_namespaces=True)

    run_tests.report(run_tests.Run([step]).all())

    out = capsys.readouterr().out
    assert "SKIPPED node-asan: needs root" in out
    assert out.splitlines()[-1] == "0 passed, 0 failed, 1 skipped"


def test_the_last_line_is_the_sum(run_tests, capsys):
    run_tests.report(run_tests.Run(steps(run_tests, good="exit 0", bad="exit 3")).all())

    assert re.fullmatch(r"1 passed, 1 failed, 0 skipped", capsys.readouterr().out.splitlines()[-1])


def test_the_plan_needs_only_steps_that_it_has(run_tests):
    names = [step.name for step in run_tests.plan()]

    assert len(names) == len(set(names))
    assert all(need in names for step in run_tests.plan() for need in step.needs)
