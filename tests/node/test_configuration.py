"""Configurations that are wrong: the daemon's own is refused at its start, a request's does not stop its DEL (02, 6.2; 03, 2.2)."""

import json

import pytest
from harness.machine.host import PLUGIN_DIR, PROGRAMS
from harness.node.cni import Runtime
from harness.node.daemon import CONFIG, default_config
from harness.node.netconf import netconf

ARGS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_UID=u1"
WRONG = {"parallelAttach": "maybe", "capabilities": "all"}


def start(host, **keys):
    """With as little in the log as there can be."""
    host.write(CONFIG, default_config(logLevel=None, logToStderr=False, **keys))
    return host.run(f"{PROGRAMS}/multus-daemon", "-config", CONFIG, check=False, timeout=20)


@pytest.fixture(autouse=True)
def needs_daemon(program):
    program("multus-daemon")


def test_a_key_that_only_requests_read_is_refused_at_the_start(host):
    """Otherwise the daemon is ready, fails every ADD and answers every DEL as done."""
    for key in ("kubeconfig", "retryDeleteOnError", "defaultNetworks", "delegates", "systemNamespaces",
                "multusNamespace", "confDir", "runtimeConfig"):
        done = start(host, **{key: 5})

        assert done.returncode == 1, key
        assert CONFIG in done.stderr and f"{key}: expected " in done.stderr


@pytest.mark.parametrize("keys, exit_status", [({"shimTimeout": -5}, 1), ({"chrootDir": "/srv/none"}, 3),
                                               ({"delegateMountNamespace": "/srv/none"}, 3)])
def test_a_value_that_cannot_work_is_refused_with_its_key(host, keys, exit_status):
    (key, value), = keys.items()

    done = start(host, **keys)

    assert done.returncode == exit_status
    assert f"{CONFIG}: " in done.stderr and f"{key}: " in done.stderr and str(value) in done.stderr


@pytest.mark.parametrize("keys", [{"metricsPort": "9"}, {"metricsPort": 9091, "metricsAddress": "nowhere"}])
def test_metrics_that_cannot_be_are_a_warning(daemons, keys):
    daemon = daemons(**keys)

    daemon.wait_log(rf"warning: {CONFIG}: metrics\w+: .*; there are no metrics")


def test_null_in_the_daemons_configuration_leaves_the_requests_key(host, daemons, pod, fake):
    """It means that the key is absent."""
    daemon = daemons.launch({**default_config(), "cniDir": None, "logFormat": None}).wait_ready()
    conf = netconf(fake.conf("a"), cniDir="/srv/cni")

    assert daemon.cni("ADD", conf, pod, args=ARGS).status == 200

    assert host.path("/srv/cni/c-pod0").exists()
    assert daemon.cni("DEL", conf, pod, args=ARGS).status == 200


@pytest.mark.parametrize("key", list(WRONG))
def test_a_delete_whose_configuration_is_wrong_works_from_the_records(host, daemons, shim, pod, fake, key):
    daemons()
    conf = netconf(fake.conf("a"))
    assert shim.add(conf, pod, args=ARGS).ok

    outcome = shim.delete({**conf, key: WRONG[key]}, pod, args=ARGS)

    assert outcome.ok
    assert fake.order() == ["ADD a", "DEL a"]
    assert host.files_below("/var/lib/cni/multus") == []


@pytest.mark.parametrize("key", list(WRONG))
def test_without_a_record_such_a_delete_is_to_be_tried_again(daemons, shim, pod, fake, key):
    daemons()

    outcome = shim.delete({**netconf(fake.conf("a")), key: WRONG[key]}, pod, args=ARGS)

    assert outcome.error["code"] == 11 and key in outcome.error["msg"]
    assert fake.order() == []


@pytest.mark.parametrize("key, value", [*WRONG.items(), ("delegateTimeout", "soon")])
def test_thin_mode_does_the_same(host, program, pod, fake, key, value):
    program("multus")
    host.path(f"{PLUGIN_DIR}/multus").symlink_to(f"{PROGRAMS}/multus")
    thin = Runtime(host, "multus")
    conf = netconf(fake.conf("a"), type="multus")
    assert thin.add(conf, pod, args=ARGS).ok

    assert thin.delete({**conf, key: value}, pod, args=ARGS).ok
    again = thin.delete({**conf, key: value}, pod, args=ARGS)

    assert fake.order() == ["ADD a", "DEL a"]
    assert again.error["code"] == 11 and key in again.error["msg"]


FRAGMENTS = CONFIG.removesuffix(".json") + ".d"


def test_fragments_are_laid_over_the_file_and_requests_see_the_result(host, daemons, pod, fake):
    host.write(f"{FRAGMENTS}/20-late.json", {"cniDir": "/srv/late"})
    host.write(f"{FRAGMENTS}/10-early.json", {"cniDir": "/srv/early", "cniVersion": "1.0.0"})
    daemon = daemons()

    assert daemon.cni("ADD", netconf(fake.conf("a")), pod, args=ARGS).status == 200

    assert host.path("/srv/late/c-pod0").exists()
    assert daemon.cni("DEL", netconf(fake.conf("a")), pod, args=ARGS).status == 200


def test_check_shows_what_the_files_make_together(host, objects):
    host.write(CONFIG, default_config(logLevel="error"))
    host.write(f"{FRAGMENTS}/10-a.json", {"loglevel": "debug", "bindir": "/srv/bin"})

    check = [f"{PROGRAMS}/multus-daemon", "-check", "-config", CONFIG]
    text, shown = host.run(*check, check=False).stdout, json.loads(host.run(*check, "-json", check=False).stdout)

    assert f"configuration: {CONFIG} and {FRAGMENTS}/10-a.json: {{" in text
    assert shown["configuration"]["files"] == [CONFIG, f"{FRAGMENTS}/10-a.json"]
    merged = shown["configuration"]["merged"]
    assert (merged["loglevel"], merged["bindir"]) == ("debug", "/srv/bin")
    assert "logLevel" not in merged and merged["socketDir"] == default_config()["socketDir"]


@pytest.mark.parametrize("text, said", [("{", "10-a.json"), ('{"shimTimeout": "5"}', "shimTimeout: expected"), (None, "10-a.json")])
def test_a_fragment_that_cannot_be_used_ends_the_daemon(host, text, said):
    path = host.path(f"{FRAGMENTS}/10-a.json")
    path.parent.mkdir(parents=True)
    path.symlink_to("nowhere") if text is None else path.write_text(text)

    done = start(host)

    assert done.returncode == 1
    assert f"{FRAGMENTS}/10-a.json" in done.stderr and said in done.stderr
