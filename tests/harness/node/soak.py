"""A node under random operations and faults: what must hold after each operation, and after each round of them.

A round is some forty operations of a few workers side by side, with one or two faults meanwhile. Then the faults end, the daemon is alive, and
all that is on the node's disk and in its namespaces is compared with what was answered. A seed gives the same operations and faults in the same
order; what meets them depends on the machine.
"""

import collections
import concurrent.futures
import contextlib
import itertools
import json
import os
import random
import re
import resource
import shutil
import struct
import threading
import time
import uuid

from harness.evidence import sanitizers
from harness.evidence.leaks import IPAM_BOOKKEEPING, IPAM_DIR
from harness.machine import proc
from harness.machine.host import PLUGIN_DIR, TOOLS
from harness.machine.namespaces import Namespaces
from harness.machine.wait import PATIENCE, Late, until
from harness.net import unix_http
from harness.node import networks
from harness.node.cni import Runtime, environment
from harness.node.daemon import Daemon, body, default_config
from harness.node.netconf import netconf, write_networks
from harness.node.objects import NETWORKS, Objects
from harness.node.pending import FOLDER as PENDING
from harness.node.pods import CNI_DIR

LEDGER = "/srv/ledger"
CLOCK = "/srv/clock"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
DISK = "/var/lib/cni"
ROUND = 40  # operations
MOST_MEMORY = 16 << 20  # of the daemon's own, between rounds
CONTAINER = re.compile(r"s\d{7}")

# Of a sandbox. Doubtful: an ADD failed or was not answered. Ending: a DEL was sent and not answered with success, so that only another one follows.
ABSENT, ATTACHED, DOUBTFUL, ENDING = "absent", "attached", "doubtful", "ending"


class Violation(AssertionError):
    """Something that must hold does not."""


class Box:
    """A pod whose sandboxes come and go: one container after another, in network namespaces of their own."""

    def __init__(self, soak, number):
        self.soak, self.number = soak, number
        self.is_real = number % 6 == 0  # bridge and host-local; the others are in the ledger
        self.asks = number % 2 == 1
        self.pod, self.uid = f"p{number}", ""
        self.lock = threading.Lock()
        self.container = self.netns = None

    def renew(self):
        """The next sandbox of the pod."""
        if self.container:
            self.soak.histories[self.container] = self.history
        if self.netns:
            self.remove_netns()
        container = f"s{next(self.soak.ids)}"
        self.soak.namespaces.add(container)
        with self.soak.gc_lock:
            self.container, self.netns = container, f"/var/run/netns/{container}"
            self.state, self.hot, self.half, self.history = ABSENT, set(), set(), []
            self.lacks_record = False

    def remove_netns(self):
        self.soak.namespaces.remove(os.path.basename(self.netns))
        self.netns = None

    @property
    def args(self):
        return (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={self.soak.source.namespace};K8S_POD_NAME={self.pod};"
                f"K8S_POD_INFRA_CONTAINER_ID={self.container};K8S_POD_UID={self.uid}")

    def environment(self, command, ifname="eth0"):
        return environment(command, None, self.container, ifname=ifname, args=self.args, netns=self.netns or "")

    def links(self):
        """The ledger makes none."""
        return self.soak.namespaces.links(self.container) if self.is_real and self.netns else set()

    def adopt(self, evidence):
        """A request that was not answered may have been carried out; and without room for it an attachment record is not written (05, 3.2)."""
        if self.state == DOUBTFUL:
            self.hot = {one.split()[1] for one in evidence if one.startswith("ledger hot")}
            self.half = {one.split()[1] for one in evidence if one.startswith("result hot")}
        self.half &= self.soak.evidence.half_undone(self) if self.half else set()
        self.lacks_record = "record" not in evidence and (self.lacks_record or "disk full" in self.soak.active)

    def expected(self):
        """What a complete ADD leaves, as Evidence tells it."""
        ledger = {*self.hot, *([] if self.is_real else ["eth0"]), *(["net1"] if self.asks else [])}
        names = {"eth0", *ledger, *self.half}
        return ({f"ledger {name}" for name in ledger} | ({"address", "link"} if self.is_real else set())
                | {"scratch"} | (set() if self.lacks_record else {"record"}) | {f"result {name}" for name in names})


