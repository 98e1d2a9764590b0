"""The part of `make bench` with a real API server: what the stores take, what an ADD asks of the server, a thousand ADDs at once
whose statuses are written there, and the whole path through the shim. The server runs inside the daemon's host, on the same cores."""

import shutil
import tempfile
import time
from pathlib import Path

from measure.instruments import (BRIDGE_AND_PORTMAP, CHAIN, NETWORK, SHIM_CONFIG, PeakMemory, load, pss_kib, shim_config,
                                 start_daemon, step, time_chain)

from harness.cluster.host_cluster import HostCluster
from harness.cluster.peer import OriginalDaemon
from harness.evidence import metrics
from harness.machine.host import PLUGIN_DIR, PROGRAMS, TOOLS, Host
from harness.machine.proc import cpu_seconds
from harness.machine.wait import until
from harness.node.autoconf import NET_D
from harness.node.daemon import Daemon
from harness.node.thin import ServiceAccount

NODE, NAMESPACE, PREFIX = "bench-node", "bench", "podk"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
NETWORKS = f"/apis/k8s.cni.cncf.io/v1/namespaces/{NAMESPACE}/network-attachment-definitions"
STATUS, SELECTION = "k8s.v1.cni.cncf.io/network-status", "k8s.v1.cni.cncf.io/networks"
UIDS, KUBECONFIG = "/srv/bench/uids", "/srv/bench/kubeconfig"
NETNS = "/var/run/netns/load"
SHIM, INSTANT, ROUNDS = f"{PROGRAMS}/multus-shim", "/srv/bench/10-instant.conflist", 80


