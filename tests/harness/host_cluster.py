"""The control plane inside a host, on its loopback: programs of the host reach it as they reach any server."""

import concurrent.futures

from harness.cluster import Cluster
from harness.host import in_network_of
from harness.node_cluster import HostProcess


class HostCluster(Cluster):
    def __init__(self, host, folder):
        """`folder`: one that the host sees at the same place."""
        self.host = host
        super().__init__(folder)

    def launch(self, name, words):
        return HostProcess(self.host, name, words, self.folder)

    def request(self, *words, **options):
        ask = super().request
        return in_network_of(self.host.pid, lambda: ask(*words, **options))

    def kubectl(self, *words, stdin=None, check=True):
        done = self.host.run(self.binaries["kubectl"], f"--kubeconfig={self.kubeconfig}", *words, input=stdin or "",
                             check=check, env={"HOME": str(self.folder)})
        return done.stdout

    def create(self, path, objects):
        """Many at once; what the server made of them, in their order."""
        ask = super().request

        def work():  # threads of a thread of that namespace are there, too
            with concurrent.futures.ThreadPoolExecutor(4) as threads:
                return list(threads.map(lambda one: ask("POST", path, one), objects))
        return in_network_of(self.host.pid, work)
