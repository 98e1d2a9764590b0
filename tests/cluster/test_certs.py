"""A daemon with a certificate of its node's own: real API server, real signer, our approver. Certificates live 40 s."""

import contextlib
import itertools
import re
import subprocess
import threading
import time

import pytest

from harness.cluster.signing import (BOOTSTRAP, CERTIFICATES, CURRENT, Approver, CertNode, Relay, SigningCluster, conditions_of,
                                     pair_for, subject_of)
from harness.evidence import metrics
from harness.evidence.outcome import passed
from harness.machine.host import PROGRAMS
from harness.machine.wait import until
from harness.net.api_proxy import listen_in
from harness.net.certificates import Authority

METRIC = "multus_client_certificate_expiration_timestamp_seconds"


@pytest.fixture(scope="module")
def cluster():
    cluster = SigningCluster()
    yield cluster
    cluster.close()


@pytest.fixture
def approvers(cluster, program):
    """Starts approvers; they end with the test."""
    started = []

    def start(**options):
        options.setdefault("cluster", cluster)
        started.append(Approver(program("cert-approver"), name=f"approver-{len(started)}", **options).wait_ready())
        return started[-1]
    yield start
    for approver in started:
        assert approver.stop() == 0, approver.log


@pytest.fixture
def nodes(request, host, daemons, shim):
    """Makes the host a node of a cluster."""
    made = []

    def make(space):
        relay = Relay(space.cluster, listen_in(host.pid))
        made.append(CertNode(host, daemons, shim, space, relay))
        return made[-1]
    yield make
    for node in made:
        if passed(request):
            node.close()
        node.relay.close()


@pytest.fixture
def node(nodes, space):
    return nodes(space)


def expiry_of(text):
    done = subprocess.run(["openssl", "x509", "-noout", "-enddate", "-dateopt", "iso_8601"], input=text, text=True,
                          capture_output=True, check=True)
    return done.stdout


def stamp(node):
    text = node.stored()
    return text and expiry_of(text)


@pytest.mark.spec("03:140")
def test_the_first_certificate_is_issued_and_stored(node, approvers):
    approvers()

    node.start(metricsPort=metrics.PORT)

    first = node.requests()[0]
    assert subject_of(first) == (f"system:multus:{node.space.node}", "system:multus")
    assert first["spec"]["username"] == f"system:node:{node.space.node}"
    assert first["spec"]["signerName"] == "kubernetes.io/kube-apiserver-client"
    assert sorted(first["spec"]["usages"]) == ["client auth", "digital signature"]
    assert first["spec"]["expirationSeconds"] == 600
    assert first["metadata"]["name"].startswith("csr-")
    until(node.stored, "the stored pair")
    target = node.host.path(CURRENT).readlink()
    assert re.fullmatch(CERTIFICATES + r"/multus-client-\d{4}(-\d\d){5}\.pem", str(target))
    assert node.inside(CURRENT).stat().st_mode & 0o7777 == 0o600
    assert node.host.path(CERTIFICATES).stat().st_mode & 0o7777 == 0o755
    text = node.stored()
    assert text.index("BEGIN CERTIFICATE") < text.index("BEGIN EC PRIVATE KEY")
    page = metrics.page(node.host)
    assert abs(page.value(METRIC) - time.time()) < 60
    assert page.value("multus_client_certificate_lifetime_seconds") >= page.value(METRIC) - time.time()
    assert page.value("multus_client_certificate_wanted_seconds") < 60
    assert node.pod("web").add().ok


@pytest.mark.slow
@pytest.mark.spec("03:140")
def test_ten_certificates_and_no_add_fails(node, approvers, space):
    """Pains 15 and 16."""
    approvers()
    daemon = node.start()
    pids, seen, failed, stop = {daemon.pid}, set(), [], threading.Event()
    pods = [node.pod(f"web{number}") for number in range(2)]

    def churn(pod):
        while not stop.is_set():
            for outcome in (pod.add(), pod.delete()):
                if not outcome.ok:
                    failed.append(outcome.stdout)
    threads = [threading.Thread(target=churn, args=(pod,)) for pod in pods]
    for thread in threads:
        thread.start()

    def rotated():
        seen.add(node.stored())
        pids.add(daemon.pid)
        return len(seen - {None}) > 10 or failed
    try:
        until(rotated, lambda: f"ten rotations, only {len(seen)}:\n{daemon.log[-3000:]}", 900)
    finally:
        stop.set()
        for thread in threads:
            thread.join()

    assert not failed
    assert pids == {daemon.pid} and daemon.process.running
    users = {item["spec"]["username"] for item in node.requests()[1:]}
    assert users == {f"system:multus:{space.node}"}
    assert len(node.files()) <= 3, "two files and the link"
    assert node.pod("last").add().ok


