"""Every way to name a real API server and to log in to it (03, 5.1)."""

import base64
import json
import os
import shutil
import socket
import time

import pytest

from harness.cluster.probe import Failed
from harness.machine.wait import until
from harness.net.api_proxy import ApiProxy
from harness.net.connect_proxy import ConnectProxy


def find(probe, space):
    """Reads a pod that no store has."""
    return probe.ask("find_pod", namespace=space.namespace, name="foreign")["name"]


@pytest.fixture(autouse=True)
def foreign(space):
    space.add_pod("foreign", node="another-node")


def encoded(path):
    return base64.b64encode(path.read_bytes()).decode()


def kubeconfigs(cluster):
    """By name: what stands in a kubeconfig file that lets us in as an administrator."""
    certificate, key = cluster.admin
    inline = {"client-certificate-data": encoded(certificate), "client-key-data": encoded(key)}
    named = {"client-certificate": str(certificate), "client-key": str(key)}
    ca = cluster.authority.certificate
    return {
        "certificates in files": {"user": named},
        "certificates in place": {"user": inline, "certificate-authority": None, "certificate-authority-data": encoded(ca)},
        "paths relative to the file": {"user": {"client-certificate": certificate.name, "client-key": key.name},
                                       "certificate-authority": ca.name},
        "a token": {"token": cluster.token_for("kube-system", "multus")},
        "another user's name": {"user": {**named, "as": "system:serviceaccount:kube-system:multus"}},
        "a server that is not checked": {"user": named, "certificate-authority": None, "insecure-skip-tls-verify": True},
        "the name in its certificate": {"user": named, "tls-server-name": "kubernetes"},
        "a name instead of an address": {"user": named, "server": f"https://localhost:{cluster.port}"}}


@pytest.mark.parametrize("way", ["certificates in files", "certificates in place", "paths relative to the file", "a token",
                                 "another user's name", "a server that is not checked", "the name in its certificate",
                                 "a name instead of an address"])
def test_a_kubeconfig_may_hold(way, cluster, space, probes):
    probe = probes(cluster.write_kubeconfig("way.kubeconfig", **kubeconfigs(cluster)[way]))

    assert find(probe, space) == "foreign"


def test_a_server_that_is_another_than_named_is_not_trusted(cluster, space, probes):
    probe = probes(cluster.write_kubeconfig("other.kubeconfig", certificate=cluster.admin, **{"tls-server-name": "other"}),
                   synced=False)

    with pytest.raises(Failed, match="x509|certificate"):
        find(probe, space)


def in_cluster(cluster, folder, token):
    folder.mkdir(exist_ok=True)
    shutil.copy(cluster.authority.certificate, folder / "ca.crt")
    (folder / "token").write_text(token)
    return f"--service-account={folder}"


