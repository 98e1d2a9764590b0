"""Tens of thousands of cached results, as pods with hundreds of networks leave them, cost the daemon little
(SECURITY.md, "The author of a pod")."""

import concurrent.futures

import pytest
from harness.machine.proc import peak_memory

MIB = 1 << 20
RESULTS = "/var/lib/cni/multus/results"
CONTAINERS, NETWORKS = 100, 300


@pytest.mark.without_sanitizers  # they take memory themselves
@pytest.mark.leaves("record *")
def test_many_results_take_little_memory_at_a_start_and_at_a_gc(host, node, fake):
    node.configure(fake.conf("cluster"))
    pod = node.pod()
    assert pod.add().ok
    (file,) = host.files_below(RESULTS)
    text = host.path(f"{RESULTS}/{file}").read_text()
    node.daemon.kill()
    for container in range(CONTAINERS):
        copy = text.replace(pod.container_id, f"copy{container}")
        for number in range(NETWORKS):
            name = f"cluster-copy{container}-x{number}"
            host.path(f"{RESULTS}/{name}").write_text(copy.replace('"eth0"', f'"x{number}"'))

    node.start()
    valid = [{"containerID": f"copy{number}", "ifname": "eth0"} for number in range(CONTAINERS)]
    valid.append({"containerID": pod.container_id, "ifname": "eth0"})
    collected = node.shim.gc({**node.conf, "cniVersion": "1.1.0", "cni.dev/valid-attachments": valid})

    assert "more than 10000 attachments" in collected.stdout
    peak = peak_memory(node.daemon.pid)
    print(f"{CONTAINERS * NETWORKS} cached results: {peak / MIB:.1f} MiB at the peak")
    assert peak <= 32 * MIB
    assert pod.delete().ok
    for name in host.files_below(RESULTS):
        host.path(f"{RESULTS}/{name}").unlink()


@pytest.mark.without_sanitizers
@pytest.mark.leaves("record *")
def test_dels_beside_many_results_take_little_memory(host, node, fake):
    """Each of them looks for its own, and several do so at the same time."""
    node.configure(fake.conf("cluster"))
    pods = [node.pod(namespace=f"other{number}") for number in range(8)]
    node.start()
    for pod in pods:
        assert pod.add().ok
    for number in range(80_000):
        host.path(f"{RESULTS}/network-{number % 110:064d}-net{number // 110}").touch()

    with concurrent.futures.ThreadPoolExecutor(len(pods)) as threads:
        assert all(outcome.ok for outcome in threads.map(lambda pod: pod.delete(), pods))

    peak = peak_memory(node.daemon.pid)
    print(f"8 DELs beside 80000 cached results: {peak / MIB:.1f} MiB at the peak")
    assert peak <= 20 * MIB
    for name in host.files_below(RESULTS):
        host.path(f"{RESULTS}/{name}").unlink()
