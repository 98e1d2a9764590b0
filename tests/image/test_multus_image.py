"""The multus image: small, complete, from scratch, the same each time, and with everything where the original has it."""

import filecmp
import json
import os
import shutil
import subprocess

import pytest

from harness.images.made_image import ROOT, VERSION, build, make

HOME = "/usr/src/multus-cni/bin"
PROGRAMS = ["multus", "multus-daemon", "multus-shim", "passthru", "install_multus", "thin_entrypoint",
            "kubeconfig_generator", "cert-approver"]
AT_THE_ROOT = ["/install_multus", "/thin_entrypoint", "/kubeconfig_generator", "/cert-approver"]


def test_the_last_line_says_name_and_sizes(multus):
    assert multus.said.splitlines()[-1].startswith(f"localhost/multus:{VERSION} ")


# pain 54
def test_it_is_small(multus):
    compressed, unpacked = multus.sizes()
    assert compressed <= 16 and unpacked <= 40


def differences(left, right):
    compared = filecmp.dircmp(left, right)
    found = [*compared.left_only, *compared.right_only]
    _, other, broken = filecmp.cmpfiles(left, right, compared.common_files, shallow=False)
    return found + other + broken + [name for sub in compared.common_dirs for name in differences(left / sub, right / sub)]


def test_two_runs_give_the_same_bytes(multus, tmp_path):
    env = {**os.environ, "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    done = make(tmp_path, "--only", "multus", env=env, cwd="/", umask=0o077)
    assert done.stdout == multus.said
    assert [name for name in differences(multus.archive.parent, tmp_path) if name != "multus.root"] == []


def test_another_name_stands_before_the_colon(tmp_path):
    done = make(tmp_path, "--only", "multus", env={**os.environ, "IMAGE_NAME": "registry.example/net/multi"})
    assert done.stdout.splitlines()[-1].startswith(f"registry.example/net/multi:{VERSION} ")


def test_a_missing_program_fails_the_build(tmp_path):
    (tmp_path / "bin").mkdir()
    for program in PROGRAMS[:-1]:
        (tmp_path / "bin" / program).symlink_to(build() / "bin" / program)
    shutil.copy(build() / "build.ninja", tmp_path)
    done = subprocess.run([ROOT / "scripts" / "image", "--build", tmp_path, "--out", tmp_path / "out", "--only", "multus"],
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert f"bin/{PROGRAMS[-1]} is missing" in done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_starts(multus, program):
    done = multus.run(f"{HOME}/{program}", "--help")
    assert done.returncode in (0, 1, 2), done.stderr  # 127 is the loader's
    assert done.stdout + done.stderr


@pytest.mark.parametrize("path", AT_THE_ROOT)
def test_programs_are_where_the_originals_images_have_them(multus, path):
    target = os.path.join(multus.root, os.readlink(str(multus.root) + path).lstrip("/"))
    assert filecmp.cmp(target, f"{multus.root}{HOME}{path}", shallow=False)


def test_cp_of_older_manifests_is_found_in_the_path(multus):
    """With the words of v4.0.2 and of v4.2.2 (decision 0059)."""
    for number, words in enumerate((["cp"], ["sh", "-c", "cp {} {}"])):
        pair = [f"{HOME}/multus-shim", f"/tmp/copy{number}"]

        done = multus.run(*([*words[:2], words[2].format(*pair)] if words[2:] else [*words, *pair]))

        assert (done.returncode, done.stderr) == (0, "")
        assert filecmp.cmp(f"{multus.root}{pair[0]}", f"{multus.root}{pair[1]}", shallow=False)
        os.unlink(f"{multus.root}{pair[1]}")


def test_nothing_is_needed_that_scratch_lacks(multus):
    """No shell, no users, no interpreter: programs, their libraries, documents."""
    rest = {path for path in multus.files() if not path.startswith(("/usr/share/doc/", "/usr/share/common-licenses/"))}
    assert {path for path in rest if ".so" not in path} == {f"{HOME}/{program}" for program in PROGRAMS}
    assert os.readlink(multus.root / "var" / "run") == "/run"
    assert not (multus.root / "etc" / "passwd").exists()


def test_every_library_is_one_that_some_program_needs(multus):
    needed = set()
    for program in PROGRAMS:
        listed = subprocess.run(["ldd", build() / "bin" / program], capture_output=True, text=True).stdout
        needed |= {os.path.basename(word) for line in listed.splitlines() for word in line.split()[:1]}
    libraries = {os.path.basename(path) for path in multus.files() if ".so" in path}
    assert libraries and libraries <= needed


# pain 53
def test_the_architecture_is_that_of_the_programs(multus):
    machine = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True).stdout.strip()
    assert multus.config["architecture"] == machine


def test_it_runs_the_daemon_and_says_what_it_is(multus):
    config = multus.config["config"]
    assert config["Entrypoint"] == [f"{HOME}/multus-daemon"]
    assert "Cmd" not in config and "User" not in config
    labels = {key.removeprefix("org.opencontainers.image."): value for key, value in config["Labels"].items()}
    assert labels["version"] == VERSION
    assert {"title", "description", "licenses", "created"} <= set(labels)


def test_licences_of_everything_are_in_it(multus):
    document = json.loads(multus.bill.read_bytes())
    inside = multus.root / "usr" / "share" / "doc" / "multus" / "sbom.spdx.json"
    assert inside.read_bytes() == multus.bill.read_bytes()
    packages = {package["name"]: package["licenseDeclared"] for package in document["packages"]}
    assert {"glibc", "gcc-12", "nghttp2", "openssl", "yaml-cpp", "boost1.81", "zlib"} <= set(packages)
    for name in set(packages) - {"multus", "multus-cpp"}:
        assert list((multus.root / "usr/share/doc" / name).glob("copyright*")), name
    assert "LGPL" in packages["glibc"]
    assert (multus.root / "usr/share/common-licenses/LGPL-2.1").exists()
    assert {file["fileName"] for file in document["files"]} == {f".{HOME}/{program}" for program in PROGRAMS}


# Everything that podman keeps goes with the namespace.
PODMAN = """mount -t tmpfs none /run && mount -t tmpfs none /var/lib &&
id=$(podman --storage-driver vfs pull -q "$1" | tail -n 1) && podman --storage-driver vfs image inspect "$id" """


@pytest.mark.parametrize("transport", ["docker-archive", "oci"])
def test_another_implementation_reads_it(multus, transport):
    source = multus.archive if transport == "docker-archive" else multus.layout
    done = subprocess.run(["unshare", "--mount", "sh", "-c", PODMAN, "sh", f"{transport}:{source}"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)[0]
    assert seen["Config"]["Entrypoint"] == multus.config["config"]["Entrypoint"]
    assert seen["Architecture"] == multus.config["architecture"]
