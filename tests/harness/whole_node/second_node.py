"""A second machine for the cluster of a whole node: a container runtime, a kubelet and a proxy in namespaces, folders and
cgroups of their own, with two cables to the first: one for the nodes, one for the networks of pods."""

import signal
import subprocess

from harness.whole_node.boot import WholeNode


class SecondNode(WholeNode):
    name, address, pod_subnet = "node2", "192.168.99.2", "10.245.0.0/16"

    def __init__(self, first):
        self.first = first
        super().__init__(first.programs)

    def shared(self):
        return [self.first.folder]  # certificates and kubeconfigs of the cluster

    def power_on(self):
        super().power_on()
        for bridge in ("node0", "uplink"):
            self._cable(bridge)
        self.host.run("ip", "route", "add", self.first.pod_subnet, "via", self.first.address)
        self.first.host.run("ip", "route", "add", self.pod_subnet, "via", self.address)

    def _cable(self, bridge):
        """Joins the bridges of that name. Its ends are named for the node that is at the other one."""
        network = f"--net=/proc/{self.first.host.pid}/ns/net"
        subprocess.run(["nsenter", network, "ip", "link", "add", f"{bridge}-2", "type", "veth", "peer", "name", f"{bridge}-1",
                        "netns", str(self.host.pid)], check=True)
        for host, end in ((self.first.host, f"{bridge}-2"), (self.host, f"{bridge}-1")):
            host.run("ip", "link", "set", end, "master", bridge, "up")

    def start_control_plane(self):
        self.cluster = self.first.cluster

    def start_agents(self):
        for archive in (self.first.folder / "images").glob("multus-*.tar"):
            self.load_image(archive)
        super().start_agents()

    def leave(self):
        """The cluster forgets the node and its pods."""
        self.parts["kubelet"].stop(signal.SIGKILL)
        kubectl = self.cluster.kubectl
        kubectl("delete", "node", self.name, "--wait=false")
        kubectl("delete", "pods", "-A", "--field-selector", f"spec.nodeName={self.name}", "--grace-period=0", "--force")
        self.first.host.run("ip", "route", "del", self.pod_subnet)
