"""What the daemon's log says of requests, and what it does not say (02, 9; pains 39 and 40)."""

import concurrent.futures
import json
import re

from harness.machine.wait import whole_lines
from harness.node.netconf import netconf

SECRET = "s3cr3t-do-not-log"


def test_secrets_do_not_reach_the_log(host, daemons, shim, fake, pod):
    daemon = daemons()
    conf = netconf(fake.conf("a", more={"policy": {"k8s_auth_token": SECRET}, "mtu": 1400,
                                        "tls": {"client-key-data": SECRET}}), logLevel="debug", logToStderr=True)

    outcomes = [shim.add(conf, pod), shim.check(conf, pod), shim.delete(conf, pod)]

    assert all(outcome.ok for outcome in outcomes)
    assert [call.conf["policy"]["k8s_auth_token"] for call in fake.calls()] == [SECRET] * 3
    assert SECRET not in daemon.log and not any(SECRET in outcome.stderr for outcome in outcomes)
    assert re.search(r'Del: .*"k8s_auth_token":"<removed>".*"mtu":1400', daemon.log)


def test_configurations_are_logged_at_debug_only(host, daemons, shim, fake, pod):
    daemon = daemons(logLevel="verbose")
    conf = netconf(fake.conf("a", more={"mark": "of-the-configuration"}), logLevel="verbose", logToStderr=True)

    outcomes = [shim.add(conf, pod), shim.check(conf, pod), shim.delete(conf, pod)]

    assert all(outcome.ok for outcome in outcomes)
    assert re.search(r"\[verbose\] Del: .*:a:eth0$", daemon.log, re.MULTILINE)
    assert re.search(r"\[verbose\] Check: .*\(a\):eth0$", daemon.log, re.MULTILINE)
    assert "of-the-configuration" not in daemon.log
    assert not any("of-the-configuration" in outcome.stderr for outcome in outcomes)


def test_the_shim_logs_no_secrets_of_a_failed_call(host, daemons, shim, fake, pod):
    daemons()
    conf = netconf(fake.conf("a", more={"token": SECRET}, ADD={"error": {"code": 7, "msg": "no"}}),
                   logLevel="debug", logToStderr=True)

    outcome = shim.add(conf, pod)

    assert outcome.error["code"] == 7
    assert "StdinData" in outcome.stderr and SECRET not in outcome.stderr
    assert shim.delete(conf, pod).ok


def test_a_request_may_log_to_a_file_of_its_own(host, daemons, fake, pod):
    """02-F48; row 145 of 02, 12: one handle for all requests that name the file, none afterwards."""
    daemon = daemons(logLevel=None, logToStderr=False)
    loud = netconf(fake.conf("loud"), logFile="/srv/log/own.log", logLevel="verbose")

    with concurrent.futures.ThreadPoolExecutor(16) as threads:
        answers = threads.map(lambda number: daemon.cni("STATUS", {**loud, "cniVersion": "1.1.0"}), range(100))
        assert {answer.status for answer in answers} == {200}
    assert daemon.cni("ADD", loud, pod).status == 200
    assert daemon.cni("DEL", loud, pod).status == 200

    own = host.path("/srv/log/own.log").read_text()
    assert own.count("STATUS finished CNI request") == 100  # no line is torn (row 146)
    assert all(re.match(r"\d{4}-\d\d-\d\dT\S+ \[(verbose|error)\] ", line) for line in own.splitlines())
    assert "Add: ::unknownUID:loud(loud):eth0" in own
    assert "STATUS" not in daemon.log and "Add:" not in daemon.log


def test_the_end_of_a_delegates_stderr_is_kept(host, daemons, fake, pod):
    """Pain 40."""
    daemon = daemons(logLevel="error")
    conf = netconf(fake.conf("a", ADD={"error": {"code": 11, "msg": "no address"}, "stderr": "pool is exhausted\n"}))

    answer = daemon.cni("ADD", conf, pod)

    error = json.loads(answer.body)
    assert error["code"] == 11 and 'error adding container to network "a": no address' in error["msg"]
    assert re.search(r"\[error\] ADD /opt/cni/bin/fake for interface eth0 of container c-\S+ failed after \d+ ms; "
                     r'stderr ended with "pool is exhausted" request=[0-9a-f]{16}\n', daemon.log)
    assert re.search(r"\[error\] ADD of container c-\S+ failed after \d+ ms: .*no address request=[0-9a-f]{16}\n",
                     daemon.log)
    assert daemon.cni("DEL", conf, pod).status == 200


def test_json_lines(host, daemons, fake, pod):
    daemon = daemons(logFormat="json", logLevel="debug")
    conf = netconf(fake.conf("a"))

    assert daemon.cni("ADD", conf, pod, headers={"X-Request-Id": "00112233445566aa"}).status == 200
    assert daemon.cni("DEL", conf, pod).status == 200

    lines = [json.loads(line) for line in whole_lines(daemon.log_path)]
    assert all({"time", "level", "msg"} <= set(line) for line in lines)
    of_request = [line["msg"].split(" ")[0] for line in lines if line.get("request") == "00112233445566aa"]
    assert of_request[0] == "ADD" and "Add:" in of_request