class Evidence:
    """What the node holds of each container."""

    def __init__(self, host):
        self.host = host

    def of(self, box):
        """Of one container, where its files are; all() looks everywhere."""
        found = {self.kind(f"{folder}{name}") for folder in ("", "results/", "_attachments/") for name in self.names(f"{CNI_DIR}/{folder}")
                 if box.container in name and ".multus-tmp-" not in name}
        found |= {f"ledger {name.split(',')[1]}" for name in self.names(f"{LEDGER}/attached") if name.startswith(box.container)}
        if box.is_real:
            found |= {"address"} if box.container in map(self.owner, self.addresses()) else set()
        return self.completed(box, found)

    def completed(self, box, found):
        """A list of files may lack one that is just replaced; and links are in no file."""
        return found | ({"record"} if self.record_of(box).exists() else set()) | ({"link"} if "eth0" in box.links() else set())

    def names(self, folder):
        try:
            return os.listdir(self.host.path(folder))
        except FileNotFoundError:
            return []

    def record_of(self, box):
        return self.host.path(f"{CNI_DIR}/_attachments/{box.container}.json")

    def half_undone(self, box):
        """Hot-plugs that failed, and whose undoing failed: they stay on record for the container's DEL (05, 3.7)."""
        try:
            record = json.loads(self.record_of(box).read_text())
        except (FileNotFoundError, ValueError):
            return set()
        return {one["ifName"] for one in record["attachments"]
                if one["ifName"].startswith("hot") and one["state"] != "attached"}

    def all(self):
        found = collections.defaultdict(set)
        for name in self.host.files_below(CNI_DIR):
            container = CONTAINER.search(name)
            if container and not name.startswith("pending-del/") and ".multus-tmp-" not in name and not name.startswith("_locks"):
                found[container[0]].add(self.kind(name))
        for name in self.names(f"{LEDGER}/attached"):
            container, ifname = name.split(",")
            found[container].add(f"ledger {ifname}")
        for address in self.addresses():
            found[self.owner(address)].add("address")
        found.pop("", None)
        return found

    def addresses(self):
        return [f"{IPAM_DIR}/{name}" for name in self.host.files_below(IPAM_DIR)
                if not any(known.split("*")[0] in name for known in IPAM_BOOKKEEPING)]

    def owner(self, address):
        """Empty if the address is just given back, or taken: a host-local that is killed in between leaves a file that no DEL can find."""
        try:
            return "".join(self.host.path(address).read_text().split()[:1])
        except FileNotFoundError:
            return ""

    @staticmethod
    def kind(name):
        if name.startswith("results/"):
            return f"result {name.rsplit('-', 1)[1]}"
        return "record" if name.startswith("_attachments/") else "scratch"

    def pending(self):
        """Containers with a DEL that waits."""
        return {found[0] for name in self.names(PENDING) if (found := CONTAINER.search(name))}


class FolderOfObjects:
    """Where pods and definitions come from: here, a folder of manifests."""

    namespace = "default"
    env = {}
    kept_sockets = 0  # that a daemon at rest may have, because it keeps connections for the next requests

    def __init__(self, host):
        self.objects = Objects(host)

    def config(self):
        return default_config()

    def add_network(self, name, config):
        self.objects.network(name, config)

    def add_pod(self, name, networks):
        """Its UID."""
        uid = str(uuid.uuid5(uuid.NAMESPACE_DNS, name))
        self.objects.pod(name, uid=uid, annotations={NETWORKS: networks} if networks else {})
        return uid

    def faults(self):
        """By kind: called with a source of random numbers and an event that ends the fault."""
        return {}


