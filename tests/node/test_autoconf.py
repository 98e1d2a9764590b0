"""Automatic configuration (03, 6): which primary is found, and what is made from it."""

import datetime
import json
import os
import signal
import stat
import time

import pytest
from harness.machine.host import PROGRAMS
from harness.machine.wait import until, whole_lines
from harness.node.autoconf import NET_D, OWN, PRIMARY, AutoNode, auto_config, conflist, why_not_ready
from harness.node.netconf import netconf

DAEMON = f"{PROGRAMS}/multus-daemon"
ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"


@pytest.fixture
def auto(host, daemons):
    return AutoNode(host, daemons)


def exits(host, **keys):
    """Exit status and output of a daemon that refuses to run."""
    host.path("/srv/objects").mkdir(exist_ok=True)
    host.write("/srv/auto.json", auto_config(**keys))
    done = host.run(DAEMON, "-config", "/srv/auto.json", check=False)
    assert not host.path(OWN).exists()
    return done.returncode, done.stderr


def times_of(daemon, text):
    """When the lines with that text were written."""
    return [datetime.datetime.fromisoformat(line.split(" ", 1)[0]).timestamp()
            for line in whole_lines(daemon.log_path) if text in line]


@pytest.mark.spec("03:124")
def test_the_file_is_the_originals_golden_one(host, auto):
    host.write(f"{NET_D}/05-mycni.conf", {"cniVersion": "0.4.0", "name": "mycni-name", "type": "mycni"})

    auto.launch(cniVersion="0.4.0", logLevel=None, logToStderr=None).wait_ready()
    until(auto.own_path.exists, OWN)

    assert auto.own_path.read_text() == ('{"cniVersion":"0.4.0","name":"multus-cni-network",'
                                         f'"clusterNetwork":"{NET_D}/05-mycni.conf","type":"multus-shim"}}')
    assert stat.S_IMODE(auto.own_path.stat().st_mode) == 0o600


@pytest.mark.spec("03:124", "03:166")
def test_every_option_is_handed_on_in_the_originals_order(host, auto):
    host.write(PRIMARY, conflist(capabilities={"portMappings": True, "off": False}))

    auto.start(binDir="/opt/b", capabilities={"own": False}, logFile="/srv/x.log", logOptions={"compress": False},
               namespaceIsolation=True, globalNamespaces="a,b", cniDir="/x", auxiliaryCNIChainName="aux",
               daemonSocketDir="/run/multus", overrideNetworkName=True, shimTimeout=50, cleanupConfigOnExit=False,
               multusAutoconfigDir=NET_D, clusterNetwork="/ignored", name="ignored", metricsPort=None)

    assert list(auto.own().items()) == [
        ("binDir", "/opt/b"), ("capabilities", {"own": False, "portMappings": True}), ("cniVersion", "1.0.0"),
        ("logFile", "/srv/x.log"), ("logLevel", "debug"), ("logToStderr", True), ("logOptions", {"compress": False}),
        ("name", "primary"), ("clusterNetwork", PRIMARY), ("namespaceIsolation", True), ("globalNamespaces", "a,b"),
        ("type", "multus-shim"), ("cniDir", "/x"), ("auxiliaryCNIChainName", "aux"),
        ("daemonSocketDir", "/run/multus"), ("overrideNetworkName", True), ("shimTimeout", 50)]


@pytest.mark.spec("03:121")
def test_the_first_configuration_by_name_is_the_primary(host, auto):
    """Pain 12: the choice and its reason are in the log."""
    for name in ("10-a.conf", "05-b.conflist", "00-multus.conf", "00-multus-x.conflist", "01-d.conf/x", "z.json"):
        host.write(f"{NET_D}/{name}", {"cniVersion": "1.0.0", "name": name, "type": "t"})

    daemon = auto.start()

    assert auto.own()["clusterNetwork"] == f"{NET_D}/05-b.conflist"
    daemon.wait_log(r"the primary CNI configuration is \S*05-b.conflist \(the first of 2 in \S*: "
                    r"05-b.conflist 10-a.conf\)")


