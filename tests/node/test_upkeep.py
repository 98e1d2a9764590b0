"""What is finished on a node without a request for it (03, 2.14; 05, 3.10; pain 8), with the real bridge and host-local."""

import concurrent.futures
import json
import threading

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import Runtime
from harness.node.netconf import netconf
from harness.node.pending import FOLDER, leave_pending_del

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={pod};K8S_POD_UID={uid}"
CNI_DIR = "/var/lib/cni/multus"


def args_of(pod, uid=None):
    return ARGS.format(pod=pod.name, uid=uid or f"u-{pod.name}")


def addresses(host):
    return [name for name in host.files_below("/var/lib/cni/networks/cluster") if name[0].isdigit()]


def record_of(host, pod):
    return host.path(f"{CNI_DIR}/_attachments/c-{pod.name}.json")


def edit(host, pod, **members):
    path = record_of(host, pod)
    path.write_text(json.dumps({**json.loads(path.read_text()), **members}))


def lose(host, pod):
    """The sandbox goes, and no DEL comes."""
    host.run("ip", "netns", "del", pod.name)


def is_clean(host):
    return addresses(host) == [] and host.files_below(CNI_DIR) == []


def test_an_add_that_a_crash_cut_off_is_undone(host, daemons, shim, pod, fake):
    gate = fake.gate()
    conf = netconf(networks.bridge(), fake.conf("a", ADD={"gate": gate.path}), parallelAttach="off")
    daemon = daemons()
    adding = threading.Thread(target=shim.add, args=[conf, pod], kwargs={"args": args_of(pod)})
    adding.start()
    gate.reached()
    assert addresses(host) == ["10.244.0.2"]
    daemon.kill()
    adding.join()
    gate.open()

    daemon = daemons()

    until(lambda: is_clean(host), lambda: f"{host.files_below(CNI_DIR)}\n{daemon.log}")
    assert pod.links() == set()
    assert "its ADD was not finished" in daemon.log


def test_an_add_that_thin_multus_still_works_on_is_left_to_it(host, program, daemons, pod, fake):
    """A node changes from thin to thick while pods start."""
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin, gate, other = Runtime(host, "multus"), fake.gate(), host.add_pod()
    conf = netconf(networks.bridge(), fake.conf("a", ADD={"gate": gate.path}), type="multus", parallelAttach="off")
    quick = netconf(networks.bridge(), type="multus")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        adding = threads.submit(thin.add, conf, pod, args=args_of(pod))
        gate.reached()
        assert thin.add(quick, other, args=args_of(other)).ok
        edit(host, other, state="deleting")

        daemon = daemons()

        until(lambda: not record_of(host, other).exists(), lambda: daemon.log)
        gate.open()
        assert adding.result().ok
    assert pod.links() == {"eth0"} and addresses(host) == ["10.244.0.2"]
    assert thin.check(conf, pod, args=args_of(pod)).ok
    assert thin.delete(conf, pod, args=args_of(pod)).ok


def test_an_add_after_a_reboot_leaves_a_namespace_alone_whose_path_is_used_again(host, daemons, shim, pod):
    """ctr: people choose the ids, and paths lead through /proc."""
    conf = netconf(networks.bridge())
    heir = host.add_pod()
    daemon = daemons()
    assert shim.add(conf, pod, args=args_of(pod)).ok
    daemon.kill()
    edit(host, pod, bootID="00000000-0000-4000-8000-000000000000")
    lose(host, pod)
    host.run("ip", "netns", "add", pod.name)
    daemons()
    assert shim.add(conf, pod, container_id="another", args=args_of(pod)).ok

    assert shim.add(conf, heir, container_id=f"c-{pod.name}", args=args_of(heir)).ok

    assert pod.links() == heir.links() == {"eth0"}
    assert shim.delete(conf, heir, container_id=f"c-{pod.name}", args=args_of(heir)).ok
    assert shim.delete(conf, pod, container_id="another", args=args_of(pod)).ok
    assert is_clean(host)


def test_a_replayed_delete_leaves_a_namespace_alone_whose_path_is_used_again(host, daemons, shim, pod):
    conf = netconf(networks.bridge())
    daemon = daemons()
    assert shim.add(conf, pod, args=args_of(pod)).ok
    daemon.kill()
    leave_pending_del(host, pod, conf, args_of(pod))
    lose(host, pod)
    host.run("ip", "netns", "add", pod.name)
    pod.ip("link", "add", "eth0", "type", "bridge")

    daemons()

    until(lambda: is_clean(host), lambda: host.files_below(CNI_DIR))
    assert pod.links() == {"eth0"}
    pod.ip("link", "delete", "eth0")


