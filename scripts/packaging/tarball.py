"""The programs of one machine, all of them static, in a tar file that is unpacked anywhere."""

import gzip
import json

from images import oci, parts
from lib import tree
from packaging import manuals

# By name: the folder of the build.
PROGRAMS = {"multus-daemon": "static", **dict.fromkeys(["multus-shim", "multus", "passthru", "multusctl", "cni-node", "kube-watch"], "bin")}
README = ["README.md", "LICENSE", "CHANGELOG.md"]


def contents(root, build, native, machine, version, date):
    """The tree of the file, below a folder `root`."""
    made = oci.Tree()
    for name, folder in PROGRAMS.items():
        made.file(f"/{root}/bin/{name}", (build / folder / name).read_bytes(), 0o755)
    for name in manuals.PAGES:
        place = manuals.path_of(name).removeprefix("/usr/")
        made.file(f"/{root}/{place}", manuals.page(native / "bin" / name, version, date))
    for name in README:
        made.file(f"/{root}/{name}", (tree.ROOT / name).read_bytes())
    add_service(made, root)
    parts.add_licences(made, parts.packages_of_programs(machine, build, PROGRAMS), f"/{root}/share")
    return made


def add_service(made, root):
    """What the package installs, for this folder below /opt and for plugins in the usual place."""
    packaging = tree.ROOT / "packaging"
    config = json.loads((packaging / "daemon-config.json").read_text())
    del config["binDir"]
    made.file(f"/{root}/share/daemon-config.json", (json.dumps(config, indent=2) + "\n").encode())
    unit = (packaging / "multus-daemon.service").read_text().replace("/usr/sbin/multus-daemon", f"/opt/{root}/bin/multus-daemon")
    made.file(f"/{root}/share/multus-daemon.service", unit.encode())


def compressed(made, date):
    return gzip.compress(made.tar(date), 9, mtime=0)
