"""Networks of containers that are gone are deleted when the API server has no such pod (05, 3.10; pain 8)."""

from harness.cluster.kube_node import KUBECONFIG
from harness.evidence import metrics
from harness.machine.wait import until
from harness.node.daemon import default_config

POOL = "/var/lib/cni/networks/cluster"
# A daemon whose view of the host's namespaces is lost: files are where they were.
BLIND = ("unshare", "-m", "--propagation", "private", "sh", "-c", 'umount -l /run/netns; exec "$@"', "sh")
QUICK = {"reconcileGrace": 2, "metricsPort": metrics.PORT}


def addresses(node):
    return sorted(name for name in node.host.files_below(POOL) if name[0].isdigit())


def lose_sandbox(node, pod):
    """The runtime has forgotten it: its namespace goes, and no DEL comes."""
    node.host.run("ip", "netns", "del", pod.name)
    pod.is_added = False


def test_a_container_whose_pod_is_absent_from_the_store_is_deleted(node, space):
    gone, stays, lives = (node.pod(name) for name in ("gone", "stays", "lives"))
    for pod in (gone, stays, lives):
        assert pod.add().ok
    assert len(addresses(node)) == 3
    lose_sandbox(node, gone)
    lose_sandbox(node, stays)
    space.delete_pod("gone")
    node.daemon.stop()

    node.start(**QUICK)

    until(lambda: len(addresses(node)) == 2, lambda: node.daemon.log)
    until(lambda: "were deleted: its pod is gone" in node.daemon.log, lambda: node.daemon.log)
    assert lives.links() == {"eth0"}
    assert metrics.page(node.host).value("multus_upkeep_total", action="delete", outcome="success") == 1
    until(lambda: gone.events("RemovedLeftovers"), "the event")
    assert stays.delete(netns="").ok and lives.delete().ok
    assert addresses(node) == []


def test_nothing_is_deleted_while_namespaces_of_running_pods_cannot_be_seen(node, space):
    gone, runs = node.pod("gone"), node.pod("runs")
    for pod in (gone, runs):
        assert pod.add().ok
    space.cluster.request("PATCH", space.path("pods", "runs") + "/status", {"status": {"phase": "Running"}},
                          "application/merge-patch+json")
    lose_sandbox(node, gone)
    space.delete_pod("gone")
    node.daemon.stop()
    config = default_config(objectsDir=None, kubeconfig=KUBECONFIG, podLookupTimeout=None, **QUICK)

    blind = node.daemons.launch(config, env={"MULTUS_NODE_NAME": space.node}, through=BLIND).wait_ready()

    until(lambda: metrics.page(node.host).value("multus_namespaces_unseen") == 1, lambda: blind.log)
    blind.wait_log("runs, cannot be seen")
    until(lambda: "but its networks are not deleted" in blind.log, lambda: blind.log, timeout=60)
    assert len(addresses(node)) == 2
    blind.stop()
    node.start(**QUICK)
    until(lambda: len(addresses(node)) == 1, lambda: node.daemon.log)
    assert runs.links() == {"eth0"}
