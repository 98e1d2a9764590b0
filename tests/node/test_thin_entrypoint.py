"""thin_entrypoint on a host: what it puts there, how it keeps it current, and multus run with it (03, 9.2)."""

import json
import signal
import stat
import threading
import time

import pytest
from harness.evidence.sanitizers import assert_clean
from harness.machine.host import PLUGIN_DIR
from harness.machine.wait import until
from harness.node import networks, thin
from harness.node.cni import Runtime
from harness.node.thin import (CONF_DIR, KUBECONFIG, PEM, ServiceAccount, ThinEntrypoint, generated, token_in,
                               wait_generated)

pytestmark = pytest.mark.release("static")

PRIMARY = f"{CONF_DIR}/10-primary.conflist"


@pytest.fixture(autouse=True)
def needs_programs(program):
    program("thin_entrypoint")
    program("multus")


@pytest.fixture
def account(host):
    return ServiceAccount(host)


@pytest.fixture
def start(host, account):
    """Starts it and waits until all is in place; each ends well."""
    started = []

    def begin(*flags, **options):
        started.append(ThinEntrypoint(host, *flags, **options))
        return started[-1].wait_installed()
    yield begin
    for one in started:
        if one.process.running:
            assert one.stop() == 0, one.err.read_text()
        assert_clean(one.err.read_text())


def primary(version="0.4.0", **more):
    return networks.conflist(networks.bridge(version=version, **more), networks.PORTMAP)


def mode(host, path):
    return stat.S_IMODE(host.path(path).stat().st_mode)


@pytest.mark.parametrize("version,name", [("0.3.1", "00-multus.conf"), ("1.0.0", "00-multus.conflist")])
def test_multus_attaches_pods_with_what_was_installed(host, start, pod, version, name):
    host.write(PRIMARY, primary(version))
    entrypoint = start()

    conf, file = generated(host)

    assert file == name
    assert conf["cniVersion"] == version and conf["capabilities"] == {"portMappings": True}
    assert (mode(host, f"{CONF_DIR}/{file}"), mode(host, KUBECONFIG)) == (0o600, 0o600)
    assert mode(host, f"{CONF_DIR}/multus.d") == 0o755
    assert token_in(host) == "first"
    assert entrypoint.out.read_text() == f"kubeconfig is created in {KUBECONFIG}\nmultus config file is created.\n"
    multus = Runtime(host, "multus")
    assert [ip["address"] for ip in multus.add(conf, pod).result["ips"]] == ["10.244.0.2/24"]
    assert pod.links() == {"eth0"}
    assert multus.delete(conf, pod).ok
    assert pod.links() == set()


def test_pods_that_come_after_a_change_of_the_primary_get_the_new_network(host, start):
    host.write(PRIMARY, primary())
    start()
    multus, old, new = Runtime(host, "multus"), host.add_pod("old"), host.add_pod("new")
    assert multus.add(generated(host)[0], old).ok

    host.write(PRIMARY, primary(bridge="cni1", subnet="10.250.0.0/24"))
    wait_generated(host, lambda conf, _: "10.250" in json.dumps(conf))

    assert multus.add(generated(host)[0], new).ok
    assert new.addresses("eth0") == ["10.250.0.2/24"]
    # The old pod goes by its record, not by the configuration of today.
    for pod in (old, new):
        assert multus.delete(generated(host)[0], pod).ok
        assert pod.links() == set()


@pytest.mark.spec("03:151")
@pytest.mark.parametrize("flags,text", [
    (["--cni-conf-dir=/none"], "/none"),
    (["--cni-bin-dir=/none"], "/none"),
    (["--multus-bin-file=/none"], "/none"),
    (["--multus-conf-file=/none.conf"], "/none.conf"),
    (["--multus-log-level=chatty"], "Log levels should be one of: debug/verbose/error/panic"),
    (["--cni-version=0.3.1"], 'Multus cni version is "0.3.1" while master plugin cni version is "0.4.0"'),
    (["--multus-autoconfig-dir=/srv"], "cannot find valid master CNI config in /srv"),
    (["--multus-autoconfig-dir=/none"], "/none"),
    (["--multus-master-cni-file-name=20.conf"], "20.conf"),
    (["--multus-master-cni-file-name=00-multus.conf"], "recursive"),
])
def test_a_failure_is_one_line_on_stderr_and_exit_1(host, account, flags, text):
    host.write(PRIMARY, primary())
    host.write("/srv/other", "x")

    done = thin.run(host, *flags)

    assert done.returncode == 1
    assert text in done.stderr and done.stderr.count("\n") == 1
    assert not [name for name in host.files_below(CONF_DIR) if name.startswith("00-multus")]


