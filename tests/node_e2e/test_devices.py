"""Devices on a whole node: what a real device plugin and a real DRA driver gave to a pod reaches the plugins of its networks.
The devices are names only, since the machine has none to move; a plugin that records its calls shows what it was given."""

import json

import pytest

from harness.machine.wait import until
from harness.whole_node.devices import (CLAIMED, RESOURCE, Devices, claim, claiming_pod, container, device_ids, device_pod, ids,
                                        network, printed, template)

pytestmark = [pytest.mark.ours, pytest.mark.kubernetes("1.34")]


@pytest.fixture(scope="module")
def given(node, multus):
    devices = Devices(node)
    devices.start_plugin()
    devices.start_driver()
    yield devices
    devices.close()


@pytest.fixture
def devices(given):
    given.forget()
    return given


@pytest.mark.short
@pytest.mark.spec("02:78", "02:83")
def test_a_network_gets_the_device_of_its_pod_and_tells_of_it(space, devices):
    space.apply(network("n", RESOURCE), device_pod("p", "n", containers=[container("main")]))
    space.wait_ready("pod/p")

    device = printed(space, "p", "main")[0]
    status = space.status("p")[1]
    record = json.loads(next(iter(devices.node.host.path("/var/lib/cni/multus/_attachments").glob("*.json"))).read_text())
    space.delete_pods()

    (_, added), = devices.calls("ADD")
    (_, deleted), = devices.calls("DEL")
    assert added["deviceID"] == added["pciBusID"] == added["runtimeConfig"]["deviceID"] == device == deleted["deviceID"]
    assert status["device-info"] == {"type": "pci", "version": "1.1.0", "pci": {"pci-address": device}}
    assert device in json.dumps(record)
    info = added["runtimeConfig"]["CNIDeviceInfoFile"]
    assert not devices.node.host.path(info).exists()


@pytest.mark.spec("02:78")
def test_network_n_gets_the_device_of_container_n_in_every_incarnation(space, devices):
    """pain 24: the kubelet lists devices in random order, and the sidecar before the containers."""
    names = ["sidecar", "one", "two"]
    sidecar, *rest = (container(name) for name in names)
    space.apply(*(network(f"n{i}", RESOURCE) for i in range(3)))
    for _ in range(20):
        devices.forget()
        space.apply(device_pod("p", "n0,n1,n2", initContainers=[{**sidecar, "restartPolicy": "Always"}], containers=rest))
        space.wait_ready("pod/p")

        allocated = [printed(space, "p", name)[0] for name in names]
        space.delete_pods()

        assert len(set(allocated)) == 3
        assert sorted(ids(devices.calls("ADD"))) == [(f"net{i + 1}", device) for i, device in enumerate(allocated)]
        assert sorted(ids(devices.calls("DEL"))) == sorted(ids(devices.calls("ADD")))


def test_sixty_device_pods_at_once(space, devices, multus):
    names = [f"p{i}" for i in range(60)]
    space.apply(network("n", RESOURCE))
    since = len(multus.log())

    space.apply(*(device_pod(name, "n", containers=[container("main")]) for name in names))
    space.wait_ready("pod", "--all", timeout=420)

    given = {name: printed(space, name, "main")[0] for name in names}
    assert len(set(given.values())) == 60
    assert {name: devices.calls("ADD", name)[-1][1]["deviceID"] for name in names} == given
    said = multus.log()[since:]
    assert "ResourceExhausted" not in said and "no device of resource" not in said
    assert "ResourceExhausted" not in space.kubectl("get", "events")


def test_a_device_plugin_that_is_gone_before_del(space, devices):
    space.apply(network("n", RESOURCE), device_pod("p", "n", containers=[container("main")]))
    space.wait_ready("pod/p")
    devices.stop("device-plugin")

    space.delete_pods()
    devices.start_plugin()

    assert ids(devices.calls("DEL")) == ids(devices.calls("ADD"))


@pytest.mark.spec("02:80")
def test_a_pod_that_asked_for_no_device_says_what_is_missing(space, devices):
    """pain 25"""
    space.apply(network("n", RESOURCE), device_pod("p", "n"))

    text = until(lambda: (shown := space.kubectl("get", "events", "-o", "json")) and RESOURCE in shown and shown,
                 "the event", 120)

    assert f"no device of resource {RESOURCE} for network {space.name}/n of pod {space.name}/p" in text
    assert "/var/lib/kubelet/pod-resources/kubelet.sock) allocated none to the pod" in text
    assert devices.calls("ADD") == []


@pytest.mark.spec("02:82")
def test_an_annotation_does_not_get_the_device_of_another_pod(space, devices):
    space.apply(network("n", RESOURCE), network("plain"), device_pod("owner", "n", containers=[container("main")]))
    space.wait_ready("pod/owner")
    device = printed(space, "owner", "main")[0]

    space.apply(device_pod("thief", [{"name": "plain", "deviceID": device}]))

    text = until(lambda: (shown := space.kubectl("get", "events")) and "did not allocate it" in shown and shown, "the event", 120)
    assert f"of network {space.name}/plain in the annotation of pod {space.name}/thief" in text
    assert devices.calls("ADD", "thief") == []


