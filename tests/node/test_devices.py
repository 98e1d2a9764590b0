"""Devices of pods with the real programs, thick and thin, and a real gRPC server (grpc-go) in the kubelet's place;
tests/node_e2e/test_devices.py has the kubelet itself."""

import concurrent.futures

import pytest

from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node.cni import KUBERNETES_ARGS, Runtime
from harness.node.daemon import CONFIG
from harness.node.kubelet import FOLDER as KUBELET
from harness.node.kubelet import FakeKubelet, listed, save_checkpoint
from harness.node.netconf import netconf_from_files
from harness.node.objects import FOLDER, NETWORKS

RESOURCE = "test.example.com/vf"
ANNOTATION = {"k8s.v1.cni.cncf.io/resourceName": RESOURCE}


@pytest.fixture
def kubelet(host):
    kubelet = FakeKubelet(host)
    yield kubelet
    kubelet.stop()


@pytest.fixture
def daemon(node, fake, kubelet):
    """A node whose daemon asks that kubelet, and three networks of one resource."""
    node.configure(fake.conf("cluster"))
    for name in ("a", "b", "c"):
        node.objects.network(name, fake.conf(name), annotations=ANNOTATION)
    node.start(kubeletDir=KUBELET)
    return node


def given(fake, command="ADD"):
    return [call.conf.get("deviceID") for call in fake.calls(command) if call.network != "cluster"]


@pytest.mark.spec("02:78")
def test_networks_get_the_devices_in_the_order_of_the_containers(daemon, fake, kubelet):
    pod = daemon.pod("a,b,c")
    kubelet.answer(listed("other", {RESOURCE: ["0"]}), listed(pod.pod_name, {RESOURCE: ["9"]}, {RESOURCE: ["7", "3"]}))

    assert pod.add().ok
    kubelet.answer()  # DEL and CHECK do not ask
    assert pod.check().ok and pod.delete().ok

    assert sorted(given(fake)) == ["3", "7", "9"]
    by_network = {call.network: call.conf["deviceID"] for call in fake.calls("ADD") if call.network != "cluster"}
    assert by_network == {"a": "9", "b": "3", "c": "7"}
    assert {call.network: call.conf["deviceID"] for call in fake.calls("DEL") if call.network != "cluster"} == by_network
    assert kubelet.calls() == ["List"]


def test_thin_asks_the_same_kubelet(host, program, objects, fake, kubelet):
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin = Runtime(host, "multus")
    config = netconf_from_files(host, fake.conf("cluster", plugin_type=fake.install("primary").name), type="multus",
                                objectsDir=FOLDER, kubeletDir=KUBELET)
    objects.network("a", fake.conf("a"), annotations=ANNOTATION)
    objects.pod("p", annotations={NETWORKS: "a"})
    kubelet.answer(listed("p", {RESOURCE: ["5"]}))
    pod, args = host.add_pod("p"), KUBERNETES_ARGS.format(name="p", id="c-p")

    assert thin.add(config, pod, args=args).ok
    assert thin.delete(config, pod, args=args).ok

    assert given(fake) == given(fake, "DEL") == ["5"]


@pytest.mark.spec("02:80")
def test_a_device_that_is_missing_fails_the_pod_with_code_11(daemon, fake, kubelet):
    """pain 25"""
    pod = daemon.pod("a,b")
    kubelet.answer(listed(pod.pod_name, {RESOURCE: ["1"]}))
    short = pod.add()
    kubelet.answer(listed(pod.pod_name, {"other.example.com/vf": ["1"]}), allocatable={RESOURCE: ["1"]})
    none = pod.add()
    assert pod.delete().ok

    assert short.error["code"] == none.error["code"] == 11
    assert "all 1 devices" in short.error["msg"] and "are used by its other networks" in short.error["msg"]
    assert f"no device of resource {RESOURCE} for network default/a of pod default/{pod.pod_name}" in none.error["msg"]
    assert f"{KUBELET}/pod-resources/kubelet.sock) allocated none to the pod" in none.error["msg"]
    assert "the pod has devices of other.example.com/vf (1)" in none.error["msg"]
    assert given(fake) == []


