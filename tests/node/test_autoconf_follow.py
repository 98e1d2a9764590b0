"""Automatic configuration while the daemon runs (03, 6.6): the primary's changes, and what others do to our file."""

import json
import os
import stat
import threading
import time

import pytest
from harness.evidence import metrics
from harness.machine.wait import until
from harness.node.autoconf import NET_D, OWN, PRIMARY, AutoNode, conflist, why_not_ready
from harness.node.netconf import netconf

GENERATED = "Generated MultusCNI config: "
ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"


@pytest.fixture
def auto(host, daemons):
    return AutoNode(host, daemons)


def with_capability(name):
    return conflist(capabilities={name: True})


def generations(daemon):
    return daemon.log.count(GENERATED)


def by_rename(auto, content):
    auto.replace(PRIMARY, content)


def by_writing(auto, content):
    auto.host.write(PRIMARY, content)


def by_single_bytes(auto, content):
    with open(auto.host.path(PRIMARY), "wb", buffering=0) as file:
        for byte in json.dumps(content).encode():
            file.write(bytes([byte]))


@pytest.mark.spec("03:128")
@pytest.mark.parametrize("is_indicator", [False, True])
@pytest.mark.parametrize("change", [by_rename, by_writing, by_single_bytes])
def test_a_changed_primary_is_taken_up_once(host, auto, change, is_indicator):
    host.write(PRIMARY, conflist())
    daemon = auto.start(readinessindicatorfile=PRIMARY if is_indicator else None)
    before = auto.own_path.stat().st_ino

    change(auto, with_capability("bandwidth"))

    auto.wait_own(capabilities={"bandwidth": True})
    until(lambda: generations(daemon) == 2, "a second text")
    assert auto.own_path.stat().st_ino != before
    change(auto, with_capability("bandwidth"))  # no other text: nothing is written
    written = auto.own_path.stat()
    host.write(f"{NET_D}/20-later.conf", "{}")
    change(auto, with_capability("portMappings"))
    auto.wait_own(capabilities={"portMappings": True})
    assert generations(daemon) == 3
    assert written.st_ino != auto.own_path.stat().st_ino


@pytest.mark.spec("03:128")
def test_a_swapped_link_of_a_mounted_configmap_counts(host, auto):
    """As the kubelet does it: ..data is exchanged, the file's own link stays."""
    for number, capability in enumerate(("one", "two")):
        host.write(f"{NET_D}/..v{number}/10-primary.conflist", with_capability(capability))
    folder = host.path(NET_D)
    os.symlink("..v0", folder / "..data")
    os.symlink("..data/10-primary.conflist", folder / "10-primary.conflist")
    daemon = auto.start()
    assert auto.own()["capabilities"] == {"one": True}

    os.symlink("..v1", folder / "..tmp")
    os.rename(folder / "..tmp", folder / "..data")

    auto.wait_own(capabilities={"two": True})
    assert generations(daemon) == 2


@pytest.mark.spec("03:126")
def test_capabilities_come_and_go_with_the_primary(host, auto):
    host.write(PRIMARY, conflist(capabilities={"a": True, "b": False, "c": "yes"}))
    daemon = auto.start(capabilities={"own": True})
    assert auto.own()["capabilities"] == {"a": True, "own": True}
    daemon.wait_log(r"plugins\[0\].capabilities.c is a string; ignored")

    auto.replace(PRIMARY, conflist(capabilities={"a": False}))

    auto.wait_own(capabilities={"own": True})


@pytest.mark.spec("03:132")
def test_the_networks_name_follows_the_primarys(host, auto):
    host.write(PRIMARY, conflist(name="x"))
    daemon = auto.start(overrideNetworkName=True)
    assert auto.own()["name"] == "x"

    auto.replace(PRIMARY, conflist(name="y"))
    auto.wait_own(name="y")

    auto.replace(PRIMARY, {**conflist(capabilities={"new": True}), "name": 7})
    auto.wait_own(capabilities={"new": True})
    assert auto.own()["name"] == "y"
    daemon.wait_log("could not override the network name: .*the name stays y")


@pytest.mark.spec("03:127")
def test_a_primary_that_is_truncated_and_rewritten_never_empties_our_file(host, auto):
    """Pain 10."""
    host.write(PRIMARY, conflist())
    daemon = auto.start()
    before = auto.own_path.read_bytes()

    host.path(PRIMARY).write_text("")
    daemon.wait_log(f"stays unchanged until {PRIMARY} is corrected: ")
    assert auto.own_path.read_bytes() == before and why_not_ready(daemon) is None
    by_writing(auto, with_capability("late"))

    auto.wait_own(capabilities={"late": True})


