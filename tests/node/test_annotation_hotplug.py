"""Hot-plug by annotation, inside the daemon (05, 3): manifests of a folder are edited, real links follow."""

import json
import random

import pytest
from harness.evidence import metrics
from harness.machine.wait import until
from harness.node import networks
from harness.node.daemon import default_config
from harness.node.objects import NETWORKS

LOCK = "/var/lib/cni/multus/_hotplug"
NAMES = {"red": "10.61.0.0/24", "blue": "10.62.0.0/24", "green": "10.63.0.0/24"}


@pytest.fixture
def plugging(node):
    """A node with hot-plug on and three networks."""
    for name, subnet in NAMES.items():
        node.network(name, networks.ptp(name, subnet))
    node.start(hotplug=True)
    return node


def edit(pod, wishes):
    annotations = {} if wishes is None else {NETWORKS: wishes if isinstance(wishes, str) else json.dumps(wishes)}
    pod.node.objects.pod(pod.pod_name, pod.namespace, pod.uid, annotations)


def entries(pod):
    return [(entry["name"], entry["interface"]) for entry in pod.status or []]


def has(pod, **links):
    """Links, record and status say the same: `net1="red"`."""
    wanted = {("cluster", "eth0")} | {(f"default/{name}", link) for link, name in links.items()}
    record = pod.record()
    return (pod.links() == {"eth0", *links} and set(entries(pod)) == wanted and record is not None
            and {one["ifName"] for one in record["attachments"]} == {"eth0", *links})


def wait_for(pod, **links):
    until(lambda: has(pod, **links), lambda: f"{links}; links {pod.links()}, status {entries(pod)}, record "
          f"{json.dumps(pod.record())}; the log:\n{pod.node.daemon.log[-6000:]}", timeout=30)


def reasons(pod):
    return [event["reason"] for event in pod.events()]


@pytest.mark.spec("05:17", "05:18", "05:19", "05:20", "05:22")
def test_an_edited_manifest_attaches_replaces_and_detaches(plugging):
    pod = plugging.pod()
    assert pod.add().ok

    edit(pod, "red@net1")
    wait_for(pod, net1="red")
    assert pod.addresses("net1") and entries(pod)[0] == ("cluster", "eth0")

    edit(pod, "blue@net1,green")
    wait_for(pod, net1="blue", net2="green")

    edit(pod, "green")
    wait_for(pod, net2="green")
    assert pod.check().ok

    edit(pod, None)
    wait_for(pod)
    until(lambda: reasons(pod).count("AddedInterface") == 4 and reasons(pod).count("RemovedInterface") == 3, lambda: reasons(pod))
    assert pod.delete().ok
    assert pod.remembered() == []


@pytest.mark.spec("05:14")
def test_without_the_key_edits_cause_nothing(node, fake):
    node.network("red", networks.ptp("red", NAMES["red"]))
    pod = node.pod()
    assert pod.add().ok
    other = node.pod("red@net1")
    edit(pod, "red@net1")

    assert other.add().ok  # the edit was read before it

    assert pod.links() == {"eth0"} and not node.host.path(LOCK).exists()


@pytest.mark.spec("05:16")
def test_without_a_node_name_the_daemon_refuses_to_start(daemons):
    daemon = daemons.launch(default_config(hotplug=True, objectsDir=None, kubeconfig="/srv/kubeconfig"))

    assert daemon.process.wait() != 0
    assert "hotplug: this node's name is unknown: set MULTUS_NODE_NAME" in daemon.log


@pytest.mark.spec("05:13", "05:67", "05:61")
def test_what_came_with_the_pod_is_unplugged_and_the_others_keep_their_names(plugging):
    pod = plugging.pod("red,blue,green")
    assert pod.add().ok

    edit(pod, "blue,green")
    wait_for(pod, net2="blue", net3="green")

    assert pod.check().ok
    assert [one.get("ifnameRequest") for one in pod.scratch()[1:]] == ["net2", "net3"]


@pytest.mark.spec("05:36")
def test_a_link_that_is_there_stays_untouched(plugging):
    pod = plugging.pod()
    assert pod.add().ok
    pod.run("ip", "link", "add", "net1", "type", "bridge")

    edit(pod, "red@net1")

    until(lambda: "FailedAddingInterface" in reasons(pod), lambda: reasons(pod))
    assert pod.links() == {"eth0", "net1"}
    pod.run("ip", "link", "delete", "net1")
    wait_for(pod, net1="red")


def test_a_link_that_another_program_has_renamed_goes_too(plugging):
    """kubevirt#14074."""
    pod = plugging.pod("red@net1")
    assert pod.add().ok
    until(lambda: pod.record()["attachments"][1].get("linkIndex"), "the index of the link")
    pod.run("ip", "link", "set", "net1", "down")
    pod.run("ip", "link", "set", "net1", "name", "virt")
    pod.run("ip", "link", "add", "net1", "type", "bridge")

    edit(pod, None)

    wait_for(pod)


