"""Fixtures of the tests against a real API server: one control plane for a run, objects of its own for each test."""

import os
from pathlib import Path

import pytest

from harness.api_proxy import ApiProxy
from harness.cluster import Cluster
from harness.probe import Probe
from harness.workspace import Workspace

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
        cluster.apply_files("common/role.yaml")
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
