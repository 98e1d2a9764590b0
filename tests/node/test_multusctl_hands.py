"""multusctl on a node: pending DELs, gc, CHECK of everything, probes and the bundle, with a real daemon and plugins."""

import json
import os
import re
import shlex
import subprocess
import tarfile
from io import BytesIO

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.pending import FOLDER

CTL = f"{PROGRAMS}/multusctl"
BROKEN = "/srv/ipam-is-broken"


@pytest.fixture
def ctl(host, program):
    program("multusctl")

    def run(*words, **options):
        return host.run(CTL, *words, check=False, **options)
    return run


@pytest.fixture
def stuck(node, host):
    """A pod whose DEL fails as long as there is a file: it is pending."""
    host.write(f"{PLUGIN_DIR}/flaky-local", f"#!/bin/sh\n[ $CNI_COMMAND = DEL ] && [ -e {BROKEN} ] && cat {BROKEN} && exit 1\n"
               f"exec {PLUGIN_DIR}/host-local\n", mode=0o755)
    bridge = networks.bridge()
    bridge["ipam"]["type"] = "flaky-local"
    node.configure(bridge)
    pod = node.pod()
    assert pod.add().ok
    host.write(BROKEN, json.dumps({"cniVersion": "1.0.0", "code": 11, "msg": "the server is away"}))
    assert pod.delete().ok
    until(lambda: host.files_below(FOLDER) == [f"{pod.container_id}-eth0.json"], lambda: host.files_below(FOLDER))
    return pod


def test_a_pending_del_is_shown_repeated_and_done(host, ctl, stuck):
    shown = ctl("pending", "-o", "json")
    (one,) = json.loads(shown.stdout)["pending"]
    assert one["id"] == f"{stuck.container_id}-eth0" and one["pod"] == f"default/{stuck.pod_name}"

    refused = ctl("pending", "retry", one["id"])
    assert refused.returncode == 2 and "add --yes" in refused.stderr
    failed = ctl("pending", "retry", one["id"], "--yes")
    assert failed.returncode == 1 and "the server is away" in failed.stderr
    assert "the server is away" in ctl("pending", "list", "-o", "wide").stdout

    host.path(BROKEN).unlink()
    done = ctl("pending", "retry", one["id"][:6], "--yes")

    assert done.returncode == 0, done.stderr
    assert host.files_below(FOLDER) == []
    assert ctl("pending").stdout == "no pending DELs\n"
    assert ctl("pending", "retry", "--yes").returncode == 0
    assert ctl("pending", "retry", one["id"], "--yes").returncode == 1


def hints_in(line):
    return [shlex.split(hint) for hint in re.findall(r"`multusctl (.*?)`", line)]


def test_an_id_that_fits_several_is_refused_with_the_command_that_shows_them_whole(node, host, ctl, stuck):
    other = node.pod()
    host.path(BROKEN).rename(host.path(f"{BROKEN}.away"))
    assert other.add().ok
    host.path(f"{BROKEN}.away").rename(host.path(BROKEN))
    assert other.delete().ok
    ids = sorted(f"{pod.container_id}-eth0" for pod in (stuck, other))
    until(lambda: sorted(host.files_below(FOLDER)) == [f"{one}.json" for one in ids], lambda: host.files_below(FOLDER))
    short = os.path.commonprefix(ids)

    refused = ctl("pending", "retry", short, "--yes")

    assert short and refused.returncode == 1
    (hint,) = hints_in(refused.stderr)
    shown = ctl(*hint).stdout
    assert all(one in shown for one in ids)
    host.path(BROKEN).unlink()
    assert [ctl("pending", "retry", one, "--yes").returncode for one in ids] == [0, 0]
    assert host.files_below(FOLDER) == []


def test_an_old_pending_del_is_told_by_doctor_with_the_command_that_shows_why(host, ctl, stuck):
    assert ctl("pending", "retry", "--yes").returncode == 1  # until the first try there is no reason

    def told():
        file = host.path(f"{FOLDER}/{stuck.container_id}-eth0.json")
        os.utime(file, (file.stat().st_mtime - 3600,) * 2)  # a try may write it anew
        return next((line for line in ctl("doctor", "--this-node").stdout.splitlines() if "are older than 10 minutes" in line), None)
    (hint,) = hints_in(until(told, "the finding"))
    assert "the server is away" in ctl(*hint, "-o", "wide").stdout

    host.path(BROKEN).unlink()
    assert ctl("pending", "retry", "--yes").returncode == 0

    assert "are older than" not in ctl("doctor", "--this-node").stdout