def network(number):
    config = '{"cniVersion":"1.0.0","name":"n%d","type":"macvlan","master":"eth1","ipam":{"type":"host-local","subnet":"10.1.0.0/16"}}'
    return {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": f"n{number}"}, "spec": {"config": config % number}}


def pod(name, asks=True):
    """The annotation selects nothing, but a pod that has it waits for its status, however long that takes."""
    annotations = {"example.org/ballast": "x" * 4000}
    if asks:
        annotations[SELECTION] = ""
    return {"metadata": {"name": name, "annotations": annotations},
            "spec": {"nodeName": NODE, "containers": [{"name": "c", "image": "none"}]}}


class Bench:
    counts_requests = True  # the daemon says how many it made of the API server

    def __init__(self, host, cluster, table, label):
        self.host, self.cluster, self.table, self.label = host, cluster, table, label
        self.uids = []
        cluster.install_definitions()
        cluster.apply_files("common/role.yaml")
        cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        token = cluster.token_for("kube-system", "multus")
        host.write(KUBECONFIG, cluster.write_kubeconfig("bench.kubeconfig", token=token).read_bytes())
        host.write(NETWORK, {"cniVersion": "1.0.0", "name": "instant", "type": "instant-delegate"})
        host.write(SHIM_CONFIG, shim_config(NETWORK))
        host.path(PLUGIN_DIR).joinpath("instant-delegate").symlink_to(f"{TOOLS}/instant-delegate")
        host.run("ip", "netns", "add", "load")

    def add(self, what, *row, **budget):
        self.table.add(f"{self.label}: {what}", *row, **budget)

    def start(self, **keys):
        return start_daemon(self.host, {"MULTUS_NODE_NAME": NODE}, objectsDir=None, podLookupTimeout=None,
                            kubeconfig=KUBECONFIG, **keys)

    def start_on_disk(self):
        """What the host writes stays in memory, where a sync takes no time. On a node it is a disk, as the cluster's folder is here."""
        return self.start(cniDir=f"{self.cluster.folder}/cni")

    def memory_of_a_fresh_daemon(self):
        """In KiB; it is ready when it has read everything."""
        daemon = self.start()
        taken = pss_kib(daemon.pid)
        daemon.stop()
        return taken

    def make_pods(self, numbers):
        self.uids += [made["metadata"]["uid"] for made in self.cluster.create(PODS, [pod(f"{PREFIX}{number}") for number in numbers])]
        self.host.write(UIDS, "\n".join(self.uids) + "\n")

    def measure_stores(self):
        step(f"{self.label}: memory of the stores")
        empty = self.memory_of_a_fresh_daemon()
        self.cluster.create(NETWORKS, [network(number) for number in range(1000)])
        with_networks = self.memory_of_a_fresh_daemon()
        self.make_pods(range(250))
        usual = self.memory_of_a_fresh_daemon()
        self.make_pods(range(250, 1000))
        full = self.memory_of_a_fresh_daemon()
        self.add("daemon memory (PSS) with the API, idle", empty / 1024, "MB", 9)
        self.add("the same with 250 pods and 1000 networks", usual / 1024, "MB", 10)
        self.add("memory of the store, each network", (with_networks - empty) / 1000, "KiB")
        self.add("memory of the store, each pod", (full - with_networks) / 1000, "KiB")
        return {"empty": empty, "networks": with_networks, "usual": usual, "full": full}

    def requests(self, *verbs):
        page = metrics.Page(metrics.fetch(self.host).body)
        return sum(page.value("multus_api_requests_total", verb=verb) or 0 for verb in verbs)

    def measure_requests(self):
        count = 100
        step(f"{self.label}: requests of {count} ADDs to the API server")
        daemon = self.start()
        reads, writes = self.requests("get", "list"), self.requests("patch", "update")
        added = self.load("add", count, 1)
        reads, writes = self.requests("get", "list") - reads, self.requests("patch", "update") - writes
        deleted = self.load("del", count, 1)
        daemon.stop()
        if self.counts_requests:
            self.add("reads of the API for an ADD", reads / count, "", 0)
            self.add("writes to the API for an ADD (events are not waited for)", writes / count, "", 1)
        self.add("ADD with its status written, median", added["median_us"] / 1000, "ms")
        return {"add": added, "del": deleted, "reads": reads, "writes": writes}

    def measure_burst(self):
        count = 1000
        step(f"{self.label}: {count} ADDs at once, statuses written to the API server")
        self.forget_statuses()
        daemon = self.start()
        with PeakMemory(daemon.pid) as memory:
            added = self.load("add", count, count)
        written = sum(1 for one in self.cluster.get(PODS)["items"] if STATUS in one["metadata"]["annotations"])
        deleted = self.load("del", count, count)
        time.sleep(60)
        rest = pss_kib(daemon.pid)
        daemon.stop()
        self.add(f"{count} ADDs at once, status written to the API server", added["seconds"], "s", 3.5)
        self.add("failures and statuses missing", added["failures"] + deleted["failures"] + count - written, "", 0)
        self.add("daemon memory (PSS), peak of that", memory.kib / 1024, "MB", 18)
        self.add("the same a minute after their DELs", rest / 1024, "MB", 12)
        return {"add": added, "del": deleted, "peak_pss_kib": memory.kib, "rest_pss_kib": rest, "written": written}

    def measure_whole_path(self):
        """Through the shim, as a runtime does it, with records on a disk, for pods that ask for nothing, and for pods that wait for their
        status."""
        self.host.write(CHAIN, BRIDGE_AND_PORTMAP)
        self.host.write(INSTANT, {"cniVersion": "1.0.0", "name": "instant", "plugins": [{"type": "instant-delegate"}]})
        self.cluster.create(PODS, [pod(f"timer{number}", asks=False) for number in range(1, 2 * ROUNDS, 2)])
        figures = {"cpu": self.measure_cpu()}
        for kind in ("asks for nothing", "waits for its status"):
            step(f"{self.label}: whole path through the shim, a pod that {kind}")
            daemon = self.start_on_disk()
            timed = time_chain(self.host, SHIM, CHAIN, ROUNDS)
            daemon.stop()
            figures[kind] = timed
            for verb, through, alone in (("ADD", "through", "direct"), ("DEL", "through_del", "direct_del")):
                self.add(f"whole path through the shim, pod that {kind}: {verb} / the plugins alone",
                         timed[through]["median_us"] / timed[alone]["median_us"], "", 1.15)
            self.cluster.kubectl("-n", NAMESPACE, "annotate", "pods", "--all", "--overwrite", f"{SELECTION}=")
        return figures

    def measure_cpu(self):
        step(f"{self.label}: processor time of ADD and DEL through the shim")
        daemon = self.start_on_disk()
        before = cpu_seconds(daemon.pid)
        shim = time_chain(self.host, SHIM, INSTANT, ROUNDS)["through_cpu_us"] / 1000
        until(lambda: not self.owed(), "all statuses written")
        own = (cpu_seconds(daemon.pid) - before) * 1000 / ROUNDS
        daemon.stop()
        self.add("CPU time per ADD + DEL, no-op delegate: shim", shim, "ms")
        self.add("CPU time per ADD + DEL, no-op delegate: daemon", own, "ms")
        self.add("CPU time per ADD + DEL, no-op delegate: shim + daemon", shim + own, "ms", 2.7)
        return {"shim_ms": shim, "daemon_ms": own}

    def owed(self):
        return metrics.Page(metrics.fetch(self.host).body).value("multus_statuses_owed")

    def forget_statuses(self):
        self.cluster.kubectl("-n", NAMESPACE, "annotate", "pods", "--all", f"{STATUS}-")

    def load(self, mode, count, concurrency):
        return load(self.host, mode, count, concurrency, PREFIX, NETNS, "-uids", UIDS)


class InPlaceOfOurs(OriginalDaemon):
    program = Daemon.program


class PeerBench(Bench):
    """A daemon that finds its server only as a pod does, and runs only if it finds its primary itself. It has no budgets."""

    counts_requests = False

    def __init__(self, host, cluster, table, label):
        super().__init__(host, cluster, table, label)
        cluster.kubectl("create", "clusterrolebinding", "peer", "--clusterrole=cluster-admin", "--serviceaccount=kube-system:multus")
        ServiceAccount(host, cluster.token_for("kube-system", "multus"), cluster.authority.certificate.read_text())
        host.write(f"{NET_D}/10-instant.conf", {"cniVersion": "1.0.0", "name": "instant", "type": "instant-delegate"})

    def add(self, what, value, unit="", budget=None):
        super().add(what, value, unit)

    def start(self, **keys):
        env = {"MULTUS_NODE_NAME": NODE, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.cluster.port)}
        return start_daemon(self.host, env, InPlaceOfOurs, objectsDir=None, podLookupTimeout=None, multusConfigFile="auto",
                            multusAutoconfigDir=NET_D, cniVersion="1.0.0", **keys)


def measure(programs, table, label, make=Bench):
    folder = Path(tempfile.mkdtemp(prefix="mnet-bench-"))
    host = Host(programs, shared=[folder])
    try:
        step(f"{label}: starting a control plane")
        bench = make(host, HostCluster(host, folder), table, label)
        figures = {"stores": bench.measure_stores(), "requests": bench.measure_requests(), "burst": bench.measure_burst()}
        if bench.counts_requests:
            figures["whole path"] = bench.measure_whole_path()
        return figures
    finally:
        host.close()
        shutil.rmtree(folder, ignore_errors=True)
