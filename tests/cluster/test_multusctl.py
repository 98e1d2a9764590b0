"""multusctl with a real API server, with the rights that its commands say they need."""

import json
import os
import re
import signal
import subprocess
import tarfile

import pytest

from harness.machine.wait import until

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


def test_a_node_that_does_not_exist_is_an_error(ctl):
    done = ctl("status", "nosuchnode")

    assert done.returncode == 1
    assert 'there is no node "nosuchnode"' in done.stderr or "the cluster has no nodes" in done.stderr


def test_a_pod_is_found_in_any_namespace(ctl, space):
    space.add_network("blue", BRIDGE)
    space.add_pod(f"only-{space.namespace}", networks="blue")

    done = ctl("pods", "-A", f"only-{space.namespace}")

    assert done.returncode == 0, done.stderr
    assert rows(done.stdout)[1][:2] == [space.namespace, f"only-{space.namespace}"]
    assert ctl("pods", "-A", "nosuchpod").returncode == 1


def add_running(cluster, space, name, **more):
    space.add_pod(name, **more)
    set_running(cluster, space, name)


def annotations(cluster, space, name):
    return cluster.request("GET", space.path("pods", name))["metadata"].get("annotations", {})


def plug(cluster, space, name, *entries):
    """What a hot-plug on the node would do: writes the status."""
    patch = {"metadata": {"annotations": {STATUS: json.dumps(list(entries))}}}
    cluster.request("PATCH", space.path("pods", name), patch, "application/merge-patch+json")


def test_attach_and_detach_edit_the_annotation_and_wait_for_the_status(ctl, cluster, space):
    space.add_network("blue", BRIDGE)
    add_running(cluster, space, "web", networks="red")
    entry = {"name": f"{space.namespace}/blue", "interface": "net2", "ips": ["10.1.0.5"], "mac": "0a:00:00:00:00:02"}
    plug(cluster, space, "web", entry)  # the node is quick

    attached = ctl("attach", "-n", space.namespace, "web", "blue", "--interface", "net2", "--yes", "--timeout", "5")

    assert attached.returncode == 0, attached.stderr
    assert "net2: attached, 10.1.0.5 0a:00:00:00:00:02" in attached.stdout
    assert annotations(cluster, space, "web")["k8s.v1.cni.cncf.io/networks"] == f"red,{space.namespace}/blue@net2"
    again = ctl("attach", "-n", space.namespace, "web", "blue", "--interface", "net2", "--yes")
    assert again.returncode == 1 and "already has interface net2" in again.stderr

    plug(cluster, space, "web")
    detached = ctl("detach", "-n", space.namespace, "web", "blue", "--yes", "--timeout", "5")

    assert detached.returncode == 0, detached.stderr
    assert annotations(cluster, space, "web")["k8s.v1.cni.cncf.io/networks"] == "red"


def test_what_nothing_attaches_is_taken_back(ctl, cluster, space):
    space.add_network("blue", BRIDGE)
    add_running(cluster, space, "web", networks="red")

    done = ctl("attach", "-n", space.namespace, "web", "blue", "--yes", "--timeout", "1")

    assert done.returncode == 1
    assert "the annotation was restored" in done.stderr
    assert annotations(cluster, space, "web")["k8s.v1.cni.cncf.io/networks"] == "red"
    asked = ctl("attach", "-n", space.namespace, "web", "blue")
    assert asked.returncode == 2 and "add --yes" in asked.stderr and f"{space.namespace}/blue@net" in asked.stdout


def test_ctrl_c_while_attach_waits_restores_the_annotation(cluster, space, program):
    space.add_network("blue", BRIDGE)
    add_running(cluster, space, "web", networks="red")
    waiting = subprocess.Popen([program("multusctl"), "attach", "-n", space.namespace, "web", "blue", "--yes", "--kubeconfig",
                                cluster.kubeconfig], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: "blue" in annotations(cluster, space, "web")["k8s.v1.cni.cncf.io/networks"], "the annotation")

    waiting.send_signal(signal.SIGINT)
    said = waiting.communicate(timeout=60)[1]

    assert waiting.returncode == 130 and "interrupted; the annotation was restored" in said
    assert annotations(cluster, space, "web")["k8s.v1.cni.cncf.io/networks"] == "red"


