"""multusctl on a whole node: what it said, and trials of networks."""

import re

from harness.machine.host import PROGRAMS

CTL = f"{PROGRAMS}/multusctl"


def hint_in(line):
    """The command that the line names."""
    return re.search(r"((?:kubectl|multusctl|ctr) [^`()]*)", line)[1].strip()


class Said:
    def __init__(self, done):
        self.exit, self.out, self.err = done.returncode, done.stdout, done.stderr
        print(f"exit {self.exit}\n{self.out}{self.err}", flush=True)

    @property
    def all(self):
        return self.out + self.err

    def line(self, part):
        found = [line for line in self.all.splitlines() if part in line]
        assert found, f"{part!r} is not in\n{self.all}"
        return found[0]

    def hint(self, part):
        return hint_in(self.line(part))


def pods_left(space):
    return space.items("pods", "-l", "app=multusctl-test")


def trial(space, outside, name, *words):
    said = outside("test", "--network", f"{space.name}/{name}", "--yes", "--timeout", "60", *words)
    assert pods_left(space) == []
    return said
