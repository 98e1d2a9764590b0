"""A definition must not start Multus itself: it would read paths of the node (binDir, cniDir, logFile) from a tenant's text
and run the tenant's programs as root (02, 3.3). With the real programs, thin and thick."""

import base64
import json

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import KUBERNETES_ARGS, Runtime
from harness.node.netconf import netconf, netconf_from_files
from harness.node.objects import DEFAULT_NETWORK, FOLDER, NETWORKS
from harness.node.pending import FOLDER as PENDING
from harness.node.pending import leave_pending_del

TENANT = "/srv/tenant"
MARK = "/srv/mark"
# What the tenant's program gets to run: whatever the verb, it leaves its mark.
EVIL = f"""#!/bin/sh
echo "$CNI_COMMAND" >> {MARK}
echo '{{"cniVersion":"1.0.0"}}'
"""
INNER = {"cniVersion": "1.0.0", "name": "inner", "type": "evil"}


@pytest.fixture
def evil(host):
    """The tenant's program; asks whether it ever ran."""
    host.write(f"{TENANT}/evil", EVIL, mode=0o755)
    return lambda: host.path(MARK).read_text().split() if host.path(MARK).exists() else []


@pytest.fixture
def thin(host, program):
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    return Runtime(host, "multus")


def attack(plugin_type, **keys):
    """A configuration that has Multus run the tenant's program."""
    return {"cniVersion": "1.0.0", "name": "bad", "type": plugin_type, "binDir": TENANT, "cniDir": f"{TENANT}/cni",
            "logFile": f"{TENANT}/log", "delegates": [INNER], **keys}


def hidden(plugin_type, **keys):
    """The same where a plugin that runs other plugins would find it."""
    return {"cniVersion": "1.0.0", "name": "bad", "plugins": [
        networks.bridge(), {"type": "flannel", "delegate": attack(plugin_type, **keys)}]}


def assert_told(objects, pod, error, where):
    """The runtime and the pod learn which definition it is, which member, and what to do."""
    for text in (error["msg"], *objects.messages(pod, "InvalidNetwork")):
        assert "network-attachment-definition (bad) in namespace (default)" in text, text
        assert f"{where} is multus itself" in text and "correct the types in its configuration" in text, text
    assert objects.messages(pod, "InvalidNetwork")


@pytest.mark.spec("02:60")
@pytest.mark.parametrize("config, where", [
    (attack("multus"), 'type "multus"'),
    # Word for word what a tenant wrote: with the node's own cniDir.
    ({"type": "multus", "binDir": TENANT, "delegates": [{"type": "evil"}]}, 'type "multus"'),
    (attack("multus-cni"), 'type "multus-cni"'),
    (hidden("multus"), 'plugins[1].delegate.type "multus"'),
    ({**networks.bridge(), "ipam": {"TYPE": "multus"}}, 'ipam.TYPE "multus"'),
])
def test_thin_runs_no_program_of_a_definition(host, thin, objects, evil, config, where):
    host.path(f"{PLUGIN_DIR}/multus-cni").symlink_to(f"{PROGRAMS}/multus")
    conf = netconf_from_files(host, networks.bridge(), type="multus", objectsDir=FOLDER, delegateTimeout=5)
    objects.network("bad", config)
    objects.pod("web", annotations={NETWORKS: "bad"})
    pod = host.add_pod("web")
    args = KUBERNETES_ARGS.format(name="web", id="c-web")

    outcome = thin.add(conf, pod, args=args)

    assert evil() == []
    assert_told(objects, "web", outcome.error, where)
    assert thin.delete(conf, pod, args=args).ok
    assert thin.gc({**conf, "cniVersion": "1.1.0", "cni.dev/valid-attachments": []}).ok
    assert evil() == [] and pod.links() == set()
    assert not host.path(f"{TENANT}/cni").exists() and not host.path(f"{TENANT}/log").exists()


def thick_attack(make=attack, plugin_type="multus-shim"):
    """The shim gives up at once and leaves a DEL behind, which the daemon would make up for later."""
    return make(plugin_type, cniDir=None, shimTimeout=0.2)


