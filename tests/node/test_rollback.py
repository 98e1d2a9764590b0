"""A failure at any point of an ADD: what was made is unmade, the first error is the answer (02, 5.5)."""

import random

import pytest
from harness.node import networks


def five(node, fake, failing, behaviour):
    """A cluster network and four more with real links; the one at index `failing` has the given behaviour."""
    linking = fake.install_linking()
    confs = [fake.network(f"n{i}", plugin_type=linking, **(behaviour if i == failing else {})) for i in range(5)]
    node.configure(confs[0])
    for conf in confs[1:]:
        node.network(conf["name"], conf)
    return node.pod("n1,n2,n3,n4")


@pytest.mark.spec("02:101")
@pytest.mark.parametrize("failing", range(5))
def test_a_delegates_failure_takes_everything_down_newest_first(node, fake, failing):
    node.start(parallelAttach="off")
    pod = five(node, fake, failing, {"ADD": {"error": {"code": 11, "msg": "come back", "details": "later"}}})

    error = pod.add().error

    assert (error["code"], error["details"]) == (11, "later")
    assert f'[default/{pod.pod_name}/{pod.uid}:n{failing}]: error adding container to network "n{failing}": ' \
        in error["msg"] and "come back" in error["msg"]
    assert fake.order() == [f"ADD n{i}" for i in range(failing + 1)] + [f"DEL n{i}" for i in range(failing, -1, -1)]
    assert pod.links() == set()
    assert pod.status_text is None
    assert pod.container_id in pod.remembered()  # the runtime's DEL removes it
    assert pod.delete().ok and pod.remembered() == []


@pytest.mark.spec("02:101")
@pytest.mark.parametrize("failing", range(1, 5))
def test_side_by_side_nothing_is_left_either(node, fake, failing):
    pod = five(node, fake, failing, {"ADD": {"error": {"code": 11, "msg": "come back"}, "delay_ms": 20}})

    assert pod.add().error["code"] == 11

    added = {call.network for call in fake.calls("ADD")}
    deleted = [call.network for call in fake.calls("DEL")]
    assert set(deleted) == added and deleted == sorted(deleted, reverse=True)
    last_add = max(call.end for call in fake.calls("ADD"))
    assert all(call.begin > last_add for call in fake.calls("DEL"))
    assert pod.links() == set()


@pytest.mark.parametrize("behaviour", [
    {"stdout": "no json"}, {"stdout_bytes": 17 << 20}, {"signal": 9}, {"exit": 3}, {"result": {"cniVersion": "7.0.0"}},
    {"stdout": ""}])
def test_however_a_delegate_fails(node, fake, behaviour):
    pod = five(node, fake, 2, {"ADD": behaviour})

    assert not pod.add().ok

    assert pod.links() == set()
    assert "DEL n2" in fake.order() and "DEL n0" in fake.order()


def test_a_failing_delete_during_rollback_does_not_hide_the_first_error(node, fake):
    pod = five(node, fake, 2, {"ADD": {"error": {"code": 11, "msg": "first"}},
                               "DEL": {"error": {"code": 7, "msg": "second"}, "first": 1}})

    error = pod.add().error

    assert error["code"] == 11 and "first" in error["msg"] and "second" not in error["msg"]
    assert "DEL n0" in fake.order()
    assert pod.delete().ok and pod.links() == set()


@pytest.mark.spec("02:97", "02:149")
@pytest.mark.parametrize("seed", range(4))
def test_pods_with_failures_at_any_step_leave_nothing(node, fake, host, seed):
    """A short form of the thousand cycles: 0 to 8 networks, failures anywhere, real links, routes and addresses."""
    chance = random.Random(seed)
    linking = fake.install_linking()
    host.add_bridge("nodebr")
    kinds = [networks.bridge("r0", "br0", "10.30.0.0/24", subnet6="fd00:30::/64", default_route=True),
             networks.macvlan("r1", subnet="10.30.1.0/24"), networks.ptp("r2", "10.30.2.0/24"),
             fake.network("f0", plugin_type=linking),
             fake.network("f1", plugin_type=linking, ADD={"error": {"code": 5, "msg": "no"}}),
             fake.network("f2", plugin_type=linking, ADD={"stdout": "garbage"}),
             fake.network("f3", plugin_type=linking, DEL={"error": {"code": 5, "msg": "no"}, "first": 1})]
    for conf in kinds:
        node.network(conf["name"], conf)
    node.start(parallelAttach=chance.choice(["off", "safe", "all"]))
    for _ in range(6):
        requested = [{"name": chance.choice(kinds)["name"]} for _ in range(chance.randrange(9))]
        if requested and chance.random() < 0.5:
            requested[0]["default-route"] = chance.choice([[], ["192.0.2.9"], ["10.30.0.1"], ["fd00:30::1"]])
        pod = node.pod(requested)

        outcome = pod.add()

        assert outcome.ok or pod.links() == set(), outcome
        for _ in range(2):  # a delegate may have refused once
            assert pod.delete().ok
        assert pod.links() == set() and pod.remembered() == []
    assert node.host.leaks.found(running=[node.daemon.pid]) == []


def test_a_delete_that_is_tried_again_goes_on_where_it_failed(node, fake):
    """Pain 7: only what failed is run again."""
    node.start(retryDeleteOnError=True)
    pod = five(node, fake, 2, {"DEL": {"error": {"code": 7, "msg": "not yet"}, "first": 2}})
    assert pod.add().ok

    assert pod.delete().error["code"] == 11
    assert pod.delete().error["code"] == 11
    assert pod.delete().ok

    assert [call.network for call in fake.calls("DEL")] == ["n4", "n3", "n2", "n1", "n0", "n2", "n2"]
    assert pod.links() == set() and pod.remembered() == []


@pytest.mark.parametrize("lost", ["scratch", "record", "both"])
def test_a_pod_is_deleted_from_whatever_record_is_left(node, fake, lost):
    """Pain 6."""
    pod = five(node, fake, None, {})
    assert pod.add().ok
    for name in pod.remembered():
        if (name == pod.container_id and lost != "record") or (name.startswith("_") and lost != "scratch"):
            node.host.write(f"/var/lib/cni/multus/{name}", "{torn")

    assert pod.delete().ok

    assert sorted(call.network for call in fake.calls("DEL")) == [f"n{i}" for i in range(5)]
    assert fake.calls("DEL")[-1].network == "n0"  # the cluster network last
    assert pod.links() == set() and pod.remembered() == []
