"""Our role is sufficient and minimal: with it everything works, and for each right there is something that does not work
without it."""

import time

import pytest

from harness.cluster.claims import RESOURCE, add_claim, add_claiming_pod, add_slice, device
from harness.cluster.control_plane import Refused
from harness.cluster.probe import Failed
from harness.machine.wait import until

DRIVER = "rights.example.com"
ENOUGH = 120.0     # seconds for what must succeed
LONG_WITHOUT = 2.5  # what has not happened by then does not


def find_missing_network(probe, space, patience):
    assert probe.ask("find_network", namespace=space.namespace, name="missing") is None


def find_foreign_pod(probe, space, patience):
    assert probe.ask("find_pod", namespace=space.namespace, name="foreign")["name"] == "foreign"


def be_synced(probe, space, patience):
    probe.ask("wait_synced", waitMs=int(patience * 1000))


def follow_networks(probe, space, patience):
    be_synced(probe, space, patience)
    known = probe.stats()["networks"]
    space.add_network(f"n{known}")
    until(lambda: probe.stats()["networks"] > known, "the new network", patience)


def follow_pods(probe, space, patience):
    be_synced(probe, space, patience)
    known = probe.stats()["pods"]
    space.add_pod(f"p{known}")
    until(lambda: probe.stats()["pods"] > known, "the new pod", patience)


def write_a_status(probe, space, patience):
    text = str(time.time_ns())
    probe.ask("write_status", namespace=space.namespace, name="foreign", uid=space.pod("foreign")["metadata"]["uid"],
              text=text)
    assert space.status_of("foreign") == text


def find_claimed_devices(probe, space, patience):
    assert probe.ask("claimed_devices", namespace=space.namespace, name="claiming") == {RESOURCE: ["id-1"]}


def send_events(probe, space, count):
    for _ in range(count):
        probe.ask("send", namespace=space.namespace, name="a", uid="u", reason="AddedInterface", text="x")
        probe.ask("flush", waitMs=90000)
    assert [event["count"] for event in space.events()] == [count]


def send_an_event(probe, space, patience):
    send_events(probe, space, 1)


def send_an_event_twice(probe, space, patience):
    send_events(probe, space, 2)


NEEDED = {("network-attachment-definitions", "get"): find_missing_network,
          ("network-attachment-definitions", "list"): be_synced,
          ("network-attachment-definitions", "watch"): follow_networks,
          ("pods", "get"): find_foreign_pod,
          ("pods", "list"): be_synced,
          ("pods", "watch"): follow_pods,
          ("pods/status", "patch"): write_a_status,
          ("resourceclaims", "get"): find_claimed_devices,
          ("resourceslices", "list"): find_claimed_devices,
          ("events", "create"): send_an_event,
          ("events", "patch"): send_an_event_twice}
# For the original's image under our role; test_peer_daemon.py holds that it needs it.
OF_THE_ORIGINAL = ("pods/status", "update")


def our_rules(cluster):
    return cluster.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/multus")["rules"]


def without(rules, resource, verb):
    less = [{**rule, "verbs": [v for v in rule["verbs"] if not (resource in rule["resources"] and v == verb)]}
            for rule in rules]
    return [rule for rule in less if rule["verbs"]]


def test_every_right_of_our_role_has_its_test(cluster):
    granted = {(resource, verb) for rule in our_rules(cluster) for resource in rule["resources"]
               for verb in rule["verbs"]}
    assert granted == {*NEEDED, OF_THE_ORIGINAL}


@pytest.mark.parametrize("right", NEEDED, ids=lambda right: f"{right[1]}-{right[0]}")
def test_each_right_of_our_role_is_needed(right, space, probes, proxy, account, cluster):
    """With all of them it works; without this one it does not."""
    space.add_pod("foreign", node="another-node", networks="x")
    if right[0].startswith("resource"):
        add_slice(space, DRIVER, device("1"), name=right[0])
        add_claim(space, "c", DRIVER, "1")
        add_claiming_pod(space, "claiming", "c")
    proxy.refuse("sendInitialEvents", 422)  # lists are needed where lists are not streamed
    rules = without(our_rules(cluster), *OF_THE_ORIGINAL)  # also what is done where patching is forbidden
    whole = probes(proxy.kubeconfig("whole", token=account("whole", rules)), synced=False)
    NEEDED[right](whole, space, ENOUGH)
    cluster.request("DELETE", space.path("events"))

    poor = probes(proxy.kubeconfig("poor", token=account("poor", without(rules, *right))), synced=False)
    with pytest.raises((Failed, AssertionError, Refused)):
        NEEDED[right](poor, space, LONG_WITHOUT)
