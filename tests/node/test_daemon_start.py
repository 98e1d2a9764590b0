"""The daemon's command line, its configuration, its socket's folder (03, rows 1 to 14)."""

import os
import re
import signal
import stat
import threading

import pytest
from harness.machine.crowd import crowd
from harness.machine.host import PROGRAMS
from harness.machine.proc import peak_memory
from harness.machine.wait import until
from harness.node.daemon import CONFIG, default_config

pytestmark = pytest.mark.release("process")

DAEMON = f"{PROGRAMS}/multus-daemon"


@pytest.fixture(autouse=True)
def needs_daemon(program):
    program("multus-daemon")


@pytest.mark.spec("03:1")
@pytest.mark.parametrize("flag", ["-version", "--version", "-version=true"])
def test_version_is_printed_with_exit_4(host, flag):
    done = host.run(DAEMON, flag, check=False)

    assert done.returncode == 4
    assert re.fullmatch(r"multus-daemon: version:\S+\(\S*\), commit:\S+, date:\S+\n", done.stdout)


@pytest.mark.spec("03:2")
@pytest.mark.parametrize("words", [["-nosuch"], ["-config"], ["-version=maybe"]])
def test_wrong_flags_print_the_usage_and_exit_2(host, words):
    done = host.run(DAEMON, *words, check=False)

    assert done.returncode == 2
    assert words[0].split("=")[0].lstrip("-") in done.stderr and "-config" in done.stderr


@pytest.mark.spec("03:3")
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_exits_0(host, flag):
    done = host.run(DAEMON, flag, check=False)

    assert done.returncode == 0 and "-config" in done.stderr


@pytest.mark.spec("03:4")
@pytest.mark.parametrize("text", ["{", "[]", '{"connectionLimit":"9"}', "", "{} {}", '{"socketDir": 5}'])
def test_unusable_configuration_exits_1_and_names_the_file(host, text):
    host.write("/srv/conf.json", text)

    done = host.run(DAEMON, "-config", "/srv/conf.json", check=False)

    assert done.returncode == 1
    assert "/srv/conf.json" in done.stderr


@pytest.mark.spec("03:4")
@pytest.mark.parametrize("path", ["/srv/missing.json", "/srv"])
def test_configuration_that_is_no_file_exits_1_and_names_it(host, path):
    done = host.run(DAEMON, "-config", path, check=False)

    assert done.returncode == 1
    assert path in done.stderr


@pytest.mark.spec("03:5")
def test_unknown_keys_are_ignored_and_key_case_does_not_matter(host, daemons):
    config = {**default_config(socketDir=None), "SOCKETDIR": "/run/elsewhere", "unknown": {"a": [1]}}
    daemon = daemons.launch(config)
    daemon.socket = "/run/elsewhere/multus.sock"

    daemon.wait_ready()


@pytest.mark.spec("03:6")
def test_a_user_that_is_not_root_is_refused_before_anything_is_touched(host):
    host.write(CONFIG, default_config(), mode=0o644)
    for folder in ("/etc/cni/net.d", "/run"):
        host.path(folder).chmod(0o777)
    before = [host.files_below(folder) for folder in ("/etc/cni", "/run/multus", "/var/lib/cni")]

    done = host.run("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", DAEMON, "-config", CONFIG,
                    check=False)

    assert done.returncode == 3
    assert re.search(r"failed to run multus-daemon with root: .*, now running in uid: 1000", done.stderr)
    assert before == [host.files_below(folder) for folder in ("/etc/cni", "/run/multus", "/var/lib/cni")]
    assert not host.path("/run/multus").exists()


@pytest.mark.spec("03:7")
def test_socket_and_folder_are_for_root_alone(host, daemons):
    daemon = daemons(socketDir=None)

    assert daemon.socket == "/run/multus/multus.sock"
    assert stat.S_IMODE(host.path("/run/multus").stat().st_mode) == 0o700
    assert stat.S_IMODE(host.path(daemon.socket).stat().st_mode) == 0o600
    assert host.files_below("/run/multus") == ["multus.sock"]


@pytest.mark.parametrize("mode, is_warned", [(0o755, False), (0o777, True)])
def test_a_socket_folder_that_exists_keeps_its_mode(host, daemons, mode, is_warned):
    """It may be /run."""
    host.path("/run/multus").mkdir()
    host.path("/run/multus").chmod(mode)

    daemon = daemons()

    assert stat.S_IMODE(host.path("/run/multus").stat().st_mode) == mode
    assert stat.S_IMODE(host.path(daemon.socket).stat().st_mode) == 0o600
    assert ("warning: directory /run/multus " in daemon.log) == is_warned


@pytest.mark.spec("03:8")
def test_other_files_in_the_socket_folder_stay(host, daemons):
    host.write("/run/multus/other", "x")
    host.write("/run/multus/sub/deep", "y")

    daemons()

    assert host.files_below("/run/multus") == ["multus.sock", "other", "sub/deep"]


@pytest.mark.spec("03:9", "03:77")
def test_the_socket_of_a_killed_daemon_is_replaced(host, daemons):
    daemons().kill()
    assert host.path("/run/multus/multus.sock").exists()

    assert daemons().answers()