@pytest.mark.spec("03:151")
@pytest.mark.parametrize("flag,status", [("--nosuch", 2), ("--namespace-isolation=maybe", 2), ("-x", 2),
                                         ("--cni-version", 2), ("-h", 1), ("--help", 1)])
def test_usage(host, flag, status):
    done = thin.run(host, flag)

    assert done.returncode == status
    assert "--cni-conf-dir" in done.stderr and done.stdout == ""


def test_version(host):
    done = thin.run(host, "--version")

    assert done.returncode == 0 and done.stdout.startswith("thin_entrypoint: version:")


@pytest.mark.parametrize("token,ca,named", [(None, PEM, "token"), ("", PEM, "token"), ("x", None, "ca.crt"),
                                            ("x", "", "ca.crt"), ("x", "-----BEGIN CERTIFICATE-----\nMII", "ca.crt")])
def test_without_a_whole_service_account_it_does_not_begin(host, account, token, ca, named):
    host.write(PRIMARY, primary())
    account.place(token, ca)

    done = thin.run(host)

    assert done.returncode == 1
    assert named in done.stderr
    assert not host.path(KUBECONFIG).exists()


def test_outside_of_a_cluster_it_does_not_begin(host, account):
    host.write(PRIMARY, primary())

    done = thin.run(host, env={"KUBERNETES_SERVICE_HOST": None})

    assert done.returncode == 1 and "KUBERNETES_SERVICE_HOST" in done.stderr


def test_an_ipv6_cluster(host, start):
    """Pain 50."""
    host.write(PRIMARY, primary())
    start(env={"KUBERNETES_SERVICE_HOST": "fd00::1"})

    assert '    server: "https://[fd00::1]:443"\n' in host.path(KUBECONFIG).read_text()


@pytest.mark.spec("03:152")
def test_a_rotated_token_is_on_the_node_within_two_seconds_and_never_in_part(host, start, account):
    """Pain 15."""
    host.write(PRIMARY, primary())
    start()
    seen, took, stop = [], [], threading.Event()

    def keep_reading():
        while not stop.is_set():
            seen.append((token_in(host), mode(host, KUBECONFIG)))

    reading = threading.Thread(target=keep_reading)
    reading.start()
    until(lambda: seen, "the first one seen")
    try:
        for number in range(3):
            began = time.monotonic()
            account.place(f"token{number}-" + "x" * 900)
            until(lambda: seen and seen[-1][0].startswith(f"token{number}-"), "rotated")
            took.append(time.monotonic() - began)
    finally:
        stop.set()
        reading.join()
    assert min(took) < 2  # all of them would be, were there nothing else to do for the machine
    assert {mode for _, mode in seen} == {0o600}
    assert {token[:6] for token, _ in seen} == {"first", "token0", "token1", "token2"}


def test_a_rotated_ca(host, start, account):
    host.write(PRIMARY, primary())
    start()
    before = host.path(KUBECONFIG).read_text()

    account.place("first", PEM + PEM)

    until(lambda: host.path(KUBECONFIG).read_text() != before, "rewritten")


def test_a_service_account_that_is_empty_half_swapped_or_gone_loses_nothing(host, start, account):
    host.write(PRIMARY, primary())
    entrypoint = start()
    kubeconfig = host.path(KUBECONFIG).read_text()
    complaint = "kubeconfig stays as it is: "

    account.cut_data()
    entrypoint.wait_complaint(complaint)
    account.empty()
    account.remove()
    host.write(PRIMARY, primary("1.0.0"))  # the other file is still kept current
    wait_generated(host, lambda _, name: name == "00-multus.conflist")
    assert host.path(KUBECONFIG).read_text() == kubeconfig

    account.place("second")
    until(lambda: token_in(host) == "second", "new token")
    until(lambda: "kubeconfig is current again" in entrypoint.out.read_text(), "said")
    account.place("", PEM)
    entrypoint.wait_complaint("is empty")
    assert token_in(host) == "second"


@pytest.mark.spec("03:153")
def test_a_newer_primary_leaves_only_the_list(host, start):
    host.write(PRIMARY, primary("0.3.1", name='with "quotes"'))
    start("--override-network-name")
    assert generated(host)[0]["name"] == 'with "quotes"'

    host.write(PRIMARY, primary("1.0.0", name='with "quotes"'))

    until(lambda: not host.path(f"{CONF_DIR}/00-multus.conf").exists(), "only the list")
    conf, name = generated(host)
    assert name == "00-multus.conflist" and conf["cniVersion"] == "1.0.0"


