"""Hot-plug by annotation, inside the daemon (05, 3): manifests of a folder are edited, real links follow."""

import contextlib
import json
import queue
import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from harness.evidence import metrics
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import environment
from harness.node.daemon import body, default_config
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


@pytest.mark.spec("05:13", "05:61")
def test_what_came_with_the_pod_is_unplugged_and_the_others_keep_their_names(plugging):
    pod = plugging.pod("red,blue,green")
    assert pod.add().ok

    edit(pod, "blue,green")
    wait_for(pod, net2="blue", net3="green")

    assert pod.check().ok


def named_by_the_original(scratch):
    """Network and interface of each delegate in the order of multus-cni 4.3.0's DEL, by its rule (02, 4.1)."""
    names = [one.get("ifnameRequest") or ("eth0" if index == 0 else f"net{index}") for index, one in enumerate(scratch)]
    return [(one["Conf"]["name"], name) for one, name in reversed(list(zip(scratch, names)))]


@pytest.mark.spec("05:67")
def test_the_scratch_file_alone_says_what_is_left_and_how_it_is_called(node, fake):
    node.configure(fake.network("cluster"))
    for name in NAMES:
        node.network(name, fake.network(name, plugin_type=fake.install_linking()))
    node.start(hotplug=True)
    pod = node.pod("red,blue,green")
    assert pod.add().ok
    edit(pod, "blue,green")
    until(lambda: [name for name, _ in entries(pod)] == ["cluster", "default/blue", "default/green"], lambda: entries(pod))

    assert named_by_the_original(pod.scratch()) == [("green", "net3"), ("blue", "net2"), ("cluster", "eth0")]
    pod.host.path(f"/var/lib/cni/multus/_attachments/{pod.container_id}.json").unlink()  # multus-cni has no such thing
    before = len(fake.calls())
    assert pod.delete().ok
    assert [(call.network, call.env["CNI_IFNAME"]) for call in fake.calls()[before:]] == \
        [("green", "net3"), ("blue", "net2"), ("cluster", "eth0")]


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


def compared(node, state="wanted"):
    return metrics.page(node.host).value("multus_hotplug_attachments", state=state)


def written(node):
    """What hot-plug may have written: statuses, and how many events."""
    folder = node.host.path("/srv/objects/status/default")
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}, len(node.objects.events())


@pytest.mark.spec("05:51", "05:52")
def test_a_restart_with_a_hundred_pods_runs_and_writes_nothing(node, fake):
    node.configure(fake.network("cluster"))
    node.network("red", fake.network("red"))
    node.start(hotplug=True, metricsPort=metrics.PORT)
    pods = [node.pod("red@net1") for _ in range(100)]
    node.settle()
    with ThreadPoolExecutor(4) as workers:
        assert all(outcome.ok for outcome in workers.map(lambda pod: pod.add(), pods))
        until(lambda: compared(node) == 100, lambda: f"{compared(node)} were compared")
        before, calls = written(node), len(fake.calls())

        node.daemon.kill()
        edit(pods[0], "red@net1,red@net2")
        node.start(hotplug=True, metricsPort=metrics.PORT)
        # Comparisons are spread over five seconds.
        until(lambda: compared(node, "present") == 101, lambda: f"{compared(node, 'present')} were compared")
        until(lambda: len(written(node)[0]) == 100 and entries(pods[0])[-1][1:] == ("net2",), lambda: entries(pods[0]))

        # Nothing but what was edited meanwhile.
        changed = {name for name, time in written(node)[0].items() if before[0][name] != time}
        assert changed == {f"{pods[0].pod_name}.json"}
        assert [(call.command, call.env["CNI_IFNAME"]) for call in fake.calls()[calls:]] == [("ADD", "net2")]
        assert written(node)[1] <= before[1] + 1  # AddedInterface
        assert metrics.page(node.host).value("multus_hotplug_duration_seconds_count", op="add") == 1
        assert all(outcome.ok for outcome in workers.map(lambda pod: pod.delete(), pods))


