"""Processes with huge environments, as anyone who runs pods on a node may have them."""

import contextlib
import os
import signal
import subprocess

from harness.machine.host import children_of
from harness.machine.wait import until

SIZE = 4_000_000
SOURCE = """
import os, resource, sys, time
# exec takes a quarter of the limit for stacks, and 6 MiB at most.
resource.setrlimit(resource.RLIMIT_STACK, (64 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
filler = {f"FILLER_{i}": "x" * 100_000 for i in range(40)}
more = {f"MORE_{i}": "x" * 100_000 for i in range(20)}
for i in range(int(sys.argv[1])):
    if os.fork() == 0:
        os.setpgid(0, 0)
        os.execve("/bin/sleep", ["sleep", "1000"], filler if i else {**filler, **more, "MULTUS_REQUEST_ID": "r1"})
print("up", flush=True)
time.sleep(1000)
"""


def environment(pid):
    """Empty if the process has ended."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


class Crowd:
    """The first of them looks like a delegate that a killed daemon left."""

    def __init__(self, host, size):
        self.parent = host.spawn("/usr/bin/python3", "-c", SOURCE, str(size), stdout=subprocess.PIPE)
        assert self.parent.stdout.readline() == b"up\n"
        until(lambda: all(len(environment(pid)) > SIZE for pid in self.pids), f"{size} environments")
        assert len(self.pids) == size

    @property
    def pids(self):
        return children_of(self.parent.pid)

    def living(self):
        return [pid for pid in self.pids if environment(pid)]

    def close(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGKILL)
        self.parent.signal(signal.SIGKILL)
        self.parent.wait()


@contextlib.contextmanager
def crowd(host, size):
    made = Crowd(host, size)
    try:
        yield made
    finally:
        made.close()
