"""The daemon while the API server is slow, refuses, forbids, or has another pod than the one that was asked for."""

import json
import threading
import time

import pytest

from harness.cluster.kube_node import KUBECONFIG
from harness.cluster.roles import UPSTREAM_RULES
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node.cni import Runtime
from harness.node.netconf import netconf

ON_UPLINK = {"cniVersion": "1.0.0", "name": "extra", "type": "macvlan", "master": "uplink",
             "ipam": {"type": "host-local", "subnet": "10.77.0.0/24"}}
READ_ONLY = [{**rule, "verbs": ["get", "list", "watch"]} for rule in UPSTREAM_RULES if rule["resources"] != ["events"]]


@pytest.fixture
def extra(space):
    space.add_network("extra", config=json.dumps(ON_UPLINK))


def stop_watches(node):
    """From now on the stores are out of date: everything is read from the API."""
    node.proxy.refuse("watch=true", 503)
    node.proxy.cut()


@pytest.mark.spec("02:160")
def test_in_the_steady_state_the_status_is_one_patch(node, space, extra):
    pod = node.pod("web", networks="extra")
    node.start()
    node.proxy.forget()

    assert pod.add().ok

    until(lambda: len(pod.events("AddedInterface")) == 1, "its event")
    writes = [(method, target, body) for (method, target), body in zip(node.proxy.requests, node.proxy.bodies)
              if "/pods" in target]
    ((method, target, body),) = writes
    assert (method, target) == ("PATCH", f"/api/v1/namespaces/{space.namespace}/pods/web/status")
    assert json.loads(body) == {"metadata": {"uid": pod.uid, "annotations": {
        "k8s.v1.cni.cncf.io/network-status": pod.status_text}}}


@pytest.mark.spec("02:116")
def test_an_api_that_takes_700_ms_is_waited_for(node, extra):
    """06, pain 28."""
    node.start()
    stop_watches(node)
    pod = node.pod("web", networks="extra")
    node.proxy.delay = 0.7

    assert pod.add().ok
    assert [entry["interface"] for entry in pod.status] == ["eth0", "net1"]
    node.proxy.delay = 0.0


@pytest.mark.spec("02:117")
@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_api_that_refuses_twice_is_asked_again(node, extra, status):
    node.start()
    stop_watches(node)
    pod = node.pod("web", networks="extra")
    node.proxy.refuse("GET .*/pods/web", status, times=2)
    node.proxy.refuse("PATCH .*/pods/web", status, times=2)

    assert pod.add().ok
    assert node.proxy.count("GET .*/pods/web$") == 3
    assert [entry["interface"] for entry in pod.status] == ["eth0", "net1"]


@pytest.mark.slow
@pytest.mark.spec("02:102")
def test_a_status_that_nobody_may_write_fails_the_add_and_leaves_nothing(node, extra, account):
    node.log_in(account("reader", READ_ONLY))
    pod = node.pod("web", networks="extra")

    outcome = pod.add()

    assert not outcome.ok and "forbidden" in outcome.stdout
    assert node.proxy.count("PATCH .*/pods/web") and node.proxy.count("GET .*/pods/web$")
    assert node.proxy.count("PUT .*/pods/web"), "upstream's way was not tried"
    assert pod.links() == set() and pod.status is None


@pytest.mark.spec("02:103")
def test_with_upstreams_role_conflicts_are_repeated_and_the_refusal_is_remembered(node, extra, account):
    node.log_in(account("upstream", UPSTREAM_RULES))
    first, second = node.pod("first", networks="extra"), node.pod("second", networks="extra")
    node.proxy.refuse("PUT", 409, times=3)

    assert first.add().ok
    assert node.proxy.count("PATCH .*/pods/first") == 1 and node.proxy.count("PUT .*/pods/first") == 4
    assert second.add().ok

    assert node.proxy.count("PATCH .*/pods/second") == 0
    for pod in (first, second):
        assert [entry["interface"] for entry in pod.status] == ["eth0", "net1"]


def test_a_pod_that_is_replaced_while_it_is_added_fails_and_the_new_one_is_untouched(node, space, fake):
    """The same name, another UID: neither the new pod's status nor its links are the old one's."""
    gate = fake.gate()
    space.add_network("held", config=json.dumps(fake.network("held", ADD={"gate": gate.path})))
    old = node.pod("web-0", networks="held")
    node.start()
    outcomes = []
    adding = threading.Thread(target=lambda: outcomes.append(old.add()))
    adding.start()
    gate.reached()

    space.delete_pod("web-0")
    space.change_network("held", json.dumps(fake.network("held")))
    new = node.pod("web-0", networks="held")
    gate.open()
    adding.join()

    assert not outcomes[0].ok and "was replaced" in outcomes[0].stdout
    assert old.links() == set() and new.status is None
    assert new.add().ok
    assert [entry["interface"] for entry in new.status] == ["eth0", "net1"]
    assert old.delete().ok
    assert new.links() == {"eth0"} and new.status is not None


