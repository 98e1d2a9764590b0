"""install_multus (03, 9.3): what it puts where, and that it never leaves half a program (pain 13)."""

import errno
import hashlib
import os
import stat
import threading

import pytest
from harness.machine.host import PROGRAMS
from harness.machine.wait import until

pytestmark = pytest.mark.release("static")

INSTALL = f"{PROGRAMS}/install_multus"
SOURCES = "/usr/src/multus-cni/bin"
TARGET = "/host/opt/cni/bin"


@pytest.fixture
def image(host, program):
    """A host that has the image's programs, with contents of their own, and an empty target folder."""
    program("install_multus")
    for name in ("multus-shim", "multus", "passthru"):
        host.write(f"{SOURCES}/{name}", f"#!/bin/sh\necho {name} {'.' * 5000}\n", mode=0o755)
    host.path(TARGET).mkdir(parents=True)
    return host


def install(image, *words, target=TARGET):
    return image.run(INSTALL, "-d", target, *words, check=False)


def found(image, target=TARGET):
    return {path.name: path.read_bytes() for path in image.path(target).iterdir()}


def sources(image, *names):
    return {name: image.path(f"{SOURCES}/{name}").read_bytes() for name in names}


@pytest.mark.parametrize("words, plugin", [(["-t", "thick"], "multus-shim"), (["--type=thin"], "multus"),
                                           (["--type", "thick"], "multus-shim")])
def test_a_type_is_the_plugin_and_passthru_with_the_modes_of_the_sources(image, words, plugin):
    image.path(f"{SOURCES}/passthru").chmod(0o711)

    done = install(image, *words)

    assert done.returncode == 0, done.stderr
    assert done.stdout == (f"multus {plugin} copy succeeded!\n"
                           f"passthru cni {SOURCES}/passthru copy succeeded!\n")
    assert found(image) == sources(image, plugin, "passthru")
    assert stat.S_IMODE(image.path(f"{TARGET}/passthru").stat().st_mode) == 0o711
    assert image.run(f"{TARGET}/{plugin}").stdout.startswith(plugin)


def test_the_default_target_is_the_mount_of_the_hosts_folder(image):
    assert image.run(INSTALL, "-t", "thick").returncode == 0

    assert set(found(image)) == {"multus-shim", "passthru"}


def test_multusctl_is_put_where_it_is_wanted_and_is_the_file_of_thin_multus(image, program):
    program("multus")
    image.run("cp", f"{PROGRAMS}/multus", f"{SOURCES}/multus")

    done = install(image, "-t", "thick", "--multusctl-dir", "/host/usr/local/bin")

    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("multusctl copy to /host/usr/local/bin succeeded!\n")
    assert set(found(image)) == {"multus-shim", "passthru"}
    assert found(image, "/host/usr/local/bin") == {"multusctl": image.path(f"{SOURCES}/multus").read_bytes()}
    image.run("ln", "-s", "multusctl", "/host/usr/local/bin/kubectl-multus")
    for name in ("multusctl", "kubectl-multus"):
        assert image.run(f"/host/usr/local/bin/{name}", "version").stdout.startswith("multusctl: version:")


def test_what_is_equal_is_not_touched_and_what_differs_is_replaced(image):
    assert install(image, "-t", "thick").returncode == 0
    before = {name: image.path(f"{TARGET}/{name}").stat() for name in found(image)}

    again = install(image, "-t", "thick")

    assert again.returncode == 0 and "multus-shim copy succeeded!" in again.stdout
    after = {name: image.path(f"{TARGET}/{name}").stat() for name in found(image)}
    assert {name: s.st_ino for name, s in after.items()} == {name: s.st_ino for name, s in before.items()}

    image.path(f"{SOURCES}/multus-shim").chmod(0o700)  # the same bytes, another mode
    assert install(image, "-t", "thick").returncode == 0
    assert stat.S_IMODE(image.path(f"{TARGET}/multus-shim").stat().st_mode) == 0o700
    image.write(f"{SOURCES}/multus-shim", "#!/bin/sh\necho newer\n", mode=0o755)
    assert install(image, "-t", "thick").returncode == 0
    assert image.run(f"{TARGET}/multus-shim").stdout == "newer\n"


