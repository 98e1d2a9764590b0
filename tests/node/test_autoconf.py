"""Automatic configuration (03, 6): the primary is found and followed, and 00-multus.conf is always whole."""

import json
import os
import signal
import stat
import threading
import time

import pytest
from harness.daemon import default_config
from harness.wait import until

NET_D = "/etc/cni/net.d"
OWN = f"{NET_D}/00-multus.conf"
PRIMARY = f"{NET_D}/10-primary.conflist"
OTHER_DIR = "/etc/cni/primary.d"


def conflist(name="primary", version="1.0.0", **plugin):
    """A primary that works: a bridge with addresses of its own."""
    bridge = {"type": "bridge", "bridge": "br-primary", "isGateway": True,
              "ipam": {"type": "host-local", "subnet": "10.88.0.0/16", "dataDir": "/var/lib/cni/networks"}, **plugin}
    return {"cniVersion": version, "name": name, "plugins": [bridge]}


def auto_config(**keys):
    return default_config(**{"multusConfigFile": "auto", "cniVersion": "1.0.0", "logLevel": "debug", **keys})


@pytest.fixture
def auto(host, daemons):
    """Starts a daemon in automatic mode, without waiting for it."""
    return lambda **keys: daemons.launch(auto_config(**keys))


@pytest.fixture
def ready(auto):
    """A ready one whose file is written."""
    def start(**keys):
        daemon = auto(**keys).wait_ready()
        daemon.wait_log("started to watch file")
        return daemon
    return start


def own(host):
    """What the runtime would read; never anything but a whole document."""
    return json.loads(host.path(OWN).read_text())


def own_exists(host):
    return host.path(OWN).exists()


def why_not_ready(daemon):
    answer = daemon.http("GET", "/readyz")
    return None if answer.status == 200 else answer.headers["X-Not-Ready"]


def replace(host, inside, content):
    """As careful programs write: beside, then renamed."""
    host.write(f"{inside}.tmp", content)
    os.rename(host.path(f"{inside}.tmp"), host.path(inside))


def wait_own(host, key, value):
    until(lambda: own(host).get(key) == value, lambda: f"{key} {value} in {own(host)}")


# What is generated


@pytest.mark.spec("03:124")
def test_the_file_is_the_originals_golden_one(host, auto):
    host.write(f"{NET_D}/05-mycni.conf", {"cniVersion": "0.4.0", "name": "mycni-name", "type": "mycni"})

    auto(cniVersion="0.4.0", logLevel=None, logToStderr=None).wait_ready()
    until(lambda: own_exists(host), OWN)

    path = host.path(OWN)
    assert path.read_text() == ('{"cniVersion":"0.4.0","name":"multus-cni-network",'
                                f'"clusterNetwork":"{NET_D}/05-mycni.conf","type":"multus-shim"}}')
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
