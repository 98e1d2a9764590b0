"""The examples of docs/quick-start.md, as a real API server and the daemon take them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "quick-start.yaml"


def test_the_page_shows_what_the_example_has():
    page = (ROOT / "docs" / "quick-start.md").read_text()

    blocks = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)

    assert blocks and all(block in EXAMPLE.read_text() for block in blocks)


def test_every_file_that_the_page_applies_is_there():
    page = (ROOT / "docs" / "quick-start.md").read_text()

    files = re.findall(r"(?:-f|--patch-file) (\S+)", page)

    assert files and all((ROOT / name).is_file() for name in files), files


def test_the_pod_of_the_example_gets_its_second_network(cluster, node):
    node.space.cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-n", node.space.namespace,
                               "-f", str(EXAMPLE))
    definition, _ = EXAMPLE.read_text().split("---\n")
    cluster.kubectl("apply", "-n", node.space.namespace, "-f", "-", stdin=definition)
    pod = node.pod("two-networks", networks="second")

    assert pod.add().ok

    assert pod.links() == {"eth0", "net1"}
    assert pod.addresses("net1") == ["10.77.0.2/24"]
    assert [entry["name"] for entry in pod.status][1:] == [f"{node.space.namespace}/second"]
    assert pod.delete().ok
