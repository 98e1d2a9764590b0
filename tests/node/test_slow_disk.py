"""A disk whose syncs take half a second (tests/fakes/slow_sync.c): how often a request waits for one. On a node each takes milliseconds, as
long as a plugin's work."""

import time

import pytest

from harness.machine.host import TOOLS
from harness.node.daemon import default_config
from harness.node.netconf import netconf

pytestmark = pytest.mark.without_sanitizers  # preloaded into a released program

SYNC = 0.5
SLOW = {"LD_PRELOAD": f"{TOOLS}/libslow-sync.so", "SLOW_SYNC_MS": str(int(SYNC * 1000))}


@pytest.fixture
def slow(daemons, fake, pod):
    """A daemon on a slow disk. A first ADD has made its folders, which takes syncs of its own."""
    daemon = daemons.launch(default_config(), env=SLOW).wait_ready()
    conf = netconf(fake.conf("a"))
    assert daemon.cni("ADD", conf, pod, "first").status == 200
    assert daemon.cni("DEL", conf, pod, "first").status == 200
    return daemon


def timed(daemon, command, conf, pod):
    """How many syncs one after another the request took."""
    began = time.monotonic()
    assert daemon.cni(command, conf, pod).status == 200
    return (time.monotonic() - began) / SYNC


def test_an_add_and_a_del_wait_for_a_slow_disk_as_if_they_had_one_file(slow, fake, pod):
    """A file and its folder when the ADD begins, beside the plugin, and again when it ends; the folders when the DEL ends. Once, the end
    of an ADD took four syncs one after another, and that of a DEL two."""
    conf = netconf(fake.conf("a"))

    assert 3.9 < timed(slow, "ADD", conf, pod) < 5
    assert 0.9 < timed(slow, "DEL", conf, pod) < 1.8
