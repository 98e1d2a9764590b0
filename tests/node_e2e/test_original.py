"""The original's own manifests, from its Go module, with nothing changed but the name of the image. (Our manifest with the
original's image is `make e2e IMAGE_TAR=...`: that image is in no package registry.)"""

import subprocess
from pathlib import Path

import pytest

from harness.cluster.control_plane import ROOT
from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN
from harness.whole_node.installation import Installation
from harness.whole_node.pod_space import PodSpace

CANNOT_BE_HAD = 77
# The shim comes by cp, by a shell with two cp, and by install_multus. multus-daemonset-crio.yml runs with none of these
# images: it calls /entrypoint.sh, which the original's have no longer, either.
INSTALLED_BY = {"v4.0.2": "cp", "v4.2.2": "sh", "v4.3.0": "/usr/src/multus-cni/bin/install_multus"}


def manifest(version, name):
    asked = subprocess.run([ROOT / "scripts" / "peer", version, "--manifests"], capture_output=True, text=True)
    if asked.returncode == CANNOT_BE_HAD:
        pytest.skip(f"needs the original's Go module: {asked.stderr}")
    assert asked.returncode == 0, asked.stderr
    return Path(asked.stdout.strip()) / name


@pytest.mark.ours
@pytest.mark.spec("03:156")
@pytest.mark.parametrize("version, name", [
    *((version, "multus-daemonset-thick.yml") for version in INSTALLED_BY),
    ("v4.3.0", "multus-daemonset.yml"), ("v4.0.2", "multus-daemonset.yml")])
def test_the_originals_manifest_runs_with_our_image(multus_image, bare, leaks, version, name):
    original = Installation(bare, manifest(version, name), multus_image)
    assert "thick" not in name or f'"{INSTALLED_BY[version]}"' in original.text
    original.install()
    space = PodSpace(bare.cluster)
    space.network("mac", NODE_MACVLAN)
    space.network("lab", NODE_BRIDGE)

    space.pod("web", "mac, lab")

    assert space.addresses("web").keys() == {"eth0", "net1", "net2"}
    assert [entry["interface"] for entry in space.status("web")] == ["eth0", "net1", "net2"]
    space.close()
    original.remove()
