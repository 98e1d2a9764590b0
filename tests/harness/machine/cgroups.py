"""Cgroups of tests. Without cgroup namespaces they do not end by themselves: the code that makes one must remove it."""

import os
import uuid
from pathlib import Path

from harness.machine.wait import until

CGROUPS = Path("/sys/fs/cgroup")


def new_name(kind="test"):
    return f"mnet-{kind}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


def is_version_2():
    """Whether it is all there is; where both are mounted, version 1 has the controllers."""
    return (CGROUPS / "cgroup.controllers").exists()


def hierarchies():
    """The folder of each hierarchy: one for each group of controllers with version 1, a single one with version 2."""
    if is_version_2():
        return [CGROUPS]
    return sorted(folder for folder in CGROUPS.iterdir() if folder.is_dir() and not folder.is_symlink())


def make(name):
    for hierarchy in hierarchies():
        (hierarchy / name).mkdir(exist_ok=True)


def remove(name):
    """Removes it with everything below it, as soon as it is empty."""
    # Cgroups of other programs may vanish meanwhile; os.walk tolerates that.
    left = sorted((Path(folder) for folder, _, _ in os.walk(CGROUPS) if name in folder.split("/")), reverse=True)
    for folder in left:
        until(lambda folder=folder: removed(folder), f"{folder} empty")


def removed(folder):
    try:
        folder.rmdir()
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def remove_orphans(kind):
    """Those of test runs that died."""
    names = {folder.name for hierarchy in hierarchies() for folder in hierarchy.glob(f"mnet-{kind}-*")}
    for name in names:
        if not Path(f"/proc/{name.split('-')[2]}").exists():
            remove(name)
