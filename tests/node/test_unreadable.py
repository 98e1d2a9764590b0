"""Records that are there and cannot be read: an error is never an absence (02, 6.2; 03, 2.14)."""

import contextlib
import json
import resource

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.machine.wait import until
from harness.node import networks
from harness.node.cni import Runtime
from harness.node.netconf import netconf
from harness.node.pending import FOLDER, leave_pending_del

CNI_DIR = "/var/lib/cni/multus"
SCRATCH = "c-pod0"
PENDING = "c-pod0-eth0.json"
ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"


@contextlib.contextmanager
def descriptors_left(daemon, count):
    """The daemon can open so many more, in that time."""
    held = daemon.process.descriptors()
    free = (number for number in range(len(held) + count + 1) if number not in held)
    limit = [next(free) for _ in range(count + 1)][-1]
    before = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (limit, before[1]))
    try:
        yield
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, before)


@contextlib.contextmanager
def unreadable(host, path):
    """Reading the file fails with EIO inside the block: nothing is mapped at address 0."""
    file = host.path(path)
    aside = file.with_name(f".{file.name}.aside")
    file.rename(aside)
    file.symlink_to("/proc/self/mem")
    try:
        yield
    finally:
        assert file.is_symlink(), f"{path} was removed"
        file.unlink()
        aside.rename(file)


def records(host):
    return [path for path in host.files_below(CNI_DIR) if not path.startswith("pending-del/")]


def code_of(answer):
    return json.loads(answer.body)["code"]


@pytest.mark.without_sanitizers
def test_out_of_descriptors_a_delete_changes_nothing_and_is_tried_again(host, daemon, pod):
    conf = netconf(networks.bridge())
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200
    before = records(host)

    with descriptors_left(daemon, 1):  # one for the connection
        answer = daemon.cni("DEL", conf, pod, args=ARGS)

    assert (answer.status, code_of(answer)) == (400, 11), answer.body
    assert b"too many open files" in answer.body
    assert records(host) == before and pod.links() == {"eth0"}
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200
    assert records(host) == [] and pod.links() == set()


@pytest.mark.without_sanitizers
@pytest.mark.parametrize("left", range(1, 8))
def test_whenever_descriptors_run_out_a_delete_loses_nothing(host, daemon, pod, left):
    conf = netconf(networks.bridge())
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    with descriptors_left(daemon, left):
        answer = daemon.cni("DEL", conf, pod, args=ARGS)

    if answer.status != 200:
        assert code_of(answer) == 11, answer.body
        assert SCRATCH in host.files_below(CNI_DIR)
        assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200
    assert records(host) == [] and pod.links() == set()


@pytest.mark.without_sanitizers
def test_out_of_descriptors_a_repeated_add_leaves_the_pod_alone(host, daemon, pod):
    conf = netconf(networks.bridge())
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200
    before, address = records(host), pod.addresses("eth0")

    for left in range(1, 6):
        with descriptors_left(daemon, left):
            answer = daemon.cni("ADD", conf, pod, args=ARGS)
        assert answer.status == 200 or code_of(answer) == 11, answer.body

    assert records(host) == before and pod.addresses("eth0") == address
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


def test_a_delete_that_cannot_read_one_file_takes_the_others_and_is_repeated(host, daemons, pod):
    conf = netconf(networks.bridge())
    daemon = daemons()
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    with unreadable(host, f"{CNI_DIR}/{SCRATCH}"):
        answer = daemon.cni("DEL", conf, pod, args=ARGS)

        assert answer.status == 200, answer.body
        assert pod.links() == set()
        assert host.files_below(FOLDER) == [PENDING]
        daemon.kill()
        daemon = daemons()
        until(lambda: "failed and is tried again in" in daemon.log, "a round")
        assert host.files_below(FOLDER) == [PENDING]
    daemon.kill()
    daemons()

    until(lambda: host.files_below(CNI_DIR) == [], lambda: f"all gone: {host.files_below(CNI_DIR)}")


@pytest.mark.parametrize("path", ["results/b-c-pod0-net1", "results", "_attachments/c-pod0.json", "_attachments"])
def test_whatever_a_delete_cannot_read_is_deleted_by_a_later_one(host, daemons, pod, fake, path):
    conf = netconf(fake.conf("a"), fake.conf("b"))
    daemon = daemons()
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    with unreadable(host, f"{CNI_DIR}/{path}"):
        assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200
        assert host.files_below(FOLDER) == [PENDING]
    daemon.kill()
    daemons()

    until(lambda: host.files_below(CNI_DIR) == [], lambda: f"all gone: {host.files_below(CNI_DIR)}")
    last = {call.network: call.conf for call in fake.calls("DEL")}
    assert set(last) == {"a", "b"} and "prevResult" in last["b"]


def test_a_repeated_add_that_cannot_read_one_file_leaves_the_pod_alone(host, daemon, pod):
    conf = netconf(networks.bridge())
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    with unreadable(host, f"{CNI_DIR}/{SCRATCH}"):
        answer = daemon.cni("ADD", conf, pod, args=ARGS)

        assert (answer.status, code_of(answer)) == (400, 11), answer.body
        assert b"input/output error" in answer.body
    assert pod.links() == {"eth0"}
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


def test_thin_writes_down_what_it_cannot_read(host, daemons, pod, program):
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin = Runtime(host, "multus")
    conf = netconf(networks.bridge(), type="multus")
    assert thin.add(conf, pod, args=ARGS).ok

    with unreadable(host, f"{CNI_DIR}/{SCRATCH}"):
        assert thin.delete(conf, pod, args=ARGS).ok

        assert pod.links() == set()
        assert host.files_below(FOLDER) == [PENDING]
    daemons()

    until(lambda: host.files_below(CNI_DIR) == [], lambda: f"all gone: {host.files_below(CNI_DIR)}")


def test_a_pending_delete_that_cannot_be_read_stays(host, daemons, pod, fake):
    conf = netconf(fake.conf("a"))
    daemon = daemons()
    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200
    daemon.kill()
    leave_pending_del(host, pod, conf, ARGS)

    with unreadable(host, f"{FOLDER}/{PENDING}"):
        daemon = daemons()
        until(lambda: "c-pod0-eth0.json failed and is tried again in" in daemon.log, "a round")
        answer = daemon.cni("ADD", conf, pod, args=ARGS)

        assert (answer.status, code_of(answer)) == (400, 11), answer.body
        assert fake.calls("DEL") == [] and host.files_below(f"{FOLDER}/bad") == []
        daemon.kill()
    daemons()

    until(lambda: host.files_below(CNI_DIR) == [], lambda: f"all gone: {host.files_below(CNI_DIR)}")
    assert fake.order() == ["ADD a", "DEL a"]
