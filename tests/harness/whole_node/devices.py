"""Devices of a whole node: a real device plugin and a real DRA driver (tests/node_e2e/devices), and a plugin that records which
device it was given. The machine has no PCI devices to move: none of them exists."""

import contextlib
import json
import os
import shutil
import signal
import socket
from pathlib import Path

from harness.machine.wait import until
from harness.node.kubelet import device_programs
from harness.whole_node.boot import NAME
from harness.whole_node.pod_space import network_object, pod_object

RESOURCE = "test.example.com/vf"
CLAIMED = "test.example.com/dra-vf"
DRIVER = "test.dra.example.com"
INFOS = "/var/run/k8s.cni.cncf.io/devinfo"
CALLS = "/var/lib/recorder.calls"
HOLD, HELD = "/run/recorder.hold", "/run/recorder.held."
PODS_SOCKET = "/var/lib/kubelet/pod-resources/kubelet.sock"
RECORDER = f"""#!/bin/sh
# Writes down its calls. With "exclusive" in its configuration it has a device only once, as if it moved it.
# Its ADDs wait while there is {HOLD}.
[ "$CNI_COMMAND" = VERSION ] && {{ echo '{{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}}'; exit; }}
conf=$(cat)
device=$(printf %s "$conf" | sed -n 's/.*"deviceID":"\\([^"]*\\)".*/\\1/p')
while [ "$CNI_COMMAND" = ADD ] && [ -e {HOLD} ]; do : >"{HELD}$CNI_CONTAINERID"; sleep 0.1; done
rm -f "{HELD}$CNI_CONTAINERID"
case $CNI_COMMAND$conf in
  ADD*'"exclusive":true'*) mkdir "/run/moved-$device" 2>/dev/null ||
    {{ echo '{{"cniVersion":"1.0.0","code":101,"msg":"the device is not on this host"}}'; exit 1; }} ;;
  DEL*'"exclusive":true'*) [ -e "/run/moved-by-$CNI_CONTAINERID" ] && rmdir "/run/moved-$device"; rm -f "/run/moved-by-$CNI_CONTAINERID" ;;
esac
[ "$CNI_COMMAND" = ADD ] && touch "/run/moved-by-$CNI_CONTAINERID"
printf '%s\\t%s\\t%s\\t%s\\t%s\\n' "$CNI_COMMAND" "$CNI_ARGS" "$CNI_IFNAME" "$CNI_CONTAINERID" "$conf" >>{CALLS}
[ "$CNI_COMMAND" = ADD ] &&
  echo '{{"cniVersion":"1.0.0","interfaces":[{{"name":"'"$CNI_IFNAME"'","sandbox":"'"$CNI_NETNS"'"}}]}}'
exit 0
"""


def network(name, resource=None, **more):
    """A definition, of that resource, whose plugin records its calls."""
    config = {"cniVersion": "1.0.0", "name": name, "type": "recorder",
              "capabilities": {"deviceID": True, "CNIDeviceInfoFile": True}, **more}
    made = network_object(name, config)
    if resource:
        made["metadata"]["annotations"] = {"k8s.v1.cni.cncf.io/resourceName": resource}
    return made


def container(name, resource=RESOURCE, count=1):
    """Prints the devices that the device plugin gave it."""
    given = pod_object("x", script="echo devices $DEVICES; trap 'exit 0' TERM; sleep 1000000 & wait")
    return {**given["spec"]["containers"][0], "name": name, "resources": {"limits": {resource: count}}}


def device_pod(name, networks, **spec):
    made = pod_object(name, networks)
    made["spec"].update(spec)
    return made


def claim_spec(*kinds):
    return {"devices": {"requests": [{"name": f"r{i}", "exactly": {"deviceClassName": kind}}
                                     for i, kind in enumerate(kinds)]}}


def claim(name, *kinds):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": name},
            "spec": claim_spec(*kinds)}


def template(name, *kinds):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": name},
            "spec": {"spec": claim_spec(*kinds)}}


def claiming_pod(name, networks, **reference):
    made = device_pod(name, networks, resourceClaims=[{"name": "c", **reference}])
    made["spec"]["containers"][0]["resources"] = {"claims": [{"name": "c"}]}
    return made


def printed(space, pod, container_name):
    """The devices that the container has according to the device plugin."""
    line = until(lambda: space.kubectl("logs", pod, "-c", container_name, check=False), "the container's first line", 60)
    return line.split()[1:]


