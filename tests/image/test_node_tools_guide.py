"""The examples of docs/node-tools.md that are commands inside the image, one after another as the document has them."""

import shutil
import subprocess

import pytest

from harness.docs import guide


@pytest.fixture(scope="module")
def root(tools, tmp_path_factory):
    copy = tmp_path_factory.mktemp("guide") / "root"
    shutil.copytree(tools["cni-node"].root, copy, symlinks=True)
    return copy


def test_the_examples_do_what_they_say(root):
    """In a mount and a network namespace of their own, with what a runtime mounts."""
    (root / "dev").mkdir(exist_ok=True)
    frame = ('ip link set lo up; mount -t proc none "$1/proc"; mount -t tmpfs none "$1/tmp"; mount --bind /dev "$1/dev"; '
             'exec chroot "$1" /bin/sh -ec "$2"')
    path = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
    found = guide.examples("node-tools.md", "image")
    assert len(found) >= 6
    for example in found:
        done = subprocess.run(["unshare", "-mnpf", "--kill-child", "sh", "-ec", frame, "sh", root, example.script], env=path,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        assert done.returncode == 0, f"{example.script}\n{done.stdout}"
        example.check(done.stdout)
