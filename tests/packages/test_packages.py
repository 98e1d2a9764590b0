"""What `make release` made, on a fresh Debian 12: installed from packages and from the tarball, used, and removed again.

Not part of `make test`: `make try-packages` runs it on dist/."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.docs import guide
from harness.images import released as release

ROOT = Path(__file__).resolve().parents[2]
DIST = Path(os.environ.get("DIST", ROOT / "dist"))
VERSION = (ROOT / "VERSION").read_text().strip()
ALL = ["multus-cpp", "multusctl", "cni-node"]
# What runs a program of a machine here, and its name in ELF files.
MACHINES = {"amd64": ([], "X86-64"), "arm64": (["qemu-aarch64-static"], "AArch64")}
# How a program of the tarball is asked for its version. passthru has that of the original's in its text.
VERSION_OF = {**dict.fromkeys(["multus-daemon", "multus-shim", "multus"], "-version"),
              **dict.fromkeys(["multusctl", "cni-node", "kube-watch"], "version")}
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
        # With /proc: without it systemd-tmpfiles, which the package calls, does nothing.
        inside = ["unshare", "--mount", "sh", "-ec", 'mount -t proc none "$1/proc"; exec chroot "$@"', "machine", self.root]
        return run(*inside, *words, env={"PATH": os.environ["PATH"], "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"})

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
        "--include=systemd,iproute2,containernetworking-plugins,libssl3,libnghttp2-14", "bookworm", root, SOURCES)
    yield Machine(root)
    shutil.rmtree(root)


def of_plugins(files):
    """host-local's memory of addresses, which belongs to another package, and the folders above it."""
    return {path for path in files if path.startswith("var/lib/cni/networks") or path in ("etc/cni", "etc/cni/net.d")}


def packages():
    found = [DIST / f"{name}_{VERSION}_amd64.deb" for name in ALL]
    assert all(path.exists() for path in found), f"`make release` makes {DIST}"
    return found


@pytest.fixture
def released(tmp_path):
    """A folder in which dist/ lies, and what runs a script there."""
    (tmp_path / "dist").symlink_to(DIST)

    def call(script, cwd=tmp_path):
        return run("bash", "-euc", script, cwd=cwd)
    call.folder = tmp_path
    return call


def registry_as(place, script):
    """There is no registry here: what is copied to one goes to a folder."""
    replaced = script.replace(f"docker://registry.example/multus:{VERSION}", f"dir:{place}")
    assert replaced != script
    return replaced


def test_readmes_image_and_chart_are_taken_by_the_programs_that_it_names(released):
    """helm renders instead of installing: tests/node_e2e/test_chart.py does that. Without a cluster to ask, it has to be told the version."""
    (example,) = guide.examples("../README.md", "release")
    helm = run(ROOT / "scripts/supply/go-tool", "helm").strip()

    said = released(f'helm() {{ shift; {helm} template --kube-version 1.34 "$@"; }}\n{registry_as(released.folder / "image", example.script)}')

    assert f"image: registry.example/multus:{VERSION}" in said
    assert (released.folder / "image" / "manifest.json").exists()


# Everything that podman keeps goes with the namespace; only a container runtime that runs has a socket for ctr.
OWN_STORE = """mount -t tmpfs none /run && mount -t tmpfs none /var/lib
ctr() { [ "$*" = "-n k8s.io images import --digests --base-name localhost/multus multus-%s.oci.tar" ] && tar -tf "${@: -1}" oci-layout; }
podman() { command podman --storage-driver vfs "$@"; }
"""


def test_the_images_are_taken_by_the_programs_that_the_page_names(released):
    (example,) = guide.examples("releases.md", "images")
    script = OWN_STORE % VERSION + registry_as(released.folder / "image", example.script)

    said = run("unshare", "--mount", "bash", "-euc", script, cwd=DIST)

    assert f"multus:{VERSION}" in said


def test_sums_and_signature_are_verified_as_the_page_says(released):
    """Signed as `make release` does it, with a key of this test."""
    (example,) = guide.examples("releases.md", "sums")
    copied, secret = released.folder / "copied", released.folder / "secret.key"
    shutil.copytree(DIST, copied, ignore=shutil.ignore_patterns("SHA256SUMS*"))
    public = released.folder / "multus-cpp.pub"
    run("minisign", "-G", "-W", "-p", public, "-s", secret)

    release.script().Release([], "localhost/multus", copied).write_sums(secret)
    shutil.copy(public, copied)

    assert (copied / "SHA256SUMS").read_text() == (DIST / "SHA256SUMS").read_text()
    assert "FAILED" not in released(example.script, cwd=copied)
    (copied / f"multus-chart-{VERSION}.tgz").write_bytes(b"other")
    with pytest.raises(AssertionError, match="FAILED"):
        released(example.script, cwd=copied)


def test_lintian_finds_nothing_without_a_reason():
    found = subprocess.run(["lintian", "--allow-root", "--fail-on=error,warning", *packages()], capture_output=True, text=True)

    assert found.returncode == 0, found.stdout


@pytest.fixture(params=MACHINES)
def arch(request):
    if not (DIST / f"multus-cpp-{VERSION}-linux-{request.param}.tar.gz").exists():
        pytest.skip(f"{DIST} has nothing for {request.param}")
    return request.param


