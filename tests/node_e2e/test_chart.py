"""The Helm chart on a whole node, with the real helm: installed, upgraded, rolled back and deleted; and README's commands for it."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.cluster.control_plane import ROOT
from harness.docs import guide
from harness.images import image
from harness.node.networks import NODE_BRIDGE
from harness.whole_node.installation import GENERATED, Installation
from harness.whole_node.pod_space import PodSpace

CHART = ROOT / "deploy" / "chart"
VERSION = (ROOT / "VERSION").read_text().strip()
# Of README and of its example: in registries, which this node does not reach.
OURS, PUSHED = f"localhost/multus:{VERSION}", f"registry.example/multus:{VERSION}"
BUSYBOX = "docker.io/library/busybox:1.36"
# host-local goes on with the address after the one that another test had.
SECOND = re.compile(r"inet 10\.77\.0\.\d+/24 .*net1")


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


@pytest.fixture
def kubectl_image(bare):
    """For the Job that takes Multus off the node."""
    archive = bare.folder / "images" / "kubectl.tar"
    archive.write_bytes(image.kubectl_archive(Path(bare.binaries["kubectl"]).read_bytes()))
    bare.load_image(archive)
    return image.KUBECTL


def levels(installation):
    data = installation.system.get("configmap", "multus-daemon-config")["data"]
    return data.get("90-local.json")


@pytest.mark.ours
def test_the_chart_is_installed_upgraded_rolled_back_and_deleted(bare, helm, kubectl_image):
    installation = Installation(bare, ROOT / "deploy" / "thick")  # for what to wait for
    chart = bare.folder / "chart"
    helm("install", "multus", chart, "--set", f"uninstall.image={kubectl_image}", "--wait", "--timeout", "5m")
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
    helm("uninstall", "multus", "--wait", "--timeout", "5m")  # its Job patches the DaemonSet and waits
    assert not bare.host.path(GENERATED).exists()
    await_gone(installation)


def await_gone(installation):
    installation.system.kubectl("wait", "--for=delete", "pod", "-l", "name=multus", "--timeout=180s", check=False)


@pytest.fixture
def readers_folder(bare, program):
    """What README's reader has: dist/ with the chart and the patch, the example of the quick start, helm and kubectl. skopeo brings the
    image to this node, as a registry would."""
    folder = bare.folder / "reader"
    shutil.copytree(ROOT / "docs" / "examples", folder / "docs" / "examples")
    for path in (folder / "dist", folder / "bin"):
        path.mkdir()
    subprocess.run([program, "package", CHART, "-d", folder], check=True, stdout=subprocess.DEVNULL)
    (folder / f"multus-{VERSION}.tgz").rename(folder / "dist" / f"multus-chart-{VERSION}.tgz")
    shutil.copy(ROOT / "deploy" / "uninstall.patch.yaml", folder / "dist")
    shutil.copy(program, folder / "bin" / "helm")
    shutil.copy(bare.binaries["kubectl"], folder / "bin" / "kubectl")
    yield folder
    shutil.rmtree(folder)


@pytest.mark.ours
def test_readmes_commands_for_the_chart_lead_to_a_pod_with_two_networks(bare, readers_folder):
    (example,), (pod,), (removal,) = (guide.examples("../README.md", where) for where in ("release", "pod", "removal"))
    copied = f"copy --all oci-archive:dist/multus-{VERSION}.oci.tar docker://{PUSHED}"
    bare.ctr("images", "tag", "--force", OURS, PUSHED)
    bare.ctr("images", "tag", "--force", image.NAME, BUSYBOX)
    env = {"HOME": str(bare.folder), "KUBECONFIG": str(bare.cluster.kubeconfig), "PATH": f"{readers_folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

    def run(script):
        return bare.host.run("sh", "-ec", f"cd {readers_folder}\n{script}", env=env, timeout=600).stdout

    run(f'skopeo() {{ [ "$*" = "{copied}" ]; }}\n{example.script}')
    installation = Installation(bare, ROOT / "deploy" / "thick")
    installation.wait_rolled_out()
    seen = run(pod.script)

    assert SECOND.search(seen) and "eth0" in seen
    run("kubectl delete -f docs/examples/quick-start.yaml")
    run(removal.script)
    assert not bare.host.path(GENERATED).exists()
    bare.host.run("ip", "link", "delete", "br-second")
    await_gone(installation)
