"""Daemons with certificates of their own, and cert-approver as a pod."""

import pytest

from harness.cluster.control_plane import ROOT
from harness.node.networks import NODE_BRIDGE
from harness.whole_node.boot import NAME as NODE
from harness.whole_node.installation import Installation
from harness.whole_node.pod_space import PodSpace

CERTIFICATES = "/etc/cni/multus/certs"


@pytest.mark.ours
def test_a_daemon_gets_its_certificate_from_the_approver_and_serves_with_it(bare, leaks):
    installation = Installation(bare, ROOT / "deploy" / "overlays" / "per-node-certificates").install()
    installation.system.kubectl("rollout", "status", "deployment/multus-cert-approver", "--timeout=240s")
    space = PodSpace(bare.cluster)
    space.network("lab", NODE_BRIDGE)

    space.pod("certified", "lab")

    assert space.addresses("certified").keys() == {"eth0", "net1"}
    assert len(space.status("certified")) == 2
    requests = installation.system.show("get", "csr")
    assert f"system:node:{NODE}" in requests
    assert "Approved,Issued" in requests
    space.close()
    installation.remove()
    for file in bare.host.files_below(CERTIFICATES):
        bare.host.path(f"{CERTIFICATES}/{file}").unlink()
