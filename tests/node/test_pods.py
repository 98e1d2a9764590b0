"""Which networks a pod gets: annotations, definitions and the node's configuration, with real plugins (02, 2 and 3)."""

import base64
import threading

import pytest
from harness.node import networks
from harness.node.netconf import netconf
from harness.node.objects import DEFAULT_NETWORK, SKIP_DEFAULT_NETWORKS

REQUESTED = {"name": "mac1", "ips": ["10.10.1.77/24"], "mac": "02:00:00:00:01:77"}


def address_macvlan(**more):
    """Addresses and MAC are the pod's choice."""
    return {"cniVersion": "1.0.0", "type": "macvlan", "master": "nodebr", "capabilities": {"ips": True, "mac": True},
            "ipam": {"type": "static"}, **more}


@pytest.fixture
def two(host, node):
    """The networks mac1 (no name of its own) and br1 (a list) of the namespace default."""
    host.add_bridge("nodebr")
    node.network("mac1", {key: value for key, value in networks.macvlan().items() if key != "name"})
    node.network("br1", networks.conflist(networks.bridge("br1", "br1", "10.10.2.0/24", default_route=False),
                                          networks.TUNING))
    return node


@pytest.mark.spec("02:20", "02:53")
def test_the_comma_format_attaches_in_its_order(two):
    pod = two.pod("mac1,br1")

    result = pod.add().result

    assert pod.links() == {"eth0", "net1", "net2"}
    assert (pod.addresses("eth0"), pod.addresses("net1"), pod.addresses("net2")) \
        == (["10.244.0.2/24"], ["10.10.1.2/24"], ["10.10.2.2/24"])
    assert [ip["address"] for ip in result["ips"]] == ["10.244.0.2/24"]  # the cluster network's alone
    assert [(entry["name"], entry["interface"]) for entry in pod.status] \
        == [("cluster", "eth0"), ("default/mac1", "net1"), ("default/br1", "net2")]
    assert pod.check().ok
    assert pod.delete().ok
    assert pod.links() == set() and pod.remembered() == []


@pytest.mark.spec("02:21", "02:28")
def test_blanks_namespaces_and_interface_names_in_the_comma_format(two):
    two.network("net1", networks.ptp("other", "10.10.9.0/24"), namespace="ns1")
    pod = two.pod(" ns1/net1 @ if1 , /br1 ")

    assert pod.add().ok

    assert pod.links() == {"eth0", "if1", "net2"}
    assert [entry["name"] for entry in pod.status] == ["cluster", "ns1/net1", "default/br1"]


@pytest.mark.spec("02:29", "02:32")
@pytest.mark.parametrize("text", [None, "", "  \t", "[]", " [ ] "])
def test_no_wish_means_the_cluster_network_alone(two, text):
    pod = two.pod(text)

    assert pod.add().ok

    assert pod.links() == {"eth0"} and len(pod.status) == 1


@pytest.mark.spec("02:35", "02:37")
def test_addresses_mac_and_interface_are_the_pods_choice(host, node):
    host.add_bridge("nodebr")
    node.network("mac1", networks.conflist(address_macvlan(name="mac1"), {"type": "tuning",
                                                                         "capabilities": {"mac": True}}))
    pod = node.pod([{**REQUESTED, "ips": ["10.10.1.77/24", "fd00:10::77/64"], "interface": "data0",
                     "interfaceRequest": "unused"},
                    {"name": "mac1", "ips": ["10.10.1.78/24"], "mac": "02:00:00:00:01:78", "interfaceRequest": "data1"}])

    assert pod.add().ok

    assert pod.links() == {"eth0", "data0", "data1"}
    assert pod.addresses("data0") == ["10.10.1.77/24"] and pod.addresses("data0", "inet6") == ["fd00:10::77/64"]
    assert pod.mac("data0") == "02:00:00:00:01:77" and pod.mac("data1") == "02:00:00:00:01:78"
    assert pod.status[1]["ips"] == ["10.10.1.77", "fd00:10::77"] and pod.status[1]["mac"] == "02:00:00:00:01:77"
    assert pod.check().ok


