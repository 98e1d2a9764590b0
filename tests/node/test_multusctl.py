"""multusctl on a node: the program itself, and the status of a daemon from its socket."""

import contextlib
import http.server
import json
import os
import pty
import re
import select
import shlex
import shutil
import signal
import subprocess
import textwrap
import threading
import time
from pathlib import Path

import pytest
from harness.docs.guide import ROOT
from harness.machine.host import PROGRAMS
from harness.machine.wait import PATIENCE

CTL = f"{PROGRAMS}/multusctl"
ORIGINAL = Path.home() / "go/pkg/mod/gopkg.in/k8snetworkplumbingwg/multus-cni.v4@v4.3.0"

MANIFEST = """
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: lan}
spec: {config: '{"cniVersion":"1.0.0","type":"bridge"}'}
---
apiVersion: v1
kind: Pod
metadata: {name: web, annotations: {k8s.v1.cni.cncf.io/networks: lan}}
"""


@pytest.fixture
def ctl(program):
    """Runs multusctl of this build on this machine."""
    path = program("multusctl")

    def run(*words, stdin="", **environment):
        return subprocess.run([path, *map(str, words)], input=stdin, capture_output=True, text=True,
                              env={**os.environ, **environment})
    return run


def test_a_mistake_is_told_with_its_place_and_makes_the_exit_status(ctl):
    done = ctl("lint", "-", stdin="kind: NetworkAttachmentDefinition\nmetadata: {name: bad}\nspec:\n  config: |\n"
                                  "    {\"name\": \"x\", \"plugins\": [{\"type\": \"brigde\"}]}\n")

    assert done.returncode == 1
    assert done.stdout == ('stdin:5:40 spec.config .plugins[0].type error MN012 default/bad: unknown type "brigde", '
                           'did you mean "bridge"?\n')
    assert ctl("lint", "-", stdin="kind: Pod\nmetadata: {name: web}\n").returncode == 0


HERE = re.compile(r"<<-?\s*'?\"?(\w+)'?\"?[^\n]*\n(.*?)\n\s*\1", re.S)


def manifests_in(document):
    """What a document's commands pass to kubectl, and its blocks that are whole objects. Others are parts, or show a terminal."""
    text = document.read_text()
    yield from (textwrap.dedent(here) + "\n" for _, here in HERE.findall(text) if "apiVersion" in here)
    for block in re.findall(r"^```ya?ml\n(.*?)^```", text, re.M | re.S):
        if block.startswith(("apiVersion:", "kind:")) and not block.endswith("\n...\n"):
            yield block


def assert_nothing_is_found(ctl, tmp_path, documents):
    count = 0
    for document in documents:
        for text in manifests_in(document):
            count += 1
            manifest = tmp_path / f"{count}.yaml"
            manifest.write_text(text)
            done = ctl("lint", manifest)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), f"{document}:\n{text}"
    return count


def test_nothing_is_found_in_the_originals_own_examples(ctl, tmp_path):
    """Its manifests, its examples, and what its documents pass to kubectl."""
    if not ORIGINAL.exists():
        pytest.skip("the original's module is not here: scripts/peer")
    done = ctl("lint", ORIGINAL / "examples", ORIGINAL / "deployments")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert assert_nothing_is_found(ctl, tmp_path, [*ORIGINAL.glob("docs/*.md"), *ORIGINAL.glob("examples/*.md")]) >= 15


def test_nothing_is_found_in_the_examples_of_our_own_documents(ctl, tmp_path):
    """Unit tests lint the blocks that are named as YAML or JSON (LintExamples); here is what commands pass to kubectl, too."""
    documents = [path for path in (ROOT / "docs").rglob("*.md") if path.name != "lint.md"]
    done = ctl("lint", ROOT / "docs" / "examples")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert assert_nothing_is_found(ctl, tmp_path, [ROOT / "README.md", *documents]) >= 5


def complete_in_bash(script, line):
    words = ["multusctl", *line.split(" ")]
    ask = (f"source {script}; COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}; _multusctl; "
           "printf '%s\\n' \"${COMPREPLY[@]}\"")
    return subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout


