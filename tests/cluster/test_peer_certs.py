"""cert-approver and kubeconfig_generator of the original beside ours, in turns, with one API server, one signer and the same requests.
What differs on purpose is named here by the number of the original's fault in the specification."""

import base64
import json
import os
import re
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from harness.cluster import as_pod
from harness.cluster.control_plane import free_ports
from harness.cluster.peer import BOTH, ORIGINAL, OURS, VARIABLES, needs_original, told
from harness.cluster.signing import REQUESTS, SigningCluster, conditions_of, request_object, subject_of
from harness.machine.wait import until
from harness.net.certificates import openssl

NODE = "node1"


@pytest.fixture(scope="module")
def cluster():
    cluster = SigningCluster(life=3600)
    for name, verbs, what, whom in (
            ("askers", "create", "certificatesigningrequests", "--group=system:authenticated"),
            # The original denies with a PUT of the object itself (F56).
            ("original", "update,patch", "certificatesigningrequests,events", "--serviceaccount=kube-system:multus-cert-approver")):
        cluster.kubectl("create", "clusterrole", name, f"--verb={verbs}", f"--resource={what}")
        cluster.kubectl("create", "clusterrolebinding", name, f"--clusterrole={name}", whom)
    yield cluster
    cluster.close()


@pytest.fixture
def program_for(program):
    return lambda who, name: program(name) if who == OURS else os.environ[VARIABLES[name]]


class Process:
    """A program in the background as if it were in a pod, its output in a file."""

    def __init__(self, argv, env, log):
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(argv, env=env, stdout=out, stderr=out, stdin=subprocess.DEVNULL)

    def said(self):
        return self.log.read_text()

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        try:
            return self.process.wait(90)
        finally:
            self.process.kill()


@pytest.fixture
def approve(cluster, program_for, tmp_path):
    """Starts the approver of one of the two and waits until it looks at requests; each ends well when it is told to."""
    account = as_pod.account_of(tmp_path / "account", cluster, cluster.token_for("kube-system", "multus-cert-approver"))
    running = []

    def start(who, *words):
        env = as_pod.environment(cluster, CERT_APPROVER_ADDRESS=f"127.0.0.1:{free_ports(1)[0]}")
        argv = as_pod.words(account, program_for(who, "cert-approver"), *words)
        running.append(Process(argv, env, tmp_path / f"approver-{len(running)}"))
        return running[-1]
    yield start
    for approver in running:
        if approver.process.poll() is None:
            assert approver.stop() == 0, approver.said()


@pytest.fixture
def ask(cluster, tmp_path):
    """Makes a request as a given user; yields its name."""
    def ask(user=f"system:node:{NODE}", groups=("system:nodes",), common_name=f"system:multus:{NODE}", **what):
        return cluster.ask_as(cluster.admin, request_object(tmp_path, common_name, **what), user, groups)["metadata"]["name"]
    return ask


def events_of(cluster, name):
    return [event for event in cluster.get("/api/v1/namespaces/default/events")["items"] if event["involvedObject"]["name"] == name]


def decided(cluster, name):
    """The reason of the only event, and what it says."""
    event, = until(lambda: events_of(cluster, name), f"an event of {name}")
    return event["reason"], event["message"]


def settled(value, name):
    return json.loads(json.dumps(value).replace(name, "<name>"))


@needs_original("cert-approver")
def test_both_approve_in_the_same_words(cluster, approve, ask):
    seen = {}
    for who, how in ((ORIGINAL, signal.SIGTERM), (OURS, signal.SIGINT)):
        approver = approve(who, "word", "--nosuch")
        name = ask()
        until(lambda: cluster.get(f"{REQUESTS}/{name}").get("status", {}).get("certificate"), lambda: approver.said())
        condition, = cluster.get(f"{REQUESTS}/{name}")["status"]["conditions"]
        event, = until(lambda: events_of(cluster, name), "the event")
        about = {key: event["involvedObject"].get(key) for key in ("apiVersion", "kind", "name", "namespace")}
        seen[who] = settled([{key: condition[key] for key in ("type", "status", "reason", "message")}, about, event["source"],
                             {key: event[key] for key in ("type", "reason", "message", "count")}, event["metadata"]["namespace"]], name)
        assert approver.stop(how) == 0

    assert seen[OURS] == seen[ORIGINAL]


