"""The commands of docs/quick-start.md, as they stand there, on a whole node: from an image to a pod with two networks, and back."""

import re
import shutil

import pytest

from harness.cluster.control_plane import ROOT
from harness.docs import guide
from harness.images import image
from harness.whole_node.installation import GENERATED, image_archive

# Its image is in a registry, which this node does not reach.
BUSYBOX = "docker.io/library/busybox:1.36"
# host-local goes on with the address after the one that another test had.
SECOND = re.compile(r"inet 10\.77\.0\.\d+/24 .*net1")
# The image is made by the fixture.
PRELUDE = 'make() { [ "$*" = image ]; }\n'


@pytest.fixture
def clone(bare, programs):
    """What the commands find where they are called: the manifests, the example, and what `make image` makes."""
    folder = bare.folder / "clone"
    for part in ("deploy", "docs/examples"):
        shutil.copytree(ROOT / part, folder / part)
    (folder / "build/image").mkdir(parents=True)
    shutil.copy(image_archive("multus", programs, bare.folder / "images"), folder / "build/image")
    bare.ctr("images", "tag", "--force", image.NAME, BUSYBOX)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.ours
def test_the_commands_of_the_quick_start_do_what_they_say(bare, clone, leaks):
    kubectl = bare.folder / "clone" / "bin" / "kubectl"
    kubectl.parent.mkdir()
    shutil.copy(bare.binaries["kubectl"], kubectl)
    env = {"HOME": str(bare.folder), "KUBECONFIG": str(bare.cluster.kubeconfig), "PATH": f"{kubectl.parent}:/usr/sbin:/usr/bin:/sbin:/bin"}

    def run(example):
        done = bare.host.run("sh", "-ec", f"cd {clone}\n{PRELUDE}{example.script}", env=env, timeout=600)
        print(done.stdout, flush=True)
        return done.stdout

    installing, looking, removing = guide.examples("quick-start.md", "node")
    run(installing)
    seen = run(looking)
    assert SECOND.search(seen) and all(part in seen for part in ("default/second", "AddedInterface"))
    run(removing)
    assert not bare.host.path(GENERATED).exists()
    bare.host.run("ip", "link", "delete", "br-second")
    bare.cluster.kubectl("-n", "kube-system", "wait", "--for=delete", "pod", "-l", "name=multus", "--timeout=180s", check=False)
