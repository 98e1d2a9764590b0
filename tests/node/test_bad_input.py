"""What must not hurt: malformed and hostile input, missing plugins, full and read-only disks.

Each gives a CNI error that names the culprit, leaves no file, child, namespace or descriptor behind, and
the daemon serves the next request. (What HTTP itself must refuse is in test_http.py.)
"""

import base64
import json
import os

import pytest
from harness.node import networks
from harness.node.cni import environment
from harness.node.daemon import body
from harness.node.netconf import netconf

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
STATE = "/var/lib/cni/multus"


def nothing_happened(host, fake=None):
    if host.path(STATE).exists():
        assert host.files_below(STATE) == []
    if fake is not None:
        assert fake.calls() == []


@pytest.mark.parametrize("stdin, code", [
    (b"", 6), (b"{", 6), (b"[]", 6), (b"null", 7), (b"{}", 7), (b'{"name":5}', 6), (b'{"name":"a b"}', 7),
    (b'{"name":"../x"}', 7), (b'{"name":"n","cniVersion":"9.9.9"}', 1), (b'{"name":"n","cniVersion":5}', 6),
    (b'{"name":"n"}x', 6), pytest.param(b"\x00\xff\xfe" * 100, 6, id="no-text"),
    pytest.param(b'{"name":"n","x":' + b"[" * 5000, 6, id="cut-off"),
    pytest.param(b'{"name":"n","x":' + b"[" * 100000 + b"]" * 100000 + b"}", 6, id="deep"),
])
@pytest.mark.spec("03:80", "03:81")
def test_stdin_that_is_no_network_configuration(host, daemon, shim, pod, stdin, code):
    error = shim.add(stdin, pod).error

    assert error["code"] == code
    nothing_happened(host)


@pytest.mark.parametrize("container_id", ["../../etc/x", "a/b", "-a", "a b", "ü", "a\nb", "results", "pending-del"])
@pytest.mark.spec("02:19", "03:79")
def test_container_ids_that_are_no_names(host, daemon, shim, pod, fake, container_id):
    conf = netconf(fake.conf("a"))

    error = shim.add(conf, pod, container_id=container_id).error
    answer = daemon.cni("ADD", conf, pod, container_id=container_id)

    assert error["code"] == 4 and "containerID" in error["msg"] and error["details"] == container_id
    assert answer.status == 400 and "container" in answer.text.lower()
    nothing_happened(host, fake)


@pytest.mark.parametrize("container_id", ["../../etc/x", "a/b", "results"])
def test_delete_of_a_container_id_with_a_path_touches_nothing(host, daemon, shim, pod, fake, container_id):
    host.write("/var/lib/cni/precious", "x")
    host.write("/var/lib/etc/x", "x")

    answer = daemon.cni("DEL", netconf(fake.conf("a")), pod, container_id=container_id)

    assert answer.status in (200, 400)
    assert host.path("/var/lib/cni/precious").exists() and host.path("/var/lib/etc/x").exists()


@pytest.mark.parametrize("ifname", ["a/b", "..", ".", "a b", "a:b", "x" * 16, "../../x"])
@pytest.mark.spec("03:79")
def test_interface_names_that_are_none(host, daemon, shim, pod, fake, ifname):
    conf = netconf(fake.conf("a"))

    assert shim.add(conf, pod, ifname=ifname).error["code"] == 4

    answer = daemon.cni("ADD", conf, pod, ifname=ifname)
    assert answer.status == 400 and "interface name" in answer.text
    nothing_happened(host, fake)


@pytest.mark.parametrize("name", ["../x", "a/b", "a b", "", None])
@pytest.mark.spec("02:7")
def test_network_names_that_are_none(host, daemon, shim, pod, fake, name):
    conf = fake.conf("a")
    if name is None:
        del conf["name"]
    else:
        conf["name"] = name

    error = shim.add(netconf(conf), pod).error

    assert error["code"] == 7 and "network name" in error["msg"], error
    assert fake.calls() == []
    assert shim.delete(netconf(conf), pod).ok
    assert not any(".." in path for path in host.files_below("/var/lib"))


