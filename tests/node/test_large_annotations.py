"""What the author of a pod or of a definition writes costs the daemon little, whatever it is (02, 2.1 and 3.4): the daemon counts
before it builds, and reads long annotations beside its event loop."""

import pytest
from harness.machine.proc import peak_memory
from harness.node.objects import DEFAULT_NETWORK, NETWORKS

pytestmark = pytest.mark.without_sanitizers  # they take memory themselves

MIB = 1 << 20
LARGEST = 256 << 10  # bytes of an annotation, by the API server's limit and by ours


def filled(begin, middle, end):
    """As many as fit into one annotation."""
    return begin + middle * ((LARGEST - len(begin) - len(end)) // len(middle)) + end


@pytest.mark.parametrize("annotation, text, reason", [
    pytest.param(NETWORKS, filled("a", ",a", ""), "networks, more than 1000", id="names"),
    pytest.param(NETWORKS, filled("[{}", ",{}", "]"), "networks, more than 1000", id="objects"),
    pytest.param(NETWORKS, filled("[0", ",0", "]"), "networks, more than 1000", id="numbers"),
    pytest.param(NETWORKS, filled("[0", ",0", ""), "networks, more than 1000", id="unfinished"),
    pytest.param(DEFAULT_NETWORK, filled("a", ",a", ""), "more than one default network", id="default-network"),
    pytest.param(NETWORKS, filled('[{"name":"n","ips":["::"', ',"::"', "]}]"), "values, more than 10000",
                 id="addresses"),
    pytest.param(NETWORKS, filled('[{"name":"n","cni-args":{"a":[0', ",0", "]}}]"), "values, more than 10000",
                 id="arguments-of-one"),
    pytest.param(NETWORKS, filled('[{"name":"n"}', ',{"name":"n","cni-args":{"a":[' + ",".join("0" * 980) + "]}}", "]"),
                 "values, more than 10000", id="arguments-of-many"),
    pytest.param(NETWORKS, filled('{"a":[0', ",0", "]}"), "values, more than 10000", id="no-list"),
])
def test_an_annotation_takes_little_memory(node, fake, annotation, text, reason):
    node.configure(fake.conf("cluster"))
    node.network("n", fake.conf("n"))
    pod = node.pod(annotations={annotation: text})

    for _ in range(5):  # as the runtime tries again
        assert reason in pod.add().error["msg"]

    peak = peak_memory(node.daemon.pid)
    print(f"{len(text) >> 10} KiB of annotation: {peak / MIB:.1f} MiB at the peak")
    assert peak <= 32 * MIB


def test_what_is_attached_takes_little_memory(node, fake):
    """As much as is taken, in an annotation that is full."""
    node.configure(fake.conf("cluster"))
    node.network("n", fake.conf("n"))
    arguments = ",".join(["0"] * 2000)
    networks = filled('[{"name":"n","cni-args":{"a":[%s],"b":"' % arguments, "x", '"}}]')
    pod = node.pod(networks)

    assert pod.add().ok
    assert pod.check().ok
    assert pod.delete().ok

    peak = peak_memory(node.daemon.pid)
    print(f"{len(networks) >> 10} KiB of annotation: {peak / MIB:.1f} MiB at the peak")
    assert peak <= 32 * MIB


def test_a_definition_takes_little_memory(node, fake):
    """A megabyte of small values, which the API server takes. Keys are what costs most."""
    node.configure(fake.conf("cluster"))
    node.network("n", {**fake.conf("n"), "x": [0] * 350_000})
    node.network("most", {**fake.conf("most"), "x": {f"key-{i}": 0 for i in range(9_900)}})

    refused, taken = node.pod("n,n,n"), node.pod("most")
    assert "more than 10000 values" in refused.add().error["msg"]
    assert taken.add().ok and taken.check().ok and taken.delete().ok
    answer = taken.delegate("ADD", {**fake.conf("n"), "x": [0] * 350_000})
    assert answer.status == 400 and b"more than 10000 values" in answer.body, answer

    peak = peak_memory(node.daemon.pid)
    print(f"{peak / MIB:.1f} MiB at the peak")
    assert peak <= 32 * MIB
