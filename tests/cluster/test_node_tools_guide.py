"""The examples of docs/node-tools.md that need a cluster: what they write is taken by a real API server."""

import os
import subprocess

import pytest

from harness.docs import guide


@pytest.mark.parametrize("example", guide.examples("node-tools.md", "cluster"), ids=lambda example: example.script.split("\n")[0])
def test_the_example_does_what_it_says(cluster, tmp_path, example):
    (tmp_path / "deploy").symlink_to(guide.ROOT / "deploy")
    env = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "PATH": f"{os.path.dirname(cluster.binaries['kubectl'])}:/usr/bin:/bin"}
    done = subprocess.run(["sh", "-ec", example.script], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    example.check(done.stdout)