@pytest.mark.parametrize("plugin_type, code, text", [
    ("nosuch", 999, 'failed to find plugin "nosuch" in path [/opt/cni/bin'),
    ("../../../bin/sh", 999, "invalid plugin name: ../../../bin/sh"),
    ("a/b", 999, "invalid plugin name: a/b"),
    ("fake\0x", 999, "invalid plugin name: fake"),
    ("..", 999, "failed to find plugin"),
    ("noexec", 0, "permission denied"),  # as a plugin that died without a word (01, 7.5)
    ("adir", 999, "failed to find plugin"),
    ("garbage", 0, "exec format error"),
    ("dangling", 999, "failed to find plugin"),
])
def test_plugins_that_cannot_be_run(host, daemon, shim, pod, fake, plugin_type, code, text):
    host.write("/opt/cni/bin/noexec", "#!/bin/sh\n", mode=0o644)
    host.write("/opt/cni/bin/garbage", b"\x7fELF garbage", mode=0o755)
    host.path("/opt/cni/bin/adir").mkdir()
    host.path("/opt/cni/bin/dangling").symlink_to("/nowhere")
    conf = netconf(fake.conf("first"), fake.conf("a", plugin_type=plugin_type))

    error = shim.add(conf, pod).error

    assert error["code"] == code and text in error["msg"], error
    assert [call for call in fake.order() if call.startswith("ADD")] == ["ADD first"] or fake.order() == []
    assert fake.calls("ADD", "first") == [] or fake.calls("DEL", "first")
    assert shim.delete(conf, pod).ok


@pytest.mark.parametrize("make", ["missing", "file", "folder", "other-namespace", "empty-name"])
@pytest.mark.spec("02:71")
def test_a_netns_that_is_none(host, daemon, shim, pod, fake, make):
    paths = {"missing": "/run/netns/nosuch", "file": "/srv/file", "folder": "/srv",
             "other-namespace": "/proc/1/ns/mnt", "empty-name": "/run/netns/"}
    host.write("/srv/file", "x")
    conf = netconf(fake.conf("a"))

    error = shim.add(conf, None, container_id="c1", netns=paths[make]).error

    assert error["code"] == 999 and f"no net namespace {paths[make]} found" in error["msg"]
    assert fake.calls("ADD") == []
    assert shim.delete(conf, None, container_id="c1", netns=paths[make]).ok


@pytest.mark.spec("01:P38")
def test_the_hosts_own_netns_is_refused(host, daemon, shim, fake):
    conf = netconf(fake.conf("a"))

    assert shim.add(conf, None, container_id="c1", netns="/proc/self/ns/net").error["code"] == 8

    nothing_happened(host, fake)


@pytest.mark.parametrize("conf, text", [
    ({"clusterNetwork": "/srv/nosuch.conf"}, "/srv/nosuch.conf"),
    ({"clusterNetwork": "/srv/broken.conflist"}, "/srv/broken.conflist"),
    ({"clusterNetwork": "/srv/recursive.conf"}, "/srv/recursive.conf"),
    ({"clusterNetwork": "/srv/empty/"}, "cannot find network"),
    ({"clusterNetwork": "/srv/good.conf", "defaultNetworks": ["/srv/nosuch.conf"]}, "/srv/nosuch.conf"),
    ({}, "at least one delegate/clusterNetwork must be specified"),
    ({"delegates": []}, "at least one delegate/clusterNetwork must be specified"),
    ({"delegates": [5]}, "failed to load netconf"),
    ({"delegates": [{"name": "x"}]}, "must have the 'type' or 'plugin' field"),
    ({"delegates": [{"name": "x", "plugins": [{}]}]}, "'type'"),
    ({"delegates": [{"name": "x", "type": "fake", "capabilities": {"a": "yes"}}]}, "capabilities"),
])
def test_configurations_that_make_no_sense(host, daemon, shim, pod, fake, conf, text):
    host.write("/srv/broken.conflist", "{")
    host.write("/srv/recursive.conf", {"cniVersion": "1.0.0", "name": "r", "type": "multus-shim"})
    host.write("/srv/good.conf", fake.conf("good"))
    host.path("/srv/empty").mkdir()

    error = shim.add(netconf(**conf), pod).error

    assert error["code"] == 999 and text in error["msg"], error
    nothing_happened(host, fake)


