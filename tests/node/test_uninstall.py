"""multus-daemon -uninstall (03, 2.1): the node works on without us (pain 19)."""

import json
import os
import signal

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS, children_of
from harness.machine.wait import until
from harness.node.autoconf import NET_D, OWN, PRIMARY, AutoNode, auto_config, conflist
from harness.node.daemon import default_config
from harness.node.pending import FOLDER, leave_pending_del

DAEMON = f"{PROGRAMS}/multus-daemon"
SHIM = f"{PLUGIN_DIR}/multus-shim"
SOCKET = "/run/multus/multus.sock"
ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"


@pytest.fixture
def auto(host, daemons):
    return AutoNode(host, daemons)


@pytest.fixture
def uninstall(host):
    """Runs it with a configuration as the daemon's; yields exit status, what was done, what is left."""
    def run(config=None, **keys):
        host.write("/srv/uninstall.json", auto_config(**keys) if config is None else config)
        done = host.run(DAEMON, "-config", "/srv/uninstall.json", "-uninstall", check=False)
        left = [line for line in done.stderr.splitlines() if line.startswith("left: ")]
        return done.returncode, done.stdout.splitlines(), left
    return run


def there(host, *paths):
    return [path for path in paths if os.path.lexists(host.path(path))]


@pytest.mark.parametrize("end", ["stopped", "killed"])
def test_everything_of_ours_goes_and_the_primary_stays(host, auto, uninstall, end):
    host.write(PRIMARY, conflist())
    daemon = auto.start()
    daemon.stop() if end == "stopped" else daemon.kill()
    assert there(host, OWN, SHIM) == [OWN, SHIM]

    code, done, left = uninstall()

    assert (code, left) == (0, [])
    assert there(host, OWN, SHIM, SOCKET) == []
    assert host.files_below(NET_D) == ["10-primary.conflist", "multus.d/daemon-config.json"]
    assert done[:2] == [f"the primary CNI configuration is {PRIMARY}", f"removed the CNI configuration {OWN}"]
    assert f"removed the shim {SHIM}" in done

    assert uninstall() == (0, [f"the primary CNI configuration is {PRIMARY}", f"there is no CNI configuration {OWN}",
                               f"there is no shim {SHIM}", f"there is no socket {SOCKET}"], [])


def test_nothing_is_touched_while_a_daemon_serves(host, auto, uninstall):
    host.write(PRIMARY, conflist())
    daemon = auto.start()

    code, done, left = uninstall()

    assert code == 1 and done == []
    assert left == [f"left: a daemon still serves {SOCKET}: nothing was changed; delete the DaemonSet first"]
    assert there(host, OWN, SHIM, SOCKET) == [OWN, SHIM, SOCKET]
    assert daemon.answers("/readyz")


def test_pending_dels_are_made_up_for_without_a_daemon_and_without_an_api(host, auto, uninstall, shim, pod):
    host.write(PRIMARY, conflist())
    daemon = auto.start()
    conf = auto.own()
    assert shim.add(conf, pod, args=ARGS).ok
    daemon.kill()
    assert shim.delete(conf, pod, args=ARGS).ok
    assert host.files_below(FOLDER) == ["c-pod0-eth0.json"] and pod.links() == {"eth0"}

    code, _, left = uninstall(objectsDir=None)

    assert (code, left) == (0, [])
    assert pod.links() == set() and host.files_below(FOLDER) == []
    host.run("ip", "link", "del", "br-primary")


def test_a_del_that_fails_stays_on_record_and_is_tried_when_repeated(host, auto, uninstall, pod, fake):
    bad = {"exit": 1, "result": {"code": 7, "msg": "not yet"}, "first": 2}
    host.write(PRIMARY, {"cniVersion": "1.0.0", "name": "primary", "plugins": [fake.conf("primary", DEL=bad)]})
    daemon = auto.start()
    conf = auto.own()
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200
    daemon.kill()
    leave_pending_del(host, pod, conf, ARGS)

    code, _, left = uninstall()

    assert code == 1
    assert left == ["left: 1 pending DELs failed and stay recorded; the log says why; run this again"]
    assert there(host, OWN, SHIM, SOCKET) == []
    assert uninstall()[0] == 0
    assert host.files_below("/var/lib/cni/multus") == []
    assert len(fake.calls("DEL")) == 3


def test_a_primary_of_a_directory_of_its_own_is_copied_to_the_runtimes(host, auto, uninstall):
    private = host.write("/etc/cni/primary.d/10-p.conflist", conflist(), mode=0o640)
    keys = {"multusAutoconfigDir": "/etc/cni/primary.d"}
    auto.start(**keys).stop()

    code, done, left = uninstall(**keys)

    assert (code, left) == (0, [])
    assert done[0] == f"the primary CNI configuration is {NET_D}/10-p.conflist, a copy of {private}"
    assert json.loads(host.path(f"{NET_D}/10-p.conflist").read_text()) == conflist()
    assert not host.path(OWN).exists()