@pytest.mark.parametrize("families", [4, 6, 46])
def test_every_plugin_in_every_family(host, node, families):
    """IPv4, IPv6 and dual stack, from the IPAM's ranges."""
    host.add_bridge("nodebr")
    v4, v6 = families in (4, 46), families in (6, 46)

    def subnets(number):
        return {"subnet": f"10.20.{number}.0/24" if v4 else None, "subnet6": f"fd00:2{number}::/64" if v6 else None}
    node.configure(networks.bridge(**subnets(0)))
    node.network("mac", networks.macvlan("mac", **subnets(1)))
    node.network("ptp", networks.ptp("ptp", **subnets(2)))
    node.network("list", networks.conflist(networks.bridge("list", "br1", default_route=False, **subnets(3)),
                                           networks.TUNING))
    pod = node.pod("mac,ptp,list")

    assert pod.add().ok

    for number, (ifname, entry) in enumerate(zip(("eth0", "net1", "net2", "net3"), pod.status)):
        expected = ([f"10.20.{number}.2"] if v4 else []) + ([f"fd00:2{number}::2"] if v6 else [])
        assert entry["ips"] == expected
        assert [one.split("/")[0] for one in pod.addresses(ifname) + pod.addresses(ifname, "inet6")] == expected
    assert (pod.defaults(4) != []) == v4 and (pod.defaults(6) != []) == v6
    assert pod.check().ok
    assert pod.delete().ok and pod.links() == set()


def test_port_mappings_of_one_network(host, node):
    node.network("br1", networks.conflist(networks.bridge("br1", "br1", "10.10.2.0/24", default_route=False),
                                          networks.PORTMAP))
    pod = node.pod([{"name": "br1", "portMappings": [{"hostPort": 8081, "containerPort": 81, "protocol": "tcp"}]}])

    assert pod.add().ok

    assert "dport 8081" in host.run("nft", "list", "ruleset").stdout
    assert pod.delete().ok
    assert "dport 8081" not in host.run("nft", "list", "ruleset").stdout


@pytest.mark.spec("02:36", "02:42", "02:72", "02:130")
@pytest.mark.parametrize("declared", [True, False])
def test_wishes_reach_the_plugin_that_declares_them_at_add_check_and_del(node, fake, declared):
    """The bytes are the same at DEL but for what belongs to DEL (pain 5)."""
    requested = {"ips": ["10.1.2.3/24", "fd00::3"], "mac": "02:00:00:00:00:05", "bandwidth": {
        "ingressRate": 1, "ingressBurst": 2, "egressRate": 3, "egressBurst": 4}, "portMappings": [
            {"hostPort": 80, "containerPort": 8080, "protocol": "udp"}], "infiniband-guid": "24:8a:07:03:00:8d:ae:2e"}
    capabilities = {name: declared for name in ("ips", "mac", "bandwidth", "portMappings", "infinibandGUID")}
    node.network("n", fake.network("n", more={"capabilities": capabilities}))
    node.network("empty", fake.network("empty", more={"capabilities": capabilities}))
    pod = node.pod([{"name": "n", **requested}, {"name": "empty", "ips": []}])

    assert pod.add().ok and pod.check().ok and pod.delete().ok

    expected = {"ips": requested["ips"], "mac": requested["mac"], "bandwidth": requested["bandwidth"],
                "portMappings": requested["portMappings"], "infinibandGUID": requested["infiniband-guid"]}
    for call in fake.calls(network="n"):
        assert call.conf.get("runtimeConfig") == (expected if declared else None), call.command
    (add,), (delete,) = fake.calls("ADD", "n"), fake.calls("DEL", "n")
    assert add.args["IP"] == "10.1.2.3/24,fd00::3" and add.args["MAC"] == requested["mac"]
    assert "IP" not in delete.args and "MAC" not in delete.args
    assert {**delete.conf, "prevResult": None} == {**add.conf, "prevResult": None}
    (add,) = fake.calls("ADD", "empty")
    assert "IP" not in add.args and "runtimeConfig" not in add.conf


@pytest.mark.spec("02:73", "02:74", "02:152")
def test_the_runtimes_wishes_go_to_everybody_but_where_the_pod_has_its_own(node, fake):
    capabilities = {"capabilities": {"portMappings": True, "dns": True, "cgroupPath": True}}
    mapping = [{"hostPort": 1, "containerPort": 2}]
    node.configure(fake.network("cluster", more=capabilities), runtimeConfig={
        "portMappings": mapping, "dns": {"servers": ["10.0.0.1"]}, "cgroupPath": "/c"})
    for name in ("own", "none", "same"):
        node.network(name, fake.network(name, more=capabilities))
    pod = node.pod([{"name": "own", "portMappings": [{"hostPort": 3, "containerPort": 4}]},
                    {"name": "none", "portMappings": []}, {"name": "same"}])

    assert pod.add().ok and pod.delete().ok

    for command in ("ADD", "DEL"):
        given = {call.network: call.conf["runtimeConfig"] for call in fake.calls(command)}
        assert given["cluster"]["dns"] == {"servers": ["10.0.0.1"]} and given["cluster"]["cgroupPath"] == "/c"
        assert given["cluster"]["portMappings"] == given["same"]["portMappings"] == mapping
        assert given["own"]["portMappings"] == [{"hostPort": 3, "containerPort": 4}]
        assert "portMappings" not in given["none"]


