"""multus-daemon -check, and the same at the daemon's start: faults made on purpose are found (docs/operating.md, "Self-check")."""

import json
import os

import pytest
from harness.evidence import metrics
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.node import networks
from harness.node.cni import KUBERNETES_ARGS
from harness.node.daemon import CONFIG, default_config
from harness.node.netconf import netconf
from harness.node.pending import FOLDER as PENDING

STATE = "/var/lib/cni/multus"
OWN = "/etc/cni/net.d/00-multus.conf"
LAN = networks.macvlan("lan", master="eth7")


class Checked:
    def __init__(self, done):
        self.exit, self.lines, self.stderr = done.returncode, done.stdout.splitlines(), done.stderr

    def find(self, beginning):
        found = [line for line in self.lines if line.startswith(beginning)]
        assert len(found) == 1, f"{beginning}: {self.lines} {self.stderr}"
        return found[0]


@pytest.fixture
def check(host, program, objects):
    program("multus-daemon")
    host.add_bridge("eth0")

    def run(*flags, through=(), **keys):
        # Generates the node's CNI configuration, as the manifests have it.
        keys = {"multusConfigFile": "auto", "cniVersion": "1.0.0", **keys}
        host.write(CONFIG, default_config(**keys))
        return Checked(host.run(*through, f"{PROGRAMS}/multus-daemon", "-check", *flags, "-config", CONFIG, check=False))
    host.write("/etc/cni/net.d/10-bridge.conf", networks.bridge())
    return run


def ask_for(objects, name, config=None):
    objects.pod("web", annotations={"k8s.v1.cni.cncf.io/networks": name})
    if config:
        objects.network(name, config)


def test_a_sound_node_has_no_findings_and_nothing_is_changed(host, check, objects):
    ask_for(objects, "lan", {**LAN, "master": "eth0"})
    before = [host.files_below(folder) for folder in ("/var/lib/cni", "/etc/cni", "/srv/objects", "/run")]

    checked = check()

    assert (checked.exit, checked.lines) == (0, ["nothing found"]), checked.stderr
    after = [host.files_below(folder) for folder in ("/var/lib/cni", "/etc/cni", "/srv/objects", "/run")]
    assert [sorted(set(now) - set(then) - {"net.d/multus.d/daemon-config.json", "multus.d/daemon-config.json"})
            for now, then in zip(after, before)] == [[], [], [], []]


def test_a_plugin_that_a_pod_of_this_node_needs(host, check, objects):
    ask_for(objects, "lan", {**LAN, "master": "eth0"})
    host.path(f"{PLUGIN_DIR}/macvlan").unlink()

    checked = check()

    assert checked.exit == 1
    assert checked.lines == [
        'error: plugins: the plugin "macvlan" is not in /opt/cni/bin. Pods with the network default/lan do not start on this node. '
        "Install it there, or set binDir to its directory."]


def test_a_plugin_of_the_cluster_network(host, check):
    host.path(f"{PLUGIN_DIR}/host-local").unlink()

    assert "/etc/cni/net.d/10-bridge.conf" in check().find('error: plugins: the plugin "host-local"')


def test_a_master_and_a_definition_that_do_not_exist(check, objects):
    ask_for(objects, "lan", LAN)
    objects.pod("other", annotations={"k8s.v1.cni.cncf.io/networks": "nowhere/none"})

    checked = check()

    assert checked.exit == 1
    checked.find('error: masters: master "eth7" does not exist on this node. Pods with the network default/lan')
    checked.find("error: plugins: there is no network definition nowhere/none.")


def test_unknown_keys_are_warnings_with_the_nearest_known_one(check):
    checked = check(chroot_dir="/x", weather="fine")

    assert checked.exit == 0
    assert "Write chrootDir" in checked.find(f'warning: configuration: {CONFIG}: the key "chroot_dir" is not known.')
    checked.find(f'warning: configuration: {CONFIG}: the key "weather" is not known.')


def test_a_configuration_that_cannot_be_used(host, check):
    assert "socketDir" in check(socketDir=5).find("error: configuration: ")
    host.write(CONFIG, "{")

    done = host.run(f"{PROGRAMS}/multus-daemon", "-check", "-json", "-config", CONFIG, check=False)

    assert done.returncode == 1
    report = json.loads(done.stdout)
    assert not report["ok"] and [one["check"] for one in report["findings"]] == ["configuration"]


def test_folders_that_are_open_to_others_missing_or_read_only(host, check):
    host.path(PLUGIN_DIR).chmod(0o777)
    host.path("/srv/state").mkdir()
    host.run("mount", "-t", "tmpfs", "-o", "ro,mode=700", "tmpfs", "/srv/state")

    checked = check(objectsDir="/srv/nowhere", cniDir="/srv/state")

    assert checked.exit == 1
    checked.find(f"error: folders: binDir: {PLUGIN_DIR} can be written by every user.")
    checked.find("error: folders: objectsDir: /srv/nowhere: no such file or directory.")
    checked.find("error: folders: cniDir: cannot write to /srv/state: read-only file system.")
    host.run("umount", "/srv/state")


