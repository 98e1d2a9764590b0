"""What pods may not leave behind on a whole node. The node's own parts come and go, so some things are counted."""

import collections
import re

from harness.evidence.leaks import IPAM_DIR, LeakCheck, unexpected
from harness.machine.wait import Late, until

RESULTS = "/var/lib/cni/results"  # the container runtime's
# The parts of a mount point that are named anew for each container or pod.
CHANGING = re.compile(r"[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|kube-api-access-\w+|cni-[0-9a-f-]{36}")


class NodeLeaks:
    """Remembers the state at the start; `check()` waits until nothing else is left."""

    def __init__(self, node):
        self.node = node
        self.before = self._count()

    @property
    def host(self):
        return self.node.host  # another one after a reboot

    def check(self, allowed=(), timeout=120):
        """`allowed`: patterns of what may stay."""
        def left():
            more = self._count() - self.before
            return {what: more[what] for what in unexpected(more, allowed)}
        try:
            until(lambda: not left(), "nothing left over", timeout)
        except Late:
            lines = [f"{count} x {what}{self._holder(what)}" for what, count in sorted(left().items())]
            raise AssertionError("left over on the node:\n  " + "\n  ".join(lines)) from None
        self._say()

    def _count(self):
        parts = LeakCheck(self.host)
        parts.links = set()
        # A daemon that was killed leaves half-written files; they are swept when they are ten minutes old.
        found = [what for what in parts.persistent() if "/.multus-tmp-" not in what]
        found += [f"result {name}" for name in self._files(RESULTS)]
        found += [f"namespace {CHANGING.sub('*', name)}" for name in self._files("/run/netns")]
        found += [f"mount {CHANGING.sub('*', place)}" for place in self._mounts()]
        found += [f"process {line.split(' ')[0].split('/')[-1]}" for line in self.host.processes().values() if line]
        return collections.Counter(found)

    def _holder(self, what):
        """Whose an address is: container and interface."""
        kind, _, name = what.partition(" ")
        return f", held by {self.host.path(f'{IPAM_DIR}/{name}').read_bytes()!r}" if kind == "address" else ""

    def _files(self, folder):
        return self.host.files_below(folder) if self.host.path(folder).is_dir() else []

    def _mounts(self):
        with open(f"/proc/{self.host.pid}/mountinfo", encoding="ascii") as lines:
            return [line.split()[4] for line in lines]

    def _say(self):
        kinds = collections.Counter()
        for what, count in self._count().items():
            kinds[what.split(" ")[0]] += count
        print("left on the node, as before: " + ", ".join(f"{kinds[kind]} {kind}" for kind in (
            "address", "link", "record", "result", "namespace", "mount", "process")), flush=True)
