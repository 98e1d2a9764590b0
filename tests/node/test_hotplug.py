"""/delegate over the real socket: interfaces that come and go in a running sandbox (05, 2; rows 1 to 13, 69, 70)."""

import threading

import pytest
from harness.node import networks
from harness.node.daemon import body

HOT = networks.ptp("hot", "10.50.0.0/24", subnet6="fd00:50::/64")


def hot_conf(fake, name="hot", **behaviour):
    """A delegate with a real link, seen by the recording fake."""
    return fake.network(name, plugin_type=fake.install_linking(), **behaviour)


@pytest.fixture
def running(node):
    """A pod with its cluster network."""
    pod = node.pod()
    assert pod.add().ok
    return pod


@pytest.mark.spec("05:1", "03:63")
def test_an_interface_comes_and_goes(running):
    answer = running.delegate("ADD", HOT, "hot0")

    assert answer.status == 200, answer.text
    result = answer.json["Result"]
    assert result["cniVersion"] == "1.1.0"
    assert {"name": "hot0", "sandbox": running.netns, "mac": running.mac("hot0")} in result["interfaces"]
    assert [ip["address"] for ip in result["ips"]] == ["10.50.0.2/24", "fd00:50::2/64"]
    assert running.links() == {"eth0", "hot0"}
    assert running.addresses("hot0", "inet6")[0].startswith("fd00:50::2/")
    assert [entry["interface"] for entry in running.status] == ["eth0", "hot0"]
    assert running.delegate("CHECK", HOT, "hot0").status == 200

    assert running.delegate("DEL", HOT, "hot0").status == 200

    assert running.links() == {"eth0"}
    assert [entry["interface"] for entry in running.status] == ["eth0"]
    assert running.check().ok


@pytest.mark.spec("05:1", "03:63", "03:64", "03:65")
def test_the_plugin_gets_the_attributes_and_nothing_of_the_daemons(node, fake):
    node.configure(fake.conf("cluster"))
    node.start(cniVersion="0.4.0", capabilities={"portMappings": True}, logLevel="debug", name="of-the-daemon")
    pod = node.pod()
    assert pod.add().ok
    conf = hot_conf(fake)
    conf["capabilities"] = {"ips": True, "mac": True}
    attributes = {"ips": ["10.1.1.11/24"], "mac": "02:03:04:05:06:07", "cni-args": {"a": "b"}}
    bare = {key: value for key, value in hot_conf(fake, "bare").items() if key != "cniVersion"}

    assert pod.delegate("ADD", conf, "hot0", attributes).status == 200
    assert pod.delegate("ADD", bare, "hot1").status == 200

    (call,) = fake.calls("ADD", "hot")
    assert call.args == {"IgnoreUnknown": "true", "K8S_POD_NAMESPACE": "default", "K8S_POD_NAME": pod.pod_name,
                         "K8S_POD_INFRA_CONTAINER_ID": pod.container_id, "K8S_POD_UID": pod.uid,
                         "MAC": "02:03:04:05:06:07", "IP": "10.1.1.11/24"}
    assert call.conf == {**conf, "args": {"cni": {"a": "b"}},
                         "runtimeConfig": {"ips": ["10.1.1.11/24"], "mac": "02:03:04:05:06:07"}}
    assert call.env["CNI_CONTAINERID"] == pod.container_id and call.env["CNI_IFNAME"] == "hot0"
    (call,) = fake.calls("ADD", "bare")
    assert call.conf == {**bare, "cniVersion": "0.4.0"}


@pytest.mark.spec("05:11", "03:69")
@pytest.mark.parametrize("attributes, mac", [
    ({"cni-args": None}, None), (None, None), ({"MacRequest": "02:00:00:00:00:01", "cni-args": None}, "02:00:00:00:00:01"),
    ({"MacRequest": "02:00:00:00:00:01", "mac": "02:00:00:00:00:02"}, "02:00:00:00:00:02")])
def test_absent_attributes_and_their_old_names(running, fake, attributes, mac):
    assert running.delegate("ADD", hot_conf(fake), "hot0", attributes).status == 200

    (call,) = fake.calls("ADD")
    assert "args" not in call.conf and call.args.get("MAC") == mac


@pytest.mark.spec("05:2")
def test_the_same_again_is_answered_from_the_record(running, fake):
    conf, attributes = hot_conf(fake), {"ips": ["10.1.1.11/24"], "cni-args": {"b": 1, "a": 2}}
    first = running.delegate("ADD", conf, "hot0", attributes)

    # The order of members does not matter.
    shuffled = dict(reversed(list(conf.items())))
    again = running.delegate("ADD", shuffled, "hot0", {"cni-args": {"a": 2, "b": 1}, "ips": ["10.1.1.11/24"]})

    assert (again.status, again.json) == (200, first.json)
    assert fake.order() == ["ADD hot"]


