"""What our programs call themselves: an operator must see in the API server's log and metrics which program of which version asks."""

import json
from pathlib import Path

import pytest
from harness.machine.wait import until
from harness.node.cni_node import CniNode
from harness.node.kube_watch import KubeWatch

VERSION = (Path(__file__).resolve().parents[2] / "VERSION").read_text().strip()


@pytest.fixture
def kubeconfig(proxy, cluster):
    return proxy.kubeconfig("agents.kubeconfig", token=cluster.token_for("kube-system", "multus"))


def test_the_daemon_names_itself_and_its_version(node):
    pod = node.pod("web")
    node.start()
    assert pod.add().ok
    until(lambda: node.proxy.count("POST .*/events"), "an event, too")
    assert node.proxy.agents == {f"multus-daemon/{VERSION}"}


def test_cni_node_names_itself_and_its_version(program, tmp_path, proxy, kubeconfig):
    cni = CniNode(program("cni-node"), tmp_path)
    cni.env["KUBECONFIG"] = str(kubeconfig)
    (cni.manifests / "m.json").write_text(json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}))
    cni.run("install", "--manifests=m.json")
    cni.close()
    assert proxy.agents == {f"cni-node/{VERSION}"}


def test_kube_watch_names_itself_and_its_version(program, tmp_path, space, proxy, kubeconfig):
    watch = KubeWatch(program("kube-watch"), tmp_path / "watch", "object", "configmap", f"{space.namespace}/a", "--jsonpath={.data}",
                      f"--kubeconfig={kubeconfig}")
    until(lambda: proxy.agents, "a request")
    watch.stop()
    assert proxy.agents == {f"kube-watch/{VERSION}"}