def test_what_another_client_wrote_meanwhile_is_left(cluster, space, program):
    space.add_network("blue", BRIDGE)
    add_running(cluster, space, "web", networks="red")
    waiting = subprocess.Popen([program("multusctl"), "attach", "-n", space.namespace, "web", "blue", "--yes", "--timeout", "3",
                                "--kubeconfig", cluster.kubeconfig], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until(lambda: "blue" in annotations(cluster, space, "web")["k8s.v1.cni.cncf.io/networks"], "the annotation")
    patch = {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "green"}}}
    cluster.request("PATCH", space.path("pods", "web"), patch, "application/merge-patch+json")

    said = waiting.communicate(timeout=60)[1]

    assert waiting.returncode == 1 and "another client has changed the annotation" in said
    assert annotations(cluster, space, "web")["k8s.v1.cni.cncf.io/networks"] == "green"


@pytest.mark.slow
def test_the_pods_of_a_node_that_is_away_are_removed_without_it(ctl, cluster, space):
    """No kubelet takes them down here."""
    space.add_network("blue", BRIDGE)
    cluster.request("POST", "/api/v1/nodes", {"metadata": {"name": space.node}})
    try:
        done = ctl("test", "--network", f"{space.namespace}/blue", space.node, "--image", "none", "--yes", "--timeout", "1")
    finally:
        cluster.request("DELETE", f"/api/v1/nodes/{space.node}")

    assert done.returncode == 1
    assert done.stderr.count(f"node {space.node}, pod multusctl-test-") == 2
    assert done.stderr.count("did not take part: daemon away: no pod labelled app=multus in namespace kube-system is on this node") == 2
    assert cluster.get(space.path("pods", "") + "?labelSelector=app%3Dmultusctl-test")["items"] == []


@pytest.fixture
def elsewhere(cluster, space):
    """The daemons are not in kube-system but in the namespace of the test: a pod that does not start, and its configuration."""
    cluster.request("POST", "/api/v1/nodes", {"metadata": {"name": space.node}})
    space.add_pod("daemon", labels={"app": "multus"})
    cluster.request("POST", f"/api/v1/namespaces/{space.namespace}/configmaps", {
        "metadata": {"name": "multus-daemon-config"}, "data": {"daemon-config.json": '{"namespaceIsolaton": true}'}})
    yield space
    cluster.request("DELETE", f"/api/v1/nodes/{space.node}")


PENDING = "the daemon's pod is Pending: `kubectl -n {} describe pod daemon`"


@pytest.mark.parametrize("command, told", [
    ("status {node} -n", PENDING), ("explain web -n {ns} --daemon-namespace", PENDING),
    ("lint --cluster -n {ns} --daemon-namespace", 'did you mean "namespaceIsolation"?'),
    ("test {node} --daemon-namespace", "(2 on each of 1 nodes) of none in namespace default")], ids=lambda text: text.split()[0])
def test_daemons_may_be_in_another_namespace(ctl, elsewhere, command, told):
    elsewhere.add_pod("web")
    words, told = command.format(ns=elsewhere.namespace, node=elsewhere.node).split(), told.format(elsewhere.namespace)

    there, usual = ctl(*words, elsewhere.namespace), ctl(*words, "kube-system")

    assert told in there.stdout + there.stderr
    assert told not in usual.stdout + usual.stderr


def test_daemons_of_another_namespace_are_found_with_the_command_that_status_names(ctl, cluster, elsewhere):
    told = "no pod labelled app=multus in namespace default"
    unknown = ctl("status", elsewhere.node, "-n", "default").stderr
    (hint,) = re.findall(r"`kubectl (get [^`]*)` daemons of other namespaces", unknown)
    assert told in unknown

    (found,) = [row for row in rows(cluster.kubectl(*hint.split())) if row[0] == elsewhere.namespace]

    assert found[1] == "daemon"
    assert told not in ctl("status", elsewhere.node, "-n", found[0]).stderr