@pytest.mark.spec("05:3", "05:4")
def test_another_network_on_the_same_interface_is_refused_and_its_rollback_harmless(running, fake):
    conf = hot_conf(fake)
    assert running.delegate("ADD", conf, "hot0").status == 200

    for other, attributes in ((hot_conf(fake, "other"), None), ({**conf, "x": 1}, None),
                              (conf, {"mac": "02:00:00:00:00:01"})):
        refused = running.delegate("ADD", other, "hot0", attributes)
        assert refused.status == 400 and "already exists" in refused.text
    assert running.delegate("DEL", hot_conf(fake, "other"), "hot0").status == 200

    assert fake.order() == ["ADD hot"]
    assert running.links() == {"eth0", "hot0"}


def test_an_interface_that_nobody_recorded_is_in_the_way(running, fake):
    running.run("ip", "link", "add", "hot0", "type", "bridge")

    refused = running.delegate("ADD", hot_conf(fake), "hot0")

    assert refused.status == 400 and "interface name hot0 already exists" in refused.text
    assert fake.calls() == [] and running.links() == {"eth0", "hot0"}
    running.run("ip", "link", "del", "hot0")


@pytest.mark.spec("05:5")
def test_the_recorded_configuration_counts_for_del(running, fake):
    conf = {**hot_conf(fake), "capabilities": {"ips": True}}
    assert running.delegate("ADD", conf, "hot0", {"ips": ["10.1.1.11/24"]}).status == 200

    assert running.delegate("DEL", {**conf, "edited": True, "capabilities": {}}, "hot0").status == 200

    (add,), (delete,) = fake.calls("ADD"), fake.calls("DEL")
    assert "edited" not in delete.conf
    assert delete.conf["runtimeConfig"] == add.conf["runtimeConfig"] == {"ips": ["10.1.1.11/24"]}
    assert delete.conf["prevResult"]["interfaces"][0]["name"] == "hot0"
    assert running.links() == {"eth0"}


@pytest.mark.spec("05:6")
def test_del_without_a_record_runs_what_it_is_given(running, fake):
    conf = hot_conf(fake)

    assert running.delegate("DEL", conf, "hot0").status == 200

    (delete,) = fake.calls()
    assert delete.command == "DEL" and delete.env["CNI_IFNAME"] == "hot0" and delete.conf == conf


@pytest.mark.spec("05:7", "03:67")
def test_a_failing_del_is_reported_and_can_be_repeated(running, fake):
    conf = hot_conf(fake, DEL={"error": {"code": 7, "msg": "will not"}, "first": 1})
    assert running.delegate("ADD", conf, "hot0").status == 200

    failed = running.delegate("DEL", conf, "hot0")

    assert failed.status == 400 and failed.json["code"] == 7 and "will not" in failed.json["msg"]
    assert [one["ifName"] for one in running.record()["attachments"]] == ["eth0", "hot0"]
    assert running.delegate("DEL", conf, "hot0").status == 200
    assert [one["ifName"] for one in running.record()["attachments"]] == ["eth0"]


def test_a_failing_add_is_undone_for_this_interface_alone(running, fake):
    keep = hot_conf(fake, "keep")
    assert running.delegate("ADD", keep, "hot0").status == 200

    failed = running.delegate("ADD", hot_conf(fake, "bad", ADD={"error": {"code": 11, "msg": "busy"}}), "hot1")

    assert failed.status == 400 and failed.json["code"] == 11
    assert fake.order() == ["ADD keep", "ADD bad", "DEL bad"]
    assert running.links() == {"eth0", "hot0"}
    assert [one["ifName"] for one in running.record()["attachments"]] == ["eth0", "hot0"]


@pytest.mark.spec("05:8")
@pytest.mark.parametrize("command", ["ADD", "DEL"])
@pytest.mark.parametrize("ifname", ["", "a" * 16, "a/b", "..", "a b"])
def test_interface_names_that_are_none(running, fake, command, ifname):
    assert running.delegate(command, hot_conf(fake), ifname).status == 400
    assert fake.calls() == []


