"""What a pod's owner gets to see: network-status, events, and the answer to a repeated ADD (02, 2.4, 5.1, 5.6)."""

import json
import re
from pathlib import Path

import pytest
from harness.node import networks
from harness.node.objects import DEFAULT_NETWORK

RECORDINGS = Path(__file__).resolve().parents[1] / "data" / "recordings"

# 02, 2.4, word for word.
EXAMPLE = """[{
    "name": "cbr0",
    "interface": "eth0",
    "ips": [
        "10.244.1.4"
    ],
    "mac": "7e:57:6a:9b:6b:b5",
    "default": true,
    "dns": {},
    "gateway": [
        "10.244.1.1"
    ]
},{
    "name": "default/macvlan-conf",
    "interface": "net1",
    "ips": [
        "10.1.1.101"
    ],
    "mac": "36:b3:c5:29:ad:b8",
    "dns": {}
}]"""

# Writes the device-info file that it was told of, as a plugin of devices does.
DEVINFO = """#!/bin/sh
config=$(cat)
[ "$CNI_COMMAND" = ADD ] || exit 0
file=$(printf %s "$config" | sed 's/.*"CNIDeviceInfoFile":"\\([^"]*\\)".*/\\1/')
mkdir -p "${file%/*}"
printf '%s' '{"type":"memif","version":"1.1.0","memif":{"role":"slave","path":"/m","mode":"ip"}}' >"$file"
printf '{"cniVersion":"1.0.0","interfaces":[{"name":"%s","sandbox":"%s"}]}' "$CNI_IFNAME" "$CNI_NETNS"
"""


def result(*interfaces, ips=(), routes=(), version="1.0.0", **more):
    return {"cniVersion": version, "interfaces": list(interfaces), "ips": list(ips), "routes": list(routes), **more}


def in_pod(name, mac=None, **more):
    return {"name": name, "sandbox": "/var/run/netns/x", **({"mac": mac} if mac else {}), **more}


@pytest.mark.spec("02:106")
def test_the_text_is_that_of_the_specification(node, fake):
    node.configure(fake.conf("cbr0", ADD={"result": result(
        in_pod("eth0", "7e:57:6a:9b:6b:b5"), ips=[{"address": "10.244.1.4/24", "gateway": "10.244.1.1", "interface": 0}],
        routes=[{"dst": "0.0.0.0/0", "gw": "10.244.1.1"}])}))
    node.network("macvlan-conf", fake.conf("inner", ADD={"result": result(
        in_pod("net1", "36:b3:c5:29:ad:b8"), ips=[{"address": "10.1.1.101/24", "interface": 0}])}))
    pod = node.pod("macvlan-conf")

    assert pod.add().ok

    assert pod.status_text == EXAMPLE
    assert node.objects.status_object(pod.pod_name)["metadata"]["uid"] == pod.uid


def test_an_event_has_the_members_of_the_originals(node):
    pod = node.pod()
    assert pod.add().ok

    (event,) = node.objects.wait_events(1)

    (theirs, _) = json.loads((RECORDINGS / "state-after-add" / "events.json").read_text())
    by_the_server = {"creationTimestamp", "resourceVersion", "uid"}
    assert set(theirs["metadata"]) - by_the_server <= set(event["metadata"])
    assert {"kind", "apiVersion", "involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp",
            "count", "type", "reportingComponent"} <= set(event)
    assert event["involvedObject"] == {"kind": "Pod", "apiVersion": "v1", "namespace": "default", "name": pod.pod_name,
                                       "uid": pod.uid}
    assert (event["type"], event["reason"], event["count"]) == ("Normal", "AddedInterface", 1)
    assert event["source"] == {"component": "multus"} and event["firstTimestamp"] == event["lastTimestamp"]
    assert re.fullmatch(pod.pod_name + r"\.[0-9a-f]+", event["metadata"]["name"])


