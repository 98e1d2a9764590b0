"""ADD, CHECK and DEL through our shim and daemon with the real reference plugins."""

import json

import pytest
from harness.node import networks
from harness.node.cni import KUBERNETES_ARGS
from harness.node.netconf import netconf, netconf_from_files

pytestmark = pytest.mark.release("static")


def three_networks(host):
    host.add_bridge("nodebr")
    return (networks.conflist(networks.bridge(), networks.PORTMAP, networks.TUNING),
            networks.macvlan(), networks.ptp())


@pytest.mark.spec("03:44")
def test_one_bridge_network_comes_and_goes(host, daemon, shim, pod):
    conf = netconf(networks.bridge())

    result = shim.add(conf, pod).result

    assert result["cniVersion"] == "1.0.0"
    assert [ip["address"] for ip in result["ips"]] == ["10.244.0.2/24"]
    assert result["interfaces"][-1] == {"name": "eth0", "sandbox": pod.netns,
                                        "mac": pod.ip("link", "show", "eth0")[0]["address"]}
    assert pod.addresses("eth0") == ["10.244.0.2/24"]
    pod.run("ping", "-c1", "-w60", "10.244.0.1")

    done = shim.delete(conf, pod)
    assert (done.exit, done.stdout) == (0, "")
    assert pod.links() == set()


def test_three_networks_from_files_give_three_interfaces(host, daemon, shim, pod):
    conf = netconf_from_files(host, *three_networks(host))

    result = shim.add(conf, pod).result

    assert pod.links() == {"eth0", "net1", "net2"}
    assert pod.addresses("eth0") == ["10.244.0.2/24"]
    assert pod.addresses("net1") == ["10.10.1.2/24"]
    assert pod.addresses("net2") == ["10.10.3.2/32"] or pod.addresses("net2") == ["10.10.3.2/24"]
    assert [ip["address"] for ip in result["ips"]] == ["10.244.0.2/24"]  # the master's alone
    assert [route["dev"] for route in pod.routes("show", "default")] == ["eth0"]

    assert shim.delete(conf, pod).ok
    assert pod.links() == set()


def test_inline_delegates_are_attached_in_their_order(host, daemon, shim, pod):
    conf = netconf(*three_networks(host))

    assert shim.add(conf, pod).ok

    assert pod.links() == {"eth0", "net1", "net2"}
    assert shim.delete(conf, pod).ok


@pytest.mark.parametrize("version", ["0.3.1", "0.4.0", "1.0.0", "1.1.0"])
def test_result_is_printed_in_the_version_asked_for(host, daemon, shim, pod, version):
    conf = netconf(networks.bridge(version="0.4.0"), version=version)

    result = shim.add(conf, pod).result

    assert result["cniVersion"] == version
    assert ("version" in result["ips"][0]) == (version < "1.0.0")
    assert shim.delete(conf, pod).ok


def test_static_addresses_and_a_tuned_mac(host, daemon, shim, pod):
    static = networks.bridge()
    static["ipam"] = {"type": "static", "addresses": [{"address": "10.5.0.9/24", "gateway": "10.5.0.1"}]}
    tuning = {"type": "tuning", "mac": "02:00:00:00:00:77"}
    conf = netconf(networks.conflist(static, tuning))

    assert shim.add(conf, pod).ok

    assert pod.addresses("eth0") == ["10.5.0.9/24"]
    assert pod.ip("link", "show", "eth0")[0]["address"] == "02:00:00:00:00:77"
    assert shim.delete(conf, pod).ok


def test_port_mappings_of_the_runtime_reach_portmap_and_are_taken_back(host, daemon, shim, pod):
    conf = netconf(networks.conflist(networks.bridge(), networks.PORTMAP),
                   runtimeConfig={"portMappings": [{"hostPort": 8080, "containerPort": 80,
                                                    "protocol": "tcp"}]})

    assert shim.add(conf, pod).ok

    assert "dport 8080" in host.run("nft", "list", "ruleset").stdout
    assert shim.delete(conf, pod).ok
    assert "dport 8080" not in host.run("nft", "list", "ruleset").stdout


def test_check_passes_while_all_is_well_and_fails_when_an_address_is_gone(host, daemon, shim, pod):
    conf = netconf(networks.bridge())
    assert shim.add(conf, pod).ok

    assert shim.check(conf, pod).ok

    host.run("ip", "-n", pod.name, "addr", "flush", "dev", "eth0")
    assert "10.244.0.2" in shim.check(conf, pod).error["msg"]
    assert shim.delete(conf, pod).ok


def test_add_repeated_returns_the_stored_result(host, daemon, shim, pod):
    """02, 5.1 step 5: the runtime lost our reply and asks again."""
    conf = netconf(networks.bridge(), networks.bridge("second", "br2", "10.6.0.0/24", default_route=False))
    first = shim.add(conf, pod).result

    again = shim.add(conf, pod).result

    assert again == first
    assert pod.addresses("eth0") == ["10.244.0.2/24"]
    assert len(host.files_below("/var/lib/cni/networks/cluster")) == 3  # one address, and two files of the IPAM plugin's own
    assert shim.delete(conf, pod).ok


