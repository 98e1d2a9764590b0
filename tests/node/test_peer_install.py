"""install_multus of the original beside ours: the same image, a target folder for each."""

import os
import shutil
import stat

import pytest

from harness.cluster.peer import BOTH, ORIGINAL, OURS, needs_original, program_of, told
from harness.machine.wait import until

pytestmark = needs_original("install_multus")

SOURCES = "/usr/src/multus-cni/bin"
TARGETS = {who: f"/host/{who}" for who in BOTH}
WRONG_TYPE = "--type is missing or --type has invalid value"


@pytest.fixture
def image(host, program):
    """A host with the image's programs, with a mode each, and two empty folders."""
    program("install_multus")
    for name, mode in (("multus-shim", 0o755), ("multus", 0o4750), ("passthru", 0o711)):
        host.write(f"{SOURCES}/{name}", f"#!/bin/sh\necho {name}\n", mode=mode)
    for target in TARGETS.values():
        host.path(target).mkdir(parents=True)
    return host


def entry(path):
    if path.is_symlink():
        return path.name, "link", os.readlink(path)
    if path.is_dir():
        return path.name, "folder", sorted(below.name for below in path.iterdir())
    return path.name, stat.S_IMODE(path.stat().st_mode), path.read_bytes()


def found(image, who):
    return sorted(entry(path) for path in image.path(TARGETS[who]).iterdir())


def install(image, who, *words, through=()):
    """Exit status, stdout, and what lies in its folder then."""
    done = image.run(*through, program_of(image, who, "install_multus"), "-d", TARGETS[who], *words, check=False)
    return done, (done.returncode, told(who, done), found(image, who))


def both(image, *words, through=()):
    """What they do, which must be the same; stderr of each."""
    (ours, our_end), (theirs, their_end) = (install(image, who, *words, through=through) for who in BOTH)
    assert our_end == their_end, f"{ours.stderr}\n{theirs.stderr}"
    return our_end, {OURS: ours.stderr, ORIGINAL: theirs.stderr}


def emptied(image):
    for target in TARGETS.values():
        for path in image.path(target).iterdir():
            path.unlink()


LINES = {
    (0, "thick"): ["-t thick", "-tthick", "-t=thick", "--type thick", "--type=thick", "-t thin -t thick", "-t thick word",
                   "-t thick -- -t thin", "-h=false -t thick", "--help=F -t thick", "--help=0 -t thick"],
    (0, "thin"): ["-t thin", "--type thin", "word -t thin"],
    (1, WRONG_TYPE): ["", "-t fat", "-t Thick", "-t=", "--type=", "-type thick", "-- -t thin", "-", "-th", "--help=false", "word"],
    (1, "dest-dir"): ["-h", "--help", "-h -t thick", "--help=true", "-h=1", "-ht thick"],
    (2, "dest-dir"): ["-t", "--type", "-d", "--dest-dir", "-ht", "-x", "--nosuch", "--nosuch=1", "--t thick", "---type=thick", "--=x",
                      "--help=no", "-h=maybe", "-v", "-t thick --nosuch"]}


@pytest.mark.parametrize("status, what", LINES, ids=map(str, LINES))
def test_the_same_command_lines_are_taken_and_refused(image, status, what):
    for line in LINES[status, what]:
        (code, out, files), complaints = both(image, *line.split())

        assert code == status, line
        assert bool(files) == bool(out) == (status == 0), line
        if status == 0:
            assert [name for name, *_ in files] == [{"thick": "multus-shim", "thin": "multus"}[what], "passthru"], line
        else:
            assert what in complaints[OURS] and what in complaints[ORIGINAL], line
        emptied(image)


def test_only_ours_tells_its_version(image):
    ours, _ = install(image, OURS, "--version")
    theirs, _ = install(image, ORIGINAL, "--version")

    assert (ours.returncode, theirs.returncode) == (0, 2)


def test_modes_are_those_of_the_sources_whatever_the_umask(image):
    (code, _, files), _ = both(image, "-t", "thin", through=("sh", "-c", 'umask 077; exec "$0" "$@"'))

    assert code == 0
    assert [(name, mode) for name, mode, _ in files] == [("multus", 0o4750), ("passthru", 0o711)]


def a_folder(image, path):
    image.path(path).mkdir()


