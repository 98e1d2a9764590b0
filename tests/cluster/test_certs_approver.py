"""cert-approver against a real API server and signer: each rule, conflicts, outages, several at once."""

import base64
import contextlib
import socket
import subprocess
import time

import pytest

from harness.cluster.control_plane import Refused
from harness.cluster.signing import REQUESTS, Approver, SigningCluster, conditions_of, request_object
from harness.machine.proc import peak_memory
from harness.machine.wait import until
from harness.net.api_proxy import ApiProxy
from harness.net.certificates import openssl

NODE = "node1"


@pytest.fixture(scope="module")
def cluster():
    cluster = SigningCluster()
    cluster.kubectl("create", "clusterrole", "askers", "--verb=create", "--resource=certificatesigningrequests")
    cluster.kubectl("create", "clusterrolebinding", "askers", "--clusterrole=askers", "--group=system:authenticated")
    yield cluster
    cluster.close()


@pytest.fixture
def approver_program(program):
    return program("cert-approver")


@pytest.fixture
def approvers(cluster, approver_program):
    started = []

    def start(**options):
        started.append(Approver(approver_program, cluster, name=f"approver-{len(started)}", **options).wait_ready())
        return started[-1]
    yield start
    for approver in started:
        assert approver.stop() == 0, approver.log


@pytest.fixture
def ask(cluster, tmp_path):
    """Makes a request as a given user; yields its name. Requests that are left are deleted at the end of the test."""
    made = []

    def ask(user=f"system:node:{NODE}", groups=("system:nodes",), common_name=f"system:multus:{NODE}", identity=None,
            **what):
        body = what.pop("body", None) or request_object(tmp_path, common_name, **what)
        asked = cluster.ask_as(identity, body) if identity else cluster.ask_as(cluster.admin, body, user, groups)
        made.append(asked["metadata"]["name"])
        return made[-1]
    yield ask
    for name in made:
        cluster.kubectl("delete", "csr", name, "--ignore-not-found")


def decision(cluster, name):
    return conditions_of(cluster.get(f"{REQUESTS}/{name}"))


def events_of(cluster, name):
    return [(event["type"], event["reason"], event["message"])
            for event in cluster.get("/api/v1/namespaces/default/events")["items"]
            if event["involvedObject"]["name"] == name]


def test_a_request_of_a_node_is_approved_and_signed(cluster, approvers, ask):
    approver = approvers()
    name = ask()

    until(lambda: decision(cluster, name), lambda: f"a decision:\n{approver.log}")

    assert decision(cluster, name) == [("Approved", f'Auto-approved CSR "{name}"')]
    until(lambda: cluster.get(f"{REQUESTS}/{name}")["status"].get("certificate"), "the certificate")
    until(lambda: events_of(cluster, name), "the event")
    assert events_of(cluster, name) == [("Normal", "CSRApproved", f'CSR "{name}" has been approved by csr-approver')]
    until(lambda: approver.value('multus_cert_approver_decisions_total{decision="approved"}') == 1, "the count")


def rsa_key(folder):
    path = folder / "rsa.key"
    openssl("genrsa", "-out", path, "2048")
    return path


def with_forged_signature(folder):
    """A request whose last byte was changed."""
    body = request_object(folder, f"system:multus:{NODE}")
    pem = base64.b64decode(body["spec"]["request"]).decode()
    der = bytearray(base64.b64decode("".join(pem.splitlines()[1:-1])))
    der[-1] ^= 1
    text = base64.encodebytes(bytes(der)).decode()
    pem = f"-----BEGIN CERTIFICATE REQUEST-----\n{text}-----END CERTIFICATE REQUEST-----\n"
    body["spec"]["request"] = base64.b64encode(pem.encode()).decode()
    return body


RULES = {
    "no node name": (dict(user="system:node:", groups=()), "failed to parse the username"),
    "no colon": (dict(user="alice"), "failed to parse the username"),
    "other user": (dict(user="system:serviceaccount:kube-system:node1", groups=()), "unexpected user"),
    "node name": (dict(user="system:node:Node_1", common_name="system:multus:Node_1"), "is not a valid DNS subdomain"),
    "usage missing": (dict(usages=["client auth"]), "unexpected usages"),
    "usage extra": (dict(usages=["digital signature", "client auth", "key encipherment"]), "unexpected usages"),
    "group": (dict(groups=("system:nodes", "more")), "unexpected groups"),
    "other node": (dict(common_name="system:multus:node2"), "commonName"),
    "organization": (dict(organization="other"), "organization"),
    "no duration": (dict(seconds=None), "expirationSeconds"),
    "duration": (dict(seconds=31536001), "invalid expirationSeconds value: 31536001"),
    "dns name": (dict(extra=("-addext", "subjectAltName=DNS:kubernetes")), "subjectAltName"),
    "address": (dict(extra=("-addext", "subjectAltName=IP:10.0.0.1")), "subjectAltName"),
    "authority": (dict(extra=("-addext", "basicConstraints=critical,CA:TRUE")), "unexpected extensions"),
}