@pytest.mark.spec("02:60")
@pytest.mark.parametrize("config, where, annotation", [
    (thick_attack(), 'type "multus-shim"', NETWORKS),
    (thick_attack(), 'type "multus-shim"', DEFAULT_NETWORK),
    (thick_attack(hidden), 'plugins[1].delegate.type "multus-shim"', NETWORKS),
    (thick_attack(plugin_type="our-shim"), 'type "our-shim"', NETWORKS),  # as the node's own configuration has it
])
def test_thick_runs_no_program_of_a_definition(host, node, objects, evil, config, where, annotation):
    host.path(f"{PLUGIN_DIR}/our-shim").symlink_to(f"{PROGRAMS}/multus-shim")
    node.configure(networks.bridge(), type="our-shim", multusNamespace="default")
    node.network("bad", config)
    pod = node.pod(annotations={annotation: "bad"})

    outcome = pod.add()
    assert pod.delete().ok
    left = host.files_below(PENDING)
    node.daemon.stop()
    node.start()
    until(lambda: host.files_below(PENDING) == [], "pending DELs made up for")
    assert node.daemon.cni("GC", {**node.conf, "cniVersion": "1.1.0", "cni.dev/valid-attachments": []}).status == 200

    assert evil() == [] and left == [] and pod.links() == set()
    objects.wait_events(1, pod.pod_name, "InvalidNetwork")
    assert_told(objects, pod.pod_name, outcome.error, where)
    assert not host.path(f"{TENANT}/log").exists()


@pytest.mark.parametrize("plugin_type", ["multus", "multus-shim"])
def test_a_copy_under_another_name_does_nothing(host, node, evil, program, plugin_type):
    """No check can know the name: the program itself sees that a delegate of Multus started it."""
    program(plugin_type)
    host.path(f"{PLUGIN_DIR}/copied").symlink_to(f"{PROGRAMS}/{plugin_type}")
    node.network("bad", attack("copied", shimTimeout=0.2, cniDir=None if plugin_type == "multus-shim" else f"{TENANT}/cni"))
    pod = node.pod("bad")

    outcome = pod.add()
    assert pod.delete().ok
    node.daemon.stop()
    node.start()
    until(lambda: host.files_below(PENDING) == [], "pending DELs made up for")

    assert evil() == [] and pod.links() == set()
    assert "was started by a delegate of Multus" in outcome.error["msg"], outcome
    assert not host.path(f"{TENANT}/cni").exists() and not host.path(f"{TENANT}/log").exists()


def test_hot_plug_runs_no_program_of_a_definition(host, node, evil):
    pod = node.pod()
    assert pod.add().ok

    answer = pod.delegate("ADD", thick_attack())

    assert answer.status == 400 and b'is multus itself' in answer.body, answer
    assert pod.delegate("DEL", thick_attack()).status == 200
    assert evil() == [] and pod.links() == {"eth0"}


def record_of(host, pod, *configs):
    """The scratch file of a container that an earlier version, or the original, attached."""
    elements = [{"Bytes": base64.b64encode(json.dumps(config).encode()).decode(), "Name": config["name"]}
                for config in configs]
    host.path("/var/lib/cni/multus").mkdir(parents=True, exist_ok=True, mode=0o700)
    host.write(f"/var/lib/cni/multus/{pod.container_id}", elements, mode=0o600)


@pytest.mark.parametrize("retry", [False, True])
@pytest.mark.parametrize("verb", ["DEL", "GC"])
def test_a_record_of_an_earlier_version_is_deleted_without_it(host, node, fake, evil, verb, retry):
    node.configure(fake.conf("cluster"), retryDeleteOnError=retry)
    pod = node.pod()
    chain = {"cniVersion": "1.0.0", "name": "chain", "plugins": [fake.conf("first"), thick_attack(), fake.conf("last")]}
    record_of(host, pod, fake.conf("cluster"), thick_attack(), chain)
    node.settle()

    if verb == "DEL":
        assert pod.delete().ok
    else:
        valid = {**node.conf, "cniVersion": "1.1.0", "cni.dev/valid-attachments": []}
        assert node.daemon.cni("GC", valid).status == 200

    assert [call.env["CNI_IFNAME"] for call in fake.calls("DEL")] == ["net2", "net2", "eth0"]
    assert pod.remembered() == [] and evil() == []
    assert 'type "multus-shim" is multus itself' in node.daemon.log


def test_a_pending_del_of_an_earlier_version_starts_nothing_of_ours(host, daemons, pod, evil):
    args = KUBERNETES_ARGS.format(name=pod.name, id=f"c-{pod.name}")
    leave_pending_del(host, pod, netconf(thick_attack(), hidden("multus")), args)

    daemon = daemons()

    daemon.wait_log('is multus itself', count=2)
    assert host.files_below("/var/lib/cni/multus") == [] and evil() == []