def test_a_primary_that_is_named_wins_over_the_order(host, auto):
    host.write(f"{NET_D}/01-first.conf", {"cniVersion": "1.0.0", "name": "first", "type": "t"})
    host.write(PRIMARY, conflist())

    daemon = auto.start(multusMasterCNI="10-primary.conflist")

    assert auto.own()["clusterNetwork"] == PRIMARY
    assert "(named by multusMasterCNI)" in daemon.log


def test_the_primary_may_lie_in_a_directory_that_the_runtime_does_not_read(host, auto):
    host.write("/etc/cni/primary.d/10-p.conf", {"cniVersion": "1.0.0", "name": "p", "type": "t"})

    auto.start(multusAutoconfigDir="/etc/cni/primary.d/")

    assert auto.own()["clusterNetwork"] == "/etc/cni/primary.d/10-p.conf"


@pytest.mark.spec("03:122")
@pytest.mark.parametrize("keys", [{}, {"multusMasterCNI": "10-primary.conflist"}])
def test_a_primary_that_comes_late_is_taken_at_once(host, auto, keys):
    daemon = auto.launch(**keys).wait_alive()
    daemon.wait_log("waiting for the primary CNI configuration: ")
    assert daemon.answers("/healthz") and not auto.own_path.exists()
    assert NET_D in why_not_ready(daemon)

    came = time.monotonic()
    host.write(PRIMARY, conflist())

    auto.wait_own(clusterNetwork=PRIMARY)
    assert time.monotonic() - came < 8  # without inotify events, changes are found within ten seconds
    daemon.wait_ready()


@pytest.mark.slow
@pytest.mark.spec("03:122")
def test_a_primary_that_never_comes_is_spoken_of_every_30_seconds(host, auto):
    daemon = auto.launch()
    line = "could not find a plugin configuration in /etc/cni/net.d"
    daemon.wait_log(line, count=2, timeout=150)

    first, second = times_of(daemon, line)[:2]
    assert 25 < second - first < 120
    assert daemon.process.running and not auto.own_path.exists()
    assert why_not_ready(daemon) is not None


@pytest.mark.spec("03:18")
def test_a_signal_while_waiting_for_the_primary_ends_it_at_once(host, auto):
    daemon = auto.launch()
    daemon.wait_log("waiting for the primary CNI configuration: ")

    began = time.monotonic()
    daemon.terminate()

    assert daemon.process.wait() == 0
    assert time.monotonic() - began < 9  # without a drain, which takes ten seconds
    assert not auto.own_path.exists()


@pytest.mark.spec("03:17", "03:123", "03:132", "03:133")
@pytest.mark.parametrize("keys, primary, reason", [
    ({"cniVersion": None}, {}, "couldn't get top level cni version"),
    ({"cniVersion": "1.0"}, {}, "couldn't get top level cni version"),
    ({"multusMasterCNI": "00-multus.conf"}, {},
     "cannot specify /etc/cni/net.d/00-multus.conf to prevent recursive config load"),
    ({"overrideNetworkName": True}, {"name": 7}, "could not override the network name: "),
    ({"overrideNetworkName": True}, {"name": ""}, "could not override the network name: "),
    ({"forceCNIVersion": True}, "***", f"failed to unmarshall cni config {PRIMARY}: "),
    ({"multusAutoconfigDir": "/etc/cni/nosuch"}, {}, "/etc/cni/nosuch"),
    ({"readinessindicatorfile": "/srv/nosuch/ready"}, {}, "/srv/nosuch"),
])
def test_a_configuration_that_cannot_work_exits_2_with_the_reason(host, auto, keys, primary, reason):
    host.write(PRIMARY, primary if isinstance(primary, str) else {**conflist(), **primary})

    code, stderr = exits(host, **keys)

    assert code == 2 and reason in stderr


def test_a_directory_that_is_missing_for_our_file_exits_3(host, auto):
    host.write(PRIMARY, conflist())

    code, stderr = exits(host, cniConfigDir="/etc/cni/nosuch", multusAutoconfigDir=NET_D)

    assert code == 3 and "/etc/cni/nosuch" in stderr