# In the order of the rules; a request has one of these faults and all that follow.
FAULTS = [("unexpected user", {"user": "system:serviceaccount:kube-system:node1"}),
          ("is not a valid DNS subdomain", {"user": "system:node:Node_1"}), ("unexpected usages", {"usages": ["client auth"]}),
          ("unexpected groups", {"groups": ("system:nodes", "more")}), ("commonName", {"common_name": "system:multus:node2"}),
          ("organization", {"organization": "other"}), ("expirationSeconds", {"seconds": None})]
MORE_FAULTS = [("unexpected usages", {"usages": ["digital signature", "client auth", "key encipherment"]}),
               ("invalid expirationSeconds value: 31536001", {"seconds": 31536001}), ("commonName", {"common_name": "system:multus:"}),
               ("unexpected user", {"user": "system:nodes:node1"})]
FINE = [{"seconds": 31536000}, {"user": f"system:multus:{NODE}", "groups": ("system:multus",)}, {"groups": ()},
        {"usages": ["client auth", "digital signature"]}, {"user": "system:node:a.b-c.1", "common_name": "system:multus:a.b-c.1"}]


def faulty():
    for number, (fragment, _) in enumerate(FAULTS):
        request = {}
        for _, fault in reversed(FAULTS[number:]):
            request |= fault
        yield fragment, request
    yield from MORE_FAULTS


@needs_original("cert-approver")
@pytest.mark.spec("03:147")
def test_the_same_rule_decides(cluster, approve, ask):
    """F56: the original's denial is an event and no more."""
    for who in (ORIGINAL, OURS):
        approver = approve(who)
        denied = [(fragment, ask(**request)) for fragment, request in faulty()]
        fine = [ask(**request) for request in FINE]

        for fragment, name in denied:
            reason, message = decided(cluster, name)
            assert reason == "CSRDenied" and fragment in message, (who, message)
        assert [decided(cluster, name)[0] for name in fine] == ["CSRApproved"] * len(fine), who
        if who == ORIGINAL:
            until(lambda: all(f"Finished syncing CSR {name} " in approver.said() for _, name in denied), "all of them handled")
        kinds = {tuple(kind for kind, _ in conditions_of(cluster.get(f"{REQUESTS}/{name}"))) for _, name in denied}
        assert kinds == {("Denied",) if who == OURS else ()}
        assert approver.stop() == 0


@needs_original("cert-approver")
@pytest.mark.spec("03:148")
def test_both_leave_alone_what_is_not_theirs(cluster, approve, ask):
    """F59: the original takes a name that only begins like ours for its own, and denies it."""
    for who in (ORIGINAL, OURS):
        approver = approve(who)
        others = [ask(common_name="alice"), ask(signer="example.com/other"), ask(common_name="system:multu:node1")]
        similar = ask(common_name="system:multus-x")
        last = ask()

        assert decided(cluster, last)[0] == "CSRApproved"
        assert [events_of(cluster, name) for name in others] == [[], [], []], who
        if who == ORIGINAL:
            assert decided(cluster, similar)[0] == "CSRDenied"
        else:
            assert events_of(cluster, similar) == []
        assert approver.stop() == 0
        for name in (*others, similar):  # the other is to begin with its own
            cluster.kubectl("delete", "csr", name)


@needs_original("cert-approver")
def test_ours_decides_what_the_original_forgets_and_denies_what_it_lets_pass(cluster, approve, ask):
    """F63: a user whose name cannot be read; F62: names that the certificate must not have."""
    for who in (ORIGINAL, OURS):
        approver = approve(who)
        unreadable, wider = ask(user="alice"), ask(extra=("-addext", "subjectAltName=DNS:kubernetes"))

        assert decided(cluster, wider)[0] == ("CSRApproved" if who == ORIGINAL else "CSRDenied")
        if who == ORIGINAL:
            until(lambda: f'Dropping csr "{unreadable}"' in approver.said(), "it to be forgotten")
            assert events_of(cluster, unreadable) == []
        else:
            assert decided(cluster, unreadable)[0] == "CSRDenied"
        assert approver.stop() == 0
        cluster.kubectl("delete", "csr", unreadable)


