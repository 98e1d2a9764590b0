"""A delegate's DEL that fails is never forgotten (02, 6.4; pains 4 and 7), with the real bridge and host-local."""

import json
import os
import time

import pytest
from harness.evidence import metrics
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import Runtime
from harness.node.netconf import netconf
from harness.node.pending import FOLDER

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
CNI_DIR = "/var/lib/cni/multus"
BROKEN = "/srv/ipam-is-broken"


@pytest.fixture
def conf(host):
    """host-local, whose DEL fails as long as there is a file, with the error in it."""
    host.write(f"{PLUGIN_DIR}/flaky-local", f"#!/bin/sh\n[ $CNI_COMMAND = DEL ] && [ -e {BROKEN} ] && cat {BROKEN} && exit 1\n"
               f"exec {PLUGIN_DIR}/host-local\n", mode=0o755)
    bridge = networks.bridge()
    bridge["ipam"]["type"] = "flaky-local"
    return netconf(bridge)


def fail(host, code=11, text="the server is away"):
    host.write(BROKEN, json.dumps({"cniVersion": "1.0.0", "code": code, "msg": text}))


def repair(host):
    host.path(BROKEN).unlink()


def addresses(host):
    return [name for name in host.files_below("/var/lib/cni/networks/cluster") if name[0].isdigit()]


def test_a_failed_delete_is_finished_by_the_next_daemon(host, daemons, shim, pod, conf):
    daemon = daemons()
    assert shim.add(conf, pod, args=ARGS).ok
    fail(host)

    assert shim.delete(conf, pod, args=ARGS).ok

    assert addresses(host) == ["10.244.0.2"]
    assert host.files_below(FOLDER) == ["c-pod0-eth0.json"]
    assert "c-pod0" in host.files_below(CNI_DIR)
    assert "DEL will be repeated as a pending DEL" in daemon.log and "the server is away" in daemon.log
    daemon.kill()
    repair(host)
    daemons()
    until(lambda: addresses(host) == [] and host.files_below(CNI_DIR) == [], lambda: host.files_below(CNI_DIR))


def test_a_failed_delete_whose_file_is_damaged_is_finished_from_the_records(host, daemons, shim, pod, conf):
    daemon = daemons()
    assert shim.add(conf, pod, args=ARGS).ok
    fail(host)
    assert shim.delete(conf, pod, args=ARGS).ok
    daemon.kill()
    repair(host)
    host.write(f"{FOLDER}/c-pod0-eth0.json", "{")
    daemon = daemons()
    until(lambda: host.files_below(FOLDER) == ["bad/c-pod0-eth0.json"], lambda: daemon.log)
    daemon.kill()

    daemon = daemons()  # it looks through all records at its start, else every ten minutes

    until(lambda: addresses(host) == [], lambda: daemon.log)
    until(lambda: host.files_below(CNI_DIR) == ["pending-del/bad/c-pod0-eth0.json"], lambda: host.files_below(CNI_DIR))
    host.path(f"{FOLDER}/bad/c-pod0-eth0.json").unlink()


@pytest.mark.slow
def test_a_failed_delete_is_finished_by_the_same_daemon(host, daemons, shim, pod, conf):
    daemon = daemons(metricsPort=metrics.PORT)
    assert shim.add(conf, pod, args=ARGS).ok
    fail(host)
    assert shim.delete(conf, pod, args=ARGS).ok
    until(lambda: metrics.page(host).value("multus_pending_dels") == 1, "counted", timeout=90)

    repair(host)

    until(lambda: addresses(host) == [] and host.files_below(CNI_DIR) == [], lambda: daemon.log, timeout=200)


def test_a_plugin_that_does_not_know_the_container_is_done(host, daemons, shim, pod, conf):
    daemons()
    assert shim.add(conf, pod, args=ARGS).ok
    fail(host, code=3, text="no such container")

    assert shim.delete(conf, pod, args=ARGS).ok

    assert host.files_below(CNI_DIR) == []
    repair(host)
    host.path("/var/lib/cni/networks/cluster/10.244.0.2").unlink()


def test_thin_asks_the_runtime_for_ten_minutes_and_then_lets_the_pod_go(host, program, pod, conf):
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin, conf = Runtime(host, "multus"), {**conf, "type": "multus"}
    assert thin.add(conf, pod, args=ARGS).ok
    fail(host)

    for _ in range(2):
        error = thin.delete(conf, pod, args=ARGS).error
        assert error["code"] == 11 and "the server is away" in error["msg"]
    first = host.path(f"{FOLDER}/c-pod0-eth0.json")
    aged = time.time() - 601
    os.utime(first, (aged, aged))
    assert thin.delete(conf, pod, args=ARGS).ok

    assert first.exists() and addresses(host) == ["10.244.0.2"] and "c-pod0" in host.files_below(CNI_DIR)
    repair(host)
    assert thin.delete(conf, pod, args=ARGS).ok
    assert addresses(host) == [] and host.files_below(CNI_DIR) == []