@pytest.mark.spec("02:111", "02:112")
def test_an_event_names_all_interfaces_and_addresses_in_the_order_of_the_annotation(node, fake):
    node.configure(fake.conf("cluster", ADD={"result": result(in_pod("eth0"))}))
    node.network("both", fake.conf("both", ADD={"result": result(in_pod("net1"), ips=[
        {"address": "10.0.0.2/24", "interface": 0}, {"address": "fd00:0::2/64", "interface": 0}])}))
    node.network("nothing", fake.conf("nothing"))  # no interface, no address: no event, no status
    node.network("last", fake.conf("last", ADD={"result": result(in_pod("net3"))}))
    pod = node.pod("both,nothing,last")

    assert pod.add().ok

    (event,) = node.objects.wait_events(1)
    assert event["message"] == ("Add eth0 [] from cluster; Add net1 [10.0.0.2/24 fd00::2/64] from default/both; "
                                "Add net3 [] from default/last")
    assert [entry["interface"] for entry in pod.status] == ["eth0", "net1", "net3"]


@pytest.mark.spec("02:112")
def test_without_any_content_no_status_is_written(node, fake):
    node.configure(fake.conf("cluster"))
    pod = node.pod()

    assert pod.add().ok

    assert pod.status_text is None and pod.events() == []


@pytest.mark.spec("02:107", "02:108", "02:109", "02:110")
def test_results_with_several_interfaces_and_with_none(node, fake):
    """Pain 18."""
    node.configure(fake.conf("cluster", ADD={"result": result(
        {"name": "veth1"}, in_pod("eth0", "02:00:00:00:00:01"), in_pod("eth1", "02:00:00:00:00:02", mtu=9000),
        ips=[{"address": "10.0.0.2/24", "interface": 1}, {"address": "10.0.1.2/24", "gateway": "10.0.1.1", "interface": 2},
             {"address": "10.0.2.2/24", "interface": 0}, {"address": "fd00:0:0::7/64"}],
        routes=[{"dst": "0.0.0.0/0", "gw": "10.0.1.1"}, {"dst": "::/0"}],
        dns={"nameservers": ["10.0.0.53"], "search": ["a<b&c>"]}, version="1.1.0")}, version="1.1.0"))
    node.network("old", fake.conf("old", version="0.2.0", ADD={"result": {
        "cniVersion": "0.2.0", "ip4": {"ip": "10.3.0.4/24", "routes": [{"dst": "0.0.0.0/1", "gw": "10.3.0.1"}]}}}))
    pod = node.pod("old")

    assert pod.add().ok

    dns = {"nameservers": ["10.0.0.53"], "search": ["a<b&c>"]}
    assert pod.status == [
        {"name": "cluster", "interface": "eth0", "ips": ["10.0.0.2"], "mac": "02:00:00:00:00:01", "dns": dns,
         "gateway": ["10.0.1.1"]},
        {"name": "cluster", "interface": "eth1", "ips": ["10.0.1.2", "fd00::7"], "mac": "02:00:00:00:00:02", "mtu": 9000,
         "default": True, "dns": dns, "gateway": ["10.0.1.1"]},
        {"name": "default/old", "ips": ["10.3.0.4"], "dns": {}}]
    assert r"a\u003cb\u0026c\u003e" in pod.status_text and "<" not in pod.status_text