@pytest.mark.slow
@pytest.mark.spec("03:140")
def test_watches_lose_nothing_across_rotations(node, approvers, space):
    """Pain 16: what is made between any two certificates is in the store without being asked for."""
    approvers()
    daemon = node.start(metricsPort=metrics.PORT)

    def known():
        return metrics.page(node.host).value("multus_store_objects", kind="network")
    others = known()
    for number in range(4):
        before = node.stored()
        space.add_network(f"extra{number}")
        until(lambda: node.stored() not in (None, before), "the next certificate", 300)
        space.add_network(f"more{number}")

    until(lambda: known() == others + 8, lambda: f"8 more than {others}, not {known()}")
    assert daemon.process.running


@pytest.mark.slow
def test_an_outage_across_a_renewal_ends_by_itself(node, approvers):
    """Pain 15."""
    approvers()
    daemon = node.start()
    pod = node.pod("web")
    assert pod.add().ok

    node.relay.go_away()
    reason = until(node.why_not, "the certificate to expire", 300)

    assert "certificate" in reason
    assert daemon.process.running and daemon.answers("/healthz")
    assert pod.delete().ok, "a DEL needs no API"

    node.relay.come_back()
    until(lambda: node.why_not() == "", lambda: f"ready again:\n{daemon.log[-3000:]}")
    assert node.pod("again").add().ok
    assert daemon.process.running


@pytest.mark.spec("03:141")
def test_without_an_approver_it_serves_and_says_what_it_waits_for(node, approvers):
    daemon = node.launch()
    until(lambda: daemon.answers("/healthz"), "alive")
    until(lambda: "approved" in node.why_not(), lambda: f"the reason, not {node.why_not()}")
    until(lambda: node.events("CertificatePending"), lambda: f"the event:\n{daemon.log}")
    assert node.events("CertificatePending")[0]["type"] == "Warning"
    assert "cert-approver" in node.why_not()
    daemon.wait_log(r"still waiting for the request csr-\S+ to be approved")
    assert daemon.process.running

    approvers()

    daemon.wait_ready()
    until(lambda: node.events("CertificateIssued"), "the event of the end")
    assert len(node.requests()) == 1 or node.requests()[0].get("status", {}).get("certificate")


def test_a_request_without_an_answer_is_told_with_the_command_that_approves_it(node, cluster, program):
    program("multusctl")
    daemon = node.launch().wait_alive()
    pattern = r"`kubectl (certificate approve csr-\S+)`"
    told = until(lambda: re.search(pattern, node.host.run(f"{PROGRAMS}/multusctl", "status").stderr), "the hint")

    cluster.kubectl(*told[1].split())

    daemon.wait_ready()
    assert "not ready" not in node.host.run(f"{PROGRAMS}/multusctl", "status").stderr


@pytest.mark.spec("03:146")
def test_a_denied_request_is_told_by_status_and_followed_by_another(node, approvers, cluster, program):
    daemon = node.launch()
    name = until(node.requests, "a request")[0]["metadata"]["name"]

    cluster.kubectl("certificate", "deny", name)

    daemon.wait_log(rf"the request {name} was denied")
    until(lambda: node.events("CertificateNotIssued"), "the event")
    program("multusctl")
    told = until(lambda: "was denied" in (now := node.host.run(f"{PROGRAMS}/multusctl", "status").stderr) and now, "the status")
    assert name in told
    until(lambda: len(node.requests()) > 1, "the next request, after 1 to 2 minutes", 180)
    approvers()
    daemon.wait_ready()
    assert "not ready" not in node.host.run(f"{PROGRAMS}/multusctl", "status").stderr


@pytest.mark.spec("03:142")
@pytest.mark.parametrize("state", ["expired", "corrupt", "of another node"])
def test_a_stored_pair_that_cannot_be_used_is_replaced(node, approvers, cluster, state):
    approvers()
    texts = {"corrupt": lambda: pair_for(cluster, node.space.node)[:700],
             "of another node": lambda: pair_for(cluster, "other"),
             "expired": lambda: expired_pair(cluster, node.space.node)}
    node.store(texts[state]())

    node.start()

    assert node.requests()[0]["spec"]["username"] == f"system:node:{node.space.node}"
    pod = node.pod("web")
    until(lambda: "EC PRIVATE KEY" in (node.stored() or "") and pod.add().ok, "a pair that works")