def test_a_primary_that_stays_broken_is_reported_once_and_taken_up_when_mended(host, auto):
    host.write(PRIMARY, conflist())
    daemon = auto.start()
    before = auto.own_path.read_bytes()

    auto.replace(PRIMARY, {"name": "no version", "type": "t"})
    daemon.wait_log("couldn't get cni version of delegate")
    host.write(f"{NET_D}/99-other.conf", "{}")  # an event that has nothing to do with it
    host.path(f"{NET_D}/99-other.conf").unlink()
    auto.replace(PRIMARY, conflist(name="multus", type="multus-shim"))
    daemon.wait_log("it is a configuration of Multus itself")

    assert auto.own_path.read_bytes() == before
    assert daemon.log.count("couldn't get cni version of delegate") == 1
    auto.replace(PRIMARY, with_capability("mended"))
    auto.wait_own(capabilities={"mended": True})


@pytest.mark.spec("03:129")
@pytest.mark.parametrize("back", ["same", "other"])
def test_our_file_stays_when_the_primary_goes(host, auto, shim, pod, back):
    host.write(PRIMARY, conflist())
    daemon = auto.start()
    before = auto.own_path.read_bytes()

    os.rename(host.path(PRIMARY), host.path(f"{NET_D}/away"))
    daemon.wait_log(f"\\[error\\] the primary CNI configuration {PRIMARY} is gone")
    assert auto.own_path.read_bytes() == before
    assert not shim.add(auto.own(), pod, args=ARGS).ok
    assert shim.delete(auto.own(), pod, args=ARGS).ok

    if back == "same":
        os.rename(host.path(f"{NET_D}/away"), host.path(PRIMARY))
        daemon.wait_log("is back")
        assert auto.own_path.read_bytes() == before
    else:
        auto.replace(PRIMARY, with_capability("new"))
        auto.wait_own(capabilities={"new": True})
        host.path(f"{NET_D}/away").unlink()


def test_an_earlier_file_that_appears_is_only_logged(host, auto):
    host.write(PRIMARY, conflist())
    daemon = auto.start()

    host.write(f"{NET_D}/05-new.conf", {"cniVersion": "1.0.0", "name": "new", "type": "t"})

    daemon.wait_log("warning: /etc/cni/net.d/05-new.conf sorts before the primary 10-primary.conflist")
    assert auto.own()["clusterNetwork"] == PRIMARY
    assert generations(daemon) == 1


@pytest.mark.slow
@pytest.mark.spec("03:130")
def test_a_reader_always_finds_a_whole_file(host, auto):
    host.write(PRIMARY, conflist())
    daemon = auto.start()
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                with open(auto.own_path, encoding="utf-8") as file:
                    mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
                    assert json.load(file)["clusterNetwork"] == PRIMARY and mode == 0o600
            except (OSError, ValueError, AssertionError) as fault:
                wrong.append(repr(fault))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(300):
        (by_rename if number % 3 else by_writing)(auto, with_capability(f"c{number}"))
        time.sleep(0.01)  # the pace of the changes, nothing is waited for
    auto.wait_own(capabilities={"c299": True})
    stop.set()
    reader.join()

    assert wrong == []
    assert generations(daemon) >= 2
    assert [name for name in host.files_below(NET_D) if name.startswith(".")] == []


