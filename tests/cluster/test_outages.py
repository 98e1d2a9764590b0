"""An API server that goes, comes back, forgets, changes its certificate, or is slow."""

import json
import shutil
import time

import pytest

from harness.cluster.control_plane import free_ports
from harness.cluster.probe import Failed, Probe
from harness.cluster.workspace import Workspace
from harness.machine.wait import until
from harness.net.certificates import Authority


def names(probe, space, *wanted):
    return {name for name in wanted
            if probe.ask("find_network", namespace=space.namespace, name=name)}


@pytest.mark.spec("03:106")
def test_a_watch_that_is_cut_goes_on_where_it_was(space, proxied, proxy):
    """Load balancers cut connections: no failure of the API if the watch had lived for more than a second."""
    space.add_network("first")
    until(lambda: proxied.stats()["networks"] == 1, "the first network")
    before = proxied.stats()["networkWatch"]

    for number in range(3):
        streams, seen_at = proxied.stats()["networkWatch"]["streams"], time.monotonic()
        until(lambda: time.monotonic() > seen_at + 1.1, "the stream to have lived for more than a second")
        proxy.cut()
        space.add_network(f"n{number}")
        until(lambda: proxied.stats()["networkWatch"]["streams"] > streams, "a new stream")
        until(lambda: proxied.stats()["networks"] == number + 2, "the network added meanwhile")

    after = proxied.stats()["networkWatch"]
    assert after["lists"] == before["lists"], "it listed again"
    assert after["failures"] == before["failures"], "it backed off"


def test_a_watch_cut_in_the_middle_of_an_object_loses_nothing(space, proxied, proxy):
    large = json.dumps({"cniVersion": "1.0.0", "name": "n", "type": "bridge", "x": "y" * 200000})
    lists = proxied.stats()["networkWatch"]["lists"]
    for number in range(3):
        proxy.cut_after(50000 * (number + 1))
        space.add_network(f"n{number}", config=large)

        until(lambda: proxied.stats()["networks"] == number + 1, "the network")
        assert proxy.left is None, "nothing was cut"

    assert proxied.ask("find_network", namespace=space.namespace, name="n2")["config"] == large
    assert proxied.stats()["networkWatch"]["lists"] == lists, "it listed again"


@pytest.mark.slow
@pytest.mark.spec("03:104", "03:105")
def test_a_forgotten_position_means_a_new_list_and_the_old_serves_meanwhile(own_cluster, tools):
    cluster = own_cluster()
    cluster.install_definitions()
    space = Workspace(cluster)
    probe = Probe(tools / "kube-probe", cluster.kubeconfig, space.node)
    space.add_network("goes")
    space.add_network("stays")
    probe.ask("wait_synced", waitMs=90000)
    until(lambda: probe.stats()["networks"] == 2, "both networks")
    lists = probe.stats()["networkWatch"]["lists"]

    cluster.stop_apiserver()
    until(lambda: "downMs" in probe.stats()["networkWatch"], "the end of the watch")
    assert probe.ask("find_network", namespace=space.namespace, name="goes"), "the old is not served"
    # A second server, which our watch does not know, makes the changes; then history is dropped.
    port, cluster.port = cluster.port, free_ports(1)[0]
    cluster.url = f"https://127.0.0.1:{cluster.port}"
    cluster.start_apiserver()
    space.delete_network("goes")
    space.add_network("comes")
    cluster.stop_apiserver()
    cluster.compact()
    cluster.port, cluster.url = port, f"https://127.0.0.1:{port}"
    cluster.start_apiserver()

    until(lambda: probe.stats()["networkWatch"]["lists"] > lists, "a new list")
    until(lambda: probe.stats()["networks"] == 2, "the new state")
    assert names(probe, space, "stays", "comes", "goes") == {"stays", "comes"}
    probe.close()


