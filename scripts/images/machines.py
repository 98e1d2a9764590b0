"""Which machine the programs of a build are for, and where what they need is found."""

import re

from images import parts


def of_build(build):
    """A cross build says in its cache where the packages are."""
    kept = re.search(r"^MNET_SYSROOT:PATH=(/.+)$", (build / "CMakeCache.txt").read_text(), re.M)
    return parts.Unpacked(kept[1], "aarch64-linux-gnu") if kept else parts.Installed()
