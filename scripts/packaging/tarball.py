"""The programs of one machine in a tar file that is unpacked anywhere. All are static but the daemon, which brings its
libraries and the loader of the same C library."""

import gzip
import json
from pathlib import Path

from images import oci
from lib import tree
from packaging import manuals

STATIC = ["multus-shim", "multus", "passthru", "multusctl", "cni-node", "kube-watch"]
LIBRARIES = "lib/multus-cpp"
START = """#!/bin/sh
# The daemon with the libraries that it was built with, wherever this folder lies.
here=$(dirname "$(readlink -f "$0")")
exec "$here/../{libraries}/{loader}" --library-path "$here/../{libraries}" "$here/../{libraries}/multus-daemon" "$@"
"""
README = ["README.md", "LICENSE", "CHANGELOG.md"]


def contents(root, build, native, machine, version, date):
    """The tree of the file, below a folder `root`."""
    made = oci.Tree()
    for name in STATIC:
        made.file(f"/{root}/bin/{name}", (build / "bin" / name).read_bytes(), 0o755)
    add_daemon(made, root, build / "bin" / "multus-daemon", machine)
    for name in manuals.PAGES:
        place = manuals.path_of(name).removeprefix("/usr/")
        made.file(f"/{root}/{place}", manuals.page(native / "bin" / name, version, date))
    for name in README:
        made.file(f"/{root}/{name}", (tree.ROOT / name).read_bytes())
    add_service(made, root)
    return made


def add_service(made, root):
    """What the package installs, for this folder below /opt and for plugins in the usual place."""
    packaging = tree.ROOT / "packaging"
    config = json.loads((packaging / "daemon-config.json").read_text())
    del config["binDir"]
    made.file(f"/{root}/share/daemon-config.json", (json.dumps(config, indent=2) + "\n").encode())
    unit = (packaging / "multus-daemon.service").read_text().replace("/usr/sbin/multus-daemon", f"/opt/{root}/bin/multus-daemon")
    made.file(f"/{root}/share/multus-daemon.service", unit.encode())


def add_daemon(made, root, program, machine):
    loaded = machine.libraries(program)
    loader = next(Path(path).name for path in loaded if Path(path).name.startswith("ld-linux"))
    for path in loaded:
        made.file(f"/{root}/{LIBRARIES}/{Path(path).name}", (machine.root / path.lstrip("/")).read_bytes(), 0o755)
    made.file(f"/{root}/{LIBRARIES}/multus-daemon", program.read_bytes(), 0o755)
    made.file(f"/{root}/bin/multus-daemon", START.format(libraries=LIBRARIES, loader=loader).encode(), 0o755)


def compressed(made, date):
    return gzip.compress(made.tar(date), 9, mtime=0)