@pytest.mark.spec("03:104")
@pytest.mark.parametrize("lists", ["streamed", "in pages"])
def test_a_server_that_forgets_after_each_list_is_not_asked_in_a_circle(space, probes, proxy, cluster, lists):
    """Once, this made twelve thousand full lists in three seconds."""
    space.add_network("first")
    proxy.forget_positions()
    if lists == "in pages":
        proxy.refuse("sendInitialEvents=true", 400)
    began = time.monotonic()
    probe = probes(proxy.kubeconfig("forgetful", token=cluster.token_for("kube-system", "multus")))

    until(lambda: probe.stats()["networkWatch"]["lists"] >= 3, "three lists")

    assert time.monotonic() - began >= 3, "no pause of 1 s and 2 s at least between them"
    assert probe.stats()["networkWatch"]["lists"] <= 4
    asked = [target for _, target in proxy.requests if "network-attachment-definitions?" in target]
    relists = [target for target in asked if "resourceVersionMatch=NotOlderThan&resourceVersion=" in target
               or ("resourceVersionMatch=NotOlderThan" in target and "watch=true" not in target)]
    assert len(relists) >= 2, f"a list may be older than what was seen: {asked}"
    assert names(probe, space, "first") == {"first"}
    proxy.forgets = False
    space.add_network("second")
    until(lambda: names(probe, space, "second") and "downMs" not in probe.stats()["networkWatch"], "a watch that lasts")


@pytest.mark.slow
@pytest.mark.spec("03:107")
def test_an_outage_leaves_what_is_known_and_ends_by_itself(space, probe, cluster):
    space.add_pod("p", networks="x")
    space.add_network("n")
    until(lambda: probe.stats()["pods"] == 1 and probe.stats()["networks"] == 1, "both in the store")
    uid = space.pod("p")["metadata"]["uid"]

    cluster.stop_apiserver()
    try:
        assert probe.ask("find_pod", namespace=space.namespace, name="p", uid=uid)["uid"] == uid
        assert probe.ask("find_network", namespace=space.namespace, name="n")
        # Asks for nothing: not held up for long (pain 29).
        plain = probe.start("write_status", namespace=space.namespace, name="p", uid=uid, text="[7]",
                            asksForNetworks=False).whole()
        assert plain["result"] is True and plain["ms"] < 20000
        unknown = probe.start("find_pod", namespace=space.namespace, name="unknown", waitMs=2500).whole()
        assert "error waiting for pod" in unknown["error"] and 5000 < unknown["ms"] < 60000
    finally:
        cluster.start_apiserver()
    until(lambda: "downMs" not in probe.stats()["podWatch"] and "downMs" not in probe.stats()["networkWatch"],
          "both watches up")


def test_a_status_waits_for_a_server_that_restarts(space, probe, cluster):
    space.add_pod("p", networks="x")
    uid = space.pod("p")["metadata"]["uid"]
    cluster.stop_apiserver()
    try:
        waiting = probe.start("write_status", namespace=space.namespace, name="p", uid=uid, text="[1]")
    finally:
        cluster.start_apiserver()

    assert waiting.result() is True
    assert space.status_of("p") == "[1]"


@pytest.mark.spec("03:109")
def test_a_rotated_token_is_taken_when_the_old_one_is_refused(space, probes, cluster, tmp_path):
    """The old token is bound to a secret that is deleted: the server refuses it from then on."""
    def token(name):
        cluster.request("POST", "/api/v1/namespaces/kube-system/secrets", {"metadata": {"name": name}})
        secret = cluster.get(f"/api/v1/namespaces/kube-system/secrets/{name}")
        return cluster.request("POST", "/api/v1/namespaces/kube-system/serviceaccounts/multus/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600, "boundObjectRef": {
                "apiVersion": "v1", "kind": "Secret", "name": name, "uid": secret["metadata"]["uid"]}}}
        )["status"]["token"]
    old, new = f"{space.namespace}-old", f"{space.namespace}-new"
    file = tmp_path / "token"
    file.write_text(token(old))
    probe = probes(cluster.write_kubeconfig("rotated", token_file=file))
    space.add_pod("foreign", node="another-node")
    find = dict(namespace=space.namespace, name="foreign")
    assert probe.ask("find_pod", **find)

    replacement = token(new)
    cluster.request("DELETE", f"/api/v1/namespaces/kube-system/secrets/{old}")

    def refused():
        try:
            probe.ask("find_pod", **find)
        except Failed as failed:
            return "nauthorized" in str(failed)
        return False
    until(refused, "the old token refused")
    file.write_text(replacement)
    assert probe.ask("find_pod", **find), "the new token is not taken at once"
    cluster.request("DELETE", f"/api/v1/namespaces/kube-system/secrets/{new}")