@pytest.mark.spec("02:80")
def test_a_resource_that_no_device_plugin_knows_needs_no_device(daemon, fake, kubelet):
    pod = daemon.pod("a")
    kubelet.answer(listed(pod.pod_name), allocatable={"other.example.com/vf": ["1"]})
    assert pod.add().ok and pod.delete().ok
    assert given(fake) == [None]


def test_a_kubelet_that_refuses_is_asked_again(daemon, fake, kubelet):
    pod = daemon.pod("a")
    kubelet.answer(listed(pod.pod_name, {RESOURCE: ["1"]}), fail=[8, 14, 8])
    assert pod.add().ok and pod.delete().ok
    assert given(fake) == ["1"] and kubelet.calls() == ["List"] * 4


def test_a_kubelet_that_restarts_meanwhile(daemon, fake, kubelet):
    pod = daemon.pod("a")
    kubelet.answer(listed(pod.pod_name, {RESOURCE: ["1"]}))
    kubelet.stop()
    with concurrent.futures.ThreadPoolExecutor() as threads:
        adding = threads.submit(pod.add)
        kubelet.start()
        assert adding.result().ok
    assert pod.delete().ok


@pytest.mark.without_sanitizers
@pytest.mark.spec("02:87")
def test_an_answer_of_a_full_node(daemon, fake, kubelet):
    """More than 16 MiB: one author's pods with thousands of containers. The server needs seconds for such an answer, more on a busy
    machine: the runtime tries again."""
    pod = daemon.pod("a")
    kubelet.answer(listed(pod.pod_name, {RESOURCE: ["1"]}), fill=17000)
    until(lambda: pod.add().ok, "an ADD")
    assert pod.delete().ok


def test_networks_without_devices_ask_the_kubelet_once(daemon, fake, kubelet):
    """A pod may have hundreds of networks of a resource that is none of devices; the kubelet serves 100 calls a second, to all."""
    pod = daemon.pod(",".join(["a"] * 50))
    kubelet.answer(listed(pod.pod_name))
    assert pod.add().ok and pod.delete().ok
    assert kubelet.calls() == ["List", "GetAllocatableResources"]


def test_many_pods_at_once_cost_few_calls(daemon, fake, kubelet):
    pods = [daemon.pod("a") for _ in range(12)]
    kubelet.answer(*(listed(pod.pod_name, {RESOURCE: [f"dev-{pod.pod_name}"]}) for pod in pods), delay=300)
    daemon.settle()
    with concurrent.futures.ThreadPoolExecutor(12) as threads:
        assert all(outcome.ok for outcome in threads.map(lambda pod: pod.add(), pods))
    assert sorted(given(fake)) == sorted(f"dev-{pod.pod_name}" for pod in pods)
    assert len(kubelet.calls()) < 6
    assert all(pod.delete().ok for pod in pods)


@pytest.mark.spec("02:85", "02:86")
def test_without_a_socket_the_checkpoint_counts(node, fake, host):
    node.configure(fake.conf("cluster"))
    node.objects.network("a", fake.conf("a"), annotations=ANNOTATION)
    node.start(kubeletDir=KUBELET)
    pod = node.pod("a", uid="00000000-0000-4000-8000-000000000001")
    lost = pod.add()
    save_checkpoint(host, (pod.uid, "c", RESOURCE, ["8"]))
    assert pod.add().ok and pod.delete().ok

    assert lost.error["code"] == 11 and "is kubeletDir the kubelet's directory?" in lost.error["msg"]
    assert given(fake) == ["8"]


def test_the_self_check_tells_what_the_node_offers_and_lacks(daemon, host, kubelet):
    daemon.pod("a")
    kubelet.answer(allocatable={"other.example.com/vf": ["1", "2"]})

    checked = host.run(f"{PROGRAMS}/multus-daemon", "-check", "-config", CONFIG, check=False)

    assert "note: devices: the kubelet offers other.example.com/vf (2).\n" in checked.stdout
    assert f"network definition default/a needs a device of resource {RESOURCE}, and the kubelet offers none." in checked.stdout
    assert kubelet.calls() == ["GetAllocatableResources"]
