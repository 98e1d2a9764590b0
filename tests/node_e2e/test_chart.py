"""The Helm chart on a whole node, with the real helm: installed, upgraded, rolled back and deleted."""

import shutil
import subprocess

import pytest

from harness.cluster.control_plane import ROOT
from harness.node.networks import NODE_BRIDGE
from harness.whole_node.installation import DAEMON_SET, GENERATED, Installation
from harness.whole_node.pod_space import PodSpace

CHART = ROOT / "deploy" / "chart"


@pytest.fixture(scope="module")
def program():
    found = subprocess.run([ROOT / "scripts" / "supply" / "go-tool", "helm"], stdout=subprocess.PIPE, text=True)
    if found.returncode == 77:
        pytest.skip("needs helm, from its Go module")
    return found.stdout.strip()


@pytest.fixture
def helm(bare, program):
    """In the node's namespaces, where its API server is; the chart lies in `chart` there."""
    shutil.copy(program, bare.folder / "helm")
    shutil.copytree(CHART, bare.folder / "chart", dirs_exist_ok=True)

    def run(*words):
        done = bare.host.run(bare.folder / "helm", "--kubeconfig", bare.cluster.kubeconfig, "-n", "kube-system", *words,
                             check=False, timeout=400, env={"HOME": str(bare.folder)})
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return run


def levels(installation):
    data = installation.system.get("configmap", "multus-daemon-config")["data"]
    return data.get("90-local.json")


@pytest.mark.ours
def test_the_chart_is_installed_upgraded_rolled_back_and_deleted(bare, helm):
    installation = Installation(bare, ROOT / "deploy" / "thick")  # for what to wait for
    chart = bare.folder / "chart"
    helm("install", "multus", chart, "--wait", "--timeout", "5m")
    installation.wait_rolled_out()
    space = PodSpace(bare.cluster)
    space.network("lab", NODE_BRIDGE)
    space.pod("two", "lab")
    assert space.addresses("two").keys() == {"eth0", "net1"}

    helm("upgrade", "multus", chart, "--set", "config.logLevel=debug", "--wait", "--timeout", "5m")
    installation.wait_rolled_out()
    assert '"logLevel": "debug"' in levels(installation)
    helm("rollback", "multus", "1", "--wait", "--timeout", "5m")
    installation.wait_rolled_out()
    assert levels(installation) is None
    assert space.addresses("two").keys() == {"eth0", "net1"}

    space.close()
    patch = ROOT / "deploy" / "uninstall.patch.yaml"
    installation.system.kubectl("patch", DAEMON_SET, "--patch", patch.read_text())
    installation.system.kubectl("rollout", "status", DAEMON_SET, "--timeout=90s", timeout=120)
    helm("uninstall", "multus", "--wait", "--timeout", "5m")
    assert not bare.host.path(GENERATED).exists()
    installation.system.kubectl("wait", "--for=delete", "pod", "-l", "name=multus", "--timeout=180s", check=False)
