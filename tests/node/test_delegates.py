"""How delegates are run: environment, descriptors, root, output, a busy file (03, 7; rows 135 to 139, 165)."""

import shutil
import threading
import time

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.daemon import default_config
from harness.node.netconf import netconf

pytestmark = pytest.mark.release("process")

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
ROOT = "/srv/hostroot"

# A plugin in shell: Python would have changed the signals before we look.
LOOKER = """#!/bin/sh
cat >/dev/null
grep -E '^Sig(Blk|Ign):' /proc/self/status >/srv/looked
ls / | sed 's/^/root /' >>/srv/looked
echo "cwd $(pwd)" >>/srv/looked
echo "pgrp $(cut -d' ' -f5 /proc/$$/stat) pid $$" >>/srv/looked
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion":"1.0.0"}'
"""


def make_root(host, *binaries):
    """A second root below which delegates live, with the system's programs but its own plugins."""
    root = host.path(ROOT)
    for folder in ("usr", "proc", "sys", "run", "srv", "var/lib/cni", "opt/cni/bin", "dev", "etc", "tmp"):
        (root / folder).mkdir(parents=True)
    for link in ("bin", "lib", "lib64", "sbin"):
        (root / link).symlink_to(f"usr/{link}")
    (root / "var/run").symlink_to("../run")
    for mounted in ("usr", "run", "proc", "sys", "dev"):
        host.run("mount", "--rbind", f"/{mounted}", f"{ROOT}/{mounted}")
    (root / "srv/fake").mkdir()
    host.path("/srv/fake").mkdir(exist_ok=True)
    host.run("mount", "--bind", "/srv/fake", f"{ROOT}/srv/fake")
    for name in binaries:
        shutil.copy(f"/usr/lib/cni/{name}", root / "opt/cni/bin" / name)
    host.leaks.mounts = host.mounts()


@pytest.mark.spec("03:135")
def test_with_a_chroot_plugins_and_their_files_are_the_hosts(host, daemons, shim, pod):
    make_root(host, "bridge", "host-local")
    for name in ("bridge", "host-local"):
        host.path(f"/opt/cni/bin/{name}").unlink()
    daemons(chrootDir=ROOT)
    conf = netconf(networks.bridge())

    assert shim.add(conf, pod).ok

    assert pod.addresses("eth0") == ["10.244.0.2/24"]
    assert "10.244.0.2" in host.files_below(f"{ROOT}/var/lib/cni/networks/cluster")
    assert not host.path("/var/lib/cni/networks").exists()
    assert host.files_below("/var/lib/cni/multus") \
        == ["_attachments/c-pod0.json", "c-pod0", "results/cluster-c-pod0-eth0"]
    assert shim.delete(conf, pod).ok
    assert "10.244.0.2" not in host.files_below(f"{ROOT}/var/lib/cni/networks/cluster")


