"""multusctl with a real API server: pods and lint, with the rights that they say they need."""

import json
import os
import subprocess

import pytest

STATUS = "k8s.v1.cni.cncf.io/network-status"
BRIDGE = '{"cniVersion":"1.0.0","name":"n","type":"bridge"}'


@pytest.fixture
def ctl(cluster, program):
    path = program("multusctl")

    def run(*words, kubeconfig=None):
        return subprocess.run([path, *words, "--kubeconfig", kubeconfig or cluster.kubeconfig], capture_output=True, text=True,
                              env={**os.environ, "HOME": "/nonexistent"})
    return run


def rows(text):
    return [line.split() for line in text.splitlines()]


def set_running(cluster, space, name):
    cluster.request("PATCH", space.path("pods", name) + "/status", {"status": {"phase": "Running"}},
                    "application/merge-patch+json")


def test_pods_shows_what_was_asked_and_got(ctl, cluster, space):
    space.add_network("blue", BRIDGE)
    status = [{"name": "cluster", "interface": "eth0", "ips": ["10.0.0.5"], "mac": "0a:00:00:00:00:01", "default": True},
              {"name": f"{space.namespace}/blue", "interface": "net1", "ips": ["10.1.0.5"], "mac": "0a:00:00:00:00:02"}]
    space.add_pod("good", networks="blue", annotations={STATUS: json.dumps(status)})
    space.add_pod("bad", networks="blue,gone")
    for name in ("good", "bad"):
        set_running(cluster, space, name)

    done = ctl("pods", "-n", space.namespace)

    assert done.returncode == 0, done.stderr
    assert rows(done.stdout) == [
        ["POD", "NODE", "NETWORK", "INTERFACE", "IPS", "MAC", "STATE"],
        ["bad", space.node, f"{space.namespace}/blue", "net1", "<none>", "<none>", "no-status"],
        ["bad", space.node, f"{space.namespace}/gone", "net2", "<none>", "<none>", "no-definition"],
        ["good", space.node, "cluster", "eth0", "10.0.0.5", "0a:00:00:00:00:01", "ok"],
        ["good", space.node, f"{space.namespace}/blue", "net1", "10.1.0.5", "0a:00:00:00:00:02", "ok"]]
    assert f"there is no definition {space.namespace}/gone" in done.stderr
    states = [row["state"] for row in json.loads(ctl("pods", "-n", space.namespace, "good", "-o", "json").stdout)["networks"]]
    assert states == ["ok", "ok"]
    assert "state: ok" in ctl("pods", "-n", space.namespace, "good", "-o", "yaml").stdout


def test_a_missing_right_is_named(ctl, cluster, space):
    cluster.request("POST", f"/api/v1/namespaces/{space.namespace}/serviceaccounts", {"metadata": {"name": "nobody"}})
    token = cluster.token_for(space.namespace, "nobody")
    kubeconfig = cluster.write_kubeconfig(f"{space.namespace}.kubeconfig", token=token)

    done = ctl("pods", "-n", space.namespace, kubeconfig=kubeconfig)

    assert done.returncode == 1
    assert "needs the right to list network-attachment-definitions.k8s.cni.cncf.io in all namespaces" in done.stderr


def test_lint_knows_the_definitions_of_the_cluster(ctl, space, tmp_path):
    space.add_network("blue", BRIDGE)
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(f"kind: Pod\nmetadata:\n  name: web\n  namespace: {space.namespace}\n"
                        "  annotations: {k8s.v1.cni.cncf.io/networks: 'blue,elsewhere'}\n")

    assert ctl("lint", str(manifest)).stdout == ""
    done = ctl("lint", "--cluster", str(manifest))

    assert done.returncode == 1
    assert f"MN032 {space.namespace}/web: no definition {space.namespace}/elsewhere" in done.stdout
    assert "blue" not in done.stdout.replace("blue,elsewhere", "")


def test_lint_reads_the_clusters_own_objects(ctl, space):
    space.add_network("bad", '{"cniVersion":"1.0.0","name":"n","type":"brigde"}')
    space.add_pod("web", networks="nowhere")

    done = ctl("lint", "--cluster", "-n", space.namespace)

    assert done.returncode == 1
    assert f"networkattachmentdefinition/{space.namespace}/bad" in done.stdout
    assert f"MN032 {space.namespace}/web" in done.stdout