@pytest.mark.spec("02:76", "02:55")
def test_cni_args_go_into_every_plugin_and_numbers_keep_their_digits(node, fake):
    big = 9223372036854775807
    node.network("plain", fake.network("plain", more={"big": big}))
    node.network("merged", fake.network("merged", more={"args": {"cni": {"a": 1, "b": 2}, "other": big}}))
    node.network("list", networks.conflist(fake.network("list"), fake.network("list")))
    wish = {"cni-args": {"b": "x", "n": big}}
    pod = node.pod([{"name": name, **wish} for name in ("plain", "merged", "list")])

    assert pod.add().ok

    seen = [call.conf["args"] for call in fake.calls("ADD")]
    assert seen == [{"cni": {"b": "x", "n": big}}, {"cni": {"a": 1, "b": "x", "n": big}, "other": big},
                    {"cni": {"b": "x", "n": big}}, {"cni": {"b": "x", "n": big}}]
    assert fake.calls("ADD", "plain")[0].conf["big"] == big


@pytest.mark.spec("02:158")
def test_a_definition_that_needs_no_change_is_stored_byte_for_byte(node, fake):
    """Pain 5: nothing is lost on the way to DEL, not even white space."""
    text = '{ "type":"fake",\n\t"name" : "odd",  "cniVersion":"1.0.0", "x": 1e3,"fake":{"record":"/srv/fake/calls"}}\n'
    node.network("odd", text)
    pod = node.pod("odd")

    assert pod.add().ok

    assert base64.b64decode(pod.scratch()[1]["Bytes"]).decode() == text
    assert base64.b64decode(pod.cached("odd", "net1")["config"]).decode() == text


@pytest.mark.spec("02:68")
def test_interface_names_count_positions(node):
    node.configure(networks.bridge(), networks.bridge("d1", "br1", "10.1.1.0/24", default_route=False))
    for number, name in enumerate("xy"):
        node.network(name, networks.bridge(name, f"br-{name}", f"10.1.{2 + number}.0/24", default_route=False))
    pod = node.pod("x@foo,y")

    assert pod.add().ok

    assert pod.links() == {"eth0", "net1", "foo", "net3"}
    assert [(entry["name"], entry["interface"]) for entry in pod.status] \
        == [("cluster", "eth0"), ("d1", "net1"), ("default/x", "foo"), ("default/y", "net3")]


def test_one_network_several_times(two):
    pod = two.pod("mac1,mac1,mac1")

    assert pod.add().ok

    assert pod.links() == {"eth0", "net1", "net2", "net3"}
    assert len({entry["ips"][0] for entry in pod.status}) == 4
    assert pod.delete().ok and pod.links() == set()


@pytest.mark.spec("02:44", "02:56")
@pytest.mark.parametrize("text, name", [("calico", "kube-system/calico"), ("other/calico", "other/calico"),
                                        ('[{"name":"calico"}]', "kube-system/calico")])
def test_the_default_network_annotation_replaces_the_cluster_network(node, text, name):
    node.network("calico", networks.bridge("calico", "br1", "10.7.0.0/24"), namespace="kube-system")
    node.network("calico", networks.bridge("calico", "br1", "10.7.0.0/24"), namespace="other")
    pod = node.pod(annotations={DEFAULT_NETWORK: text})

    result = pod.add().result

    assert [ip["address"] for ip in result["ips"]] == ["10.7.0.2/24"]
    assert pod.links() == {"eth0"} and pod.addresses("eth0") == ["10.7.0.2/24"]
    assert [(entry["name"], entry["default"]) for entry in pod.status] == [(name, True)]