@pytest.mark.spec("03:131")
@pytest.mark.parametrize("removed", ["removed", "renamed"])
def test_without_its_indicator_the_daemon_stays_and_refuses_what_is_new(host, auto, pod, fake, removed):
    """Pain 42: no exit, and our file stays."""
    host.write(PRIMARY, {"cniVersion": "1.0.0", "name": "primary", "plugins": [fake.conf("primary")]})
    host.write("/srv/ind/ready", "")
    daemon = auto.start(readinessindicatorfile="/srv/ind/ready")
    conf = {**auto.own(), "cniVersion": "1.1.0"}
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    indicator = host.path("/srv/ind/ready")
    if removed == "removed":
        indicator.unlink()
    else:
        os.rename(indicator, host.path("/srv/ind/away"))
    daemon.wait_log(r"\[error\] still waiting for readinessindicatorfile @ /srv/ind/ready")

    began = time.monotonic()
    text = "still waiting for readinessindicatorfile @ /srv/ind/ready"
    assert why_not_ready(daemon) == text
    for command, code in (("STATUS", 50), ("ADD", 11), ("CHECK", 11)):
        answer = daemon.cni(command, conf, pod, container_id="other", args=ARGS)
        assert answer.status == 400
        assert json.loads(answer.body)["code"] == code and text in answer.text, answer.text
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200
    assert time.monotonic() - began < 40  # no request waited for the indicator
    assert daemon.process.running and auto.own_path.exists()

    host.write("/srv/ind/ready", "")
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200
    assert why_not_ready(daemon) is None
    daemon.wait_log("Readiness Indicator file check done!", count=2)
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:131")
def test_an_indicator_that_is_replaced_changes_nothing(host, auto):
    host.write(PRIMARY, conflist())
    host.write("/srv/ind/ready", "")
    daemon = auto.start(readinessindicatorfile="/srv/ind/ready")

    for _ in range(20):
        auto.replace("/srv/ind/ready", "again")
        assert why_not_ready(daemon) is None

    assert "[error] still waiting" not in daemon.log


@pytest.mark.spec("03:131")
def test_a_primary_that_is_the_indicator_hinders_readiness_while_it_is_gone(host, auto):
    daemon = auto.launch(readinessindicatorfile=PRIMARY)
    daemon.wait_log("waiting for the primary CNI configuration: ")
    host.write(PRIMARY, conflist())
    auto.wait_own(clusterNetwork=PRIMARY)
    daemon.wait_ready()

    os.rename(host.path(PRIMARY), host.path(f"{NET_D}/away"))
    assert why_not_ready(daemon) == f"still waiting for readinessindicatorfile @ {PRIMARY}"
    auto.replace(PRIMARY, with_capability("back"))

    auto.wait_own(capabilities={"back": True})
    assert why_not_ready(daemon) is None


# Others and our file (pain 11)


def taken_away(auto, how):
    if how == "removed":
        auto.own_path.unlink()
    elif how == "emptied":
        auto.own_path.write_text("")
    else:
        os.rename(auto.own_path, auto.host.path(f"{OWN}.cilium_bak"))


@pytest.mark.parametrize("how, said, cause", [
    ("removed", f"another program removed {OWN}", "another program on this node"),
    ("emptied", f"another program made {OWN} unreadable", "another program on this node"),
    ("renamed", f"another program renamed {OWN} to 00-multus.conf.cilium_bak", "Cilium does that with cni.exclusive"),
])
def test_a_file_that_is_taken_away_is_put_back_once_and_a_fight_is_reported(host, auto, how, said, cause):
    host.write(PRIMARY, conflist())
    daemon = auto.start(metricsPort=metrics.PORT)
    before = auto.own_path.read_bytes()

    taken_away(auto, how)
    daemon.wait_log(f"warning: {said}; it was put back")
    assert auto.own_path.read_bytes() == before and why_not_ready(daemon) is None

    taken_away(auto, how)
    daemon.wait_log(f"\\[error\\] {said}, again after it was put back: ")
    assert "cni.exclusive to false" in daemon.log and cause in daemon.log
    until(lambda: why_not_ready(daemon), "not ready")
    assert said in why_not_ready(daemon) and cause in why_not_ready(daemon)
    assert metrics.page(host).value("multus_config_fights_total") == 1

    # The primary changes: no reason to fight on.
    auto.replace(PRIMARY, with_capability("new"))
    until(lambda: generations(daemon) == 2, "a new text")
    assert not auto.own_path.exists() or auto.own_path.read_bytes() != before
    assert why_not_ready(daemon) is not None

    host.path(f"{OWN}.cilium_bak").unlink(missing_ok=True)

    # The other program gives up: our file counts again, with the new text.
    host.write(OWN, before)
    auto.wait_own(capabilities={"new": True})
    until(lambda: why_not_ready(daemon) is None, "ready again")
    assert daemon.process.running


def test_a_file_that_another_wrote_is_left_alone(host, auto):
    """A successor's, or an administrator's: it can be read, and that is what matters."""
    host.write(PRIMARY, conflist())
    daemon = auto.start()
    other = json.dumps(netconf(clusterNetwork=PRIMARY, binDir="/elsewhere"))

    auto.replace(OWN, other)
    host.write(f"{NET_D}/05-seen.conf", {"cniVersion": "1.0.0", "name": "new", "type": "t"})
    daemon.wait_log("05-seen.conf sorts before")

    assert auto.own_path.read_text() == other
    assert why_not_ready(daemon) is None
