"""Requests to /cni as a black box: what is required, what delegates see, what is answered (03, rows 32 to 62)."""

import concurrent.futures
import json
import threading
import time

import pytest
from harness.machine.proc import own_memory
from harness.machine.wait import until
from harness.net import unix_http
from harness.node import networks
from harness.node.cni import environment
from harness.node.daemon import body
from harness.node.fake import address_result
from harness.node.netconf import netconf

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=c0;K8S_POD_UID=u1"


@pytest.mark.spec("03:32")
@pytest.mark.parametrize("command", ["VERSION", "add", "NOPE"])
def test_unknown_commands_are_named(daemon, pod, command):
    answer = daemon.cni(command, netconf(networks.bridge()), pod)

    assert answer.status == 400
    assert f"unknown cmd type: {command}" in answer.text


@pytest.mark.spec("03:32")
def test_an_empty_command_is_refused(daemon, pod):
    answer = daemon.cni("", netconf(networks.bridge()), pod)

    assert answer.status == 400
    assert "CNI_COMMAND" in answer.text or "unknown cmd type" in answer.text


@pytest.mark.spec("03:33")
@pytest.mark.parametrize("name", ["CNI_CONTAINERID", "CNI_NETNS", "CNI_ARGS"])
def test_missing_variables_are_named(daemon, pod, name):
    env = environment("ADD", pod, "c1")
    del env[name]

    answer = daemon.http("POST", "/cni", body(env, netconf(networks.bridge())))

    assert answer.status == 400
    assert f"could not extract the CNI command args: missing {name}" in answer.text


@pytest.mark.spec("03:34")
def test_without_ifname_it_is_eth0(daemon, pod, fake):
    assert daemon.cni("ADD", netconf(fake.conf("a")), pod, ifname=None).status == 200

    assert fake.calls("ADD")[0].env["CNI_IFNAME"] == "eth0"
    assert daemon.cni("DEL", netconf(fake.conf("a")), pod, ifname=None).status == 200


@pytest.mark.spec("03:35")
@pytest.mark.parametrize("args", [ARGS + ";", ";" + ARGS, ARGS.replace(";", ";;"), ARGS + ";X=b=c",
                                  ARGS.replace("=", " = "), ARGS.replace(";", " ; ")])
def test_sloppy_arguments_are_understood(daemon, pod, fake, args):
    assert daemon.cni("ADD", netconf(fake.conf("a")), pod, args=args).status == 200

    seen = fake.calls("ADD")[0].args
    assert (seen["K8S_POD_NAMESPACE"], seen["K8S_POD_NAME"], seen["K8S_POD_UID"]) == ("default", "web", "u1")
    if "X=" in args:
        assert seen["X"] == "b=c"
    assert daemon.cni("DEL", netconf(fake.conf("a")), pod, args=args).status == 200


@pytest.mark.spec("03:35")
def test_a_part_without_equals_sign_fails_add_but_not_delete(daemon, pod, fake):
    answer = daemon.cni("ADD", netconf(fake.conf("a")), pod, args=ARGS + ";junk")

    assert answer.status == 400 and "junk" in answer.text
    assert fake.calls() == []
    assert daemon.cni("DEL", netconf(fake.conf("a")), pod, args=ARGS + ";junk").status == 200


@pytest.mark.spec("03:36")
@pytest.mark.parametrize("args", ["", "K8S_POD_NAME=x", "K8S_POD_NAME=x;K8S_POD_NAMESPACE="])
def test_with_a_folder_of_objects_no_pod_is_needed(daemon, pod, fake, args):
    assert daemon.cni("ADD", netconf(fake.conf("a")), pod, args=args).status == 200
    assert daemon.cni("DEL", netconf(fake.conf("a")), pod, args=args).status == 200


@pytest.mark.spec("03:39")
def test_delete_without_netns_variable(daemon, pod, fake):
    env = environment("DEL", None, "c1", args=ARGS)
    assert "CNI_NETNS" not in env

    assert daemon.http("POST", "/cni", body(env, netconf(fake.conf("a")))).status == 200


