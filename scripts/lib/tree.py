"""The files of the source tree: what git knows, or, in a tarball, what lies there."""

import argparse
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def files(root=ROOT):
    """Paths relative to the root, sorted. Files not yet added to git belong to it, ignored ones do not."""
    root = Path(root)
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"], check=True, capture_output=True, text=True).stdout
        names = {name for name in listed.split("\0") if name}
    else:
        names = {os.path.relpath(os.path.join(folder, name), root)
                 for folder, folders, found in os.walk(root) for name in found
                 if not os.path.relpath(folder, root).startswith("build")}
    return sorted(Path(name) for name in names if (root / name).is_file())


def folder(name):
    if not Path(name).is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {name}")
    return Path(name).resolve()


def arguments(about):
    """A parser that prints `about` unchanged for --help."""
    return argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)


def chosen(about):
    """The tree to check: the one named on the command line, else our own."""
    parser = arguments(about)
    parser.add_argument("tree", nargs="?", type=folder, default=ROOT, metavar="TREE")
    return parser.parse_args().tree


def report(program, complaints):
    """Prints the complaints and gives the exit status."""
    for complaint in complaints:
        print(f"{program}: {complaint}")
    return 1 if complaints else 0
