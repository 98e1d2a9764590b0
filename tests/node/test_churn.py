"""Pods coming and going at once while delegates fail and the daemon dies, by a seeded schedule.

Whatever the order: when every pod was deleted, nothing is left. MNET_CHURN_ROUNDS makes it longer.
"""

import os
import random
import threading

import pytest
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import KUBERNETES_ARGS
from harness.node.netconf import netconf

pytestmark = pytest.mark.release("speed")

ROUNDS = int(os.environ.get("MNET_CHURN_ROUNDS", "8"))
PODS = 6


class Schedule:
    def __init__(self, seed, host, daemons, shim, fake):
        self.random = random.Random(seed)
        self.host, self.daemons, self.shim, self.fake = host, daemons, shim, fake
        self.pods = [host.add_pod() for _ in range(PODS)]
        self.daemon = daemons()

    def conf(self):
        """A bridge, and a second network that sometimes fails."""
        plan = self.random.choice([{}, {}, {"ADD": {"exit": 1, "result": {"code": 11, "msg": "not now"}}},
                                   {"ADD": {"delay_ms": 50}}, {"DEL": {"exit": 1, "first": 1}}])
        return netconf(networks.bridge(), self.fake.conf(f"f{self.random.randrange(10**6)}", **plan))

    def one_round(self):
        calls = []
        for pod in self.pods:
            call = self.random.choice([self.shim.add, self.shim.add, self.shim.delete, None])
            if call is not None:
                args = KUBERNETES_ARGS.format(name=pod.name, id=f"c-{pod.name}")
                calls.append(threading.Thread(target=call, args=[self.conf(), pod], kwargs={"args": args}))
        for call in calls:
            call.start()
        if self.random.random() < 0.4:
            calls[0].join(self.random.random() * 0.1)
            self.daemon.kill()
            self.daemon = self.daemons()
        for call in calls:
            call.join()

    def delete_all(self):
        conf = netconf(networks.bridge())
        for pod in self.pods:
            until(lambda pod=pod: self.shim.delete(conf, pod).ok, "deleted")

    def left(self):
        return self.host.leaks.found(running=[self.daemon.pid])


@pytest.mark.parametrize("seed", range(3))
def test_after_the_last_delete_nothing_is_left(host, daemons, shim, fake, seed):
    schedule = Schedule(seed, host, daemons, shim, fake)
    for _ in range(ROUNDS):
        schedule.one_round()

    schedule.delete_all()

    # A delegate whose DEL failed keeps its record for a repeated DEL (02, 6.4).
    if schedule.left():
        schedule.delete_all()
    until(lambda: not schedule.left(), lambda: f"clean: {schedule.left()}\n{schedule.daemon.log[-5000:]}")