@pytest.mark.spec("02:159")
def test_wishes_of_the_default_network_annotation_reach_the_master(host, node):
    """Pain 46: addresses and MAC of the pod's main interface."""
    host.add_bridge("nodebr")
    node.network("fixed", networks.conflist(address_macvlan(name="fixed"),
                                            {"type": "tuning", "capabilities": {"mac": True}}), namespace="kube-system")
    pod = node.pod(annotations={DEFAULT_NETWORK: '[{"name":"fixed","ips":["10.10.1.99/24","fd00:1::99/64"],'
                                                 '"mac":"02:00:00:00:00:99"}]'})

    assert pod.add().ok

    assert pod.addresses("eth0") == ["10.10.1.99/24"] and pod.addresses("eth0", "inet6") == ["fd00:1::99/64"]
    assert pod.mac("eth0") == "02:00:00:00:00:99"


@pytest.mark.spec("02:159")
def test_the_masters_wishes_are_the_same_at_del(node, fake):
    capabilities = {"capabilities": {"ips": True, "mac": True, "bandwidth": True}}
    node.configure(fake.network("plain", more=capabilities))
    node.network("fixed", fake.network("fixed", more=capabilities), namespace="kube-system")
    requested = '"ips":["10.1.1.1/24"],"mac":"02:00:00:00:00:99","bandwidth":{"ingressRate":8,"ingressBurst":9,' \
             '"egressRate":0,"egressBurst":0}'
    chosen, plain = node.pod(annotations={DEFAULT_NETWORK: '[{"name":"fixed",%s}]' % requested}), node.pod()

    for pod in (chosen, plain):
        assert pod.add().ok and pod.delete().ok

    for call in fake.calls(network="fixed"):
        assert call.conf["runtimeConfig"] == {"ips": ["10.1.1.1/24"], "mac": "02:00:00:00:00:99", "bandwidth": {
            "ingressRate": 8, "ingressBurst": 9, "egressRate": 0, "egressBurst": 0}}
    assert all("runtimeConfig" not in call.conf for call in fake.calls(network="plain"))


@pytest.mark.spec("02:164")
@pytest.mark.parametrize("text, links", [("true", {"eth0"}), ("false", {"eth0", "net1", "net2"}),
                                         (None, {"eth0", "net1", "net2"}), ("yes", None), ("", None)])
def test_a_pod_opts_out_of_the_default_networks(node, text, links):
    """Pain 47."""
    node.configure(networks.bridge(), *(networks.bridge(f"d{i}", f"br{i}", f"10.1.{i}.0/24", default_route=False)
                                        for i in (1, 2)))
    pod = node.pod(annotations={} if text is None else {SKIP_DEFAULT_NETWORKS: text})

    outcome = pod.add()

    assert outcome.ok == (links is not None)
    assert pod.links() == (links or set())
    if not outcome.ok:
        assert "skip-default-networks" in outcome.error["msg"]


@pytest.mark.spec("02:13", "02:119")
@pytest.mark.parametrize("namespaces, name, namespace, gets", [
    (None, "web", "kube-system", False), ([], "web", "kube-system", True), (["mine"], "web", "mine", False),
    (["mine"], "web", "kube-system", True), (None, "kube-system", "default", True)])
def test_system_namespaces_get_no_default_networks(node, namespaces, name, namespace, gets):
    """Pain 47; the status is written for pods of every namespace and name."""
    keys = {} if namespaces is None else {"systemNamespaces": namespaces}
    node.configure(networks.bridge(), networks.bridge("d1", "br1", "10.1.1.0/24", default_route=False), **keys)
    pod = node.pod(name=name, namespace=namespace)

    assert pod.add().ok

    assert pod.links() == ({"eth0", "net1"} if gets else {"eth0"})
    assert len(pod.status) == len(pod.links())


@pytest.mark.spec("02:46", "02:47", "02:12")
@pytest.mark.parametrize("keys, target, allowed", [
    ({}, "other", False), ({}, "mine", True), ({}, "default", True),
    ({"globalNamespaces": " x,other ,y"}, "other", True), ({"globalNamespaces": "x"}, "default", False)])
def test_namespace_isolation(node, fake, keys, target, allowed):
    node.configure(namespaceIsolation=True, **keys)
    node.network("n", fake.network("n"), namespace=target)
    pod = node.pod(f"{target}/n", namespace="mine")

    outcome = pod.add()

    assert outcome.ok == allowed
    if not allowed:
        assert f"namespace isolation enabled, annotation violates permission, pod is in namespace mine but refers " \
               f"to target namespace {target}" in outcome.error["msg"]
        assert pod.links() == set() and fake.calls() == []


@pytest.mark.spec("02:45")
@pytest.mark.parametrize("target, allowed", [("other", False), ("kube-system", True), ("default", True),
                                             ("mine", True)])
