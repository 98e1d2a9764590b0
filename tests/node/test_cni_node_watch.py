"""cni-node watch with lists of its own: templates, the files they point to, its ledger (04, 3)."""

import json
import os
import signal
import time

import pytest

from harness.machine.proc import cpu_seconds
from harness.machine.wait import until
from harness.node.cni_node import CniNode

CALICO = '{"name": "k8s", "plugins": [{"type": "calico", "v": %d}]}\n'
MULTUS = '{"name": "m", "type": "multus-cni", "delegates": [\n   __10-calico.conflist__\n]}\n'


@pytest.fixture
def cni(program, tmp_path):
    node = CniNode(program("cni-node"), tmp_path)
    (node.templates / "05-m.conf").write_text(MULTUS)
    yield node
    node.close()


def delegates(cni, name="05-m.conf"):
    path = cni.net / name
    return json.loads(path.read_text())["delegates"] if path.exists() else None


def version(cni):
    found = delegates(cni)
    return found and found[0]["plugins"][0]["v"]


def ledger(cni):
    return json.loads(cni.state.read_text())


def watch(cni, *words, wait="### Status ###", **env):
    return cni.start("watch", *words, **env).wait_for(wait)


@pytest.mark.spec("04:99", "04:101", "04:107")
def test_a_configuration_follows_the_file_that_it_points_to(cni):
    running = watch(cni, "--plugins=macvlan", "--configs=05-m.conf")

    assert cni.installed() == ["macvlan"]
    assert delegates(cni) is None
    assert running.stderr.count("05-m.conf: pointer file 10-calico.conflist not found") == 1
    assert "05-m.conf  pending: pointer file 10-calico.conflist not found" in running.stdout

    (cni.net / "10-calico.conflist").write_text(CALICO % 1)
    until(lambda: version(cni) == 1, "the configuration")
    begun = time.monotonic()
    (cni.net / ".new").write_text(CALICO % 2)
    (cni.net / ".new").rename(cni.net / "10-calico.conflist")
    until(lambda: version(cni) == 2, "the new one")
    assert time.monotonic() - begun < 10  # without waiting for a round of checks

    (cni.net / "10-calico.conflist").unlink()
    running.wait_for("the last result stays")
    assert version(cni) == 2
    assert ledger(cni)["configs"] == ["05-m.conf"] and ledger(cni)["plugins"] == ["macvlan"]
    assert cni.state.stat().st_mode & 0o777 == 0o600

    assert running.stop() == 0
    assert running.stdout.endswith("Stopped.\n")
    assert cni.installed() == ["macvlan"] and version(cni) == 2


@pytest.mark.spec("04:107")
def test_clean_up_takes_everything_away_in_reverse(cni):
    (cni.net / "10-calico.conflist").write_text(CALICO % 1)
    (cni.templates / "06-n.conf").write_text("{}")
    running = watch(cni, "--plugins=macvlan,vlan", "--configs=05-m.conf,06-n.conf", "--cleanup-on-exit")

    assert running.stop() == 0

    lines = [line for line in running.stdout.splitlines() if line.startswith(("Uninst", "Stopped"))]
    assert lines == ["Uninstalling CNI configuration 06-n.conf...", "Uninstalling CNI configuration 05-m.conf...",
                     "Uninstalling CNI plugin vlan...", "Uninstalling CNI plugin macvlan...", "Stopped."]
    assert cni.installed() == [] and cni.configs() == ["10-calico.conflist"]
    assert ledger(cni)["plugins"] == ledger(cni)["configs"] == []


@pytest.mark.spec("04:100")
def test_a_file_that_is_being_written_is_waited_for(cni):
    (cni.net / "10-calico.conflist").write_text(CALICO % 1)
    running = watch(cni, "--configs=05-m.conf")
    text = CALICO % 2

    with open(cni.net / "10-calico.conflist", "w") as calico:
        calico.write(text[:20])
        calico.flush()
        running.wait_for("pointer file 10-calico.conflist is not valid JSON; the last result stays")
        assert version(cni) == 1
        calico.write(text[20:])
    until(lambda: version(cni) == 2, "the whole file")


@pytest.mark.spec("04:102")
def test_a_template_follows_its_volume(cni):
    (cni.templates / "05-m.conf").unlink()
    for number in (1, 2):
        (cni.templates / f"..{number}").mkdir()
        (cni.templates / f"..{number}" / "05-m.conf").write_text('{"delegates": [%d]}' % number)
    (cni.templates / "..data").symlink_to("..1")
    (cni.templates / "05-m.conf").symlink_to("..data/05-m.conf")
    watch(cni, "--configs=05-m.conf")
    assert delegates(cni) == [1]

    (cni.templates / "..data_tmp").symlink_to("..2")
    (cni.templates / "..data_tmp").rename(cni.templates / "..data")

    until(lambda: delegates(cni) == [2], "the new template")