@pytest.mark.spec("05:58")
@pytest.mark.parametrize("damage", [lambda text: text[:len(text) // 2], lambda text: "", lambda text: "[]",
                                    lambda text: text.replace('"version":1', '"version":9')],
                         ids=["cut", "empty", "another-kind", "another-version"])
def test_a_damaged_record_is_made_up_and_kept(node, fake, damage):
    node.configure(fake.network("cluster"), fake.network("extra"))
    for name in NAMES:
        node.network(name, fake.network(name))
    node.start(hotplug=True)
    pod = node.pod("red@net8,green@net9")
    assert pod.add().ok
    record = pod.host.path(f"/var/lib/cni/multus/_attachments/{pod.container_id}.json")
    node.daemon.kill()
    damaged = damage(record.read_text())
    record.write_text(damaged)
    calls = len(fake.calls())

    node.start(hotplug=True)
    until(lambda: record.exists() and record.read_text() != damaged, "the record is written anew")
    edit(pod, "green@net9,blue@net8")

    until(lambda: fake.order()[calls:] == ["DEL red", "ADD blue"], fake.order)
    until(lambda: [name for _, name in entries(pod)] == ["eth0", "net1", "net9", "net8"], lambda: entries(pod))
    assert [one["ifName"] for one in pod.record()["attachments"]] == ["eth0", "net1", "net9", "net8"]
    assert pod.delete().ok and pod.remembered() == []


@pytest.mark.spec("05:58")
def test_a_record_that_cannot_be_read_is_not_an_empty_one(node, fake):
    node.configure(fake.network("cluster"))
    for name in NAMES:
        node.network(name, fake.network(name))
    node.start(hotplug=True)
    pod = node.pod("red@net1")
    assert pod.add().ok
    record = pod.host.path(f"/var/lib/cni/multus/_attachments/{pod.container_id}.json")
    until(lambda: "hot-plug: edits of the networks annotation" in node.daemon.log, "hot-plug is on")
    kept, calls = record.read_text(), len(fake.calls())
    record.unlink()
    record.symlink_to(record.name)  # ELOOP: an error that says nothing about the record

    edit(pod, "blue@net1")
    node.daemon.wait_log(f"hot-plug: container {pod.container_id} cannot be compared with its pod", count=2)
    assert len(fake.calls()) == calls

    record.unlink()
    record.write_text(kept)
    until(lambda: fake.order()[calls:] == ["DEL red", "ADD blue"], fake.order)
    until(lambda: entries(pod) == [("cluster", "eth0"), ("default/blue", "net1")], lambda: entries(pod))


def wait_for_links(pod, links):
    until(lambda: {"eth0", *pod.links()} == links, lambda: f"{links}, not {pod.links()}:\n{pod.node.daemon.log[-3000:]}")


def add_slow_network(node, fake):
    """The network `slow`, whose ADD waits for the gate that this yields."""
    gate = fake.gate()
    node.network("slow", fake.network("slow", plugin_type=fake.install_linking(), ADD={"gate": gate.path}))
    return gate


@pytest.mark.failpoints
@pytest.mark.spec("05:49", "05:50")
def test_a_daemon_that_was_killed_in_between_leaves_nothing_half_done(plugging, fake):
    gate = add_slow_network(plugging, fake)
    pod = plugging.pod("red@net1")
    assert pod.add().ok
    edit(pod, "slow@net2")
    gate.reached()

    plugging.daemon.kill()
    gate.open()
    edit(pod, "blue@net1,green@net2")
    plugging.start(hotplug=True)

    wait_for(pod, net1="blue", net2="green")


@pytest.mark.spec("05:50")
def test_a_daemon_that_was_killed_while_it_detached_detaches_again(plugging, fake):
    gate = fake.gate()
    plugging.network("slow", fake.network("slow", plugin_type=fake.install_linking(), DEL={"gate": gate.path}))
    pod = plugging.pod("red@net1,slow@net2")
    assert pod.add().ok
    edit(pod, "red@net1")
    gate.reached()

    plugging.daemon.kill()
    gate.open()
    plugging.start(hotplug=True)

    wait_for(pod, net1="red")
    assert [call.command for call in fake.calls(network="slow")] == ["ADD", "DEL", "DEL"]


@pytest.mark.spec("05:66")
def test_a_daemon_that_is_told_to_end_begins_nothing_more(plugging, fake):
    gate = add_slow_network(plugging, fake)
    pod = plugging.pod()
    assert pod.add().ok
    edit(pod, "slow@net1,blue@net2")
    gate.reached()

    plugging.daemon.terminate(times=2)
    gate.open()
    assert plugging.daemon.process.wait() == 0
    assert pod.links() == {"eth0", "net1"}

    plugging.start(hotplug=True)
    wait_for(pod, net1="slow", net2="blue")
    assert [call.command for call in fake.calls(network="slow")] == ["ADD"]


@pytest.mark.spec("05:46")
def test_a_del_of_the_container_ends_what_was_begun(plugging, fake):
    gate = add_slow_network(plugging, fake)
    pod = plugging.pod("red@net1")
    assert pod.add().ok
    edit(pod, "red@net1,slow@net2,blue@net3")
    gate.reached()

    with ThreadPoolExecutor(1) as runtime:
        deleted = runtime.submit(pod.delete)
        plugging.daemon.wait_log("DEL")
        gate.open()
        assert deleted.result().ok

    assert [call.command for call in fake.calls(network="slow")] == ["ADD", "DEL"]
    assert pod.remembered() == [] and pod.links() == set()


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


class ExternalController:
    """What the external controller does for each edit, one after the other (05, 1.3 and 1.8): it compares the annotation of
    that moment with the network status, adds, then removes; when one fails it takes its additions back and gives up."""

    def __init__(self, wishes):
        self.wishes = wishes  # by pod, as the annotations have them now
        self.edited = queue.Queue()
        self.served = 0

    @contextlib.contextmanager
    def running(self):
        thread = threading.Thread(target=self._work)
        thread.start()
        try:
            yield self
        finally:
            self.edited.put(None)
            thread.join()

    def _work(self):
        while (pod := self.edited.get()) is not None:
            self.handle(pod)

    def handle(self, pod):
        wanted = dict(self.wishes[pod])
        there = {entry["interface"]: entry["name"].split("/")[-1] for entry in pod.status or [] if not entry.get("default")}
        begun = []
        for link, name in wanted.items():
            if there.get(link) == name:
                continue
            begun.append((link, name))
            if not self._call(pod, "ADD", link, name):
                return all(self._call(pod, "DEL", *one) for one in begun)
        return all(self._call(pod, "DEL", link, name) for link, name in there.items() if wanted.get(link) != name)

    def _call(self, pod, command, link, name):
        args = f"K8S_POD_NAMESPACE={pod.namespace};K8S_POD_NAME={pod.pod_name};K8S_POD_UID={pod.uid}"
        env = environment(command, pod, pod.container_id, ifname=link, path=None, args=args)
        answer = pod.node.daemon.http("POST", "/delegate", body(env, networks.ptp(name, NAMES[name])))
        self.served += answer.status == 200
        return answer.status == 200


@pytest.mark.spec("05:62")
def test_a_hundred_random_edits_that_the_external_controller_applies_too(plugging):
    pods = [plugging.pod() for _ in range(4)]
    for pod in pods:
        assert pod.add().ok
    dice = random.Random(3)
    wishes = {pod: {} for pod in pods}
    with ExternalController(wishes).running() as controller:
        for _ in range(100):
            pod = dice.choice(pods)
            wishes[pod] = dict(dice.sample([("net1", "red"), ("net2", "blue"), ("net3", "green")], dice.randint(0, 3)))
            edit(pod, ",".join(f"{name}@{link}" for link, name in wishes[pod].items()))
            controller.edited.put(pod)
    plugging.settle()

    for pod, links in wishes.items():  # as at its next start
        until(lambda pod=pod: controller.handle(pod), lambda: "it never succeeds")
        wait_for(pod, **links)
        assert pod.check().ok
    assert controller.served > 0


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
    gate = add_slow_network(node, fake)
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