def test_namespace_isolation_holds_for_the_default_network_annotation(node, fake, target, allowed):
    node.configure(namespaceIsolation=True)
    node.network("n", fake.conf("n"), namespace=target)
    pod = node.pod(namespace="mine", annotations={DEFAULT_NETWORK: f"{target}/n"})

    outcome = pod.add()

    assert outcome.ok == allowed
    assert allowed or ("namespace isolation enabled" in outcome.error["msg"] and fake.calls() == [])


@pytest.mark.spec("02:48", "02:157", "02:39")
@pytest.mark.parametrize("wish, namespace, name", [("gone", "default", "gone"), ("ns9/gone", "ns9", "gone"),
                                                   ('[{"name":"../../secrets"}]', "default", "../../secrets"),
                                                   ('[{"name":"UPPER"}]', "default", "UPPER")])
def test_a_network_that_is_not_there_fails_the_pod_and_says_so(two, wish, namespace, name):
    """Pain 30: never a pod that silently lacks an interface. Repeats are counted."""
    pod = two.pod(wish)

    for _ in range(5):
        error = pod.add().error

    assert f"cannot find a network-attachment-definition ({name}) in namespace ({namespace})" in error["msg"]
    assert pod.links() == set()
    two.objects.wait_events(1, reason="NoNetworkFound")
    two.daemon.stop()  # writes what is still to be written
    (event,) = pod.events()
    assert (event["type"], event["reason"], event["count"]) == ("Warning", "NoNetworkFound", 5)
    assert event["message"].startswith(f"cannot find a network-attachment-definition ({name}) in namespace "
                                       f"({namespace})")
    two.start()


@pytest.mark.spec("02:50", "02:51")
def test_a_definition_without_config_is_a_file_of_that_name(host, node):
    host.write("/etc/cni/multus/net.d/01-bad.conf", "{")
    host.write("/etc/cni/multus/net.d/55-n.conf", networks.bridge("n", "br1", "10.1.1.0/24", default_route=False))
    node.network("n")
    node.network("empty-text", "")
    host.write("/etc/cni/multus/net.d/56-e.conflist", networks.conflist(networks.ptp("empty-text")))
    pod = node.pod("n,empty-text")

    assert pod.add().ok

    assert pod.links() == {"eth0", "net1", "net2"}
    assert [entry["name"] for entry in pod.status] == ["cluster", "default/n", "default/empty-text"]


@pytest.mark.spec("02:52")
def test_a_definition_without_config_and_no_files(node):
    node.configure(confDir="/srv/nothing-here")
    node.network("n")
    pod = node.pod("n")

    assert "No networks found in /srv/nothing-here" in pod.add().error["msg"]
    assert pod.links() == set()


@pytest.mark.spec("02:56", "02:57", "02:64")
def test_the_cluster_network_by_name_is_a_definition_or_a_file(host, node):
    host.write("/etc/cni/multus/net.d/30-listed.conflist", networks.conflist(networks.bridge("listed", "br3")))
    host.write("/etc/cni/multus/net.d/listed/tuning.conf", networks.TUNING)
    node.network("cni", networks.bridge("inner", "br2", "10.8.0.0/24"), namespace="kube-system")
    by_definition, by_file = node.pod(), node.pod()

    assert by_definition.add(netconf(clusterNetwork="cni")).ok
    assert by_file.add(netconf(clusterNetwork="listed")).ok

    assert [entry["name"] for entry in by_definition.status] == ["kube-system/cni"]
    assert [entry["name"] for entry in by_file.status] == ["listed"]
    assert [plugin["type"] for plugin in by_file.scratch()[0]["ConfList"]["plugins"]] == ["bridge", "tuning"]
    assert by_definition.addresses("eth0") == ["10.8.0.2/24"]
    node.objects.wait_events(2)
    assert node.objects.events(reason="NoNetworkFound") == []


@pytest.mark.spec("02:65")
def test_a_cluster_network_that_is_not_there_is_named_with_its_cause(node):
    pod = node.pod()

    error = pod.add(netconf(clusterNetwork="nowhere", multusNamespace="ns7")).error

    assert "failed to get clusterNetwork nowhere in namespace ns7" in error["msg"]
    assert "cannot find network" in error["msg"]
    node.objects.wait_events(1, reason="NoNetworkFound")


