"""Network statuses that are written after the answer: the pods ask for no networks, and their records owe the status (05, 3.11)."""

import time

import pytest

from harness.cluster.roles import READ_ONLY
from harness.evidence import metrics
from harness.machine.wait import until

PATCH = "PATCH .*/status"


def owes(pod):
    """Whether the record says so."""
    return pod.record().get("statusOwed", False)


def interfaces(pod):
    return [entry["interface"] for entry in pod.status or []]


def owed(node):
    return metrics.page(node.host).value("multus_statuses_owed")


def test_the_answer_does_not_wait_for_the_status(node):
    node.start()
    pod = node.pod("plain")
    node.proxy.stall(PATCH)

    assert pod.add().ok

    assert owes(pod) and pod.status is None


def test_the_record_owes_nothing_once_the_status_is_written(node):
    node.start()
    pod = node.pod("plain")

    assert pod.add().ok

    until(lambda: interfaces(pod) == ["eth0"], "the status")
    until(lambda: not owes(pod), "a record that owes nothing")
    assert node.proxy.count(PATCH) == 1 and node.proxy.count("GET .*/pods/plain") == 0


@pytest.mark.parametrize("end", ["killed", "stopped"])
def test_a_daemon_writes_what_the_one_before_it_owed(node, end):
    node.start()
    node.proxy.refuse(PATCH, 503)
    pods = [node.pod(f"plain{number}") for number in range(3)]
    for pod in pods:
        assert pod.add().ok
    assert all(owes(pod) for pod in pods)

    if end == "killed":
        node.daemon.kill()
    else:
        assert node.daemon.stop() == 0
    node.proxy.rules.clear()
    node.proxy.forget()
    node.start()

    until(lambda: all(interfaces(pod) == ["eth0"] for pod in pods), "all statuses")
    until(lambda: not any(owes(pod) for pod in pods), "records that owe nothing")
    assert node.proxy.count(PATCH) == 3


def test_an_outage_costs_few_requests_and_ends_with_every_status(node):
    node.start(metricsPort=metrics.PORT)
    node.proxy.refuse(PATCH, 503)
    pods = [node.pod(f"plain{number}") for number in range(10)]
    began = time.monotonic()
    for pod in pods:
        assert pod.add().ok
    until(lambda: owed(node) == 10, "ten that are owed")
    until(lambda: node.proxy.count(PATCH) >= 6, "some attempts")
    took = time.monotonic() - began

    # Four side by side at first; then one after each pause of 1, 2, 4 ... s.
    assert node.proxy.count(PATCH) <= 4 + 2 + took
    (line,) = [line for line in node.daemon.log.splitlines() if "network statuses cannot be written" in line]
    assert "check the API server" in line
    node.proxy.rules.clear()
    until(lambda: all(interfaces(pod) == ["eth0"] for pod in pods), "all statuses")
    until(lambda: owed(node) == 0, "nothing that is owed")


def test_a_pod_that_went_meanwhile_gets_no_status(node):
    node.start(metricsPort=metrics.PORT)
    node.proxy.refuse(PATCH, 503)
    pod = node.pod("plain")
    assert pod.add().ok
    until(lambda: node.proxy.count(PATCH) == 1, "an attempt")

    assert pod.delete().ok

    assert owed(node) == 0 and pod.status is None


def test_a_repeated_add_is_answered_and_owes_as_before(node):
    node.start()
    node.proxy.refuse(PATCH, 503)
    pod = node.pod("plain")
    first = pod.add()

    again = pod.add()

    assert again.result == first.result and owes(pod)
    node.proxy.rules.clear()
    until(lambda: interfaces(pod) == ["eth0"], "the status")


def test_a_newer_sandbox_of_the_pod_has_its_own_status(node, space):
    """The runtime died: no DEL came for the first sandbox."""
    node.start()
    node.proxy.refuse(PATCH, 503)
    first = node.pod("plain")
    second = node.sandbox("plain", first.uid)
    assert first.add().ok and second.add().ok

    node.proxy.rules.clear()

    until(lambda: second.status and second.status[0]["ips"] == [second.addresses("eth0")[0].split("/")[0]], "the second's status")
    until(lambda: not owes(second), "a record that owes nothing")
    assert node.proxy.count(PATCH) >= 2


def test_a_right_that_is_missing_is_said_once_and_not_tried_in_a_circle(node, space, account):
    """Once, fifty such pods made two hundred requests a second."""
    node.log_in(account("reader", READ_ONLY))
    node.start()
    pods = [node.pod(f"plain{number}") for number in range(5)]
    for pod in pods:
        assert pod.add().ok

    until(lambda: "network statuses cannot be written" in node.daemon.log, "a line about it")

    (line,) = [line for line in node.daemon.log.splitlines() if "network statuses cannot be written" in line]
    assert "is forbidden" in line and "the right to patch pods/status" in line
    assert node.proxy.count("PATCH .*/pods/") <= 5 and all(owes(pod) for pod in pods)
