"""`multus`, the thin program: the same core without a daemon, with the real reference plugins (03, 9.1)."""

import concurrent.futures
import json
import signal

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import KUBERNETES_ARGS, Runtime
from harness.node.netconf import netconf, netconf_from_files
from harness.node.objects import FOLDER, NETWORKS

pytestmark = pytest.mark.release("static")

CNI_DIR = "/var/lib/cni/multus"


@pytest.fixture
def thin(host, program):
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    return Runtime(host, "multus")


def args_of(pod, container_id=None):
    return KUBERNETES_ARGS.format(name=pod.name, id=container_id or f"c-{pod.name}")


def with_folder(host, objects, **keys):
    """A cluster network from a file, a pod that wants a macvlan with an address and a MAC of its own."""
    host.add_bridge("nodebr")
    mac = networks.macvlan(name="storage")
    mac["capabilities"] = {"ips": True, "mac": True}
    mac["ipam"] = {"type": "static"}
    objects.network("storage", mac)
    wish = [{"name": "storage", "ips": ["10.10.1.77/24"], "mac": "02:00:00:00:00:77"}]
    objects.pod("web", uid="00000000-0000-4000-8000-000000000001", annotations={NETWORKS: json.dumps(wish)})
    return netconf_from_files(host, networks.bridge(), type="multus", objectsDir=FOLDER, **keys)


def locks(host):
    return host.files_below(f"{CNI_DIR}/_locks")


@pytest.mark.parametrize("version", ["0.3.1", "0.4.0", "1.0.0"])
def test_files_only(host, thin, pod, version):
    host.add_bridge("nodebr")
    conf = netconf(networks.bridge(version=version), networks.macvlan(version=version), version=version,
                   type="multus")

    result = thin.add(conf, pod).result

    assert result["cniVersion"] == version
    assert [ip["address"] for ip in result["ips"]] == ["10.244.0.2/24"]
    assert pod.links() == {"eth0", "net1"}
    if version != "0.3.1":
        assert thin.check(conf, pod).ok
    done = thin.delete(conf, pod)
    assert (done.exit, done.stdout, done.stderr) == (0, "", "")
    assert pod.links() == set()
    assert locks(host) == []


def test_a_folder_of_manifests(host, thin, objects):
    conf = {**with_folder(host, objects), "checkNetworks": "all"}
    pod = host.add_pod("web")

    result = thin.add(conf, pod, args=args_of(pod)).result

    assert [ip["address"] for ip in result["ips"]] == ["10.244.0.2/24"]
    assert pod.addresses("net1") == ["10.10.1.77/24"]
    assert pod.ip("link", "show", "net1")[0]["address"] == "02:00:00:00:00:77"
    status = json.loads(objects.status_text("web"))
    assert [(entry["name"], entry["interface"]) for entry in status] == [
        ("cluster", "eth0"), ("default/storage", "net1")]
    assert objects.messages("web") == [
        "Add eth0 [10.244.0.2/24] from cluster; Add net1 [10.10.1.77/24] from default/storage"]

    assert thin.check(conf, pod, args=args_of(pod)).ok
    pod.ip("link", "set", "net1", "down")
    pod.ip("addr", "flush", "dev", "net1")
    assert thin.check(conf, pod, args=args_of(pod)).exit == 1
    assert thin.delete(conf, pod, args=args_of(pod)).ok
    assert pod.links() == set()


@pytest.mark.spec("02:48")
def test_a_network_that_is_not_there_fails_the_add(host, thin, objects):
    """Pain 30."""
    conf = with_folder(host, objects)
    objects.pod("web", annotations={NETWORKS: "nowhere"})
    pod = host.add_pod("web")

    error = thin.add(conf, pod, args=args_of(pod)).error

    assert "cannot find a network-attachment-definition (nowhere) in namespace (default)" in error["msg"]
    assert pod.links() == set()
    (event,) = objects.events("web")
    assert (event["type"], event["reason"]) == ("Warning", "NoNetworkFound")
    assert thin.delete(conf, pod, args=args_of(pod)).ok


def test_status_and_gc(host, thin, fake, pod):
    conf = netconf(fake.conf("a", version="1.1.0"), version="1.1.0", type="multus")
    assert thin.status(conf).ok
    assert thin.add(conf, pod).ok

    gone = thin.gc({**conf, "cni.dev/valid-attachments": []})

    assert gone.ok, gone
    assert [call.command for call in fake.calls()] == ["STATUS", "ADD", "DEL", "GC"]
    assert host.files_below(CNI_DIR) == []