@pytest.mark.spec("03:135")
def test_an_absolute_link_inside_the_chroot_stays_inside(host, daemons, fake, pod):
    make_root(host)
    fake.install("real", f"{ROOT}/opt/elsewhere")
    host.path(f"{ROOT}/opt/cni/bin/linked").symlink_to("/opt/elsewhere/real")
    daemon = daemons(chrootDir=ROOT)
    conf = netconf(fake.conf("a", plugin_type="linked"))

    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    (call,) = fake.calls("ADD")
    assert call.cwd == "/" and call.fds == [0, 1, 2]
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:136")
@pytest.mark.parametrize("chroot", [False, True])
def test_a_delegate_starts_clean(host, daemons, pod, chroot):
    keys = {}
    top = ""
    if chroot:
        make_root(host)
        keys["chrootDir"] = top = ROOT
        host.write(f"{ROOT}/only-here", "")
    host.write(f"{top}/opt/cni/bin/looker", LOOKER, mode=0o755)
    daemon = daemons(**keys)
    conf = netconf({"cniVersion": "1.0.0", "name": "l", "type": "looker"})

    answer = daemon.cni("ADD", conf, pod, args=ARGS)

    assert answer.status == 200, answer.text
    lines = host.path(f"{top}/srv/looked").read_text().splitlines()
    assert "cwd /" in lines or not chroot
    assert "SigBlk:\t0000000000000000" in lines and "SigIgn:\t0000000000000000" in lines
    assert ("root only-here" in lines) == chroot
    group, pid = next(line.split()[1::2] for line in lines if line.startswith("pgrp "))
    assert group == pid
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.slow
@pytest.mark.spec("03:137", "02:133")
def test_a_busy_plugin_is_tried_again_for_six_seconds(host, daemon, pod, fake):
    busy = fake.install("busy")
    conf = netconf(fake.conf("a", plugin_type="busy"))
    writer = open(busy, "ab")
    try:
        asking = []
        thread = threading.Thread(target=lambda: asking.append(daemon.cni("ADD", conf, pod, args=ARGS)))
        thread.start()
        daemon.wait_log("ADD starting CNI request")
        time.sleep(0.5)  # of the five seconds in which it is tried
        assert fake.calls() == []
        writer.close()
        thread.join()
        assert asking[0].status == 200 and fake.order() == ["ADD a"]

        writer = open(busy, "ab")
        begun = time.monotonic()
        # The runtime sees success (00-index), but nothing was deleted, and the record says so.
        daemon.cni("DEL", conf, pod, args=ARGS)
        assert 4.5 < time.monotonic() - begun < 60
        assert "text file busy" in daemon.log
        left = ["_attachments/c-pod0.json", "c-pod0", "pending-del/c-pod0-eth0.json", "results/a-c-pod0-eth0"]
        assert host.files_below("/var/lib/cni/multus") == left
    finally:
        writer.close()
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:138")
def test_a_delegate_gets_the_daemons_environment_and_the_request(host, daemons, shim, pod, fake):
    daemons(env={"OF_DAEMON": "1", "CNI_COMMAND": "nonsense", "CNI_NETNS_OVERRIDE": "1"}, binDir="/srv/bin")
    fake.install("fake", "/srv/bin")
    conf = netconf(fake.conf("a"))

    assert shim.add(conf, pod, args=ARGS, path="/opt/cni/bin:/usr/lib/cni", extra_env={"OF_SHIM": "1"}).ok

    (call,) = fake.calls("ADD")
    env = call.env
    assert call.fds == [0, 1, 2] and call.pgid == call.pid
    assert env["OF_DAEMON"] == "1" and "OF_SHIM" not in env
    assert env["CNI_COMMAND"] == "ADD" and env["CNI_NETNS_OVERRIDE"] == "1"
    assert env["CNI_PATH"] == "/srv/bin:/opt/cni/bin:/usr/lib/cni"
    assert len(env["MULTUS_REQUEST_ID"]) == 16
    assert {name for name in env if name.startswith("CNI_")} == {
        "CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH", "CNI_NETNS_OVERRIDE"}
    assert shim.delete(conf, pod, args=ARGS).ok


def test_a_daemon_without_path_gives_delegates_a_sane_one(host, daemons, pod, fake):
    daemon = daemons(env={"PATH": None})
    conf = netconf(fake.conf("a"))

    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    assert fake.calls("ADD")[0].env["PATH"] == "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:139")
def test_a_delegate_that_prints_without_end_is_cut(host, daemon, pod, fake):
    conf = netconf(fake.conf("a", ADD={"stdout_bytes": 64 << 20}))

    answer = daemon.cni("ADD", conf, pod, args=ARGS)

    assert answer.status == 400 and len(answer.body) < (1 << 20)
    assert daemon.answers()
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:165")
def test_an_image_without_var_run_and_passwd(host, daemons, shim, pod, fake):
    """The runtime says /var/run/netns/...; the daemon's own root has neither that link nor users."""
    make_root(host, "bridge", "host-local")
    fake.install("fake", f"{ROOT}/opt/cni/bin")
    host.path("/etc/passwd").unlink()
    host.path("/var/run").unlink()
    daemons(chrootDir=ROOT)
    conf = netconf(networks.bridge(), fake.conf("a"))

    assert shim.add(conf, pod, args=ARGS).ok
    assert shim.check(conf, pod, args=ARGS).ok
    assert shim.delete(conf, pod, args=ARGS).ok

    assert {call.env["CNI_NETNS"] for call in fake.calls()} == {"/var/run/netns/pod0"}
    assert pod.links() == set()


# As in a pod: neither the host's plugins nor the namespaces that its runtime mounts are to be seen.
POD_VIEW = ("unshare", "--mount", "--propagation", "private", "sh", "-c",
            'mount -t tmpfs tmpfs /opt/cni/bin && mount -t tmpfs tmpfs /run/netns && exec "$@"', "sh")


