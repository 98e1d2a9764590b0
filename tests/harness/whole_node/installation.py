"""Multus on a whole node, as its users install it: an image in the container runtime, a manifest, kubectl."""

import json
import os
import re
import subprocess
from pathlib import Path

from harness.cluster.control_plane import ROOT
from harness.machine.wait import until
from harness.whole_node.boot import CONFIG_DIR, PLUGIN_DIR
from harness.whole_node.pod_space import PodSpace

DAEMON_SET = "daemonset/kube-multus-ds"
CONFIG_MAP = "multus-daemon-config"
GENERATED = "/etc/cni/net.d/00-multus.conf"
SHIM = "/opt/cni/bin/multus-shim"
# What an installation puts onto a node, thick or thin.
FILES = (GENERATED, GENERATED + "list", SHIM, "/opt/cni/bin/multus", "/opt/cni/bin/passthru",
         "/etc/cni/net.d/multus.d/multus.kubeconfig")


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


def built(node, folder):
    return subprocess.run([node.binaries["kubectl"], "kustomize", folder], check=True, capture_output=True, text=True).stdout


class Installation:
    """`manifest`: a file, or a folder for kustomize. `image`: takes the place of the image that the manifest names."""

    def __init__(self, node, manifest, image=None):
        self.node = node
        self.cluster = node.cluster
        self.text = built(node, manifest) if manifest.is_dir() else manifest.read_text()
        if image:
            self.text = re.sub(r"(?<=\bimage: )\S+", image, self.text)
        self.system = PodSpace(node.cluster, "kube-system")

    def apply(self):
        self.cluster.kubectl("apply", "-f", "-", stdin=self.text)

    def install(self):
        """Ready when this returns: pods that come now get their networks."""
        self.apply()
        self.cluster.kubectl("wait", "--for=condition=Established", "--timeout=120s",
                             "crd/network-attachment-definitions.k8s.cni.cncf.io")
        self.wait_rolled_out()
        return self

    def uninstall(self):
        """As deploy/uninstall.patch.yaml says."""
        patch = ROOT / "deploy" / "uninstall.patch.yaml"
        self.system.kubectl("patch", DAEMON_SET, "--patch", patch.read_text())
        self._await_rollout(60)
        self.delete()

    def remove(self):
        """By hand, without asking the daemon: what manifests cannot take away is deleted."""
        self.delete()
        for path in FILES:
            self.node.host.path(self._place(path)).unlink(missing_ok=True)

    def _place(self, path):
        """Where a file lies on a node whose container runtime has folders of its own."""
        return path.replace(CONFIG_DIR, self.node.config_dir).replace(PLUGIN_DIR, self.node.plugin_dir)

    def delete(self):
        self.cluster.kubectl("delete", "--wait", "-f", "-", stdin=self.text)
        self.system.kubectl("wait", "--for=delete", "pod", "-l", "name=multus", "--timeout=180s", check=False)

    def _await_rollout(self, timeout):
        self.system.kubectl("rollout", "status", DAEMON_SET, f"--timeout={timeout}s", timeout=timeout + 30)

    def wait_rolled_out(self, timeout=300):
        names = (self._place(GENERATED), self._place(GENERATED + "list"))  # thin writes a list for newer versions
        try:
            self._await_rollout(timeout)
            until(lambda: any(self.node.host.path(name).exists() for name in names), f"{names[0]} written", 30)
        except AssertionError as late:
            self.system.show("describe", "pods", "-l", "name=multus")
            self.system.show("logs", "-l", "name=multus", "--all-containers", "--tail=60", check=False)
            raise late from None

    @property
    def image(self):
        pods = self.system.get("daemonset", DAEMON_SET.split("/")[1])["spec"]["template"]["spec"]
        return pods["containers"][0]["image"]

    def set_image(self, name):
        self.system.kubectl("set", "image", DAEMON_SET, f"*={name}")

    def restart(self):
        self.system.kubectl("rollout", "restart", DAEMON_SET)

    def configure(self, **keys):
        """Lays keys over the daemon's configuration, None removes one; the daemon is started anew."""
        shown = self.system.get("configmap", CONFIG_MAP)["data"].get("90-local.json", "{}")
        patch = {"data": {"90-local.json": json.dumps({**json.loads(shown), **keys})}}
        self.system.kubectl("patch", "configmap", CONFIG_MAP, "--patch", json.dumps(patch))
        self.restart()
        self.wait_rolled_out()

    def pods(self):
        return self.system.items("pods", "-l", "name=multus")

    def log(self):
        return self.system.kubectl("logs", "-l", "name=multus", "--tail=-1", "-c", "kube-multus")
