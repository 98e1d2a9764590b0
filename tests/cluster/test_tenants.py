"""What tenants may do at their worst, and what it costs the node and its other pods. Each attack prints one line: the daemon's
peak memory, the longest ADD of a pod of another namespace, and the API requests of one attacking ADD. More about slow plugins is in
tests/node/test_fairness.py."""

import concurrent.futures
import contextlib
import itertools
import json
import statistics
import subprocess
import threading
import time

import pytest

from harness.cluster.workspace import Workspace
from harness.machine.crowd import crowd
from harness.machine.proc import peak_memory
from harness.machine.wait import until
from harness.node.cni import environment
from harness.node.daemon import body
from harness.node.netconf import netconf_from_files
from harness.node.objects import NETWORKS

MOST_MEMORY = 32 * 2**20
# Of the bystander's longest ADD beyond twice what it takes alone. Other tests share the machine's two cores, so three times what a
# control takes at the same moment, which starts as many processes as an ADD and has nothing to do with the daemon, comes on top.
NOISE = 0.3
ANNOTATION = 250_000  # the API server allows 256 KiB for all annotations of an object


def start_processes():
    begin = time.monotonic()
    for _ in range(2):
        subprocess.run(["true"], check=True)
    return time.monotonic() - begin


class Siege:
    """A daemon with an attacking namespace and a bystander in another one."""

    def __init__(self, node, bystanders, fake):
        self.node, self.bystanders = node, bystanders
        self.conf = netconf_from_files(node.host, fake.network("cluster"), type="multus-shim")
        self.numbers = itertools.count(1)
        self.bystander = bystanders.add_pod("bystander")
        node.host.add_pod("all")

    def ask(self, command, pod, container, path="/cni", conf=None, ifname="eth0"):
        meta = pod["metadata"]
        args = (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={meta['namespace']};K8S_POD_NAME={meta['name']};"
                f"K8S_POD_INFRA_CONTAINER_ID={container};K8S_POD_UID={meta['uid']}")
        env = {**environment(command, self.node.host.pods[0], container, args=args), "CNI_IFNAME": ifname}
        return self.node.daemon.http("POST", path, body(env, conf or self.conf), timeout=600)

    def add_bystander(self):
        """How long its ADD takes; the DEL after it is not measured."""
        container = f"bystander-{next(self.numbers)}"
        begin = time.monotonic()
        answer = self.ask("ADD", self.bystander, container)
        took = time.monotonic() - begin
        assert answer.status == 200, answer.body
        assert self.ask("DEL", self.bystander, container).status == 200
        return took

    def ask_at_once(self, command, pods):
        """The answers for all of them, in their order."""
        with concurrent.futures.ThreadPoolExecutor(len(pods)) as threads:
            return list(threads.map(lambda pod: self.ask(command, pod, f"attacker-{pod['metadata']['name']}"), pods))

    def start(self, **keys):
        self.node.start(**keys)
        self.alone = max(self.add_bystander() for _ in range(5))
        self.node.proxy.forget()

    @contextlib.contextmanager
    def watched(self):
        """Adds the bystander again and again meanwhile."""
        ended, waits, controls = threading.Event(), [], []

        def repeat(measure, times):
            while not times or not ended.wait(0.05):
                times.append(measure())
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            living = [threads.submit(repeat, self.add_bystander, waits), threads.submit(repeat, start_processes, controls)]
            try:
                yield
            finally:
                ended.set()
            for one in living:
                one.result()
        self.longest, self.usual, self.control = max(waits), statistics.median(waits), max(controls)

    def judge(self, attack, requests="-"):
        peak = peak_memory(self.node.daemon.pid)
        print(f"{attack}: peak {peak / 2**20:.1f} MB, bystander {self.longest:.2f} s (usually {self.usual:.2f} s, alone {self.alone:.2f} s, "
              f"control {self.control:.2f} s), API requests {requests}")
        assert peak <= MOST_MEMORY
        assert self.longest <= 2 * self.alone + 3 * self.control + NOISE
        assert self.usual <= 2 * self.alone + NOISE / 3


