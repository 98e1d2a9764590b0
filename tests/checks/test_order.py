"""In which order workers get their tests."""

import pytest
from harness.machine.order import dealt


def waits(test):
    return test.startswith("slow")


TESTS = [f"test{number:02}" for number in range(36)] + [f"slow{number}" for number in range(4)]


def test_each_worker_begins_with_its_share_of_what_waits():
    order = dealt(TESTS, 2, waits)

    hand = len(TESTS) // 2 // 4
    assert order[:3] == ["slow0", "slow2", "test00"]
    assert order[hand:hand + 3] == ["slow1", "slow3", "test03"]


@pytest.mark.parametrize("workers", [1, 2, 3, 7, 40])
def test_no_test_is_lost(workers):
    assert sorted(dealt(TESTS, workers, waits)) == sorted(TESTS)


def test_one_worker_keeps_the_order():
    assert dealt(TESTS, 1, waits) == TESTS
