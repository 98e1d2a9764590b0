"""What scripts/bench and with_cluster.py measure with: a table of figures and budgets, the memory of a process, load on
a daemon's socket."""

import json
import sys
import threading
from pathlib import Path

from lib import tree

sys.path.insert(0, str(tree.ROOT / "tests"))
sys.dont_write_bytecode = True

from harness.machine.host import PLUGIN_DIR, TOOLS  # noqa: E402
from harness.node.daemon import Daemon, default_config  # noqa: E402

NETWORK = "/srv/bench/10-instant.conf"
SHIM_CONFIG = "/srv/bench/shim.json"
METRICS_PORT = 9091
CHAIN = "/srv/bench/20-chain.conflist"
BRIDGE_AND_PORTMAP = {"cniVersion": "1.0.0", "name": "chain", "plugins": [
    {"type": "bridge", "bridge": "cni0", "isGateway": True,
     "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.77.0.0/16"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
    {"type": "portmap", "capabilities": {"portMappings": True}}]}


def step(text):
    print(f"  {text} ...", file=sys.stderr, flush=True)


class Table:
    """Rows of the report: what, measured, budget; a missed budget makes the run fail."""

    def __init__(self):
        self.rows = []

    def add(self, what, value, unit="", budget=None, floor=None):
        missed = (budget is not None and value > budget) or (floor is not None and value < floor)
        self.rows.append({"what": what, "value": round(value, 3), "unit": unit, "budget": budget, "missed": missed})

    def show(self):
        width = max(len(row["what"]) for row in self.rows)
        print(f"{'what':<{width}}  {'measured':>12}  {'budget':>10}")
        for row in self.rows:
            budget = "" if row["budget"] is None else f"<= {row['budget']:g}"
            mark = "  MISSED" if row["missed"] else ""
            print(f"{row['what']:<{width}}  {row['value']:>9.2f} {row['unit']:<3} {budget:>9}{mark}")

    @property
    def missed(self):
        return [row["what"] for row in self.rows if row["missed"]]


def output(host, *argv, env=None, timeout=300):
    return host.run(*argv, env=env, timeout=timeout).stdout


def pss_kib(pid):
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1])
    return 0


class PeakMemory:
    """The largest PSS of a process while the block runs, sampled every few milliseconds. (VmHWM would count the pages of shared
    libraries in full, and the start of the process.)"""

    def __init__(self, pid):
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.kib = 0

    def _watch(self):
        over = False
        while not over:
            self.kib = max(self.kib, pss_kib(self._pid))
            over = self._over.wait(0.005)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def shim_config(network):
    return {"cniVersion": "1.0.0", "name": "multus-cni-network", "type": "multus-shim", "clusterNetwork": network}


def load(host, mode, count, concurrency, prefix, netns, *more):
    return json.loads(output(host, f"{TOOLS}/loadgen", "-mode", mode, "-socket", "/run/multus/multus.sock", "-config",
                             SHIM_CONFIG, "-netns", netns, "-count", str(count), "-concurrency", str(concurrency),
                             "-prefix", prefix, "-cni-path", PLUGIN_DIR, *more, timeout=600))


def time_chain(host, shim, conflist, rounds=80):
    """The chain in that file directly and through the shim, in turns. Pods are `bench/timer<n>`, with an odd number through the shim."""
    host.write(SHIM_CONFIG, shim_config(conflist))
    for i in range(2 * rounds):
        host.run("ip", "netns", "add", f"chain{i}")
    report = json.loads(output(host, f"{TOOLS}/chain-timer", "-rounds", str(rounds), "-netns", "/var/run/netns/chain%d",
                               "-conflist", conflist, "-through", shim, "-through-config", SHIM_CONFIG, "-cni-path", PLUGIN_DIR))
    for i in range(2 * rounds):
        host.run("ip", "netns", "del", f"chain{i}")
    return report


def start_daemon(host, env=None, make=Daemon, **keys):
    config = default_config(logLevel="error", metricsPort=METRICS_PORT, **keys)
    return make(host, config, env=env).wait_ready()