def expired_pair(cluster, node):
    """Issued by the signer's own authority with an end in the past."""
    from harness.net.certificates import new_key, openssl
    key = new_key(cluster.folder / "expired.key")
    request = openssl("req", "-new", "-key", key, "-subj", f"/O=system:multus/CN=system:multus:{node}")
    text = openssl("x509", "-req", "-CA", cluster.authority.certificate, "-CAkey", cluster.authority.key,
                   "-CAcreateserial", "-days", "-1", stdin=request)
    return text + key.read_text()


@pytest.mark.spec("03:143")
def test_a_replacement_that_was_cut_short_is_finished(node, cluster):
    """The gap of pain 16: `current` is missing, `updated` is there; no approver runs."""
    node.store(pair_for(cluster, node.space.node), link="updated")

    node.start()

    assert node.requests() == []
    assert node.host.path(CURRENT).is_symlink()
    assert node.pod("web").add().ok


@pytest.mark.spec("03:144")
def test_the_originals_store_is_taken_over_as_it_is(node, cluster, host):
    """Its names, its link, its order; and what ours writes has the same form."""
    text = pair_for(cluster, node.space.node)
    node.store(text)

    node.start()

    assert node.requests() == []
    assert node.stored() == text
    assert node.pod("web").add().ok


def test_files_that_are_deleted_are_stored_again(node, approvers, cluster):
    """Pain 16."""
    node.store(pair_for(cluster, node.space.node))
    daemon = node.start()

    node.host.run("rm", "-rf", CERTIFICATES)

    assert node.pod("web").add().ok
    until(node.stored, lambda: f"the pair again:\n{daemon.log[-2000:]}")
    assert node.requests() == []


@pytest.mark.slow
def test_a_link_that_comes_and_goes_stops_nothing(node, approvers, cluster):
    """Pain 16: the gap of seconds in which others find no `current`."""
    approvers()
    daemon = node.start()
    end = time.monotonic() + 12
    pod = node.pod("web")
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            node.host.path(CURRENT).unlink()
        assert pod.add().ok and pod.delete().ok
    assert daemon.process.running and node.why_not() == ""


@pytest.mark.parametrize("kind", ["read-only", "full", "a file"])
def test_a_folder_that_takes_nothing_is_said_and_lived_with(node, approvers, host, kind):
    approvers()
    if kind == "a file":
        host.write(CERTIFICATES, "mine")
    else:
        host.path(CERTIFICATES).mkdir(parents=True)
        options = "ro" if kind == "read-only" else "size=4k"
        host.run("mount", "-t", "tmpfs", "-o", options, "none", CERTIFICATES)
    if kind == "full":
        host.run("dd", "if=/dev/zero", f"of={CERTIFICATES}/filler", "bs=4096", "count=1")

    daemon = node.start()

    daemon.wait_log("the current certificate cannot be stored")
    assert node.pod("web").add().ok
    assert kind != "a file" or host.path(CERTIFICATES).read_text() == "mine"
    if kind != "a file":
        node.close()
        daemon.stop()
        host.run("umount", CERTIFICATES)


@pytest.mark.spec("03:145")
@pytest.mark.parametrize("change, text", [
    ({"certDuration": "5m"}, "600"), ({"certDuration": "abc"}, "abc"), ({"certDuration": "-1h"}, "too short"),
    ({"certDuration": "0"}, "too short"), ({"certDuration": "1000000h"}, "too long"), ({"certDir": ""}, "certDir"),
    ({"bootstrapKubeconfig": ""}, "bootstrapKubeconfig"), ({"bootstrapKubeconfig": "/nowhere"}, "/nowhere")])
def test_a_configuration_that_cannot_work_ends_the_start_with_its_reason(node, change, text):
    daemon = node.launch(certificate=change)

    assert daemon.process.wait() == 3
    assert "perNodeCertificate" in daemon.log and text in daemon.log


@pytest.mark.spec("03:145")
def test_without_the_name_of_the_node_the_start_fails(node):
    daemon = node.launch(env={})

    assert daemon.process.wait() == 3
    assert "MULTUS_NODE_NAME" in daemon.log


