"""A node under load while its API server fails in every way that we know of, one after another, as a seed says."""

import collections
import contextlib
import http.client
import itertools
import json
import random
import statistics
import struct
import sys
import threading
import time

from harness.cluster.control_plane import Refused
from harness.cluster.kube_node import KUBECONFIG, KubeNode
from harness.machine.host import PLUGIN_DIR, TOOLS
from harness.machine.wait import until
from harness.net.api_proxy import ApiProxy, listen_in
from harness.node import cni
from harness.node.daemon import body, default_config
from harness.node.netconf import netconf_from_files
from harness.node.objects import STATUS
from harness.node.pods import CNI_DIR

CLOCK = "/srv/clock"
# A plugin whose addresses tell the container: no two pods have the same status, and none has that of an earlier attempt.
PLUGIN = """#!/bin/sh
cat >/dev/null
[ "$CNI_COMMAND" = ADD ] || exit 0
number=$((${CNI_CONTAINERID#f} - 1000000))
first=10; [ "$CNI_IFNAME" = eth0 ] || first=11
printf '{"cniVersion":"1.0.0","interfaces":[{"name":"%s","mac":"02:00:00:00:00:01","sandbox":"%s"}],"ips":[{"address":"%d.%d.%d.%d/8","interface":0}]}' \
  "$CNI_IFNAME" "$CNI_NETNS" $first $((number / 65536)) $((number / 256 % 256)) $((number % 256))
"""
REQUEST_BOUND = 120, 6  # in any minute: so many, and so many more for each ADD that ran in it


def address(container, first):
    number = int(container[1:]) - 1000000
    return f"{first}.{number // 65536}.{number // 256 % 256}.{number % 256}"


class Faults:
    """Breaks the API in one way at a time."""

    def __init__(self, proxy, cluster, clock, rng, over):
        self.proxy, self.cluster, self.clock, self.rng, self.over = proxy, cluster, clock, rng, over
        self.kinds = {"cut": self.cut, "slow": self.slow, "silent": self.silent, "gone": self.gone, "half": self.half,
                      "restart": self.restart, "clock": self.step_clock, "compaction": self.compact,
                      **{str(status): lambda longest, status=status: self.refuse(status, longest)
                         for status in (401, 403, 429, 500, 503)}}
        self.seen = collections.Counter()

    def run(self, longest, rounds):
        """Rounds in which each kind comes once, in an order of their own; each for `longest` seconds at most, with calm in between."""
        for _ in range(rounds):
            for kind in self.rng.sample(sorted(self.kinds), len(self.kinds)):
                self.kinds[kind](longest)
                self.restore()
                self.seen[kind] += 1
                if self.over.wait(self.rng.uniform(0, longest / 2)):
                    return

    def restore(self):
        self.proxy.rules.clear()
        self.proxy.delay, self.proxy.forgets, self.proxy.left = 0.0, False, None
        self.proxy.flowing.set()
        self.set_clock(0)

    def hold(self, longest):
        self.over.wait(self.rng.uniform(longest / 4, longest))

    def again_and_again(self, longest, action):
        end = time.monotonic() + self.rng.uniform(longest / 4, longest)
        while time.monotonic() < end:
            action()
            if self.over.wait(self.rng.uniform(0.05, longest / 4)):
                return

    def cut(self, longest):
        self.again_and_again(longest, self.proxy.cut)

    def half(self, longest):
        """Answers end in the middle."""
        self.again_and_again(longest, lambda: self.proxy.cut_after(self.rng.randrange(4000)))

    def slow(self, longest):
        self.proxy.delay = self.rng.uniform(0.1, longest / 2)
        self.hold(longest)

    def silent(self, longest):
        self.proxy.flowing.clear()
        self.hold(longest)

    def gone(self, longest):
        """Every position is too old (410)."""
        self.proxy.forget_positions()
        self.proxy.cut()
        self.hold(longest)

    def refuse(self, status, longest):
        which = self.rng.choice(["", "", "watch=true", "PATCH|POST", "GET .*/pods"])
        self.proxy.refuse(which, status, headers={"Retry-After": "1"} if status == 429 else None)
        self.proxy.cut()
        self.hold(longest)

    def restart(self, longest):
        self.cluster.stop_apiserver()
        self.over.wait(self.rng.uniform(0, longest))
        self.cluster.start_apiserver()

    def compact(self, longest):
        self.cluster.compact()
        self.proxy.cut()

    def step_clock(self, longest):
        """The daemon's wall clock, by seconds to years; connections that begin meanwhile meet certificates of another time."""
        self.set_clock(self.rng.choice([-1, 1]) * self.rng.choice([2, 600, 7200, 86400, 20 * 365 * 86400]))
        if self.rng.random() < 0.5:
            self.proxy.cut()
        self.hold(longest)

    def set_clock(self, seconds):
        with open(self.clock, "r+b") as file:
            file.write(struct.pack("q", seconds))