def test_a_full_disk_does_not_end_a_daemon_whose_file_is_there(host, auto):
    """Once, it ended with 3, and a node with a full disk had no daemon."""
    host.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", NET_D)
    host.leaks.mounts.add(NET_D)
    earlier = {"cniVersion": "1.0.0", "name": "multus-cni-network", "type": "multus-shim"}
    host.write(PRIMARY, conflist())
    host.write(OWN, earlier)
    host.run("sh", "-c", f"head -c 100000 /dev/zero > {NET_D}/.filler || true")

    daemon = auto.daemons.launch(auto_config(), config_path="/srv/daemon-config.json").wait_ready()

    daemon.wait_log(f"cannot write {OWN}; the one that an earlier run wrote stays in use .*no space left")
    assert auto.own() == earlier
    host.path(f"{NET_D}/.filler").unlink()
    auto.wait_own(clusterNetwork=PRIMARY)
    assert daemon.answers()


@pytest.mark.spec("03:125")
@pytest.mark.parametrize("text, reason", [
    ('{"cniVersion": "1.0.0", "name"', "failed to unmarshall primary CNI config"),
    ("", "failed to unmarshall primary CNI config"),
    ({"name": "p", "type": "t"}, "couldn't get cni version of delegate"),
    ({"cniVersion": "0.4", "name": "p", "type": "t"}, "0.4"),
    ({"cniVersion": "1.0.0", "name": "p"}, "neither type nor plugins"),
    ({"cniVersion": "1.0.0", "name": "p", "type": "multus"}, "Multus itself (type)"),
    ({"cniVersion": "1.0.0", "name": "p", "plugins": [{"type": "a", "delegates": [{"type": "multus-shim"}]}]},
     "Multus itself (plugins[0].delegates[0].type)"),
])
def test_a_broken_primary_means_not_ready_and_names_the_file_until_it_is_mended(host, auto, text, reason):
    """Pains 9 and 42. A later file does not take its place."""
    host.write(PRIMARY, text)
    host.write(f"{NET_D}/20-other.conf", {"cniVersion": "1.0.0", "name": "other", "type": "t"})

    daemon = auto.launch().wait_alive()
    daemon.wait_log("waiting for the primary CNI configuration: ")

    why = why_not_ready(daemon)
    assert reason in why and f"correct {PRIMARY}" in why
    assert reason in daemon.log and f"correct {PRIMARY}" in daemon.log
    assert daemon.process.running and not auto.own_path.exists()

    auto.replace(PRIMARY, conflist())
    daemon.wait_ready()
    auto.wait_own(clusterNetwork=PRIMARY)


@pytest.mark.spec("03:125")
@pytest.mark.parametrize("version", ["0.3.1", "1.0.0"])
def test_pods_work_with_a_primary_of_another_version(host, auto, shim, pod, version):
    """Pain 27: ADD, CHECK and DEL with what the runtime finds in the directory."""
    host.write(PRIMARY, conflist(version=version))
    daemon = auto.start(cniVersion="0.4.0")
    conf = auto.own()
    assert conf["cniVersion"] == "0.4.0"

    added = shim.add(conf, pod, args=ARGS)

    assert added.ok, added.stdout
    assert added.result["cniVersion"] == "0.4.0"
    assert added.result["ips"][0]["address"] in pod.addresses("eth0")
    assert shim.call("CHECK", {**conf, "prevResult": added.result}, pod, args=ARGS).ok
    assert shim.delete(conf, pod, args=ARGS).ok
    assert pod.links() == set()
    assert ("below 0.4.0" in daemon.log) == (version == "0.3.1")
    host.run("ip", "link", "del", "br-primary")


@pytest.mark.spec("03:133")
def test_a_forced_version_changes_that_member_alone_and_once(host, auto):
    text = '{"cniVersion": "0.3.1", "name": "p", "type": "t", "mtu": 1.50, "n": 9007199254740993, "s": "<a&b>"}'
    path = host.path(host.write(PRIMARY, text, mode=0o640))
    os.chown(path, 12, 34)

    daemon = auto.start(cniVersion="1.0.0", forceCNIVersion=True)

    written = path.read_text()
    assert '"mtu":1.50,"n":9007199254740993,"s":"<a&b>"' in written
    assert json.loads(written)["cniVersion"] == "1.0.0"
    status = path.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) == (0o640, 12, 34)

    assert daemon.stop() == 0
    auto.start(cniVersion="1.0.0", forceCNIVersion=True)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (status.st_ino, status.st_mtime_ns)


