"""A control plane that signs certificates of nodes, approvers for it, and hosts whose daemon has such a certificate."""

import base64
import http.client
import json
import os
import re
import socket
import ssl
import threading
import urllib.error
import urllib.request

from harness.cluster.control_plane import Cluster, Process, Refused, free_ports
from harness.cluster.kube_node import KubeNode
from harness.machine.wait import until
from harness.net.certificates import new_key, openssl
from harness.net.relays import pour, serve_each, shut
from harness.node import networks
from harness.node.netconf import netconf_from_files

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SIGNER = "kubernetes.io/kube-apiserver-client"
BOOTSTRAP = "/etc/multus/bootstrap.kubeconfig"
CERTIFICATES = "/etc/multus/certs"
CURRENT = f"{CERTIFICATES}/multus-client-current.pem"
# Lives of 40 s that begin 5 min ago are over to 88 %: renewal is due between at once and 6 s later.
LIFE = 40


class SigningCluster(Cluster):
    """kube-controller-manager signs, and nothing else; `life`: seconds a certificate lives at most."""

    def __init__(self, life=LIFE):
        self.life = life
        super().__init__(with_controllers=True)
        self.install_definitions()
        self.apply_files("common/role.yaml", "components/per-node-certificates/role.yaml", "cert-approver/role.yaml")
        # The patch of components/per-node-certificates.
        self.kubectl("patch", "clusterrolebinding", "multus", "--type=json", "-p", json.dumps([
            {"op": "replace", "path": "/subjects", "value": [
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:multus"}]}]))

    def admission(self):
        return ["--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction",
                "--disable-admission-plugins=ServiceAccount"]

    def _start_controllers(self):
        self.controllers = self.launch("kube-controller-manager", [
            self.binaries["kube-controller-manager"], f"--kubeconfig={self.kubeconfig}", "--leader-elect=false",
            "--controllers=certificatesigningrequest-signing-controller",
            f"--cluster-signing-cert-file={self.authority.certificate}",
            f"--cluster-signing-key-file={self.authority.key}", f"--cluster-signing-duration={self.life}s",
            "--bind-address=127.0.0.1", "--secure-port=0"])

    def restart_controllers(self):
        self.controllers.stop()
        self._start_controllers()

    def kubelet(self, node):
        """The paths of certificate and key of a node's kubelet."""
        return self.authority.sign(f"kubelet-{node}", f"/O=system:nodes/CN=system:node:{node}", "clientAuth")

    def ask_as(self, identity, body, user=None, groups=()):
        """POSTs a request for a certificate with a client certificate (certificate, key); `user`: impersonated."""
        context = ssl.create_default_context(cafile=self.authority.certificate)
        context.load_cert_chain(*identity)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=30, context=context)
        content = json.dumps(body).encode()
        connection.putrequest("POST", REQUESTS)
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Content-Length", str(len(content)))
        for name, value in [("Impersonate-User", user)] * bool(user) + [("Impersonate-Group", group) for group in groups]:
            connection.putheader(name, value)
        connection.endheaders(content)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 201:
            raise Refused(answer.status, text)
        return json.loads(text)

    def requests_for(self, node):
        """All requests for the certificate of that node, oldest first."""
        wanted = f"system:multus:{node}"
        found = [item for item in self.get(REQUESTS)["items"] if subject_of(item)[0] == wanted]
        return sorted(found, key=lambda item: int(item["metadata"]["resourceVersion"]))


def subject_of(item):
    """(CN, O) of a request as it lies on the server."""
    text = openssl("req", "-noout", "-subject", "-nameopt", "multiline,-align",
                   stdin=base64.b64decode(item["spec"]["request"]).decode())
    return tuple((re.findall(rf"{name} = (.*)", text) or [""])[-1] for name in ("commonName", "organizationName"))


def conditions_of(item):
    return [(condition["type"], condition["message"]) for condition in item.get("status", {}).get("conditions", [])]


def request_object(folder, common_name, organization="system:multus", usages=("digital signature", "client auth"),
                   seconds=600, signer=SIGNER, extra=(), key=None):
    """What a daemon would send; `extra`: further words for `openssl req`."""
    key = key or new_key(folder / "asked.key")
    pem = openssl("req", "-new", "-key", key, "-subj", f"/O={organization}/CN={common_name}", *extra)
    spec = {"request": base64.b64encode(pem.encode()).decode(), "signerName": signer, "usages": list(usages)}
    if seconds is not None:
        spec["expirationSeconds"] = seconds
    return {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
            "metadata": {"generateName": "csr-"}, "spec": spec}


class Approver:
    """cert-approver as a process of the machine, with the rights of our role unless a token is given."""

    def __init__(self, program, cluster, name="approver", token=None, server=None, flags=()):
        self.port, = free_ports(1)
        token = token or cluster.token_for("kube-system", "multus-cert-approver")
        kubeconfig = cluster.write_kubeconfig(f"{name}.kubeconfig", token=token, server=server)
        self.process = Process(name, [program, "-kubeconfig", kubeconfig, "-address", f"127.0.0.1:{self.port}", *flags],
                               cluster.folder)

    def get(self, path):
        """(status, text); None without an answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()
        except OSError:
            return None

    def wait_ready(self):
        until(lambda: (self.get("/readyz") or [0])[0] == 200, lambda: f"approver ready:\n{self.log}")
        return self

    def value(self, series):
        found = re.search(rf"^{re.escape(series)} (\S+)$", self.get("/metrics")[1], re.M)
        return float(found[1])

    @property
    def log(self):
        return self.process.tail()

    def stop(self):
        self.process.stop()
        return self.process.process.returncode


class Relay:
    """Passes bytes on to the API server and knows nothing of them, so that client certificates get through; may be
    told to be away."""

    def __init__(self, cluster, listener):
        self.cluster, self.listener = cluster, listener
        self.url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        self.away = False
        self.sockets = set()
        self.lock = threading.Lock()
        serve_each(listener, self._serve)

    def _serve(self, client):
        try:
            if self.away:
                raise ConnectionRefusedError
            server = socket.create_connection(("127.0.0.1", self.cluster.port))
        except OSError:
            client.close()
            return
        with self.lock:
            self.sockets |= {client, server}
        if self.away:
            self.cut()
        threading.Thread(target=pour, args=(client, server), daemon=True).start()
        pour(server, client)

    def go_away(self):
        self.away = True
        self.cut()

    def come_back(self):
        self.away = False

    def cut(self):
        with self.lock:
            for one in self.sockets:
                shut(one)
                one.close()
            self.sockets.clear()

    def close(self):
        self.listener.close()
        self.go_away()


class CertNode(KubeNode):
    """A host whose daemon knows nothing but the kubelet's kubeconfig."""

    def __init__(self, host, daemons, shim, space, relay):
        self.host, self.daemons, self.shim, self.space, self.relay = host, daemons, shim, space, relay
        self.daemon = None
        self.sandboxes = []
        self.conf = netconf_from_files(host, networks.bridge())
        self.cluster = space.cluster
        self.write_bootstrap()

    def write_bootstrap(self):
        certificate, key = self.cluster.kubelet(self.space.node)
        for name, path in (("ca.crt", self.cluster.authority.certificate), ("kubelet.crt", certificate),
                           ("kubelet.key", key)):
            self.host.write(f"/etc/multus/{name}", path.read_bytes())
        written = self.cluster.write_kubeconfig(f"{self.space.node}.kubeconfig", certificate=("kubelet.crt", "kubelet.key"),
                                                ca="ca.crt", server=self.relay.url)
        self.host.write(BOOTSTRAP, written.read_bytes())

    def launch(self, certificate=None, env=None, through=(), **keys):
        from harness.node.daemon import default_config
        wanted = {"enabled": True, "bootstrapKubeconfig": BOOTSTRAP, "certDir": CERTIFICATES, **(certificate or {})}
        wanted = {key: value for key, value in wanted.items() if value is not None}
        config = default_config(objectsDir=None, podLookupTimeout=None, perNodeCertificate=wanted, **keys)
        env = {"MULTUS_NODE_NAME": self.space.node} if env is None else env
        self.daemon = self.daemons.launch(config, env=env, through=through)
        return self.daemon

    def requests(self):
        return self.cluster.requests_for(self.space.node)

    def events(self, reason):
        return [event for event in self.cluster.get("/api/v1/namespaces/default/events")["items"]
                if event["involvedObject"]["name"] == self.space.node and event["reason"] == reason]

    def inside(self, path):
        """Follows a link of the store: its target is a path of the host."""
        found = self.host.path(path)
        return self.host.path(os.readlink(found)) if found.is_symlink() else found

    def stored(self):
        """Text of the pair in use; None if there is none."""
        try:
            return self.inside(CURRENT).read_text()
        except OSError:
            return None

    def files(self):
        return sorted(path.name for path in self.host.path(CERTIFICATES).iterdir())

    def store(self, text, name="multus-client-2026-01-02-03-04-05.pem", link="current"):
        """Lays a pair out as the original does."""
        self.host.write(f"{CERTIFICATES}/{name}", text, 0o600)
        link = self.host.path(f"{CERTIFICATES}/multus-client-{link}.pem")
        link.unlink(missing_ok=True)
        link.symlink_to(f"{CERTIFICATES}/{name}")

    def why_not(self):
        """The reason of a /readyz that says no; empty if it says yes."""
        answer = self.daemon.http("GET", "/readyz")
        return "" if answer.status == 200 else answer.headers.get("x-not-ready", "?")


def pair_for(cluster, node, folder_name="pair"):
    """A pair as the signer would issue it, for two days."""
    certificate, key = cluster.authority.sign(f"{folder_name}-{node}", f"/O=system:multus/CN=system:multus:{node}",
                                              "clientAuth")
    return certificate.read_text() + key.read_text()
