"""Each image is made once for a run."""

import pytest

from harness.images.made_image import TOOLS, made


@pytest.fixture(scope="session")
def multus(tmp_path_factory):
    return made(tmp_path_factory.mktemp("multus"), "multus")["multus"]


@pytest.fixture(scope="session")
def tools(tmp_path_factory):
    """The images of cni-node and kube-watch by name."""
    return made(tmp_path_factory.mktemp("tools"), *TOOLS)
