"""The metrics as seen from outside, by promtool and by a real Prometheus (03, 4)."""

import json
import re
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from harness.evidence import metrics
from harness.machine.proc import cpu_seconds
from harness.machine.wait import until
from harness.node import networks
from harness.node.netconf import netconf

HOLD_PORT = """
import socket, sys
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("0.0.0.0", int(sys.argv[1])))
server.listen()
print("held", flush=True)
sys.stdin.read()
"""
SILENT = """
import socket, sys
connections = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(int(sys.argv[2]))]
print("connected", flush=True)
sys.stdin.read()
"""
# Asks again and again, many at a time, and says how often it was answered.
FLOOD = """
import selectors, socket, sys, time
port, seconds, width = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
selector, end, answers = selectors.DefaultSelector(), time.monotonic() + seconds, 0

def begin():
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(("127.0.0.1", port))
    selector.register(client, selectors.EVENT_WRITE)

for _ in range(width):
    begin()
while time.monotonic() < end:
    for key, events in selector.select(0.1):
        client = key.fileobj
        try:
            if events & selectors.EVENT_WRITE:
                client.send(b"GET /metrics HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n")
                selector.modify(client, selectors.EVENT_READ)
                continue
            if client.recv(1 << 18):
                continue
            answers += 1
        except OSError:
            pass
        selector.unregister(client)
        client.close()
        begin()
print(answers)
"""
MONITORING = Path(__file__).resolve().parents[2] / "deploy" / "monitoring"


@pytest.fixture
def daemon(daemons):
    return daemons(metricsPort=metrics.PORT)


def page_if(host, is_right):
    page = metrics.page(host)
    return page if is_right(page) else None


def dashboard_questions():
    """What the dashboard asks, with the variables as Grafana would fill them in."""
    panels = json.loads((MONITORING / "dashboard.json").read_text())["panels"]
    questions = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert questions
    return [question.replace("$__rate_interval", "1m").replace("$instance", ".*").replace("$job", ".*")
            for question in questions]


