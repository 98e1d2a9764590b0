"""Fixtures of all tests that need a host. The programs under test come from MNET_BIN."""

import os
from pathlib import Path

import pytest

from harness.cni import Runtime
from harness.host import REFERENCE_PLUGINS, Host
from harness.leaks import LeakCheck, unexpected

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
    for row in sorted(rows, key=lambda text: [int(n) for n in text.split(":")]):
        print(row, " ".join(sorted(rows[row])))
    pytest.exit("printed the map", returncode=0)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Lets fixtures know how the test went; turns skips into failures where nothing may be missing."""
    report = (yield).get_result()
    setattr(item, f"report_{report.when}", report)
    if report.skipped and os.environ.get("MNET_REQUIRE_ALL") == "1" \
            and not hasattr(report, "wasxfail") and "PEER_" not in str(report.longrepr):
        report.outcome = "failed"


def passed(request):
    report = getattr(request.node, "report_call", None)
    return report is not None and report.passed


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
    host = Host(programs)
    leaks = LeakCheck(host)
    host.leaks = leaks
    yield host
    try:
        if passed(request):
            allowed = [glob for mark in request.node.iter_markers("leaves") for glob in mark.args]
            left = unexpected(leaks.found(), allowed)
            assert not left, "left behind:\n  " + "\n  ".join(left)
    finally:
        host.close()


@pytest.fixture
def pod(host):
    return host.add_pod()


@pytest.fixture
def program(programs):
    """Asks for a program of ours by name; a build without it is a failure, not a skip."""
    def need(name):
        path = programs / name
        assert path.exists(), f"{path} is not built"
        return path
    return need


@pytest.fixture
def plugin(host):
    """One reference plugin, run directly: plugin('bridge').add(conf, pod)."""
    return lambda name: Runtime(host, name)
