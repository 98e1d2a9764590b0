"""What the daemon's configuration turns on: isolation of namespaces, metrics, the auxiliary chain."""

import re

import pytest

from harness.machine.wait import until
from harness.node import networks
from harness.whole_node.installation import GENERATED
from harness.whole_node.pod_space import PodSpace, pod_object

METRICS_PORT = 9091


@pytest.fixture(scope="module")
def settings(node, multus):
    """A daemon with these keys; the ConfigMap is edited as a user would, and the pod restarted."""
    node.host.write("/etc/cni/net.d/aux/10-tuning.conf", networks.TUNING)
    multus.configure(namespaceIsolation=True, metricsPort=METRICS_PORT, auxiliaryCNIChainName="aux")
    yield
    node.host.path("/etc/cni/net.d/aux/10-tuning.conf").unlink()
    multus.configure(namespaceIsolation=None, metricsPort=None, auxiliaryCNIChainName=None)


@pytest.fixture
def neighbour(space):
    other = PodSpace(space.cluster)
    yield other
    other.close()


def test_a_network_of_another_namespace_is_refused_and_the_user_sees_why(settings, space, neighbour):
    neighbour.network("lab", networks.NODE_BRIDGE)
    space.apply(pod_object("curious", f"{neighbour.name}/lab"))

    described = until(lambda: "namespace isolation enabled" in (text := space.kubectl("describe", "pod", "curious"))
                      and text, "the reason in the description", 60)

    space.show("describe", "pod", "curious")
    assert f"pod is in namespace {space.name} but refers to target namespace {neighbour.name}" in described
    assert space.get("pod", "curious")["status"]["phase"] == "Pending"


def test_the_same_network_in_the_own_namespace_is_given(settings, space):
    space.network("lab", networks.NODE_BRIDGE)

    space.pod("modest", "lab")

    assert space.addresses("modest").keys() == {"eth0", "net1"}


def test_the_auxiliary_chain_runs_in_every_pod_behind_passthru(settings, node, space):
    space.network("lab", networks.NODE_BRIDGE)

    space.pod("tuned", "lab")

    assert space.addresses("tuned").keys() == {"eth0", "net1"}
    assert space.execute("tuned", "cat", "/proc/sys/net/core/somaxconn") == "500\n"
    assert '"auxiliaryCNIChainName":"aux"' in node.host.path(GENERATED).read_text()


def test_metrics_are_scraped_on_the_node(settings, space):
    space.pod("scraper", hostNetwork=True)
    space.pod("served")

    text = space.execute("scraper", "wget", "-q", "-O", "-", f"http://127.0.0.1:{METRICS_PORT}/metrics")

    print("\n".join(line for line in text.splitlines() if not line.startswith("#"))[:3000], flush=True)
    served = re.search(r'^multus_server_request_total\{code="200",handler="/cni",method="post"\} (\d+)', text, re.M)
    assert int(served[1]) >= 1
