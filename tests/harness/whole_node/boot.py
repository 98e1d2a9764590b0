"""A whole node of real parts on this machine: control plane, kubelet, kube-proxy, containerd, runc and a primary
network, in namespaces, folders and cgroups of its own. `power_off()` loses what a node loses then; `close()` leaves nothing."""

import base64
import json
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

from harness.cluster.control_plane import binaries
from harness.cluster.host_cluster import HostProcess
from harness.images import image
from harness.machine import cgroups
from harness.machine.host import REFERENCE_PLUGINS, Host
from harness.machine.wait import until
from harness.whole_node.node_cluster import NODE_ADDRESS, NodeCluster

NAME = "node1"
GATEWAY = "192.168.99.254"
SOURCES = Path(__file__).resolve().parents[2] / "node_e2e" / "programs"
KUBELET_PAIR = "/var/lib/kubelet/pki/kubelet-client-current.pem"
SOCKET = "/run/containerd/containerd.sock"
POD_SUBNET = "10.244.0.0/16"
CONFIG_DIR, PLUGIN_DIR = "/etc/cni/net.d", "/opt/cni/bin"
PRIMARY_FILE = f"{CONFIG_DIR}/10-primary.conflist"


def primary(subnet):
    return {"cniVersion": "1.0.0", "name": "primary", "plugins": [
        {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": True, "hairpinMode": True,
         "ipam": {"type": "host-local", "ranges": [[{"subnet": subnet}]], "routes": [{"dst": "0.0.0.0/0"}]}},
        {"type": "portmap", "capabilities": {"portMappings": True}}]}


PRIMARY = primary(POD_SUBNET)

# What the kubelet sets on its machine. These settings do not belong to a network namespace, so the kubelet would change the
# machine's own: it gets files to write to instead.
TUNABLES = {"vm/overcommit_memory": 1, "vm/panic_on_oom": 0, "kernel/panic": 10, "kernel/panic_on_oops": 1,
            "kernel/keys/root_maxkeys": 1000000, "kernel/keys/root_maxbytes": 25000000}