@needs_original("cert-approver")
@pytest.mark.parametrize("missing", ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "token"])
def test_outside_of_a_cluster_neither_starts(cluster, program_for, tmp_path, missing):
    account = as_pod.account_of(tmp_path / "account", cluster, "x")
    if missing == "token":
        (account / "token").unlink()
    env = {key: value for key, value in as_pod.environment(cluster).items() if key != missing}

    ended = [subprocess.run(as_pod.words(account, program_for(who, "cert-approver")), env=env, capture_output=True, timeout=90)
             for who in BOTH]

    assert [done.returncode for done in ended] == [255, 255]
    assert all(done.stderr for done in ended)


class Generator(Process):
    """kubeconfig_generator of one of the two. The original writes to one place only (F54)."""

    def __init__(self, cluster, who, program, folder, certs, *flags):
        account = folder / "no-account"
        account.mkdir(exist_ok=True)
        (account / "x").touch()
        super().__init__(as_pod.words(account, program, f"--certdir={certs}", *flags),
                         {"PATH": os.environ["PATH"], "MULTUS_NODE_NAME": NODE}, folder / f"{len(list(folder.iterdir()))}.log")
        self.cluster, self.who = cluster, who

    @property
    def kubeconfig(self):
        return Path(f"/proc/{self.process.pid}/root", "run/multus/kubeconfig")

    def ends_well(self):
        """Whether it was able to: the original hears signals only some time after it has written everything."""
        status = self.stop()
        assert status == 0 or (self.who == ORIGINAL and status == -signal.SIGTERM), self.said()
        return status == 0

    def new_request(self, known):
        """The request that has no answer yet."""
        def pending():
            assert self.process.poll() is None, self.said()
            return [item for item in self.cluster.requests_for(NODE) if item["metadata"]["name"] not in known]
        return until(pending, self.said)[0]

    def wait_written(self):
        """Whole: its last line is there."""
        def written():
            assert self.process.poll() is None, self.said()
            return self.kubeconfig.exists() and len(self.kubeconfig.read_text().splitlines()) > 15
        until(written, self.said)
        return self


@pytest.fixture
def bootstrap(cluster):
    """A kubelet's kubeconfig with its certificate authority inside."""
    authority = base64.b64encode(cluster.authority.certificate.read_bytes()).decode()
    path = cluster.write_kubeconfig("bootstrap.kubeconfig", certificate=cluster.kubelet(NODE), **{"certificate-authority-data": authority})
    content = json.loads(path.read_text())
    del content["clusters"][0]["cluster"]["certificate-authority"]
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def generate(cluster, program_for, bootstrap, tmp_path):
    running = []

    def start(who, certs, *flags):
        certs.mkdir(exist_ok=True)
        running.append(Generator(cluster, who, program_for(who, "kubeconfig_generator"), tmp_path, certs,
                                 f"--bootstrap-config={bootstrap}", *flags))
        return running[-1]
    yield start
    for generator in running:
        if generator.process.poll() is None:
            generator.stop(signal.SIGKILL)


def known_requests(cluster):
    return {item["metadata"]["name"] for item in cluster.requests_for(NODE)}


def values(text):
    """Every member of the YAML with the names above it; lists have one member each here. Quotes and comments do not count."""
    found, above = set(), []
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        depth, (key, _, value) = len(line) - len(line.lstrip(" -")), line.lstrip(" -").partition(":")
        above = [(at, name) for at, name in above if at < depth]
        if value.strip():
            found.add((*(name for _, name in above), key, value.strip().strip('"')))
        above.append((depth, key))
    return found


def stored(certs):
    """Names without dates, modes; where the link leads."""
    files = {re.sub(r"\d{4}(-\d\d){5}", "<date>", path.name): stat.S_IMODE(path.stat().st_mode) for path in certs.iterdir()}
    blocks = re.findall(r"BEGIN (.*)-----", (certs / "multus-client-current.pem").read_text())
    leads = os.readlink(certs / "multus-client-current.pem")
    return files, blocks, re.sub(r"\d{4}(-\d\d){5}", "<date>", leads.replace(str(certs), "CERTS"))


