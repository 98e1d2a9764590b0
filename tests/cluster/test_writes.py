"""Status and events as they arrive at a real API server."""

import json
import threading

import pytest

from harness.cluster.probe import Failed
from harness.cluster.roles import UPSTREAM_RULES
from harness.machine.wait import until


def write(probe, space, name, text, uid=None, **more):
    uid = uid or space.pod(name)["metadata"]["uid"]
    return probe.start("write_status", namespace=space.namespace, name=name, uid=uid, text=text, **more)


@pytest.mark.spec("03:120")
def test_the_status_is_one_patch_of_one_annotation(space, proxied, proxy):
    before = space.add_pod("a", networks="x", annotations={"other": "kept"})
    proxy.forget()

    write(proxied, space, "a", "[1]").result()

    after = space.pod("a")
    assert after["metadata"]["annotations"].pop("k8s.v1.cni.cncf.io/network-status") == "[1]"
    for object_ in (before, after):
        for member in ("resourceVersion", "managedFields", "generation"):
            object_["metadata"].pop(member, None)
    assert after == before
    assert [method for method, _ in proxy.requests] == ["PATCH"]


def test_many_writers_of_one_pod_lose_nothing_of_each_other(space, proxied, cluster):
    """Other writers' concurrent changes are kept (03, row 120; pain 17)."""
    space.add_pod("a", networks="x")
    uid = space.pod("a")["metadata"]["uid"]
    others = [threading.Thread(target=cluster.request, args=(
        "PATCH", space.path("pods", "a"), {"metadata": {"annotations": {f"other-{i}": "x"}}},
        "application/merge-patch+json")) for i in range(20)]
    for thread in others:
        thread.start()
    writes = [write(proxied, space, "a", f"[{i}]", uid) for i in range(20)]
    for one in writes:
        one.result()
    for thread in others:
        thread.join()

    annotations = space.pod("a")["metadata"]["annotations"]
    assert len([key for key in annotations if key.startswith("other-")]) == 20


@pytest.mark.spec("03:120")
def test_with_upstreams_role_the_pod_is_read_and_updated(space, probes, proxy, account):
    space.add_pod("a", networks="x", annotations={"other": "kept"})
    probe = probes(proxy.kubeconfig("upstream", token=account("upstream", UPSTREAM_RULES)))
    proxy.forget()

    write(probe, space, "a", "[1]").result()
    write(probe, space, "a", "[2]").result()
    write(probe, space, "a", "[2]").result()

    assert space.status_of("a") == "[2]"
    assert space.pod("a")["metadata"]["annotations"]["other"] == "kept"
    # The refusal is remembered; what is right already is not written again.
    assert [method for method, _ in proxy.requests] == ["PATCH", "GET", "PUT", "GET", "PUT", "GET"]


@pytest.mark.spec("03:120")
def test_with_upstreams_role_a_conflict_is_tried_again(space, probes, proxy, account):
    space.add_pod("a", networks="x")
    probe = probes(proxy.kubeconfig("upstream", token=account("upstream", UPSTREAM_RULES)))
    proxy.refuse("PUT", 409, times=3)

    write(probe, space, "a", "[1]").result()

    assert space.status_of("a") == "[1]"


def test_a_pod_that_was_replaced_keeps_its_status(space, proxied):
    space.add_pod("a", networks="x")

    with pytest.raises(Failed, match="was replaced"):
        write(proxied, space, "a", "[1]", uid="of-the-one-before").result()
    assert space.status_of("a") is None


def test_a_pod_that_is_gone_is_no_error(space, proxied):
    assert write(proxied, space, "gone", "[1]", uid="x").result() is True


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(space, proxied, proxy, status):
    space.add_pod("a", networks="x")
    proxy.refuse("PATCH", status, times=2)

    write(proxied, space, "a", "[1]").result()

    assert space.status_of("a") == "[1]"
    assert proxy.count("PATCH") == 3