def test_a_replayed_delete_waits_while_a_living_pod_holds_its_address(host, daemons, shim, pod):
    conf = netconf({**networks.bridge(), "ipam": networks.static("10.244.0.9/24")})
    heir = host.add_pod()
    daemon = daemons()
    assert shim.add(conf, pod, args=args_of(pod)).ok
    lose(host, pod)
    assert shim.add(conf, heir, args=args_of(heir)).ok
    daemon.kill()
    leave_pending_del(host, pod, conf, args_of(pod))

    daemon = daemons()

    until(lambda: f"now belongs to container c-{heir.name}" in daemon.log, lambda: daemon.log)
    assert heir.addresses("eth0") == ["10.244.0.9/24"] and record_of(host, pod).exists()
    assert shim.delete(conf, heir, args=args_of(heir)).ok
    daemon.kill()
    daemons()
    until(lambda: host.files_below(CNI_DIR) == [], lambda: host.files_below(CNI_DIR))


def test_containers_of_an_earlier_boot_are_deleted(host, daemons, shim, pod):
    """As after a reboot whose runtime has forgotten its sandboxes."""
    conf = netconf(networks.bridge())
    daemon = daemons()
    assert shim.add(conf, pod, args=args_of(pod)).ok
    daemon.kill()
    lose(host, pod)
    edit(host, pod, bootID="00000000-0000-4000-8000-000000000000")

    daemon = daemons(reconcileGrace=1)

    until(lambda: is_clean(host), lambda: daemon.log)
    assert "the machine has booted since" in daemon.log


def test_a_sandbox_that_was_replaced_is_deleted_and_its_pod_is_not_touched(host, daemons, shim, pod):
    """containerd dies between ADD and saving: the kubelet makes a new sandbox for the same UID."""
    conf = netconf(networks.bridge())
    other = host.add_pod()
    daemon = daemons()
    assert shim.add(conf, pod, args=args_of(pod, "u1")).ok
    lose(host, pod)
    assert shim.add(conf, other, args=args_of(other, "u1")).ok
    daemon.kill()

    daemon = daemons(reconcileGrace=1)

    until(lambda: addresses(host) == ["10.244.0.3"], lambda: daemon.log)
    assert other.addresses("eth0") == ["10.244.0.3/24"]
    assert not record_of(host, pod).exists() and record_of(host, other).exists()
    assert shim.delete(conf, other, args=args_of(other, "u1")).ok


@pytest.mark.parametrize("mode", ["report", "off"])
def test_reconcile_only_deletes_where_it_is_on(host, daemons, shim, pod, mode):
    conf = netconf(networks.bridge())
    other = host.add_pod()
    daemon = daemons()
    for one in (pod, other):
        assert shim.add(conf, one, args=args_of(one, "u1")).ok
        if one is pod:
            lose(host, pod)
    daemon.kill()

    daemon = daemons(reconcileGrace=1, reconcile=mode)

    if mode == "report":
        until(lambda: "`reconcile` is \"report\"" in daemon.log, lambda: daemon.log)
    assert addresses(host) == ["10.244.0.2", "10.244.0.3"]
    for one in (pod, other):
        assert shim.delete(conf, one, args=args_of(one, "u1"), **({"netns": ""} if one is pod else {})).ok
    assert is_clean(host)


def test_what_the_original_left_behind_is_deleted(host, daemons, shim, pod):
    """Without scratch file and attachment record, as v4.3.0 leaves the cluster network of a deleted pod."""
    conf = netconf(networks.bridge())
    other = host.add_pod()
    daemon = daemons()
    assert shim.add(conf, pod, args=args_of(pod, "u1")).ok
    daemon.kill()
    lose(host, pod)
    record_of(host, pod).unlink()
    host.path(f"{CNI_DIR}/c-{pod.name}").unlink()
    daemon = daemons()
    assert shim.add(conf, other, args=args_of(other, "u1")).ok
    daemon.kill()

    daemon = daemons(reconcileGrace=1)

    until(lambda: addresses(host) == ["10.244.0.3"], lambda: daemon.log)
    assert shim.delete(conf, other, args=args_of(other, "u1")).ok
    assert is_clean(host)


def test_a_person_gives_a_failed_delete_up_by_removing_its_file(host, daemons, shim, pod, fake):
    conf = netconf(fake.conf("a", DEL={"error": {"code": 11, "msg": "never"}}))
    daemon = daemons()
    assert shim.add(conf, pod, args=args_of(pod)).ok
    assert shim.delete(conf, pod, args=args_of(pod)).ok
    assert host.files_below(FOLDER) == [f"c-{pod.name}-eth0.json"]
    host.path(f"{FOLDER}/c-{pod.name}-eth0.json").unlink()
    daemon.kill()
    runs = len(fake.calls("DEL"))

    daemons()

    until(lambda: host.files_below(CNI_DIR) == [], lambda: host.files_below(CNI_DIR))
    assert len(fake.calls("DEL")) == runs