def test_a_pod_of_the_cluster_needs_no_kubeconfig(cluster, space, probes, tmp_path):
    account = in_cluster(cluster, tmp_path / "account", cluster.token_for("kube-system", "multus"))

    probe = probes(None, account, env={"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(cluster.port)})

    assert find(probe, space) == "foreign"


@pytest.fixture
def on_ipv6(cluster):
    proxy = ApiProxy(cluster, socket.create_server(("::1", 0), family=socket.AF_INET6))
    yield proxy
    proxy.close()


def test_an_ipv6_address_is_one(cluster, space, probes, on_ipv6, tmp_path):
    """In brackets in a kubeconfig, without them in a pod's environment; the certificate names the address."""
    assert "[::1]" in on_ipv6.url
    token = cluster.token_for("kube-system", "multus")
    probe = probes(on_ipv6.kubeconfig("six.kubeconfig", token=token))
    account = in_cluster(cluster, tmp_path / "account", token)
    inside = probes(None, account, env={"KUBERNETES_SERVICE_HOST": "::1", "KUBERNETES_SERVICE_PORT": str(on_ipv6.port)})

    assert find(probe, space) == find(inside, space) == "foreign"
    assert on_ipv6.count("GET .*/pods/foreign") == 2


@pytest.fixture
def tunnel(cluster):
    started = []

    def start(**options):
        started.append(ConnectProxy(cluster.port, **options))
        return started[-1]
    yield start
    for one in started:
        one.close()


def test_the_proxy_of_the_kubeconfig_is_used(cluster, space, probes, tunnel):
    login = "Basic " + base64.b64encode(b"user:pass word").decode()
    proxy = tunnel(user=login)

    probe = probes(cluster.write_kubeconfig("proxy.kubeconfig", certificate=cluster.admin,
                                            **{"proxy-url": f"http://user:pass%20word@{proxy.address}"}))

    assert find(probe, space) == "foreign"
    assert proxy.asked and set(proxy.asked) == {f"127.0.0.1:{cluster.port}"}


def test_the_proxy_of_the_environment_is_used_but_for_what_needs_none(cluster, space, probes, tunnel):
    """Only the proxy can resolve the name; loopback never goes through a proxy."""
    proxy = tunnel()
    env = {"HTTPS_PROXY": f"http://{proxy.address}", "NO_PROXY": "example.org"}
    away = cluster.write_kubeconfig("away.kubeconfig", certificate=cluster.admin, server="https://kubernetes:443")

    assert find(probes(away, env=env), space) == "foreign"
    assert set(proxy.asked) == {"kubernetes:443"}
    asked = len(proxy.asked)
    assert find(probes(cluster.kubeconfig, env=env), space) == "foreign"
    assert len(proxy.asked) == asked


def test_exceptions_that_name_nothing_stop_no_client(cluster, space, probes, tunnel):
    """Templates with an empty variable leave such entries behind."""
    proxy = tunnel()
    env = {"HTTPS_PROXY": f"http://{proxy.address}", "NO_PROXY": "., *. ,:443,*:443"}
    away = cluster.write_kubeconfig("away-too.kubeconfig", certificate=cluster.admin, server="https://kubernetes:443")

    assert find(probes(away, env=env), space) == "foreign"
    assert set(proxy.asked) == {"kubernetes:443"}


class LoginProgram:
    """An exec credential plugin: prints what its file says and notes every call."""

    def __init__(self, folder):
        self.answer, self.calls, self.script = folder / "answer", folder / "calls", folder / "login"
        self.script.write_text(f'#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >>{self.calls}\ncat {self.answer}\n')
        os.chmod(self.script, 0o755)

    def say(self, **status):
        self.answer.write_text(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                                           "status": status}))

    @property
    def user(self):
        return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(self.script),
                         "interactiveMode": "Never", "provideClusterInfo": True}}

    def asked(self):
        return [json.loads(line) for line in self.calls.read_text().splitlines()]


@pytest.fixture
def login(tmp_path):
    return LoginProgram(tmp_path)


def test_a_program_that_logs_in_is_asked_once_for_a_token(cluster, space, probes, login):
    login.say(token=cluster.token_for("kube-system", "multus"))

    probe = probes(cluster.write_kubeconfig("exec.kubeconfig", user=login.user))

    assert [find(probe, space) for _ in range(3)] == ["foreign"] * 3
    (info,) = login.asked()
    assert info["spec"]["cluster"]["server"] == cluster.url and info["spec"]["interactive"] is False


def test_a_program_that_logs_in_may_give_a_certificate(cluster, space, probes, login):
    login.say(clientCertificateData=cluster.admin[0].read_text(), clientKeyData=cluster.admin[1].read_text())

    assert find(probes(cluster.write_kubeconfig("exec.kubeconfig", user=login.user)), space) == "foreign"


def test_a_program_that_logs_in_is_asked_again_when_the_server_refuses_and_when_the_time_is_over(
        cluster, space, probes, login):
    login.say(token="nobody's")
    probe = probes(cluster.write_kubeconfig("exec.kubeconfig", user=login.user), synced=False)
    with pytest.raises(Failed, match="nauthorized"):
        find(probe, space)

    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3))
    login.say(token=cluster.token_for("kube-system", "multus"), expirationTimestamp=soon)
    assert find(probe, space) == "foreign"

    asked = len(login.asked())
    until(lambda: find(probe, space) and len(login.asked()) > asked, "another call")


def test_a_refused_token_is_read_again_and_the_request_repeated_once(cluster, space, probes, proxy, tmp_path):
    """The server says 401 to a request; the file has changed meanwhile."""
    file = tmp_path / "token"
    file.write_text(cluster.token_for("kube-system", "multus"))
    probe = probes(proxy.kubeconfig("file.kubeconfig", token_file=file))
    assert find(probe, space) == "foreign"
    proxy.forget()

    proxy.refuse("GET .*/pods/foreign", 401, times=1)
    file.write_text(cluster.token_for("kube-system", "multus"))

    assert find(probe, space) == "foreign"
    assert proxy.count("GET .*/pods/foreign") == 2