class LoadedPod:
    def __init__(self, name, uid, asks):
        self.name, self.uid, self.asks = name, uid, asks
        self.container = None  # of the ADD that succeeded


class Load:
    """Pods that come and go, with a runtime that does what kubelet has it do: an ADD that fails is followed by a DEL and by another
    ADD, of another container."""

    def __init__(self, node, over, seed, most_pods=60):
        self.node, self.space, self.over, self.seed, self.most_pods = node, node.space, over, seed, most_pods
        self.ids, self.names = itertools.count(1000001), itertools.count(1)
        self.living, self.gone = [], []
        self.adds, self.dels = [], []  # (when it began, seconds, whether it succeeded)
        self.lock = threading.Lock()
        self.trouble = []

    def run(self, worker):
        rng = random.Random(f"{self.seed} {worker}")
        try:
            while not self.over.is_set():
                pod = self.create(asks=rng.random() < 0.5)
                self.attach(pod, rng)
                with self.lock:
                    self.living.append(pod)
                    leaves = self.living.pop(rng.randrange(len(self.living))) \
                        if len(self.living) > self.most_pods or rng.random() < 0.4 else None
                if leaves:
                    self.remove(leaves)
                self.over.wait(rng.uniform(0.0, 1.5))
        except BaseException as broken:  # the thread that waits for us tells
            self.trouble.append(repr(broken))
            raise

    def create(self, asks):
        name = f"p{next(self.names)}"
        made = self.patiently(lambda: self.space.add_pod(name, networks="extra" if asks else None),
                              lambda: self.space.pod(name))
        return LoadedPod(name, made["metadata"]["uid"], asks)

    @staticmethod
    def patiently(action, instead=None):
        """For what a test itself asks of a server that restarts: again until it succeeds, or was done before; `instead`: what to return then."""
        while True:
            try:
                return action()
            except Refused as refused:
                if refused.status in (404, 409):
                    return instead() if instead else None
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.2)

    def attach(self, pod, rng):
        while pod.container is None:
            container = f"f{next(self.ids)}"
            answer = self.cni("ADD", pod, container, self.adds)
            if answer.status == 200:
                addresses = [ip["address"] for ip in answer.json["Result"].get("ips", [])]
                assert addresses == [address(container, 10) + "/8"], f"ADD of {pod.name}: {answer.body}"
                pod.container = container
            else:
                self.delete(pod, container)
                time.sleep(rng.uniform(0.3, 1.5))

    def remove(self, pod):
        """As kubelet does: the sandbox first, then the object."""
        self.delete(pod, pod.container)
        self.patiently(lambda: self.space.delete_pod(pod.name))
        self.gone.append(pod)

    def delete(self, pod, container):
        answer = self.cni("DEL", pod, container, self.dels)
        assert answer.status == 200, f"DEL of {pod.name}: {answer.body}"

    def cni(self, command, pod, container, times):
        args = (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={self.space.namespace};K8S_POD_NAME={pod.name};"
                f"K8S_POD_INFRA_CONTAINER_ID={container};K8S_POD_UID={pod.uid}")
        request = body(cni.environment(command, self.node.host.pods[0], container, args=args), self.node.conf)
        began = time.monotonic()
        answer = self.node.daemon.http("POST", "/cni", request, timeout=600)
        with self.lock:
            times.append((began, time.monotonic() - began, answer.status == 200))
        return answer

    def wrong(self):
        """Living pods whose network status is not what their last ADD made, with that status."""
        found = {}
        there = self.space.cluster.get(self.space.path("pods"))["items"]
        texts = {one["metadata"]["name"]: one["metadata"].get("annotations", {}).get(STATUS) for one in there}
        for pod in self.living:
            expected = [("primary", "eth0", [address(pod.container, 10)])]
            if pod.asks:
                expected.append((f"{self.space.namespace}/extra", "net1", [address(pod.container, 11)]))
            text = texts.get(pod.name)
            status = text and [(one["name"], one.get("interface"), one.get("ips")) for one in json.loads(text)]
            if status != expected:
                found[pod.name] = status
        return found


