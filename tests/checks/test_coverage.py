"""scripts/coverage: what it counts, and that a folder with too little fails it."""

import pytest


@pytest.fixture
def coverage(load):
    return load("coverage")


def counted(ran, lines, taken=0, branches=0):
    return {"lines": {"covered": ran, "count": lines}, "branches": {"covered": taken, "count": branches}}


def test_sums_the_files_of_each_folder_without_tests_and_other_folders(coverage):
    files = {"src/base/text.cc": counted(9, 10, 3, 4), "src/base/text.h": counted(1, 10), "src/base/text_test.cc": counted(5, 5),
             "src/base/fake_clock.h": counted(0, 50), "apps/multus/main.cc": counted(0, 9), "src/sys/file.cc": counted(2, 2, 1, 1)}

    assert coverage.by_folder(files) == {"base": [10, 20, 3, 4], "sys": [2, 2, 1, 1], "in all": [12, 22, 4, 5]}


def test_a_folder_with_too_little_needs_a_reason(coverage, monkeypatch):
    sums = coverage.by_folder({"src/base/a.cc": counted(89, 100), "src/sys/b.cc": counted(5, 10), "src/aio/c.cc": counted(90, 100)})
    monkeypatch.setattr(coverage, "REASONS", {"sys": "only a kernel can"})

    said, lacking = coverage.table(sums)

    assert lacking == ["base"]
    assert [line for line in said if line.startswith("sys")][0].endswith("only a kernel can")


def test_no_reason_is_left_for_a_folder_that_is_gone(coverage):
    assert all((coverage.tree.ROOT / "src" / folder).is_dir() for folder in coverage.REASONS)