@pytest.mark.spec("02:82", "02:83")
def test_a_device_info_file_of_the_plugin_is_in_the_status_and_goes_with_the_pod(host, node, fake):
    host.write("/opt/cni/bin/devinfo", DEVINFO, mode=0o755)
    capabilities = {"capabilities": {"deviceID": True, "CNIDeviceInfoFile": True}}
    node.network("memif", {"cniVersion": "1.0.0", "name": "memif", "type": "devinfo", **capabilities})
    node.network("told", fake.network("told", more=capabilities))
    pod = node.pod([{"name": "memif", "deviceID": "0000:05:00.1"}, {"name": "told", "deviceID": "0000:05:00.2"}])

    assert pod.add().ok

    folder = "/run/k8s.cni.cncf.io/devinfo/cni"
    assert host.files_below(folder) == [f"default-memif-{pod.container_id}_net1"]
    assert pod.status[1]["device-info"] == {"type": "memif", "version": "1.1.0",
                                            "memif": {"role": "slave", "path": "/m", "mode": "ip"}}
    (call,) = fake.calls("ADD", "told")
    assert call.conf["runtimeConfig"] == {
        "deviceID": "0000:05:00.2", "CNIDeviceInfoFile": f"/var{folder}/default-told-{pod.container_id}_net2"}
    assert "deviceID" not in call.conf and "device-info" not in pod.status[2]
    assert pod.delete().ok
    assert host.files_below(folder) == []


def test_a_repeated_add_returns_the_stored_result_and_runs_nothing(node, fake):
    """Pain 21: the runtime lost our reply."""
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    node.network("n", fake.network("n", plugin_type=linking))
    pod = node.pod("n")
    first = pod.add().result
    runs = len(fake.calls())

    again = pod.add().result

    assert again == first and len(fake.calls()) == runs
    assert pod.links() == {"eth0", "net1"}


def test_a_repeated_add_writes_a_status_that_is_missing(host, node, fake):
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    pod = node.pod()
    assert pod.add().ok
    text = pod.status_text
    host.path(f"/srv/objects/status/default/{pod.pod_name}.json").unlink()

    assert pod.add().ok

    assert pod.status_text == text and len(fake.calls("ADD")) == 1


@pytest.mark.spec("02:70")
def test_a_repeated_add_after_an_interface_vanished_starts_anew(node, fake):
    linking = fake.install_linking()
    node.configure(fake.network("cluster", plugin_type=linking))
    node.network("n", fake.network("n", plugin_type=linking))
    pod = node.pod("n")
    assert pod.add().ok
    pod.run("ip", "link", "del", "net1")

    assert pod.add().ok

    assert fake.order() == ["ADD cluster", "ADD n", "DEL n", "DEL cluster", "ADD cluster", "ADD n"]
    assert pod.links() == {"eth0", "net1"}


def test_a_status_that_cannot_be_written_fails_the_pod_and_undoes_everything(host, node):
    host.write("/srv/objects/status", "a file in the way")
    node.network("n", networks.ptp("n"))
    pod = node.pod("n")

    error = pod.add().error

    assert "error setting the networks status" in error["msg"]
    assert pod.links() == set()
    assert [name for name in pod.remembered() if name.startswith("results/")] == []
    assert pod.delete().ok


@pytest.mark.spec("03:38")
@pytest.mark.parametrize("version", ["0.3.1", "0.4.0", "1.0.0"])
def test_a_pod_whose_manifest_is_gone_is_still_served(node, version):
    """00-index: what is in no file is a pod without annotations; it can be deleted without a UID, too."""
    node.network("n", networks.ptp("n"))
    pod = node.pod("n")
    assert pod.add({**node.conf, "cniVersion": version}).result["cniVersion"] == version
    node.objects.remove_pod(pod.pod_name)
    pod.uid = ""

    assert pod.delete().ok

    assert pod.links() == set()


def test_the_default_network_annotation_is_the_default_of_the_status(node):
    node.network("main", networks.ptp("inner", "10.7.0.0/24"), namespace="kube-system")
    node.network("n", networks.ptp("n"))
    pod = node.pod("n", annotations={DEFAULT_NETWORK: "main"})

    assert pod.add().ok

    assert [(entry["name"], entry.get("default")) for entry in pod.status] \
        == [("kube-system/main", True), ("default/n", None)]
    (event,) = node.objects.wait_events(1)
    assert event["message"].startswith("Add eth0 [10.7.0.2/24] from kube-system/main; ")
