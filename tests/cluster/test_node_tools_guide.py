"""The examples of docs/node-tools.md that need a cluster: what they write is taken by a real API server."""

import os
import subprocess

from harness.docs import guide


def test_the_examples_do_what_they_say(own_cluster, program, tmp_path):
    """On a cluster of their own: they delete the definition of networks."""
    cluster = own_cluster()
    (tmp_path / "deploy").symlink_to(guide.ROOT / "deploy")
    programs = [os.path.dirname(path) for path in (cluster.binaries["kubectl"], program("kube-watch"))]
    env = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig), "PATH": ":".join([*programs, "/usr/bin:/bin"])}
    found = guide.examples("node-tools.md", "cluster")
    assert len(found) == 4
    for example in found:
        done = subprocess.run(["sh", "-ec", example.script], cwd=tmp_path, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)
        assert done.returncode == 0, done.stdout
        example.check(done.stdout)