def test_an_add_that_is_repeated_gives_the_stored_result(host, thin, fake, pod):
    """Pain 21, across processes."""
    conf = netconf(networks.bridge(), type="multus")

    first, second = thin.add(conf, pod), thin.add(conf, pod)

    assert first.result == second.result
    assert thin.delete(conf, pod).ok


def test_processes_of_one_container_wait_for_each_other(host, thin, fake, pod):
    """02, 0.5: a DEL that comes while an ADD runs sees the ADD's end; other containers do not wait."""
    gate = fake.gate()
    other = host.add_pod("other")
    slow = netconf(fake.conf("slow", ADD={"gate": gate.path}), type="multus")
    quick = netconf(fake.conf("quick"), type="multus")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        adding = threads.submit(thin.add, slow, pod)
        gate.reached()
        deleting = threads.submit(thin.delete, slow, pod)
        assert thin.add(quick, other).ok
        assert thin.delete(quick, other).ok
        assert fake.order()[-1] == "DEL quick" and not deleting.done()
        gate.open()
        assert adding.result().ok and deleting.result().ok

    assert [entry for entry in fake.order() if entry.endswith("slow")] == ["ADD slow", "DEL slow"]
    assert locks(host) == []


@pytest.mark.spec("02:143")
def test_gc_waits_for_what_runs(host, thin, fake, pod):
    """Across processes: the container is not on any list yet."""
    gate = fake.gate()
    conf = netconf(fake.conf("a", version="1.1.0", ADD={"gate": gate.path}), version="1.1.0", type="multus")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        adding = threads.submit(thin.add, conf, pod)
        gate.reached()
        collecting = threads.submit(thin.gc, {**conf, "cni.dev/valid-attachments": [
            {"containerID": f"c-{pod.name}", "ifname": "eth0"}]})
        gate.open()
        assert adding.result().ok and collecting.result().ok

    assert fake.order() == ["ADD a", "GC a"]
    assert thin.delete(conf, pod).ok


def test_a_user_who_may_read_the_folder_of_records_locks_nobody_out(host, thin, fake, pod):
    """A kubelet that makes it for a volume makes it readable for all."""
    conf = netconf(fake.conf("cluster"), type="multus")
    host.path(CNI_DIR).mkdir(parents=True)
    host.path(CNI_DIR).chmod(0o755)
    user = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"]
    holder = host.spawn(*user, "flock", "--no-fork", CNI_DIR, "sleep", "600")
    until(lambda: host.run("flock", "--nonblock", CNI_DIR, "true", check=False).returncode == 1, "the user has the lock")

    assert thin.add(conf, pod, timeout=20).ok
    assert host.run(*user, "flock", "--nonblock", f"{CNI_DIR}/_locks", "true", check=False).returncode == 66, "it cannot be opened"
    assert thin.gc({**conf, "cniVersion": "1.1.0"}, timeout=20).ok
    assert thin.delete(conf, pod, timeout=20).ok
    holder.signal(signal.SIGKILL)


def test_a_slow_gc_of_many_networks_holds_up_others_for_one_of_them(host, thin, fake, pod):
    """Authors of definitions choose how many networks there are, and which plugins collect."""
    gates = [fake.gate(), fake.gate()]
    slow = [fake.conf(f"slow{number}", version="1.1.0", GC={"gate": gate.path}) for number, gate in enumerate(gates)]
    conf = netconf(*slow, version="1.1.0", type="multus")
    quick = netconf(fake.conf("quick"), type="multus")
    with concurrent.futures.ThreadPoolExecutor() as threads:
        collecting = threads.submit(thin.gc, {**conf, "cni.dev/valid-attachments": []})
        gates[0].reached()
        adding = threads.submit(thin.add, quick, pod)
        until(lambda: locks(host), "the lock of the ADD's container")
        gates[0].open()
        assert adding.result(30).ok
        gates[1].reached()
        gates[1].open()
        assert collecting.result().ok

    assert fake.order() == ["GC slow0", "ADD quick", "GC slow1"]
    assert thin.delete(quick, pod).ok