def test_a_resource_that_is_only_counted_needs_no_device(space, devices):
    """bridge-marker and ovs-cni"""
    space.apply(network("n", "bridge.network.kubevirt.io/br0"), device_pod("p", "n"))
    space.wait_ready("pod/p")
    (_, conf), = devices.calls("ADD")
    assert "deviceID" not in conf


@pytest.mark.short
@pytest.mark.spec("02:88", "02:89")
@pytest.mark.parametrize("kind", ["template", "direct"])
def test_a_network_gets_the_device_of_a_claim(space, devices, kind):
    """pain 26; beside a device that is not for networks."""
    space.apply(network("n", CLAIMED), network("m", CLAIMED))
    if kind == "template":
        space.apply(template("t", "vf", "gpu", "vf"), claiming_pod("p", "n,m", resourceClaimTemplateName="t"))
    else:
        space.apply(claim("c", "vf", "gpu", "vf"), claiming_pod("p", "n,m", resourceClaimName="c"))
    space.wait_ready("pod/p")

    name, = (one["metadata"]["name"] for one in space.items("resourceclaims"))
    expected = device_ids(space, name)
    space.delete_pods()

    assert len(expected) == 2
    assert sorted(ids(devices.calls("ADD"))) == [("net1", expected[0]), ("net2", expected[1])]
    assert sorted(ids(devices.calls("DEL"))) == sorted(ids(devices.calls("ADD")))


def test_pods_that_share_a_claim_get_the_same_device(space, devices):
    space.apply(network("n", CLAIMED), claim("c", "vf"))
    for name in ("a", "b"):
        space.apply(claiming_pod(name, "n", resourceClaimName="c"))
        space.wait_ready(f"pod/{name}")
    assert ids(devices.calls("ADD", "a")) == ids(devices.calls("ADD", "b")) == [("net1", device_ids(space, "c")[0])]


def test_a_plugin_that_has_moved_the_device_of_a_shared_claim(space, devices):
    space.apply(network("n", CLAIMED, exclusive=True), claim("c", "vf"))
    space.apply(claiming_pod("a", "n", resourceClaimName="c"))
    space.wait_ready("pod/a")

    space.apply(claiming_pod("b", "n", resourceClaimName="c"))

    said = until(lambda: (shown := space.kubectl("get", "events", "-o", "json")) and "holds (container" in shown and shown,
                 "the event of pod b", 120)
    device = device_ids(space, "c")[0]
    assert f"device {device}, which pod {space.name}/a holds (container " in said
    assert "the device is not on this host" in said


@pytest.fixture
def crowd(space):
    """Four device pods of a Deployment: a kubelet that starts fails pods whose containers do not run yet, as long as their
    device plugin has not registered again (UnexpectedAdmissionError), and others must take their place."""
    made = device_pod("x", "n", containers=[container("main")])
    yield {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "crowd"}, "spec": {
        "replicas": 4, "selector": {"matchLabels": made["metadata"]["labels"]},
        "template": {"metadata": {key: made["metadata"][key] for key in ("labels", "annotations")},
                     "spec": made["spec"]}}}
    space.kubectl("delete", "deployment", "crowd", "--wait", check=False)


def test_a_kubelet_that_restarts_while_plugins_run(space, devices, crowd):
    space.apply(network("n", RESOURCE))
    with devices.held() as held:
        space.apply(crowd)
        until(held, "an ADD under way", 120)
        devices.kill_kubelet()
    devices.start_kubelet()
    devices.wait_offered(80)
    space.kubectl("rollout", "status", "deployment/crowd", "--timeout=300s", timeout=330)

    ready = [pod["metadata"]["name"] for pod in space.items("pods", "--field-selector=status.phase=Running")]
    given = {name: printed(space, name, "main")[0] for name in ready}
    assert len(given) == len(set(given.values())) == 4
    assert {name: devices.calls("ADD", name)[-1][1]["deviceID"] for name in ready} == given


def test_a_kubelet_that_restarts_while_it_is_asked_for_devices(space, devices):
    """It deletes the slices of its node when it starts, and until the driver has published them again it is not known which
    device the pod has: its ADDs fail meanwhile."""
    space.apply(network("n", CLAIMED), claim("c", "vf"))
    with devices.silent_kubelet() as asking:
        space.apply(claiming_pod("p", "n", resourceClaimName="c"))
        until(asking, "a question", 120)
        devices.kill_kubelet()
    devices.start_kubelet()
    space.wait_ready("pod/p")
    expected = [("net1", device_ids(space, "c")[0])]
    space.delete_pods()

    assert all("deviceID" in conf for _, conf in devices.calls("ADD"))
    assert ids(devices.calls("ADD")[-1:]) == ids(devices.calls("DEL")[-1:]) == expected
