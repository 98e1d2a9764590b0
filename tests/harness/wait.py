"""Waiting for a condition, never for a time."""

import time


class Late(AssertionError):
    """The condition did not come true in time."""


def until(condition, what, timeout=10.0):
    """Returns the first true value of condition(); fails with `what` when there is none in time."""
    deadline = time.monotonic() + timeout
    pause = 0.001
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Late(f"not within {timeout:g} s: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