def ids(calls):
    """Interface and device of each of Devices.calls()."""
    return [(ifname, conf["deviceID"]) for ifname, conf in calls]


def device_ids(space, name):
    """Of the devices for networks in a claim, in the order of the allocation."""
    results = space.get("resourceclaim", name)["status"]["allocation"]["devices"]["results"]
    return [f"dra-{int(one['device'].split('-')[1]):03d}" for one in results if one["device"].startswith("vf-")]


class Devices:
    """What gives devices to pods of the node."""

    def __init__(self, node):
        self.node = node
        self.programs = {}
        for name, path in device_programs().items():
            self.programs[name] = node.folder / name
            shutil.copy(path, self.programs[name])
        node.host.write("/opt/cni/bin/recorder", RECORDER, mode=0o755)

    def start_plugin(self, count=80):
        self.node.start_part("device-plugin", self.programs["device-plugin"], f"-resource={RESOURCE}", "-prefix=dev",
                             f"-count={count}", f"-infos={INFOS}/dp")
        self.wait_offered(count)

    def wait_offered(self, count):
        key = RESOURCE.replace(".", "\\.")

        def offered():
            return self.node.cluster.kubectl("get", "node", NAME, "-o", f"jsonpath={{.status.allocatable.{key}}}") == str(count)
        until(offered, lambda: f"{count} devices:\n{self.node.parts['device-plugin'].tail()}", 120)

    def start_driver(self):
        part = self.node.start_part("dra-driver", self.programs["dra-driver"], f"-driver={DRIVER}", f"-node={NAME}",
                                    f"-resource={CLAIMED}", f"-kubeconfig={self.node.cluster.kubeconfig}")

        def published():
            return self.node.cluster.kubectl("get", "resourceslices", "-o", "name").strip()
        until(published, part.tail, 120)
        self.node.cluster.kubectl("apply", "-f", "-", stdin=json.dumps({
            "apiVersion": "v1", "kind": "List", "items": [{
                "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": kind},
                "spec": {"selectors": [{"cel": {"expression":
                    f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].kind == "{kind}"'}}]}}
                for kind in ("vf", "gpu")]}))

    def stop(self, name):
        part = self.node.parts.pop(name, None)
        if part and part.running:
            part.stop(signal.SIGTERM)

    def calls(self, command, pod=None):
        """The recorded calls: (interface, configuration), of one pod or of all."""
        log = self.node.host.path(CALLS)
        lines = log.read_text().splitlines() if log.exists() else []
        cut = [line.split("\t", 4) for line in lines]
        return [(ifname, json.loads(conf)) for verb, args, ifname, _, conf in cut
                if verb == command and (pod is None or f"K8S_POD_NAME={pod};" in f"{args};")]

    @contextlib.contextmanager
    def held(self):
        """ADDs of the plugin wait until the end of the block. Gives a function that tells how many do."""
        hold = self.node.host.path(HOLD)
        hold.touch()
        try:
            yield lambda: len(list(hold.parent.glob(f"{Path(HELD).name}*")))
        finally:
            hold.unlink()

    @contextlib.contextmanager
    def silent_kubelet(self):
        """The daemon gets no answer when it asks for the devices of pods, and is refused after the block until the kubelet starts
        again. Gives a function that tells how often it asked."""
        path = self.node.host.path(PODS_SOCKET)
        path.unlink()
        asking = []
        with socket.socket(socket.AF_UNIX) as listener:
            folder = os.open(path.parent, os.O_RDONLY)
            listener.bind(f"/proc/self/fd/{folder}/{path.name}")  # the path itself would be too long
            os.close(folder)
            listener.listen()
            listener.setblocking(False)

            def count():
                with contextlib.suppress(BlockingIOError):
                    asking.append(listener.accept()[0])
                return len(asking)
            try:
                yield count
            finally:
                for connection in asking:
                    connection.close()

    def kill_kubelet(self):
        self.node.parts["kubelet"].stop(signal.SIGKILL)

    def start_kubelet(self):
        self.node.start_kubelet()
        self.node.wait_ready()

    def forget(self):
        self.node.host.path(CALLS).unlink(missing_ok=True)

    def close(self):
        for name in ("device-plugin", "dra-driver"):
            self.stop(name)
        self.forget()
