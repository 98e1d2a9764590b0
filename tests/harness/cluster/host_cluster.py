"""The control plane inside a host: programs of the host reach it as they reach any server."""

import concurrent.futures
import signal

from harness.cluster.control_plane import Cluster
from harness.machine.host import in_network_of


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

    def stop(self, how=signal.SIGTERM, timeout=120):
        self.process.signal(how)
        self.process.wait(timeout)

    def tail(self):
        return self.log.read_text(errors="replace")[-3000:]


class HostCluster(Cluster):
    def __init__(self, host, folder, **options):
        """`folder`: one that the host sees at the same place."""
        self.host = host
        super().__init__(folder, **options)

    def launch(self, name, words):
        return HostProcess(self.host, name, words, self.folder)

    def request(self, *words, **options):
        ask = super().request
        return in_network_of(self.host.pid, lambda: ask(*words, **options))

    def kubectl(self, *words, stdin=None, check=True, timeout=300):
        done = self.host.run(self.binaries["kubectl"], f"--kubeconfig={self.kubeconfig}", *words, input=stdin or "",
                             check=check, timeout=timeout, env={"HOME": str(self.folder)})
        return done.stdout

    def create(self, path, objects):
        """Many at once; what the server made of them, in their order."""
        ask = super().request

        def work():  # threads of a thread of that namespace are there, too
            with concurrent.futures.ThreadPoolExecutor(4) as threads:
                return list(threads.map(lambda one: ask("POST", path, one), objects))
        return in_network_of(self.host.pid, work)