def a_folder_with_a_file(image, path):
    image.write(f"{path}/kept", "x")


def a_file(image, path):
    image.write(path, "old", mode=0o600)


def a_read_only_file(image, path):
    image.write(path, "old", mode=0o400)


def a_link(image, path):
    image.write("/srv/elsewhere", "old")
    image.path(path).symlink_to("../../srv/elsewhere")


def a_dangling_link(image, path):
    image.path(path).symlink_to("nowhere")


def the_same_file(image, path):
    shutil.copy(image.path(f"{SOURCES}/multus-shim"), image.path(path))


@pytest.mark.parametrize("there", [a_file, a_read_only_file, a_link, a_dangling_link, the_same_file])
def test_whatever_file_is_there_is_replaced(image, there):
    for target in TARGETS.values():
        there(image, f"{target}/multus-shim")

    (code, _, files), _ = both(image, "-t", "thick")

    assert code == 0
    assert files[0] == ("multus-shim", 0o755, image.path(f"{SOURCES}/multus-shim").read_bytes())
    if there is a_link:
        assert image.path("/srv/elsewhere").read_text() == "old"


def test_a_program_that_runs_is_replaced(image):
    shutil.copy(image.path("/usr/bin/sleep"), image.path(f"{SOURCES}/multus-shim"))
    assert both(image, "-t", "thick")[0][0] == 0
    running = [image.spawn(f"{target}/multus-shim", "600") for target in TARGETS.values()]
    for process, target in zip(running, TARGETS.values(), strict=True):
        until(lambda: image.processes().get(process.pid, "").startswith(target), "the program to run")
    image.write(f"{SOURCES}/multus-shim", "#!/bin/sh\necho newer\n", mode=0o755)

    (code, _, files), _ = both(image, "-t", "thick")

    assert code == 0 and files[0][2] == b"#!/bin/sh\necho newer\n"
    assert all(process.running for process in running)
    for process in running:
        os.kill(process.pid, 9)
        process.wait()


def without_litter(end):
    """The original leaves its temporary file behind where it fails (F73)."""
    code, out, files = end
    return code, out, [entry for entry in files if ".temp" not in entry[0]]


def no_plugin(image):
    image.path(f"{SOURCES}/multus-shim").unlink()


def no_passthru(image):
    image.path(f"{SOURCES}/passthru").unlink()


def a_folder_as_plugin(image):
    no_plugin(image)
    a_folder(image, f"{SOURCES}/multus-shim")


def a_folder_in_its_place(image):
    for target in TARGETS.values():
        a_folder(image, f"{target}/multus-shim")


def a_full_folder_in_its_place(image):
    for target in TARGETS.values():
        a_folder_with_a_file(image, f"{target}/multus-shim")


def no_room(image):
    image.write(f"{SOURCES}/multus-shim", "x" * 40_000, mode=0o755)
    for target in TARGETS.values():
        image.run("mount", "-t", "tmpfs", "-o", "size=16k,mode=755", "none", target)
        image.write(f"{target}/multus-shim", "old")


def no_writing(image):
    for target in TARGETS.values():
        image.write(f"{target}/multus-shim", "old")
        image.run("mount", "--bind", target, target)
        image.run("mount", "-o", "remount,ro,bind", target)


@pytest.mark.spec("03:155")
@pytest.mark.leaves("mount /host/*")
@pytest.mark.parametrize("happens", [no_plugin, no_passthru, a_folder_as_plugin, a_folder_in_its_place, a_full_folder_in_its_place,
                                     no_room, no_writing])
def test_what_cannot_be_done_fails_in_the_same_way(image, happens):
    happens(image)

    ours, theirs = (install(image, who, "-t", "thick") for who in BOTH)

    assert ours[1] == without_litter(theirs[1]), f"{ours[0].stderr}\n{theirs[0].stderr}"
    assert ours[1][0] == 1
    assert ours[0].stderr and theirs[0].stderr


@pytest.mark.parametrize("target", ["/none", "/srv/file", "/proc", "relative"])
def test_a_target_that_is_no_folder_fails(image, target):
    image.write("/srv/file", "x")

    ended = [image.run(program_of(image, who, "install_multus"), "-t", "thin", "-d", target, check=False) for who in BOTH]

    assert [done.returncode for done in ended] == [1, 1]
    assert [done.stdout for done in ended] == ["", ""]
