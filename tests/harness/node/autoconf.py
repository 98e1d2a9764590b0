"""A daemon that configures its node by itself (03, 6), and the primary it does that from."""

import json
import os

from harness.machine.wait import PATIENCE, until
from harness.node.daemon import default_config

NET_D = "/etc/cni/net.d"
OWN = f"{NET_D}/00-multus.conf"
PRIMARY = f"{NET_D}/10-primary.conflist"


def conflist(name="primary", version="1.0.0", **plugin):
    """A primary that works: a bridge with addresses of its own."""
    bridge = {"type": "bridge", "bridge": "br-primary", "isGateway": True,
              "ipam": {"type": "host-local", "subnet": "10.88.0.0/16", "dataDir": "/var/lib/cni/networks"}, **plugin}
    return {"cniVersion": version, "name": name, "plugins": [bridge]}


def auto_config(**keys):
    return default_config(**{"multusConfigFile": "auto", "cniVersion": "1.0.0", **keys})


class AutoNode:
    """A host whose daemons find their primary themselves."""

    def __init__(self, host, daemons):
        self.host, self.daemons = host, daemons

    def launch(self, **keys):
        return self.daemons.launch(auto_config(**keys))

    def start(self, **keys):
        """A ready daemon that has written its file and follows."""
        daemon = self.launch(**keys).wait_ready()
        daemon.wait_log("started to watch file")
        return daemon

    @property
    def own_path(self):
        return self.host.path(OWN)

    def own(self):
        """What a runtime reads."""
        return json.loads(self.own_path.read_text())

    def wait_own(self, timeout=PATIENCE, **members):
        def fits():
            return self.own_path.exists() and all(self.own().get(key) == value for key, value in members.items())
        until(fits, lambda: f"{members} in {OWN}", timeout)

    def replace(self, inside, content):
        """As careful programs write: beside, then renamed."""
        self.host.write(f"{inside}.tmp", content)
        os.rename(self.host.path(f"{inside}.tmp"), self.host.path(inside))


def why_not_ready(daemon):
    """None if it is ready."""
    answer = daemon.http("GET", "/readyz")
    return None if answer.status == 200 else answer.headers["x-not-ready"]
