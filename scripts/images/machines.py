"""Which machine the programs of a build are for, and where what they need is found."""

import re

from images import parts


def of_build(build):
    """A cross build says in its cache where the packages are."""
    cache = build / "CMakeCache.txt"
    kept = re.search(r"^MNET_SYSROOT:PATH=(/.+)$", cache.read_text(), re.M) if cache.exists() else None
    return parts.Unpacked(kept[1], "aarch64-linux-gnu") if kept else parts.Installed()