@pytest.mark.spec("02:70")
def test_a_foreign_interface_of_that_name_stays_untouched(host, daemon, shim, pod):
    host.run("ip", "-n", pod.name, "link", "add", "eth0", "type", "bridge")

    error = shim.add(netconf(networks.bridge()), pod).error

    assert "interface name eth0 already exists" in error["msg"]
    assert pod.links() == {"eth0"}
    assert not host.path("/var/lib/cni/multus/c-pod0").exists()
    host.run("ip", "-n", pod.name, "link", "del", "eth0")


@pytest.mark.spec("02:127")
def test_delete_twice_and_delete_without_the_namespace_succeed(host, daemon, shim, pod):
    conf = netconf(networks.bridge())
    assert shim.add(conf, pod).ok
    container = f"c-{pod.name}"

    pod.remove()
    assert shim.delete(conf, None, container_id=container, netns=pod.netns).ok
    assert shim.delete(conf, None, container_id=container, netns="").ok


def test_delete_of_what_never_was_succeeds(host, daemon, shim, pod):
    assert shim.delete(netconf(networks.bridge()), pod).ok


def test_second_network_failing_takes_the_first_down_again(host, daemon, shim, pod, fake):
    conf = netconf(networks.bridge(), fake.conf("bad", ADD={"exit": 1, "result": {"code": 11, "msg": "busy",
                                                                                   "details": "later"}}))

    error = shim.add(conf, pod).error

    assert error["code"] == 11 and error["details"] == "later"
    assert "bad" in error["msg"] and "busy" in error["msg"]
    assert pod.links() == set()
    assert fake.order() == ["ADD bad", "DEL bad"]
    assert shim.delete(conf, pod).ok


def test_delegates_get_the_kubernetes_arguments_of_the_request(host, daemon, shim, pod, fake):
    args = KUBERNETES_ARGS.format(name="web", id="c0ffee") + ";X=a=b"
    conf = netconf(fake.conf("a"))

    assert shim.add(conf, pod, args=args).ok

    (call,) = fake.calls("ADD")
    assert call.args == {"IgnoreUnknown": "true", "K8S_POD_NAMESPACE": "default", "K8S_POD_NAME": "web",
                         "K8S_POD_INFRA_CONTAINER_ID": "c0ffee", "X": "a=b",
                         "K8S_POD_UID": "00000000-0000-4000-8000-000000000001"}
    assert call.env["CNI_CONTAINERID"] == "c-pod0" and call.env["CNI_NETNS"] == pod.netns
    assert shim.delete(conf, pod, args=args).ok


@pytest.mark.spec("02:6")
def test_containers_that_are_no_pods_are_served_from_the_configuration(host, daemon, shim, pod, fake):
    """`ctr run --cni` sends empty CNI_ARGS; with objectsDir that is enough (00-index)."""
    conf = netconf(fake.conf("a"), fake.conf("b"))

    assert shim.add(conf, pod, args="").ok

    assert [(call.network, call.env["CNI_IFNAME"]) for call in fake.calls("ADD")] \
        == [("a", "eth0"), ("b", "net1")]
    assert fake.calls("ADD")[0].args["K8S_POD_NAME"] == ""
    assert shim.delete(conf, pod, args="").ok


def test_two_pods_reach_each_other_over_both_networks(host, daemon, shim):
    host.add_bridge("nodebr")
    conf = netconf(networks.bridge(), networks.macvlan())
    one, two = host.add_pod(), host.add_pod()

    for pod in (one, two):
        assert shim.add(conf, pod).ok

    for ifname in ("eth0", "net1"):
        target = two.addresses(ifname)[0].split("/")[0]
        one.run("ping", "-c1", "-w60", "-I", ifname, target)
    for pod in (one, two):
        assert shim.delete(conf, pod).ok


@pytest.mark.spec("02:140")
def test_gc_removes_what_is_no_longer_valid_and_leaves_the_rest(host, daemon, shim):
    conf = netconf(networks.bridge(), version="1.1.0")
    keep, drop = host.add_pod(), host.add_pod()
    for pod in (keep, drop):
        assert shim.add(conf, pod).ok

    valid = {"cni.dev/valid-attachments": [{"containerID": "c-pod0", "ifname": "eth0"}]}
    assert shim.gc({**conf, **valid}).ok

    assert keep.links() == {"eth0"}
    assert [name for name in host.files_below("/var/lib/cni/networks/cluster") if name[0].isdigit()] \
        == ["10.244.0.2"]
    assert host.files_below("/var/lib/cni/multus") == ["_attachments/c-pod0.json", "c-pod0", "results/cluster-c-pod0-eth0"]
    drop.remove()  # GC removed its end of the veth only if the plugin could find the namespace
    assert shim.delete(conf, keep).ok


@pytest.mark.spec("02:121")
def test_records_on_disk_have_the_shape_of_the_original(host, daemon, shim, pod):
    conf = netconf(networks.bridge(version="0.4.0"))
    assert shim.add(conf, pod).ok
    folder = host.path("/var/lib/cni/multus")

    scratch = json.loads((folder / "c-pod0").read_text())
    cached = json.loads((folder / "results/cluster-c-pod0-eth0").read_text())

    assert list(scratch[0]) == ["Conf", "ConfList", "Name", "IsFilterV4Gateway", "IsFilterV6Gateway", "Bytes"]
    assert cached["kind"] == "cniCacheV1" and cached["result"]["cniVersion"] == "0.4.0"
    assert (folder / "c-pod0").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "results").stat().st_mode & 0o777 == 0o700
    assert shim.delete(conf, pod).ok
