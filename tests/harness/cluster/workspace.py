"""Objects of one test in a cluster that it shares with others."""

import concurrent.futures
import itertools
import os

from harness.cluster.control_plane import Refused
from harness.machine.wait import PATIENCE, until


class Workspace:
    """A namespace and a node name that no other test uses, and objects in it."""

    numbers = itertools.count(1)

    def __init__(self, cluster):
        self.cluster = cluster
        number = next(self.numbers)
        self.namespace = f"test-{os.getpid()}-{number}"
        self.node = f"node-{os.getpid()}-{number}"
        cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": self.namespace}})

    def path(self, kind, name=""):
        group = "/api/v1" if kind in ("pods", "events") else "/apis/k8s.cni.cncf.io/v1"
        return f"{group}/namespaces/{self.namespace}/{kind}" + (f"/{name}" if name else "")

    def add_pod(self, name, networks=None, annotations=None, node=None, **metadata):
        annotations = dict(annotations or {})
        if networks is not None:
            annotations["k8s.v1.cni.cncf.io/networks"] = networks
        return self.cluster.request("POST", self.path("pods"), {
            "metadata": {"name": name, "annotations": annotations, **metadata},
            "spec": {"nodeName": node or self.node, "terminationGracePeriodSeconds": 0,
                     "containers": [{"name": "c", "image": "none"}]}})

    def pod(self, name):
        return self.cluster.get(self.path("pods", name))

    def delete_pod(self, name):
        self.cluster.request("DELETE", self.path("pods", name) + "?gracePeriodSeconds=0")

    def add_network(self, name, config='{"cniVersion":"1.0.0","name":"n","type":"bridge"}', **metadata):
        return self.cluster.request("POST", self.path("network-attachment-definitions"), {
            "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": name, **metadata}, "spec": {"config": config}})

    def change_network(self, name, config):
        return self.cluster.request("PATCH", self.path("network-attachment-definitions", name),
                                    {"spec": {"config": config}}, "application/merge-patch+json")

    def delete_network(self, name):
        self.cluster.request("DELETE", self.path("network-attachment-definitions", name))

    def add_many(self, add, names, **more):
        """Calls add(name) for each, several at a time; what it gave, by name."""
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            return dict(zip(names, threads.map(lambda name: add(name, **more), names)))

    def status_of(self, name):
        return self.pod(name)["metadata"].get("annotations", {}).get("k8s.v1.cni.cncf.io/network-status")

    def events(self):
        return self.cluster.get(self.path("events"))["items"]

    def close(self):
        for kind in ("pods", "network-attachment-definitions", "events"):
            until(lambda: self._delete_all(kind), f"the end of all {kind}", 5 * PATIENCE)

    def _delete_all(self, kind):
        """False if the server had no time for all of them: it goes on where it stopped."""
        try:
            self.cluster.request("DELETE", self.path(kind) + ("?gracePeriodSeconds=0" if kind == "pods" else ""))
        except Refused as refused:
            if refused.status != 504:
                raise
            return False
        return True