@pytest.mark.spec("05:51", "05:52")
def test_a_restart_runs_and_writes_nothing(node, fake):
    node.configure(fake.conf("cluster"))
    node.network("red", fake.network("red", plugin_type=fake.install_linking()))
    node.start(hotplug=True)
    pods = [node.pod("red@net1") for _ in range(8)]
    for pod in pods:
        assert pod.add().ok
    until(lambda: all(pod.record()["attachments"][1].get("linkIndex") for pod in pods), "all were compared")
    statuses = [pod.node.host.path(f"/srv/objects/status/default/{pod.pod_name}.json").stat().st_mtime_ns for pod in pods]
    events = len(node.objects.events())
    calls = len(fake.calls())

    node.daemon.kill()
    node.start(hotplug=True, metricsPort=metrics.PORT)
    # Comparisons are spread over five seconds.
    until(lambda: metrics.page(node.host).value("multus_hotplug_attachments", state="wanted") == 8, "all were compared")

    assert len(fake.calls()) == calls
    assert [pod.node.host.path(f"/srv/objects/status/default/{pod.pod_name}.json").stat().st_mtime_ns
            for pod in pods] == statuses
    assert len(node.objects.events()) == events
    assert metrics.page(node.host).value("multus_hotplug_attachments", state="present") == 8


def wait_for_links(pod, links):
    until(lambda: {"eth0", *pod.links()} == links, lambda: f"{links}, not {pod.links()}:\n{pod.node.daemon.log[-3000:]}")


@pytest.mark.failpoints
@pytest.mark.spec("05:49", "05:50")
def test_a_daemon_that_was_killed_in_between_leaves_nothing_half_done(plugging, fake):
    gate = fake.gate()
    plugging.network("slow", fake.network("slow", plugin_type=fake.install_linking(), ADD={"gate": gate.path}))
    pod = plugging.pod("red@net1")
    assert pod.add().ok
    edit(pod, "slow@net2")
    gate.reached()

    plugging.daemon.kill()
    gate.open()
    edit(pod, "blue@net1,green@net2")
    plugging.start(hotplug=True)

    wait_for(pod, net1="blue", net2="green")


def test_two_daemons_never_both_act(plugging, host):
    pod = plugging.pod()
    assert pod.add().ok
    first = plugging.daemon
    until(lambda: host.path(LOCK).exists(), "the lock")

    second = plugging.start(hotplug=True)
    edit(pod, "red@net1")
    wait_for(pod, net1="red")

    first.stop()
    edit(pod, "blue@net1")
    wait_for(pod, net1="blue")
    second.wait_ready()  # the lock is its own now


@pytest.mark.spec("05:62", "05:63")
def test_the_external_controllers_calls_are_served_beside_it(plugging):
    pod = plugging.pod()
    assert pod.add().ok
    hot = networks.ptp("hot", "10.64.0.0/24")

    assert pod.delegate("ADD", hot, "hot0").status == 200
    edit(pod, "red@net1")
    until(lambda: {"hot0", "net1"} <= pod.links(), lambda: pod.links())

    assert plugging.daemon.log.count("a client uses /delegate while hot-plug is on") == 1
    assert pod.delegate("ADD", networks.ptp("red", NAMES["red"]), "net1").status == 200  # R3
    assert pod.delegate("DEL", hot, "hot0").status == 200
    assert pod.links() == {"eth0", "net1"}


@pytest.mark.spec("05:29")
def test_default_networks_are_nobodys_to_unplug(node):
    node.configure(networks.bridge(), networks.ptp("extra", "10.65.0.0/24"))
    node.network("red", networks.ptp("red", NAMES["red"]))
    node.start(hotplug=True)
    pod = node.pod()
    assert pod.add().ok

    refused = pod.delegate("DEL", networks.ptp("extra", "10.65.0.0/24"), "net1")
    edit(pod, "red")
    until(lambda: pod.links() == {"eth0", "net1", "net2"}, lambda: pod.links())

    assert refused.status == 400 and "cannot be removed" in refused.text


@pytest.mark.spec("05:62", "05:65")
def test_a_hundred_random_edits_end_with_what_the_last_ones_say(plugging):
    pods = [plugging.pod() for _ in range(5)]
    for pod in pods:
        assert pod.add().ok
    dice = random.Random(7)
    wishes = {}
    for turn in range(100):
        pod = dice.choice(pods)
        links = dice.sample(["net1", "net2", "net3"], dice.randint(0, 3))
        wishes[pod] = {link: dice.choice(list(NAMES)) for link in links}
        # Each network once: host-local gives an address to one interface of a container.
        wishes[pod] = {link: name for index, (link, name) in enumerate(wishes[pod].items())
                       if name not in list(wishes[pod].values())[:index]}
        edit(pod, ",".join(f"{name}@{link}" for link, name in wishes[pod].items()))
        if turn == 50:
            plugging.daemon.kill()
            plugging.start(hotplug={"resync": "1m"})

    for pod, links in wishes.items():
        wait_for(pod, **links)


@pytest.mark.spec("05:48")
def test_a_plugin_that_hangs_holds_up_no_other_pod(node, fake):
    gate = fake.gate()
    node.network("slow", fake.network("slow", plugin_type=fake.install_linking(), ADD={"gate": gate.path}))
    node.network("red", networks.ptp("red", NAMES["red"]))
    node.start(hotplug=True, delegateTimeout=3)
    hangs, other = node.pod(), node.pod()
    assert hangs.add().ok and other.add().ok

    edit(hangs, "slow@net1")
    gate.reached()
    edit(other, "red@net1")
    wait_for(other, net1="red")

    until(lambda: "FailedAddingInterface" in reasons(hangs), lambda: reasons(hangs))
    gate.open()
    wait_for_links(hangs, {"eth0", "net1"})