CONTAINERD = """version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
address = "{socket}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{plugins}"
conf_dir = "{config}"
max_conf_num = 1
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""


def remove_orphans():
    """What runs that were killed left behind; their processes ended with them."""
    cgroups.remove_orphans("node")
    for folder in Path(tempfile.gettempdir()).glob("mnet-node-*-*"):
        if not Path(f"/proc/{folder.name.split('-')[2]}").exists():
            shutil.rmtree(folder, ignore_errors=True)


class WholeNode:
    """Boots at once. `programs` is a folder that the node sees as /run/programs; only tests by hand use it."""

    name, address, pod_subnet = NAME, NODE_ADDRESS, POD_SUBNET

    def __init__(self, programs):
        remove_orphans()
        self.programs = programs
        self.folder = Path(tempfile.mkdtemp(prefix=f"mnet-node-{os.getpid()}-"))
        self.disk = self.folder / "disk"
        self.binaries = binaries("kubelet", "kube-proxy", "kubectl")
        self.cgroup = cgroups.new_name("node")
        self.host = self.cluster = None
        self.config_dir, self.plugin_dir = CONFIG_DIR, PLUGIN_DIR
        self.parts = {}
        try:
            cgroups.make(self.cgroup)
            self._install()
            self.boot()
        except BaseException:
            self.close()
            raise

    def _install(self):
        """What is on the disk before the first boot."""
        plugins = self.disk / "opt/cni/bin"
        plugins.mkdir(parents=True)
        for plugin in REFERENCE_PLUGINS.iterdir():
            shutil.copy(plugin, plugins / plugin.name)
        for folder in ("etc/cni/net.d", "etc/kubernetes/manifests"):
            (self.disk / folder).mkdir(parents=True)
        self.set_primary(primary(self.pod_subnet))

    def set_primary(self, conflist):
        (self.disk / PRIMARY_FILE[1:]).write_text(json.dumps(conflist, indent=2))

    def boot(self):
        self.power_on()
        self.start_control_plane()
        self.start_agents()

    def power_on(self):
        """Does what the kernel would do at boot, and starts the container runtime."""
        programs = {str(Path(path).parent) for path in self.binaries.values()}
        self.host = Host(self.programs, with_cgroups=True, disk=self.disk, shared=[self.folder, *programs, *self.shared()])
        self._shield_tunables()
        self.host.add_bridge("node0", f"{self.address}/24")
        self.host.add_bridge("uplink")  # for macvlan networks of tests
        # No host has this address, but addresses of services are translated only if there is a route to them.
        self.host.run("ip", "route", "add", "default", "via", GATEWAY)
        self.host.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        self._start_containerd()

    def shared(self):
        """Further folders of the machine that the node sees."""
        return []

    def start_control_plane(self):
        if self.cluster is None:
            self.cluster = NodeCluster(self)
        else:
            self.cluster.start_again()
        self.parts["kube-scheduler"] = self.cluster.start_scheduler()

    def start_agents(self):
        self.start_kubelet()
        self._start_proxy()

    def _shield_tunables(self):
        for name, value in TUNABLES.items():
            self.host.write(f"/run/tunables/{name}", f"{value}\n")
            self.host.run("mount", "--bind", f"/run/tunables/{name}", f"/proc/sys/{name}")

    def start_part(self, name, *words):
        self.parts[name] = HostProcess(self.host, name, words, self.folder)
        return self.parts[name]

    def _start_containerd(self):
        self.host.write("/etc/containerd/config.toml", CONTAINERD.format(socket=SOCKET, pause=image.PAUSE, config=self.config_dir,
                                                                        plugins=self.plugin_dir))
        log = self.folder / "containerd.log"
        before = log.stat().st_size if log.exists() else 0
        part = self.start_part("containerd", "containerd", "-c", "/etc/containerd/config.toml")
        # It answers before it has restored its containers; a kubelet would give up meanwhile.
        until(lambda: b"Start streaming server" in log.read_bytes()[before:], part.tail, 120)
        if image.PAUSE not in self.ctr("images", "list", "-q").stdout:
            self._load_images()

    def move_cni(self, config_dir, plugin_dir):
        """The container runtime has configurations and plugins there from now on, and nothing is left where they were."""
        for old, new in ((self.config_dir, config_dir), (self.plugin_dir, plugin_dir)):
            if old != new:
                self.host.run("sh", "-ec", f"mkdir -p {new}; mv {old}/* {new}/")
        self.config_dir, self.plugin_dir = config_dir, plugin_dir
        self.restart_runtime(signal.SIGTERM)
        self.wait_ready()

    def restart_runtime(self, how):
        """Its containers run on."""
        self.parts["containerd"].stop(how)
        self._start_containerd()

    def _load_images(self):
        work = self.folder / "images"
        work.mkdir(exist_ok=True)
        programs = {source.stem: image.compile_static(source, work) for source in SOURCES.glob("*.c")}
        (work / "pause.tar").write_bytes(image.pause_archive(programs["pause"]))
        (work / "busybox.tar").write_bytes(image.busybox_archive(programs=programs))
        for name in ("pause.tar", "busybox.tar"):
            self.load_image(work / name)

    def load_image(self, archive):
        """Into containerd; the archive is a file of the machine."""
        inside = self.folder / "images" / Path(archive).name
        if Path(archive) != inside:
            shutil.copy(archive, inside)
        return self.ctr("images", "import", inside, timeout=300).stdout

    def ctr(self, *words, **options):
        return self.host.run("ctr", "--address", SOCKET, "--namespace", "k8s.io", *words, **options)

    def start_kubelet(self):
        kubeconfig = self._write_kubelet_credentials()
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "address": self.address,
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": str(self.cluster.authority.certificate)}},
            "authorization": {"mode": "Webhook"}, "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{self.cgroup}", "failCgroupV1": False, "failSwapOn": False,
            "oomScoreAdj": 0, "maxPods": 300, "staticPodPath": "/etc/kubernetes/manifests", "resolvConf": "",
            "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "nodefs.inodesFree": "1%",
                             "imagefs.available": "1%"},
            "imageGCHighThresholdPercent": 100, "localStorageCapacityIsolation": False,
            "nodeStatusUpdateFrequency": "2s", "fileCheckFrequency": "1s", "kubeAPIQPS": 200, "kubeAPIBurst": 400}
        path = self.folder / "kubelet.json"
        path.write_text(json.dumps(config))
        self.start_part("kubelet", self.binaries["kubelet"], f"--config={path}", f"--kubeconfig={kubeconfig}",
                        f"--hostname-override={self.name}", f"--node-ip={self.address}", "--v=2")

    def _write_kubelet_credentials(self):
        """Writes them where kubeadm does, because other programs of the node use them, too."""
        authority = self.cluster.authority
        pair = authority.sign(f"kubelet-{self.name}", f"/O=system:nodes/CN=system:node:{self.name}", "clientAuth")
        self.host.write(KUBELET_PAIR, b"".join(path.read_bytes() for path in pair), mode=0o600)
        plain = json.loads(self.cluster.write_kubeconfig(f"kubelet-{self.name}.kubeconfig",
                                                              (KUBELET_PAIR, KUBELET_PAIR)).read_text())
        cluster = plain["clusters"][0]["cluster"]
        del cluster["certificate-authority"]
        cluster["certificate-authority-data"] = base64.b64encode(authority.certificate.read_bytes()).decode()
        return self.host.write("/etc/kubernetes/kubelet.conf", plain, mode=0o600)

    def _start_proxy(self):
        kubeconfig = self.cluster.identity(f"kube-proxy-{self.name}", "/CN=system:kube-proxy")
        config = {"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration",
                  "mode": "nftables", "clusterCIDR": self.pod_subnet, "hostnameOverride": self.name,
                  "clientConnection": {"kubeconfig": str(kubeconfig)},
                  "conntrack": {"maxPerCore": 0, "min": 0}}
        path = self.folder / "kube-proxy.json"
        path.write_text(json.dumps(config))
        self.start_part("kube-proxy", self.binaries["kube-proxy"], f"--config={path}")

    def wait_ready(self, timeout=300):
        def ready():
            for part in self.parts.values():
                assert part.running, f"{part.name} ended:\n{part.tail()}"
            return self.cluster.kubectl("get", "node", self.name, "-o", "jsonpath={.status.conditions[?(@.type=='Ready')].status}",
                                        check=False) == "True"
        until(ready, lambda: f"node ready:\n{self.parts['kubelet'].tail()}", timeout)

    def power_off(self):
        """Without warning: every process, namespace, mount, link and everything in /run is gone; the disk stays."""
        self.host.close()
        self.parts = {}
        cgroups.remove(self.cgroup)
        cgroups.make(self.cgroup)

    def out_of_memory_kills(self):
        """How many processes of pods the kernel killed since the last boot."""
        controls = cgroups.CGROUPS.glob(f"memory/{self.cgroup}/**/memory.oom_control")
        lines = [line for control in controls for line in control.read_text().splitlines()]
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def runtime_log_size(self):
        return (self.folder / "containerd.log").stat().st_size

    def network_failures(self, since=0):
        """What the container runtime has said since, by its log, of networks that it could not set up or tear down."""
        said = (self.folder / "containerd.log").read_bytes()[since:].decode(errors="replace")
        return [line for line in said.splitlines() if re.search("failed to (setup|destroy) network for sandbox", line)]

    def keep_logs(self, folder):
        """Of every part, to find out why a test failed."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for log in [*self.folder.glob("*.log"), *self.folder.glob("cluster/*.log")]:
            shutil.copy(log, folder)

    def close(self):
        if self.host:
            self.host.close()
        cgroups.remove(self.cgroup)
        shutil.rmtree(self.folder, ignore_errors=True)
