"""Our roles for certificates are minimal: each verb has a test that fails without it. Streamed lists are switched off
in this API server, so that lists are needed, too."""

import pytest

from harness.cluster.signing import REQUESTS, Approver, CertNode, Relay, SigningCluster, conditions_of, request_object
from harness.machine.wait import PATIENCE, Late, until
from harness.net.api_proxy import listen_in

NODE = "node1"
APPROVER = "multus-cert-approver"
DAEMON = "multus-certificates"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.fixture(scope="module")
def cluster():
    cluster = SigningCluster()
    cluster.stop_apiserver()
    cluster.start_apiserver("--feature-gates=WatchList=false")
    yield cluster
    cluster.close()


def rights(cluster, role):
    return {(resource, verb) for rule in cluster.get(f"{ROLES}/{role}")["rules"] for resource in rule["resources"]
            for verb in rule["verbs"]}


@pytest.fixture
def without(cluster):
    """Takes a right from a role until the test ends."""
    changed = []

    def take(role, resource, verb):
        whole = cluster.get(f"{ROLES}/{role}")
        changed.append((role, whole["rules"]))
        rules = [{**rule, "verbs": [v for v in rule["verbs"] if not (resource in rule["resources"] and v == verb)]}
                 for rule in whole["rules"]]
        replace(cluster, role, [rule for rule in rules if rule["verbs"]])
    yield take
    for role, rules in changed:
        replace(cluster, role, rules)


def replace(cluster, role, rules):
    cluster.request("PATCH", f"{ROLES}/{role}", {"rules": rules}, "application/merge-patch+json")


@pytest.fixture
def ask(cluster, tmp_path):
    identity = cluster.kubelet(NODE)
    return lambda: cluster.ask_as(identity, request_object(tmp_path, f"system:multus:{NODE}"))["metadata"]["name"]


def decides(cluster, name, timeout=PATIENCE):
    try:
        return until(lambda: conditions_of(cluster.get(f"{REQUESTS}/{name}")), "a decision", timeout)
    except Late:
        return []


def tells(cluster, name, timeout=PATIENCE):
    def events():
        return [event for event in cluster.get("/api/v1/namespaces/default/events")["items"]
                if event["involvedObject"]["name"] == name]
    try:
        return until(events, "an event", timeout)
    except Late:
        return []


# What the approver cannot do without a right.
APPROVER_NEEDS = {
    ("certificatesigningrequests", "get"): "decide",
    ("certificatesigningrequests", "list"): "decide",
    ("certificatesigningrequests", "watch"): "decide on what comes later",
    ("certificatesigningrequests/approval", "update"): "decide",
    ("signers", "approve"): "decide",
    ("events", "create"): "tell",
}
DAEMON_NEEDS = {
    ("certificatesigningrequests", "create"): "ask as itself",
    ("certificatesigningrequests", "list"): "renew",
    ("certificatesigningrequests", "watch"): "renew",
}


def test_every_right_has_its_test(cluster):
    assert rights(cluster, APPROVER) == set(APPROVER_NEEDS)
    assert rights(cluster, DAEMON) == set(DAEMON_NEEDS)


def test_with_all_rights_the_approver_decides_and_tells(cluster, program, ask):
    approver = Approver(program("cert-approver"), cluster).wait_ready()
    try:
        name = ask()
        assert decides(cluster, name) and tells(cluster, name), approver.log
    finally:
        assert approver.stop() == 0


@pytest.mark.parametrize("right", APPROVER_NEEDS, ids="/".join)
def test_each_right_of_the_approver_is_needed(right, cluster, program, ask, without):
    """Pain 48."""
    without(APPROVER, *right)
    before = ask()
    approver = Approver(program("cert-approver"), cluster)
    try:
        until(lambda: "forbidden" in approver.log, lambda: f"a refusal:\n{approver.log}")
        if APPROVER_NEEDS[right] == "decide":
            assert not decides(cluster, before, 3)
        elif APPROVER_NEEDS[right] == "tell":
            assert decides(cluster, before) and not tells(cluster, before, 3)
        else:
            assert not decides(cluster, ask(), 3)
        assert approver.process.running
    finally:
        assert approver.stop() == 0


@pytest.fixture
def node(request, host, daemons, shim, space):
    relay = Relay(space.cluster, listen_in(host.pid))
    node = CertNode(host, daemons, shim, space, relay)
    yield node
    relay.close()


def renewed(node, count, timeout):
    """The users behind the requests that were signed, when there are that many."""
    def signed():
        return [item["spec"]["username"] for item in node.requests() if item.get("status", {}).get("certificate")]
    try:
        until(lambda: len(signed()) >= count, "renewals", timeout)
    except Late:
        pass
    return signed()


@pytest.mark.slow
@pytest.mark.parametrize("right", [None, *DAEMON_NEEDS], ids=lambda right: right and "/".join(right) or "all")
def test_each_right_of_a_renewal_is_needed(right, cluster, program, node, without):
    """Pain 48. Without it the daemon still runs: it requests certificates as the kubelet, whose rights are not ours."""
    approver = Approver(program("cert-approver"), cluster).wait_ready()
    if right:
        without(DAEMON, *right)
    try:
        daemon = node.start()
        itself = f"system:multus:{node.space.node}"
        cannot_renew = right is not None and DAEMON_NEEDS[right] == "renew"
        users = renewed(node, 2, 30 if cannot_renew else 300)
        first = node.stored()
        if right is None:
            assert users[1] == itself
        elif DAEMON_NEEDS[right] == "ask as itself":
            assert itself not in users and len(users) > 1
        else:
            until(lambda: "forbidden" in daemon.log, lambda: f"a refusal:\n{daemon.log[-2000:]}")
            assert node.stored() == first
        assert daemon.process.running
        daemon.stop()
    finally:
        assert approver.stop() == 0
