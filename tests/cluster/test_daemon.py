"""The daemon with a real API server behind it: ADD, CHECK and DEL for pods and networks that were made with kubectl."""

import json
import threading
import time

import pytest

from harness.cluster.kube_node import KUBECONFIG
from harness.evidence import metrics
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.autoconf import OWN, PRIMARY, conflist, why_not_ready
from harness.node.cni import Runtime
from harness.node.daemon import default_config
from harness.node.netconf import netconf_from_files

ON_UPLINK = {"cniVersion": "1.0.0", "name": "extra", "type": "macvlan", "master": "uplink",
             "ipam": {"type": "host-local", "subnet": "10.77.0.0/24"}}


def stored(node, kind):
    """How many objects of a kind the daemon knows."""
    return metrics.page(node.host).value("multus_store_objects", kind=kind)


def test_a_pod_gets_its_networks_its_status_and_its_events(node, space, cluster):
    cluster.kubectl("-n", space.namespace, "apply", "-f", "-", stdin=json.dumps({
        "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "extra"},
        "spec": {"config": json.dumps(ON_UPLINK)}}))
    cluster.kubectl("-n", space.namespace, "apply", "--validate=false", "-f", "-", stdin=json.dumps({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "annotations": {"k8s.v1.cni.cncf.io/networks": "extra@net7"}},
        "spec": {"nodeName": space.node, "containers": [{"name": "c", "image": "none"}]}}))
    pod = node.sandbox("web", space.pod("web")["metadata"]["uid"])

    assert pod.add().ok
    assert pod.check().ok

    assert pod.links() == {"eth0", "net7"}
    shown = json.loads(cluster.kubectl("-n", space.namespace, "get", "pod", "web", "-o", "json"))
    status = json.loads(shown["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"])
    assert [(entry["name"], entry["interface"], bool(entry.get("default"))) for entry in status] == \
        [("cluster", "eth0", True), (f"{space.namespace}/extra", "net7", False)]
    (event,) = until(lambda: pod.events("AddedInterface"), "one event for both")
    assert "AddedInterface" in cluster.kubectl("-n", space.namespace, "describe", "pod", "web")
    assert event["message"].endswith(
        f"; Add net7 {json.dumps(pod.addresses('net7')).replace(chr(34), '')} from {space.namespace}/extra")
    assert pod.delete().ok
    assert pod.links() == set()


def test_in_the_steady_state_an_add_is_one_write_and_no_read(node, space):
    space.add_network("extra", config=json.dumps(ON_UPLINK))
    node.start(metricsPort=metrics.PORT)
    pods = [node.pod(f"web{number}", networks="extra") for number in range(5)]
    until(lambda: stored(node, "pod") == 5, "all pods in the store")
    assert pods[0].add().ok
    until(lambda: pods[0].events(), "its event")
    node.proxy.forget()

    for pod in pods[1:]:
        assert pod.add().ok

    assert node.proxy.count("GET") == 0, node.proxy.requests
    assert node.proxy.count("PATCH .*/pods/") == 4


@pytest.mark.spec("03:118")
def test_a_network_that_is_missing_fails_the_add_with_an_event(node):
    pod = node.pod("web", networks="nowhere")

    outcome = pod.add()

    assert not outcome.ok and "nowhere" in outcome.stdout
    until(lambda: pod.events("NoNetworkFound"), "the warning")
    assert pod.events("NoNetworkFound")[0]["type"] == "Warning"


@pytest.mark.spec("03:48")
def test_a_pod_that_no_longer_exists_gets_the_empty_result(node):
    pod = node.sandbox("gone", "00000000-0000-4000-8000-000000000001")
    node.start()

    outcome = pod.add()

    assert outcome.ok and "0.0.0.0/0" in outcome.stdout
    assert pod.links() == set()


@pytest.mark.spec("03:116")
def test_another_uid_fails_the_add_and_not_the_del(node):
    node.pod("web")
    other = node.sandbox("web", "00000000-0000-4000-8000-000000000001")

    outcome = other.add()

    assert not outcome.ok and "expected pod UID" in outcome.stdout and "from Kube API" in outcome.stdout
    assert other.delete().ok


def test_a_request_without_a_pod_is_refused(node):
    """00-index, `Requests of containers that are no pods`."""
    pod = node.pod("web")

    assert not pod.call("ADD", args="").ok


