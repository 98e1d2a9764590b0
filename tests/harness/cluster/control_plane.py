"""A real control plane on loopback: etcd and kube-apiserver with TLS, RBAC and service accounts, in a folder and on ports
of its own. Up in seconds; `close()` leaves nothing."""

import base64
import http.client
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import urllib.request
from pathlib import Path

from harness.machine.wait import until
from harness.net.certificates import Authority, new_key, openssl

ROOT = Path(__file__).resolve().parents[3]
DEPLOY = ROOT / "deploy"
SERVICE_NETWORK = "10.96.0.0/16"
SERVICE_ADDRESS = "10.96.0.1"


def binaries(*names):
    """Paths by name; built where they are missing, which takes minutes once."""
    done = subprocess.run([ROOT / "scripts" / "supply" / "cluster-binaries", *names], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, "scripts/supply/cluster-binaries failed"
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def free_ports(count):
    """Ports that are free now; all are held until the last is found. Not those that the kernel gives to clients: a client
    could have such a port by the time the server starts, or starts again."""
    first_of_clients = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    sockets = []
    try:
        while len(sockets) < count:
            one = socket.socket()
            sockets.append(one)
            try:
                one.bind(("127.0.0.1", random.randrange(10000, max(first_of_clients, 11000))))
            except OSError:
                sockets.pop().close()
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class Process:
    """One server in the background, its output in a file."""

    def __init__(self, name, words, folder):
        self.name = name
        self.log = folder / f"{name}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in words], stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, cwd=folder, start_new_session=True)

    @property
    def running(self):
        return self.process.poll() is None

    def stop(self, how=signal.SIGTERM, timeout=90):
        if self.running:
            self.process.send_signal(how)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def tail(self):
        return self.log.read_text(errors="replace")[-3000:]


class Refused(AssertionError):
    """The API server said no."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body[:500]}")
        self.status = status


class Cluster:
    address = "127.0.0.1"  # where the API server listens

    def __init__(self, folder=None, with_controllers=False, etcd=None, outlives=False):
        """`etcd`: another program than the one of scripts/supply/cluster-binaries. `outlives`: this process; else the servers end
        with it, however it ends."""
        self.outlives = outlives
        self.folder = Path(folder or tempfile.mkdtemp(prefix="mnet-cluster-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        wanted = ["etcd", "kube-apiserver", "kubectl"] + (["kube-controller-manager"] if with_controllers else [])
        self.binaries = binaries(*wanted)
        if etcd:
            self.binaries["etcd"] = etcd
        self.etcd_port, self.peer_port, self.port = free_ports(3)
        self.url = f"https://{self.address}:{self.port}"
        self.etcd = self.apiserver = self.controllers = None
        self.here = threading.local()  # the connection of each thread
        self._make_identities()
        try:
            self.start_etcd()
            self.start_apiserver()
            if with_controllers:
                self._start_controllers()
        except BaseException:
            self.close()
            raise

    def launch(self, name, words):
        """Starts one of the servers."""
        bound = [] if self.outlives else ["setpriv", "--pdeathsig", "KILL"]
        return Process(name, [*bound, *words], self.folder)

    def _make_identities(self):
        self.authority = Authority(self.folder, "ca")
        self.sign_server()
        self.admin = self.authority.sign("admin", "/O=system:masters/CN=admin", "clientAuth")
        self.account_key = new_key(self.folder / "accounts.key")
        openssl("ec", "-in", self.account_key, "-pubout", "-out", self.folder / "accounts.pub")
        self.kubeconfig = self.write_kubeconfig("admin.kubeconfig", certificate=self.admin)

    def sign_server(self, authority=None):
        """The server's certificate; of another authority if one is given."""
        names = ["IP:127.0.0.1", f"IP:{self.address}", "IP:::1", f"IP:{SERVICE_ADDRESS}", "DNS:localhost",
                 "DNS:kubernetes"]
        made = (authority or self.authority).sign("kube-apiserver", "/CN=kube-apiserver", "serverAuth", names)
        for path, name in zip(made, ("server.crt", "server.key")):
            shutil.copy(path, self.folder / name)

    def start_etcd(self):
        client, peer = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{self.peer_port}"
        self.etcd = self.launch("etcd", [
            self.binaries["etcd"], "--data-dir", self.folder / "etcd", "--unsafe-no-fsync",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"default={peer}", "--log-level", "error"])

    def start_apiserver(self, *flags, wait=True):
        folder = self.folder
        self.apiserver = self.launch("kube-apiserver", [
            self.binaries["kube-apiserver"], f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            f"--bind-address={self.address}", f"--advertise-address={self.address}", f"--secure-port={self.port}",
            f"--cert-dir={folder}/apiserver", f"--service-cluster-ip-range={SERVICE_NETWORK}",
            f"--client-ca-file={self.authority.certificate}", f"--tls-cert-file={folder}/server.crt",
            f"--tls-private-key-file={folder}/server.key", "--allow-privileged",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-signing-key-file={self.account_key}",
            f"--service-account-key-file={folder}/accounts.pub", "--shutdown-delay-duration=0s",
            *self.admission(), *flags])
        if wait:
            self.wait_ready()

    def admission(self):
        """Who may do what. Pods of these tests are objects only: none needs an account."""
        return ["--authorization-mode=RBAC", "--disable-admission-plugins=ServiceAccount"]

    def wait_ready(self, timeout=300):
        said = ["nothing"]

        def ready():
            assert self.apiserver.running, f"kube-apiserver ended:\n{self.apiserver.tail()}"
            assert self.etcd.running, f"etcd ended:\n{self.etcd.tail()}"
            try:
                said[0] = self.request("GET", "/readyz", timeout=30)
                return self.get("/api/v1/namespaces/default")
            except (OSError, http.client.HTTPException, Refused) as unready:
                said[0] = repr(unready)
                return False
        until(ready, lambda: f"kube-apiserver ready; {said[0]}\n{self.apiserver.tail()}", timeout)

    def stop_apiserver(self, how=signal.SIGKILL):
        """At once: a polite end takes many seconds."""
        self.apiserver.stop(how)

    def _start_controllers(self):
        self.controllers = self.launch("kube-controller-manager", [
            self.binaries["kube-controller-manager"], f"--kubeconfig={self.kubeconfig}", "--leader-elect=false",
            f"--service-account-private-key-file={self.account_key}", f"--root-ca-file={self.authority.certificate}",
            f"--cluster-signing-cert-file={self.authority.certificate}",
            f"--cluster-signing-key-file={self.authority.key}", "--use-service-account-credentials",
            "--bind-address=127.0.0.1", "--secure-port=0"])

    def close(self):
        for process in (self.controllers, self.apiserver, self.etcd):
            if process:
                process.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    # What tests ask of it.

    def write_kubeconfig(self, name, certificate=None, token=None, token_file=None, server=None, ca=None, user=None,
                         **cluster):
        """A kubeconfig file; files are named, not contained. `user`: further members; keywords: of the cluster, where
        None removes one."""
        user = dict(user or {})
        if certificate:
            user |= {"client-certificate": str(certificate[0]), "client-key": str(certificate[1])}
        if token:
            user["token"] = token
        if token_file:
            user["tokenFile"] = str(token_file)
        cluster = {"server": server or self.url, "certificate-authority": str(ca or self.authority.certificate), **cluster}
        path = self.folder / name
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "it",
            "clusters": [{"name": "it", "cluster": {key: value for key, value in cluster.items() if value is not None}}],
            "users": [{"name": "it", "user": user}],
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}]}))
        return path

    def request(self, method, path, body=None, content_type="application/json", timeout=90):
        data = None if body is None else json.dumps(body).encode()
        status, text = self._exchange(method, path, data, {"Content-Type": content_type}, timeout)
        if status // 100 != 2:
            raise Refused(status, text)
        return json.loads(text) if text.startswith(("{", "[")) else text

    def _exchange(self, *request):
        """On this thread's own connection, which the server may have closed meanwhile. One that failed is not used again."""
        kept = self.here.__dict__.pop("connection", None)
        if kept is not None and kept.port == self.port:
            try:
                return self._ask(kept, *request)
            except TimeoutError:
                raise
            except (OSError, http.client.HTTPException):
                pass
        return self._ask(http.client.HTTPSConnection(self.address, self.port, context=self._trust()), *request)

    def _ask(self, connection, method, path, data, headers, timeout):
        try:
            connection.timeout = timeout
            if connection.sock:
                connection.sock.settimeout(timeout)
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            done = answer.status, answer.read().decode()
        except BaseException:
            connection.close()
            raise
        self.here.connection = connection
        return done

    def _trust(self):
        context = ssl.create_default_context(cafile=self.authority.certificate)
        context.load_cert_chain(*self.admin)
        return context

    def get(self, path):
        return self.request("GET", path)

    def kubectl(self, *words, stdin=None, check=True):
        done = subprocess.run([self.binaries["kubectl"], f"--kubeconfig={self.kubeconfig}", *map(str, words)],
                              input=stdin, capture_output=True, text=True,
                              env={**os.environ, "HOME": str(self.folder)})
        assert not check or done.returncode == 0, f"kubectl {' '.join(map(str, words))}: {done.stderr}"
        return done.stdout

    def apply(self, *objects):
        self.kubectl("apply", "--validate=false", "-f", "-",
                     stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def apply_files(self, *names):
        for name in names:
            self.kubectl("apply", "-f", DEPLOY / name)

    def install_definitions(self):
        """Our CRD, served when this returns."""
        self.apply_files("common/crd-networkattachmentdefinition.yaml")
        self.kubectl("wait", "--for=condition=Established", "--timeout=120s",
                     "crd/network-attachment-definitions.k8s.cni.cncf.io")

    def token_for(self, namespace, account, seconds=3600):
        made = self.request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": seconds}})
        return made["status"]["token"]

    def compact(self):
        """Makes etcd forget its history, so that old positions of watches are gone."""
        def etcd(path, body):
            request = urllib.request.Request(f"http://127.0.0.1:{self.etcd_port}/v3/{path}",
                                             json.dumps(body).encode(), method="POST")
            return json.loads(urllib.request.urlopen(request, timeout=60).read())
        revision = etcd("kv/range", {"key": base64.b64encode(b"x").decode()})["header"]["revision"]
        etcd("kv/compaction", {"revision": revision, "physical": True})