@pytest.mark.spec("04:106")
def test_circles_and_multus_in_multus_are_errors_without_growth(cni):
    (cni.templates / "a.conf").write_text('{"d": __b.conf__}')
    (cni.templates / "b.conf").write_text('{"d": __a.conf__}')
    (cni.templates / "c.conf").write_text('{"d": __d.conf__}')
    (cni.templates / "d.conf").write_text('{"x": 1}')
    (cni.net / "10-calico.conflist").write_text('{"type": "multus"}')
    for name in ("a.conf", "b.conf"):
        (cni.net / name).write_text("{}")

    running = watch(cni, "--configs=a.conf,b.conf,c.conf,d.conf,05-m.conf")

    assert running.stderr.count("pointer cycle: a.conf -> b.conf -> a.conf") == 2
    assert "05-m.conf: multus inside multus" in running.stderr
    assert (cni.net / "a.conf").read_text() == "{}"
    assert json.loads((cni.net / "c.conf").read_text()) == {"d": {"x": 1}}
    assert "config    a.conf     failed: pointer cycle" in running.stdout


@pytest.mark.spec("04:108")
def test_a_damaged_ledger_is_set_aside(cni):
    cni.state.parent.mkdir(parents=True)
    cni.state.write_text("{")
    running = watch(cni, "--plugins=macvlan")

    assert "warning: damaged" in running.stderr
    assert (cni.state.parent / "state.json.corrupt").read_text() == "{"
    assert ledger(cni)["plugins"] == ["macvlan"]
    assert running.stop() == 0

    cni.state.write_text('{"version": 2}')
    done = cni.run("watch", "--plugins=macvlan")
    assert done.returncode == 1 and "unknown version 2" in done.stderr


@pytest.mark.spec("04:108")
def test_what_others_change_is_restored_but_not_for_ever(cni):
    (cni.net / "10-calico.conflist").write_text(CALICO % 1)
    running = watch(cni, "--plugins=macvlan", "--configs=05-m.conf")

    for number in range(5):
        (cni.net / "05-m.conf").unlink()
        until((cni.net / "05-m.conf").exists, f"restored {number + 1} times")
    (cni.bin / "macvlan").write_text("changed")
    until(lambda: (cni.bin / "macvlan").read_text() != "changed", "the plugin")
    (cni.net / "05-m.conf").unlink()
    running.wait_for("other programs keep changing it; leaving it alone for 10 minutes")

    assert not (cni.net / "05-m.conf").exists()
    (cni.net / "10-calico.conflist").write_text(CALICO % 2)
    assert running.stop() == 0


@pytest.mark.spec("04:103")
def test_what_left_the_list_while_nobody_watched_goes_afterwards(cni):
    assert watch(cni, "--plugins=macvlan,vlan").stop() == 0

    running = watch(cni, "--plugins=vlan")

    until(lambda: cni.installed() == ["vlan"], lambda: running.stdout)
    until(lambda: ledger(cni)["plugins"] == ["vlan"], "the ledger")


def test_a_second_watch_waits_for_the_first(cni):
    first = watch(cni, "--plugins=macvlan")
    second = cni.start("watch", "--plugins=vlan").wait_for("Waiting for another cni-node watch to end...")
    third = cni.start("watch", "--plugins=vlan").wait_for("Waiting for another cni-node watch to end...")
    assert third.stop() == 0 and third.stdout.endswith("Stopped.\n")
    assert cni.installed() == ["macvlan"]

    assert first.stop(signal.SIGINT) == 0
    until(lambda: cni.installed() == ["vlan"], lambda: second.stdout)
    assert second.stop() == 0


def test_a_failed_item_is_tried_again_and_holds_up_no_other(cni):
    running = watch(cni, "--plugins=nope,macvlan", wait="nope: no such plugin")
    until(lambda: cni.installed() == ["macvlan"], "the other")

    cni.add_plugin("nope")

    until(lambda: cni.installed() == ["macvlan", "nope"], lambda: running.stderr)
    assert running.stderr.count("no such plugin") == 1


@pytest.mark.parametrize("words", [
    [], ["--configmap=a/b/c"], ["--configmap=x", "--plugins=y"], ["--plugins=a:b"], ["--configmap="],
    ["--configmap=../x"], ["--plugins=a", "--resync=x"], ["--plugins=a", "--pause"], ["--plugins=../x"]])
def test_wrong_usage_touches_nothing(cni, words):
    done = cni.run("watch", *words)
    assert done.returncode == 2 and done.stdout == "" and done.stderr
    assert not cni.state.exists()


def test_without_an_api_a_configmap_cannot_be_followed(cni):
    done = cni.run("watch", "--configmap=a/b", HOME="/nowhere")
    assert done.returncode == 1 and "no Kubernetes API access configured" in done.stderr


def test_resync_looks_at_what_no_event_tells(cni):
    running = watch(cni, "--plugins=macvlan", "--resync=1s")
    path = cni.bin / "macvlan"
    good, stat = path.read_bytes(), path.stat()

    path.write_bytes(b"x" * len(good))
    path.chmod(stat.st_mode & 0o7777)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    until(lambda: path.read_bytes() == good, lambda: running.stderr)


def test_whoever_has_nothing_to_do_uses_no_time(cni):
    running = watch(cni, "--plugins=macvlan", "--resync=1s")
    before = cpu_seconds(running.process.pid)
    time.sleep(3)  # a while in which it looks three times and has nothing to do
    assert cpu_seconds(running.process.pid) - before < 0.5