@needs_original("kubeconfig_generator")
@pytest.mark.parametrize("duration", ["10m", "1h30m"])
def test_both_ask_store_and_write_the_same(cluster, generate, tmp_path, duration):
    seen = {}
    for who in BOTH:
        certs, known = tmp_path / f"certs-{who}", known_requests(cluster)
        generator = generate(who, certs, f"--cert-duration={duration}")
        request = generator.new_request(known)
        assert not generator.kubeconfig.exists()
        asked = {key: value for key, value in request["spec"].items() if key not in ("request", "extra")}
        shape = re.findall(r"(Version|Public Key Algorithm|ASN1 OID|Signature Algorithm): (.*)",
                           openssl("req", "-noout", "-text", stdin=base64.b64decode(request["spec"]["request"]).decode()))
        cluster.kubectl("certificate", "approve", request["metadata"]["name"])
        generator.wait_written()
        written = values(generator.kubeconfig.read_text().replace(str(certs), "CERTS"))
        mode = stat.S_IMODE(generator.kubeconfig.stat().st_mode)
        seen[who] = (asked, subject_of(request), shape, request["metadata"]["generateName"], written - {("preferences", "{}")},
                     mode, stored(certs))
        generator.ends_well()

    assert seen[OURS] == seen[ORIGINAL]
    assert seen[OURS][5] == 0o600


@needs_original("kubeconfig_generator")
@pytest.mark.parametrize("first, second", [(ORIGINAL, OURS), (OURS, ORIGINAL)])
def test_each_goes_on_with_what_the_other_stored(cluster, generate, tmp_path, first, second):
    certs, known = tmp_path / "certs", known_requests(cluster)
    generator = generate(first, certs)
    cluster.kubectl("certificate", "approve", generator.new_request(known)["metadata"]["name"])
    generator.wait_written().ends_well()
    before, files = known_requests(cluster), sorted(path.name for path in certs.iterdir())

    def come_and_go():
        """The files that are left where the kubeconfig was."""
        again = generate(second, certs).wait_written()
        folder = os.open(again.kubeconfig.parent, os.O_DIRECTORY)  # which keeps it
        try:
            return [os.listdir(folder)] if again.ends_well() else None
        finally:
            os.close(folder)
    assert until(come_and_go, "a proper end") == [[]]

    assert known_requests(cluster) == before
    assert sorted(path.name for path in certs.iterdir()) == files


REFUSED = {1: ["-h", "--help", "--help=true"],
           2: ["--nosuch", "-x", "-certdir=/tmp", "--certdir", "--help=maybe"],
           255: ["--certdir=/none", "--certdir=/etc/passwd", "--bootstrap-config=/none", "--bootstrap-config=/etc",
                 "--bootstrap-config=/etc/passwd", "--cert-duration=abc", "--cert-duration=", "--cert-duration=10"]}


def refusal(program, bootstrap, folder, *flags, **env):
    """Of one that ends by itself."""
    argv = [program, f"--certdir={folder}", f"--bootstrap-config={bootstrap}", *flags]
    return subprocess.run(argv, env=env, capture_output=True, text=True, timeout=90)


@needs_original("kubeconfig_generator")
@pytest.mark.parametrize("status", REFUSED)
def test_the_same_is_refused(program_for, bootstrap, tmp_path, status):
    for flag in REFUSED[status]:
        for who in BOTH:
            done = refusal(program_for(who, "kubeconfig_generator"), bootstrap, tmp_path, flag, MULTUS_NODE_NAME=NODE)

            assert (done.returncode, told(who, done)) == (status, ""), (who, flag, done.stderr)
            assert "--bootstrap-config" in done.stderr or status == 255, (who, flag)


@needs_original("kubeconfig_generator")
def test_both_need_the_name_of_the_node(program_for, bootstrap, tmp_path):
    for who in BOTH:
        done = refusal(program_for(who, "kubeconfig_generator"), bootstrap, tmp_path)

        assert done.returncode == 255 and "MULTUS_NODE_NAME" in done.stderr, who
