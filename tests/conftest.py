"""Fixtures of all tests that need a host. The programs under test come from MNET_BIN."""

import os
from pathlib import Path

import pytest

from harness.evidence import sanitizers
from harness.evidence.leaks import LeakCheck, unexpected
from harness.evidence.outcome import passed
from harness.machine import cgroups
from harness.machine.host import REFERENCE_PLUGINS, Host
from harness.machine.order import dealt
from harness.node.cni import Runtime
from harness.node.daemon import Daemon, default_config
from harness.node.fake import Fake
from harness.node.objects import Objects
from harness.node.pods import PodNode

ROOT = Path(__file__).resolve().parent.parent


def programs_dir():
    return Path(os.environ.get("MNET_BIN", ROOT / "build" / "dev" / "bin")).resolve()


def pytest_addoption(parser):
    parser.addoption("--spec-map", action="store_true",
                     help="print which test covers which row of the specification, run nothing")


def pytest_collection_finish(session):
    if not session.config.getoption("--spec-map"):
        return
    rows = {}
    for item in session.items:
        for mark in item.iter_markers("spec"):
            for row in mark.args:
                rows.setdefault(row, set()).add(item.nodeid.split("[")[0])
    for row in sorted(rows, key=lambda text: [(len(part), part) for part in text.split(":")]):
        print(row, " ".join(sorted(rows[row])))
    pytest.exit("printed the map", returncode=0)


# Why a node test runs against the release build, too (docs/testing.md); all of them run under the sanitizers.
REASONS = {"static", "process", "limits", "speed", "demo"}


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        unknown = {why for mark in item.iter_markers("release") for why in mark.args or [None]} - REASONS
        if unknown:
            raise pytest.UsageError(f"{item.nodeid}: release({unknown.pop()}) is not a reason of tests/conftest.py")
    leave_out(config, items)
    items[:] = dealt(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")),
                     waits=lambda item: item.get_closest_marker("slow") is not None)


def leave_out(config, items):
    """Leaves out, instead of skipping, the tests that this build cannot run, which the other build runs, and those that an
    older Kubernetes or version 1 of control groups cannot."""
    daemon, marks = programs_dir() / "multus-daemon", []
    if daemon.exists():
        marks += ["failpoints"] if b"MULTUS_FAILPOINTS" not in daemon.read_bytes() else []
        marks += ["without_sanitizers"] if sanitizers.are_in(daemon) else []
    marks += [] if cgroups.is_version_2() else ["cgroup2"]
    left_out = [item for item in items if any(map(item.get_closest_marker, marks)) or needs_newer_kubernetes(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def needs_newer_kubernetes(item):
    """Than MNET_KUBERNETES names (`make try-kubernetes`); without it the newest that any test needs is there."""
    here = os.environ.get("MNET_KUBERNETES")
    needed = [mark.args[0] for mark in item.iter_markers("kubernetes")]
    return bool(here) and any(tuple(map(int, minor.split("."))) > tuple(map(int, here.split("."))) for minor in needed)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets fixtures know how the test went; turns skips into failures where nothing may be missing."""
    report = (yield).get_result()
    setattr(item, f"report_{report.when}", report)
    if report.skipped and os.environ.get("MNET_REQUIRE_ALL") == "1" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"


@pytest.fixture(scope="session")
def programs():
    if os.geteuid() != 0:
        pytest.skip("needs root: namespaces and mounts")
    if not (REFERENCE_PLUGINS / "bridge").exists():
        pytest.skip("needs the package containernetworking-plugins")
    folder = programs_dir()
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def host(request, programs):
    host = Host(programs, with_cgroups=any(map(request.node.get_closest_marker, ("runtime", "cgroups"))))
    host.leaks = LeakCheck(host)
    yield host
    try:
        if passed(request):
            allowed = [glob for mark in request.node.iter_markers("leaves") for glob in mark.args]
            left = unexpected(host.leaks.found(), allowed)
            assert not left, "left behind:\n  " + "\n  ".join(left)
    finally:
        host.close()


@pytest.fixture
def pod(host):
    return host.add_pod()


@pytest.fixture
def program(programs):
    """Yields the path of one of our programs by name; if the build lacks it, the test fails and is not skipped."""
    def need(name):
        path = programs / name
        assert path.exists(), f"{path} is not built"
        return path
    return need


@pytest.fixture
def plugin(host):
    """One reference plugin, run directly: plugin('bridge').add(conf, pod)."""
    return lambda name: Runtime(host, name)


@pytest.fixture
def shim(host, program):
    """multus-shim as a container runtime calls it."""
    program("multus-shim")
    return Runtime(host)


@pytest.fixture
def fake(host):
    return Fake(host)


class Daemons:
    """Starts daemons on one host and checks that each ends well."""

    def __init__(self, host):
        self.host = host
        self.started = []

    def launch(self, config=None, make=Daemon, **options):
        """Starts one and does not wait for it."""
        config = default_config() if config is None else config
        daemon = make(self.host, config, number=len(self.started), **options)
        if isinstance(config, dict) and config.get("cniDir"):
            self.host.leaks.cni_dirs.add(config["cniDir"])
        self.started.append(daemon)
        return daemon

    def __call__(self, failpoints=None, env=None, **keys):
        """A ready daemon; keywords are keys of its configuration, None leaves a default key out."""
        return self.launch(default_config(**keys), failpoints=failpoints, env=env).wait_ready()

    def close(self, check):
        for daemon in self.started:
            if check and daemon.process.running and not daemon.ending and daemon.answers("/healthz"):
                daemon.wait_idle()
            if daemon.process.running:
                status = daemon.stop()
                assert not check or status == 0, f"daemon ended with {status}:\n{daemon.log}"
            sanitizers.assert_clean(daemon.log)


@pytest.fixture
def daemons(request, host, program):
    program("multus-daemon")
    daemons = Daemons(host)
    yield daemons
    try:
        daemons.close(check=passed(request))
    finally:
        for daemon in daemons.started:
            request.node.add_report_section("teardown", f"log of daemon {daemon.pid}", daemon.log[-20000:])


@pytest.fixture
def daemon(daemons):
    """A ready daemon with the usual configuration."""
    return daemons()


@pytest.fixture
def objects(host):
    """The folder of manifests."""
    return Objects(host)


@pytest.fixture
def node(request, host, daemons, shim, objects):
    """A node with pods and network definitions; what is still attached at the end is deleted, as a runtime would."""
    node = PodNode(host, daemons, shim, objects)
    yield node
    if passed(request):
        node.close()