@pytest.mark.spec("03:41", "03:43")
def test_the_daemons_keys_win_and_numbers_keep_their_digits(daemons, pod, fake):
    delegate = json.dumps(fake.conf("a"))[:-1] + ', "big": 9007199254740993, "huge": 1e400, "f": 1.50}'
    conf = '{"cniVersion":"1.0.0","name":"n","type":"multus-shim","cniDir":"/srv/of-request",' \
           '"delegates":[%s]}' % delegate
    daemon = daemons(cniDir="/srv/of-daemon", retryDeleteOnError=None)

    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    text = fake.calls("ADD")[0].stdin.decode()
    assert "9007199254740993" in text and "1e400" in text and "1.50" in text
    assert daemon.host.files_below("/srv/of-daemon") \
        == ["_attachments/c-pod0.json", "c-pod0", "results/a-c-pod0-eth0"]
    assert not daemon.host.path("/srv/of-request").exists()
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:44")
@pytest.mark.parametrize("version", ["0.2.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"])
def test_results_are_sent_as_1_1_0_sorted_and_compact(daemon, pod, fake, version):
    result = address_result(version=version)
    if version == "0.2.0":
        result = {"cniVersion": "0.2.0", "ip4": {"ip": "10.9.0.5/24", "gateway": "10.9.0.1",
                                                  "routes": [{"dst": "0.0.0.0/0"}]}}
    conf = netconf(fake.conf("a", version=version, ADD={"result": result}))

    answer = daemon.cni("ADD", conf, pod, args=ARGS)

    assert answer.status == 200 and answer.headers["content-type"] == "application/json"
    interfaces = '"interfaces":[{"mac":"02:00:00:00:00:01","name":"eth0","sandbox":"/var/run/netns/pod0"}],'
    index = ',"interface":0'
    if version == "0.2.0":
        interfaces = index = ""
    assert answer.text == ('{"Result":{"cniVersion":"1.1.0",' + interfaces + '"ips":[{"address":"10.9.0.5/24",'
                           '"gateway":"10.9.0.1"' + index + '}],"routes":[{"dst":"0.0.0.0/0"}]}}')
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:45")
def test_a_delegates_error_keeps_code_and_details(daemon, pod, fake):
    conf = netconf(fake.conf("a", ADD={"exit": 1, "result": {"code": 11, "msg": "no free VF", "details": "pf0"}}))

    answer = daemon.cni("ADD", conf, pod, args=ARGS)

    assert answer.status == 400 and answer.headers["content-type"] == "application/json"
    assert list(answer.json) == ["code", "msg", "details"]
    assert answer.json["code"] == 11 and answer.json["details"] == "pf0"
    for part in ('ContainerID:"c-pod0"', "default/web", "no free VF", '"a"', " ERRORED: "):
        assert part in answer.json["msg"]
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:46")
@pytest.mark.parametrize("plan, text", [
    ({"exit": 3, "stdout": "what a mess"}, "what a mess"),
    ({"exit": 3, "stderr": "only here"}, "only here"),
    ({"exit": 3, "stdout": ""}, "exit status 3"),
    ({"exit": 3, "result": {}}, "exit status 3"),
    ({"stdout": "not json"}, "failed to unmarshal raw result"),
    ({"result": {"cniVersion": "7.0.0"}}, "7.0.0"),
])
def test_a_delegate_that_fails_oddly_is_quoted(daemon, pod, fake, plan, text):
    conf = netconf(fake.conf("a", ADD=plan))

    answer = daemon.cni("ADD", conf, pod, args=ARGS)

    assert answer.status == 400
    assert text in answer.text
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:47", "02:137")
@pytest.mark.parametrize("code", [50, 51])
def test_status_hands_on_the_delegates_code(daemon, shim, fake, code):
    error = {"code": code, "msg": "not now", "details": "because"}
    conf = netconf(fake.conf("a", version="1.1.0", STATUS={"exit": 1, "result": error}), version="1.1.0")

    answer = daemon.http("POST", "/cni", body({"CNI_COMMAND": "STATUS"}, conf))
    outcome = shim.status(conf)

    assert answer.status == 400
    assert answer.json["code"] == code and answer.json["details"] == "because"
    assert "not now" in answer.json["msg"]
    assert outcome.exit == 1 and outcome.error["code"] == code


@pytest.mark.spec("02:139")
def test_status_of_an_older_network_runs_nothing(shim, daemon, fake):
    assert shim.status(netconf(fake.conf("a", version="1.0.0"), version="1.1.0")).ok
    assert fake.calls() == []


@pytest.mark.spec("03:54")
def test_a_client_that_leaves_ends_its_add(host, daemons, pod, fake):
    """The third delegate is not started, the first two are undone, and no file remains."""
    daemon = daemons(parallelAttach="off")
    gate = fake.gate()
    conf = netconf(fake.conf("a"), fake.conf("b", ADD={"gate": gate.path}), fake.conf("c"))
    content = json.dumps(body(environment("ADD", pod, "c-pod0", args=ARGS), conf)).encode()
    client = daemon.connect()
    client.sendall(b"POST /cni HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n" % len(content) + content)
    gate.reached()

    client.close()
    until(lambda: not daemon.connections(), "the daemon saw it")
    gate.open()

    until(lambda: fake.order()[-1:] == ["DEL a"], lambda: f"undone: {fake.order()}")
    assert fake.order() == ["ADD a", "ADD b", "DEL b", "DEL a"]
    until(lambda: host.files_below("/var/lib/cni/multus") == [], "no record")