@pytest.mark.slow
@pytest.mark.spec("03:110")
def test_a_new_authority_is_trusted_when_its_file_changes(own_cluster, tools, tmp_path):
    cluster = own_cluster()
    cluster.install_definitions()
    ca = tmp_path / "ca.crt"
    shutil.copy(cluster.authority.certificate, ca)
    probe = Probe(tools / "kube-probe", cluster.write_kubeconfig("rotated", certificate=cluster.admin, ca=ca), "n")
    probe.ask("wait_synced", waitMs=90000)

    (tmp_path / "new").mkdir()
    authority = Authority(tmp_path / "new", "new-ca")
    cluster.stop_apiserver()
    cluster.sign_server(authority)
    cluster.start_apiserver(wait=False)
    until(lambda: "x509" in probe.log, "distrust")
    shutil.copy(authority.certificate, ca)

    until(lambda: "downMs" not in probe.stats()["networkWatch"], "trust")
    probe.close()


@pytest.mark.spec("03:119")
def test_the_definition_may_come_later(own_cluster, tools):
    cluster = own_cluster()
    space = Workspace(cluster)
    space.add_pod("plain")
    probe = Probe(tools / "kube-probe", cluster.kubeconfig, space.node)
    until(lambda: probe.stats()["podWatch"]["synced"], "the pods")
    assert probe.ask("find_pod", namespace=space.namespace, name="plain")
    assert probe.ask("find_network", namespace=space.namespace, name="n") is None
    assert not probe.stats()["networkWatch"]["synced"]

    cluster.install_definitions()
    space.add_network("n")

    until(lambda: probe.stats()["networks"] == 1, "the network in the store")
    probe.close()


def test_a_slow_server_is_waited_for(space, proxied, proxy):
    """06, pain 28: a round trip of 700 ms is not a reason to fail."""
    space.add_pod("foreign", node="another-node")
    proxy.delay = 0.7
    proxy.cut()

    found = proxied.start("find_pod", namespace=space.namespace, name="foreign").whole()

    assert found["result"]["name"] == "foreign"


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_refuses_for_a_moment_is_asked_again(space, proxied, proxy, status):
    space.add_pod("foreign", node="another-node")
    proxy.refuse("GET .*/pods/foreign", status, times=2)

    assert proxied.ask("find_pod", namespace=space.namespace, name="foreign")
    assert proxy.count("GET .*/pods/foreign") == 3


def test_a_refusal_that_does_not_pass_is_told(space, proxied, proxy):
    proxy.refuse("GET .*/pods/foreign", 400, message="not you")

    with pytest.raises(Failed, match="error waiting for pod: not you"):
        proxied.ask("find_pod", namespace=space.namespace, name="foreign", waitMs=2500)


def test_a_server_that_has_just_started_and_knows_no_roles_yet_is_asked_again(space, proxied, proxy):
    """Seen with kube-apiserver: for a moment it forbids everything, the patch of a status and reads alike."""
    space.add_pod("foreign", node="another-node")
    uid = space.pod("foreign")["metadata"]["uid"]
    proxy.refuse("(PATCH|GET) .*/pods/foreign", 403, times=5)

    assert proxied.ask("write_status", namespace=space.namespace, name="foreign", uid=uid, text="[1]")
    proxy.forget()
    assert proxied.ask("write_status", namespace=space.namespace, name="foreign", uid=uid, text="[2]")
    assert [method for method, _ in proxy.requests] == ["PATCH"], "the refusal was remembered"
    proxy.refuse("GET .*/pods/foreign", 403, times=3)
    assert proxied.ask("find_pod", namespace=space.namespace, name="foreign")


def test_a_right_that_is_missing_for_good_is_told(space, proxied, proxy):
    proxy.refuse("GET .*/pods/foreign", 403, message="not you")

    answer = proxied.start("find_pod", namespace=space.namespace, name="foreign", waitMs=2500).whole()

    assert answer["error"] == "error waiting for pod: not you" and answer["ms"] < 60000
