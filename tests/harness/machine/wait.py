"""Waiting for a condition, never for a time."""

import time

# How long something may take on a machine that is busy with other things. Waiting ends with the condition, so this
# costs nothing if things work.
PATIENCE = 90.0


class Late(AssertionError):
    """The condition did not come true in time."""


def whole_lines(path):
    """The lines of a file that other processes may be writing to, without a last line that is not complete yet."""
    return path.read_text(errors="replace").split("\n")[:-1]


def until(condition, what, timeout=PATIENCE):
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