@pytest.mark.spec("05:9")
def test_requests_that_are_refused(running, fake):
    node, conf = running.node, hot_conf(fake)
    broken = body({}, conf)
    env = {"CNI_COMMAND": "ADD", "CNI_CONTAINERID": running.container_id, "CNI_NETNS": running.netns,
           "CNI_IFNAME": "hot0", "CNI_ARGS": running.args}

    assert node.daemon.http("POST", "/delegate", {**broken, "env": env, "config": "no base64!"}).status == 400
    without = {key: value for key, value in env.items() if key != "CNI_ARGS"}
    assert node.daemon.http("POST", "/delegate", {**broken, "env": without}).status == 400
    assert node.daemon.http("GET", "/delegate").status == 405
    for ifname in ("eth0", None):  # absent means eth0
        refused = running.delegate("DEL", networks.bridge(), ifname)
        assert refused.status == 400, refused.text
    assert running.links() >= {"eth0"} and running.addresses("eth0") == ["10.244.0.2/24"]


@pytest.mark.spec("05:10")
def test_the_uid_must_fit_but_for_static_pods(node, fake):
    node.configure(fake.conf("cluster"))
    normal = node.pod()
    static = node.pod(annotations={"kubernetes.io/config.source": "file"})
    for pod in (normal, static):
        assert pod.add().ok
        pod.uid = "another"

    assert normal.delegate("ADD", hot_conf(fake), "hot0").status == 400
    assert static.delegate("ADD", hot_conf(fake), "hot0").status == 200

    assert [call.env["CNI_CONTAINERID"] for call in fake.calls("ADD", "hot")] == [static.container_id]


@pytest.mark.spec("05:70")
def test_requests_for_another_pod_of_that_name_run_nothing(node, fake):
    node.configure(fake.conf("cluster"))
    pod = node.pod()
    assert pod.add().ok
    conf = hot_conf(fake)
    assert pod.delegate("ADD", conf, "hot0").status == 200
    calls = len(fake.calls())

    other = f"K8S_POD_NAMESPACE=default;K8S_POD_NAME={pod.pod_name};K8S_POD_UID=u"
    for command in ("ADD", "DEL"):
        refused = pod.delegate(command, conf, "hot0", args=other)
        assert refused.status == 400 and 'expected pod UID "u"' in refused.text.replace('\\"', '"')

    assert len(fake.calls()) == calls and pod.links() == {"hot0"}


def test_a_pod_in_no_file_is_a_pod_all_the_same(node, fake):
    """00-index; with an object source that knows every pod it is refused (03, row 66)."""
    node.configure(fake.conf("cluster"))
    pod = node.pod(is_known=False)
    assert pod.add().ok

    assert pod.delegate("ADD", hot_conf(fake), "hot0").status == 200
    assert pod.delegate("DEL", hot_conf(fake), "hot0").status == 200

    assert fake.order() == ["ADD cluster", "ADD hot", "DEL hot"] and pod.status_text is None


@pytest.mark.spec("05:12", "02:134")
def test_the_pods_del_takes_hot_plugged_ones_down_first(node, fake):
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    for name in "ab":
        node.network(name, fake.network(name, plugin_type=linking))
    pod = node.pod("a,b")
    assert pod.add().ok
    for number in (1, 2):
        assert pod.delegate("ADD", fake.network(f"hot{number}", plugin_type=linking), f"hot{number}").status == 200

    assert pod.delete().ok

    assert fake.order()[5:] == ["DEL hot2", "DEL hot1", "DEL b", "DEL a", "DEL cluster"]
    assert pod.links() == set() and pod.remembered() == []


@pytest.mark.spec("05:13", "05:61")
@pytest.mark.parametrize("restarted", [False, True])
def test_an_interface_of_the_pods_creation_is_unplugged(node, fake, restarted):
    """The names of the others do not shift (05, R2)."""
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    confs = {name: fake.network(name, plugin_type=linking) for name in "abc"}
    for name, conf in confs.items():
        node.network(name, conf)
    pod = node.pod("a,b,c")
    assert pod.add().ok

    assert pod.delegate("DEL", confs["a"], "net1").status == 200
    if restarted:
        node.daemon.stop()
        node.start()

    assert pod.links() == {"eth0", "net2", "net3"}
    assert [entry["interface"] for entry in pod.status] == ["eth0", "net2", "net3"]
    assert pod.check().ok
    assert {call.env["CNI_IFNAME"] for call in fake.calls("CHECK")} == {"eth0", "net2", "net3"}
    assert pod.delete().ok
    assert [(call.network, call.env["CNI_IFNAME"]) for call in fake.calls("DEL")] \
        == [("a", "net1"), ("c", "net3"), ("b", "net2"), ("cluster", "eth0")]


