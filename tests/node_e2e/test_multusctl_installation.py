"""multusctl on a whole node whose installation is at fault: daemons that cannot start, get no certificate or have no disk, and pods
that were started without them. docs/testing.md lists the faults."""

import os
import re

import pytest

from harness.cluster.control_plane import ROOT
from harness.machine.wait import until
from harness.node.networks import NODE_BRIDGE
from harness.whole_node.boot import NAME
from harness.whole_node.installation import Installation
from harness.whole_node.multusctl import CTL, Said, hint_in
from harness.whole_node.pod_space import PodSpace, pod_object

pytestmark = pytest.mark.ours
STATE = "/var/lib/cni/multus"
CERTIFICATES = "/etc/cni/multus/certs"


@pytest.fixture
def plugin(node, multus):
    """`kubectl multus`: kubectl itself finds the program in the PATH."""
    node.host.run("mkdir", "/srv/plugins")
    node.host.run("ln", "-s", CTL, "/srv/plugins/kubectl-multus")

    def run(*words):
        print(f"$ kubectl multus {' '.join(words)}", flush=True)
        return Said(node.host.run(node.binaries["kubectl"], "multus", *words, check=False, timeout=120, env={
            "PATH": f"/srv/plugins:{os.environ['PATH']}", "HOME": str(node.cluster.folder), "KUBECONFIG": str(node.cluster.kubeconfig)}))
    yield run
    node.host.run("rm", "-r", "/srv/plugins")


def test_kubectl_runs_it_as_a_plugin_of_its_own(plugin, space):
    space.network("lab", NODE_BRIDGE)
    space.pod("web", "lab")

    status = plugin("status")
    assert status.exit == 0 and re.search(rf"^{NAME} .* yes ", status.out, re.M)
    assert plugin("pods", "-n", space.name).out.count(" ok\n") == 2
    assert "kubectl multus pods" in plugin("pods", "--help").out
    wrong = plugin("stauts")
    assert wrong.exit == 2 and 'did you mean "status"?' in wrong.err
    # It reads the definitions of all namespaces, also of one that a test before has left and that is still going away.
    assert f"/{space.name}/" not in plugin("lint", "--cluster", "-n", space.name).out


def test_a_daemon_whose_image_is_missing_is_told_with_the_command_that_shows_why(outside, inside, obey, multus, space):
    space.network("lab", NODE_BRIDGE)
    good = multus.image
    multus.set_image("localhost/multus:absent")
    try:
        multus.system.kubectl("delete", "pod", "-l", "name=multus", "--wait")
        space.apply(pod_object("web", "lab"))
        said = until(lambda: "the daemon's pod is " in (now := outside("status")).err and now, "a pod that cannot start", 60)
        until(lambda: "localhost/multus:absent" in obey(said.hint("the daemon's pod is")), "the event of the image", 60)
        on_node = inside("status", "--this-node")
        assert on_node.exit == 1 and "kube-multus-ds-" in obey(on_node.hint("no daemon answers"))
        assert outside("doctor").exit == 1
        refused = until(lambda: next((event["message"] for event in space.items("events") if "multus-daemon does not run" in event["message"]),
                                     None), "an event of the pod that needs the daemon", 120)
        assert "kube-multus-ds-" in obey(hint_in(refused))
    finally:
        multus.set_image(good)
        multus.wait_rolled_out()

    until(lambda: outside("status").exit == 0 and outside("doctor").exit == 0, "a good cluster", 60)
    space.wait_ready("pod/web")


# The runtime attached the first pod itself, and deletes it through multus: its own result of `primary` stays.
@pytest.mark.leaves("result primary-*")
def test_pods_that_started_without_multus_are_told_and_listed(outside, obey, multus, node, leaks):
    space = PodSpace(node.cluster)
    multus.remove()
    try:
        space.pod("missed", "lab")
        assert list(space.addresses("missed")) == ["eth0"]
    finally:
        multus.install()
    space.network("lab", NODE_BRIDGE)

    said = until(lambda: "1 pod without the networks asked for" in (now := outside("status")).err and now, "the pod", 90)
    listed = obey(said.hint("1 pod without the networks asked for"))
    assert re.search(rf"^{space.name} +missed ", listed, re.M), listed
    space.delete_pods()  # as the line says
    space.pod("missed", "lab")

    assert space.addresses("missed").keys() == {"eth0", "net1"}
    until(lambda: "without the networks asked for" not in outside("status").err, "nothing to tell", 60)
    space.close()


def test_a_full_disk_is_told_until_there_is_room(outside, multus, node, leaks):
    node.host.run("mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", STATE)
    multus.restart()
    multus.wait_rolled_out()
    try:
        told = f"the disk of {STATE} has room for 0 MiB"
        until(lambda: told in outside("doctor").out, "the full disk", 60)
        node.host.run("mount", "-o", "remount,size=8g", STATE)
        mended = outside("doctor")
        assert mended.exit == 0 and f"✓ node {NAME}: the self-check found no problems" in mended.out
    finally:
        node.host.run("umount", "--lazy", STATE)
        multus.restart()
        multus.wait_rolled_out()


@pytest.fixture
def unapproved(bare, leaks):
    """Daemons that ask for certificates of their own, and no approver."""
    bare.cluster.kubectl("delete", "csr", "--all")
    installation = Installation(bare, ROOT / "deploy" / "overlays" / "per-node-certificates")
    assert installation.text.count("replicas: 1") == 1
    installation.text = installation.text.replace("replicas: 1", "replicas: 0")
    installation.apply()
    yield installation
    installation.remove()
    for file in bare.host.files_below(CERTIFICATES):
        bare.host.path(f"{CERTIFICATES}/{file}").unlink()


def test_a_denied_certificate_is_told_and_the_next_request_with_the_command_that_approves_it(outside, obey, unapproved):
    kubectl = unapproved.cluster.kubectl
    first = until(lambda: kubectl("get", "csr", "-o", "name"), "a request", 120).split("/")[1].strip()
    kubectl("certificate", "deny", first)
    denied = until(lambda: "was denied" in (now := outside("status")).err and now, "the denial", 60)
    assert first in denied.err and outside("doctor").exit == 1

    waiting = until(lambda: "kubectl certificate approve" in (now := outside("status")).err and first not in now.hint(
        "kubectl certificate approve") and now, "the next request, after 1 to 2 minutes", 180)
    obey(waiting.hint("kubectl certificate approve"))

    unapproved.wait_rolled_out()
    until(lambda: outside("status").exit == 0 and "not ready" not in outside("status").err, "a ready daemon", 60)