def test_a_default_network_that_is_not_there_fails_the_pod(node, fake):
    """Pain 30."""
    node.configure(fake.network("cluster"))
    node.conf["defaultNetworks"] = ["missing"]
    pod = node.pod()

    assert "missing" in pod.add().error["msg"]
    assert fake.calls() == []


@pytest.mark.spec("02:66", "02:67")
def test_the_auxiliary_chain_runs_last_and_is_in_the_scratch_file(host, node):
    node.configure(auxiliaryCNIChainName="aux")
    host.path("/opt/cni/bin/passthru").symlink_to("/run/programs/passthru")
    without = node.pod()
    assert without.add().ok
    assert len(without.scratch()) == 1

    host.write("/etc/cni/multus/net.d/aux/tuning.conf", networks.TUNING)
    pod = node.pod()
    assert pod.add().ok

    chain = pod.scratch()[-1]
    assert [plugin["type"] for plugin in chain["ConfList"]["plugins"]] == ["passthru", "tuning"]
    assert pod.run("sysctl", "-n", "net.core.somaxconn").stdout.strip() == "500"
    assert len(pod.status) == 1
    node.network("x", networks.bridge(), namespace="kube-system")
    assert "must be a path" in node.pod().add(netconf(clusterNetwork="x", auxiliaryCNIChainName="aux")).error["msg"]


@pytest.mark.spec("02:115", "03:37")
@pytest.mark.parametrize("annotations, uid, works", [
    ({}, "another", False), ({"kubernetes.io/config.source": "file"}, "another", True),
    ({"kubernetes.io/config.source": "api"}, "another", False), ({}, "", True), ({}, None, True)])
def test_the_uid_must_fit_but_for_static_pods_and_requests_without_one(node, fake, annotations, uid, works):
    node.configure(fake.conf("a"))
    pod = node.pod(annotations=annotations)
    own = pod.uid
    pod.uid = own if uid is None else uid

    outcome = pod.add()

    assert outcome.ok == works
    if not works:
        assert f'expected pod UID "another" but got "{own}" from Kube API' in outcome.error["msg"]
        assert fake.calls() == []
        return
    assert pod.record()["podUID"] == own  # the object's, whatever the request says


def test_a_manifest_without_uid_fits_every_request(node):
    pod = node.pod(is_known=False)
    node.objects.pod(pod.pod_name, uid=None)

    assert pod.add().ok and len(pod.status) == 1


@pytest.mark.spec("02:161", "02:114")
def test_a_pod_that_comes_late_is_waited_for(two, fake):
    """The file's event ends the wait at once; nothing is polled."""
    two.start(podLookupTimeout=60)
    late, stale = two.pod("mac1", is_known=False), two.pod("mac1")
    two.settle()
    stale.uid = "new-uid"
    outcomes = {}

    def ask(pod):
        outcomes[pod.name] = pod.add()
    asking = [threading.Thread(target=ask, args=[pod]) for pod in (late, stale)]
    for thread in asking:
        thread.start()
    two.daemon.wait_log("ADD starting CNI request", count=2)
    for pod in (late, stale):
        two.objects.pod(pod.pod_name, uid=pod.uid, annotations={"k8s.v1.cni.cncf.io/networks": "mac1"})
    for thread in asking:
        thread.join()

    assert all(outcome.ok for outcome in outcomes.values()), outcomes
    assert late.links() == stale.links() == {"eth0", "net1"}


@pytest.mark.spec("02:161")
def test_a_pod_in_no_file_is_a_pod_without_annotations(two):
    """00-index: with podLookupTimeout 0 at once. There is no object that could get a status."""
    pod = two.pod(is_known=False)

    assert pod.add().ok

    assert pod.links() == {"eth0"}
    assert pod.status_text is None and pod.events() == []


@pytest.mark.spec("02:49")
def test_a_definition_written_a_moment_before_its_pod_counts(two):
    two.settle()
    two.daemon.wait_ready()
    pod = two.pod("late")
    two.settle()

    two.network("late", networks.ptp("late"))
    two.objects.is_dirty = False  # the test does not wait until the daemon has seen it
    assert pod.add().ok

    assert pod.links() == {"eth0", "net1"}


def test_for_containers_that_are_no_pods_nothing_is_looked_up(two):
    """00-index: what ctr and podman send."""
    pod = two.pod("mac1")

    for args in ("", "IgnoreUnknown=1;K8S_POD_NAME=whatever"):
        assert pod.add(args=args).ok
        assert pod.links() == {"eth0"} and pod.status_text is None
        assert pod.delete(args=args).ok
    assert two.objects.events() == []
