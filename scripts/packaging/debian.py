"""Debian packages from the programs of a release build, with dpkg-deb. The same programs and date give the same bytes."""

import gzip
import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

from images import oci, parts
from lib import tree
from packaging import manuals

FILES = tree.ROOT / "packaging"
MAINTAINER = "The multus-cpp authors <multus-cpp@multus-cpp.invalid>"


@dataclass
class Package:
    name: str
    about: str
    text: str
    programs: dict  # by path in the package
    files: dict = field(default_factory=dict)  # from packaging/, by path in the package
    folders: list = field(default_factory=list)
    links: dict = field(default_factory=dict)
    depends: list = field(default_factory=list)
    recommends: str = ""

    @property
    def configurations(self):
        return [path for path in self.files if path.startswith("/etc/")]


PACKAGES = [
    Package("multus-cpp", "Several network interfaces for containers and pods",
            "A CNI plugin that calls other CNI plugins: a drop-in replacement of Multus.\n"
            "The daemon with its shim, the variant without a daemon, and passthru.",
            {"/usr/sbin/multus-daemon": "multus-daemon", "/usr/lib/cni/multus-shim": "multus-shim", "/usr/lib/cni/multus": "multus",
             "/usr/lib/cni/passthru": "passthru"},
            {"/usr/lib/systemd/system/multus-daemon.service": "multus-daemon.service",
             "/usr/lib/tmpfiles.d/multus-cpp.conf": "tmpfiles.conf",
             "/etc/cni/net.d/multus.d/daemon-config.json": "daemon-config.json"},
            folders=["/etc/cni/multus/objects", "/etc/cni/multus/net.d", "/etc/cni/net.d/multus.d/daemon-config.d"],
            recommends="containernetworking-plugins, multusctl"),
    Package("multusctl", "Questions and answers about Multus, also as kubectl multus",
            "Finds mistakes in network definitions and pods, explains what would be\nattached to a pod and why, shows how the daemons are.",
            {"/usr/bin/multusctl": "multusctl"}, links={"/usr/bin/kubectl-multus": "multusctl", "/usr/share/man/man1/kubectl-multus.1.gz": "multusctl.1.gz"}),
    Package("cni-node", "Puts CNI plugins, configurations and objects on a node",
            "cni-node installs CNI plugins and configurations on a node and removes\nthem again; kube-watch runs a program when an object or a file changes.",
            {"/usr/sbin/cni-node": "cni-node", "/usr/sbin/kube-watch": "kube-watch"}),
]


class Builder:
    """For one machine. `build` has the programs, `native` programs of the same source that run here and say what their
    manual pages hold."""

    def __init__(self, build, native, machine, arch, version, date):
        self.build, self.native, self.machine = build, native, machine
        self.arch, self.version, self.date = arch, version, date

    def write(self, package, folder):
        staged = self._contents(package)
        staged.file(f"/usr/share/doc/{package.name}/changelog.gz", gzip.compress(self._changelog(package.name), 9, mtime=0))
        self._add_control(package, staged)
        target = Path(folder) / f"{package.name}_{self.version}_{self.arch}.deb"
        with tempfile.TemporaryDirectory() as place:
            staged.write(Path(place) / "root", self.date)
            subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", f"{place}/root", target], check=True,
                           stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": str(self.date)})
        return target

    def _contents(self, package):
        staged = oci.Tree()
        for path, program in package.programs.items():
            staged.file(path, (self.build / "bin" / program).read_bytes(), 0o755)
            staged.file(manuals.path_of(program), manuals.page(self.native / "bin" / program, self.version, self.date))
        for path, source in package.files.items():
            staged.file(path, (FILES / source).read_bytes())
        for path in package.folders:
            staged.folder(path)
        for path, target in package.links.items():
            staged.link(path, target)
        licence = ("Copyright 2026 the multus-cpp authors. Licence: Apache-2.0, /usr/share/common-licenses/Apache-2.0.\n"
                   "The folders here have those of the libraries that the programs contain or load.\n")
        staged.file(f"/usr/share/doc/{package.name}/copyright", licence.encode())
        inside = parts.packages_of_programs(self.machine, self.build, package.programs.values())
        parts.add_copyrights(staged, inside, f"/usr/share/doc/{package.name}")
        staged.file(f"/usr/share/lintian/overrides/{package.name}",
                    (FILES / "debian" / f"{package.name}.lintian-overrides").read_bytes())
        return staged

    def _changelog(self, name):
        day = format_datetime(datetime.fromtimestamp(self.date, timezone.utc))
        return (f"{name} ({self.version}) unstable; urgency=medium\n\n  * CHANGELOG.md of the source says what changed.\n\n"
                f" -- {MAINTAINER}  {day}\n").encode()

    def _add_control(self, package, staged):
        sums = [f"{hashlib.md5(content).hexdigest()}  {str(path).lstrip('/')}\n"
                for path, (content, _) in sorted(staged.entries.items()) if isinstance(content, bytes)]
        staged.file("/DEBIAN/control", self._control(package, staged.size()).encode())
        staged.file("/DEBIAN/md5sums", "".join(sums).encode())
        if package.configurations:
            staged.file("/DEBIAN/conffiles", "".join(f"{path}\n" for path in package.configurations).encode())
        for script in ("postinst", "prerm", "postrm"):
            source = FILES / "debian" / f"{package.name}.{script}"
            if source.exists():
                staged.file(f"/DEBIAN/{script}", source.read_bytes(), 0o755)

    def _control(self, package, size):
        fields = {"Package": package.name, "Version": self.version, "Architecture": self.arch, "Maintainer": MAINTAINER,
                  "Installed-Size": str(size // 1024 + 1), "Depends": ", ".join(self._depends(package)),
                  "Recommends": package.recommends, "Section": "net", "Priority": "optional",
                  "Description": package.about + "".join(f"\n {line}" for line in package.text.splitlines())}
        return "".join(f"{key}: {value}\n" for key, value in fields.items() if value)

    def _depends(self, package):
        """The packages of the shared libraries that its programs load."""
        found = {self.machine.name_of(path) for program in package.programs.values()
                 for path in self.machine.libraries(self.build / "bin" / program)}
        return sorted(found)
