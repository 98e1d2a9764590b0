"""The order of tests for workers side by side."""

import itertools


def dealt(tests, workers, waits):
    """Each worker begins with its share of the tests that wait for time to pass, so that no such test is the last. At first
    pytest-xdist hands each worker a quarter of its part, in a row, and the rest as they go."""
    if workers == 1:
        return tests
    hand = max(len(tests) // workers // 4, 2)
    waiting = [test for test in tests if waits(test)]
    others = iter([test for test in tests if not waits(test)])
    hands = []
    for worker in range(workers):
        own = waiting[worker::workers]
        hands += [*own, *itertools.islice(others, max(hand - len(own), 0))]
    return [*hands, *others]