@pytest.mark.release("limits")
@pytest.mark.parametrize("size, ok", [(3 << 20, True), (5 << 20, False)])
def test_a_configuration_of_megabytes(host, daemon, shim, pod, fake, size, ok):
    conf = netconf(fake.conf("a"), filler="x" * size)

    outcome = shim.add(conf, pod)

    assert outcome.ok == ok
    if not ok:
        assert outcome.error["code"]
        nothing_happened(host, fake)
    assert shim.delete(netconf(fake.conf("a")), pod).ok


@pytest.mark.spec("03:91")
def test_an_environment_of_megabytes_is_not_sent(host, daemon, shim, pod, fake):
    filler = {f"FILLER_{i}": "x" * 100_000 for i in range(18)}

    outcome = shim.add(netconf(fake.conf("a")), pod, args=ARGS, extra_env=filler)

    assert outcome.ok, outcome
    assert not any(name.startswith("FILLER") for name in fake.calls("ADD")[0].env)
    assert shim.delete(netconf(fake.conf("a")), pod, args=ARGS).ok


@pytest.mark.spec("03:91")
def test_odd_bytes_in_the_environment(host, daemon, shim, pod, fake):
    args = ARGS + ";X=" + "tab\there"
    env = {**environment("ADD", pod, "c-pod0", args=args), "CNI_ODD": "a=b\nc", "PATH": os.environ["PATH"]}
    host.write("/srv/conf", netconf(fake.conf("a")))

    done = host.run("sh", "-c", "CNI_BAD=$(printf 'x\\377y') exec /opt/cni/bin/multus-shim </srv/conf",
                    env=env, check=False)

    assert done.returncode == 0, done.stdout
    assert fake.calls("ADD")[0].args["X"] == "tab\there"
    assert shim.delete(netconf(fake.conf("a")), pod, args=args).ok


@pytest.mark.parametrize("name", ["CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS"])
def test_variables_of_a_megabyte_or_with_nul(host, daemon, pod, fake, name):
    for value in ("x" * (1 << 20), "a\x00b"):
        env = {**environment("ADD", pod, "c1", args=ARGS), name: value}

        answer = daemon.http("POST", "/cni", body(env, netconf(fake.conf("a"))))

        assert answer.status == 400
        assert daemon.answers()
    nothing_happened(host, fake)


@pytest.mark.parametrize("text", ['{"env":{"CNI_COMMAND":"ADD","CNI_COMMAND":"DEL"}}', '{"env":null,"config":null}',
                                  '{"env":{"":"x"}}', '{"config":{"delegates":{"a":1}}}'])
def test_odd_documents_do_not_end_the_daemon(daemon, text):
    assert daemon.http("POST", "/cni", text).status == 400
    assert daemon.http("POST", "/delegate", text).status == 400
    assert daemon.answers()


@pytest.mark.parametrize("mutation", range(40))
def test_a_request_cut_or_changed_anywhere_gets_an_answer(daemon, pod, fake, mutation):
    """Bytes of a real request, flipped or cut at fixed places; fuzz targets do the same to the parsers."""
    text = json.dumps(body(environment("STATUS", None, "c1", args=ARGS), netconf(fake.conf("a")))).encode()
    place = (mutation * 7919) % len(text)
    changed = text[:place] if mutation % 2 else text[:place] + bytes([text[place] ^ 0x55]) + text[place + 1:]

    answer = daemon.http("POST", "/cni", changed)

    assert answer.status in (200, 400)
    assert daemon.answers()


