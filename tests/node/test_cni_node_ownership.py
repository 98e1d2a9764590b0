"""What cni-node may take away: what it put there, and nothing else; and that it hears signals while it waits (04, 1.12,
3.4 and 3.6)."""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest

from harness.machine.wait import until
from harness.node.cni_node import PLUGINS, CniNode

MULTUS = '{"name": "m", "type": "multus-cni", "delegates": [\n   __10-calico.conflist__\n]}\n'


@pytest.fixture
def cni(program, tmp_path):
    node = CniNode(program("cni-node"), tmp_path)
    node.state.parent.mkdir(parents=True)  # as a volume: what is recorded there outlives a container
    yield node
    node.close()


@pytest.fixture
def silent_api(cni):
    """A server that takes connections and never says a word; the kubeconfig that leads there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        path = cni.folder / "kubeconfig"
        path.write_text(json.dumps({"current-context": "c", "clusters": [
            {"name": "k", "cluster": {"server": f"http://127.0.0.1:{port}"}}], "contexts": [
                {"name": "c", "context": {"cluster": "k"}}]}))
        (cni.manifests / "m.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
        yield str(path)


def foreign(cni, name, text, mode=0o750):
    cni.bin.mkdir(parents=True, exist_ok=True)
    path = cni.bin / name
    path.write_text(text)
    path.chmod(mode)
    return path


def watch(cni, *words, wait="### Status ###"):
    return cni.start("watch", *words).wait_for(wait)


@pytest.mark.spec("04:122")
def test_clean_up_on_exit_leaves_the_node_as_it_was(cni):
    macvlan = foreign(cni, "macvlan", "another's macvlan")
    ipvlan = foreign(cni, "ipvlan", (cni.plugin_source / "ipvlan").read_text(), 0o755)
    before = ipvlan.stat()

    running = watch(cni, "--plugins=macvlan,ipvlan,vlan", "--cleanup-on-exit")
    assert macvlan.read_text() == (cni.plugin_source / "macvlan").read_text()
    assert running.stop() == 0

    assert cni.installed() == ["ipvlan", "macvlan"]
    assert macvlan.read_text() == "another's macvlan" and macvlan.stat().st_mode & 0o7777 == 0o750
    assert (ipvlan.stat().st_ino, ipvlan.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert "ipvlan stays: cni-node did not put it there" in running.stderr


def test_an_upgrade_by_the_distribution_is_not_undone(cni):
    macvlan = foreign(cni, "macvlan", "theirs 1")
    running = watch(cni, "--plugins=macvlan", "--cleanup-on-exit")
    ours = (cni.plugin_source / "macvlan").read_text()
    macvlan.write_text("theirs 2")
    until(lambda: macvlan.read_text() == ours, lambda: running.stderr)

    assert running.stop() == 0

    assert macvlan.read_text() == "theirs 2"


def test_what_another_changed_since_stays_and_is_named(cni):
    assert watch(cni, "--plugins=macvlan,vlan").stop() == 0
    (cni.bin / "macvlan").write_text("changed while no watch ran")

    done = cni.run("uninstall", "--plugins=macvlan,vlan")

    assert done.returncode == 0
    assert f"{cni.bin}/macvlan stays: another program changed it" in done.stderr
    assert cni.installed() == ["macvlan"]


def test_commands_share_the_ledger(cni):
    foreign(cni, "macvlan", "theirs")
    assert cni.run("install", "--plugins=macvlan,vlan").returncode == 0
    done = cni.run("uninstall", "--plugins=macvlan,vlan,ipvlan")

    assert done.returncode == 0 and "2 changed, 1 unchanged" in done.stderr
    assert (cni.bin / "macvlan").read_text() == "theirs" and cni.installed() == ["macvlan"]
    assert json.loads(cni.state.read_text())["files"] == []


def test_a_watch_takes_away_only_what_it_installed_itself(cni):
    assert cni.run("install", "--plugins=vlan").returncode == 0
    running = watch(cni, "--plugins=macvlan", "--cleanup-on-exit")
    assert cni.installed() == ["macvlan", "vlan"]
    assert cni.run("install", "--plugins=ipvlan").returncode == 0

    assert running.stop() == 0

    assert cni.installed() == ["ipvlan", "vlan"]


def test_without_a_ledger_uninstall_takes_what_it_is_told(cni):
    cni.state.parent.rmdir()
    foreign(cni, "macvlan", "theirs")
    state = cni.folder / "host" / "var" / "lib" / "cni-node"
    done = subprocess.run([cni.program, "uninstall", "--plugins=macvlan"], env=cni.env, capture_output=True, text=True)

    assert done.returncode == 0
    if not state.exists():  # the folder is not below a mount point, so there was no ledger
        assert cni.installed() == []


def test_the_ledger_of_an_older_version_is_taken_over(cni):
    foreign(cni, "vlan", "by the older version", 0o755)
    cni.state.write_text('{"version":1,"source":"options","plugins":["vlan"],"configs":[],"manifests":[]}')

    running = watch(cni, "--plugins=macvlan")

    until(lambda: cni.installed() == ["macvlan"], lambda: running.stderr)
    assert running.stop() == 0


def test_a_ledger_in_the_container_is_warned_of(cni):
    env = {key: value for key, value in cni.env.items() if key != "CNI_NODE_HOST_ROOT"}
    script = ("mkdir -p {0}/opt/cni/bin; mount -t tmpfs none {0}/opt/cni/bin; exec \"$@\"").format(cni.folder / "h")
    process = subprocess.Popen(
        ["unshare", "-m", "sh", "-ec", script, "sh", cni.program, "watch", "--plugins=macvlan",
         f"--host-root={cni.folder / 'h'}"], env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        if not os.path.ismount("/" + str(cni.folder).split("/")[1]):
            assert "state.json: warning: not on a volume" in process.stderr.readline()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def test_links_of_the_node_are_followed_in_its_root(cni):
    host = cni.folder / "host"
    real = host / "usr" / "lib" / "cni"
    real.mkdir(parents=True)
    cni.bin.parent.mkdir(parents=True)
    cni.bin.symlink_to("/usr/lib/cni")
    (host / "etc" / "calico.json").write_text('{"name": "k8s"}')
    (cni.net / "10-calico.conflist").symlink_to("/etc/calico.json")
    (cni.templates / "05-m.conf").write_text(MULTUS)

    done = cni.run("install", "--plugins=macvlan", "--configs=05-m.conf")

    assert done.returncode == 0, done.stderr
    assert (real / "macvlan").exists()
    assert json.loads((cni.net / "05-m.conf").read_text())["delegates"] == [{"name": "k8s"}]


@contextlib.contextmanager
def locked(folder):
    descriptor = os.open(folder, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


def ends_soon(running, how=signal.SIGTERM):
    """Its exit status; it must not take the time of whatever it waits for."""
    begun = time.monotonic()
    status = running.stop(how)
    assert time.monotonic() - begun < 10
    return status


@pytest.mark.spec("04:123")
def test_a_silent_api_delays_no_end(cni, silent_api):
    cni.run("install", "--plugins=macvlan")
    installing = cni.start("install", "--manifests=m.yaml", KUBECONFIG=silent_api).wait_for("Applying")
    removing = cni.start("uninstall", "--plugins=macvlan", "--manifests=m.yaml", KUBECONFIG=silent_api)
    removing.wait_for("Deleting")

    assert cni.installed() == []  # before the API is asked
    assert ends_soon(installing) == 128 + signal.SIGTERM
    assert ends_soon(removing, signal.SIGINT) == 128 + signal.SIGINT
    assert "ended early by a signal" in installing.stderr


@pytest.mark.spec("04:123")
def test_a_timeout_is_for_the_whole(cni, silent_api):
    begun = time.monotonic()
    done = cni.run("install", "--plugins=macvlan", "--manifests=m.yaml", "--timeout=2s", KUBECONFIG=silent_api)

    assert done.returncode == 1 and "the time of --timeout is over" in done.stderr
    assert time.monotonic() - begun < 20
    assert cni.installed() == ["macvlan"]


@pytest.mark.spec("04:123")
def test_a_lock_that_stays_delays_no_end(cni):
    cni.bin.mkdir(parents=True)
    with locked(cni.bin):
        watching = cni.start("watch", "--plugins=macvlan,vlan").wait_for("Installing")
        installing = cni.start("install", "--plugins=macvlan", f"--state={cni.folder / 'other.json'}")
        installing.wait_for("Installing")
        assert ends_soon(watching) == 0
        assert ends_soon(installing) == 128 + signal.SIGTERM
    assert cni.installed() == []


@pytest.mark.spec("04:123")
def test_a_lock_that_stays_delays_no_end_of_a_rollback(cni):
    """It takes the signal over: process 1 of a container gets no other."""
    assert cni.run("install", "--plugins=macvlan").returncode == 0
    with locked(cni.bin):
        undoing = cni.start("rollback")
        until(lambda: str(cni.bin) in opened_by(undoing), lambda: undoing.stderr)
        assert ends_soon(undoing) == 128 + signal.SIGTERM
    assert cni.installed() == ["macvlan"]

    assert cni.run("rollback").returncode == 0 and cni.installed() == []


@pytest.mark.spec("04:124")
def test_the_configuration_that_is_rendered_last_is_written_last(cni):
    (cni.templates / "05-m.conf").write_text(MULTUS)
    (cni.net / "10-calico.conflist").write_text('{"v": 1}')
    with locked(cni.net):
        waiting = cni.start("install", "--configs=05-m.conf", "--quiet")
        until(lambda: str(cni.net) in opened_by(waiting), lambda: f"it asks for the lock:\n{waiting.stderr}")
        (cni.net / "10-calico.conflist").write_text('{"v": 2}')
    assert waiting.process.wait(60) == 0

    assert json.loads((cni.net / "05-m.conf").read_text())["delegates"] == [{"v": 2}]


def opened_by(running):
    """What its descriptors lead to; one may be closed meanwhile."""
    found = set()
    with contextlib.suppress(FileNotFoundError):
        for link in os.scandir(f"/proc/{running.process.pid}/fd"):
            with contextlib.suppress(FileNotFoundError):
                found.add(os.readlink(link.path))
    return found


def peak_kilobytes(cni, *words):
    """Of its own memory, read while it pauses."""
    running = cni.start(*words, "--pause").wait_for("Paused")
    with open(f"/proc/{running.process.pid}/status", encoding="ascii") as status:
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status.read())[1])
    assert running.stop() == 0
    return peak


@pytest.mark.spec("04:127")
def test_memory_does_not_grow_with_a_plugin(cni):
    large = cni.plugin_source / "large"
    large.write_bytes(b"x" * (48 << 20))
    large.chmod(0o755)
    idle = peak_kilobytes(cni, "install", "--plugins=vlan")

    for plugin in ("large", "large"):  # written, then compared
        assert peak_kilobytes(cni, "install", f"--plugins={plugin}") < idle + 4096
    large.write_bytes(b"y" * (48 << 20))
    assert peak_kilobytes(cni, "install", "--plugins=large") < idle + 4096  # the old one is kept
    assert peak_kilobytes(cni, "uninstall", "--plugins=large") < idle + 4096


def test_two_watches_of_one_ledger_never_work_at_once(cni):
    """What one installs for a while the other must not remove."""
    first = watch(cni, "--plugins=macvlan", "--cleanup-on-exit")
    second = cni.start("watch", "--plugins=vlan", "--cleanup-on-exit").wait_for("Waiting for another")
    stopping = threading.Thread(target=first.stop)
    stopping.start()
    until(lambda: cni.installed() == ["vlan"], lambda: second.stdout)
    stopping.join()
    assert second.stop() == 0 and cni.installed() == []


# Pins, status, verify, rollback (04, 1.14).

def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def items(done):
    return {item["name"]: item["state"] for item in json.loads(done.stdout)["items"]}


@pytest.mark.spec("04:128")
def test_a_pin_is_for_one_plugin_and_no_other(cni):
    pin = sha256(cni.plugin_source / "macvlan")
    good, bad = f"macvlan=sha256-{pin}", f"macvlan=sha256-{'0' * 64}"

    refused = cni.run("install", f"--plugins={bad}")
    assert refused.returncode == 1 and f"its SHA-256 is {pin} and not 000" in refused.stderr
    assert cni.installed() == []
    assert cni.run("install", f"--plugins={good},vlan").returncode == 0
    cni.add_plugin("macvlan", "another image's")
    kept = cni.run("apply", f"--plugins={good}:macvlan,vlan")  # the node has what is asked for
    assert kept.returncode == 0 and cni.installed() == ["macvlan"]
    assert sha256(cni.bin / "macvlan") == pin
    assert cni.run("verify", f"--plugins={good}").returncode == 0
    assert cni.run("verify", f"--plugins={bad}").returncode == 1
    assert cni.run("install", "--plugins=macvlan=sha256-x").returncode == 2


@pytest.mark.spec("04:128")
def test_status_and_verify_tell_what_is_there(cni):
    (cni.templates / "a.conf").write_text("{}")
    foreign(cni, "ipvlan", "theirs")
    cni.run("install", "--plugins=macvlan,vlan,host-local", "--configs=a.conf")
    (cni.bin / "vlan").write_text("changed")
    (cni.bin / "host-local").unlink()

    lists = ["--plugins=macvlan,vlan,host-local,ipvlan", "--configs=a.conf"]
    status = cni.run("status", *lists, "-o", "json")
    verified = cni.run("verify", *lists, "-o", "json")

    assert status.returncode == 0 and verified.returncode == 1
    assert items(status) == {"macvlan": "present", "vlan": "changed", "host-local": "missing", "ipvlan": "foreign",
                             "a.conf": "present"}
    assert items(verified) == {"macvlan": "present", "vlan": "changed", "host-local": "missing", "ipvlan": "changed",
                               "a.conf": "present"}
    assert set(items(cni.run("status", "-o=json"))) == {"macvlan", "vlan", "host-local", "a.conf"}
    assert f"plugin  macvlan  present  -         {sha256(cni.bin / 'macvlan')}\n" in cni.run("status", "--plugins=macvlan").stdout
    assert cni.run("verify", "--plugins=macvlan").returncode == 0
    (cni.templates / "a.conf").write_text('{"x": 1}')
    assert cni.run("verify", "--configs=a.conf").returncode == 1
    for words in (["-o", "yaml"], ["-o"], ["--pause"]):
        assert cni.run("status", *words).returncode == 2


@pytest.mark.spec("04:4")
def test_list_has_versions_and_hashes(cni):
    (cni.plugin_source / ".versions").write_text("macvlan 1.5.1\n")
    lines = {line.split()[0]: line.split()[1:] for line in cni.run("list").stdout.splitlines()}
    listed = json.loads(cni.run("list", "-o", "json").stdout)["plugins"]

    assert lines["macvlan"] == ["1.5.1", sha256(cni.plugin_source / "macvlan")]
    assert lines["vlan"] == ["-", sha256(cni.plugin_source / "vlan")]
    assert [plugin["name"] for plugin in listed] == sorted(PLUGINS)
    assert {"name": "macvlan", "version": "1.5.1", "sha256": sha256(cni.plugin_source / "macvlan")} in listed


@pytest.mark.spec("04:128")
def test_a_rollback_undoes_the_last_run(cni):
    foreign(cni, "ipvlan", "theirs")
    cni.run("install", "--plugins=macvlan")
    old = (cni.bin / "macvlan").read_text()
    cni.add_plugin("macvlan", "a new version")
    cni.run("apply", "--plugins=macvlan,ipvlan,vlan:host-local")

    done = cni.run("rollback")

    assert done.returncode == 0, done.stderr
    assert cni.installed() == ["ipvlan", "macvlan"]
    assert (cni.bin / "macvlan").read_text() == old and (cni.bin / "ipvlan").read_text() == "theirs"
    assert cni.run("rollback").returncode == 0
    assert (cni.bin / "macvlan").read_text() == "a new version"
    running = watch(cni, "--plugins=macvlan")
    refused = cni.run("rollback")
    assert refused.returncode == 1 and "a cni-node watch keeps this node in step" in refused.stderr
    assert running.stop() == 0


@pytest.mark.spec("04:128")
def test_an_older_image_does_not_downgrade(cni):
    (cni.plugin_source / ".versions").write_text("macvlan 1.10.0\n")
    assert cni.run("install", "--plugins=macvlan").returncode == 0
    newer = (cni.bin / "macvlan").read_text()
    (cni.plugin_source / ".versions").write_text("macvlan 1.9.1\n")
    cni.add_plugin("macvlan", "older")

    kept = cni.run("install", "--plugins=macvlan")

    assert kept.returncode == 0 and "version 1.10.0 is installed and stays: 1.9.1 is older" in kept.stderr
    assert (cni.bin / "macvlan").read_text() == newer
    assert cni.run("install", "--plugins=macvlan", "--allow-downgrade").returncode == 0
    assert (cni.bin / "macvlan").read_text() == "older"


# Health (04, 1.15). The processes of other tests are in the same container: each test has a mount namespace of its own.

class Container:
    """A mount namespace in which both commands run."""

    def __init__(self, cni):
        self.cni = cni
        self.holder = subprocess.Popen(["unshare", "-m", "sleep", "1000"])
        until(lambda: os.readlink(f"/proc/{self.holder.pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt"), "the namespace")

    def words(self, *words):
        return ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", self.cni.program, *words]

    def start(self, *words):
        return subprocess.Popen(self.words(*words), env=self.cni.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def health(self):
        done = subprocess.run(self.words("health"), env=self.cni.env, capture_output=True, text=True, timeout=60)
        return done.returncode, (done.stdout + done.stderr).strip()


@pytest.fixture
def container(cni):
    made = Container(cni)
    yield made
    made.holder.kill()
    made.holder.wait()


def end(process):
    process.send_signal(signal.SIGTERM)
    return process.communicate(timeout=60)[0]


@pytest.mark.spec("04:129")
def test_health_tells_whether_the_work_is_done(cni, container):
    assert container.health() == (1, "cni-node: health: no cni-node runs here")
    paused = container.start("install", "--plugins=macvlan", "--pause")
    until(lambda: container.health() == (0, "ready"), lambda: container.health()[1])
    end(paused)

    watching = container.start("watch", "--plugins=macvlan")
    until(lambda: container.health() == (0, "ready"), lambda: container.health()[1])
    waiting = container.start("watch", "--plugins=macvlan")
    until(lambda: container.health() == (1, "cni-node: health: waiting for another cni-node watch to end"),
          lambda: container.health()[1])
    end(waiting)
    end(watching)
    failing = container.start("watch", "--plugins=nope")
    until(lambda: "plugin nope failed: no such plugin" in container.health()[1], lambda: container.health()[1])
    cni.add_plugin("nope")
    until(lambda: container.health() == (0, "ready"), lambda: container.health()[1])
    end(failing)


def asked(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.mark.spec("04:129")
def test_health_and_metrics_can_be_asked_for_by_http(cni):
    running = cni.start("watch", "--plugins=macvlan,nope", "--listen=127.0.0.1:0").wait_for("### Status ###")
    port = re.search(r"Listening on port (\d+)", running.stdout)[1]

    assert asked(port, "/healthz")[0] == 200
    status, why = asked(port, "/readyz")
    assert status == 503 and "plugin nope failed" in why
    cni.add_plugin("nope")
    until(lambda: asked(port, "/readyz")[0] == 200, lambda: asked(port, "/readyz")[1])

    metrics = asked(port, "/metrics")[1]
    assert 'cni_node_items{kind="plugin",state="installed"} 2\n' in metrics
    assert "\ncni_node_ready 1\n" in metrics and "cni_node_seconds_since_success " in metrics
    assert asked(port, "/other")[0] == 404
    assert running.stop() == 0
    assert cni.run("watch", "--plugins=macvlan", "--listen=nowhere").returncode == 2
