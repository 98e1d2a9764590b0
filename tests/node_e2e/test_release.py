"""README's commands for what `make release` made, without Helm and without a registry: the image by digest, from a file."""

import re
import shutil

import pytest

from harness.cluster.control_plane import ROOT
from harness.docs import guide
from harness.images import image, released
from harness.whole_node.installation import Installation

# Its image is in a registry, which this node does not reach.
BUSYBOX = "docker.io/library/busybox:1.36"
# host-local goes on with the address after the one that another test had.
SECOND = re.compile(r"inet 10\.77\.0\.\d+/24 .*net1")


@pytest.fixture
def readers_folder(bare, programs):
    """The tree of a reader who called `make release`."""
    folder = bare.folder / "reader"
    for path in (folder / "dist", folder / "bin"):
        path.mkdir(parents=True)
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    released.make(programs, folder / "dist")
    shutil.copy(bare.binaries["kubectl"], folder / "bin" / "kubectl")
    bare.ctr("images", "tag", "--force", image.NAME, BUSYBOX)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.ours
def test_readmes_commands_for_the_manifest_lead_to_a_pod_with_two_networks(bare, readers_folder):
    (install,), (pod,) = guide.examples("../README.md", "manifest"), guide.examples("../README.md", "pod")
    env = {"HOME": str(bare.folder), "KUBECONFIG": str(bare.cluster.kubeconfig), "PATH": f"{readers_folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    for name in bare.ctr("images", "list", "-q", "name~=localhost/multus").stdout.split():
        bare.ctr("images", "remove", "--sync", name)  # what the node has of other tests

    seen = bare.host.run("sh", "-ec", f"cd {readers_folder}\n{install.script}{pod.script}", env=env, timeout=600).stdout

    assert SECOND.search(seen) and "eth0" in seen
    installation = Installation(bare, readers_folder / "dist" / "multus-daemonset-thick.yml")
    assert "@sha256:" in installation.text
    bare.cluster.kubectl("delete", "--wait", "-f", ROOT / "docs/examples/quick-start.yaml")
    installation.remove()
    bare.host.run("ip", "link", "delete", "br-second")