@pytest.mark.spec("05:69")
def test_an_interface_inside_another_result_is_nobodys_to_delete(running, fake):
    result = {"cniVersion": "1.0.0", "interfaces": [{"name": name, "sandbox": running.netns} for name in ("net1", "net1b")]}
    conf = hot_conf(fake, ADD={"result": result})
    assert running.delegate("ADD", conf, "net1").status == 200

    assert running.delegate("DEL", conf, "net1b").status == 200

    assert fake.order() == ["ADD hot"] and running.links() == {"eth0", "net1"}


def test_an_empty_result_is_answered_with_a_version(running, fake):
    """05, R10."""
    conf = fake.conf("empty", ADD={"stdout": "{}"})

    assert running.delegate("ADD", conf, "hot0").json == {"Result": {"cniVersion": "1.1.0"}}


@pytest.mark.spec("03:68")
def test_a_list_can_be_checked_and_other_commands_are_unknown(running, fake):
    conf = networks.conflist(hot_conf(fake, "list"), fake.network("list"))
    assert running.delegate("ADD", conf, "hot0").status == 200

    assert running.delegate("CHECK", conf, "hot0").status == 200

    assert [call.command for call in fake.calls()] == ["ADD", "ADD", "CHECK", "CHECK"]
    for command in ("GC", "VERSION", "add"):
        refused = running.delegate(command, conf, "hot0")
        assert refused.status == 400 and f"unknown cmd type: {command}" in refused.text


def test_check_of_the_pod_covers_what_was_plugged_in(node, fake):
    node.configure(fake.conf("cluster"))
    pod = node.pod()
    assert pod.add().ok
    conf = hot_conf(fake, CHECK={"error": {"code": 7, "msg": "gone"}})
    assert pod.delegate("ADD", conf, "hot0").status == 200

    assert pod.check({**node.conf, "checkNetworks": "all"}).error["code"] == 7


@pytest.mark.spec("05:59", "05:60")
def test_gc_knows_what_was_plugged_in(node, fake):
    """The runtime lists (id, eth0) only; the container id decides."""
    node.configure(fake.conf("cluster", version="1.1.0"), version="1.1.0")
    keep, drop = node.pod(), node.pod()
    conf = fake.conf("hot", version="1.1.0")  # no address: what a living pod holds would not be taken from it
    for pod in (keep, drop):
        assert pod.add().ok
        assert pod.delegate("ADD", conf, "hot0").status == 200

    valid = [{"containerID": keep.container_id, "ifname": "eth0"}]
    assert node.shim.gc({**node.conf, "cni.dev/valid-attachments": valid}).ok

    assert {call.env["CNI_CONTAINERID"] for call in fake.calls("DEL")} == {drop.container_id}
    assert [call.network for call in fake.calls("DEL")] == ["hot", "cluster"]
    for call in fake.calls("GC"):
        assert {"containerID": keep.container_id, "ifname": "hot0"} in call.conf["cni.dev/valid-attachments"]
    assert drop.remembered() == [] and keep.record() is not None
    assert keep.delete().ok and drop.delete().ok


def test_one_turn_at_a_time_for_each_sandbox(node, fake):
    """05, R1: an unplug waits for the pod's ADD, and another sandbox does not."""
    gate = fake.gate()
    node.configure(fake.conf("cluster", ADD={"gate": gate.path, "result": {"cniVersion": "1.0.0"}}))
    slow, other = node.pod(), node.pod()
    answers = {}

    def ask(name, call, *words):
        answers[name] = call(*words)
    adding = threading.Thread(target=ask, args=("add", slow.add))
    adding.start()
    gate.reached()
    plugging = threading.Thread(target=ask, args=("plug", slow.delegate, "ADD", hot_conf(fake), "hot0"))
    plugging.start()
    node.daemon.wait_log("starting delegate request")

    assert other.delegate("ADD", hot_conf(fake, "free"), "hot0").status == 200
    assert [call.network for call in fake.calls("ADD")] == ["cluster", "free"]
    gate.open()
    adding.join()
    plugging.join()

    assert answers["add"].ok and answers["plug"].status == 200
    assert fake.calls("ADD", "hot")[0].begin > fake.calls("ADD", "cluster")[0].end
    other.is_added = True  # the runtime deletes it, too


def test_records_survive_the_daemon(running, fake):
    conf = hot_conf(fake)
    first = running.delegate("ADD", conf, "hot0")
    running.node.daemon.kill()
    running.node.start()

    assert running.delegate("ADD", conf, "hot0").json == first.json
    assert fake.order() == ["ADD hot"]
    assert running.delete().ok
    assert fake.order() == ["ADD hot", "DEL hot"] and running.links() == set()


