"""kubeconfig_generator's command line, and what it refuses (03, 9.3). With a cluster: tests/cluster."""

import signal
import stat
import subprocess

import pytest

from harness.machine.host import PROGRAMS
from harness.machine.wait import until

BOOTSTRAP = """apiVersion: v1
kind: Config
current-context: it
clusters: [{name: it, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: it, user: {token: abc}}]
contexts: [{name: it, context: {cluster: it, user: it}}]
"""


@pytest.fixture
def generate(program, tmp_path):
    """Runs it where all is well but for what is given; None leaves a variable out."""
    path = program("kubeconfig_generator")
    (tmp_path / "certs").mkdir()
    (tmp_path / "bootstrap").write_text(BOOTSTRAP)

    def run(*flags, node="node1"):
        return subprocess.run(
            [path, f"--certdir={tmp_path}/certs", f"--bootstrap-config={tmp_path}/bootstrap",
             f"--kubeconfig={tmp_path}/kubeconfig", *flags], capture_output=True, text=True, timeout=120,
            env={} if node is None else {"MULTUS_NODE_NAME": node})
    return run


@pytest.mark.parametrize("flag,status", [("-h", 1), ("--help", 1), ("--nosuch", 2), ("--certdir", 2), ("-x", 2)])
def test_usage(generate, flag, status):
    done = generate(flag)

    assert done.returncode == status and "--bootstrap-config" in done.stderr


def test_version(generate):
    done = generate("--version")

    assert done.returncode == 0 and done.stdout.startswith("kubeconfig_generator: version:")


@pytest.mark.parametrize("flags,text", [
    (["--certdir=/none"], "/none"), (["--certdir=/etc/passwd"], "/etc/passwd"),
    (["--bootstrap-config=/none"], "/none"), (["--bootstrap-config=/etc"], "/etc"),
    (["--bootstrap-config=/etc/passwd"], "/etc/passwd"),
    (["--cert-duration=5m"], "cert-duration"), (["--cert-duration=abc"], "abc"), (["--cert-duration=-1h"], "cert-duration"),
    (["--cert-duration=0"], "cert-duration"), (["--cert-duration="], "cert-duration"), (["--cert-duration=9999999h"], "cert-duration")])
def test_what_cannot_work_is_said_in_a_line_with_exit_255(generate, tmp_path, flags, text):
    done = generate(*flags)

    assert done.returncode == 255
    assert text in done.stderr
    assert not (tmp_path / "kubeconfig").exists()


def test_it_needs_the_name_of_the_node(generate):
    done = generate(node=None)

    assert done.returncode == 255 and "MULTUS_NODE_NAME" in done.stderr


def test_without_a_folder_given_key_and_certificate_are_kept_where_other_users_cannot_write(host, program):
    program("kubeconfig_generator")
    host.write("/srv/bootstrap", BOOTSTRAP)
    running = host.spawn(f"{PROGRAMS}/kubeconfig_generator", "--bootstrap-config=/srv/bootstrap",
                         env={"MULTUS_NODE_NAME": "node1"}, stderr=subprocess.DEVNULL)

    folder = host.path("/run/multus/certs")
    until(lambda: folder.is_dir() or not running.running, "the folder")

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    running.signal(signal.SIGTERM)
    assert running.wait() in (0, -signal.SIGTERM), "before or after it waits for signals"


def test_the_usage_names_no_shared_folder_to_write_to(generate):
    lines = [line for line in generate("--help").stderr.splitlines() if "--certdir" in line]

    assert lines and "/tmp" not in lines[0]
