"""What `make release` made, on a fresh Debian 12: installed from packages and from the tarball, used, and removed again.

Not part of `make test`: `make try-packages` runs it on dist/."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ.get("DIST", ROOT / "dist"))
VERSION = (ROOT / "VERSION").read_text().strip()
ALL = ["multus-cpp", "multusctl", "cni-node"]
SOURCES = "/etc/apt/sources.list.d/debian.sources"


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


class Machine:
    """The root of a Debian 12."""

    def __init__(self, root):
        self.root = root

    def run(self, *words):
        return run("chroot", self.root, *words, env={"PATH": os.environ["PATH"], "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})

    def use(self, *words):
        """The test of README, with a network and mounts of its own."""
        shutil.copy(ROOT / "tests" / "packages" / "use.sh", self.root / "use.sh")
        said = run("unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "chroot", self.root, "/use.sh", *words)
        assert said.endswith("a container with two networks: ok\n")

    def files(self):
        return {str(path.relative_to(self.root)) for folder in ("etc", "usr", "var/lib/cni", "opt")
                for path in (self.root / folder).rglob("*") if "/dpkg/" not in str(path)}


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    root = tmp_path_factory.mktemp("debian") / "root"
    run("mmdebstrap", "--quiet", "--mode=root", "--variant=minbase", "--skip=cleanup/apt/lists",
        "--include=systemd,iproute2,containernetworking-plugins,libssl3,libnghttp2-14,libprometheus-cpp-core1.0", "bookworm", root, SOURCES)
    yield Machine(root)
    shutil.rmtree(root)


def of_plugins(files):
    """host-local's memory of addresses, which belongs to another package, and the folders above it."""
    return {path for path in files if path.startswith("var/lib/cni/networks") or path in ("etc/cni", "etc/cni/net.d")}


def packages():
    found = [DIST / f"{name}_{VERSION}_amd64.deb" for name in ALL]
    assert all(path.exists() for path in found), f"`make release` makes {DIST}"
    return found


def test_lintian_finds_nothing_without_a_reason():
    found = subprocess.run(["lintian", "--allow-root", "--fail-on=error,warning", *packages()], capture_output=True, text=True)

    assert found.returncode == 0, found.stdout


def test_packages_are_installed_used_and_purged(machine):
    before = machine.files()
    for path in packages():
        shutil.copy(path, machine.root / "tmp")
    machine.run("apt-get", "install", "-y", "--no-install-recommends", *(f"/tmp/{path.name}" for path in packages()))

    assert machine.run("systemd-analyze", "--man=no", "verify", "multus-daemon.service") == ""
    assert VERSION in machine.run("multusctl", "version")
    assert (machine.root / "usr/share/man/man8/multus-daemon.8.gz").exists()
    machine.use("/usr/sbin", "/usr/lib/cni", "/etc/cni/net.d/multus.d/daemon-config.json")

    machine.run("apt-get", "purge", "-y", *ALL)
    assert machine.files() - before - of_plugins(machine.files()) == set()


def test_the_tarball_is_unpacked_used_and_removed(machine):
    name = f"multus-cpp-{VERSION}-linux-amd64"
    with tarfile.open(DIST / f"{name}.tar.gz") as archive:
        archive.extractall(machine.root / "opt")
    config = machine.root / "etc/cni/net.d/multus.d/daemon-config.json"
    for folder in (config.parent, machine.root / "etc/cni/multus/objects"):
        folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "packaging" / "daemon-config.json", config)

    machine.use(f"/opt/{name}/bin", f"/opt/{name}/bin", "/etc/cni/net.d/multus.d/daemon-config.json")
