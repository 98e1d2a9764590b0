"""The control plane of a whole node: the same servers, inside the node's namespaces, serving on the node's address, with
everything that real nodes and pods need of them."""

from harness.cluster.control_plane import binaries
from harness.cluster.host_cluster import HostCluster

NODE_ADDRESS = "192.168.99.1"


class NodeCluster(HostCluster):
    address = NODE_ADDRESS

    def __init__(self, node):
        self.node = node
        super().__init__(node.host, node.folder / "cluster", with_controllers=True)

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
        self.host = self.node.host
        self.start_etcd()
        self.start_apiserver()
        self._start_controllers()
