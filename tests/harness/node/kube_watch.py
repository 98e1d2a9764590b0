"""kube-watch as a process, with a handler that writes down how it was called."""

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from harness.evidence.sanitizers import assert_clean
from harness.machine.wait import PATIENCE, until

# Then does what is in $BEHAVIOUR, if anything.
HANDLER = r"""#!/bin/sh
{ printf '%s\0' "$KUBE_WATCH_EVENT" "$KUBE_WATCH_NAMESPACE/$KUBE_WATCH_NAME" "$KUBE_WATCH_OVERSIZE" "$1" "$2" "$3"
  printf '\n--\n'; } >> "$CALLS"
eval "$BEHAVIOUR"
"""


@dataclass(frozen=True)
class Call:
    event: str
    object: str
    oversize: str
    channel: str
    current: str
    previous: str


class KubeWatch:
    """Runs until stopped. `through`: words before the program's."""

    def __init__(self, program, folder, *words, behaviour="", through=(), env=None, environment=None):
        self.folder = Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.channel = self.folder / "run" / "channel"
        self.handler = self.folder / "handler"
        self.handler.write_text(HANDLER)
        self.handler.chmod(0o755)
        self._calls = self.folder / "calls"
        self.out, self.err = self.folder / "out", self.folder / "err"
        variables = {"PATH": os.environ["PATH"], "CALLS": str(self._calls), "BEHAVIOUR": behaviour, **(env or {})}
        with open(self.out, "ab") as out, open(self.err, "ab") as err:
            self.process = subprocess.Popen(
                [*through, str(program), *words, f"--handler={self.handler}", f"--channel={self.channel}"],
                stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                env=variables if environment is None else environment, cwd=self.folder)

    def calls(self):
        if not self._calls.exists():
            return []
        records = self._calls.read_bytes().split(b"\n--\n")[:-1]
        return [Call(*(field.decode() for field in record.split(b"\0")[:6])) for record in records]

    def values(self):
        """(current, previous) of each call."""
        return [(call.current, call.previous) for call in self.calls()]

    def wait_values(self, *wanted, timeout=PATIENCE):
        """Until these were the calls, and the last one is over."""
        until(lambda: self.values() == list(wanted) and self.channel.read_text() == "",
              lambda: f"calls {list(wanted)}, got {self.values()}; stderr: {self.err.read_text()}", timeout)

    def wait_said(self, text, timeout=PATIENCE):
        until(lambda: text in self.out.read_text() + self.err.read_text(),
              lambda: f"{text!r} in {self.out.read_text()}{self.err.read_text()}", timeout)

    def stop(self, how=signal.SIGTERM, timeout=PATIENCE):
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            status = self.process.wait(timeout)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
        assert_clean(self.err.read_text())
        return status
