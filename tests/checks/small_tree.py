"""What the tests of the checks share."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "scripts"


class Tree:
    """A small source tree."""

    def __init__(self, path):
        self.path = path

    def write(self, name, content):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path

    def copy(self, *names):
        for name in names:
            self.write(name, (ROOT / name).read_text())

    def check(self, script, *words):
        return run(SCRIPTS / script, *words, self.path)


def run(*command, **options):
    return subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)
