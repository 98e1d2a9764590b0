"""What a test may not leave behind on its host."""

import fnmatch
import re

from harness.machine.wait import PATIENCE, Late, until

IPAM_DIR = "/var/lib/cni/networks"
DEVICE_INFO_DIR = "/run/k8s.cni.cncf.io/devinfo/cni"
IPAM_BOOKKEEPING = ("last_reserved_ip.*", "lock")
# Chains of one container; the plugins keep their empty top chains by design.
CONTAINER_CHAIN = re.compile(r"\b(CNI-[0-9a-f]{24}|CNI-(?:DN|SN)-[0-9a-f]+)\b")


class LeakCheck:
    """Remembers the state at the start; `found()` lists what has been added since."""

    def __init__(self, host):
        self.host = host
        self.links = set(host.links())
        self.mounts = host.mounts()
        self.cni_dirs = {"/var/lib/cni/multus"}

    def found(self, running=(), patience=PATIENCE):
        """`running`: processes that may still run, as the machine's process ids. Other processes have that long to end."""
        return self.persistent() + self._pods() + self._mounts() + self._processes(set(running), patience)

    def persistent(self):
        """What stays on a host when every process has ended."""
        return self._links() + self._addresses() + self._records() + self._firewall()

    def _links(self):
        # The bridge plugin keeps its bridges; ports on them would be links of their own.
        return [f"link {name} ({kind})" for name, kind in sorted(self.host.links().items())
                if name not in self.links and kind != "bridge"]

    def _pods(self):
        # A test may take the namespace itself away.
        there = set(self.host.run("ls", "/var/run/netns", check=False).stdout.split())
        return [f"interface {name} in pod {pod.name}" for pod in self.host.pods if pod.name in there
                for name in sorted(pod.links())]

    def _addresses(self):
        return [f"address {name}" for name in self.host.files_below(IPAM_DIR)
                if not any(fnmatch.fnmatch(name.split("/")[-1], known) for known in IPAM_BOOKKEEPING)]

    def _records(self):
        return [f"record {folder}/{name}" for folder in sorted(self.cni_dirs | {DEVICE_INFO_DIR})
                if self.host.path(folder).is_dir() for name in self.host.files_below(folder)]

    def _firewall(self):
        rules = self.host.run("nft", "list", "ruleset", check=False).stdout
        return [f"firewall chain {name}" for name in sorted(set(CONTAINER_CHAIN.findall(rules)))]

    def _mounts(self):
        pods = {f"/run/netns/{pod.name}" for pod in self.host.pods} | {"/run/netns"}
        return [f"mount {place}" for place in sorted(self.host.mounts() - self.mounts - pods)]

    def _processes(self, running, patience):
        def others():
            return {pid: line for pid, line in self.host.processes().items() if pid not in running}
        try:
            until(lambda: not others(), "no process left", patience)
            return []
        except Late:
            return [f"process {pid}: {line}" for pid, line in others().items()]


def unexpected(found, patterns):
    """The leaks that no pattern allows."""
    return [leak for leak in found if not any(fnmatch.fnmatch(leak, known) for known in patterns)]