def test_a_slow_gc_of_gone_containers_holds_up_no_others(host, thin, fake, pod):
    """Authors of definitions choose how long the plugins of their DELs take."""
    gate = fake.gate()
    gone = [host.add_pod(f"gone{number}") for number in range(2)]
    conf = netconf(fake.conf("slow", version="1.1.0", DEL={"gate": gate.path}), version="1.1.0", type="multus")
    quick = netconf(fake.conf("quick"), type="multus")
    for one in gone:
        assert thin.add(conf, one).ok
    with concurrent.futures.ThreadPoolExecutor() as threads:
        collecting = threads.submit(thin.gc, {**conf, "cni.dev/valid-attachments": []})
        gate.reached()
        assert thin.add(quick, pod).ok
        assert not collecting.done()
        gate.open()
        assert collecting.result().ok

    assert fake.order() == ["ADD slow", "ADD slow", "DEL slow", "ADD quick", "DEL slow", "GC slow"]
    assert thin.delete(quick, pod).ok
    assert host.files_below(CNI_DIR) == []


def test_a_pod_of_many_networks_runs_a_few_plugins_at_once(host, thin, fake, objects):
    """Networks of safe types run side by side, and a pod's author chooses how many there are."""
    fake.install("tap")
    names = [f"n{number}" for number in range(40)]
    for name in names:
        objects.network(name, fake.network(name, plugin_type="tap", ADD={"delay_ms": 300}))
    objects.pod("web", uid="00000000-0000-4000-8000-000000000001", annotations={NETWORKS: ",".join(names)})
    conf = netconf_from_files(host, fake.network("cluster"), type="multus", objectsDir=FOLDER)
    pod = host.add_pod("web")

    assert thin.add(conf, pod, args=args_of(pod)).ok

    assert len(fake.calls("ADD")) == 41
    assert 2 <= fake.most_at_once() <= 8
    assert thin.delete(conf, pod, args=args_of(pod)).ok


def test_what_a_killed_process_left_is_deleted(host, thin, fake, pod):
    conf = netconf(networks.bridge(), fake.conf("a", ADD={"signal": 9}), type="multus")

    assert thin.add(conf, pod).exit == 1

    assert thin.delete(conf, pod).ok
    assert pod.links() == set()


@pytest.mark.parametrize("first", ["multus", "multus-shim"])
def test_what_one_adds_the_other_deletes(host, objects, daemon, thin, shim, first):
    conf = with_folder(host, objects)
    objects.settle(daemon)
    pod = host.add_pod("web")
    adds, deletes = (thin, shim) if first == "multus" else (shim, thin)

    assert adds.add(conf, pod, args=args_of(pod)).ok
    assert pod.links() == {"eth0", "net1"}
    assert deletes.check(conf, pod, args=args_of(pod)).ok
    assert deletes.delete(conf, pod, args=args_of(pod)).ok

    assert pod.links() == set()


def test_a_kubeconfig_that_is_not_there_is_an_error(host, thin, pod):
    conf = netconf(networks.bridge(), type="multus", kubeconfig="/etc/kubeconfig")

    error = thin.add(conf, pod).error

    assert error["code"] == 7
    assert "error getting k8s client" in error["msg"] and "/etc/kubeconfig" in error["msg"]
    assert pod.links() == set()


def test_one_id_from_the_program_to_its_delegates(host, thin, fake, pod):
    """00-index, "Request id"."""
    conf = netconf(fake.conf("a", ADD={"error": {"code": 11, "msg": "not now"}}), type="multus",
                   logFile="/srv/log/thin.log", logLevel="error", logToStderr=False)

    assert thin.add(conf, pod).error["code"] == 11
    assert thin.delete(conf, pod).ok

    ids = [call.env["MULTUS_REQUEST_ID"] for call in fake.calls()]  # ADD, its rollback, DEL
    assert ids[0] == ids[1] != ids[2] and len(ids[0]) == 16
    lines = host.path("/srv/log/thin.log").read_text().splitlines()
    assert [line for line in lines if "not now" in line and line.endswith(f" request={ids[0]}")]


def test_version(host, thin):
    for flag in ("-v", "--version"):
        done = host.run(f"{PLUGIN_DIR}/multus", flag)
        assert done.stdout.startswith("multus: version:")
    assert json.loads(thin.call("VERSION", "").stdout)["supportedVersions"][-1] == "1.1.0"
