"""Daemons with certificates of their own, and cert-approver as a pod."""

import pytest

from harness.cluster.control_plane import ROOT
from harness.docs import guide
from harness.node.networks import NODE_BRIDGE
from harness.whole_node.boot import NAME as NODE
from harness.whole_node.installation import Installation
from harness.whole_node.pod_space import PodSpace

CERTIFICATES = "/etc/cni/multus/certs"
# A node of these tests has kubectl elsewhere, and no curl.
TOOLS = """kubectl() {{ {kubectl} "$@"; }}
curl() {{ /usr/bin/python3 -c 'import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())' "$2"; }}
"""


def looked_up(node, installation):
    """What the commands of operating.md print, with the names of this cluster in them."""
    (example,) = guide.examples("operating.md", "certificates")
    request = installation.system.kubectl("get", "csr", "-o", "name").split()[-1].partition("/")[2]
    script = example.script.replace("csr-xxxxx", request).replace("<node>:<metricsPort>", "127.0.0.1:9091")
    done = node.host.run("sh", "-ec", TOOLS.format(kubectl=node.binaries["kubectl"]) + script, timeout=120,
                         env={"KUBECONFIG": str(node.cluster.kubeconfig), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    return done.stdout


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
    installation.configure(metricsPort=9091)
    seen = looked_up(bare, installation)
    assert all(part in seen for part in (f"system:multus:{NODE}", "notAfter=",
                                         "multus_client_certificate_expiration_timestamp_seconds "))
    space.close()
    installation.remove()
    for file in bare.host.files_below(CERTIFICATES):
        bare.host.path(f"{CERTIFICATES}/{file}").unlink()