def test_doctor_names_admission_that_is_in_the_way(ctl, cluster):
    label = "pod-security.kubernetes.io/enforce"
    cluster.request("PATCH", "/api/v1/namespaces/kube-system", {"metadata": {"labels": {label: "baseline"}}},
                    "application/merge-patch+json")
    try:
        done = ctl("doctor", "-n", "kube-system")
        (hint,) = re.findall(r"kubectl (label .*)", done.stdout)
        cluster.kubectl(*hint.split())
        mended = ctl("doctor", "-n", "kube-system")
    finally:
        cluster.request("PATCH", "/api/v1/namespaces/kube-system", {"metadata": {"labels": {label: None}}},
                        "application/merge-patch+json")

    assert done.returncode == 1
    assert hint == f"label --overwrite namespace kube-system {label}=privileged"
    assert "✓ the daemons' namespace admits privileged pods" in mended.stdout


def test_a_report_and_a_bundle_say_what_is_wrong_and_keep_secrets(ctl, cluster, space, tmp_path):
    space.add_network("bad", '{"cniVersion":"1.0.0","name":"n","type":"brigde","password":"hunter1","server":"https://me:hunter2@h/"}')
    add_running(cluster, space, "web", networks="bad,gone")
    report, bundle = tmp_path / "report.html", tmp_path / "x.tgz"

    assert ctl("report", "-o", str(report)).returncode == 0
    page = report.read_text()
    assert "Problems found" in page and f"{space.namespace}/gone" in page and "brigde" in page
    assert "hunter" not in page
    made = ctl("bundle", "-o", str(bundle), "--yes")
    assert made.returncode == 0, made.stderr
    with tarfile.open(bundle) as inside:
        assert {"CONTENTS", "report.html", "lint.json", "pods.json", "definitions.json"} <= set(inside.getnames())
        for name in inside.getnames():
            assert b"hunter" not in inside.extractfile(name).read(), name


ESCAPE = "\u001b]0;title\u0007\u001b[2J\u001b[31mAll is well\n"


@pytest.fixture
def forged(cluster, space):
    """A pod and a daemon's pod whose phases a compromised node has written; the API server takes any text."""
    daemon = "/api/v1/namespaces/kube-system/pods"
    cluster.request("POST", "/api/v1/nodes", {"metadata": {"name": space.node}})
    cluster.request("POST", daemon, {"metadata": {"name": space.node, "labels": {"app": "multus"}}, "spec": {
        "nodeName": space.node, "containers": [{"name": "kube-multus", "image": "none"}]}})
    space.add_network("blue", BRIDGE)
    space.add_pod("web", networks="blue")
    for path in (f"{daemon}/{space.node}", space.path("pods", "web")):
        cluster.request("PATCH", f"{path}/status", {"status": {"phase": ESCAPE}}, "application/merge-patch+json")
    yield space
    cluster.request("DELETE", f"{daemon}/{space.node}?gracePeriodSeconds=0")
    cluster.request("DELETE", f"/api/v1/nodes/{space.node}")


@pytest.mark.parametrize("words", [
    ["pods", "-A"], ["pods", "-A", "-o", "wide"], ["pods", "-A", "-o", "json"], ["pods", "-A", "-o", "yaml"], ["status"],
    ["status", "-o", "wide"], ["status", "-o", "yaml"], ["doctor"], ["doctor", "-o", "json"], ["pending", "list"], ["gc", "--dry-run"],
    ["lint", "--cluster"]], ids=" ".join)
def test_what_a_node_writes_is_no_command_for_a_terminal(forged, ctl, words):
    done = ctl(*words)

    for said in (done.stdout, done.stderr):
        assert not (set(said) - {"\n", "\t"}) & {chr(code) for code in range(32)}, said
    if words[0] != "lint":
        assert "]0;title" in done.stdout + done.stderr


def test_a_large_bundle_keeps_secrets_too(ctl, cluster, space, tmp_path):
    """More definitions than a file of the bundle holds: what is cut is searched first."""
    space.add_network("a", json.dumps({"name": "n", "type": "bridge", "password": "hunter two,three", "psk": "hunter}b;c&d"}))
    for i in range(9):
        space.add_network(f"ballast{i}", json.dumps({"name": "x", "type": "bridge", "note": "x" * 1_000_000}))

    made = ctl("bundle", "-o", str(tmp_path / "x.tgz"), "--yes")

    assert made.returncode == 0 and "definitions.json: cut at" in made.stderr, made.stderr[-1000:]
    with tarfile.open(tmp_path / "x.tgz") as inside:
        for name in inside.getnames():
            text = inside.extractfile(name).read()
            for part in (b"hunter", b"two,three", b"b;c"):
                assert part not in text, name