@pytest.fixture
def unpacked(tmp_path, arch):
    """The folder in the tarball."""
    run("tar", "-xzf", DIST / f"multus-cpp-{VERSION}-linux-{arch}.tar.gz", "-C", tmp_path)
    (root,) = tmp_path.iterdir()
    return root


def test_the_tarball_has_static_programs_and_the_licences_of_what_is_in_them(unpacked):
    root = unpacked
    programs = sorted((root / "bin").iterdir())

    assert {*VERSION_OF, "passthru"} == {path.name for path in programs}
    assert [path.name for path in programs if "INTERP" in run("readelf", "-lW", path) or "NEEDED" in run("readelf", "-dW", path)] == []
    assert {"glibc", "openssl", "nghttp2", "yaml-cpp"} <= {path.name for path in (root / "share" / "doc").iterdir()}
    assert (root / "share" / "common-licenses" / "LGPL-2.1").exists()


def test_every_program_of_the_tarball_starts_on_its_machine(unpacked, arch):
    emulator, _ = MACHINES[arch]
    said = {name: subprocess.run([*emulator, unpacked / "bin" / name, word], capture_output=True, text=True).stdout
            for name, word in VERSION_OF.items()}  # -version of the daemon ends with 4
    asked = {name: run(*emulator, unpacked / "bin" / name, input='{"cniVersion": "1.0.0"}', env={**os.environ, "CNI_COMMAND": "VERSION"})
             for name in ("multus-shim", "multus", "passthru")}

    assert [name for name, text in said.items() if VERSION not in text] == []
    assert [name for name, text in asked.items() if "1.1.0" not in json.loads(text)["supportedVersions"]] == []


def test_the_packages_of_a_machine_have_its_programs(tmp_path, arch):
    for name in ALL:
        path = DIST / f"{name}_{VERSION}_{arch}.deb"
        assert run("dpkg-deb", "-f", path, "Architecture").strip() == arch
        run("dpkg-deb", "-x", path, tmp_path)
    programs = [path for path in (tmp_path / "usr").rglob("*") if path.parts[-2] in ("bin", "sbin", "cni") and not path.is_symlink()]

    assert {path.name for path in programs} == {*VERSION_OF, "passthru"}
    assert [path.name for path in programs if MACHINES[arch][1] not in run("readelf", "-h", path)] == []


def test_packages_are_installed_used_and_purged(machine):
    before = machine.files()
    for path in packages():
        shutil.copy(path, machine.root / "tmp")
    machine.run("apt-get", "install", "-y", "--no-install-recommends", *(f"/tmp/{path.name}" for path in packages()))

    assert machine.run("systemd-analyze", "--man=no", "verify", "multus-daemon.service") == ""
    assert VERSION in machine.run("multusctl", "version")
    assert (machine.root / "usr/share/man/man8/multus-daemon.8.gz").exists()
    assert (machine.root / "usr/share/doc/multus-cpp/openssl/copyright").exists()
    machine.use("/usr/sbin", "/usr/lib/cni", "/etc/cni/net.d/multus.d/daemon-config.json")

    machine.run("apt-get", "purge", "-y", *ALL)
    assert machine.files() - before - of_plugins(machine.files()) == set()


# No systemd runs in a root of this test, so that nothing can be started by it.
ENABLES_ONLY = """cd /srv
systemctl() { [ "$1 $2" = "enable --now" ] && command systemctl enable "$3"; }
"""


@pytest.fixture
def downloaded(machine):
    """dist/ where README's commands expect it; apt asks no questions, since a test has no terminal to answer at."""
    folder = machine.root / "srv" / "dist"
    answers = machine.root / "etc/apt/apt.conf.d/50-yes"
    shutil.copytree(DIST, folder)
    answers.write_text('APT::Get::Assume-Yes "true";\n')
    yield folder
    shutil.rmtree(folder)
    answers.unlink()
    for made in ("etc/cni", "opt/cni"):
        shutil.rmtree(machine.root / made, ignore_errors=True)


def enabled_with_readmes_networks(machine, where):
    """Runs README's commands up to the service, which is enabled; a root without systemd cannot start it."""
    (networks,), (example,) = guide.examples("../README.md", "networks"), guide.examples("../README.md", where)

    machine.run("sh", "-ec", networks.script)
    machine.run("sh", "-ec", ENABLES_ONLY + example.script)

    assert machine.run("systemctl", "is-enabled", "multus-daemon") == "enabled\n"


def test_readmes_commands_for_one_machine_lead_to_a_container_with_two_networks(machine, downloaded):
    """The daemon is started as its unit says, since no systemd does."""
    enabled_with_readmes_networks(machine, "machine")

    assert (machine.root / "opt/cni/bin").is_symlink()
    machine.use("/usr/sbin", "/usr/lib/cni", "/etc/cni/net.d/multus.d/daemon-config.json", "files")
    machine.run("apt-get", "purge", "-y", "multus-cpp")


def test_readmes_commands_for_the_tarball_lead_to_a_container_with_two_networks(machine, downloaded):
    """With the reference plugins where they are on most distributions."""
    machine.run("sh", "-ec", "mkdir -p /opt/cni && cp -r /usr/lib/cni /opt/cni/bin")

    enabled_with_readmes_networks(machine, "tarball")

    assert machine.run("systemd-analyze", "--man=no", "verify", "multus-daemon.service") == ""
    machine.use(f"/opt/multus-cpp-{VERSION}-linux-amd64/bin", "/opt/cni/bin", "/etc/cni/net.d/multus.d/daemon-config.json", "files")
