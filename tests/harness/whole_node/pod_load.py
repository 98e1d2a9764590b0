"""Pods that come while something else happens."""

import threading

from harness.whole_node.pod_space import pod_object


class PodLoad:
    """`with PodLoad(space, "mac, lab"):` makes pods, one after the other, for as long as the block runs."""

    def __init__(self, space, networks, pause=0.5, at_most=60):
        self.space, self.networks, self.pause, self.at_most = space, networks, pause, at_most
        self.names = []
        self.failure = None
        self.at_rest = threading.Lock()  # with it nothing is asked of the API
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._make, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *failure):
        self._stopped.set()
        self._thread.join()

    def _make(self):
        while not self._stopped.wait(self.pause) and len(self.names) < self.at_most and not self.failure:
            with self.at_rest:
                self._make_one()

    def _make_one(self):
        name = f"load-{len(self.names)}"
        try:
            self.space.apply(pod_object(name, self.networks))
        except AssertionError as failed:
            self.failure = failed
            return
        self.names.append(name)

    def check(self, interfaces, timeout=300):
        """Every pod that was made runs, with all of them."""
        assert self.failure is None, self.failure
        self.space.wait_ready("pods", "--all", timeout=timeout)
        seen = self.space.logged_addresses()
        assert set(self.names) <= set(seen), set(self.names) - set(seen)
        wrong = {pod: found for pod, found in seen.items() if found.keys() != interfaces}
        assert not wrong, wrong
        everything = [address for found in seen.values() for address in found.values()]
        assert len(set(everything)) == len(everything)
        print(f"{len(seen)} pods came meanwhile, each with {', '.join(sorted(interfaces))}", flush=True)


class PodTrickle(PodLoad):
    """The same, but each pod is deleted once `alive` newer ones run."""

    def __init__(self, space, networks, alive=8, **more):
        super().__init__(space, networks, **more)
        self.alive, self.deleted = alive, 0

    def _make(self):
        while not self._stopped.is_set() and not self.failure:
            with self.at_rest:
                self._make_and_delete()
            self._stopped.wait(self.pause)

    def _make_and_delete(self):
        made = len(self.names)
        if made < self.at_most:
            self._make_one()
        if len(self.names) - self.deleted > self.alive or made == self.at_most:
            self._delete_oldest()

    def _delete_oldest(self):
        if self.deleted == len(self.names):
            return
        self.space.kubectl("delete", "pod", f"load-{self.deleted}", "--wait=false")
        self.deleted += 1

    def refusals(self):
        """What the kubelet says of sandboxes that could not be made or removed."""
        failed = ("FailedCreatePodSandBox", "FailedKillPod")
        return [(event["involvedObject"]["name"], event["message"]) for event in self.space.items("events")
                if event["reason"] in failed]
