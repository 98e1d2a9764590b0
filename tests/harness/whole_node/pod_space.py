"""A namespace of a real cluster for one test: pods and networks by kubectl, and what they look like from inside."""

import itertools
import json

from harness.images import image
from harness.machine.inside import addresses

NETWORKS = "k8s.v1.cni.cncf.io/networks"
STATUS = "k8s.v1.cni.cncf.io/network-status"
# Shows its addresses in its log before anything else, and ends when told.
RUN = "ip -o addr; trap 'exit 0' TERM; sleep 1000000 & wait"


def pod_object(name, networks=None, labels=None, annotations=None, script=RUN, containers=None, **spec):
    """`networks`: the annotation, as text or as elements."""
    annotations = dict(annotations or {})
    if networks is not None:
        annotations[NETWORKS] = networks if isinstance(networks, str) else json.dumps(networks)
    container = {"name": "main", "image": image.NAME, "imagePullPolicy": "Never", "command": ["sh", "-c", script],
                 **(containers or {})}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": "test", **(labels or {})}, "annotations": annotations},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 2, "dnsPolicy": "Default",
                     "automountServiceAccountToken": False, **spec}}


def network_object(name, config=None):
    spec = {} if config is None else {"config": json.dumps(config)}
    return {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": name},
            "spec": spec}


class PodSpace:
    numbers = itertools.count(1)

    def __init__(self, cluster, name=None):
        self.cluster = cluster
        self.name = name or f"test-{next(self.numbers)}"
        if name is None:
            cluster.kubectl("create", "namespace", self.name)
            cluster.kubectl("-n", self.name, "wait", "--for=create", "--timeout=180s", "serviceaccount/default")

    def kubectl(self, *words, **options):
        return self.cluster.kubectl("-n", self.name, *words, **options)

    def apply(self, *objects):
        self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def network(self, name, config=None):
        self.apply(network_object(name, config))

    def pod(self, name, networks=None, timeout=240, **more):
        """A pod, ready."""
        self.apply(pod_object(name, networks, **more))
        self.wait_ready(f"pod/{name}", timeout=timeout)
        return name

    def wait_ready(self, *what, timeout=240):
        try:
            self.kubectl("wait", "--for=condition=Ready", *what, f"--timeout={timeout}s", timeout=timeout + 30)
        except AssertionError as late:
            self.show("get", "pods", "-o", "wide")
            self.show("get", "events")
            raise late from None

    def show(self, *words, **options):
        """Asks, and lets the reader of the log see it."""
        answer = self.kubectl(*words, **options)
        print(f"$ kubectl -n {self.name} {' '.join(map(str, words))}\n{answer}", flush=True)
        return answer

    def execute(self, pod, *argv, **options):
        return self.kubectl("exec", *(["-i"] if options.get("stdin") else []), pod, "--", *argv, **options)

    def addresses(self, pod):
        """Interface and address of each, as the pod itself sees them."""
        self.show("exec", pod, "--", "ip", "addr")
        return addresses(self.execute(pod, "ip", "-o", "addr").splitlines())

    def logged_addresses(self, selector="app=test"):
        """By pod: what each of many saw when it started."""
        lines = self.kubectl("logs", "-l", selector, "--prefix", "--tail=-1", "--max-log-requests=500").splitlines()
        by_pod = {}
        for line in lines:
            where, _, rest = line.partition(" ")
            by_pod.setdefault(where.split("/")[1], []).append(rest)
        return {pod: addresses(text) for pod, text in by_pod.items()}

    def get(self, kind, name):
        return json.loads(self.kubectl("get", kind, name, "-o", "json"))

    def items(self, kind, *words):
        return json.loads(self.kubectl("get", kind, "-o", "json", *words))["items"]

    def status(self, pod):
        """The elements of network-status."""
        return json.loads(self.get("pod", pod)["metadata"]["annotations"][STATUS])

    def delete_pods(self, timeout=240):
        self.kubectl("delete", "pods", "--all", "--wait", f"--timeout={timeout}s", timeout=timeout + 30)

    def close(self):
        self.delete_pods()
        self.cluster.kubectl("delete", "namespace", self.name, "--wait=false")
