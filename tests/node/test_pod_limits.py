"""What a node lets pods select: `allowedPluginTypes` and `defaultNetworkNamespaces`, with the real programs, thin and thick."""

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.node.cni import KUBERNETES_ARGS, Runtime
from harness.node.daemon import default_config
from harness.node.netconf import netconf_from_files
from harness.node.objects import DEFAULT_NETWORK, FOLDER, NETWORKS

ALLOWED = ["fake", "static"]


@pytest.fixture
def evil(fake):
    """A plugin that is installed, and that pods may not select; yields the calls of it."""
    fake.install("evil")
    return lambda: [call.command for call in fake.calls() if call.conf["type"] == "evil"]


def conf(fake, plugin_type, **more):
    return fake.conf("bad", plugin_type=plugin_type, more=more)


def chain(*plugins):
    return {"cniVersion": "1.0.0", "name": "bad", "plugins": list(plugins)}


FORBIDDEN = [
    pytest.param(lambda fake: conf(fake, "evil"), "type", NETWORKS, id="plugin"),
    pytest.param(lambda fake: chain(conf(fake, "fake"), conf(fake, "evil")), "plugins[1].type", NETWORKS, id="chain"),
    pytest.param(lambda fake: conf(fake, "fake", ipam={"type": "evil"}), "ipam.type", NETWORKS, id="ipam"),
    pytest.param(lambda fake: chain(conf(fake, "fake", ipam={"TYPE": "evil"})), "plugins[0].ipam.TYPE", NETWORKS,
                 id="ipam of a chain"),
    pytest.param(lambda fake: conf(fake, "fake", delegate={"ipam": [{"type": "evil"}]}), "delegate.ipam[0].type", NETWORKS,
                 id="deep"),
    pytest.param(lambda fake: conf(fake, "evil"), "type", DEFAULT_NETWORK, id="default-network"),
]


def assert_told(outcome, where):
    text = f'network-attachment-definition (bad) in namespace (default): {where} "evil" is not among allowedPluginTypes (fake, static)'
    assert text in outcome.error["msg"], outcome


@pytest.mark.spec("02:60")
@pytest.mark.parametrize("make, where, annotation", FORBIDDEN)
def test_a_pod_selects_only_allowed_types(node, fake, evil, make, where, annotation):
    node.configure(fake.conf("cluster", plugin_type=fake.install("primary").name), multusNamespace="default")
    node.network("bad", make(fake))
    node.start(allowedPluginTypes=ALLOWED)
    pod = node.pod(annotations={annotation: "bad"})

    outcome = pod.add()
    assert pod.delete().ok

    assert_told(outcome, where)
    assert evil() == [] and fake.calls("ADD") == [] and pod.remembered() == []
    node.objects.wait_events(1, pod.pod_name, "InvalidNetwork")
    assert "is not among allowedPluginTypes" in node.objects.messages(pod.pod_name, "InvalidNetwork")[0]


@pytest.mark.spec("02:60")
def test_thin_reads_the_list_from_the_cni_configuration(host, program, objects, fake, evil):
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin = Runtime(host, "multus")
    config = netconf_from_files(host, fake.conf("cluster", plugin_type=fake.install("primary").name), type="multus",
                                objectsDir=FOLDER, allowedPluginTypes=ALLOWED)
    objects.network("bad", chain(conf(fake, "fake", ipam={"type": "evil"})))
    objects.network("good", conf(fake, "fake", ipam={"type": "static"}))
    for name in ("bad", "good"):
        objects.pod(name, annotations={NETWORKS: name})
    refused, taken = host.add_pod("bad"), host.add_pod("good")

    outcome = thin.add(config, refused, args=KUBERNETES_ARGS.format(name="bad", id="c-bad"))
    assert thin.delete(config, refused, args=KUBERNETES_ARGS.format(name="bad", id="c-bad")).ok
    args = KUBERNETES_ARGS.format(name="good", id="c-good")
    assert thin.add(config, taken, args=args).ok and thin.delete(config, taken, args=args).ok

    assert_told(outcome, "plugins[0].ipam.type")
    assert evil() == []


def test_hot_plug_takes_only_allowed_types(node, fake, evil):
    node.configure(fake.conf("cluster"))
    node.start(allowedPluginTypes=ALLOWED)
    pod = node.pod()
    assert pod.add().ok

    answer = pod.delegate("ADD", conf(fake, "evil"))
    assert pod.delegate("DEL", conf(fake, "evil")).status == 200

    assert answer.status == 400 and b"is not among allowedPluginTypes (fake, static)" in answer.body, answer
    assert evil() == []
    assert pod.delegate("ADD", conf(fake, "fake")).status == 200


def test_what_was_attached_before_the_list_is_checked_and_deleted(node, fake, evil):
    node.configure(fake.conf("cluster"))
    node.network("bad", conf(fake, "evil"))
    pod = node.pod("bad")
    assert pod.add().ok
    node.daemon.stop()
    node.start(allowedPluginTypes=ALLOWED)

    assert pod.check().ok
    assert pod.delete().ok

    assert evil() == ["ADD", "CHECK", "DEL"] and pod.remembered() == []


@pytest.mark.spec("02:45")
def test_the_default_network_comes_only_from_the_listed_namespaces(node, fake):
    node.configure(fake.conf("cluster"), namespaceIsolation=True)
    for namespace in ("kube-system", "public", "tenant"):
        node.network("mgmt", fake.conf(f"{namespace}-mgmt"), namespace)
    pods = {name: node.pod(namespace="tenant", annotations={DEFAULT_NETWORK: name})
            for name in ("mgmt", "tenant/mgmt", "public/mgmt")}

    # Without the list: multusNamespace is open to all, isolated or not (3.8).
    assert pods["mgmt"].add().ok and fake.calls("ADD")[-1].network == "kube-system-mgmt"
    assert pods["mgmt"].delete().ok
    node.daemon.stop()
    node.start(defaultNetworkNamespaces=["public"], globalNamespaces="public")

    for name in ("mgmt", "tenant/mgmt"):
        assert "which is not among defaultNetworkNamespaces" in pods[name].add().error["msg"]
        assert pods[name].delete().ok
    assert pods["public/mgmt"].add().ok and fake.calls("ADD")[-1].network == "public-mgmt"


@pytest.mark.parametrize("keys", [{"allowedPluginTypes": "bridge"}, {"defaultNetworkNamespaces": {"a": 1}}])
def test_a_list_that_is_none_keeps_the_daemon_from_starting(daemons, keys):
    daemon = daemons.launch(default_config(**keys))
    assert daemon.process.wait() != 0
    assert f"{next(iter(keys))}: expected a list of strings" in daemon.log