@pytest.mark.spec("03:16", "03:20")
def test_the_file_comes_only_when_the_daemon_answers_ready(host, auto, pod):
    """The indicator holds readiness back; a file of an earlier run would stay."""
    host.write(PRIMARY, conflist())
    daemon = auto.launch(readinessindicatorfile="/srv/ready").wait_alive()
    daemon.wait_log("still waiting for readinessindicatorfile @ /srv/ready")
    daemon.wait_log("the primary CNI configuration is")
    assert not auto.own_path.exists()
    assert why_not_ready(daemon) == "still waiting for readinessindicatorfile @ /srv/ready"
    refused = daemon.cni("ADD", netconf(clusterNetwork=PRIMARY), pod, args=ARGS)
    assert refused.status == 400 and refused.json["code"] == 11

    host.write("/srv/ready", "")
    auto.wait_own(clusterNetwork=PRIMARY)

    assert daemon.answers("/readyz")
    log = daemon.log
    assert log.index("API readiness check done!") < log.index("Generated MultusCNI config: ")


@pytest.mark.spec("03:70", "03:76")
@pytest.mark.parametrize("cleans", [False, True])
def test_the_file_stays_when_the_daemon_ends_unless_asked_otherwise(host, auto, cleans):
    """Pain 3: without it the runtime would start pods on the primary network alone."""
    host.write(PRIMARY, conflist())
    daemon = auto.start(cleanupConfigOnExit=cleans)
    assert "cleanupConfigOnExit" not in auto.own()

    assert daemon.stop() == 0

    assert auto.own_path.exists() != cleans


@pytest.mark.spec("03:77")
def test_the_file_stays_when_the_daemon_is_killed(host, auto):
    host.write(PRIMARY, conflist())
    daemon = auto.start(cleanupConfigOnExit=True)
    before = auto.own_path.read_bytes()

    daemon.kill()

    assert auto.own_path.read_bytes() == before
    auto.start()
    assert auto.own_path.read_bytes() == before


@pytest.mark.spec("03:10")
def test_a_predecessor_that_cleans_up_leaves_its_successors_file(host, auto):
    host.write(PRIMARY, conflist())
    first = auto.start(cleanupConfigOnExit=True)
    second = auto.start(cleanupConfigOnExit=True)

    assert first.stop() == 0

    assert auto.own()["clusterNetwork"] == PRIMARY
    assert second.stop() == 0
    assert not auto.own_path.exists()


def test_a_leftover_that_is_taken_is_doubted_in_the_log(host, auto):
    host.write(PRIMARY, {"cniVersion": "1.0.0", "name": "lo", "plugins": [{"type": "loopback"}]})
    os.utime(host.path(PRIMARY), (1, 1))

    daemon = auto.start()

    daemon.wait_log("warning: .*holds only loopback; set multusMasterCNI if this is the wrong file")
    daemon.wait_log("warning: .*is older than this boot; set multusMasterCNI if this is the wrong file")


@pytest.mark.spec("03:134")
def test_a_users_file_is_copied_and_the_daemon_runs_on(host, daemons):
    host.write("/srv/70-mine.conf", {"name": "mine"}, mode=0o644)
    daemon = daemons(multusConfigFile="/srv/70-mine.conf", cniVersion=None)

    copy = host.path(f"{NET_D}/70-mine.conf")
    assert json.loads(copy.read_text()) == {"name": "mine"}
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert daemon.stop() == 0
    assert copy.exists() and not host.path(OWN).exists()


@pytest.mark.spec("03:134")
@pytest.mark.parametrize("there", [True, False])
def test_a_users_file_in_place_is_left_and_a_missing_one_is_logged(host, daemons, there):
    path = f"{NET_D}/70-mine.conf"
    if there:
        host.write(path, {"name": "mine"}, mode=0o644)
        before = host.path(path).stat()

    daemon = daemons(multusConfigFile=path, cniVersion=None)

    assert daemon.process.running and daemon.answers("/readyz")
    if there:
        after = host.path(path).stat()
        assert (after.st_ino, after.st_mode, after.st_size) == (before.st_ino, before.st_mode, before.st_size)
    else:
        assert f"failed to copy the user provided configuration {path}: " in daemon.log
    daemon.process.signal(signal.SIGTERM)
    daemon.stop()
