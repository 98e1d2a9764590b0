"""cnitool (tests/cnitool/): networks of a directory attached by hand, with fakes and with the real bridge (01, 8)."""

import base64
import json

import pytest
from harness.evidence.sanitizers import assert_clean
from harness.machine.host import PLUGIN_DIR, TOOLS
from harness.node import networks
from harness.node.cni import Outcome

NET_DIR = "/etc/cni/net.d"
RESULTS = "/var/lib/cni/results"
CNITEST_ID = "cnitool-20c433bb2b1d6ede56d6"  # of /var/run/netns/cnitest


@pytest.fixture
def cnitool(host):
    """Runs it: cnitool("add", "mynet", pod.netns, CNI_ARGS="A=b"); None leaves a variable out."""
    assert (host.programs.parent / "tools" / "cnitool").exists(), "cnitool is not built"
    host.leaks.cni_dirs.add(RESULTS)

    def run(*words, **env):
        done = host.run(f"{TOOLS}/cnitool", *words, env={"CNI_PATH": PLUGIN_DIR, **env}, check=False)
        assert_clean(done.stderr)
        return Outcome(done.returncode, done.stdout, done.stderr)
    return run


@pytest.fixture
def cnitest(host):
    return host.add_pod("cnitest")


def fake_chain(host, fake, *names, version="1.0.0", **behaviour):
    """The network "mynet": fakes under these names, one after another. Yields the file's text."""
    plugins = [{"type": fake.install(name).name, "capabilities": {"mac": name == names[0]},
                "fake": fake.orders(**behaviour)} for name in names]
    text = json.dumps({"cniVersion": version, "name": "mynet", "plugins": plugins}, indent=2)
    host.write(f"{NET_DIR}/10-mynet.conflist", text)
    return text


def ran(fake):
    return [f"{call.command} {call.conf['type']}" for call in fake.calls()]


def refused(outcome):
    """The one line on stderr of a call that failed."""
    assert (outcome.exit, outcome.stdout) == (1, "") and outcome.stderr.endswith("\n"), outcome
    (line,) = outcome.stderr.splitlines()
    return line


@pytest.mark.spec("01:T1")
@pytest.mark.parametrize("path", ["/var/run/netns/cnitest", "/var//run/./netns/x/../cnitest", "var/run/netns/cnitest"])
def test_the_container_id_is_made_of_the_absolute_path_of_the_namespace(host, cnitool, cnitest, fake, path):
    fake_chain(host, fake, "a")

    assert cnitool("add", "mynet", path).ok and cnitool("del", "mynet", path).ok

    assert [(call.env["CNI_CONTAINERID"], call.env["CNI_NETNS"]) for call in fake.calls()] \
        == [(CNITEST_ID, "/var/run/netns/cnitest")] * 2


@pytest.mark.spec("01:T2")
@pytest.mark.parametrize("args, pair", [("A=", "A="), ("=b", "=b"), ("A", "A"), ("A=b;", ""), ("A=b;C=d=e", "C=d=e")])
def test_arguments_that_are_no_pairs_are_refused(host, cnitool, cnitest, fake, args, pair):
    fake_chain(host, fake, "a")

    assert refused(cnitool("add", "mynet", cnitest.netns, CNI_ARGS=args)) == f'invalid CNI_ARGS pair "{pair}"'
    assert fake.calls() == []


@pytest.mark.spec("01:T3")
def test_capability_arguments_must_be_json(host, cnitool, cnitest, fake):
    fake_chain(host, fake, "a")

    assert "CAP_ARGS" in refused(cnitool("add", "mynet", cnitest.netns, CAP_ARGS="not JSON"))
    assert fake.calls() == []


@pytest.mark.spec("01:T3")
def test_plugins_are_searched_in_no_default_place(host, cnitool, cnitest, fake):
    fake_chain(host, fake, "a")

    assert refused(cnitool("add", "mynet", cnitest.netns, CNI_PATH=None)) \
        == 'plugin type="a" failed (add): no paths provided'


@pytest.mark.spec("01:T4")
def test_add_check_and_del_of_recording_plugins(host, cnitool, cnitest, fake):
    text = fake_chain(host, fake, "a", "b", "c")
    given = {"CNI_ARGS": "A=b;C=d", "CAP_ARGS": '{"mac":"02:00:00:00:00:07","ips":["10.9.9.9/24"]}'}
    cached = host.path(f"{RESULTS}/mynet-{CNITEST_ID}-eth0")

    added = cnitool("add", "mynet", cnitest.netns, **given)
    entry = json.loads(cached.read_text())
    assert cnitool("check", "mynet", cnitest.netns, **given) == Outcome(0, "", "")
    assert cnitool("del", "mynet", cnitest.netns, **given) == Outcome(0, "", "")

    assert added.stdout == json.dumps(added.result, indent=4)
    assert ran(fake) == ["ADD a", "ADD b", "ADD c", "CHECK a", "CHECK b", "CHECK c", "DEL c", "DEL b", "DEL a"]
    first, *others = fake.calls()
    assert "prevResult" not in first.conf
    assert all(call.conf["prevResult"]["cniVersion"] == "1.0.0" for call in others)
    assert all(call.conf["prevResult"] == added.result for call in fake.calls("CHECK") + fake.calls("DEL"))
    for call in fake.calls():
        assert (call.conf["name"], call.conf["cniVersion"], call.args) == ("mynet", "1.0.0", {"A": "b", "C": "d"})
        wanted = {"mac": "02:00:00:00:00:07"} if call.conf["type"] == "a" else None
        assert call.conf.get("runtimeConfig") == wanted
    assert (entry["result"], entry["cniArgs"]) == (added.result, [["A", "b"], ["C", "d"]])
    assert base64.b64decode(entry["config"]).decode() == text
    assert not cached.exists()


