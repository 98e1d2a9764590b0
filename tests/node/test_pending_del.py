"""DELs that reached no daemon (03, 2.14; rows 159 to 164; row 163 is in tests/shim)."""

import json
import stat
import time

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.netconf import netconf
from harness.node.pending import FOLDER, leave_pending_del

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"


@pytest.mark.spec("03:159")
def test_a_delete_without_a_daemon_is_remembered_and_replayed(host, daemons, shim, pod):
    conf = netconf(networks.bridge())
    daemon = daemons()
    assert shim.add(conf, pod, args=ARGS).ok
    daemon.kill()

    begun = time.monotonic()
    outcome = shim.delete(conf, pod, args=ARGS)

    assert (outcome.exit, outcome.stdout) == (0, "")
    assert time.monotonic() - begun < 40
    path = host.path(f"{FOLDER}/c-pod0-eth0.json")
    written = json.loads(path.read_text())
    assert written["env"]["CNI_COMMAND"] == "DEL" and written["env"]["CNI_CONTAINERID"] == "c-pod0"
    assert all(name.startswith("CNI_") or name == "PATH" for name in written["env"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700

    daemons()
    until(lambda: not path.exists(), "replayed")
    assert pod.links() == set()


@pytest.mark.slow
@pytest.mark.spec("03:160")
def test_a_replay_that_fails_is_tried_again_after_growing_pauses(host, daemons, pod, fake):
    bad = {"exit": 1, "result": {"code": 7, "msg": "not yet"}, "first": 2}
    conf = netconf(fake.conf("a", DEL=bad))
    daemon = daemons()
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200
    daemon.kill()
    leave_pending_del(host, pod, conf, ARGS)

    daemons()
    until(lambda: len(fake.calls("DEL")) == 3, lambda: f"three tries: {fake.order()}", timeout=300)

    first, second, third = [call.begin for call in fake.calls("DEL")]
    assert 20 < second - first < 90 and 45 < third - second < 150
    until(lambda: host.files_below("/var/lib/cni/multus") == [], "all gone")


@pytest.mark.spec("03:161")
def test_an_add_runs_the_recorded_delete_first(host, daemons, pod, fake):
    old, new = netconf(fake.conf("old")), netconf(fake.conf("new"))
    daemon = daemons()
    leave_pending_del(host, pod, old, ARGS)

    assert daemon.cni("ADD", new, pod, args=ARGS).status == 200

    # The round at the start may have found the record as well; deleting twice does no harm.
    *before, last = fake.order()
    assert set(before) == {"DEL old"} and last == "ADD new"
    assert host.files_below(FOLDER) == []
    assert daemon.cni("DEL", new, pod, args=ARGS).status == 200


@pytest.mark.spec("03:161")
def test_a_delete_removes_the_record_of_the_same_container(host, daemon, pod, fake):
    conf = netconf(fake.conf("a"))
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200
    leave_pending_del(host, pod, conf, ARGS)

    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200

    assert fake.order() == ["ADD a", "DEL a"]
    assert host.files_below(FOLDER) == []


@pytest.mark.spec("03:162")
@pytest.mark.leaves("record */pending-del/bad/*")
@pytest.mark.parametrize("text", ["{", "null", '{"config":"e30="}', "", "[]", '{"env":{"CNI_COMMAND":"ADD"}}'])
def test_a_record_nobody_can_read_is_set_aside(host, daemons, text):
    host.write(f"{FOLDER}/c9-eth0.json", text)

    daemon = daemons()

    until(lambda: host.path(f"{FOLDER}/bad/c9-eth0.json").exists(), lambda: daemon.log)
    assert host.path(f"{FOLDER}/bad/c9-eth0.json").read_text() == text
    assert host.files_below(FOLDER) == ["bad/c9-eth0.json"]
    daemon.wait_log("c9-eth0.json is damaged and was set aside")
    assert stat.S_IMODE(host.path(f"{FOLDER}/bad").stat().st_mode) == 0o700


@pytest.mark.spec("03:162")
def test_a_folder_with_the_name_of_a_record_does_no_harm(host, daemons):
    host.path(f"{FOLDER}/c9-eth0.json").mkdir(parents=True)

    daemon = daemons()

    until(lambda: "c9-eth0.json" in daemon.log, lambda: daemon.log)
    assert daemon.answers()


@pytest.mark.spec("03:164")
def test_the_record_goes_below_the_cni_dir_of_the_request(host, shim, pod):
    conf = netconf(networks.bridge(), cniDir="/srv/x")

    assert shim.delete(conf, pod, args=ARGS).ok

    assert host.files_below("/srv/x") == ["pending-del/c-pod0-eth0.json"]
    assert not host.path("/var/lib/cni/multus").exists()


@pytest.mark.spec("03:164")
def test_a_record_that_cannot_be_written_is_code_11(host, shim, pod):
    host.write("/srv/file", "in the way")

    error = shim.delete(netconf(networks.bridge(), cniDir="/srv/file/x"), pod, args=ARGS).error

    assert error["code"] == 11 and "/srv/file" in error["msg"]


def test_a_deadlocked_daemon_leaves_a_record_at_the_shims_deadline(host, daemons, shim, pod, fake):
    gate = fake.gate()
    conf = netconf(fake.conf("a", DEL={"gate": gate.path}))
    daemon = daemons()
    assert shim.add(conf, pod, args=ARGS).ok

    assert shim.delete({**conf, "shimTimeout": 2}, pod, args=ARGS).ok

    assert host.files_below(FOLDER) == ["c-pod0-eth0.json"]
    gate.open()
    until(lambda: host.files_below("/var/lib/cni/multus") == [], lambda: daemon.log)