class FaultRun:
    def __init__(self, host, launch, space, seed):
        """`launch(config, env)`: starts a daemon on the host."""
        self.host, self.space, self.seed = host, space, seed
        self.proxy = ApiProxy(space.cluster, listen_in(host.pid))
        self.node = KubeNode(host, None, None, space, self.proxy)
        host.write(f"{PLUGIN_DIR}/numbered", PLUGIN, mode=0o755)
        conf = {"cniVersion": "1.0.0", "name": "primary", "type": "numbered"}
        self.node.conf = netconf_from_files(host, conf, type="multus-shim")
        space.add_network("extra", config=json.dumps({**conf, "name": "extra"}))
        host.add_pod("all")
        host.write(CLOCK, struct.pack("q", 0))
        env = {"MULTUS_NODE_NAME": space.node, "LD_PRELOAD": f"{TOOLS}/libstepped-clock.so", "STEPPED_CLOCK": CLOCK}
        config = default_config(objectsDir=None, kubeconfig=KUBECONFIG, podLookupTimeout=None, logLevel="error")
        self.node.daemon = launch(config, env).wait_ready()
        self.over = threading.Event()
        self.load = Load(self.node, self.over, seed)
        self.faults = Faults(self.proxy, space.cluster, host.path(CLOCK), random.Random(seed), self.over)
        self.memory = []  # in bytes, a sample each second
        self.began = time.monotonic()

    def run(self, seconds=float("inf"), rounds=sys.maxsize, longest=8.0, workers=4):
        """Load and faults side by side, then calm until all requests have ended. The faults are made by the thread that calls this: an API
        server that it starts again ends with it."""
        threads = [threading.Thread(target=self.load.run, args=(worker,)) for worker in range(workers)]
        threads.append(threading.Thread(target=self.sample_memory, args=(time.monotonic() + seconds,)))
        for thread in threads:
            thread.start()
        try:
            self.faults.run(longest, rounds)
        finally:
            self.over.set()
            for thread in threads:
                thread.join()
        assert self.node.daemon.process.running, f"the daemon ended:\n{self.node.daemon.log[-3000:]}"
        assert not self.load.trouble, self.load.trouble

    def sample_memory(self, end):
        """Once a second until then, or until something broke; the run is over then."""
        while time.monotonic() < end and not self.load.trouble and self.node.daemon.process.running:
            self.memory.append(self.private_memory())
            if self.over.wait(1):
                return
        self.over.set()

    def private_memory(self):
        """Bytes of the daemon's own: pages of its program may be those of other daemons on the machine, too."""
        with contextlib.suppress(OSError), open(f"/proc/{self.node.daemon.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon:"))
        return 0

    def assert_statuses(self, timeout=180):
        """What was owed during the last fault is written within a few pauses of the longest length."""
        until(lambda: not self.load.wrong(), lambda: f"the right status of each pod; not yet {self.load.wrong()}", timeout)

    def assert_records(self):
        """Exactly the containers that live are recorded."""
        files = self.host.files_below(CNI_DIR)
        for pod in self.load.living:
            assert any(pod.container in name for name in files), f"{pod.name} has no record"
        living = {pod.container for pod in self.load.living}
        strays = [name for name in files if "f1" in name and not any(container in name for container in living)]
        assert not strays, f"records of containers that are gone: {strays[:5]}"

    def assert_bounded_requests(self):
        base, each = REQUEST_BOUND
        for asked, ran in self.minutes():
            assert asked <= base + each * ran, f"{asked} requests in a minute with {ran} ADDs"

    def minutes(self, window=60.0):
        """Of each minute that ends with a tenth request: its requests, and the ADDs that ran in it."""
        times = sorted(self.proxy.times)
        adds = [(began, began + took) for began, took, _ in self.load.adds]
        first = 0
        for last, end in enumerate(times):
            while times[first] <= end - window:
                first += 1
            if last % 10 == 0 or last == len(times) - 1:
                yield last - first + 1, sum(1 for began, ended in adds if began <= end and ended > end - window)

    def assert_flat_memory(self, slack=2 << 20):
        """The last quarter against the second: the first is the warming up."""
        quarter = len(self.memory) // 4
        early, late = (statistics.median(part) for part in (self.memory[quarter:2 * quarter], self.memory[-quarter:]))
        assert late <= early + slack, f"from {early / 2**20:.1f} to {late / 2**20:.1f} MB"

    def report(self):
        asked, ran = max(self.minutes(), default=(0, 0))
        adds, dels = ([took for _, took, _ in times] for times in (self.load.adds, self.load.dels))
        quarters = [self.memory[len(self.memory) * part // 4:len(self.memory) * (part + 1) // 4] for part in range(4)]
        return {
            "seed": self.seed, "seconds": round(time.monotonic() - self.began), "faults": dict(self.faults.seen),
            "ADDs": len(adds), "of these failed": sum(not ok for *_, ok in self.load.adds), "slowest ADD, s": round(max(adds), 1),
            "DELs": len(dels), "slowest DEL, s": round(max(dels), 1), "pods at the end": len(self.load.living),
            "requests": len(self.proxy.times), "requests by kind": dict(self.kinds_of_requests()),
            "busiest minute": {"requests": asked, "ADDs": ran, "bound": REQUEST_BOUND[0] + REQUEST_BOUND[1] * ran},
            "private memory by quarters, MB": [round(statistics.median(part) / 2**20, 1) for part in quarters if part]}

    def kinds_of_requests(self):
        names = ("watch=true", "status", "events", "pods", "network-attachment-definitions")
        return collections.Counter(f"{method} {next((name for name in names if name in target), target)}"
                                   for method, target in self.proxy.requests).most_common()

    def close(self):
        """What the load left is deleted, as a runtime would."""
        for pod in self.load.living:
            self.load.delete(pod, pod.container)
        self.proxy.close()
