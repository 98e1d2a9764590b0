"""Multus on a whole node, as its users install it: an image in the container runtime, a manifest, kubectl."""

import json
import os
import re
import subprocess
from pathlib import Path

from harness.cluster import ROOT
from harness.pod_space import PodSpace
from harness.wait import until

DAEMON_SET = "daemonset/kube-multus-ds"
CONFIG_MAP = "multus-daemon-config"
GENERATED = "/etc/cni/net.d/00-multus.conf"
SHIM = "/opt/cni/bin/multus-shim"


def manifest_file():
    return Path(os.environ.get("MANIFEST") or ROOT / "deploy" / "multus-daemonset-thick.yml").resolve()


def image_archive(title, programs, out):
    """The image of the programs under test, or the one that IMAGE_TAR names."""
    if given := title == "multus" and os.environ.get("IMAGE_TAR"):
        return Path(given).resolve()
    done = subprocess.run([ROOT / "scripts" / "image", "--only", title, "--build", programs.parent, "--out", out],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / f"{title}-{(ROOT / 'VERSION').read_text().strip()}.tar"


class Installation:
    """`image`: takes the place of the image that the manifest names."""

    def __init__(self, node, manifest, image=None):
        self.node = node
        self.cluster = node.cluster
        self.text = manifest.read_text()
        if image:
            self.text = re.sub(r"(?<=\bimage: )\S+", image, self.text)
        self.system = PodSpace(node.cluster, "kube-system")

    def apply(self):
        self.cluster.kubectl("apply", "-f", "-", stdin=self.text)

    def install(self):
        """Ready when this returns: pods that come now get their networks."""
        self.apply()
        self.cluster.kubectl("wait", "--for=condition=Established", "--timeout=30s",
                             "crd/network-attachment-definitions.k8s.cni.cncf.io")
        self.wait_rolled_out()
        return self

    def uninstall(self):
        """As deploy/uninstall.patch.yaml says."""
        patch = ROOT / "deploy" / "uninstall.patch.yaml"
        self.system.kubectl("patch", DAEMON_SET, "--patch", patch.read_text())
        self.system.kubectl("rollout", "status", DAEMON_SET, "--timeout=120s")
        self.delete()

    def delete(self):
        self.cluster.kubectl("delete", "--wait", "-f", "-", stdin=self.text)
        self.system.kubectl("wait", "--for=delete", "pod", "-l", "name=multus", "--timeout=90s", check=False)

    def wait_rolled_out(self, timeout=180):
        try:
            self.system.kubectl("rollout", "status", DAEMON_SET, f"--timeout={timeout}s", timeout=timeout + 30)
        except AssertionError as late:
            self.system.show("get", "pods", "-o", "wide")
            self.system.show("describe", "pods", "-l", "name=multus")
            self.system.show("logs", "-l", "name=multus", "--all-containers", "--tail=60", check=False)
            raise late from None
        until(lambda: self.node.host.path(GENERATED).exists(), f"{GENERATED} written", 60)

    @property
    def image(self):
        pods = self.system.get("daemonset", DAEMON_SET.split("/")[1])["spec"]["template"]["spec"]
        return pods["containers"][0]["image"]

    def set_image(self, name):
        self.system.kubectl("set", "image", DAEMON_SET, f"*={name}")

    def restart(self):
        self.system.kubectl("rollout", "restart", DAEMON_SET)

    def configure(self, **keys):
        """Changes keys of the daemon's configuration, None removes one; the daemon is started anew."""
        shown = self.system.get("configmap", CONFIG_MAP)["data"]["daemon-config.json"]
        config = {key: value for key, value in {**json.loads(shown), **keys}.items() if value is not None}
        patch = {"data": {"daemon-config.json": json.dumps(config)}}
        self.system.kubectl("patch", "configmap", CONFIG_MAP, "--patch", json.dumps(patch))
        self.restart()
        self.wait_rolled_out()

    def pods(self):
        return self.system.items("pods", "-l", "name=multus")

    def log(self):
        return self.system.kubectl("logs", "-l", "name=multus", "--tail=-1", "-c", "kube-multus")