def test_a_pod_of_the_same_name_that_follows_gets_networks_of_its_own(node, space, extra):
    """A StatefulSet: DEL of the old one may come after ADD of the new one."""
    old = node.pod("web-0", networks="extra")
    assert old.add().ok
    space.delete_pod("web-0")
    new = node.pod("web-0", networks="extra")

    assert new.add().ok
    assert old.delete().ok

    assert new.check().ok
    assert [entry["interface"] for entry in new.status] == ["eth0", "net1"]


def test_a_pod_that_asks_for_nothing_is_not_held_up(node, space, cluster):
    """06, pain 29: known to the store, with no wish of its own; its status follows when the server is back."""
    pod = node.pod("plain")
    node.start()
    node.proxy.refuse("PATCH", 503)

    assert pod.add().ok
    assert pod.links() == {"eth0"} and pod.status is None

    node.proxy.rules.clear()
    until(lambda: pod.status, "the owed status")


@pytest.mark.spec("02:124")
@pytest.mark.parametrize("form", ["thick", "thin"])
def test_del_of_an_unrecorded_container_waits_a_second_for_a_silent_api(node, host, program, form):
    """Once, twenty: ten for the pod and ten for the definition of the cluster network."""
    unknown = node.sandbox("unknown", "00000000-0000-4000-8000-000000000001")
    if form == "thick":
        node.start()
        runtime, conf = node.shim, netconf(clusterNetwork="unread")
    else:
        program("multus")
        host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
        runtime, conf = Runtime(host, "multus"), netconf(type="multus", kubeconfig=KUBECONFIG, clusterNetwork="unread")
    node.proxy.stall(".")
    began = time.monotonic()

    outcome = runtime.call("DEL", conf, unknown, args=unknown.args)

    assert outcome.ok, outcome
    assert 0.9 < time.monotonic() - began < 4
    assert node.proxy.count("GET .*/pods/unknown$") == 1
    node.proxy.cut()


def test_a_watch_that_is_refused_with_401_comes_back(node, space, extra):
    node.start()
    node.proxy.refuse("watch=true", 401, times=4)
    node.proxy.cut()
    pod = node.pod("web", networks="extra")

    assert pod.add().ok
    until(lambda: node.proxy.count("watch=true") > 4, "more watches")


def test_the_token_is_in_no_line_of_the_log(node, host, extra):
    """At level debug, while the server takes it and while it does not, and when it stands in a file that cannot be read."""
    daemon = node.start(logLevel="debug")
    token = json.loads(host.path(KUBECONFIG).read_text())["users"][0]["user"]["token"]
    pod = node.pod("web", networks="extra")
    assert pod.add().ok
    node.proxy.refuse(".", 401)
    node.proxy.cut()
    daemon.wait_log("refused by the test")
    assert pod.delete().ok
    daemon.stop()

    said = [daemon.log]
    for text in (f'{{"users": [{{"user": {{"token": "{token}"', f"users:\n- user:\n    token: [{token}\n",
                 f'{{"users": [{{"name": "u", "user": {{"token": ["{token}"]}}}}]}}', token):
        host.write(KUBECONFIG, text)
        broken = node.launch(logLevel="debug")
        assert broken.process.wait() != 0
        assert "kubeconfig" in broken.log
        said.append(broken.log)

    # Neither the whole nor a piece: the first part is the same in all tokens, and so is not looked for.
    pieces = [part[at:at + 16] for part in token.split(".")[1:] for at in range(0, len(part) - 16, 8)]
    assert [piece for piece in pieces for log in said if piece in log] == []


@pytest.mark.slow
@pytest.mark.spec("03:72")
def test_the_daemon_ends_before_it_is_killed_while_a_delegate_hangs_and_the_api_is_silent(node, space, fake):
    """Asked twice, it leaves its requests 13 s."""
    gate = fake.gate()
    space.add_network("hung", config=json.dumps(fake.conf("hung", ADD={"gate": gate.path}, DEL={"gate": gate.path})))
    pod, other = node.pod("web", networks="hung"), node.pod("other")
    daemon = node.start()
    node.proxy.stall("/events")
    assert other.add().ok  # its event is never written
    adding = threading.Thread(target=pod.add)
    adding.start()
    gate.reached()
    node.proxy.stall(".")
    node.proxy.cut()

    began = time.monotonic()
    daemon.terminate(times=2)
    daemon.process.wait()
    took = time.monotonic() - began

    gate.open()
    node.proxy.rules.clear()
    node.start()
    adding.join(180)
    assert pod.delete().ok
    assert took < 29, took
