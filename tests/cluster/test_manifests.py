"""What is in deploy/ is taken by a real API server as it stands, and says what it must."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
ORIGINAL = ROOT / "tests" / "data" / "manifests"
APPLIED = sorted(DEPLOY.glob("*.yml"))
KUSTOMIZED = sorted(path.parent for path in DEPLOY.rglob("kustomization.yaml")
                    if "kind: Kustomization" in path.read_text())


def relative(path):
    return str(path.relative_to(ROOT))


def server_takes(cluster, *words, stdin=None):
    """A strict dry run: unknown fields are errors. Definitions and namespaces must be there already."""
    return cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-o", "name", *words, stdin=stdin)


@pytest.mark.parametrize("path", APPLIED, ids=relative)
def test_the_server_takes_each_file(cluster, path):
    assert server_takes(cluster, "-f", path)


@pytest.mark.parametrize("folder", KUSTOMIZED, ids=relative)
def test_the_server_takes_each_kustomization(cluster, folder):
    assert server_takes(cluster, "-f", "-", stdin=cluster.kubectl("kustomize", folder))


def test_the_server_takes_the_originals_thick_manifest(cluster):
    assert "daemonset.apps/kube-multus-ds" in server_takes(cluster, "-f", ORIGINAL / "original-thick.yml")


def test_joined_files_are_what_their_pieces_say():
    done = subprocess.run([ROOT / "scripts" / "manifests", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