@pytest.mark.spec("03:155")
@pytest.mark.parametrize("words", [[], ["-t", "fat"], ["--type="]])
def test_without_a_known_type_nothing_is_done(image, words):
    done = install(image, *words)

    assert done.returncode == 1
    assert "--type is missing or --type has invalid value" in done.stderr
    assert found(image) == {}


@pytest.mark.parametrize("words, code", [(["-h"], 1), (["--help"], 1), (["--nosuch"], 2), (["-d"], 2)])
def test_help_exits_1_and_a_wrong_flag_exits_2(image, words, code):
    done = image.run(INSTALL, *words, check=False)

    assert done.returncode == code
    assert "--dest-dir" in done.stderr
    assert found(image) == {}


@pytest.mark.spec("03:155")
@pytest.mark.parametrize("missing", ["multus-shim", "passthru"])
def test_a_missing_source_is_a_failure_that_names_it(image, missing):
    image.path(f"{SOURCES}/{missing}").unlink()

    done = install(image, "-t", "thick")

    assert done.returncode == 1
    assert f"{SOURCES}/{missing}: no such file or directory" in done.stderr
    assert missing not in found(image)
    assert not [name for name in found(image) if name.startswith(".")]


@pytest.mark.spec("03:155")
def test_a_read_only_target_is_a_failure_and_stays_as_it_was(image):
    image.write(f"{TARGET}/multus-shim", "old")
    image.run("mount", "--bind", TARGET, TARGET)
    image.run("mount", "-o", "remount,ro,bind", TARGET)

    done = install(image, "-t", "thick")

    assert done.returncode == 1 and "read-only file system" in done.stderr
    assert found(image) == {"multus-shim": b"old"}
    image.run("umount", TARGET)


@pytest.mark.spec("03:155")
def test_a_full_disk_is_a_failure_that_leaves_no_part_of_a_file(image):
    image.run("mount", "-t", "tmpfs", "-o", "size=16k,mode=755", "none", TARGET)
    image.write(f"{TARGET}/multus-shim", "old")
    image.write(f"{SOURCES}/multus-shim", "x" * 40_000, mode=0o755)

    done = install(image, "-t", "thick")

    assert done.returncode == 1 and "no space left on device" in done.stderr
    assert found(image) == {"multus-shim": b"old"}
    image.run("umount", TARGET)


@pytest.mark.spec("03:154")
def test_shims_that_run_all_the_time_never_fail_while_they_are_replaced(image):
    """Pain 13. Two real programs take turns, so that each installation replaces the one that runs."""
    program = image.path(f"{PROGRAMS}/multus-shim").read_bytes()
    versions = [program, program + b"\0" * 64]
    shim = f"{TARGET}/multus-shim"
    image.write(f"{SOURCES}/multus-shim", versions[0], mode=0o755)
    assert install(image, "-t", "thick").returncode == 0
    stop, failed, ran = threading.Event(), [], []

    def loop():
        while not stop.is_set():
            done = image.run(shim, "-v", check=False)
            (ran if done.returncode == 0 else failed).append(done)

    loops = [threading.Thread(target=loop) for _ in range(8)]
    for thread in loops:
        thread.start()
    outcomes = []
    for turn in range(20):
        image.write(f"{SOURCES}/multus-shim", versions[turn % 2 - 1], mode=0o755)
        outcomes.append(install(image, "-t", "thick"))
    until(lambda: len(ran) >= 50 or failed, "fifty runs")
    stop.set()
    for thread in loops:
        thread.join()

    assert [done.stderr for done in outcomes if done.returncode != 0] == []
    assert failed == []
    assert set(found(image)) == {"multus-shim", "passthru"}
    assert hashlib.sha256(found(image)["multus-shim"]).digest() == hashlib.sha256(versions[0]).digest()