def test_delegates_run_in_the_hosts_mount_namespace_if_asked(host, daemons, shim, pod, fake):
    """Pains 33 and 34: no mount of the daemon's own is needed for plugins or network namespaces."""
    config = default_config(delegateMountNamespace="/proc/1/ns/mnt")
    daemons.launch(config, through=POD_VIEW).wait_ready()
    conf = netconf(networks.bridge(), fake.conf("a"))

    assert shim.add(conf, pod, args=ARGS).ok
    assert pod.addresses("eth0") == ["10.244.0.2/24"]
    assert shim.check(conf, pod, args=ARGS).ok
    assert shim.delete(conf, pod, args=ARGS).ok

    assert {call.cwd for call in fake.calls()} == {"/"}
    assert pod.links() == set()


def test_without_the_hosts_mount_namespace_the_same_daemon_finds_no_plugin(host, daemons, shim, pod):
    daemons.launch(default_config(), through=POD_VIEW).wait_ready()

    refused = shim.add(netconf(networks.bridge()), pod, args=ARGS)

    assert not refused.ok
    assert "no net namespace /var/run/netns/pod0 found" in refused.error["msg"]


def test_max_delegates_holds_and_leaves_a_slot_for_del(host, daemons, fake):
    """And one to other namespaces."""
    daemon = daemons(maxDelegates=4)
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}))
    pods = [host.add_pod() for _ in range(6)]
    answers = []
    asking = [threading.Thread(target=lambda pod=pod: answers.append(daemon.cni("ADD", conf, pod, args=ARGS)))
              for pod in pods]
    for thread in asking:
        thread.start()
    until(lambda: len(fake.calls("ADD")) == 2, "two ADDs at their gate")

    other = netconf(fake.conf("b"))
    assert daemon.cni("DEL", other, container_id="c-other", args=ARGS, ifname="eth0", netns="").status == 200
    assert [call.network for call in fake.calls("DEL")] == ["b"]
    assert len(fake.calls("ADD")) == 2

    gate.open()
    for thread in asking:
        thread.join()
    assert [answer.status for answer in answers] == [200] * 6
    assert fake.most_at_once() <= 3
    for pod in pods:
        assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


def chained_list(host, fake, **keys):
    """A list in a file, with two more plugins in the folder of its name."""
    def plugin(name):
        return {"type": fake.install(name).name, "fake": fake.orders(ADD={"result": {"cniVersion": "1.0.0"}})}
    folder = "/etc/cni/multus/net.d"
    host.write(f"{folder}/kindnet/60-b.conf", plugin("b"))
    host.write(f"{folder}/kindnet/50-a.conf", plugin("a"))
    return host.write(f"{folder}/10-kindnet.conflist",
                      {"cniVersion": "1.0.0", "name": "kindnet", "plugins": [plugin("inline")], **keys})


def ran(fake):
    """The plugins of a list in the order they ran, with what they were asked."""
    return [f"{call.command} {call.conf['type']}" for call in fake.calls()]


@pytest.mark.spec("02:61", "01:T4")
def test_a_folders_plugins_follow_those_of_the_list_and_go_before_them(host, daemon, shim, pod, fake):
    conf = netconf(clusterNetwork=chained_list(host, fake))
    cached = host.path("/var/lib/cni/multus/results/kindnet-c-pod0-eth0")

    assert shim.add(conf, pod).ok and cached.exists()
    assert shim.check(conf, pod).ok
    assert shim.delete(conf, pod).ok

    assert ran(fake) == [f"{command} {name}" for command, names in (
        ("ADD", ["inline", "a", "b"]), ("CHECK", ["inline", "a", "b"]), ("DEL", ["b", "a", "inline"])) for name in names]
    first, *others = fake.calls("ADD")
    assert "prevResult" not in first.conf
    assert all("prevResult" in call.conf for call in [*others, *fake.calls("CHECK"), *fake.calls("DEL")])
    assert all((call.conf["name"], call.conf["cniVersion"]) == ("kindnet", "1.0.0") for call in fake.calls())
    assert not cached.exists()


@pytest.mark.spec("02:62")
def test_a_list_may_want_its_own_plugins_alone(host, daemon, shim, pod, fake):
    conf = netconf(clusterNetwork=chained_list(host, fake, loadOnlyInlinedPlugins="True"))

    assert shim.add(conf, pod).ok and shim.delete(conf, pod).ok

    assert ran(fake) == ["ADD inline", "DEL inline"]
