"""kubeconfig_generator with a real API server and a real signer (03, 9.3)."""

import json
import os
import signal
import stat
import subprocess

import pytest

from harness.evidence.sanitizers import assert_clean
from harness.machine.wait import until

NODE = "node-of-generator"


@pytest.fixture(scope="module")
def signing():
    from harness.cluster.control_plane import Cluster
    cluster = Cluster(with_controllers=True)
    group = "rbac.authorization.k8s.io"
    cluster.apply(
        {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "asks"}, "rules": [
            {"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"],
             "verbs": ["create", "get", "list", "watch"]}]},
        {"apiVersion": f"{group}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "asks"},
         "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "asks"},
         "subjects": [{"kind": "Group", "apiGroup": group, "name": name} for name in ("system:nodes", "system:multus")]})
    yield cluster
    cluster.close()


class Generator:
    def __init__(self, cluster, program, folder):
        self.cluster, self.folder = cluster, folder
        (folder / "certs").mkdir(exist_ok=True)
        self.kubeconfig = folder / "out" / "kubeconfig"
        certificate = cluster.authority.sign(f"node-{os.getpid()}", f"/O=system:nodes/CN=system:node:{NODE}", "clientAuth")
        bootstrap = cluster.write_kubeconfig("bootstrap.kubeconfig", certificate=certificate)
        self.err = folder / "err"
        with open(self.err, "ab") as err:
            self.process = subprocess.Popen(
                [program, f"--certdir={folder}/certs", f"--bootstrap-config={bootstrap}",
                 f"--kubeconfig={self.kubeconfig}"], stdout=subprocess.DEVNULL, stderr=err,
                env={"MULTUS_NODE_NAME": NODE})

    def pending(self):
        """Names of requests without an answer."""
        items = self.cluster.get("/apis/certificates.k8s.io/v1/certificatesigningrequests")["items"]
        return [item["metadata"]["name"] for item in items if not item["status"].get("conditions")]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(90)
        finally:
            self.process.kill()
            assert_clean(self.err.read_text())


def whoami(cluster, kubeconfig):
    done = subprocess.run([cluster.binaries["kubectl"], f"--kubeconfig={kubeconfig}", "auth", "whoami", "-o", "json"],
                          capture_output=True, text=True, env={"HOME": str(cluster.folder), "PATH": "/usr/bin:/bin"})
    return json.loads(done.stdout)["status"]["userInfo"] if done.returncode == 0 else done.stderr


def test_a_kubeconfig_with_the_nodes_own_certificate_comes_and_goes(signing, program, tmp_path):
    generator = Generator(signing, program("kubeconfig_generator"), tmp_path)
    (name,) = until(generator.pending, lambda: generator.err.read_text())
    assert not generator.kubeconfig.exists()

    signing.kubectl("certificate", "approve", name)
    until(generator.kubeconfig.exists, lambda: generator.err.read_text())

    assert stat.S_IMODE(generator.kubeconfig.stat().st_mode) == 0o600
    user = whoami(signing, generator.kubeconfig)
    assert user["username"] == f"system:multus:{NODE}" and "system:multus" in user["groups"]
    text = generator.kubeconfig.read_text()
    for line in ("- name: default-cluster", "- name: default-auth", "current-context: default-context",
                 f'client-certificate: "{tmp_path}/certs/multus-client-current.pem"',
                 f'client-key: "{tmp_path}/certs/multus-client-current.pem"', 'namespace: "default"'):
        assert line in text
    assert "certificate-authority-data: " in text  # though the bootstrap file names a file
    assert generator.stop() == 0
    assert not generator.kubeconfig.exists()


def test_a_stored_certificate_is_used_again(signing, program, tmp_path):
    first = Generator(signing, program("kubeconfig_generator"), tmp_path)
    (name,) = until(first.pending, lambda: first.err.read_text())
    signing.kubectl("certificate", "approve", name)
    until(first.kubeconfig.exists, lambda: first.err.read_text())
    assert first.stop() == 0

    again = Generator(signing, program("kubeconfig_generator"), tmp_path)
    until(again.kubeconfig.exists, lambda: again.err.read_text())

    assert again.pending() == []
    assert whoami(signing, again.kubeconfig)["username"] == f"system:multus:{NODE}"
    assert again.stop() == 0
