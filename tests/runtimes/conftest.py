"""Container runtimes on a host: own folders, own cgroups, the image made on the spot."""

import shutil
import subprocess
import time

import pytest
from harness.images import image
from harness.machine import cgroups
from harness.machine.wait import until


def pytest_collection_modifyitems(items):
    for item in items:
        if "/runtimes/" in str(item.fspath):
            item.add_marker(pytest.mark.runtime)


def need(*programs):
    for program in programs:
        if shutil.which(program, path="/usr/sbin:/usr/bin:/sbin:/bin") is None:
            pytest.skip(f"needs the program {program} (packages containerd, runc, podman, busybox-static)")


@pytest.fixture
def cgroup():
    """The name of a cgroup for this test's containers."""
    name = cgroups.new_name()
    yield name
    cgroups.remove(name)


class Containerd:
    SOCKET = "/run/containerd/containerd.sock"

    def __init__(self, host, namespace):
        self.host = host
        self.namespace = namespace
        host.write("/etc/containerd/config.toml",
                   'version = 2\nroot = "/srv/containerd"\nstate = "/run/containerd"\n'
                   'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n'
                   f'[grpc]\naddress = "{self.SOCKET}"\n')
        self.log = host.path("/srv/containerd.log")
        with open(self.log, "wb") as log:
            self.process = host.spawn("containerd", "-c", "/etc/containerd/config.toml", stdout=log, stderr=log)
        until(lambda: self.ctr("version", check=False).returncode == 0, lambda: self.log.read_text())
        host.write("/srv/image.tar", image.busybox_archive())
        self.ctr("images", "import", "/srv/image.tar")

    def ctr(self, *words, **options):
        return self.host.run("ctr", "--address", self.SOCKET, "--namespace", self.namespace, *words, **options)

    def start(self, name, script):
        """`ctr run --cni --rm` in the foreground, as a process of its own; it sets up and takes down."""
        return self.host.spawn("ctr", "--address", self.SOCKET, "--namespace", self.namespace,
                               "run", "--cni", "--rm", image.NAME, name, "sh", "-c", script,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def execute(self, name, *argv):
        return self.ctr("task", "exec", "--exec-id", f"x{time.monotonic_ns()}", name, *argv).stdout

    def stop(self):
        self.process.signal(15)
        self.process.wait()


@pytest.fixture
def containerd(host, cgroup):
    need("containerd", "ctr", "runc", "busybox")
    containerd = Containerd(host, cgroup)  # ctr puts containers into a cgroup named like the namespace
    yield containerd
    containerd.stop()


class Podman:
    CONF = "/etc/containers/containers.conf"

    def __init__(self, host, cgroup):
        self.host = host
        self.cgroup = cgroup
        host.write(self.CONF,
                   '[network]\nnetwork_backend = "cni"\nnetwork_config_dir = "/etc/cni/net.d"\n'
                   'cni_plugin_dirs = ["/opt/cni/bin"]\n'
                   '[engine]\ncgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "file"\n')
        host.write("/srv/image.tar", image.busybox_archive())
        self.podman("load", "-i", "/srv/image.tar")

    def podman(self, *words, **options):
        return self.host.run("podman", "--root", "/srv/podman", "--runroot", "/run/podman", "--tmpdir",
                             "/run/podman-tmp", *words, env={"CONTAINERS_CONF": self.CONF}, **options)

    def run(self, name, network, *argv):
        # The limits podman would set need CAP_SYS_RESOURCE, which a container of CI may lack.
        return self.podman("run", "-d", "--name", name, "--network", network, "--cgroup-parent", self.cgroup,
                           "--ulimit", "nofile=1000:1000", "--ulimit", "nproc=1000:1000", image.NAME, *argv)


@pytest.fixture
def podman(host, cgroup):
    need("podman", "runc", "conmon", "busybox")
    podman = Podman(host, f"/{cgroup}")
    yield podman
    podman.podman("rm", "-f", "-a", "-t", "0", check=False)
    # conmon starts another podman to clean up, which mounts the storage once more.
    until(lambda: host.run("pgrep", "-x", "conmon|podman", check=False).returncode != 0, "podman to be through")
    # Storage stays mounted below --root for as long as podman likes.
    host.run("sh", "-c", "umount -R /srv/podman/overlay; rm -rf /srv/podman", check=False)