def test_an_event_tells_of_a_plugged_interface(running):
    assert running.delegate("ADD", HOT, "hot0").status == 200

    running.node.objects.wait_events(2)
    assert running.events()[1]["message"] == "Add hot0 [10.50.0.2/24 fd00:50::2/64] from hot"


def test_the_scratch_file_is_not_touched_by_a_plug(running, fake):
    before = running.scratch()

    assert running.delegate("ADD", hot_conf(fake), "hot0").status == 200

    assert running.scratch() == before
    record = running.record()
    assert [(one["source"], one["ifName"], one["state"]) for one in record["attachments"]] \
        == [("cluster", "eth0", "attached"), ("delegate-api", "hot0", "attached")]
    assert record["state"] == "ready" and record["containerID"] == running.container_id
    assert record["attachments"][1]["config"]["name"] == "hot"


def test_sandboxes_that_are_no_pods_can_be_plugged_too(node, fake):
    """00-index: with objectsDir nothing is looked up for them."""
    node.configure(fake.conf("cluster"))
    pod = node.pod(is_known=False)
    assert pod.add(args="").ok

    assert pod.delegate("ADD", hot_conf(fake), "hot0", args="").status == 200
    assert pod.delegate("DEL", hot_conf(fake), "hot0", args="").status == 200
    assert pod.links() == set()


DAMAGES = ["", "{", "[]", "null", '{"version":2}', '{"version":1}', '{"version":1,"attachments":5}', "\x00\xff",
           '{"version":1,"containerID":"c","state":"ready","attachments":[null]}']


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_attachment_record_makes_nothing_fail(node, fake, damage):
    """05, 3.2: scratch file and result cache say what was attached; it is said in the log (pain 6)."""
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    node.network("n", fake.network("n", plugin_type=linking))
    pod = node.pod("n")
    assert pod.add().ok
    assert pod.delegate("ADD", hot_conf(fake), "hot0").status == 200
    node.host.write(f"/var/lib/cni/multus/_attachments/{pod.container_id}.json", damage)

    assert pod.check().ok
    assert pod.delete().ok

    assert fake.calls("DEL", "hot") and pod.links() == set() and pod.remembered() == []
    node.daemon.wait_log(r"\[error\] .*attachment record")


@pytest.mark.parametrize("damage", DAMAGES[:3])
def test_with_a_damaged_record_interfaces_still_come_and_go(node, fake, damage):
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    pod = node.pod()
    assert pod.add().ok
    conf = hot_conf(fake)
    assert pod.delegate("ADD", conf, "hot0").status == 200
    node.host.write(f"/var/lib/cni/multus/_attachments/{pod.container_id}.json", damage)

    assert pod.delegate("DEL", conf, "hot0").status == 200
    assert pod.delegate("ADD", conf, "hot0").status == 200

    assert fake.order() == ["ADD cluster", "ADD hot", "DEL hot", "ADD hot"]
    assert pod.links() == {"eth0", "hot0"}


def test_a_plugin_that_is_not_installed_costs_no_name(running):
    refused = running.delegate("ADD", {"cniVersion": "1.0.0", "name": "nope", "type": "nope"}, "hot0")

    assert refused.status == 400 and 'failed to find plugin "nope"' in refused.text
    assert running.delegate("ADD", HOT, "hot0").status == 200
    assert running.links() == {"eth0", "hot0"}


def test_a_sandbox_that_had_no_add_leaves_nothing(node):
    pod = node.pod()

    assert pod.delegate("ADD", HOT, "hot0").status == 200
    assert pod.delegate("DEL", HOT, "hot0").status == 200

    assert pod.links() == set() and pod.remembered() == []


def test_the_record_is_found_where_the_pods_configuration_put_it(node, host, fake):
    """`cniDir` stands in the CNI configuration only; also a daemon that was started since finds it."""
    host.leaks.cni_dirs.add("/srv/cni")
    conf = node.configure(fake.network("cluster"), cniDir="/srv/cni")
    host.write("/etc/cni/net.d/00-multus.conf", conf)
    node.start()
    pod = node.pod()
    assert pod.add().ok
    node.daemon.kill()
    node.start()

    assert pod.delegate("ADD", fake.network("hot"), "hot0").status == 200
    assert "hot0" in host.path(f"/srv/cni/_attachments/{pod.container_id}.json").read_text()

    assert pod.delete().ok
    assert fake.order()[-2:] == ["DEL hot", "DEL cluster"]
    assert host.files_below("/var/lib/cni/multus") == [] and host.files_below("/srv/cni") == []
