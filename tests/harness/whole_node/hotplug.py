"""Requests to the daemon's socket from a pod of the node, as the hot-plug controller makes them (05, 1.4)."""

import json

from harness.node.cni import environment
from harness.node.daemon import body
from harness.whole_node.pod_space import pod_object

SOCKET = "/run/multus/multus.sock"


class Controller:
    """A pod with the daemon's socket folder mounted."""

    def __init__(self, node, space, name="controller"):
        self.node, self.space, self.name = node, space, name
        socket_folder = {"name": "socket", "hostPath": {"path": "/run/multus", "type": "Directory"}}
        space.apply(pod_object(name, containers={"volumeMounts": [{"name": "socket", "mountPath": "/run/multus"}]},
                               volumes=[socket_folder]))
        space.wait_ready(f"pod/{name}")

    def delegate(self, command, pod, config, ifname, attributes=None):
        """(status, body) of one request for a pod of the space."""
        container, netns = self._sandbox(pod)
        uid = self.space.get("pod", pod)["metadata"]["uid"]
        args = f"K8S_POD_NAMESPACE={self.space.name};K8S_POD_NAME={pod};K8S_POD_UID={uid}"
        env = environment(command, None, container, ifname=ifname, args=args, netns=netns, path=None)
        return self._post("/delegate", json.dumps(body(env, config, attributes)))

    def _sandbox(self, pod):
        """Id and network namespace, which the controller asks the container runtime for."""
        chosen = (f'labels."io.kubernetes.pod.name"=={pod},labels."io.kubernetes.pod.namespace"=={self.space.name},'
                  'labels."io.cri-containerd.kind"==sandbox')
        container = self.node.ctr("containers", "list", "-q", chosen).stdout.strip()
        spec = json.loads(self.node.ctr("containers", "info", "--spec", container).stdout)
        (netns,) = (one["path"] for one in spec["linux"]["namespaces"] if one["type"] == "network")
        return container, netns

    def _post(self, target, text):
        request = (f"POST {target} HTTP/1.1\r\nHost: dummy\r\nContent-Type: application/json\r\nConnection: close\r\n"
                   f"Content-Length: {len(text)}\r\n\r\n{text}")
        answer = self.space.execute(self.name, "unix_call", SOCKET, stdin=request)
        head, _, rest = answer.partition("\r\n\r\n")
        return int(head.split(" ")[1]), rest