def test_a_pending_del_is_given_up_and_its_records_go_with_gc(host, ctl, stuck):
    dropped = ctl("pending", "drop", stuck.container_id, "--yes")
    assert dropped.returncode == 0, dropped.stderr
    assert host.files_below(FOLDER) == []

    planned = json.loads(ctl("gc", "--dry-run", "-o", "json").stdout)
    assert [(one["container"], one["action"]) for one in planned["containers"]] == [(stuck.container_id, "drop")]
    assert stuck.record() is not None, "a dry run changes nothing"

    done = ctl("gc", "--yes")

    assert done.returncode == 0, done.stderr
    assert stuck.record() is None
    assert ctl("gc", "--dry-run").stdout == "nothing to do\n"
    assert ctl("pending", "drop", stuck.container_id, "--yes").returncode == 1
    # By hand, as it says.
    host.run("rm", "-r", "/var/lib/cni/networks/cluster")
    stuck.is_added = False


def test_check_of_everything_finds_the_pod_whose_interface_is_gone(node, ctl):
    node.network("lab", networks.bridge("lab", "brlab", "10.9.0.0/24", default_route=False))
    good, bad = node.pod("lab"), node.pod("lab")
    assert good.add().ok and bad.add().ok
    well = ctl("doctor", "--this-node", "--check-pods", "-o", "json")
    assert "CHECK of 2 containers succeeds" in well.stdout

    bad.ip("link", "del", "net1")
    before = [good.remembered(), bad.remembered()]
    sick = ctl("doctor", "--this-node", "--check-pods")

    assert sick.returncode == 1
    assert f"✗ CHECK of pod default/{bad.pod_name} fails" in sick.stdout and "net1" in sick.stdout
    assert good.pod_name not in sick.stdout
    assert [good.remembered(), bad.remembered()] == before
    assert good.delete().ok and bad.delete().ok


def test_doctor_on_the_node_shows_the_self_check(node, host, ctl):
    node.objects.pod("web", annotations={"k8s.v1.cni.cncf.io/networks": "lan"})
    node.network("lan", networks.macvlan("lan", master="eth7"))
    node.start()

    done = ctl("doctor", "--this-node")

    assert done.returncode == 1
    assert '✗ masters: master "eth7" does not exist on this node' in done.stdout, done.stdout + done.stderr


def test_only_root_may_use_the_hands_and_only_by_their_methods(daemon):
    for path in ("/pending/retry", "/pending/drop", "/gc", "/check"):
        assert daemon.http("GET", path).status == 405
    assert daemon.http("POST", "/pending", b"{}").status == 405
    assert daemon.http("GET", "/pending").status == 200
    assert daemon.http("POST", "/pending/drop", b"{}").status == 400
    assert daemon.http("POST", "/pending/drop", b'{"id":"../../etc/passwd"}').status == 404
    assert daemon.http("POST", "/gc", b"no json").status == 400


class Pair:
    """Two namespaces on one bridge, the second one answers."""

    def __init__(self, host, mtu=None):
        self.host = host
        host.add_bridge("brp")
        self.one, self.two = (self._join(name, number) for number, name in ((1, "one"), (2, "two")))
        if mtu:
            host.run("ip", "link", "set", "brp", "mtu", str(mtu))

    def _join(self, name, number):
        pod = self.host.add_pod(name)
        self.host.run("ip", "link", "add", f"v{number}", "type", "veth", "peer", "name", "net1", "netns", name)
        self.host.run("ip", "link", "set", f"v{number}", "master", "brp", "up")
        pod.ip("link", "set", "net1", "up")
        pod.ip("addr", "add", f"10.7.0.{number}/24", "dev", "net1")
        return pod

    def answer(self):
        self.answering = self.host.spawn("ip", "netns", "exec", "two", CTL, "probe", env={"HOSTNAME": "pod-two"})
        until(lambda: "7391" in self.two.run("ss", "-lun").stdout, "listening")

    def ask(self, *addresses):
        done = self.one.run(CTL, "probe", "--to", ",".join(addresses), "--interface", "net1", "-o", "json")
        return json.loads(done.stdout)

    def close(self):
        self.answering.signal(9)
        self.answering.wait()
        for pod in (self.one, self.two):
            pod.ip("link", "del", "net1")