@pytest.mark.parametrize("text", ["", "{", "a: [", '{"current-context":"x"}', "\0\1\2"])
def test_a_malformed_bootstrap_file_ends_the_start_with_its_name(node, host, text):
    host.write(BOOTSTRAP, text)

    daemon = node.launch()

    assert daemon.process.wait() == 3
    assert "bootstrap" in daemon.log


SKEW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t which, struct timespec* out) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(which, out);
  if (result == 0 && which == CLOCK_REALTIME) out->tv_sec += atol(getenv("SKEW"));
  return result;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
"""


@pytest.fixture
def skew(host, tmp_path):
    """Words that make a program see another time."""
    (tmp_path / "skew.c").write_text(SKEW)
    subprocess.run(["clang-19", "-shared", "-fPIC", "-O1", "-o", tmp_path / "skew.so", tmp_path / "skew.c", "-ldl"],
                   check=True)
    host.write("/srv/skew.so", (tmp_path / "skew.so").read_bytes(), 0o755)
    return lambda seconds: ("env", "LD_PRELOAD=/srv/skew.so", f"SKEW={seconds}")


@pytest.mark.slow
def test_a_clock_that_is_ahead_is_told_and_lived_with(node, approvers, skew):
    """Each certificate looks expired when it is issued; the servers take it."""
    approvers()

    daemon = node.launch(through=skew(1800)).wait_ready()

    daemon.wait_log("this node's clock says")
    pod = node.pod("web")
    assert pod.add().ok
    begin, count = time.monotonic(), len(node.requests())
    first = node.stored()
    until(lambda: node.stored() not in (None, first), "a renewal", 300)
    passed = time.monotonic() - begin
    assert len(node.requests()) <= count + passed / 2 + 2, "not request after request"
    assert pod.delete().ok and pod.add().ok
    assert node.why_not() == ""


@pytest.mark.slow
def test_another_authority_is_met_with_the_bootstrap_credentials(nodes, approvers):
    """Pain 16: the cluster's authority is replaced while the daemon runs, and later the bootstrap file."""
    from harness.cluster.workspace import Workspace
    cluster = SigningCluster(life=300)
    try:
        space = Workspace(cluster)
        node = nodes(space)
        old = approvers(cluster=cluster)
        daemon = node.start()
        assert node.pod("before").add().ok
        old.stop()

        replace_authority(cluster)
        node.relay.cut()
        daemon.wait_log("x509|unknown authority|certificate")
        assert daemon.process.running and daemon.answers("/healthz")
        node.write_bootstrap()
        approvers(cluster=cluster)

        until(lambda: len(node.requests()) > 1, lambda: f"a request of the kubelet's:\n{daemon.log[-3000:]}", 300)
        assert node.requests()[-1]["spec"]["username"] == f"system:node:{space.node}"
        until(lambda: adds(node), lambda: f"an ADD:\n{daemon.log[-3000:]}")
        assert daemon.process.running
        node.close()
        daemon.stop()
    finally:
        cluster.close()


numbers = itertools.count()


def adds(node):
    return node.pod(f"after{next(numbers)}").add().ok


def replace_authority(cluster):
    cluster.stop_apiserver()
    cluster.authority = Authority(cluster.folder, "second-ca")
    cluster.sign_server()
    cluster.admin = cluster.authority.sign("admin", "/O=system:masters/CN=admin", "clientAuth")
    cluster.kubeconfig = cluster.write_kubeconfig("admin.kubeconfig", certificate=cluster.admin)
    cluster.start_apiserver()
    cluster.restart_controllers()


def test_a_spoofed_node_gets_no_certificate(node, approvers, cluster, space, tmp_path):
    """Pain 48: a kubelet asks for the certificate of another node."""
    from harness.cluster.signing import REQUESTS, request_object
    approvers()
    thief = cluster.kubelet("thief")

    asked = cluster.ask_as(thief, request_object(tmp_path, f"system:multus:{space.node}"))

    name = asked["metadata"]["name"]
    decided = until(lambda: conditions_of(cluster.get(f"{REQUESTS}/{name}")), "a decision")
    assert [kind for kind, _ in decided] == ["Denied"]
    assert '"system:multus:thief"' in decided[0][1] and f'"system:multus:{space.node}"' in decided[0][1]
    assert not cluster.get(f"{REQUESTS}/{name}")["status"].get("certificate")