@pytest.mark.spec("03:108")
def test_the_server_says_how_long_to_wait(space, proxied, proxy):
    space.add_pod("a", networks="x")
    proxy.refuse("PATCH", 429, times=1, headers={"Retry-After": "2"})

    answer = write(proxied, space, "a", "[1]").whole()

    assert answer["result"] is True and answer["ms"] >= 2000


def test_a_burst_of_statuses_loses_and_doubles_none(space, proxied, proxy):
    made = space.add_many(space.add_pod, [f"p{number}" for number in range(500)], networks="x")
    uids = {name: pod["metadata"]["uid"] for name, pod in made.items()}
    proxy.forget()

    writes = [write(proxied, space, name, json.dumps([name]), uid) for name, uid in uids.items()]
    for one in writes:
        one.result()

    found = {pod["metadata"]["name"]: pod["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"]
             for pod in space.cluster.get(space.path("pods"))["items"]}
    assert found == {name: json.dumps([name]) for name in uids}
    assert proxy.count("PATCH") == 500 and proxy.count("GET .*/pods/p") == 0


def send(probe, space, name="a", text="Add net1 [10.1.1.101/24] from default/macvlan-conf", **more):
    probe.ask("send", namespace=space.namespace, name=name, uid="u", reason=more.pop("reason", "AddedInterface"),
              text=text, **more)
    probe.ask("flush", waitMs=90000)


def test_an_event_is_what_kubectl_shows(space, probe, cluster):
    made = space.add_pod("a", networks="x")
    probe.ask("send", namespace=space.namespace, name="a", uid=made["metadata"]["uid"], reason="NoNetworkFound",
              text="cannot find it", warning=True)
    probe.ask("flush", waitMs=90000)

    (event,) = space.events()
    assert event["involvedObject"] == {"kind": "Pod", "apiVersion": "v1", "namespace": space.namespace, "name": "a",
                                       "uid": made["metadata"]["uid"]}
    assert (event["type"], event["reason"], event["message"], event["count"]) == \
        ("Warning", "NoNetworkFound", "cannot find it", 1)
    assert event["source"] == {"component": "multus"} and event["reportingComponent"] == "multus"
    assert event["firstTimestamp"] == event["lastTimestamp"]
    assert "cannot find it" in cluster.kubectl("-n", space.namespace, "describe", "pod", "a")


def test_repeats_are_counted_on_the_first(space, probe):
    for _ in range(3):
        send(probe, space)
    send(probe, space, text="another")

    assert sorted((event["message"][:3], event["count"]) for event in space.events()) == [("Add", 3), ("ano", 1)]


def test_a_repeat_whose_first_is_gone_is_an_event_again(space, probe, cluster):
    send(probe, space)
    cluster.request("DELETE", space.path("events"))

    send(probe, space)

    assert [event["count"] for event in space.events()] == [1]


def test_a_flood_of_events_of_one_pod_is_cut(space, probe):
    for number in range(40):
        probe.ask("send", namespace=space.namespace, name="a", uid="u", reason="AddedInterface", text=str(number))
    probe.ask("flush", waitMs=90000)

    assert len(space.events()) == 25


def test_events_delay_no_status(space, proxied, proxy):
    """Hundreds of events wait behind a slow server; a status overtakes them."""
    space.add_pod("a", networks="x")
    uid = space.pod("a")["metadata"]["uid"]
    proxy.forget()
    proxy.delay = 0.3
    for number in range(100):
        proxied.start("send", namespace=space.namespace, name=f"p{number}", uid="u", reason="AddedInterface", text="x")

    answer = write(proxied, space, "a", "[1]", uid).whole()

    assert answer["result"] is True
    proxy.delay = 0.0
    proxied.ask("flush", waitMs=90000)
    until(lambda: len(space.events()) == 100, "all events")
    place = [method for method, _ in proxy.requests].index("PATCH")
    assert place < 50, "it waited behind them"