def is_busy(program):
    """Whether the kernel refuses to open it for writing."""
    try:
        program.open("r+b").close()
    except OSError as refused:
        return refused.errno == errno.ETXTBSY
    return False


@pytest.mark.spec("03:154")
def test_a_program_that_waits_is_replaced_beneath_it(image):
    """A plain copy fails here with "text file busy"."""
    image.write(f"{SOURCES}/multus-shim", image.path("/usr/bin/sleep").read_bytes(), mode=0o755)
    assert install(image, "-t", "thick").returncode == 0
    waiting = image.spawn(f"{TARGET}/multus-shim", "60")
    until(lambda: is_busy(image.path(f"{TARGET}/multus-shim")), "the program to run")
    image.write(f"{SOURCES}/multus-shim", "#!/bin/sh\necho newer\n", mode=0o755)

    assert install(image, "-t", "thick").returncode == 0

    assert waiting.running
    assert image.run(f"{TARGET}/multus-shim").stdout == "newer\n"
    os.kill(waiting.pid, 9)
    waiting.wait()


def test_what_a_killed_installer_left_is_swept_up(image):
    old = image.path(image.write(f"{TARGET}/.multus-tmp-1-2", "half"))
    os.utime(old, (1, 1))
    image.write(f"{TARGET}/.multus-tmp-3-4", "another process writes this now")

    assert install(image, "-t", "thick").returncode == 0

    assert set(found(image)) == {"multus-shim", "passthru", ".multus-tmp-3-4"}
    image.path(f"{TARGET}/.multus-tmp-3-4").unlink()


# Called by the init containers of manifests before v4.2.3 (decision 0059).
CP = f"cp {SOURCES}/multus-shim {TARGET}/multus-shim"


@pytest.fixture
def called(image):
    """Runs install_multus under another name, as a container runtime finds it in PATH."""
    for name in ("cp", "sh"):
        image.path(f"/srv/{name}").symlink_to(INSTALL)
    return lambda *words: image.run(f"/srv/{words[0]}", *words[1:], check=False)


@pytest.mark.parametrize("words, names", [
    (CP.split(), ["multus-shim"]),
    (["cp", "-f", f"{SOURCES}/multus-shim", f"{SOURCES}/passthru", TARGET], ["multus-shim", "passthru"]),
    (["sh", "-c", CP], ["multus-shim"]),
    (["sh", "-c", f"{CP} && cp {SOURCES}/passthru {TARGET}/passthru"], ["multus-shim", "passthru"])])
def test_older_manifests_find_the_cp_that_they_call(image, called, words, names):
    done = called(*words)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert found(image) == sources(image, *names)
    assert stat.S_IMODE(image.path(f"{TARGET}/multus-shim").stat().st_mode) == 0o755


@pytest.mark.parametrize("words", [
    ["cp"], ["cp", "-h"], ["cp", f"{SOURCES}/multus"], ["cp", "-r", SOURCES, TARGET],
    ["cp", f"{SOURCES}/multus", f"{SOURCES}/passthru", f"{TARGET}/multus"],
    ["sh"], ["sh", "-c"], ["sh", f"{SOURCES}/multus"], ["sh", "-c", ""], ["sh", "-c", "rm -rf /"],
    ["sh", "-c", f"{CP}; reboot"], ["sh", "-c", f"{CP} &"], ["sh", "-c", f"cp $HOME {TARGET}"], ["sh", "-c", CP, "x"]])
def test_neither_name_does_anything_else(image, called, words):
    done = called(*words)

    assert done.returncode == 1
    assert done.stderr.startswith(words[0] + ": ") and "use install_multus" in done.stderr
    assert found(image) == {}


def test_a_copy_that_fails_ends_the_series(image, called):
    done = called("sh", "-c", f"cp {SOURCES}/nosuch {TARGET}/nosuch && {CP}")

    assert done.returncode == 1
    assert f"{SOURCES}/nosuch: no such file or directory" in done.stderr
    assert found(image) == {}