@pytest.mark.spec("03:107")
def test_del_needs_no_api_server(node, space):
    space.add_network("extra", config=json.dumps(ON_UPLINK))
    pod = node.pod("web", networks="extra")
    assert pod.add().ok

    node.proxy.refuse(".", 503)
    node.proxy.cut()

    began = time.monotonic()
    assert pod.delete().ok
    assert time.monotonic() - began < 30  # no request waits for it
    assert pod.links() == set()


@pytest.mark.slow
@pytest.mark.spec("03:19")
def test_a_daemon_whose_api_server_is_away_serves_all_the_same(node, host):
    host.write(PRIMARY, conflist())
    node.proxy.refuse(".", 503)
    daemon = node.launch(multusConfigFile="auto", cniVersion="1.0.0")

    until(lambda: daemon.answers("/healthz"), "an answer")
    assert not daemon.answers("/readyz")
    daemon.wait_ready()
    assert "the first reading of pods and networks" in daemon.log
    until(host.path(OWN).exists, "the configuration of the node")

    node.proxy.rules.clear()
    pod = node.pod("late")
    assert pod.add().ok


@pytest.mark.spec("03:15")
def test_without_any_source_it_does_not_start(daemons, host):
    daemon = daemons.launch(default_config(objectsDir=None))

    assert daemon.process.wait() == 3
    assert "no object source" in daemon.log
    daemon.ending = True


def test_a_kubeconfig_that_comes_late_is_waited_for(node, host):
    """A rest of another installation in daemon-config.json ended the daemon, which the original ignores."""
    access = host.path(KUBECONFIG).read_text()
    host.path(KUBECONFIG).unlink()
    daemon = node.launch().wait_alive()

    daemon.wait_log(f"waiting for the kubeconfig of the daemon's configuration: .*{KUBECONFIG}.*no such file")
    assert KUBECONFIG in why_not_ready(daemon)
    assert node.pod("unknown").delete().ok
    host.write(KUBECONFIG, access[:len(access) // 2])
    daemon.wait_log(r"(?s)waiting for .*waiting for the kubeconfig")
    host.write(KUBECONFIG, access)
    daemon.wait_ready()
    assert node.pod("late").add().ok


def test_adds_run_while_the_server_is_stopped_and_started(node, space, cluster):
    """Those under way wait for the server; none fails, none is lost, none is doubled."""
    space.add_network("extra", config=json.dumps(ON_UPLINK))
    node.start()
    pods = [node.pod(f"web{number}", networks="extra") for number in range(12)]
    outcomes = {}
    threads = [threading.Thread(target=lambda pod=pod: outcomes.__setitem__(pod.pod_name, pod.add())) for pod in pods]

    cluster.stop_apiserver()
    for thread in threads:
        thread.start()
    cluster.start_apiserver()
    for thread in threads:
        thread.join()

    assert all(outcome.ok for outcome in outcomes.values()), outcomes
    for pod in pods:
        assert [entry["interface"] for entry in pod.status] == ["eth0", "net1"]
    addresses = [address for pod in pods for address in pod.addresses("net1")]
    assert len(set(addresses)) == 12


def test_a_changed_network_is_seen_by_the_next_add(node, space):
    space.add_network("extra", config=json.dumps(ON_UPLINK))
    node.start(metricsPort=metrics.PORT)
    first, second = node.pod("first", networks="extra"), node.pod("second", networks="extra")
    assert first.add().ok
    known = stored(node, "network")
    changed = {**ON_UPLINK, "ipam": {"type": "host-local", "subnet": "10.78.0.0/24"}}

    space.change_network("extra", json.dumps(changed))
    space.add_network("sign")  # what the watch brings after the change
    until(lambda: stored(node, "network") == known + 1, "the sign in the store")
    assert second.add().ok

    assert first.addresses("net1")[0].startswith("10.77.") and second.addresses("net1")[0].startswith("10.78.")


def test_thin_multus_reads_the_pod_and_writes_its_status(node, host, program, space):
    """03, 9.1: no daemon, no store."""
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin = Runtime(host, "multus")
    conf = netconf_from_files(host, networks.bridge(), type="multus", kubeconfig=KUBECONFIG)
    space.add_network("extra", config=json.dumps(ON_UPLINK))
    pod = node.pod("web", networks="extra")
    node.daemon = object()  # none is started

    assert thin.call("ADD", conf, pod, args=pod.args).ok
    assert pod.links() == {"eth0", "net1"}
    assert [entry["interface"] for entry in pod.status] == ["eth0", "net1"]
    assert len(pod.events("AddedInterface")) == 1
    assert node.proxy.count("watch=true") == 0
    assert thin.call("DEL", conf, pod, args=pod.args).ok
    assert pod.links() == set()
