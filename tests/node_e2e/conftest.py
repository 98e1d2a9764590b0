"""Fixtures of the tests on a whole node: one node for a run, a namespace for each test, nothing left over after each.

MANIFEST names another manifest than deploy/multus-daemonset-thick.yml, IMAGE_TAR another docker archive than that of
`make image`: so another implementation is put through the same tests."""

import os
import shlex
import shutil
from pathlib import Path

import pytest

from harness.cluster.control_plane import ROOT
from harness.evidence.node_leaks import NodeLeaks
from harness.evidence.outcome import passed
from harness.whole_node.boot import WholeNode
from harness.whole_node.installation import Installation, image_archive, manifest_file
from harness.whole_node.multusctl import CTL, Said
from harness.whole_node.pod_space import PodSpace

PROGRAMS = ("containerd", "ctr", "runc", "busybox", "nft", "openssl", "clang-19")
FIRST = ("test_pod_networks", "test_devices", "test_running_pods", "test_settings")


def pytest_collection_modifyitems(config, items):
    """Pods first, then what happens to nodes. Tests of our own extras are left out for another implementation."""
    here = [item for item in items if item.path.parent == Path(__file__).parent]
    left_out = [item for item in here if os.environ.get("IMAGE_TAR") and item.get_closest_marker("ours")]
    config.hook.pytest_deselected(items=left_out)
    kept = [item for item in items if item not in left_out]
    items[:] = sorted(kept, key=lambda item: item in here and item.path.stem not in FIRST)


@pytest.fixture(scope="session")
def node(programs):
    """With its primary network alone."""
    for program in PROGRAMS:
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            pytest.skip(f"needs the program {program}")
    node = WholeNode(programs)
    try:
        node.wait_ready()
        yield node
    finally:
        node.keep_logs(ROOT / "build" / "logs" / "node_e2e")
        node.close()


@pytest.fixture(scope="session")
def images(node, programs):
    """The image under test is in the container runtime."""
    print(node.load_image(image_archive("multus", programs, node.folder / "images")), flush=True)


@pytest.fixture(scope="session")
def multus(node, images):
    """Installed once; a test that takes it away puts it back."""
    return Installation(node, manifest_file()).install()


@pytest.fixture(scope="session")
def multus_image(multus):
    """The name of the image under test."""
    return multus.image


@pytest.fixture
def bare(node, multus):
    """For installations of another kind: ours is taken away for the time."""
    multus.remove()
    yield node
    multus.install()


@pytest.fixture
def leaks(request, node, multus):
    """Everything that the test makes must be gone again on its own."""
    leaks = NodeLeaks(node)
    yield leaks
    if passed(request):
        leaks.check([pattern for mark in request.node.iter_markers("leaves") for pattern in mark.args])


@pytest.fixture
def plugging(multus, leaks):
    """The daemon applies annotations to running pods."""
    multus.configure(hotplug=True)
    yield multus
    multus.configure(hotplug=None)


@pytest.fixture
def space(request, multus, leaks):
    space = PodSpace(multus.cluster)
    yield space
    if not passed(request):
        space.show("get", "pods", "-o", "wide", check=False)
        space.show("get", "events", check=False)
        print(multus.log()[-4000:], flush=True)
    space.close()


@pytest.fixture
def outside(node, multus):
    def run(*words, timeout=400):
        print(f"$ multusctl {' '.join(words)}", flush=True)
        return Said(node.host.run(CTL, *words, "--kubeconfig", node.cluster.kubeconfig, check=False, timeout=timeout,
                                  env={"HOME": str(node.cluster.folder)}))
    return run


@pytest.fixture
def inside(node, multus):
    def run(*words, timeout=400):
        print(f"node$ multusctl {' '.join(words)}", flush=True)
        return Said(node.host.run(CTL, *words, check=False, timeout=timeout))
    return run


@pytest.fixture
def obey(node, outside):
    """Runs a hint, as a person in the folder of the sources would."""
    def run(hint):
        words = [str(ROOT / word) if word.startswith("deploy/") else word for word in shlex.split(hint)]
        print(f"$ {' '.join(words)}", flush=True)
        if words[0] == "multusctl":
            said = outside(*words[1:])
            assert said.exit != 2, "a hint that is not a command"
            return said.all
        if words[0] == "ctr":
            return node.host.run(*words).stdout
        assert words[0] == "kubectl"
        return node.cluster.kubectl(*words[1:])
    return run
