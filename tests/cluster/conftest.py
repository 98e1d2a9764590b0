"""Fixtures of the tests against a real API server: one control plane for a run, objects of its own for each test."""

import os
from pathlib import Path

import pytest

from harness.cluster.control_plane import Cluster
from harness.cluster.kube_node import KubeNode
from harness.cluster.peer import PeerNode
from harness.cluster.probe import Probe
from harness.cluster.roles import UPSTREAM_RULES
from harness.cluster.workspace import Workspace
from harness.evidence.outcome import passed
from harness.net.api_proxy import ApiProxy, listen_in

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def tools():
    programs = Path(os.environ.get("MNET_BIN", ROOT / "build" / "dev" / "bin")).resolve()
    return programs.parent / "tools"


@pytest.fixture(scope="session")
def cluster():
    """etcd and kube-apiserver with our CRD and role. A test that stops a part of it must start it again."""
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
            probe.ask("wait_synced", waitMs=90000)
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


@pytest.fixture
def proxied(probes, proxy, cluster):
    """A probe behind the proxy, as the daemon's account."""
    return probes(proxy.kubeconfig("proxied", token=cluster.token_for("kube-system", "multus")))


@pytest.fixture
def account(cluster, space):
    """Makes a service account with these rules; gives a token of it."""
    def make(name, rules):
        full = f"{space.namespace}-{name}"
        cluster.apply(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": space.namespace}},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": full},
             "rules": rules},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": full},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": full},
             "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": space.namespace}]})
        return cluster.token_for(space.namespace, name)
    return make


@pytest.fixture
def node(request, host, daemons, shim, cluster, space):
    """A host whose daemon has the API server behind a proxy; what is still attached at the end is deleted."""
    proxy = ApiProxy(cluster, listen_in(host.pid))
    node = KubeNode(host, daemons, shim, space, proxy)
    host.add_bridge("uplink")
    yield node
    if passed(request):
        node.close()
    proxy.close()


@pytest.fixture
def peer_node(request, host, daemons, program, cluster, space, account):
    """A host that takes our daemon or the original's, with the original's rights."""
    program("multus-shim")
    proxy = ApiProxy(cluster, listen_in(host.pid))
    node = PeerNode(host, daemons, space, proxy, account("original", UPSTREAM_RULES))
    host.add_bridge("uplink")
    yield node
    if passed(request):
        node.close()
    proxy.close()