class Soak:
    def __init__(self, host, seed, source=None, boxes=24, workers=6):
        self.host, self.seed, self.workers = host, seed, workers
        self.source = source or FolderOfObjects(host)
        # They need descriptors and memory themselves, and take the clock from the C library.
        self.with_sanitizers = sanitizers.are_in(host.programs / "multus-daemon")
        self.ids = itertools.count(1000001)
        self.operations, self.answers, self.seen = collections.Counter(), collections.Counter(), collections.Counter()
        self.violations, self.histories = [], {}
        self.active = set()  # faults of this round
        self.lock = threading.Lock()  # of the counters
        self.gc_lock = threading.Lock()  # no new container while a GC runs that does not know it
        self.up = threading.Event()
        self.daemon, self.daemons, self.usual = None, 0, None
        self.daemon_lock = threading.Lock()  # of who may start and end daemons
        self.prepare()
        self.namespaces = Namespaces(host)
        self.evidence, self.shim = Evidence(host), Runtime(host)
        self.boxes = [Box(self, number) for number in range(boxes)]
        self.define()
        self.start()

    def prepare(self):
        """A small disk, a clock and a boot id of its own, and the records of the delegate."""
        host = self.host
        host.run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", DISK)
        host.write("/srv/boot-id", str(uuid.UUID(int=1)) + "\n")
        host.run("mount", "--bind", "/srv/boot-id", BOOT_ID)
        host.write(CLOCK, struct.pack("q", 0))
        for folder in ("attached", "faults"):
            host.path(f"{LEDGER}/{folder}").mkdir(parents=True)
        shutil.copy(host.programs.parent / "tools" / "ledger-delegate", host.path(f"{PLUGIN_DIR}/ledger"))

    def define(self):
        ledger = {"cniVersion": "1.1.0", "name": "books", "type": "ledger"}
        real, fake = write_networks(self.host, networks.bridge(subnet="10.244.0.0/20", version="1.0.0"), ledger)
        self.confs = {True: netconf(version="1.1.0", clusterNetwork=real), False: netconf(version="1.1.0", clusterNetwork=fake)}
        self.hot_conf = {**ledger, "name": "hot"}
        self.source.add_network("extra", {**ledger, "name": "extra"})
        for box in self.boxes:
            box.uid = self.source.add_pod(box.pod, "extra" if box.asks else None)
            self.host.write(f"/srv/conf-{box.is_real}", self.confs[box.is_real])
            box.renew()

    def launch(self):
        clock = {} if self.with_sanitizers else {"LD_PRELOAD": f"{TOOLS}/libstepped-clock.so", "STEPPED_CLOCK": CLOCK}
        daemon = Daemon(self.host, self.source.config(), number=self.daemons, env={**self.source.env, **clock})
        self.daemons += 1
        with contextlib.suppress(FileNotFoundError):
            self.host.path(f"/srv/daemon{self.daemons - 6}.log").unlink()
        return daemon

    def start(self):
        self.daemon = self.launch()
        self.serve()

    def serve(self):
        """From now on this daemon is asked. What the first one held before its first request is all that one may hold at rest."""
        daemon = self.daemon.wait_ready()
        logs = collections.Counter({kind: count for kind, count in daemon.idle.items() if kind.endswith(".log")})
        self.usual = self.usual or daemon.idle - logs
        daemon.idle = self.usual + logs
        self.up.set()

    def kill(self):
        self.up.clear()
        self.daemon.kill()
        self.look_at(self.daemon)

    def look_at(self, ended):
        if self.with_sanitizers:
            sanitizers.assert_clean(ended.log)

    # -- one request

    def count(self, command, answer):
        with self.lock:
            self.operations[command] += 1
            self.answers[f"{command} {answer}"] += 1

    def send(self, box, command, ifname="eth0", target="/cni", config=None, way="socket", rng=None):
        """One request for a box; True if it was answered with success, None if there was no answer."""
        answer, said = getattr(self, f"by_{way}")(box, command, ifname, target, config or self.confs[box.is_real], rng)
        self.count(f"hot-plug {command}" if target == "/delegate" else command,
                   {True: "ok", False: "failed", None: "unanswered"}[answer])
        box.history.append(f"{time.monotonic():.3f} {command} {ifname} by {way}: {answer} {said[:300]}")
        return answer

    def by_socket(self, box, command, ifname, target, config, _rng):
        request = self.request(box, command, ifname, target, config)
        while True:
            try:
                answer = self.daemon.raw(request, timeout=2 * PATIENCE)
                return (None, "") if answer is None else (answer.status == 200, "" if answer.status == 200 else answer.text)
            except (ConnectionRefusedError, FileNotFoundError):
                assert self.up.wait(90), "no daemon for a long time"
                time.sleep(0.005)
            except OSError as broken:
                return None, repr(broken)

    @staticmethod
    def request(box, command, ifname, target, config):
        data = json.dumps(body(box.environment(command, ifname), config)).encode()
        return f"POST {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data

    def by_shim(self, box, command, _ifname, _target, config, _rng):
        done = self.shim.call(command, config, container_id=box.container, args=box.args, netns=box.netns or "")
        return done.ok, "" if done.ok else done.stdout

    def by_killed_shim(self, box, command, ifname, _target, _config, rng):
        process = self.host.spawn("sh", "-c", f"exec {PLUGIN_DIR}/multus-shim </srv/conf-{box.is_real} >/dev/null",
                                  env=box.environment(command, ifname))
        time.sleep(rng.choice([0, 0.002, 0.01, 0.05]))
        process.signal(9)
        process.wait()
        with self.lock:
            self.seen["shim killed"] += 1
        return None, ""

    def by_leaving(self, box, command, ifname, target, config, rng):
        request = self.request(box, command, ifname, target, config)
        head = request.index(b"\r\n\r\n") + 4
        with contextlib.suppress(OSError), contextlib.closing(unix_http.connect(self.host.path(self.daemon.socket))) as client:
            client.sendall(request[:rng.choice([20, head + 50, None, None, None])])
            time.sleep(rng.choice([0, 0.001, 0.005, 0.02, 0.1]))
        with self.lock:
            self.seen["client left"] += 1
        return None, ""

    def way(self, rng):
        return rng.choices(["socket", "shim", "killed_shim", "leaving"], [72, 20, 3, 5])[0]

    # -- one operation

    def operate(self, name):
        rng = random.Random(name)
        if rng.random() < 0.01:
            return self.collect()
        box = rng.choice(self.boxes)
        while not box.lock.acquire(blocking=False):
            box = rng.choice(self.boxes)
        try:
            self.step(box, rng)
        finally:
            box.lock.release()

    def step(self, box, rng):
        if box.state == ABSENT:
            self.add(box, rng)
        elif box.state != ATTACHED:
            is_again = box.state == DOUBTFUL and rng.random() < 0.1
            (self.add if is_again else self.delete)(box, rng)
        else:
            deeds = {self.delete: 50, self.check: 15, self.add: 6, self.plug: 18, self.overlap: 5, self.lose_netns: 2,
                     self.tear: 2, self.hide: 2}
            rng.choices(list(deeds), list(deeds.values()))[0](box, rng)

    def add(self, box, rng):
        answer = self.send(box, "ADD", way=self.way(rng), rng=rng)
        if answer:
            self.attached(box)
        else:
            box.state = DOUBTFUL

    def attached(self, box):
        found = self.evidence.of(box)
        box.adopt(found)
        box.state = ATTACHED
        self.require(box, found == box.expected(), lambda: f"ADD succeeded; there is {sorted(found)}, not {sorted(box.expected())}")

    def delete(self, box, rng):
        box.state = ENDING
        if self.send(box, "DEL", way=self.way(rng), rng=rng):
            self.deleted(box)

    def deleted(self, box):
        """An answered DEL leaves nothing, or a pending DEL; the runtime then removes the namespace, too."""
        left = self.evidence.of(box)
        # Read in this order: a pending DEL may be done between the two.
        is_pending = box.container in self.evidence.pending()
        left = left and self.evidence.of(box)
        self.require(box, not left or is_pending, lambda: f"DEL succeeded; there is still {sorted(left)}")
        box.renew()

    def check(self, box, rng):
        self.send(box, "CHECK", way=rng.choice(["socket", "shim"]), rng=rng)

    def plug(self, box, rng):
        ifname = f"hot{rng.randrange(3)}"
        command = "DEL" if ifname in box.hot else "ADD"
        answer = self.send(box, command, ifname, "/delegate", self.hot_conf, rng.choice(["socket"] * 9 + ["leaving"]), rng)
        if not answer:
            box.state = DOUBTFUL
            return
        box.hot ^= {ifname}
        self.attached(box)

    def overlap(self, box, rng):
        """Two requests for one container at once."""
        commands = rng.choice([("ADD", "DEL"), ("DEL", "DEL"), ("ADD", "ADD"), ("CHECK", "DEL"), ("ADD", "CHECK")])
        answers, box.state = [], ENDING if "DEL" in commands else DOUBTFUL
        calls = [threading.Thread(target=lambda command=command: answers.append((command, self.send(box, command))))
                 for command in commands]
        for call in calls:
            call.start()
        for call in calls:
            call.join()
        if "DEL" not in commands:
            if all(answer for command, answer in answers if command == "ADD"):
                return self.attached(box)
        elif "ADD" not in commands and all(answer for command, answer in answers if command == "DEL"):
            return self.deleted(box)

    def lose_netns(self, box, rng):
        """The namespace is gone before the DEL."""
        box.remove_netns()
        self.delete(box, rng)

    def collect(self):
        with self.gc_lock:
            living = [{"containerID": box.container, "ifname": "eth0"} for box in self.boxes]
            conf = {**self.confs[False], "cni.dev/valid-attachments": living, "cni.dev/attachments": living}
            done = self.shim.gc(conf)
        self.count("GC", "ok" if done.ok else "failed")

    # -- faults of one box's files

    def a_file_of(self, box, rng):
        files = [name for name in self.host.files_below(CNI_DIR)
                 if box.container in name and not name.startswith("pending-del/") and ".multus-tmp-" not in name]
        return self.host.path(f"{CNI_DIR}/{rng.choice(files)}") if files else None

    def tear(self, box, rng):
        """One file of the container is cut, or filled with zeros, as after a power cut; the others must do."""
        file = self.a_file_of(box, rng)
        content = file.read_bytes()
        kept = rng.choice([b"", content[:len(content) // 2], bytes(len(content))])
        with contextlib.suppress(OSError), file.open("r+b") as torn:  # a full disk makes it an empty one; one that has just gone stays so
            torn.truncate()
            torn.write(kept)
        self.note("file torn", box, file)
        box.state = ENDING
        if self.send(box, "DEL"):
            self.deleted(box)

    def hide(self, box, rng):
        """One file of the container cannot be read during a DEL: nothing is mapped at address 0."""
        file = self.a_file_of(box, rng)
        aside = self.host.path(f"{DISK}/aside-{box.container}")
        file.rename(aside)
        file.symlink_to("/proc/self/mem")
        self.note("file unreadable", box, file)
        box.state = ENDING
        try:
            answer = self.send(box, "DEL")
        finally:
            self.require(box, file.is_symlink(), f"{file} was removed while it could not be read")
            aside.rename(file)
        if answer:
            self.deleted(box)

    def note(self, kind, box, what):
        box.history.append(f"{time.monotonic():.3f} {kind}: {os.path.basename(what)}")
        with self.lock:
            self.seen[kind] += 1

    # -- faults of the node, during a round

    def faults(self):
        kinds = {"daemon killed": self.kill_daemon, "daemon replaced": self.replace_daemon, "delegate killed": self.kill_delegates,
                 "delegate wrong": self.wrong_delegate, "disk full": self.fill_disk}
        if not self.with_sanitizers:
            kinds |= {"descriptors out": self.take_descriptors, "clock stepped": self.step_clock}
        return kinds | self.source.faults()

    def kill_daemon(self, rng, _over):
        with self.daemon_lock:
            self.kill()
            time.sleep(rng.choice([0, 0, 0.05, 0.3]))
            self.start()

    def replace_daemon(self, rng, _over):
        """As in an update: the next daemon takes the socket while this one lives, which ends then. Either may be killed on the way."""
        with self.daemon_lock:
            old, socket = self.daemon, self.host.path(self.daemon.socket)
            name = os.stat(socket).st_ino
            new, victim = self.launch(), rng.choice(["none", "none", "old", "new"])
            if victim != "none":
                time.sleep(rng.uniform(0, 0.6))
                (old if victim == "old" else new).kill()
            if victim == "new":  # there is always another one
                new = self.launch()
            until(lambda: not old.process.running or (socket.exists() and os.stat(socket).st_ino != name), "taken over")
            self.daemon = new
            self.serve()
            if victim != "old":
                old.terminate()
                status = old.process.wait()
                if status != 0:
                    raise Violation(f"a daemon that was replaced ended with {status}:\n{old.log[-3000:]}")
            self.look_at(old)

    def kill_delegates(self, rng, over):
        """Plugins of the daemon, and theirs, as they come."""
        while not over.wait(rng.uniform(0.002, 0.03)):
            running = [pid for pid in descendants(self.daemon.pid) if rng.random() < 0.5]
            for pid in running:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)

    def wrong_delegate(self, rng, over):
        orders = self.host.path(f"{LEDGER}/faults/{rng.choice(['ADD', 'DEL', 'DEL', 'CHECK', 'GC'])}")
        orders.write_text(rng.choice(["fail", "die", "fail-late", "die-late", "slow"]))
        over.wait(rng.uniform(0.05, 0.5))
        orders.unlink()

    def fill_disk(self, rng, over):
        filler = self.host.path(f"{DISK}/filler")
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        with open(filler, "ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(512))
        over.wait(rng.uniform(0.05, 0.5))
        filler.unlink()

    def take_descriptors(self, rng, over):
        daemon = self.daemon
        with contextlib.suppress(OSError, ValueError):  # it was killed meanwhile
            limits = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
            most = max(daemon.process.descriptors()) + 1
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (most + rng.randrange(12), limits[1]))
            over.wait(rng.uniform(0.05, 0.5))
            resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, limits)

    def step_clock(self, rng, _over):
        seconds = rng.choice([0, -1, 1]) * rng.choice([2, 600, 7200, 86400, 20 * 365 * 86400])
        with open(self.host.path(CLOCK), "r+b") as file:
            file.write(struct.pack("q", seconds))

    def reboot(self):
        """Between rounds: namespaces, links and /run are gone, the disk stays. The runtime then deletes each sandbox that it knew."""
        self.kill()
        until(lambda: not set(self.host.processes()) - {self.namespaces.pid}, "no process left")
        for box in self.boxes:
            if box.netns:
                box.remove_netns()
            box.history.append("reboot")
            if box.state == ABSENT:
                box.renew()
            else:
                box.state = ENDING
        shutil.rmtree(self.host.path("/run/multus"))
        self.host.write("/srv/boot-id", str(uuid.uuid4()) + "\n")
        self.start()
        self.seen["reboot"] += 1

    # -- rounds

    def run(self, operations, progress=lambda soak: None):
        """Until so many operations were sent, or something did not hold."""
        number = 0
        while sum(self.operations.values()) < operations and not self.violations:
            number += 1
            try:
                self.one_round(random.Random(f"{self.seed} {number}"), number)
            except Violation as broken:
                self.violations.append(str(broken))
            progress(self)
        return self

    def one_round(self, rng, number):
        chosen = rng.sample(sorted(self.faults()), rng.choices([0, 1, 2], [20, 60, 20])[0])
        over, self.active = threading.Event(), set(chosen)
        jobs = [(self.operate, f"{self.seed} {number} {index}") for index in range(ROUND)]
        for kind in chosen:  # each begins among the operations, and meets those that follow
            jobs.insert(rng.randrange(ROUND * 3 // 4), (self.one_fault, kind, random.Random(f"{self.seed} {number} {kind}"), over))
        with concurrent.futures.ThreadPoolExecutor(self.workers + len(chosen)) as pool:
            work = [pool.submit(*job) for job in jobs]
            concurrent.futures.wait([done for done, job in zip(work, jobs) if job[0] == self.operate])
            over.set()
        for one in work:
            one.result()
        if rng.random() < 0.04:
            self.reboot()
        self.verify()

    def one_fault(self, kind, rng, over):
        self.faults()[kind](rng, over)
        with self.lock:
            self.seen[kind] += 1

    def verify(self):
        """All that is there belongs to a container that lives, or whose DEL waits; those that live have all that is theirs."""
        self.settle()
        boxes, everything = {box.container: box for box in self.boxes}, self.evidence.all()
        for box in self.boxes:
            if box.state == ATTACHED and self.evidence.completed(box, everything[box.container]) != box.expected():
                found = self.evidence.completed(box, self.evidence.all()[box.container])  # a list may lack what is just replaced
                self.require(box, found == box.expected(), lambda: f"is attached; there is {sorted(found)}, not {sorted(box.expected())}")
        for container in self.strays(boxes):
            raise Violation(f"{container} is gone; there is still {self.evidence.all().get(container)}\n{self.told(container)}")
        doubles = self.host.path(f"{LEDGER}/doubles")
        if doubles.exists():
            twice = CONTAINER.search(doubles.read_text())[0]
            raise Violation(f"{twice} was attached twice without a DEL in between: {doubles.read_text()}\n{self.told(twice)}")

    def settle(self):
        """The daemon at rest holds what it held at its start."""
        try:
            self.daemon.wait_idle(kept_sockets=self.source.kept_sockets)
            until(lambda: not set(self.host.processes()) - {self.daemon.pid, self.namespaces.pid}, "no other process")
        except AssertionError as broken:
            raise Violation(f"{broken}: {self.host.processes()}") from None
        if not self.with_sanitizers and proc.own_memory(self.daemon.pid) > MOST_MEMORY:
            raise Violation(f"the daemon has {proc.own_memory(self.daemon.pid) >> 20} MiB")

    def strays(self, boxes):
        """Containers that are on the node, and neither live nor have a DEL that waits."""
        def found():
            there = set(self.evidence.all())
            return {container for container in there - self.evidence.pending()
                    if boxes.get(container) is None or boxes[container].state == ABSENT} & set(self.evidence.all())
        return found()

    def require(self, box, holds, what):
        if not holds:
            raise Violation(f"{box.container}: {what() if callable(what) else what}\n{self.told(box.container)}")

    def told(self, container):
        """What was asked for it, and what the daemons logged of it."""
        history = next((box.history for box in self.boxes if box.container == container), self.histories.get(container, []))
        logs = [self.host.path(f"/srv/daemon{number}.log") for number in range(max(0, self.daemons - 4), self.daemons)]
        lines = [line for log in logs if log.exists() for line in log.read_text(errors="replace").splitlines() if container in line]
        return "\n".join([*history[-30:], "-- log:", *(line[:400] for line in lines[-60:])])

    # -- the end

    def finish(self):
        """Every box is deleted, as a runtime would; nothing may be left, and no DEL pending."""
        if self.violations:
            return self
        try:
            for box in self.boxes:
                self.delete_whole(box)
            self.drain()
            self.settle()
            left = {container: found for container, found in self.evidence.all().items()}
            if left:
                raise Violation(f"at the end there is still {left}\n{self.told(next(iter(left)))}")
        except AssertionError as broken:
            self.violations.append(str(broken))
        return self

    def drain(self):
        """A daemon that starts replays at once what is pending; one that runs takes its time."""
        def is_drained():
            return not self.host.files_below(PENDING)
        for _ in range(6):
            if is_drained():
                return
            self.kill()
            self.start()
            with contextlib.suppress(Late):
                until(is_drained, "no pending DEL", 15)
        until(is_drained, lambda: f"no pending DEL: {self.host.files_below(PENDING)}\n{self.daemon.log[-3000:]}")

    def delete_whole(self, box):
        """A runtime repeats a DEL until it succeeds."""
        for _ in range(20):
            if box.state == ABSENT:
                return
            self.delete(box, random.Random(0))
        raise Violation(f"{box.container} cannot be deleted\n{self.told(box.container)}")

    def close(self):
        for box in self.boxes:
            if box.netns:
                box.remove_netns()
        self.namespaces.close()
        status = self.daemon.stop()
        if status != 0 and not self.violations:
            self.violations.append(f"the daemon ended with {status}:\n{self.daemon.log[-3000:]}")
        self.host.run("umount", BOOT_ID)
        self.host.run("umount", DISK)

    def report(self):
        return {"seed": self.seed, "operations": sum(self.operations.values()), "by kind": dict(sorted(self.operations.items())),
                "answers": dict(sorted(self.answers.items())), "faults": dict(sorted(self.seen.items())),
                "daemons": self.daemons, "violations": len(self.violations)}


def descendants(pid):
    found = []
    with contextlib.suppress(OSError):  # it has ended
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    return found + [below for child in found for below in descendants(child)]
