"""default-route: whose default routes a pod has in the end, as the kernel, the stored results, the answer and the status
tell (02, 3.10 and 5.4; pain 45)."""

import pytest
from harness.node import networks
from harness.node.objects import DEFAULT_NETWORK

V4, V6 = "10.244.0.1", "fd00:244::1"  # the cluster network's
OTHER4, OTHER6 = "10.1.1.1", "fd00:1::1"


def default_routes(result):
    """Destination and gateway of the default routes in a result."""
    return [(route["dst"], route.get("gw")) for route in result.get("routes", [])
            if route["dst"] in ("0.0.0.0/0", "::/0")]


def second(number=1, default_route=False, **more):
    return networks.bridge(f"second{number}", f"br{number}", f"10.1.{number}.0/24",
                           subnet6=f"fd00:{number}::/64", default_route=default_route, **more)


@pytest.fixture
def dual(node):
    """A cluster network with default routes of both families."""
    node.configure(networks.bridge(subnet6="fd00:244::/64"))
    node.network("second", second())
    node.network("defaulted", second(default_route=True))
    return node


@pytest.mark.spec("02:93")
def test_an_ipv4_gateway_moves_that_family_alone(dual):
    pod = dual.pod([{"name": "second", "default-route": ["10.1.1.254"]}])

    result = pod.add().result

    assert pod.defaults(4) == [("net1", "10.1.1.254")]
    assert pod.defaults(6) == [("eth0", V6)]
    assert default_routes(result) == [("::/0", None)]
    assert default_routes(pod.cached("cluster", "eth0")["result"]) == [("::/0", None)]
    assert default_routes(pod.cached("second1", "net1")["result"]) == [("0.0.0.0/0", "10.1.1.254")]
    assert [entry.get("gateway") for entry in pod.status] == [None, ["10.1.1.254"]]
    assert pod.delete().ok and pod.links() == set()


@pytest.mark.spec("02:93")
def test_an_ipv6_gateway_moves_that_family_alone(dual):
    pod = dual.pod([{"name": "second", "default-route": ["fd00:1::fe"]}])

    result = pod.add().result

    assert pod.defaults(4) == [("eth0", V4)]
    assert pod.defaults(6) == [("net1", "fd00:1::fe")]
    assert default_routes(result) == [("0.0.0.0/0", None)]
    assert default_routes(pod.cached("second1", "net1")["result"]) == [("::/0", "fd00:1::fe")]
    assert pod.status[1]["gateway"] == ["fd00:1::fe"]


@pytest.mark.spec("02:94")
@pytest.mark.parametrize("network", ["second", "defaulted"])
def test_dual_stack_gateways_move_both_families(dual, network):
    """Whether or not the second network brings default routes of its own."""
    pod = dual.pod([{"name": network, "default-route": ["10.1.1.254", "fd00:1::fe"]}])

    result = pod.add().result

    assert pod.defaults(4) == [("net1", "10.1.1.254")] and pod.defaults(6) == [("net1", "fd00:1::fe")]
    assert default_routes(result) == default_routes(pod.cached("cluster", "eth0")["result"]) == []
    assert default_routes(pod.cached("second1", "net1")["result"]) \
        == [("0.0.0.0/0", "10.1.1.254"), ("::/0", "fd00:1::fe")]
    assert "gateway" not in pod.status[0] and pod.status[1]["gateway"] == ["10.1.1.254", "fd00:1::fe"]
    assert pod.delete().ok


def test_two_networks_own_one_family_each(dual):
    dual.network("third", second(2))
    pod = dual.pod([{"name": "second", "default-route": ["10.1.1.254"]},
                    {"name": "third", "default-route": ["fd00:2::fe"]}])

    assert pod.add().ok

    assert pod.defaults(4) == [("net1", "10.1.1.254")] and pod.defaults(6) == [("net2", "fd00:2::fe")]


@pytest.mark.spec("02:95")
def test_an_empty_list_keeps_what_the_network_brings(dual):
    """The cluster's default routes go, in both families, even where the kernel had joined them into one."""
    pod = dual.pod([{"name": "defaulted", "default-route": []}])

    result = pod.add().result

    assert pod.defaults(4) == [("net1", OTHER4)]
    assert pod.defaults(6) == [("net1", OTHER6)]
    assert default_routes(result) == default_routes(pod.cached("cluster", "eth0")["result"]) == []
    assert {dst for dst, _ in default_routes(pod.cached("second1", "net1")["result"])} == {"0.0.0.0/0", "::/0"}


@pytest.mark.spec("02:95")
def test_an_empty_list_of_a_network_without_default_route_takes_none_away(dual):
    """A pod never loses its last default route."""
    pod = dual.pod([{"name": "second", "default-route": []}])

    result = pod.add().result

    assert pod.defaults(4) == [("eth0", V4)] and pod.defaults(6) == [("eth0", V6)]
    assert len(default_routes(result)) == 2