@pytest.mark.spec("03:55", "02:131")
def test_a_delete_right_after_waits_for_the_undo(host, daemon, pod, fake):
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}), fake.conf("b"))
    content = json.dumps(body(environment("ADD", pod, "c-pod0", args=ARGS), conf)).encode()
    client = daemon.connect()
    client.sendall(b"POST /cni HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n" % len(content) + content)
    gate.reached()
    client.close()

    answers = []
    deleting = threading.Thread(target=lambda: answers.append(daemon.cni("DEL", conf, pod, args=ARGS)))
    deleting.start()
    daemon.wait_log("DEL starting CNI request")
    assert [call.command for call in fake.calls()] == ["ADD"]
    gate.open()
    deleting.join()

    assert answers[0].status == 200
    (add,) = fake.calls("ADD")
    assert all(call.begin > add.end for call in fake.calls("DEL"))
    assert host.files_below("/var/lib/cni/multus") == []


@pytest.mark.spec("02:131")
def test_a_delete_cancels_an_add_that_still_runs(host, daemon, pod, fake):
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}), fake.conf("b"))
    answers = {}

    def ask(command):
        answers[command] = daemon.cni(command, conf, pod, args=ARGS)

    adding = threading.Thread(target=ask, args=["ADD"])
    adding.start()
    gate.reached()
    deleting = threading.Thread(target=ask, args=["DEL"])
    deleting.start()
    daemon.wait_log("DEL starting CNI request")
    gate.open()
    adding.join()
    deleting.join()

    assert answers["ADD"].status == 400 and answers["DEL"].status == 200
    assert fake.calls("ADD", "b") == []
    assert host.files_below("/var/lib/cni/multus") == []


@pytest.mark.spec("03:57")
def test_connection_limit_1_serves_all_one_after_another(host, daemons, fake):
    daemon = daemons(connectionLimit=1)
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path, "delay_ms": 50}))
    pods = [host.add_pod() for _ in range(10)]
    answers = []
    asking = [threading.Thread(target=lambda pod=pod: answers.append(daemon.cni("ADD", conf, pod, args=ARGS)))
              for pod in pods]
    for thread in asking:
        thread.start()
    gate.reached()
    for _ in range(10):  # probes wait for no one
        assert daemon.http("GET", "/healthz").status == 200
    gate.open()
    for thread in asking:
        thread.join()

    assert [answer.status for answer in answers] == [200] * 10
    assert fake.most_at_once() == 1
    for pod in pods:
        assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.spec("03:61")
def test_results_beyond_64_kib_arrive_whole(daemon, shim, pod, fake):
    result = address_result()
    result["routes"] = [{"dst": f"10.{i // 250}.{i % 250}.0/24", "gw": "10.9.0.1"} for i in range(3000)]
    conf = netconf(fake.conf("a", ADD={"result": result}))

    answer = daemon.cni("ADD", conf, pod, args=ARGS)

    assert answer.status == 200 and len(answer.body) > 65536
    assert int(answer.headers["content-length"]) == len(answer.body)
    assert len(answer.json["Result"]["routes"]) == 3000
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200
    assert len(shim.add(conf, pod, args=ARGS).result["routes"]) == 3000
    assert shim.delete(conf, pod, args=ARGS).ok


@pytest.mark.release("limits")
@pytest.mark.spec("03:59")
def test_a_thousand_adds_at_once_all_succeed(host, daemon, pod):
    """One namespace stands for all: the delegate makes nothing."""
    host.write("/opt/cni/bin/instant", "#!/bin/sh\ncat >/dev/null\n"
                                       "[ $CNI_COMMAND != ADD ] || echo '{\"cniVersion\":\"1.0.0\"}'\n", mode=0o755)
    conf = netconf({"cniVersion": "1.0.0", "name": "i", "type": "instant"})
    for command in ("ADD", "DEL"):
        with unix_http.room_for(1000):
            statuses = flood(daemon, [(command, pod, f"c{i}") for i in range(1000)], conf)
        assert statuses == {200: 1000}
    assert host.files_below("/var/lib/cni/multus") == []


def flood(daemon, requests, conf):
    """Sends all requests before reading the first answer."""
    socks = []
    for command, pod, container in requests:
        content = json.dumps(body(environment(command, pod, container, args=ARGS), conf)).encode()
        sock = daemon.connect(timeout=600)
        sock.sendall(b"POST /cni HTTP/1.1\r\nHost: d\r\nContent-Length: %d\r\n\r\n" % len(content) + content)
        socks.append(sock)
    statuses = {}
    for sock in socks:
        status = unix_http.parse(unix_http.read_all(sock)).status
        statuses[status] = statuses.get(status, 0) + 1
        sock.close()
    return statuses


