"""What was found clean before, so that it is not looked at again: remembered by a digest of everything that decides it, of files
by their content. The place of the clone does not count, so every clone uses the same memory."""

import hashlib
import json
import os
import re
from pathlib import Path

STATES_KEPT = 8  # of each thing: branches and clones take turns


def cache_folder():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def files_of_rule(rule, folder, root):
    """The files that a rule for make names, as a compiler that ran in `folder` writes it: relative to the root if they are
    below it."""
    names = re.sub(r"\\\n", " ", rule.split(":", 1)[1]).split()
    paths = (Path(os.path.normpath(folder / name)) for name in names)
    return sorted({os.path.relpath(path, root) if path.is_relative_to(root) else str(path) for path in paths})


class Memory:
    def __init__(self, folder, root):
        self.folder, self.root = folder, root
        self.digests = {}

    def knows(self, name, about):
        """Whether the file was clean when it and all that it included were as they are. `about`: texts that decide, too."""
        try:
            record = json.loads(self._record(name).read_text())
        except (OSError, ValueError):
            return False
        return self._digest(name, about, record["included"]) in record["clean"]

    def remember(self, name, about, included):
        path = self._record(name)
        try:
            clean = json.loads(path.read_text())["clean"]
        except (OSError, ValueError):
            clean = []
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps({"source": name, "included": included,
                                      "clean": [self._digest(name, about, included), *clean][:STATES_KEPT]}))
        beside.replace(path)

    def _record(self, name):
        return self.folder / (hashlib.sha256(name.encode()).hexdigest() + ".json")

    def _digest(self, name, about, included):
        parts = [*about, *(f"{path} {self._digest_of_file(path)}" for path in sorted({name, *included}))]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _digest_of_file(self, path):
        if path not in self.digests:
            self.digests[path] = self._look_at(path)
        return self.digests[path]

    def _look_at(self, path):
        """Ours by content; what packages installed by size and time, which is enough and cheaper."""
        full = self.root / path
        if not full.is_file():
            return "gone"
        if full.is_relative_to(self.root) and ".." not in Path(path).parts:
            return hashlib.sha256(full.read_bytes()).hexdigest()
        return f"{full.stat().st_size} {full.stat().st_mtime_ns}"