@pytest.mark.spec("03:147")
def test_each_rule_denies_with_its_reason(cluster, approvers, ask):
    approver = approvers()
    names = {}
    for rule, (what, _) in RULES.items():
        names[rule] = ask(**what)

    for rule, (_, text) in RULES.items():
        decided = until(lambda: decision(cluster, names[rule]), lambda: f"a decision for {rule}:\n{approver.log}")
        assert [kind for kind, _ in decided] == ["Denied"], (rule, decided)
        assert text in decided[0][1], rule
    name = names["other node"]
    until(lambda: events_of(cluster, name), "the event")
    (kind, reason, message), = events_of(cluster, name)
    assert (kind, reason) == ("Warning", "CSRDenied")
    assert message.startswith(f'The CSR "{name}" has been denied by csr-approver: commonName')
    until(lambda: approver.value('multus_cert_approver_decisions_total{decision="denied"}') == len(RULES), "the count")


@pytest.mark.spec("03:147")
def test_another_key_is_denied(cluster, approvers, ask, tmp_path):
    approvers()
    curve = tmp_path / "p384.key"
    openssl("ecparam", "-name", "secp384r1", "-genkey", "-noout", "-out", curve)

    for key in (rsa_key(tmp_path), curve):
        name = ask(key=key)
        (kind, message), = until(lambda: decision(cluster, name), "a decision")
        assert kind == "Denied" and "unexpected key" in message


def test_a_forged_signature_does_not_get_as_far_as_the_approver(ask, tmp_path):
    with pytest.raises(Refused) as refused:
        ask(body=with_forged_signature(tmp_path))

    assert refused.value.status == 422


@pytest.mark.spec("03:148")
def test_what_is_not_ours_is_left_alone(cluster, approvers, ask):
    approvers()
    others = [ask(common_name="system:multus-x"), ask(common_name="alice"),
              ask(signer="example.com/other"),
              ask(signer="kubernetes.io/kubelet-serving", user="system:node:node1", common_name="system:node:node1",
                  organization="system:nodes", usages=["digital signature", "server auth"],
                  extra=("-addext", "subjectAltName=DNS:node1"))]
    ours = ask()

    until(lambda: decision(cluster, ours), "a decision on ours")

    assert [decision(cluster, name) for name in others] == [[], [], [], []]


def text_of(body):
    return base64.b64decode(body["spec"]["request"]).decode()


def with_text(body, text):
    spec = {**body["spec"], "request": base64.b64encode(text.encode()).decode()}
    return {**body, "spec": spec}


def behind_a_long_line(good, bad):
    """OpenSSL reads lines in pieces of 254 bytes and finds the good request; Go finds none there, and reads the bad one."""
    return "x" * 254 + good + bad


NOT_CANONICAL = {
    "two requests": behind_a_long_line,
    "text before": lambda good, bad: "for node1\n" + good,
    "text behind": lambda good, bad: good + bad,
    "carriage returns": lambda good, bad: good.replace("\n", "\r\n"),
    "no last line feed": lambda good, bad: good.rstrip("\n"),
}


@pytest.mark.spec("03:148")
def test_a_text_that_the_signer_may_read_otherwise_is_neither_approved_nor_signed(cluster, approvers, ask, tmp_path):
    """With a kubelet's own credentials, past the real API server, beside a good request."""
    approver = approvers()
    kubelet = cluster.kubelet(NODE)
    good = request_object(tmp_path, f"system:multus:{NODE}")
    bad = request_object(tmp_path, "alice", organization="kubeadm:cluster-admins")
    names = {}
    for what, made_of in NOT_CANONICAL.items():
        body = with_text(good, made_of(text_of(good), text_of(bad)))
        names[what] = ask(body=body, identity=kubelet)
    ours = ask(body=good, identity=kubelet)

    until(lambda: cluster.get(f"{REQUESTS}/{ours}")["status"].get("certificate"), lambda: f"ours signed:\n{approver.log}")

    for what, name in names.items():
        left_alone = f'request {name} of "system:node:{NODE}" is left alone: certificate request: '
        until(lambda: decision(cluster, name) or left_alone in approver.log, lambda: f"{what}:\n{approver.log}")
        assert decision(cluster, name) == [], what
        assert "certificate" not in cluster.get(f"{REQUESTS}/{name}")["status"], what
        assert approver.log.count(left_alone) == 1, what
    assert decision(cluster, ours) == [("Approved", f'Auto-approved CSR "{ours}"')]


@pytest.fixture
def proxy(cluster):
    proxy = ApiProxy(cluster)
    yield proxy
    proxy.close()


@pytest.mark.spec("03:149")
def test_a_conflict_is_tried_again_at_once(cluster, approvers, ask, proxy):
    approver = approvers(server=proxy.url)
    proxy.refuse("PUT .*/approval", 409, times=1)
    name = ask()

    until(lambda: decision(cluster, name), lambda: f"a decision:\n{approver.log}")

    assert approver.value("multus_cert_approver_conflicts_total") == 1


