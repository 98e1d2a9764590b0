"""The kubelet's PodResources service without a kubelet: grpc-go with answers of the test (tests/node_e2e/devices)."""

import os
import shutil
import signal
import subprocess

import pytest

from harness.cluster.control_plane import ROOT
from harness.machine.wait import until

FOLDER = "/srv/kubelet"
CHECKPOINT = f"{FOLDER}/device-plugins/kubelet_internal_checkpoint"
CANNOT_BE_HAD = 77


def device_programs(*names):
    """Paths by name; built where they are missing."""
    done = subprocess.run([ROOT / "scripts" / "supply" / "device-programs", *names], stdout=subprocess.PIPE, text=True)
    if done.returncode == CANNOT_BE_HAD:
        pytest.skip("needs Go and a module registry, or programs built before")
    assert done.returncode == 0, "scripts/supply/device-programs failed"
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def listed(name, *containers, namespace="default"):
    """A pod; each container is a map of resources to ids."""
    return {"namespace": namespace, "name": name,
            "containers": [{"name": f"c{i}", "devices": devices} for i, devices in enumerate(containers)]}


def save_checkpoint(host, *entries):
    """`entries`: (UID, container, resource, ids)."""
    host.write(CHECKPOINT, {"Data": {
        "PodDeviceEntries": [{"PodUID": uid, "ContainerName": container, "ResourceName": resource,
                              "DeviceIDs": {"0": ids}, "AllocResp": ""} for uid, container, resource, ids in entries],
        "RegisteredDevices": {resource: ids for _, _, resource, ids in entries}}, "Checksum": 1})


class FakeKubelet:
    """Serves at once. The programs find it with `kubeletDir` set to FOLDER."""

    def __init__(self, host):
        self.host = host
        self.log = host.path("/srv/kubelet.log")
        program = host.path("/srv/pod-resources")
        shutil.copy(device_programs("pod-resources")["pod-resources"], program)
        self.answer()
        self.start()

    def answer(self, *pods, **more):
        """What it says from now on (tests/node_e2e/devices/pod-resources/main.go)."""
        beside = self.host.write("/srv/.answers.json", {"pods": list(pods), **more})
        os.rename(self.host.path(beside), self.host.path("/srv/answers.json"))

    def start(self):
        self.host.path(f"{FOLDER}/pod-resources").mkdir(parents=True, exist_ok=True)
        with open(self.log, "ab") as log:
            self.process = self.host.spawn("/srv/pod-resources", f"-socket={FOLDER}/pod-resources/kubelet.sock",
                                           "-answers=/srv/answers.json", stdout=log, stderr=log)
        until(lambda: "serving" in self.log.read_text(), "the kubelet's socket", 60)

    def stop(self):
        """The socket stays, as after a kubelet that was killed."""
        self.process.signal(signal.SIGKILL)
        self.process.wait()

    def calls(self):
        """The methods that were called."""
        return [line for line in self.log.read_text().splitlines() if line != "serving"]

