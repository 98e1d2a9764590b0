"""README's command for the image of a release: containerd then has it under the name by which the manifests ask, and which the kubelet
looks up without the tag. (The whole way to a pod: tests/node_e2e/test_release.py.)"""

import pytest
from harness.docs import guide
from harness.images import released

CTR = '#!/bin/sh\nshift 2\nexec /usr/bin/ctr --address {address} --namespace {namespace} "$@"\n'


@pytest.fixture
def dist(host, tmp_path):
    """An archive as scripts/release writes it, with next to nothing in it; the digest that manifests pin."""
    release = released.script()
    made = release.Release(["amd64"], "localhost/multus", tmp_path)
    layer = release.oci.Layer(release.oci.Tree(), 0)
    release.oci.Image(f"localhost/multus:{release.VERSION}", layer, "amd64", 0, {}, {}).write_layout(tmp_path / "amd64")
    joined = release.index.Index(f"localhost/multus:{release.VERSION}", {"amd64": tmp_path / "amd64"})
    made.digests["multus"] = joined.digest
    host.path("/srv/dist").mkdir()
    host.path(f"/srv/dist/multus-{release.VERSION}.oci.tar").write_bytes(joined.archive(0))
    return made


def test_the_image_of_a_release_is_known_by_the_digest_that_manifests_pin(host, containerd, dist):
    (example,) = guide.examples("../README.md", "manifest")
    host.write("/srv/bin/ctr", CTR.format(address=containerd.SOCKET, namespace=containerd.namespace))
    host.path("/srv/bin/ctr").chmod(0o755)

    host.run("sh", "-ec", f'PATH=/srv/bin:$PATH\nkubectl() {{ [ "$1" = apply ]; }}\ncd /srv\n{example.script}')

    pinned = dist.pinned("image: localhost/multus:0.1.0").removeprefix("image: ")
    name, _, digest = pinned.partition("@")
    assert f"{name.rpartition(':')[0]}@{digest}" in containerd.ctr("images", "list", "-q").stdout.split()