def test_a_primary_that_is_cut_or_gone_leaves_the_last_good_file(host, start):
    host.write(PRIMARY, primary())
    entrypoint = start()
    before = generated(host)

    host.write(PRIMARY, '{"cniVersion": "0.4')
    entrypoint.wait_complaint("cannot read master CNI config json")
    host.path(PRIMARY).unlink()
    host.write(f"{CONF_DIR}/87-podman.conflist", primary(name="podman"))
    entrypoint.wait_complaint("10-primary.conflist is gone")
    assert generated(host) == before

    host.write(PRIMARY, primary(name="back"))
    wait_generated(host, lambda conf, _: "back" in json.dumps(conf))


def test_folders_that_come_later(host, account):
    host.write("/srv/primaries/10.conf", networks.bridge(version="0.4.0"))
    flags = ["--cni-conf-dir=/srv/late", "--multus-autoconfig-dir=/srv/primaries"]
    assert thin.run(host, *flags).returncode == 1

    host.path("/srv/late").mkdir()
    entrypoint = ThinEntrypoint(host, *flags).wait_installed()
    host.run("rm", "-r", "/srv/primaries")
    entrypoint.wait_complaint("multus config file stays as it is")
    host.write("/srv/primaries/10.conf", networks.bridge(name="again", version="0.4.0"))
    until(lambda: "again" in host.path("/srv/late/00-multus.conf").read_text(), "generated anew")

    assert entrypoint.stop() == 0


def test_a_folder_that_is_read_only_for_a_while(host, start, account):
    host.write(PRIMARY, primary())
    entrypoint = start()
    host.run("mount", "--bind", CONF_DIR, CONF_DIR)
    host.run("mount", "-o", "remount,bind,ro", CONF_DIR)
    try:
        account.place("second")
        entrypoint.wait_complaint("read-only file system")
        assert token_in(host) == "first"
    finally:
        host.run("umount", CONF_DIR)
    until(lambda: token_in(host) == "second", "new token")


def test_a_full_folder_keeps_the_old_files(host, start, account):
    host.path("/srv/small").mkdir(parents=True)
    host.run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/srv/small")
    host.write("/srv/primaries/10.conf", networks.bridge(version="0.4.0"))
    entrypoint = start("--cni-conf-dir=/srv/small", "--multus-autoconfig-dir=/srv/primaries")
    kubeconfig = host.path("/srv/small/multus.d/multus.kubeconfig")
    before = kubeconfig.read_text()
    host.run("sh", "-c", "cat /dev/zero > /srv/small/filler", check=False)

    account.place("second" + "x" * 5000)
    entrypoint.wait_complaint("no space left on device")
    assert kubeconfig.read_text() == before
    host.path("/srv/small/filler").unlink()
    until(lambda: "second" in kubeconfig.read_text(), "new token")

    assert entrypoint.stop() == 0
    host.run("umount", "/srv/small")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_the_files_stay_at_the_end(host, start, how):
    host.write(PRIMARY, primary())

    assert start().stop(how) == 0

    assert host.path(KUBECONFIG).exists() and generated(host)


def test_a_signal_during_the_installation_is_heard(host, account):
    host.write(PRIMARY, primary())
    entrypoint = ThinEntrypoint(host, "--cleanup-config-on-exit")
    until(host.path(KUBECONFIG).exists, "the first of its files")

    assert entrypoint.stop() == 0

    assert not [name for name in host.files_below(CONF_DIR) if name.startswith("00-multus")]


@pytest.mark.parametrize("given", [False, True])
def test_cleaning_up_leaves_the_kubeconfig_and_the_primary(host, start, given):
    host.write(PRIMARY, primary())
    host.write("/srv/70-multus.conf", {"cniVersion": "0.3.1", "name": "m", "type": "multus"}, mode=0o640)
    flags = ["--multus-conf-file=/srv/70-multus.conf"] if given else []
    entrypoint = start("--cleanup-config-on-exit", *flags)
    file = f"{CONF_DIR}/{'70-multus.conf' if given else '00-multus.conf'}"
    assert mode(host, file) == (0o640 if given else 0o600)

    assert entrypoint.stop() == 0

    assert not host.path(file).exists()
    assert host.path(KUBECONFIG).exists() and host.path(PRIMARY).exists()


def test_the_program_is_replaced_while_it_runs(host, account, start):
    host.write(PRIMARY, primary())
    start().stop()
    held = host.path(f"{PLUGIN_DIR}/multus")
    held.unlink()
    held.write_bytes(b"an older version")
    with open(held, "rb") as running:
        start()
        assert running.read() == b"an older version"
    assert held.stat().st_size > 100_000
    assert [name for name in host.files_below(PLUGIN_DIR) if "tmp" in name] == []