@pytest.mark.spec("03:10")
def test_a_second_daemon_takes_over_without_a_failed_request(host, daemons, fake, pod):
    first = daemons()
    inode = host.path(first.socket).stat().st_ino
    failures, stop = [], threading.Event()

    def keep_asking():
        while not stop.is_set():
            try:
                status = first.http("POST", "/healthz", b"null").status
            except OSError as error:
                status = repr(error)
            if status != 200:
                failures.append(status)

    asking = threading.Thread(target=keep_asking)
    asking.start()
    try:
        second = daemons.launch()
        second.wait_log(r"(?i)warning")
        # Until then it is the first one that answers.
        until(lambda: host.path(first.socket).stat().st_ino != inode, "taken over")
        second.wait_ready()
        first.terminate(times=2)
        assert first.process.wait() == 0
        assert second.answers()
    finally:
        stop.set()
        asking.join()
    assert not failures
    assert host.files_below("/run/multus") == ["multus.sock"]


@pytest.mark.spec("03:11")
def test_something_else_in_the_sockets_place_stays_and_exits_3(host, daemons):
    host.write("/run/multus/multus.sock", "precious")

    daemon = daemons.launch()

    assert daemon.process.wait() == 3
    assert host.path("/run/multus/multus.sock").read_text() == "precious"
    assert "/run/multus/multus.sock" in daemon.log


@pytest.mark.spec("03:11", "05:68")
def test_a_filled_folder_in_the_sockets_place_stays_and_exits_3(host, daemons):
    host.write("/run/multus/multus.sock/inside", "precious")

    daemon = daemons.launch()

    assert daemon.process.wait() == 3
    assert host.path("/run/multus/multus.sock/inside").read_text() == "precious"


@pytest.mark.spec("03:11", "05:68")
def test_an_empty_folder_in_the_sockets_place_is_removed_with_a_warning(host, daemons):
    host.path("/run/multus/multus.sock").mkdir(parents=True)

    daemon = daemons()

    assert re.search(r"(?i)warning: .*multus\.sock", daemon.log)


@pytest.mark.spec("03:12")
def test_a_mount_point_as_socket_folder_keeps_its_inode(host, daemons):
    host.path("/run/multus").mkdir()
    host.run("mount", "-t", "tmpfs", "tmpfs", "/run/multus")
    before = host.path("/run/multus").stat()

    daemon = daemons()

    after = host.path("/run/multus").stat()
    assert (before.st_ino, before.st_dev) == (after.st_ino, after.st_dev)
    assert daemon.stop() == 0
    host.run("umount", "/run/multus")


@pytest.mark.spec("03:13")
def test_a_socket_path_that_is_too_long_exits_3_with_the_path(host, daemons):
    folder = "/run/" + "x" * (108 - len("/run/") - len("/multus.sock"))
    daemon = daemons.launch(default_config(socketDir=folder))

    assert daemon.process.wait() == 3
    assert folder in daemon.log


@pytest.mark.spec("03:13")
def test_the_longest_possible_socket_path_works(host, daemons):
    folder = "/run/" + "x" * (107 - len("/run/") - len("/multus.sock"))
    daemon = daemons.launch(default_config(socketDir=folder))

    # Our own way to it, through /proc, would be too long.
    until(lambda: host.path(f"{folder}/multus.sock").is_socket() or not daemon.process.running, "socket")
    assert daemon.process.running, daemon.log


@pytest.mark.spec("03:14")
@pytest.mark.parametrize("limit", [0, -1])
def test_connection_limit_must_be_positive(host, daemons, limit):
    daemon = daemons.launch(default_config(connectionLimit=limit))

    assert daemon.process.wait() == 3
    assert f"connection limit must be greater than 0, got {limit}" in daemon.log


def test_the_probe_flag_asks_a_running_daemon(host, daemon):
    for path in ("healthz", "readyz"):
        assert host.run(DAEMON, "-config", CONFIG, f"-probe={path}", check=False).returncode == 0
    daemon.kill()
    assert host.run(DAEMON, "-config", CONFIG, "-probe=healthz", check=False).returncode == 1


def has_taken_its_signals(process):
    try:
        status = open(f"/proc/{process.pid}/status").read()
    except (FileNotFoundError, ProcessLookupError):
        return True  # and has ended by them
    return not process.running or not int(re.search(r"ShdPnd:\s+(\w+)", status)[1], 16)


def test_start_works_with_every_signal_mask_and_closed_descriptors(host, daemons):
    """What a careless supervisor hands down must not matter."""
    host.write("/srv/start", "#!/bin/sh\nexec 0<&- 1>&-\ntrap '' PIPE HUP CHLD\n"
                             f"exec {DAEMON} -config {CONFIG}\n", mode=0o755)
    host.write(CONFIG, default_config())
    host.path("/srv/objects").mkdir(exist_ok=True)
    process = host.spawn("/srv/start", env={}, stderr=open(host.path("/srv/start.log"), "wb"))
    sock = host.path("/run/multus/multus.sock")
    until(lambda: sock.exists() or not process.running, "socket")
    for _ in range(2):
        process.signal(signal.SIGTERM)
        until(lambda: has_taken_its_signals(process), "taken")

    assert process.wait() == 0, host.path("/srv/start.log").read_text()
    assert not os.path.lexists(sock)


@pytest.mark.without_sanitizers  # they take memory themselves
def test_huge_environments_of_other_processes_cost_a_starting_daemon_nothing(host, daemons):
    """Authors of pods choose them. One of these is a delegate that a killed daemon left: it is found."""
    first = daemons()
    alone = peak_memory(first.pid)
    first.stop()
    with crowd(host, 24) as others:
        second = daemons()

        grown = peak_memory(second.pid) - alone
        print(f"peak memory at the start: {alone >> 10} KiB alone, {grown >> 10} KiB more beside 24 environments of 4 MB")
        assert grown < 2 << 20
        second.wait_log("ended 1 processes that an earlier daemon")
        assert len(others.living()) == 23