@pytest.mark.spec("01:T4")
def test_check_and_del_run_without_an_entry_too(host, cnitool, cnitest, fake):
    fake_chain(host, fake, "a")

    assert cnitool("check", "mynet", cnitest.netns).ok and cnitool("del", "mynet", cnitest.netns).ok

    assert ran(fake) == ["CHECK a", "DEL a"]
    assert not any("prevResult" in call.conf for call in fake.calls())


@pytest.mark.spec("01:T4")
def test_add_check_and_del_of_a_real_bridge(host, cnitool, cnitest):
    chain = networks.conflist(networks.bridge(name="mynet"), networks.TUNING)
    host.write(f"{NET_DIR}/10-mynet.conflist", chain)

    result = cnitool("add", "mynet", cnitest.netns, "--ifname", "net7").result

    assert [ip["address"] for ip in result["ips"]] == cnitest.addresses("net7") == ["10.244.0.2/24"]
    assert host.files_below(RESULTS) == [f"mynet-{CNITEST_ID}-net7"]
    assert cnitool("check", "mynet", cnitest.netns, "-i", "net7").ok
    assert cnitool("del", "mynet", cnitest.netns, "-i=net7").ok
    assert cnitest.links() == set()
    assert host.files_below(RESULTS) == []


def test_the_interfaces_name_comes_from_the_flag_then_the_environment(host, cnitool, cnitest, fake):
    fake_chain(host, fake, "a")

    for words, name in (([], ""), ([], "net1"), (["--ifname", "net2"], "net1")):
        assert cnitool("add", *words, "mynet", cnitest.netns, "surplus", CNI_IFNAME=name).ok
        assert cnitool("del", *words, "mynet", cnitest.netns, CNI_IFNAME=name).ok

    assert [call.env["CNI_IFNAME"] for call in fake.calls("ADD")] == ["eth0", "net1", "net2"]


def test_gc_deletes_every_attachment_of_the_network(host, cnitool, cnitest, fake):
    other = host.add_pod("other")
    fake_chain(host, fake, "a", version="1.1.0")
    assert cnitool("add", "mynet", cnitest.netns, CNI_ARGS="A=b").ok and cnitool("add", "mynet", other.netns).ok

    assert cnitool("gc", "mynet", "/none") == Outcome(0, "", "")

    assert ran(fake) == ["ADD a"] * 2 + ["DEL a"] * 2 + ["GC a"]
    assert sorted((call.env["CNI_NETNS"], call.env["CNI_ARGS"]) for call in fake.calls("DEL")) \
        == [(cnitest.netns, "A=b"), (other.netns, "")]
    assert fake.calls("GC")[0].conf["cni.dev/valid-attachments"] == []
    assert host.files_below(RESULTS) == []


def test_status_asks_the_plugins(host, cnitool, fake):
    fake_chain(host, fake, "a", "b", version="1.1.0", STATUS={"error": {"code": 50, "msg": "not now"}})

    assert refused(cnitool("status", "mynet", "/none")) == "not now"
    assert ran(fake) == ["STATUS a"]


def test_validate_asks_real_plugins_for_their_versions(host, cnitool):
    plugins = [{"type": "bridge", "capabilities": {"mac": True, "ips": False}}, networks.PORTMAP]
    host.write(f"{NET_DIR}/10-good.conflist", {"cniVersion": "1.0.0", "name": "good", "plugins": plugins})
    host.write(f"{NET_DIR}/20-new.conflist",
               {"cniVersion": "7.0.0", "name": "new", "plugins": [{"type": "nowhere"}, *plugins]})

    assert cnitool("validate", "good", "/none") == Outcome(0, "mac\nportMappings\n", "")
    assert refused(cnitool("validate", "new", "/none")) == (
        f'[failed to find plugin "nowhere" in path [{PLUGIN_DIR}] '
        'plugin bridge does not support config version "7.0.0" '
        'plugin portmap does not support config version "7.0.0"]')


@pytest.mark.parametrize("words", [["add", "mynet"], ["attach", "mynet", "/none"], ["add", "--no", "mynet", "/none"]])
def test_a_wrong_command_line_is_an_error(cnitool, words):
    done = cnitool(*words)

    assert (done.exit, done.stdout) == (1, "")
    assert "\nUsage: cnitool " in done.stderr


def test_a_network_that_is_not_there(host, cnitool):
    host.write("/srv/nets/10-other.conf", {"cniVersion": "1.0.0", "name": "other", "type": "bridge"})

    assert refused(cnitool("add", "mynet", "/none")) == f"no net configurations found in {NET_DIR}"
    assert refused(cnitool("add", "mynet", "/none", NETCONFPATH="/srv/nets")) \
        == 'no net configuration with name "mynet" in /srv/nets'