def test_a_primary_that_was_renamed_gets_its_name_back(host, auto, uninstall):
    host.write(f"{NET_D}/10-p.conf.old", {"cniVersion": "1.0.0", "name": "p", "type": "t"})
    host.write(OWN, {"cniVersion": "1.0.0", "name": "multus-cni-network", "type": "multus-shim"})

    code, done, left = uninstall()

    assert (code, left) == (0, [])
    assert done[0].startswith(f"the primary CNI configuration is {NET_D}/10-p.conf, renamed from")
    assert host.files_below(NET_D) == ["10-p.conf"]


def test_a_node_without_a_primary_is_said_to_have_none(host, auto, uninstall):
    host.write(OWN, {"cniVersion": "1.0.0", "name": "multus-cni-network", "type": "multus-shim",
                     "clusterNetwork": PRIMARY})

    code, _, left = uninstall()

    assert code == 1
    assert len(left) == 1 and "no primary CNI configuration" in left[0] and NET_D in left[0]
    assert there(host, OWN, SHIM) == []


def test_other_configurations_of_multus_are_named_and_left(host, auto, uninstall):
    host.write(PRIMARY, conflist())
    nested = {"cniVersion": "1.0.0", "name": "n", "plugins": [{"type": "multus", "delegates": []}]}
    for name in ("00-multus.conflist", "70-multus.conf"):
        host.write(f"{NET_D}/{name}", nested)

    code, _, left = uninstall()

    assert code == 1
    assert left == [f"left: {NET_D}/{name} names Multus and is not our file: remove it"
                    for name in ("00-multus.conflist", "70-multus.conf")]
    assert len(there(host, f"{NET_D}/00-multus.conflist", f"{NET_D}/70-multus.conf")) == 2


def test_the_shim_is_looked_for_where_delegates_run(host, auto, uninstall):
    host.write(PRIMARY, conflist())
    shim = host.write("/hostroot/usr/libexec/cni/multus-shim", "", mode=0o755)

    code, done, _ = uninstall(chrootDir="/hostroot", binDir="/usr/libexec/cni")

    assert code == 0 and f"removed the shim {shim}" in done
    assert there(host, shim, SHIM) == [SHIM]


def test_a_copy_of_the_users_file_goes_and_his_own_is_left_to_him(host, daemons, uninstall):
    host.write(PRIMARY, conflist())
    mine = {"cniVersion": "1.0.0", "name": "mine", "type": "multus-shim"}
    host.write("/srv/05-mine.conf", mine)
    daemons(multusConfigFile="/srv/05-mine.conf").stop()
    assert there(host, f"{NET_D}/05-mine.conf")

    assert uninstall(default_config(multusConfigFile="/srv/05-mine.conf"))[0] == 0
    assert there(host, f"{NET_D}/05-mine.conf") == []

    host.write(f"{NET_D}/05-mine.conf", mine)
    code, _, left = uninstall(default_config(multusConfigFile=f"{NET_D}/05-mine.conf"))
    assert code == 1 and left == [f"left: {NET_D}/05-mine.conf is your own file (multusConfigFile): remove it"]
    assert there(host, f"{NET_D}/05-mine.conf")


def test_what_cannot_be_removed_is_named_and_the_rest_goes(host, auto, uninstall):
    host.write(PRIMARY, conflist())
    host.write(OWN, {"cniVersion": "1.0.0", "name": "multus-cni-network", "type": "multus-shim"})
    host.run("mount", "--bind", PLUGIN_DIR, PLUGIN_DIR)
    host.run("mount", "-o", "remount,ro,bind", PLUGIN_DIR)

    code, _, left = uninstall()

    assert code == 1
    assert len(left) == 1 and SHIM in left[0] and "read-only file system" in left[0]
    assert there(host, OWN, SHIM) == [SHIM]
    host.run("umount", PLUGIN_DIR)


def test_with_pause_it_waits_for_a_signal_once_all_is_done(host, program):
    """As the only program of a container, process 1 of its namespace; what fails does not wait."""
    program("multus-daemon")
    host.write("/srv/uninstall.json", auto_config())
    command = ["unshare", "--pid", "--fork", "--mount-proc", DAEMON, "-config", "/srv/uninstall.json", "-uninstall",
               "-pause"]
    assert host.run(*command, check=False).returncode == 1  # no primary

    host.write(PRIMARY, conflist())
    with open(host.path("/srv/out"), "wb") as out:
        waiting = host.spawn(*command, stdout=out)
    until(lambda: "there is no socket" in host.path("/srv/out").read_text(), "all done")
    (pid,) = children_of(waiting.pid)
    assert waiting.running
    os.kill(pid, signal.SIGTERM)

    assert waiting.wait() == 0


def test_it_needs_root_and_a_configuration(host, program):
    program("multus-daemon")
    host.write("/srv/uninstall.json", auto_config())

    done = host.run("setpriv", "--reuid=1000", "--clear-groups", DAEMON, "-config", "/srv/uninstall.json",
                    "-uninstall", check=False)
    assert done.returncode == 3
    assert host.run(DAEMON, "-config", "/srv/nosuch.json", "-uninstall", check=False).returncode == 1
    assert there(host, SHIM)
