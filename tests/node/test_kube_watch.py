"""kube-watch on files, its command line, its handler's life and its end (04, 2). Objects: tests/cluster."""

import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from harness.machine.wait import until
from harness.node.cni_node import replace
from harness.node.kube_watch import KubeWatch


@pytest.fixture
def kube_watch(program):
    return program("kube-watch")


@pytest.fixture
def start(kube_watch, tmp_path):
    started = []

    def begin(*words, **options):
        started.append(KubeWatch(kube_watch, tmp_path / "watch", *words, **options))
        return started[-1]
    yield begin
    for one in started:
        if one.process.poll() is None:
            assert one.stop() == 0, one.err.read_text()


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


@pytest.mark.spec("04:72")
def test_version_is_one_line(kube_watch):
    done = run(kube_watch, "version")

    assert done.returncode == 0 and done.stderr == ""
    assert re.fullmatch(r"\S+ \(git-[0-9a-f]{8}\)\n", done.stdout)


@pytest.mark.spec("04:72", "04:73")
@pytest.mark.parametrize("words", [[], ["object", "configmap"], ["object"], ["file"], ["file", ""], ["-h"], ["bogus"]])
def test_what_is_missing_shows_the_usage(kube_watch, words):
    done = run(kube_watch, *words)

    assert done.returncode == 2 and done.stdout == ""
    assert "Usage: kube-watch" in done.stderr


@pytest.mark.spec("04:73", "04:85")
@pytest.mark.parametrize("words,text", [
    (["file", "F", "-h"], "Unknown option: -h\n"), (["file", "F", "-x=1"], "Unknown option: -x\n"),
    (["object", "pod", "x", "-a"], "--all-namespaces"), (["object", "pod", "a/b/c"], "a/b/c"),
    (["object", "pod", "x", "-j={.a"], "error parsing jsonpath {.a, unclosed action\n"),
    (["object", "pod,svc", "x"], "pod,svc")])
def test_wrong_usage(kube_watch, words, text):
    done = run(kube_watch, *words)

    assert done.returncode == 2 and done.stdout == ""
    assert text in done.stderr


def test_help(kube_watch):
    done = run(kube_watch, "--help")

    assert done.returncode == 0 and done.stderr == ""
    for option in ("-a,", "-l=S", "-j=T", "-c=F", "-h=P", "-e,", "--handler-timeout", "--kubeconfig"):
        assert option in done.stdout


def test_without_access_to_a_cluster(kube_watch, tmp_path):
    done = subprocess.run([kube_watch, "object", "cm", "x", f"-c={tmp_path}/channel"], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, timeout=120)

    assert done.returncode == 1
    assert "no Kubernetes API access configured" in done.stderr


@pytest.mark.parametrize("channel", ["/dev/null/channel", "/proc/nowhere/channel"])
def test_a_channel_that_cannot_be_made(kube_watch, tmp_path, channel):
    done = run(kube_watch, "file", str(tmp_path / "f"), f"-c={channel}")

    assert done.returncode == 1 and channel in done.stderr


@pytest.mark.spec("04:91")
def test_a_file_in_every_way_it_can_change(start, tmp_path):
    file = tmp_path / "file"
    file.write_text("one\n")
    watch = start("file", str(file))
    watch.wait_values(("one", ""))

    with open(file, "a") as appended:
        appended.write("two\n")
    watch.wait_values(("one", ""), ("one\ntwo", "one"))
    replace(file, "three")
    watch.wait_values(("one", ""), ("one\ntwo", "one"), ("three", "one\ntwo"))
    file.unlink()
    watch.wait_said("was deleted")
    replace(file, "four")
    watch.wait_values(("one", ""), ("one\ntwo", "one"), ("three", "one\ntwo"), ("four", "three"))
    file.touch()
    with open(file, "a") as appended:
        appended.write("\n\n")  # the same value

    said = watch.out.read_text()
    assert said.startswith(f"Setting handler {watch.handler}...\nSetting channel {watch.channel}...\n"
                           f"Creating channel {watch.channel}...\nWatching channel {watch.channel}...\n"
                           f"Watching file {file}...\n### Channel data ###\none\n###\n### Channel data diff ###\n"
                           "@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n###\n"
                           f"Handling channel data with {watch.handler}...\n")
    assert said.count(f"Handling change in {file}...") >= 3
    assert [call.event for call in watch.calls()] == ["FILE"] * 4
    assert (watch.channel.parent / "channel.prev").read_text() == "four\n"


@pytest.mark.spec("04:91")
def test_a_file_of_a_mounted_configmap(start, tmp_path):
    volume = tmp_path / "volume"
    for version in ("1", "2"):
        (volume / f"..{version}").mkdir(parents=True)
        (volume / f"..{version}" / "key").write_text(f"value {version}")
    (volume / "..data").symlink_to("..1")
    (volume / "key").symlink_to("..data/key")
    watch = start("file", str(volume / "key"))
    watch.wait_values(("value 1", ""))

    (volume / "..data_tmp").symlink_to("..2")
    (volume / "..data_tmp").rename(volume / "..data")

    watch.wait_values(("value 1", ""), ("value 2", "value 1"))


@pytest.mark.spec("04:92")
def test_a_file_that_comes_later(start, tmp_path):
    file = tmp_path / "folder" / "deep" / "file"
    watch = start("file", str(file))
    watch.wait_said(f"File {file} does not exist yet, waiting...")

    file.parent.mkdir(parents=True)
    replace(file, "here")

    watch.wait_values(("here", ""))


@pytest.mark.parametrize("limit", ["instances", "watches"])
def test_a_node_whose_inotify_is_used_up(start, tmp_path, limit):
    """As it is where many programs follow files: this one looks every few seconds instead."""
    (tmp_path / "file").write_text("a")
    none_left = ["unshare", "-Ur", "sh", "-c", f'echo 0 > /proc/sys/user/max_inotify_{limit}; exec "$@"', "sh"]
    watch = start("file", str(tmp_path / "file"), through=none_left)
    watch.wait_values(("a", ""))

    replace(tmp_path / "file", "b")

    watch.wait_values(("a", ""), ("b", "a"))
    watch.wait_said("without events, files are looked at every 5 s")


@pytest.mark.spec("04:115")
def test_a_file_needs_no_cluster_and_no_network(start, tmp_path):
    (tmp_path / "file").write_text("x")
    watch = start("file", str(tmp_path / "file"), "-j=ignored", through=["unshare", "--net"])

    watch.wait_values(("x", ""))
    watch.wait_said("--jsonpath has no effect for a file")


@pytest.mark.spec("04:90")
def test_text_is_taken_literally(start, tmp_path):
    (tmp_path / "file").write_text(r"a\nb $HOME `id` 'q' ü")
    watch = start("file", "../file")  # relative to its working directory

    watch.wait_values((r"a\nb $HOME `id` 'q' ü", ""))
    assert r"+a\nb $HOME" in watch.out.read_text()


@pytest.mark.spec("04:88")
@pytest.mark.slow
def test_a_handler_that_fails_is_called_again_after_one_second_and_then_after_two(start, tmp_path):
    (tmp_path / "file").write_text("x")
    watch = start("file", str(tmp_path / "file"),
                  behaviour='date +%s.%N >> "$CALLS.times"; [ $(wc -l < "$CALLS.times") -ge 3 ]')

    watch.wait_values(("x", ""), ("x", ""), ("x", ""))

    first, second, third = map(float, (watch.folder / "calls.times").read_text().split())
    assert 1 <= second - first < 10 and 2 <= third - second < 20
    assert watch.err.read_text().count("Handler failed: exit 1") == 2


@pytest.mark.spec("04:86", "04:87")
def test_what_changes_while_the_handler_runs_is_told_once(start, tmp_path):
    file = tmp_path / "file"
    file.write_text("A")
    watch = start("file", str(file), behaviour='while [ ! -e "$CALLS.go" ]; do sleep 0.05; done')
    until(watch.calls, "first call")
    for count, value in enumerate(("B", "A"), 1):
        replace(file, value)
        until(lambda: watch.out.read_text().count(f"Handling change in {file}...") >= count, "seen")
    (watch.folder / "calls.go").touch()
    watch.wait_values(("A", ""))
    (watch.folder / "calls.go").unlink()

    replace(file, "C")
    until(lambda: len(watch.calls()) == 2, "second call")
    seen = watch.out.read_text().count(f"Handling change in {file}...")
    for count, value in enumerate(("D", "E", "F"), seen + 1):
        replace(file, value)
        until(lambda: watch.out.read_text().count(f"Handling change in {file}...") >= count, "seen")
    (watch.folder / "calls.go").touch()

    watch.wait_values(("A", ""), ("C", "A"), ("F", "C"))


@pytest.mark.spec("04:89")
def test_a_value_that_is_too_long_for_an_argument(start, tmp_path):
    value = "x" * 200_000
    (tmp_path / "file").write_text(value)
    watch = start("file", str(tmp_path / "file"), behaviour='cp "$1" "$CALLS.seen"')

    watch.wait_values(("", ""))

    assert watch.calls()[0].oversize == "1"
    assert (watch.folder / "calls.seen").read_text() == value


@pytest.mark.spec("04:95")
def test_a_restart_with_the_same_content_calls_nobody(start, tmp_path):
    file = tmp_path / "file"
    file.write_text("same")
    first = start("file", str(file))
    first.wait_values(("same", ""))
    assert first.stop() == 0

    again = start("file", str(file))
    again.wait_said("Watching file")
    replace(file, "other")

    again.wait_values(("same", ""), ("other", "same"))


@pytest.mark.spec("04:94")
def test_the_handler_is_told_to_end_with_us(start, tmp_path):
    (tmp_path / "file").write_text("x")
    watch = start("file", str(tmp_path / "file"),
                  behaviour='trap \'echo told > "$CALLS.told"; exit 0\' TERM; : > "$CALLS.ready"; '
                            'while :; do sleep 0.1; done')
    until((watch.folder / "calls.ready").exists, "the handler listens")

    assert watch.stop() == 0

    assert (watch.folder / "calls.told").exists()


@pytest.mark.spec("04:94")
@pytest.mark.slow
def test_a_handler_that_does_not_listen_is_killed_after_ten_seconds_or_by_a_second_signal(start, tmp_path):
    (tmp_path / "file").write_text("x")
    deaf = "trap '' TERM; echo >> \"$CALLS.deaf\"; sleep 1000 & wait; sleep 1000"
    watch = start("file", str(tmp_path / "file"), behaviour=deaf)
    deaf_ones = watch.folder / "calls.deaf"
    until(deaf_ones.exists, "the handler is deaf")
    began = time.monotonic()
    assert watch.stop() == 0
    assert 9.5 < time.monotonic() - began < 60

    impatient = start("file", str(tmp_path / "file"), behaviour=deaf)
    until(lambda: deaf_ones.read_text() == "\n\n", "the second is deaf")
    impatient.process.send_signal(signal.SIGTERM)
    began = time.monotonic()
    until(lambda: impatient.process.poll() is not None or impatient.process.send_signal(signal.SIGINT), "end")
    assert impatient.process.wait() == 0 and time.monotonic() - began < 9.5


def test_a_handler_that_takes_too_long(start, tmp_path):
    (tmp_path / "file").write_text("x")
    watch = start("file", str(tmp_path / "file"), "--handler-timeout=1", behaviour="sleep 60")

    watch.wait_said("Handler failed: timeout after 1 s")


def test_as_the_first_process_it_reaps_what_handlers_leave(start, tmp_path):
    (tmp_path / "file").write_text("x")
    watch = start("file", str(tmp_path / "file"), behaviour="(sleep 0.2 &)",
                  through=["unshare", "--pid", "--fork", "--kill-child=KILL"])
    watch.wait_values(("x", ""))
    first = int(subprocess.run(["pgrep", "-P", str(watch.process.pid)], capture_output=True, text=True).stdout)

    def children():
        with open(f"/proc/{first}/task/{first}/children", encoding="ascii") as file:
            return file.read().split()
    until(lambda: not children(), "orphan reaped")
    os.kill(first, signal.SIGTERM)
    assert watch.process.wait(90) == 0


@pytest.mark.spec("04:125")
def test_a_channel_belongs_to_one(start, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    first = start("file", str(tmp_path / "a"))
    first.wait_values(("a", ""))
    second = start("file", str(tmp_path / "b"))
    second.wait_said("Waiting for another kube-watch to leave the channel")
    assert (second.channel.parent / "channel.prev").read_text() == "a\n"

    assert first.stop() == 0

    # What the first one has handled is not the second one's previous value.
    second.wait_values(("a", ""), ("b", ""))
    second.wait_said("warning: the stored value belongs to another target, `file ")
    third = start("file", str(tmp_path / "a"))
    until(lambda: third.out.read_text().count("Waiting for another") == 2, "the third one waits, too")
    assert third.stop() == 0


@pytest.mark.spec("04:126")
def test_a_handler_needs_no_interpreter_line(start, tmp_path):
    (tmp_path / "file").write_text("x")
    watch = start("file", str(tmp_path / "file"))
    watch.wait_values(("x", ""))
    watch.handler.write_text(watch.handler.read_text().removeprefix("#!/bin/sh\n"))

    replace(tmp_path / "file", "y")

    watch.wait_values(("x", ""), ("y", "x"))


def test_a_file_that_is_not_for_everyone_is_not_printed(start, tmp_path):
    (tmp_path / "file").write_text("s3cr3t")
    (tmp_path / "file").chmod(0o600)
    watch = start("file", str(tmp_path / "file"))

    watch.wait_values(("s3cr3t", ""))

    assert "s3cr3t" not in watch.out.read_text() + watch.err.read_text()


@pytest.mark.spec("04:129")
def test_health_follows_the_handler(start, kube_watch, tmp_path):
    (tmp_path / "file").write_text("x")
    watch = start("file", str(tmp_path / "file"), "--listen=127.0.0.1:0", behaviour='[ "$2" != bad ]',
                  through=["unshare", "-m"])
    watch.wait_values(("x", ""))
    port = re.search(r"Listening on port (\d+)", watch.out.read_text())[1]

    def asked(path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def health():
        words = ["nsenter", f"--mount=/proc/{watch.process.pid}/ns/mnt", str(kube_watch), "health"]
        return subprocess.run(words, capture_output=True, text=True, timeout=60).returncode
    assert asked("/readyz")[0] == 200 and health() == 0
    replace(tmp_path / "file", "bad")
    until(lambda: asked("/readyz")[0] == 503, "not ready")
    assert "Handler failed: exit 1" in asked("/readyz")[1] and health() == 1
    replace(tmp_path / "file", "good")
    until(lambda: asked("/readyz")[0] == 200, "ready")
    assert health() == 0
    metrics = asked("/metrics")[1]
    assert 'kube_watch_items{state="handled"} 1\n' in metrics
    assert int(re.search(r"kube_watch_handler_failures_total (\d+)", metrics)[1]) >= 1
