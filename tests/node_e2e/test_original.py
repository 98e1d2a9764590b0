"""The original's own manifests, with nothing changed but the name of the image. (Our manifest with the original's image
is `make e2e IMAGE_TAR=...`: that image is in no package registry.)"""

from pathlib import Path

import pytest

from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN
from harness.whole_node.installation import Installation
from harness.whole_node.pod_space import PodSpace

MANIFESTS = Path(__file__).resolve().parents[1] / "data" / "manifests"


@pytest.mark.ours
@pytest.mark.spec("03:156")
@pytest.mark.parametrize("name", ["original-thick.yml", "original-thin.yml"])
def test_the_originals_manifest_runs_with_our_image(multus_image, bare, leaks, name):
    original = Installation(bare, MANIFESTS / name, multus_image).install()
    space = PodSpace(bare.cluster)
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)

    space.pod("web", "mac, lab")

    assert space.addresses("web").keys() == {"eth0", "net1", "net2"}
    assert [entry["interface"] for entry in space.status("web")] == ["eth0", "net1", "net2"]
    space.close()
    original.remove()