def fill(host, folder, size, leave_pages=0):
    """A small tmpfs with room for `leave_pages` more pages."""
    host.path(folder).mkdir(parents=True, exist_ok=True)
    host.run("mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder)
    host.leaks.mounts.add(folder)
    host.run("sh", "-c", f"head -c {size - 4096 * leave_pages} /dev/zero > {folder}/.filler")


def free(host, folder):
    host.path(f"{folder}/.filler").unlink()


def test_a_full_disk_fails_add_before_any_delegate_runs(host, daemon, shim, pod, fake):
    fill(host, STATE, 65536)
    conf = netconf(fake.conf("a"))

    error = shim.add(conf, pod, args=ARGS).error

    assert error["code"] == 999
    assert "no space left on device" in error["msg"].lower() and STATE in error["msg"]
    assert fake.calls("ADD") == []
    assert host.files_below(STATE) == [".filler"]
    assert shim.delete(conf, pod, args=ARGS).ok
    free(host, STATE)
    assert shim.add(conf, pod, args=ARGS).ok
    assert shim.delete(conf, pod, args=ARGS).ok


def test_a_disk_that_fills_up_during_add_undoes_it(host, daemon, shim, pod):
    """Room for the scratch file, none for the result."""
    fill(host, STATE, 65536, leave_pages=1)
    conf = netconf(networks.bridge())

    error = shim.add(conf, pod, args=ARGS).error

    assert "no space left on device" in error["msg"].lower()
    assert pod.links() == set()
    assert shim.delete(conf, pod, args=ARGS).ok
    assert host.files_below(STATE) == [".filler"]
    free(host, STATE)


def test_an_add_whose_record_cannot_be_finished_leaves_none(host, daemon, shim, pod, fake):
    """Room for scratch file, first record and result, none for the last record: it would say for ever that the ADD still runs."""
    fill(host, STATE, 65536, leave_pages=3)
    conf = netconf(fake.conf("a"))

    assert shim.add(conf, pod, args=ARGS).ok

    assert "cannot write the attachment record" in daemon.log
    assert host.files_below(f"{STATE}/_attachments") == []
    assert shim.add(conf, pod, args=ARGS).ok
    assert fake.order() == ["ADD a"]  # the second was answered from the other files
    free(host, STATE)
    assert shim.delete(conf, pod, args=ARGS).ok


def test_a_disk_that_is_full_does_not_stop_delete(host, daemon, shim, pod):
    fill(host, STATE, 65536)
    free(host, STATE)
    conf = netconf(networks.bridge())
    assert shim.add(conf, pod, args=ARGS).ok
    host.run("sh", "-c", f"head -c 65536 /dev/zero > {STATE}/.filler || true")

    assert shim.delete(conf, pod, args=ARGS).ok

    assert pod.links() == set()
    assert host.files_below(STATE) == [".filler"]
    free(host, STATE)


def read_only(host, folder):
    host.path(folder).mkdir(parents=True, exist_ok=True)
    host.run("mount", "--bind", folder, folder)
    host.run("mount", "-o", "remount,bind,ro", folder)
    host.leaks.mounts.add(folder)


def test_a_read_only_state_folder_fails_add_and_names_it(host, daemon, shim, pod, fake):
    read_only(host, STATE)
    conf = netconf(fake.conf("a"))

    error = shim.add(conf, pod, args=ARGS).error

    assert error["code"] == 999
    assert "read-only file system" in error["msg"].lower() and STATE in error["msg"]
    assert fake.calls("ADD") == []
    assert shim.delete(conf, pod, args=ARGS).ok


def test_a_state_folder_that_turns_read_only_still_lets_go_of_the_network(host, daemon, shim, pod):
    conf = netconf(networks.bridge())
    assert shim.add(conf, pod, args=ARGS).ok
    read_only(host, STATE)

    shim.delete(conf, pod, args=ARGS)

    assert pod.links() == set()
    host.run("umount", STATE)
    assert shim.delete(conf, pod, args=ARGS).ok


def test_a_read_only_socket_folder_exits_3_and_names_it(host, daemons):
    read_only(host, "/run/multus")

    daemon = daemons.launch()

    assert daemon.process.wait() == 3
    assert "/run/multus" in daemon.log


def test_a_state_folder_that_is_a_file(host, daemon, shim, pod, fake):
    host.write("/var/lib/cni/multus", "in the way")

    error = shim.add(netconf(fake.conf("a")), pod).error

    assert STATE in error["msg"]
    assert fake.calls("ADD") == []
    host.path("/var/lib/cni/multus").unlink()


@pytest.mark.parametrize("content", [b"", b"{\"tr", b"[]", b"null", b"[null]", b"\x00" * 100, b"[{}]",
                                     json.dumps([{"Bytes": base64.b64encode(b"{").decode()}]).encode()])
@pytest.mark.spec("02:123")
def test_a_damaged_scratch_file_does_not_strand_the_network(host, daemon, shim, pod, content):
    conf = netconf(networks.bridge())
    assert shim.add(conf, pod, args=ARGS).ok
    host.write(f"{STATE}/c-pod0", content)

    assert shim.delete(conf, pod, args=ARGS).ok

    assert pod.links() == set()
    assert host.files_below(STATE) == []
