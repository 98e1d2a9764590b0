"""The folder of manifests (objectsDir): what a test puts into it, and what the daemon writes beside."""

import json
import os

from harness.machine.wait import until, whole_lines

FOLDER = "/srv/objects"
UID = "00000000-0000-4000-8000-00000000000%s"
NETWORKS = "k8s.v1.cni.cncf.io/networks"
STATUS = "k8s.v1.cni.cncf.io/network-status"
DEFAULT_NETWORK = "v1.multus-cni.io/default-network"
SKIP_DEFAULT_NETWORKS = "v1.multus-cni.io/skip-default-networks"


def pod_manifest(name, namespace="default", uid=None, annotations=None):
    metadata = {"name": name, "namespace": namespace, "annotations": annotations or {}}
    if uid is not None:
        metadata["uid"] = uid
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": []}}


def network_manifest(name, config=None, namespace="default", annotations=None):
    """`config`: a value to be written as JSON, the very text, or None for no spec at all."""
    manifest = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition",
                "metadata": {"name": name, "namespace": namespace, "annotations": annotations or {}}}
    if config is not None:
        manifest["spec"] = {"config": config if isinstance(config, str) else json.dumps(config)}
    return manifest


class Objects:
    def __init__(self, host, folder=FOLDER):
        self.host = host
        self.folder = folder
        self._files = {}  # name: (pods, networks) in it
        self._markers = 0
        self.is_dirty = False  # something may not have been read yet
        host.path(folder).mkdir(parents=True, exist_ok=True)

    def write(self, name, content, pods=0, networks=0):
        """Puts a whole file in place; `pods` and `networks` say how many objects of each the daemon will find."""
        beside = self.host.write(f"{self.folder}/.{name}", content)
        os.rename(self.host.path(beside), self.host.path(f"{self.folder}/{name}"))
        self._files[name] = (pods, networks)
        self.is_dirty = True

    def remove(self, name):
        self.host.path(f"{self.folder}/{name}").unlink()
        del self._files[name]
        self.is_dirty = True

    def pod(self, name, namespace="default", uid=None, annotations=None):
        self.write(f"pod-{namespace}-{name}.json", pod_manifest(name, namespace, uid, annotations), pods=1)

    def remove_pod(self, name, namespace="default"):
        self.remove(f"pod-{namespace}-{name}.json")

    def network(self, name, config=None, namespace="default", annotations=None):
        self.write(f"net-{namespace}-{name}.json", network_manifest(name, config, namespace, annotations),
                   networks=1)

    def remove_network(self, name, namespace="default"):
        self.remove(f"net-{namespace}-{name}.json")

    def settle(self, daemon):
        """Waits until the daemon has read all that was written. The sign is that it knows one more pod than ever before."""
        if not self.is_dirty:
            return
        self._markers += 1
        self.write(f"zz-marker-{self._markers}.json", pod_manifest(f"marker-{self._markers}", "marker"), pods=1)
        pods, networks = (sum(numbers) for numbers in zip(*self._files.values()))
        daemon.wait_log(f"objects: {pods} pods and {networks} network definitions in {self.folder}\\b")
        self.is_dirty = False

    def status_object(self, name, namespace="default"):
        """What was written for a pod; None if nothing was."""
        path = self.host.path(f"{self.folder}/status/{namespace}/{name}.json")
        return json.loads(path.read_text()) if path.exists() else None

    def status_text(self, name, namespace="default"):
        written = self.status_object(name, namespace)
        return None if written is None else written["metadata"]["annotations"][STATUS]

    def events(self, pod=None, reason=None):
        """The events as they are now, in the order they first came."""
        path = self.host.path(f"{self.folder}/events.jsonl")
        found = {}
        for line in whole_lines(path) if path.exists() else []:
            event = json.loads(line)
            found[event["metadata"]["name"]] = event
        return [event for event in found.values()
                if pod in (None, event["involvedObject"]["name"]) and reason in (None, event["reason"])]

    def messages(self, pod=None, reason=None):
        return [event["message"] for event in self.events(pod, reason)]

    def wait_events(self, count, pod=None, reason=None):
        """Waits until there are that many events, because they are written independently of the answer, and yields them."""
        until(lambda: len(self.events(pod, reason)) >= count, lambda: f"{count} events: {self.messages()}")
        return self.events(pod, reason)
