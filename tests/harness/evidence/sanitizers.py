"""What the sanitizers of an asan or tsan build print when they find something."""

import re

REPORT = re.compile(r"ERROR: \w+Sanitizer|runtime error:|WARNING: ThreadSanitizer")


def assert_clean(text):
    assert not REPORT.search(text), text


def are_in(program):
    """Whether they are compiled in."""
    return b"__asan_init" in program.read_bytes()