@pytest.fixture
def pair(host, program):
    program("multusctl")
    pair = Pair(host)
    pair.answer()
    yield pair
    pair.close()


def test_a_probe_measures_the_way_and_tells_what_is_wrong_with_it(pair):
    heard = pair.ask("10.7.0.2")
    (target,) = heard["targets"]
    assert (target["state"], target["by"], target["largest"]) == ("ok", "pod-two", 1500)
    assert target["roundTripMicros"] > 0 and heard["duplicates"] == []

    silent, unreachable = pair.ask("10.7.0.9", "10.99.0.1")["targets"]
    assert silent["state"] == "no-answer" and unreachable["state"] == "no-route"


def test_a_probe_does_not_answer_an_answer(pair):
    """Two probes would send to each other for ever after one packet with a false sender."""
    send = """
import socket
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.settimeout(30)
link.sendto(b"multusctl" + b"12345678" + b"x" * 100, ("10.7.0.2", 7391))
answer = link.recv(2000)
link.settimeout(2)
link.sendto(answer, ("10.7.0.2", 7391))
try:
    print("again", link.recv(2000))
except TimeoutError:
    print("once")
"""
    assert pair.one.run("/usr/bin/python3", "-I", "-c", send).stdout == "once\n"


def test_a_probe_finds_the_mtu_that_arrives(pair):
    pair.host.run("ip", "link", "set", "v2", "mtu", "1400")  # what is larger is dropped in between

    (target,) = pair.ask("10.7.0.2")["targets"]

    assert target["state"] == "mtu" and 1380 <= target["largest"] <= 1400, target


def test_a_probe_finds_a_station_with_the_same_address(pair):
    pair.two.ip("addr", "add", "10.7.0.1/24", "dev", "net1")

    heard = pair.ask("10.7.0.2")

    assert [one["address"] for one in heard["duplicates"]] == ["10.7.0.1"]
    assert heard["duplicates"][0]["mac"] == pair.two.mac("net1")


def test_a_probe_that_may_not_use_arp_says_so(pair):
    """As in pods of runtimes that do not give NET_RAW."""
    done = pair.one.run("setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", CTL, "probe", "--to", "10.7.0.2", "--interface", "net1")

    heard = json.loads(done.stdout)
    assert "not permitted" in heard["unasked"] and heard["targets"][0]["state"] == "ok"
    assert pair.ask("10.7.0.2")["unasked"] == ""


def test_names_of_files_are_no_commands_for_a_terminal(host, ctl):
    name = "\x1b[2J50-other.conf"
    host.write(f"/etc/cni/net.d/{name}", {"type": "x", "name": "x"})
    host.path("/etc/cni/net.d/\x1b]0;gone.conf").mkdir()

    done = ctl("bundle", "--this-node", "--yes", "-o", "/srv/x.tgz")

    assert done.returncode == 0, done.stderr
    bundle = tarfile.open(fileobj=BytesIO(host.path("/srv/x.tgz").read_bytes()))
    contents = bundle.extractfile("CONTENTS").read().decode()
    assert "net.d/\\x1b[2J50-other.conf" in contents and "\\x1b]0;gone.conf" in contents
    for text in (contents, done.stdout, done.stderr, *bundle.getnames()):
        assert "\x1b" not in text


def test_a_bundle_of_a_node_has_no_secrets(node, host, ctl):
    secret = {"password": "hunter1", "k8s_auth_token": "hunter2", "url": "https://me:hunter3@registry/x"}
    node.network("lab", {**networks.bridge("lab", "brlab", "10.9.0.0/24", default_route=False), **secret})
    pod = node.pod("lab")
    assert pod.add().ok
    host.write("/etc/cni/net.d/50-other.conf", {"type": "x", "name": "x", "psk": "hunter4"})

    done = ctl("bundle", "--this-node", "--yes", "-o", "/srv/x.tgz")

    assert done.returncode == 0, done.stderr
    bundle = tarfile.open(fileobj=BytesIO(host.path("/srv/x.tgz").read_bytes()))
    names = bundle.getnames()
    assert names[0] == "CONTENTS" and "status.json" in names and "pending.json" in names
    assert f"records/{pod.container_id}.json" in names and "net.d/50-other.conf" in names
    for name in names:
        assert b"hunter" not in bundle.extractfile(name).read(), name
    assert pod.delete().ok
    assert subprocess.run(["tar", "-tzf", host.path("/srv/x.tgz")], capture_output=True).returncode == 0