def test_a_disk_that_is_nearly_full(host, check):
    host.path("/srv/state").mkdir()
    host.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", "/srv/state")

    checked = check(cniDir="/srv/state")

    assert checked.exit == 0
    checked.find("warning: resources: the disk of /srv/state has room for 0 MiB")
    host.run("umount", "/srv/state")


def test_few_descriptors(host, check):
    checked = check(through=["sh", "-c", 'ulimit -n 200; exec "$@"', "sh"])

    checked.find("warning: resources: the daemon may have 200 descriptors open.")


def test_other_configurations_in_the_way_of_the_runtime(host, check):
    host.write("/etc/cni/net.d/00-first.conf", networks.bridge())
    host.write("/etc/cni/net.d/70-multus.conf", netconf())

    checked = check()

    assert checked.exit == 1
    checked.find("error: cni-configurations: /etc/cni/net.d/00-first.conf sorts before ")
    checked.find("warning: cni-configurations: /etc/cni/net.d/70-multus.conf is another Multus configuration.")


def test_leftovers(host, check):
    host.write(f"{PENDING}/c1-eth0.json", "{}")
    host.write(f"{PENDING}/bad/c2-eth0.json", "{")
    os.utime(host.path(f"{PENDING}/c1-eth0.json"), (0, 0))

    checked = check()

    assert checked.exit == 0
    checked.find(f"warning: leftovers: 1 pending DELs in {PENDING} are older than 10 minutes.")
    checked.find(f"warning: leftovers: 1 damaged DELs are in {PENDING}/bad.")
    for name in ("c1-eth0.json", "bad/c2-eth0.json"):
        host.path(f"{PENDING}/{name}").unlink()


def test_addresses_of_containers_that_nothing_records(host, check):
    """host-local's own format: the container, then the interface."""
    host.write("/var/lib/cni/networks/lan/10.1.0.2", "known\r\neth0")
    host.write("/var/lib/cni/networks/lan/last_reserved_ip.0", "10.1.0.2")
    host.write("/var/lib/cni/multus/_attachments/known.json", "{}")
    assert not any("leftovers" in line for line in check().lines)

    host.write("/var/lib/cni/networks/lan/10.1.0.3", "lost\r\neth0")
    checked = check()
    checked.find("warning: leftovers: 1 addresses in /var/lib/cni/networks/lan belong to containers without a record, "
                 "such as 10.1.0.3 of container lost.")
    assert host.path("/var/lib/cni/networks/lan/10.1.0.3").exists()
    host.run("rm", "-r", "/var/lib/cni/networks/lan", "/var/lib/cni/multus/_attachments")


def test_mounts_of_the_host_that_do_not_reach_the_daemon(host, check):
    """A container of its own, with the host's root at /hostroot, without propagation."""
    host.path("/hostroot").mkdir()
    host.path(STATE).mkdir(parents=True)
    inside = ["unshare", "--mount", "--propagation", "private", "sh", "-c",
              'mount --rbind / /hostroot && mount -t tmpfs tmpfs /var/lib/cni && mkdir /var/lib/cni/multus && exec "$@"', "sh"]

    checked = check(through=inside, chrootDir="/hostroot")

    assert checked.exit == 1
    checked.find("error: mounts: /run/netns does not see what the host mounts later.")
    checked.find("error: mounts: /hostroot does not see what the host mounts later.")
    checked.find(f"error: folders: cniDir: {STATE} is not the host's directory of that name.")


def test_as_json(check, objects):
    ask_for(objects, "lan", LAN)

    report = json.loads("\n".join(check("-json").lines))

    assert report["ok"] is False
    (finding,) = report["findings"]
    assert (finding["severity"], finding["check"]) == ("error", "masters")
    assert finding["what"] and finding["why"] and finding["advice"]


def test_a_daemon_that_starts_logs_and_counts_what_it_finds_and_serves_all_the_same(host, daemons, objects):
    ask_for(objects, "lan", LAN)

    daemon = daemons(metricsPort=metrics.PORT)

    daemon.wait_log(r'self-check: error: masters: master "eth7" does not exist on this node\.')
    page = metrics.page(host)
    assert page.value("multus_self_check_findings", check="masters", severity="error") == 1
    assert objects.events() == []


# The plugin's DEL fails as well, so that a pending DEL is left.
@pytest.mark.leaves("record */_attachments/*", "record */c-default-*", "record */pending-del/*")
def test_a_failed_add_says_that_the_master_does_not_exist(node, objects):
    node.network("lan", LAN)

    error = node.pod("lan").add().error

    assert error["details"] == 'master "eth7" does not exist on this node'
    assert "default/lan" in error["msg"] or '"lan"' in error["msg"]


def test_a_failed_add_says_nothing_of_a_master_that_exists(host, shim, daemon, pod):
    host.add_bridge("nodebr")
    conf = netconf(networks.macvlan(master="nodebr", mode="nonsense"))

    error = shim.add(conf, pod, args=KUBERNETES_ARGS.format(name="web", id="c-pod0")).error

    assert "nonsense" in error["msg"] and "details" not in error
    assert shim.delete(netconf(networks.macvlan(master="nodebr")), pod).ok