def evaluated(prometheus):
    groups = (prometheus.ask("/api/v1/rules") or {"groups": []})["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None


# pain 38
@pytest.mark.spec("03:97")
def test_requests_are_counted_and_promtool_has_nothing_to_say(host, daemon, shim, fake):
    conf = netconf(networks.bridge())
    pods = [host.add_pod() for _ in range(3)]
    for pod in pods:
        assert shim.add(conf, pod).ok
    assert daemon.http("GET", "/nowhere").status == 404

    answer = metrics.fetch(host)

    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert 'multus_server_request_total{code="200",handler="/cni",method="post"} 3\n' in answer.body
    assert 'multus_server_request_total{code="404",handler="NotFound",method="get"} 1\n' in answer.body
    assert metrics.complaints(host, answer.body) == ""
    for pod in pods:
        assert shim.delete(conf, pod).ok


def test_promtool_accepts_the_configuration_and_its_alert_rules(host):
    config = (MONITORING / "prometheus.yaml").read_text()
    # Debian's build cannot look for pods.
    config = re.sub(r"    kubernetes_sd_configs:.*?(?=    relabel_configs:)", "    static_configs: []\n", config,
                    flags=re.DOTALL)
    host.write("/srv/monitoring/prometheus.yaml", config)
    host.write("/srv/monitoring/rules.yaml", (MONITORING / "rules.yaml").read_text())

    done = host.run("promtool", "check", "config", "/srv/monitoring/prometheus.yaml")

    assert "valid prometheus config" in done.stdout and "rules found" in done.stdout
    assert "duplicate" not in done.stdout


def test_promtool_finds_what_is_wrong(host):
    assert "counter metrics should have" in metrics.complaints(host, "# HELP a b\n# TYPE a counter\na 1\n")


# pain 38
def test_delegates_are_timed_by_type_and_command(host, daemon, shim, fake):
    fake.install("picky")
    pod, other = host.add_pod(), host.add_pod()
    good = netconf(networks.bridge())
    bad = netconf(fake.network(plugin_type="picky", ADD={"error": {"code": 11, "msg": "busy"}, "exit": 1}))
    missing = netconf(fake.network(plugin_type="nosuch"))

    assert shim.add(good, pod).ok
    assert shim.add(bad, other).error["code"] == 11
    assert shim.delete(bad, other).ok
    assert not shim.add(missing, other).ok
    assert shim.delete(missing, other).ok
    assert shim.delete(good, pod).ok
    page = metrics.page(host)

    count = "multus_delegate_duration_seconds_count"
    assert page.value(count, type="bridge", command="ADD") == 1
    assert page.value(count, type="bridge", command="DEL") == 1
    assert page.value("multus_delegate_duration_seconds_bucket", type="bridge", command="ADD", le="+Inf") == 1
    assert page.value("multus_delegate_failures_total", type="picky", command="ADD", reason="error") == 1
    assert page.value("multus_delegate_binary_missing_total", type="nosuch") >= 1
    assert page.value("multus_request_errors_total", command="ADD", code="11") == 1
    assert page.value("multus_request_duration_seconds_count", command="ADD") == 3
    assert page.value("multus_request_queue_wait_seconds_count", command="ADD") == 3
    assert metrics.complaints(host, page.text) == ""


# pain 38
def test_a_request_is_seen_while_it_runs_and_its_records_while_they_last(host, daemons, shim, fake):
    daemons(metricsPort=metrics.PORT, maxDelegates=2)  # one of the two is kept for DEL
    gate = fake.gate()
    conf = netconf(fake.conf(ADD={"gate": gate.path}))
    pods = [host.add_pod(), host.add_pod()]
    with ThreadPoolExecutor() as runtimes:
        adds = [runtimes.submit(shim.add, conf, pod) for pod in pods]
        gate.reached()
        page = until(lambda: page_if(host, lambda seen: seen.value("multus_delegates_queued") == 1), "one that waits")
        gate.open()
        assert all(add.result().ok for add in adds)

    assert page.value("multus_requests_in_progress") == 2
    assert page.value("multus_delegates_running") == 1
    assert page.value("multus_ready") == 1
    page = metrics.page(host)
    assert page.value("multus_records", kind="scratch") == 2
    assert page.value("multus_records", kind="attachment") == 2
    assert page.value("multus_records", kind="result") == 2
    assert page.value("multus_delegate_queue_wait_seconds_count") == 2
    assert page.value("multus_delegate_queue_wait_seconds_sum") > 0
    assert all(shim.delete(conf, pod).ok for pod in pods)
    until(lambda: metrics.page(host).value("multus_records") == 0, "no records")


# pain 38
def test_labels_carry_no_names_of_pods_namespaces_or_containers(host, node):
    node.start(metricsPort=metrics.PORT)
    node.network("secretnet", networks.ptp("secretcni"), namespace="secretspace")
    pod = node.pod("secretnet", name="secretpod", namespace="secretspace")
    assert pod.add().ok

    page = metrics.page(host)

    assert page.value("multus_store_objects", kind="pod") >= 1
    assert page.value("multus_store_objects", kind="network") == 1
    assert page.value("multus_delegate_duration_seconds_count", type="ptp", command="ADD") == 1
    assert "secret" not in page.text
    assert metrics.complaints(host, page.text) == ""


# pain 38
def test_types_from_outside_make_no_more_series_than_there_is_room_for(host, daemons, shim, fake):
    daemons(metricsPort=metrics.PORT)
    pod = host.add_pod()
    for number in range(40):
        conf = netconf(fake.conf(plugin_type=f"made-up-{number}"))
        assert not shim.add(conf, pod).ok
        assert shim.delete(conf, pod).ok

    page = metrics.page(host)

    types = page.labels("multus_delegate_binary_missing_total", "type")
    assert len(types) == 33 and "other" in types


@pytest.mark.spec("03:98")
def test_a_method_that_nobody_knows_has_the_label_unknown(host, daemon):
    assert daemon.raw(b"FOO /cni HTTP/1.1\r\nHost: dummy\r\n\r\n").status == 405

    assert metrics.page(host).value("multus_server_request_total", handler="/cni", code="405", method="unknown") == 1


@pytest.mark.slow
@pytest.mark.spec("03:99")
def test_a_port_that_is_taken_is_waited_for_in_idleness(host, daemons):
    holder = host.spawn("/usr/bin/python3", "-I", "-c", HOLD_PORT, metrics.PORT, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"held\n"
    daemon = daemons(metricsPort=metrics.PORT)
    daemon.wait_log(r"\[error\] cannot listen for metrics: .*address already in use")
    before = cpu_seconds(daemon.pid)

    time.sleep(13)  # tried again after 10 to 12 s, which nothing tells
    spent = cpu_seconds(daemon.pid) - before
    holder.stdin.close()
    holder.wait()

    assert spent < 0.5
    assert daemon.log.count("[error] cannot listen for metrics: ") == 1
    assert daemon.answers()
    until(lambda: metrics.fetch(host), "metrics")
    assert metrics.page(host).value("multus_ready") == 1
    daemon.wait_ready()  # what it holds now is what it holds when idle


@pytest.mark.spec("03:100")
def test_the_profilers_paths_need_a_port_and_tell_the_command_line(host, daemons):
    daemon = daemons(enablePprof=True)
    assert metrics.fetch(host) is None
    daemon.stop()

    daemon = daemons(enablePprof=True, metricsPort=metrics.PORT)

    for path in ("/debug/pprof/", "/debug/pprof/profile", "/debug/pprof/symbol", "/debug/pprof/trace"):
        answer = metrics.fetch(host, path)
        assert (answer.status, answer.body.count("\n")) == (501, 1), path
    words = metrics.fetch(host, "/debug/pprof/cmdline").body.split("\0")
    assert words[0].endswith("/multus-daemon") and words[1] == "-config"


def test_without_a_port_nothing_listens(host, daemons):
    daemons()

    assert metrics.fetch(host) is None
    assert host.run("ss", "-Hlntu").stdout == ""
    sockets = host.run("ss", "-Hlnx").stdout
    assert "/run/multus/" in sockets and "@" not in sockets  # a file, and no abstract one


def test_other_paths_and_methods_are_refused(host, daemon):
    assert metrics.fetch(host, "/").status == 404
    assert metrics.fetch(host, "/cni").status == 404
    assert metrics.fetch(host, "/debug/pprof/cmdline").status == 404
    assert metrics.fetch(host, method="POST").status == 405
    assert metrics.fetch(host, method="HEAD").body == ""


@pytest.mark.parametrize("family, address", [("4", "127.0.0.1"), ("6", "::1")])
def test_the_port_is_open_on_both_families_unless_an_address_is_given(host, daemons, family, address):
    daemon = daemons(metricsPort=metrics.PORT)
    assert metrics.page(host, address=address)
    daemon.stop()

    daemons(metricsPort=metrics.PORT, metricsAddress=address)

    other = "::1" if family == "4" else "127.0.0.1"
    assert metrics.page(host, address=address)
    assert metrics.fetch(host, address=other) is None


def test_clients_that_say_nothing_keep_nobody_from_asking(host, daemon):
    """There are sixteen places; a silent client loses its place after ten seconds."""
    silent = host.spawn("/usr/bin/python3", "-I", "-c", SILENT, metrics.PORT, 12, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
    assert silent.stdout.readline() == b"connected\n"

    assert metrics.page(host).value("multus_ready") == 1
    assert daemon.answers()
    silent.stdin.close()
    silent.wait()


def test_a_hundred_silent_clients_hold_up_no_scrape(host, daemon):
    """Sixteen are served at once; those that say nothing make room while others wait."""
    silent = host.spawn("/usr/bin/python3", "-I", "-c", SILENT, metrics.PORT, 100, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE)
    assert silent.stdout.readline() == b"connected\n"
    begun = time.monotonic()

    assert daemon.answers()  # the socket is another matter
    assert metrics.page(host).value("multus_ready") == 1

    assert time.monotonic() - begun < 8
    silent.stdin.close()
    silent.wait()


@pytest.mark.release("speed")
@pytest.mark.without_sanitizers  # they take time themselves
def test_a_flood_of_scrapes_costs_little(host, daemon):
    """Any program in the network of the host may ask, as often as it likes."""
    before = cpu_seconds(daemon.pid)

    asked = host.run("/usr/bin/python3", "-I", "-c", FLOOD, str(metrics.PORT), "5", "50").stdout

    used = cpu_seconds(daemon.pid) - before
    print(f"{asked.strip()} pages in 5 s took {used:.2f} s of the processor")
    assert int(asked) >= 500
    assert used < 1


# pain 38
def test_a_real_prometheus_scrapes_it_and_answers_queries(host, daemon, shim):
    rules = host.write("/srv/prometheus/rules.yml", (MONITORING / "rules.yaml").read_text())
    prometheus = metrics.Prometheus(host, rules=rules)
    conf = netconf(networks.bridge())
    pod = host.add_pod()
    assert shim.add(conf, pod).ok

    requests = prometheus.query('multus_server_request_total{handler="/cni",code="200"} >= 1')
    slow = prometheus.query('histogram_quantile(0.99, multus_request_duration_seconds_bucket{command="ADD"})')

    assert [labels["method"] for labels, _ in requests] == ["post"]
    assert 0 < slow[0][1] < 60
    # A scrape that took longer than a second counts as none; the next one does not.
    assert prometheus.query('up{job="multus"} == 1')
    assert prometheus.query("process_resident_memory_bytes")[0][1] > 1e6
    for question in dashboard_questions():
        prometheus.ask("/api/v1/query", query=question)  # fails on one that Prometheus does not understand
    rules = until(lambda: evaluated(prometheus), "rules evaluated")
    assert {rule["health"] for rule in rules} == {"ok"}, rules
    assert shim.delete(conf, pod).ok
    prometheus.stop()


@pytest.mark.spec("02:135")
def test_a_network_that_fails_check_is_counted_and_told_to_the_pod(node, host, fake):
    """Its IPAM plugin may not implement CHECK; the original verifies nothing here."""
    node.start(metricsPort=metrics.PORT)
    node.configure(fake.network("cluster"))
    node.network("n", fake.network("n", CHECK={"error": {"code": 7, "msg": "no CHECK here"}}))
    pod = node.pod("n")
    assert pod.add().ok

    assert pod.check().ok
    (event,) = node.objects.wait_events(1, reason="NetworkCheckFailed")

    assert event["type"] == "Warning" and "no CHECK here" in event["message"] and "net1" in event["message"]
    assert metrics.page(host).value("multus_failed_checks_total") == 1
    assert pod.check({**node.conf, "checkNetworks": "all"}).error["code"] == 7
    assert pod.delete().ok