@pytest.mark.spec("02:95")
def test_an_empty_list_is_settled_per_family(dual):
    dual.network("v4only", networks.bridge("v4only", "br1", "10.1.1.0/24"))
    pod = dual.pod([{"name": "v4only", "default-route": []}])

    assert pod.add().ok

    assert pod.defaults(4) == [("net1", OTHER4)] and pod.defaults(6) == [("eth0", V6)]


def test_without_the_key_nothing_is_touched(dual):
    """Both default routes of a family stay, as the plugins made them."""
    pod = dual.pod("defaulted")

    assert pod.add().ok

    assert sorted(pod.defaults(4)) == [("eth0", V4), ("net1", OTHER4)]
    assert sorted(pod.defaults(6)) == [("eth0", V6), ("net1", OTHER6)]


def test_the_key_in_the_default_network_annotation(dual):
    dual.network("main", second(3, default_route=True), namespace="kube-system")
    pod = dual.pod(annotations={DEFAULT_NETWORK: '[{"name":"main","default-route":["10.1.3.77"]}]'})

    result = pod.add().result

    assert pod.defaults(4) == [("eth0", "10.1.3.77")] and pod.defaults(6) == [("eth0", "fd00:3::1")]
    assert sorted(default_routes(result)) == [("0.0.0.0/0", "10.1.3.77"), ("::/0", None)]


@pytest.mark.spec("02:96")
@pytest.mark.parametrize("gateways", [
    (["10.1.1.254"], ["10.1.2.254"]), (["10.1.1.254", "10.1.1.253"], None), (["fd00:1::1"], ["fd00:2::1"]),
    ([], []), (["::ffff:10.1.1.254", "10.1.1.253"], None)])
def test_several_gateways_of_a_family_are_refused_before_anything_runs(node, fake, gateways):
    node.configure(fake.network("cluster"))
    node.network("a", fake.network("a"))
    pod = node.pod([{"name": "a", "default-route": list_} for list_ in gateways if list_ is not None])

    assert "multus does not support ECMP for default-route" in pod.add().error["msg"]
    assert fake.calls() == [] and pod.remembered() == []


@pytest.mark.spec("02:97")
@pytest.mark.parametrize("gateway", ["192.0.2.1", "2001:db8::1"])
def test_a_gateway_that_cannot_be_reached_fails_the_pod_and_undoes_everything(dual, gateway):
    pod = dual.pod([{"name": "second", "default-route": [gateway]}])

    error = pod.add().error

    assert "error setting default gateway" in error["msg"] and gateway in error["msg"]
    assert pod.links() == set()
    assert [name for name in pod.remembered() if name.startswith("results/")] == []
    assert pod.status_text is None
    assert pod.delete().ok


@pytest.mark.spec("02:98", "02:110")
def test_half_of_the_world_is_no_default_route(node):
    half = networks.bridge()
    half["ipam"]["routes"] = [{"dst": "0.0.0.0/1"}, {"dst": "128.0.0.0/1"}]
    node.configure(half)
    node.network("second", networks.bridge("second1", "br1", "10.1.1.0/24"))
    pod = node.pod([{"name": "second", "default-route": ["10.1.1.254"]}])

    result = pod.add().result

    assert {route["dst"] for route in result["routes"]} == {"0.0.0.0/1", "128.0.0.0/1"}
    assert [(route["dst"], route["dev"]) for route in pod.routes("show", "root", "0/1")][0] == ("0.0.0.0/1", "eth0")
    assert pod.defaults(4) == [("net1", "10.1.1.254")]
    assert "gateway" not in pod.status[0]


@pytest.mark.parametrize("version", ["0.2.0", "0.3.1", "0.4.0", "1.0.0"])
def test_results_of_every_version_are_edited(node, version):
    node.configure(networks.bridge(version=version))
    node.network("second", networks.bridge("second1", "br1", "10.1.1.0/24", version=version, default_route=False))
    pod = node.pod([{"name": "second", "default-route": ["10.1.1.254"]}])

    assert pod.add().ok

    assert pod.defaults(4) == [("net1", "10.1.1.254")]
    stored = pod.cached("second1", "net1")["result"]
    stored = stored["ip4"] if version == "0.2.0" else stored
    assert default_routes(stored) == [("0.0.0.0/0", "10.1.1.254")]
    assert pod.delete().ok


def test_check_passes_after_the_routes_were_moved(dual):
    """The results given to CHECK are the edited ones."""
    pod = dual.pod([{"name": "second", "default-route": ["10.1.1.254", "fd00:1::fe"]}])
    assert pod.add().ok

    conf = {**dual.conf, "checkNetworks": "all"}
    assert pod.check(conf).ok

    pod.run("ip", "route", "del", "default")
    assert not pod.check(conf).ok


@pytest.mark.parametrize("mode", ["off", "safe", "all"])
def test_the_owner_may_come_before_others_that_bring_default_routes(dual, mode):
    dual.start(parallelAttach=mode)
    dual.network("third", second(2, default_route=True))
    pod = dual.pod([{"name": "second", "default-route": ["10.1.1.254", "fd00:1::fe"]}, {"name": "third"}])

    assert pod.add().ok

    assert pod.defaults(4) == [("net1", "10.1.1.254")] and pod.defaults(6) == [("net1", "fd00:1::fe")]