@pytest.mark.spec("02:125")
def test_failing_deletes_do_not_stop_the_others_and_the_runtime_sees_success(host, daemon, pod, fake):
    bad = {"exit": 1, "result": {"code": 7, "msg": "will not"}, "first": 1}
    conf = netconf(fake.conf("a", DEL=bad), fake.conf("b"), fake.conf("c", DEL=bad))
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200

    assert fake.order()[3:] == ["DEL c", "DEL b", "DEL a"]
    assert host.files_below("/var/lib/cni/multus") == [
        "_attachments/c-pod0.json", "c-pod0", "pending-del/c-pod0-eth0.json", "results/a-c-pod0-eth0", "results/c-c-pod0-net2"]
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200
    assert fake.order()[6:] == ["DEL c", "DEL a"]
    assert host.files_below("/var/lib/cni/multus") == []


@pytest.mark.spec("02:126")
def test_retry_delete_on_error_reaches_the_runtime_with_code_11(host, daemons, shim, pod, fake):
    bad = {"exit": 1, "result": {"code": 7, "msg": "no such file or directory"}, "first": 1}
    daemons(retryDeleteOnError=True)
    conf = netconf(fake.conf("a", DEL=bad))
    assert shim.add(conf, pod, args=ARGS).ok

    assert shim.delete(conf, pod, args=ARGS).error["code"] == 11

    assert "c-pod0" in host.files_below("/var/lib/cni/multus")
    assert shim.delete(conf, pod, args=ARGS).ok


@pytest.mark.spec("02:132")
def test_a_delegate_that_takes_too_long_is_ended_with_its_children(host, daemons, pod, fake):
    daemon = daemons(delegateTimeout=1)
    host.write("/opt/cni/bin/stubborn", "#!/bin/sh\n[ $CNI_COMMAND = ADD ] || exit 0\n"
                                        "sleep 1000 & sleep 1000\n", mode=0o755)
    conf = netconf({"cniVersion": "1.0.0", "name": "s", "type": "stubborn"})
    begun = time.monotonic()

    answer = daemon.cni("ADD", conf, pod, args=ARGS)

    assert answer.status == 400
    assert time.monotonic() - begun < 60
    until(lambda: not any("sleep" in line for line in host.processes().values()), host.processes)
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


def test_a_delegate_that_leaves_a_child_on_its_pipes_is_not_waited_for(host, daemon, pod, fake):
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"child_until": gate.path}))

    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    gate.open()
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


def test_the_request_id_reaches_the_delegate_and_the_log(daemon, pod, fake):
    conf = netconf(fake.conf("a", DEL={"exit": 1, "first": 1}))
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    daemon.cni("DEL", conf, pod, args=ARGS, headers={"X-Request-Id": "0123456789abcdef"})

    assert fake.calls("DEL")[0].env["MULTUS_REQUEST_ID"] == "0123456789abcdef"
    assert " request=0123456789abcdef\n" in daemon.log
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.without_sanitizers  # they take memory themselves
def test_the_memory_of_a_burst_is_given_back(daemon, pod, fake):
    """1000 ADDs at once, as after a reboot: 12 MB at most a minute later, of which a daemon at rest has nine. Once, it kept what it
    ever had."""
    idle = own_memory(daemon.pid)
    gate = fake.gate()
    conf = netconf(fake.conf("a", ADD={"gate": gate.path}))
    with unix_http.room_for(1000), concurrent.futures.ThreadPoolExecutor(1000) as threads:
        adds = [threads.submit(daemon.cni, "ADD", conf, pod, f"c-{number}", timeout=300) for number in range(1000)]
        until(lambda: len(daemon.connections()) >= 1000, lambda: f"{len(daemon.connections())} connections of 1000")
        gate.open()
        assert {add.result().status for add in adds} == {200}
        busy = own_memory(daemon.pid)

        until(lambda: own_memory(daemon.pid) - idle <= 3 << 20,
              lambda: f"3 MiB more than {idle >> 10} KiB; {busy >> 10} KiB after the last answer, {own_memory(daemon.pid) >> 10} now", 60)

        print(f"{idle >> 10} KiB idle, {busy >> 10} KiB after 1000 ADDs, {own_memory(daemon.pid) >> 10} KiB at rest")
        dels = [threads.submit(daemon.cni, "DEL", conf, pod, f"c-{number}", timeout=300) for number in range(1000)]
        assert {each.result().status for each in dels} == {200}