@pytest.fixture
def siege(node, fake, cluster, space):
    bystanders = Workspace(cluster)
    bystanders.node = space.node
    yield Siege(node, bystanders, fake)
    bystanders.close()


def test_annotations_that_are_refused_leave_no_memory_behind(siege, space):
    """Each message is another one, and none is kept whole."""
    def add(number):
        return siege.ask("ADD", pods[number], f"attacker-{number}")
    siege.start()
    pods = list(space.add_many(lambda name: space.add_pod(name, networks=name.upper() * (ANNOTATION // len(name))),
                               [f"p{number}" for number in range(120)]).values())
    with siege.watched(), concurrent.futures.ThreadPoolExecutor(16) as threads:
        answers = list(threads.map(add, range(len(pods))))
    assert {answer.status for answer in answers} == {400}
    assert max(len(answer.body) for answer in answers) < 2000
    siege.judge("120 refused annotations of 250 kB")


def test_huge_environments_of_other_processes_do_not_count(siege, node):
    """A daemon that starts after another one searches them all for orphaned delegates."""
    node.start().stop()
    with crowd(node.host, 60):
        siege.start()
        with siege.watched():
            node.daemon.wait_log("ended 1 processes that an earlier daemon")
    siege.judge("60 environments of 4 MB")


def test_slow_plugins_leave_slots_to_others(siege, space, fake):
    """Networks of this type are attached side by side (docs/parallel-attach.md), so one pod asks for all slots at once. Those of
    other types come one after the other and hold a single slot."""
    fake.install("tap")
    names = [f"slow{number}" for number in range(48)]
    space.add_many(lambda name: space.add_network(
        name, config=json.dumps(fake.network(name, plugin_type="tap", ADD={"delay_ms": 1000}))), names)
    pod = space.add_pod("attacker", networks=",".join(names))
    siege.start(maxDelegates=8)
    with siege.watched():
        assert siege.ask("ADD", pod, "attacker").status == 200
    assert fake.most_at_once() >= 6, "it asked for more than it was given"
    requests = siege.node.proxy.count(f".*/{space.namespace}/")
    assert siege.ask("DEL", pod, "attacker").status == 200
    siege.judge("48 networks of 1 s, 8 slots", requests)


def test_a_network_of_many_interfaces_has_a_small_status(siege, space, fake):
    """Its author chooses the result where a plugin passes on what its configuration says; each entry of the status would repeat the
    settings of DNS."""
    result = {"cniVersion": "1.0.0", "dns": {"search": ["x" * 100_000]},
              "interfaces": [{"name": f"e{number}", "sandbox": "/ns"} for number in range(2000)]}
    space.add_network("wide", config=json.dumps(fake.network("wide", ADD={"result": result})))
    pod = space.add_pod("attacker", networks="wide")
    siege.start()
    with siege.watched():
        answer = siege.ask("ADD", pod, "attacker")
    siege.judge("2,000 interfaces with 100 kB each")
    assert answer.status == 200, answer.body
    assert 100_000 < len(space.status_of("attacker")) <= 192 * 2**10
    until(lambda: "NetworkStatusTooLarge" in {event["reason"] for event in space.events()}, "an event that says so")
    assert siege.ask("DEL", pod, "attacker").status == 200


def test_unknown_names_ask_the_api_server_little(siege, space, node):
    """A request reads at most eight of them from the API server."""
    pod = space.add_pod("attacker", networks=",".join(f"unknown-{number}" for number in range(999)))
    siege.start()
    node.proxy.forget()
    with siege.watched():
        answer = siege.ask("ADD", pod, "attacker")
    assert answer.status == 400
    reads = node.proxy.count(f"GET .*/{space.namespace}/network-attachment-definitions/")
    siege.judge("999 unknown names", reads)
    assert reads <= 8


def test_definitions_take_no_more_than_their_share(siege, space):
    """Even while they change, which makes the daemon read them anew."""
    config = json.dumps({"cniVersion": "1.0.0", "type": "fake", "ballast": "x" * 1_000_000})
    space.add_many(space.add_network, [f"n{number}" for number in range(60)], config=config)
    siege.start()
    with siege.watched():
        for number in range(0, 60, 20):
            space.change_network(f"n{number}", config.replace("x", "y"))
    siege.judge("60 definitions of 1 MB")


def test_an_annotation_of_many_elements_is_refused_cheaply(siege, space):
    """They are counted before anything is built of them."""
    pods = [space.add_pod(f"attacker-{number}", networks=text) for number, text in enumerate(
        ["a," * (ANNOTATION // 2) + "a", "[" + "{}," * (ANNOTATION // 3) + "{}]"])]
    siege.start()
    with siege.watched():
        for number, pod in itertools.product(range(5), pods):
            answer = siege.ask("ADD", pod, f"attacker-{number}")
            assert answer.status == 400 and len(answer.body) < 2000
    siege.judge("annotations of 80,000 and more elements")


def check_answers(answers, reason):
    """Some are attached, the others are refused for `reason`."""
    refused = [answer for answer in answers if answer.status != 200]
    assert len(refused) < len(answers)
    assert all(answer.status == 400 and reason in answer.body for answer in refused), refused[0]


def test_large_arguments_of_many_pods_at_once_share_room(siege, space):
    """Every `<` becomes six bytes in all that is made of it."""
    def text(number):
        return json.dumps([{"name": "n", "cni-args": {"ballast": ("x" if number % 2 else "<") * (ANNOTATION - 60)}}])
    space.add_network("n", json.dumps({"cniVersion": "1.0.0", "type": "fake"}))
    pods = list(space.add_many(lambda name: space.add_pod(name, networks=text(int(name[1:]))),
                               [f"p{number}" for number in range(60)]).values())
    siege.start()
    with siege.watched():
        check_answers(siege.ask_at_once("ADD", pods), b"the configurations of all networks of this request")
        assert {answer.status for answer in siege.ask_at_once("DEL", pods)} == {200}
    siege.judge("60 annotations of 250 kB at once")


def test_large_definitions_of_many_pods_at_once_share_room(siege, space):
    """Three of them are more than one request may have; some change meanwhile."""
    config = json.dumps({"cniVersion": "1.0.0", "type": "fake", "ballast": "x" * 500_000})
    space.add_many(space.add_network, [f"n{number}" for number in range(15)], config=config)
    pods = list(space.add_many(
        lambda name: space.add_pod(name, networks=f"n{name[1:]}" if int(name[1:]) % 3 else f"n{name[1:]},n1,n2"),
        [f"p{number}" for number in range(15)]).values())
    siege.start()
    with siege.watched(), concurrent.futures.ThreadPoolExecutor(1) as thread:
        changes = thread.submit(lambda: [space.change_network(f"n{number}", config.replace("x", "y"))
                                         for number in range(3)])
        check_answers(siege.ask_at_once("ADD", pods), b"the configurations of all networks of this request")
        changes.result()
        assert {answer.status for answer in siege.ask_at_once("DEL", pods)} == {200}
    siege.judge("15 definitions of 500 kB at once")


def test_many_values_of_many_pods_at_once_share_room(siege, space):
    """A value takes more than its text."""
    config = json.dumps({"cniVersion": "1.0.0", "type": "fake", "ballast": {f"{number:x}": 0 for number in range(9900)}})
    space.add_network("n", config)
    pods = list(space.add_many(lambda name: space.add_pod(name, networks="n"), [f"p{number}" for number in range(30)]).values())
    siege.start()
    with siege.watched():
        assert {answer.status for answer in siege.ask_at_once("ADD", pods)} == {200}
        assert {answer.status for answer in siege.ask_at_once("DEL", pods)} == {200}
    siege.judge("30 pods with 9,900 values at once")


def test_one_namespace_keeps_no_large_request_of_another_waiting(siege, space, fake):
    """It takes all the room that it may have, with ADDs and DELs whose plugins take 8 s; the bystander's pod is large, too."""
    slow = {"delay_ms": 8_000}
    space.add_network("adds", json.dumps(fake.network("adds", ADD=slow)))
    space.add_network("dels", json.dumps(fake.network("dels", more={"ballast": "y" * 600_000}, DEL=slow)))
    siege.bystanders.add_network("large", json.dumps(fake.network("large", more={"ballast": "z" * 500_000})))
    siege.bystander = siege.bystanders.add_pod("large", networks="large")
    arguments = json.dumps([{"name": "adds", "cni-args": {"ballast": "x" * (ANNOTATION - 60)}}])
    to_add = [space.add_pod(f"adds-{number}", networks=arguments) for number in range(3)]
    to_delete = [space.add_pod(f"dels-{number}", networks="dels") for number in range(3)]
    siege.start()
    assert {answer.status for answer in siege.ask_at_once("ADD", to_delete)} == {200}
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        begun = [threads.submit(siege.ask_at_once, "ADD", to_add), threads.submit(siege.ask_at_once, "DEL", to_delete)]
        until(lambda: {call.command for call in fake.calls() if call.end is None} >= {"ADD", "DEL"}, "a slow ADD and a slow DEL")
        with siege.watched():
            time.sleep(3)
        siege.judge("a namespace that takes all the room it may have")
        for one in begun:
            one.result()
    assert {answer.status for answer in siege.ask_at_once("DEL", to_add)} == {200}


def test_long_statuses_of_many_pods_at_once_share_room(siege, space, fake):
    """Of a definition of 12 kB, which takes no room itself."""
    result = {"cniVersion": "1.0.0", "dns": {"search": ["x" * 5_000]},
              "interfaces": [{"name": f"e{number}", "sandbox": "/ns"} for number in range(38)]}
    space.add_network("wide", config=json.dumps(fake.network("wide", ADD={"result": result})))
    pods = list(space.add_many(lambda name: space.add_pod(name, networks="wide"), [f"p{number}" for number in range(60)]).values())
    siege.start()
    with siege.watched():
        assert {answer.status for answer in siege.ask_at_once("ADD", pods)} == {200}
        assert {answer.status for answer in siege.ask_at_once("DEL", pods)} == {200}
    siege.judge("60 statuses of 190 kB at once")


def test_large_hot_plugs_at_once_share_room(siege, space, fake):
    """Twenty-four networks of 400 kB are plugged into eight pods at once, and out again; no pod may have more than three."""
    pods = [space.add_pod(f"p{number}") for number in range(8)]
    siege.start()
    assert {answer.status for answer in siege.ask_at_once("ADD", pods)} == {200}

    def plug(command, number):
        pod = pods[number % len(pods)]
        return siege.ask(command, pod, f"attacker-{pod['metadata']['name']}", "/delegate",
                         fake.network(f"hot{number}", more={"ballast": "<" * 50_000 + "x" * 100_000}), f"hot{number}").status
    with siege.watched(), concurrent.futures.ThreadPoolExecutor(24) as threads:
        assert set(threads.map(lambda number: plug("ADD", number), range(24))) == {200}
        assert set(threads.map(lambda number: plug("DEL", number), range(24))) == {200}
    assert {answer.status for answer in siege.ask_at_once("DEL", pods)} == {200}
    siege.judge("24 hot-plugged networks of 400 kB at once")


EDITS = {"invalid": lambda number: f"[{number}" + "x" * 10_000,
         "unknown": lambda number: ",".join(f"u{number}-{i}" for i in range(1000)),
         "foreign": lambda number: ",".join(f"kube-system/u{number}-{i}@i{i}" for i in range(990)),
         "flapping": lambda number: "n,n" if number % 2 else "n",
         "large": lambda number: json.dumps([{"name": "n", "cni-args": {"x": "y" * 200_000 + str(number)}}])}


def test_edits_of_running_pods_hold_up_nobody(siege, space, fake):
    """Each pod with twenty networks is edited again and again in its own way, where hot-plug applies what it can."""
    space.add_network("n", json.dumps(fake.network("n")))
    pods = {f"{kind}-{number}": space.add_pod(f"{kind}-{number}", networks=",".join(["n"] * 20)) for kind in EDITS for number in range(3)}
    siege.start(hotplug=True, namespaceIsolation=True)
    assert {answer.status for answer in siege.ask_at_once("ADD", pods.values())} == {200}
    siege.node.proxy.forget()
    end = time.monotonic() + 10

    def edit(name):
        for number in itertools.count(1):
            if time.monotonic() >= end:
                return number
            space.cluster.request("PATCH", space.path("pods", name),
                                  {"metadata": {"annotations": {NETWORKS: EDITS[name.split("-")[0]](number)}}},
                                  "application/merge-patch+json")
    with siege.watched(), concurrent.futures.ThreadPoolExecutor(len(pods)) as threads:
        edits = sum(threads.map(edit, pods))
    requests = siege.node.proxy.count(f".*/{space.namespace}/")
    assert {answer.status for answer in siege.ask_at_once("DEL", pods.values())} == {200}
    siege.judge(f"{edits} edits of running pods", requests)
    assert requests <= edits


def test_strange_bytes_on_the_socket_hold_up_no_pod(siege, node):
    """Bodies of single bytes, requests after each other, values without end, and half requests that stay."""
    head = b"POST /delegate HTTP/1.1\r\nHost: a\r\n"
    values = b'{"x":[' + b"0," * 2_000_000 + b"0]}"
    attacks = [head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n{\r\n" * 50_000,
               (head + b"Content-Length: 2\r\n\r\n{}") * 1000,
               head + b"Content-Length: %d\r\n\r\n" % len(values) + values,
               head.replace(b"/delegate", b"/cni") + b"Content-Length: %d\r\n\r\n" % len(values) + values,
               head + b"X: " + b"y" * 100_000,
               head + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
               head + b"Content-Length: 10000000\r\n\r\n{"]

    def attack(bytes_):
        with contextlib.suppress(OSError), contextlib.closing(node.daemon.connect(timeout=20)) as connection:
            connection.sendall(bytes_)
            while connection.recv(1 << 16):
                pass
    siege.start()
    with siege.watched(), concurrent.futures.ThreadPoolExecutor(6 * len(attacks)) as threads:
        list(threads.map(attack, attacks * 6))
    siege.judge("strange bytes on 42 connections")


def test_events_of_a_namespace_that_ends_hold_up_no_others(siege, space, cluster):
    """The API server refuses new objects there. Nothing deletes the namespace here, so that it stays as it is."""
    pods = list(space.add_many(lambda name: space.add_pod(name, networks=f"unknown-{name}"),
                               [f"p{number}" for number in range(20)]).values())
    siege.start()

    def told():
        return sum(event["count"] for event in siege.bystanders.events())
    until(lambda: told() == 5, "the events of the bystander's first ADDs")
    cluster.request("DELETE", f"/api/v1/namespaces/{space.namespace}")
    assert {answer.status for answer in siege.ask_at_once("ADD", pods)} == {400}
    begin = time.monotonic()
    with siege.watched():
        until(lambda: told() > 5, "the bystander's event")
    took = time.monotonic() - begin
    siege.judge(f"events of a namespace that ends: the bystander's after {took:.1f} s")
    assert took < 8