@pytest.mark.slow
@pytest.mark.spec("03:149")
def test_an_outage_is_lived_through(cluster, approvers, ask, proxy):
    """The original forgets a request after 0.2 s."""
    approver = approvers(server=proxy.url)
    proxy.refuse(".*certificatesigningrequests/", 503)
    name = ask()
    until(lambda: approver.value("multus_cert_approver_failures_total") >= 3, lambda: approver.log)
    assert decision(cluster, name) == []

    proxy.rules.clear()
    proxy.cut()

    until(lambda: decision(cluster, name), lambda: f"a decision:\n{approver.log}")


@pytest.mark.spec("03:149")
def test_a_request_that_goes_while_it_waits_is_forgotten(cluster, approvers, ask, proxy):
    approver = approvers(server=proxy.url)
    proxy.refuse(".*certificatesigningrequests/", 503)
    name = ask()
    until(lambda: approver.value("multus_cert_approver_pending_requests") == 1, "it to be seen")

    cluster.kubectl("delete", "csr", name)

    until(lambda: approver.value("multus_cert_approver_pending_requests") == 0, "it to be forgotten")
    assert approver.process.running


def test_two_approvers_decide_each_request_once(cluster, approvers, ask):
    first, second = approvers(), approvers()
    names = [ask() for _ in range(8)]

    for name in names:
        until(lambda: decision(cluster, name), "a decision")

    assert all(len(decision(cluster, name)) == 1 for name in names)
    decided = 'multus_cert_approver_decisions_total{decision="approved"}'
    until(lambda: first.value(decided) + second.value(decided) == len(names), "each counted once")
    until(lambda: all(events_of(cluster, name) for name in names), "the events")
    assert all(len(events_of(cluster, name)) == 1 for name in names)


def test_requests_that_were_there_before_are_decided_at_the_start(cluster, approvers, ask):
    name = ask()

    approvers()

    until(lambda: decision(cluster, name), "a decision")


def test_it_tells_its_health(cluster, approver_program, ask, proxy):
    proxy.refuse(".*certificatesigningrequests", 503)
    approver = Approver(approver_program, cluster, server=proxy.url)
    try:
        until(lambda: approver.get("/healthz"), "an answer")
        assert approver.get("/healthz")[0] == 200
        assert approver.get("/readyz")[0] == 500
        assert approver.get("/nothing")[0] == 404
        proxy.rules.clear()
        until(lambda: approver.get("/readyz")[0] == 200, "ready")
    finally:
        assert approver.stop() == 0


def test_large_requests_and_heads_take_little_memory(cluster, approvers, ask, tmp_path):
    """A client that may ask may ask for much, and every process of the node may speak to the port. The shipped limit is 32 Mi."""
    body = request_object(tmp_path, f"system:multus:{NODE}")
    large = {**body, "metadata": {"generateName": "large-", "annotations": {"ballast": "x" * 250_000}}}
    names = [ask(body=large) for _ in range(20)]
    approver = approvers()
    heads = []
    for _ in range(200):
        connection = socket.create_connection(("127.0.0.1", approver.port))
        heads.append(connection)
        connection.setblocking(False)
        with contextlib.suppress(BlockingIOError, ConnectionError):
            connection.send(b"GET /metrics HTTP/1.1\r\nX: " + b"y" * 60_000)
    names += [ask(body=large) for _ in range(10)]
    small = ask()
    begin = time.monotonic()
    assert approver.get("/healthz")[0] == 200
    took = time.monotonic() - begin
    until(lambda: decision(cluster, small), "a decision on the small one")
    peak = peak_memory(approver.process.process.pid)
    print(f"30 requests of 250 kB, 200 heads of 60 kB: peak {peak / 2**20:.1f} MB, /healthz after {took:.2f} s")
    for connection in heads:
        connection.close()
    assert peak <= 24 * 2**20
    assert took < 5
    assert [decision(cluster, name) for name in names] == [[]] * len(names)


def test_arguments_are_ignored_and_help_helps(approver_program):
    done = subprocess.run([approver_program, "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "-kubeconfig" in done.stderr and "client certificates" in done.stderr
    done = subprocess.run([approver_program, "-version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("cert-approver: version:")
    done = subprocess.run([approver_program, "--nosuch"], capture_output=True, text=True, env={})
    assert done.returncode == 255 and "ignored" in done.stderr and "KUBERNETES_SERVICE_HOST" in done.stderr


@pytest.mark.parametrize("text", ["", "{", "\0", '{"clusters": 7}'])
def test_a_malformed_kubeconfig_ends_the_start(approver_program, tmp_path, text):
    (tmp_path / "bad").write_text(text)

    done = subprocess.run([approver_program, "-kubeconfig", tmp_path / "bad"], capture_output=True, text=True)

    assert done.returncode == 255 and "bad" in done.stderr
