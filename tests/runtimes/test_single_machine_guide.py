"""The examples of docs/single-machine.md, with the daemon in place of its service."""

import pytest
from harness.docs import guide
from harness.images import image
from harness.machine.inside import addresses
from harness.node.daemon import default_config

SEEN = {"eth0": "10.70.0.2/24", "net1": "10.71.0.2/24"}
CTR = '#!/bin/sh\nexec /usr/bin/ctr --address {address} --namespace {namespace} "$@"\n'
PODMAN = """#!/bin/sh
shift
exec /usr/bin/podman --root /srv/podman --runroot /run/podman --tmpdir /run/podman-tmp run --cgroup-parent {cgroup} \
  --ulimit nofile=1000:1000 --ulimit nproc=1000:1000 "$@"
"""


@pytest.fixture
def machine(host, daemons, shim):
    """As the guide leaves it before a container starts."""
    host.path("/etc/cni/net.d").mkdir(parents=True, exist_ok=True)
    for example in guide.examples("single-machine.md", "files"):
        host.run("sh", "-ec", example.script)
    daemons.launch(default_config(multusConfigFile="auto", cniVersion="1.0.0")).wait_ready()
    return host


def say(host, program, wrapper, where):
    """Runs the only example of the guide for a runtime; what the container printed, without loopback."""
    host.write(f"/srv/bin/{program}", wrapper)
    host.path(f"/srv/bin/{program}").chmod(0o755)
    (example,) = guide.examples("single-machine.md", where)
    done = host.run("sh", "-ec", f"PATH=/srv/bin:$PATH image={image.NAME}\n{example.script}",
                    env={"CONTAINERS_CONF": "/etc/containers/containers.conf"})
    return addresses(done.stdout.splitlines())


def test_a_container_of_containerd_has_both_networks(machine, containerd):
    assert say(machine, "ctr", CTR.format(address=containerd.SOCKET, namespace=containerd.namespace), "ctr") == SEEN
    assert machine.files_below("/var/lib/cni/multus") == []


def test_a_container_of_podman_has_both_networks(machine, podman):
    assert say(machine, "podman", PODMAN.format(cgroup=podman.cgroup), "podman") == SEEN
