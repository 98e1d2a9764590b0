"""Faults between a daemon and its API server, made on purpose: `multusctl status` on the node tells of them while they last.
docs/testing.md lists all faults, with the tier of each."""

import pytest

from harness.machine.host import PROGRAMS
from harness.machine.wait import until


@pytest.fixture
def status(host, program):
    program("multusctl")

    def run():
        done = host.run(f"{PROGRAMS}/multusctl", "status", check=False)
        print(done.stdout, done.stderr, flush=True)
        return done.stderr
    return run


def test_an_api_server_that_refuses_everything(node, status):
    node.proxy.refuse(".*", 503, message="the server is away")
    node.launch().wait_alive()

    until(lambda: all(words in status() for words in ("not ready", "the server is away")), "a daemon that says why")
    node.proxy.rules.clear()

    node.daemon.wait_ready(60)
    until(lambda: "not ready" not in status(), "nothing to tell")


def test_an_account_without_the_rights(node, status, account, space):
    node.log_in(account("poor", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]))
    node.launch().wait_alive()

    until(lambda: "network-attachment-definitions" in status() and "forbidden" in status(), "the right by name")
    node.daemon.stop()
    node.log_in(space.cluster.token_for("kube-system", "multus"))

    node.start()
    assert "forbidden" not in status()
