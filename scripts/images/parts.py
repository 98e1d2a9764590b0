"""What a program is made of: the shared libraries it needs, the Debian packages these and the libraries inside it come
from, and their licences."""

import gzip
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lib import tree

COMMON_LICENCES = Path("/usr/share/common-licenses")
LONG = 200_000  # Boost's copyright file has two megabytes
# By source package. A package that is not listed fails the build: a person has to read its licence first.
LICENCES = {
    "bash": "GPL-3.0-or-later",
    "boost1.81": "BSL-1.0",
    "busybox": "GPL-2.0-only",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "ncurses": "X11-distribute-modifications-variant",
    "nghttp2": "MIT",
    "openssl": "Apache-2.0",
    "yaml-cpp": "MIT",
    "zlib": "Zlib",
}
# In every program, without a trace in its link command: what the compiler adds, and libraries that are only headers.
ALWAYS = ["libc6-dev", "libstdc++-12-dev", "libgcc-12-dev", "libboost1.81-dev"]
ARCHITECTURES = {0x3e: "amd64", 0xb7: "arm64", 0x28: "arm", 0x15: "ppc64le", 0x16: "s390x"}


def output(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


@dataclass(frozen=True)
class Package:
    """A Debian source package of which something is installed."""

    name: str
    version: str
    copyright: bytes

    @property
    def licence(self):
        if self.name not in LICENCES:
            raise LookupError(f"the licence of {self.name} is not in scripts/images/parts.py")
        return LICENCES[self.name]


def architecture(program):
    """Of an ELF file, as image configurations name it."""
    header = Path(program).read_bytes()[:20]
    if header[:4] != b"\x7fELF":
        raise ValueError(f"{program} is not an ELF file")
    return ARCHITECTURES[int.from_bytes(header[18:20], "big" if header[5] == 2 else "little")]


class Installed:
    """Packages that this machine has installed, for programs that run on it."""

    root = Path("/")

    @cache
    def package(self, name):
        fields = output("dpkg-query", "-W", "-f", "${Package}\t${source:Package}\t${source:Version}\n", name)
        name, source, version = fields.splitlines()[0].split("\t")
        return Package(source, version, Path(f"/usr/share/doc/{name}/copyright").read_bytes())

    @cache
    def name_of(self, path):
        """The installed package that brought the file. dpkg knows many files of /usr/lib as /lib."""
        real = str(Path(path).resolve())
        for known in (real, real.removeprefix("/usr")):
            asked = subprocess.run(["dpkg-query", "-S", known], capture_output=True, text=True)
            if asked.returncode == 0:
                return asked.stdout.partition(": ")[0].partition(":")[0]
        raise LookupError(f"{path} belongs to no package")

    def package_of(self, path):
        return self.package(self.name_of(path))

    def libraries(self, program):
        """Paths as the loader finds them, including the loader itself. Empty for a static program."""
        if "INTERP" not in output("readelf", "-lW", program):
            return []
        listed = output("ldd", program)
        if "not found" in listed:
            raise LookupError(f"{program}: {listed}")
        return re.findall(r"(?:^|=> )\s*(/\S+)", listed, re.M)


class Unpacked(Installed):
    """Packages of another machine (scripts/supply/sysroot). Paths are as that machine would see them."""

    def __init__(self, root, triplet):
        self.root = Path(root)
        self.folders = [f"/usr/lib/{triplet}", f"/lib/{triplet}", "/usr/lib", "/lib"]

    @cache
    def archives(self):
        """By package: source, its version, and the files."""
        found = {}
        for archive in sorted((self.root / "var/cache/apt/archives").glob("*.deb")):
            name, source, version = output("dpkg-deb", "-W", "--showformat=${Package}\t${source:Package}\t${source:Version}",
                                           archive).split("\t")
            files = {line.split()[5].lstrip(".") for line in output("dpkg-deb", "-c", archive).splitlines()}
            found[name] = (source, version, files)
        return found

    @cache
    def package(self, name):
        source, version, _ = self.archives()[name]
        return Package(source, version, (self.root / f"usr/share/doc/{name}/copyright").read_bytes())

    @cache
    def name_of(self, path):
        inside = str(path).removeprefix(str(self.root))
        inside = "/" + str((self.root / inside.lstrip("/")).resolve().relative_to(self.root.resolve()))
        for name, (_, _, files) in self.archives().items():
            if inside in files or inside.removeprefix("/usr") in files:
                return name
        raise LookupError(f"{path} belongs to no package")

    def libraries(self, program):
        header = output("readelf", "-lW", program)
        loader = re.search(r"interpreter: (\S+?)]", header)
        return sorted({*self.needed(program), loader[1]}) if loader else []

    def needed(self, program):
        """What it asks the loader for, and what that asks for."""
        found = set()
        for name in re.findall(r"\(NEEDED\).*\[(.*)]", output("readelf", "-dW", program)):
            path = next((f"{folder}/{name}" for folder in self.folders if (self.root / folder.lstrip("/") / name).exists()), None)
            if path is None:
                raise LookupError(f"{program}: {name} is not in {self.root}")
            found |= {path} | self.needed(self.root / path.lstrip("/"))
        return found


def linked_packages(machine, build, name):
    """Packages of the libraries that the link command of bin/<name> names."""
    link = output("ninja", "-C", build, "-t", "commands", f"bin/{name}").splitlines()[-1]
    target = re.findall(r"--target=\S+|--sysroot=\S+", link)
    search = output("clang++-19", *target, "-print-search-dirs").partition("libraries: =")[2].strip().split(":")
    for word in link.split(" && ")[1].split():
        if word.startswith("-l"):
            files = [Path(folder) / f"lib{word[2:]}{suffix}" for suffix in (".a", ".so") for folder in search]
            yield machine.package_of(next(file for file in files if file.exists()))
        elif word.startswith(f"{str(machine.root).rstrip('/')}/usr/lib/") and re.search(r"\.(a|so)$", word):
            yield machine.package_of(word)


def packages_of_programs(machine, build, names):
    """All that is inside our programs or beside them, each once."""
    found = [machine.package(name) for name in ALWAYS]
    for name in names:
        found += linked_packages(machine, build, name)
        found += [machine.package_of(path) for path in machine.libraries(build / "bin" / name)]
    return sorted({one.name: one for one in found}.values(), key=lambda one: one.name)


def add_licences(made, packages, share="/usr/share"):
    """Our own licence, the copyright file of each package, and the licence texts that these refer to."""
    made.file(f"{share}/doc/multus/copyright", (tree.ROOT / "LICENSE").read_bytes())
    add_copyrights(made, packages, f"{share}/doc")
    for one in packages:
        for name in re.findall(rf"{COMMON_LICENCES}/([\w.-]*\w)", one.copyright.decode(errors="replace")):
            if (COMMON_LICENCES / name).exists():
                made.file(f"{share}/{COMMON_LICENCES.name}/{name}", (COMMON_LICENCES / name).read_bytes())


def add_copyrights(made, packages, folder):
    for one in packages:
        if len(one.copyright) > LONG:
            made.file(f"{folder}/{one.name}/copyright.gz", gzip.compress(one.copyright, 9, mtime=0))
        else:
            made.file(f"{folder}/{one.name}/copyright", one.copyright)
