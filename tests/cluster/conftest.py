"""Fixtures of the tests against a real API server: one control plane for a run, objects of its own for each test."""

import itertools
import os
from pathlib import Path

import pytest

from harness.api_proxy import ApiProxy
from harness.cluster import Cluster
from harness.probe import Probe

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def tools():
    programs = Path(os.environ.get("MNET_BIN", ROOT / "build" / "dev" / "bin")).resolve()
    return programs.parent / "tools"


@pytest.fixture(scope="session")
def cluster():
    """etcd and kube-apiserver with our CRD and role. Whoever stops a part of it starts it again."""
    cluster = Cluster()
    try:
        cluster.install_definitions()
        cluster.apply_files("role.yaml")
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def own_cluster():
    """One that a test may break."""
    started = []

    def start(**options):
        started.append(Cluster(**options))
        return started[-1]
    yield start
    for cluster in started:
        cluster.close()


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

    def status_of(self, name):
        return self.pod(name)["metadata"].get("annotations", {}).get("k8s.v1.cni.cncf.io/network-status")

    def events(self):
        return self.cluster.get(self.path("events"))["items"]

    def close(self):
        for kind in ("pods", "network-attachment-definitions", "events"):
            self.cluster.request("DELETE", self.path(kind) + ("?gracePeriodSeconds=0" if kind == "pods" else ""))


@pytest.fixture
def space(cluster):
    space = Workspace(cluster)
    yield space
    space.close()


@pytest.fixture
def kubeconfig(cluster):
    """Of the daemon's own service account."""
    return cluster.write_kubeconfig("multus.kubeconfig", token=cluster.token_for("kube-system", "multus"))


@pytest.fixture
def probes(tools, space):
    """Starts probes; each must end by itself."""
    started = []

    def start(kubeconfig, *options, node=None, synced=True, **more):
        probe = Probe(tools / "kube-probe", kubeconfig, space.node if node is None else node, *options, **more)
        started.append(probe)
        if synced:
            probe.ask("wait_synced", waitMs=20000)
        return probe
    yield start
    for probe in started:
        probe.close()


@pytest.fixture
def probe(probes, kubeconfig):
    return probes(kubeconfig)


@pytest.fixture
def proxy(cluster):
    """Between a client and the API server, to delay, cut and refuse."""
    proxy = ApiProxy(cluster)
    yield proxy
    proxy.close()
