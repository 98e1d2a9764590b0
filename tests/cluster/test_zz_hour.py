import concurrent.futures, contextlib, json, threading, time, itertools
import pytest
from harness.cluster.roles import UPSTREAM_RULES
from harness.machine.wait import until
from harness.machine.proc import peak_memory
from harness.node.objects import NETWORKS, STATUS
from test_tenants import Siege, siege, ANNOTATION  # noqa

MERGE = "application/merge-patch+json"


def annotate(space, name, text):
    space.cluster.request("PATCH", space.path("pods", name), {"metadata": {"annotations": {NETWORKS: text}}}, MERGE)


def flood(space, pods, text_of, seconds, threads=4):
    """Edits all of them again and again; how many edits there were."""
    end, edits = time.monotonic() + seconds, itertools.count()
    def edit(part):
        n = 0
        while time.monotonic() < end:
            for pod in part:
                n += 1
                annotate(space, pod["metadata"]["name"], text_of(n))
        return n
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        return sum(pool.map(edit, [pods[i::threads] for i in range(threads)]))


def cpu(pid):
    f = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(f[11]) + int(f[12])) / 100


def siege_hot(siege, space, text_of, label, pods=20, seconds=15, networks=None, **keys):
    made = [space.add_pod(f"a{n}", networks=networks) for n in range(pods)]
    siege.start(hotplug=True, **keys)
    answers = siege.ask_at_once("ADD", made)
    assert {a.status for a in answers} == {200}, answers[0].body
    siege.node.proxy.forget()
    before = cpu(siege.node.daemon.pid)
    with siege.watched():
        edits = flood(space, made, text_of, seconds)
    used = cpu(siege.node.daemon.pid) - before
    requests = siege.node.proxy.count(f".*/{space.namespace}/")
    print(f"\n{label}: edits {edits}, cpu {used:.1f} s of {seconds}")
    siege.judge(label, requests)
    del_begin = time.monotonic()
    assert {a.status for a in siege.ask_at_once("DEL", made)} == {200}
    print("DEL all took", time.monotonic() - del_begin)


def test_invalid_each_time(siege, space):
    siege_hot(siege, space, lambda n: f"[{n}" + "x" * 1000, "hot-plug: invalid annotation each edit")


def test_thousand_unknown(siege, space):
    siege_hot(siege, space, lambda n: ",".join(f"u{n}-{i}" for i in range(1000)), "hot-plug: 1000 unknown names each edit")


def test_thousand_isolated(siege, space):
    siege_hot(siege, space, lambda n: ",".join(f"kube-system/u{n}-{i}@i{i}" for i in range(999)),
              "hot-plug: 999 foreign namespaces each edit", namespaceIsolation=True)


def test_big_records(siege, space, fake):
    space.add_network("n", json.dumps(fake.network("n", more={})))
    siege_hot(siege, space, lambda n: ",".join(f"u{n}-{i}" for i in range(1000)), "hot-plug: records of 60 networks, 1000 unknown",
              networks=",".join(["n"] * 60), pods=8)


def test_add_and_remove(siege, space, fake):
    space.add_network("n", json.dumps(fake.network("n")))
    siege_hot(siege, space, lambda n: "n,n,n" if n % 2 else "[]", "hot-plug: plug in and out each edit")


def test_replace_attributes(siege, space, fake):
    space.add_network("n", json.dumps(fake.network("n")))
    siege_hot(siege, space, lambda n: json.dumps([{"name": "n", "interface": "net1", "cni-args": {"x": "y" * 200_000 + str(n)}}]),
              "hot-plug: attributes of 200 kB replaced each edit")


def test_host_network_edits(siege, space):
    made = []
    for n in range(20):
        made.append(space.cluster.request("POST", space.path("pods"), {
            "metadata": {"name": f"h{n}"}, "spec": {"nodeName": space.node, "hostNetwork": True, "terminationGracePeriodSeconds": 0,
                                                     "containers": [{"name": "c", "image": "none"}]}}))
    siege.start(hotplug=True)
    siege.node.proxy.forget()
    with siege.watched():
        edits = flood(space, made, lambda n: f"x{n}", 10)
    print("\nedits", edits)
    siege.judge("hot-plug: edits of host-network pods", siege.node.proxy.count(f".*/{space.namespace}/"))


@pytest.mark.parametrize("role", ["ours", "upstream"])
def test_flapping_plain_pods(siege, space, account, role):
    """Owed statuses of pods that change all the time; how long does a bystander's status take?"""
    if role == "upstream":
        siege.node.log_in(account("original", UPSTREAM_RULES))
    made = [space.add_pod(f"a{n}") for n in range(20)]
    siege.start()
    stop = threading.Event()
    def edit(part):
        n = 0
        while not stop.is_set():
            for pod in part:
                n += 1
                space.cluster.request("PATCH", space.path("pods", pod["metadata"]["name"]), {"metadata": {"labels": {"x": str(n)}}}, MERGE)
        return n
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        editors = [pool.submit(edit, made[i::8]) for i in range(8)]
        time.sleep(1)
        assert {a.status for a in siege.ask_at_once("ADD", made)} == {200}
        time.sleep(0.2)
        waits = []
        for n in range(3):
            name = f"by{n}"
            pod = siege.bystanders.add_pod(name)
            t = time.monotonic()
            assert siege.ask("ADD", pod, name).status == 200
            with contextlib.suppress(Exception):
                until(lambda: siege.bystanders.status_of(name), "status", 40)
            waits.append(time.monotonic() - t)
        stop.set()
        print("\nedits", sum(e.result() for e in editors), "bystander's status after", [f"{w:.2f}" for w in waits],
              [l for l in siege.node.daemon.log.splitlines() if "cannot be written" in l][:3])
