"""Reads what test programs leave behind: JUnit files of GoogleTest, ctest and pytest, and closing lines."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

SUM = re.compile(r"(\d+) passed, (\d+) failed, (\d+) skipped")


@dataclass
class Count:
    """What came out of a step. `failures` and `skips` are (test, why)."""

    passed: int = 0
    failures: list = field(default_factory=list)
    skips: list = field(default_factory=list)
    # Cases that the program itself leaves out, for a reason that does not depend on the machine.
    left_out: int = 0
    # Tests that passed only when they were tried again, with why they had failed.
    second_tries: list = field(default_factory=list)

    def __add__(self, other):
        return Count(self.passed + other.passed, self.failures + other.failures, self.skips + other.skips,
                     self.left_out + other.left_out, self.second_tries + other.second_tries)

    def after_second_try(self, again):
        """`again` counts another run of only the failures. If it does not account for each of them, nothing changes."""
        if again.skips or again.left_out or again.passed + len(again.failures) != len(self.failures):
            return self
        failed_again = {test for test, _ in again.failures}
        return Count(self.passed + again.passed, [one for one in self.failures if one[0] in failed_again], self.skips,
                     self.left_out, [one for one in self.failures if one[0] not in failed_again])

    @property
    def is_empty(self):
        return not (self.passed or self.failures or self.skips or self.left_out)


def _why(element):
    return "\n".join(text for text in (element.get("message"), element.text) if text and text.strip())


def of_junit(path):
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        broken = [element for kind in ("failure", "error") for element in case.findall(kind)]
        skipped = case.find("skipped")
        if broken:
            count.failures.append((name, "\n".join(map(_why, broken))))
        elif skipped is not None or case.get("result") == "skipped":
            count.skips.append((name, _why(skipped) if skipped is not None else ""))
        elif case.get("status") != "notrun":
            count.passed += 1
    return count


def of_ctest(path):
    """Beside ctest's own report lies a file for each GoogleTest program. One of these that died left no file, or one in
    which nothing failed: ctest knows better."""
    count = Count()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        program = case.get("name")
        ended_well = case.get("status") == "run"
        report = path.parent / f"{program}.xml"
        inside = of_junit(report) if report.exists() else Count()
        if not ended_well and not inside.failures:
            output = case.findtext("system-out") or ""
            inside.failures.append((program, "ended badly\n" + "\n".join(output.splitlines()[-60:])))
        elif inside.is_empty:
            if report.exists():
                inside.failures.append((program, "ran no test"))
            else:
                inside.passed = 1
        count += inside
    return count


def of_closing_line(text):
    """The last `N passed, N failed, N skipped` of a program's output; its failures are the lines above."""
    found = SUM.findall(text)
    if not found:
        return Count()
    passed, failed, skipped = map(int, found[-1])
    lines = [line for line in text.splitlines() if not SUM.search(line)]
    failures = [(line, "") for line in lines[-failed:]] if failed else []
    failures += [("(see the log)", "")] * (failed - len(failures))
    return Count(passed, failures, [], skipped)