def complete_in_fish(script, line):
    done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C 'multusctl {line}'"], capture_output=True, text=True,
                          check=True, env={**os.environ, "HOME": str(script.parent)})
    assert done.stderr == ""
    return done.stdout


def complete_in_zsh(script, line):
    """What a terminal shows, the only place where zsh completes: the rest of the word, or a list. The script is the file of a function
    that is loaded when it is needed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "TERM": "dumb", "HOME": str(script.parent)})
    shown = ""

    def show_until(text):
        nonlocal shown
        while text not in shown:
            assert select.select([terminal], [], [], PATIENCE)[0], shown
            shown += os.read(terminal, 65536).decode(errors="replace")

    try:
        os.write(terminal, f"fpath=({script.parent} $fpath); autoload -U compinit; compinit -u -D; LISTMAX=100; echo rea''dy\n".encode())
        show_until("ready")
        shown = ""
        os.write(terminal, f"multusctl {line}\t".encode())
        show_until(line.split(" ")[-1])
        os.write(terminal, b"\x01echo 'the ''end' # \n")  # in front of the line, once it is complete
        show_until("the end")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return shown


@pytest.mark.parametrize("shell, complete", [("bash", complete_in_bash), ("zsh", complete_in_zsh), ("fish", complete_in_fish)],
                         ids=["bash", "zsh", "fish"])
def test_shells_complete_commands_flags_and_formats(ctl, tmp_path, shell, complete):
    if not shutil.which(shell):
        pytest.skip(f"needs the program {shell}")
    script = tmp_path / "_multusctl"
    script.write_text(ctl("completion", shell).stdout)

    for line, words in [("li", ["lint"]), ("lint --str", ["--strict"]), ("pods -o ", ["wide", "json", "yaml"]), ("lint -o ", ["github"]),
                        ("pods --output ", ["wide", "json", "yaml"]), ("completion z", ["zsh"]), ("pending r", ["retry"])]:
        said = complete(script, line)
        assert all(word in said for word in words), f"{line}: {said}"
        assert "version" not in said, "others are not offered"


@pytest.mark.parametrize("words, hint", [
    (["stauts"], 'did you mean "status"?'), (["--loud"], "Run 'multusctl --help'"), (["status", "--loud"], "Run 'multusctl status --help'"),
    (["lint", "--socket", "x", "-"], "Run 'multusctl lint --help'"), (["pods", "-o", "xml"], "wide, json, yaml"),
    (["pods", "-n"], "flag needs an argument"), (["doctor", "node-1"], "takes no arguments"), (["man", "status"], "takes no arguments"),
    (["completion", "csh"], "bash, zsh or fish"), (["explain"], "name one pod"), (["lint"], "name files"), (["pending", "drop"], "drop ID"),
    (["attach", "web"], "a pod and a network"), (["test", "--timeout", "5m"], "expected seconds"), (["probe", "--port", "0"], "1 to 65535"),
    (["report"], "-o"), (["bundle"], "-o")], ids=lambda part: " ".join(part) if isinstance(part, list) else "")
def test_a_wrong_command_line_is_exit_2_with_a_hint(ctl, words, hint):
    done = ctl(*words)

    assert (done.returncode, done.stdout) == (2, "")
    assert hint in done.stderr
    for pointer in re.findall(r"Run 'multusctl (.*?)'", done.stderr):
        shown = ctl(*pointer.split())
        assert (shown.returncode, shown.stderr) == (0, "") and "Flags:" in shown.stdout
    for command in re.findall(r'did you mean "(.*?)"', done.stderr):
        assert ctl(command, "--help").returncode == 0


def test_an_answer_that_cannot_be_written_is_not_a_success(program):
    def rest_of(command):
        done = subprocess.run(["bash", "-o", "pipefail", "-c", f"{program('multusctl')} {command}"], capture_output=True, text=True)
        return done.returncode, done.stderr

    assert rest_of("man > /dev/full") == (1, "multusctl: cannot print: write standard output: no space left on device\n")
    assert rest_of("--help >&-") == (1, "multusctl: cannot print: write standard output: bad file descriptor\n")
    assert rest_of("man | true") == (0, ""), "a reader that has seen enough"


@pytest.mark.parametrize("words", [["status"], ["doctor"], ["pending"], ["gc", "--dry-run"], ["pods"], ["explain", "web"]], ids=" ".join)
def test_where_there_is_neither_a_cluster_nor_a_daemon_it_says_what_to_name(ctl, words):
    done = ctl(*words, KUBECONFIG="/nonexistent")

    assert done.returncode == 1
    assert "name a kubeconfig with --kubeconfig or in KUBECONFIG" in done.stderr
    assert ("run it as root on a node whose daemon runs" in done.stderr) == (words[0] not in ("pods", "explain"))


def test_what_names_no_namespace_is_explained_in_that_of_the_command_line(ctl):
    manifest = MANIFEST.replace("metadata: {name: lan}", "metadata: {name: lan, namespace: net}")

    there, elsewhere = (ctl("explain", "-f", "-", *words, stdin=manifest, KUBECONFIG="/nonexistent") for words in (["-n", "net"], []))

    assert there.returncode == 0 and "pod net/web" in there.stdout and "net1  net/lan" in there.stdout
    assert elsewhere.returncode == 1 and "cannot find a network-attachment-definition (lan) in namespace (default)" in elsewhere.stderr


def test_help_and_the_version_are_there_as_words_and_as_flags(ctl):
    assert ctl("help").stdout == ctl("--help").stdout
    assert ctl("help", "status").stdout == ctl("status", "--help").stdout
    assert ctl("--version").stdout == ctl("version").stdout
    assert all(ctl(*words).returncode == 0 for words in (["help"], ["help", "status"], ["--version"]))


def test_help_tells_more_about_each_command_in_the_way_it_says(ctl):
    shown = ctl("--help").stdout
    (pointer,) = re.findall(r"'multusctl (COMMAND --help)' tells more", shown)
    commands = re.findall(r"^  ([a-z]+) ", shown.partition("\nCommands:\n")[2], re.M)

    assert {"status", "pods", "explain", "lint", "doctor", "completion", "man", "version"} <= set(commands)
    for command in commands:
        done = ctl(*pointer.replace("COMMAND", command).split())
        assert done.returncode == 0 and f"multusctl {command}" in done.stdout


def test_as_a_plugin_of_kubectl_it_names_commands_as_they_are_run_there(program, tmp_path):
    plugin = tmp_path / "kubectl-multus"
    plugin.symlink_to(program("multusctl"))

    done = subprocess.run([plugin, "doctor", "--this-node", "--socket", tmp_path / "none"], capture_output=True, text=True)

    assert done.returncode == 1
    assert "`kubectl multus doctor`" in done.stdout and "`multusctl" not in done.stdout


def test_hints_name_the_namespace_of_the_daemons_that_was_given(ctl, tmp_path):
    done = ctl("doctor", "--this-node", "--socket", tmp_path / "none", "-n", "infra")

    assert done.returncode == 1
    assert "`multusctl doctor -n infra`" in done.stdout


@pytest.mark.without_sanitizers
@pytest.mark.release("speed")
@pytest.mark.parametrize("words", [["version"], ["--help"], ["lint", "DEFINITION"], ["explain", "-f", "DEFINITION"]], ids=" ".join)
def test_a_command_that_needs_no_api_takes_less_than_20_ms(program, tmp_path, words):
    """Of a processor, whatever else runs beside it; and it waits for nothing. The best of some: none is quicker than the program is."""
    manifest = tmp_path / "manifest.yaml"
    manifest.write_text(MANIFEST)
    command = [program("multusctl"), *(manifest if word == "DEFINITION" else word for word in words)]
    took, passed = [], []
    for _ in range(20):
        begin = time.monotonic()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={"KUBECONFIG": "/nonexistent"})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        took.append(usage.ru_utime + usage.ru_stime)
        passed.append(time.monotonic() - begin)
    print(f"{min(took) * 1000:.1f} ms of a processor, {min(passed) * 1000:.1f} ms in all")

    assert min(took) < 0.020, took
    assert min(passed) < 1, passed


def test_the_status_of_a_daemon_is_one_command(host, daemons):
    daemons()

    done = host.run(CTL, "status", "-o", "json")

    (node,) = json.loads(done.stdout)["nodes"]
    assert node["status"]["version"] == 1 and node["status"]["ready"] is True
    assert node["status"]["containers"] == 0 and node["status"]["pendingDels"] == 0
    assert {"bridge", "host-local"} <= set(node["status"]["plugins"])
    shown = host.run(CTL, "status").stdout.splitlines()
    assert shown[0].split() == ["NODE", "VERSION", "READY", "PRIMARY", "REQUESTS", "DELEGATES", "CONTAINERS", "PENDING", "MISSED"]
    assert shown[1].split()[-7:-5] == ["yes", "<none>"] or "yes" in shown[1].split()


def test_the_status_counts_what_is_attached_and_names_what_is_missing(node, host):
    pod = node.pod()
    assert pod.add().ok
    node.network("none", {"cniVersion": "1.0.0", "name": "none", "type": "not-there"})
    bad = node.pod("none")
    assert not bad.add().ok and bad.delete().ok

    status = json.loads(host.run(CTL, "status", "-o", "json").stdout)["nodes"][0]["status"]

    assert status["containers"] == 1
    assert status["missingPlugins"] == ["not-there"]
    told = host.run(CTL, "status").stderr
    assert "plugins missing on the node: not-there" in told
    assert pod.delete().ok


def test_without_a_daemon_it_says_what_to_do(host):
    done = host.run(CTL, "status", "--socket", "/run/multus/multus.sock", check=False)

    assert done.returncode == 1
    assert "is multus-daemon running on this node" in done.stderr


def test_a_folder_that_cannot_be_counted_leaves_the_rest_of_the_status(host, daemon):
    host.write("/var/lib/cni/multus/results", "not a folder")

    answer = daemon.http("GET", "/status")

    assert answer.status == 200
    status = json.loads(answer.body)
    assert status["ready"] is True and "results" in status["recordsError"]
    assert host.run(CTL, "status").returncode == 0
    host.path("/var/lib/cni/multus/results").unlink()


def test_other_methods_than_get_are_refused(daemon):
    assert daemon.http("POST", "/status", b"{}").status == 405
    assert daemon.http("GET", "/status").status == 200


@contextlib.contextmanager
def large_pods(tmp_path, count):
    """An API server with so many pods in one page, whose authors filled their annotations and everything else that they may fill; a
    kubeconfig for it."""
    pod = {"metadata": {"namespace": "tenant", "annotations": {"k8s.v1.cni.cncf.io/networks": "x" * 250_000}},
           "spec": {"nodeName": "n1", "containers": [{"name": "c", "env": [{"name": "a"}] * 20_000}]}, "status": {"phase": "Running"}}

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"metadata":{"resourceVersion":"1"},"items":[')
            for number in range(count if self.path.startswith("/api/v1/pods") else 0):
                pod["metadata"]["name"] = f"p{number}"
                self.wfile.write((b"," if number else b"") + json.dumps(pod).encode())
            self.wfile.write(b"]}")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(json.dumps({
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}))
        yield kubeconfig
        server.shutdown()


@pytest.mark.without_sanitizers  # they take memory themselves
@pytest.mark.parametrize("words", [["pods", "-A"], ["lint", "--cluster"]], ids=lambda words: words[0])
def test_large_pods_of_a_tenant_keep_nobody_from_seeing_the_others(program, tmp_path, words):
    """A page of them has 120 MB, and would be gigabytes of values."""
    with large_pods(tmp_path, 180) as kubeconfig:
        done = subprocess.run(["prlimit", f"--data={512 << 20}", program("multusctl"), *words, "--kubeconfig", kubeconfig],
                              capture_output=True, text=True, timeout=300)
    assert "p179" in done.stdout, done.stderr
    assert done.stdout.count("no-definition" if words[0] == "pods" else "MN032") == 180
