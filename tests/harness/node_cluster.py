"""The control plane of a whole node: the same servers, inside the node's namespaces, serving on the node's address, with
everything that real nodes and pods need of them."""

import signal

from harness.cluster import Cluster, binaries
from harness.host import in_network_of

NODE_ADDRESS = "192.168.99.1"


class HostProcess:
    """One server inside a host, its output in a file."""

    def __init__(self, host, name, words, folder):
        self.name = name
        self.log = folder / f"{name}.log"
        with open(self.log, "ab") as log:
            self.process = host.spawn(*words, stdout=log, stderr=log, env={"HOME": str(folder)})

    @property
    def running(self):
        return self.process.running

    def stop(self, how=signal.SIGTERM, timeout=60):
        self.process.signal(how)
        self.process.wait(timeout)

    def tail(self):
        return self.log.read_text(errors="replace")[-3000:]


class NodeCluster(Cluster):
    address = NODE_ADDRESS

    def __init__(self, node):
        self.node = node
        super().__init__(node.folder / "cluster", with_controllers=True)

    def launch(self, name, words):
        return HostProcess(self.node.host, name, words, self.folder)

    def admission(self):
        return ["--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
                f"--kubelet-client-certificate={self.admin[0]}", f"--kubelet-client-key={self.admin[1]}",
                "--kubelet-preferred-address-types=InternalIP"]

    def identity(self, name, subject):
        """A kubeconfig of a component with that certificate subject."""
        return self.write_kubeconfig(f"{name}.kubeconfig",
                                     certificate=self.authority.sign(name, subject, "clientAuth"))

    def start_scheduler(self):
        program = binaries("kube-scheduler")["kube-scheduler"]
        config = self.identity("kube-scheduler", "/CN=system:kube-scheduler")
        return self.launch("kube-scheduler", [program, f"--kubeconfig={config}", "--leader-elect=false",
                                              "--bind-address=127.0.0.1"])

    def start_again(self):
        """After a reboot of the node: with what etcd has kept."""
        self.start_etcd()
        self.start_apiserver()
        self._start_controllers()

    def request(self, *words, **options):
        ask = super().request
        return in_network_of(self.node.host.pid, lambda: ask(*words, **options))

    def kubectl(self, *words, stdin=None, check=True, timeout=300):
        done = self.node.host.run(self.binaries["kubectl"], f"--kubeconfig={self.kubeconfig}", *words,
                                  input=stdin or "", check=False, timeout=timeout, env={"HOME": str(self.folder)})
        assert not check or done.returncode == 0, \
            f"kubectl {' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout
