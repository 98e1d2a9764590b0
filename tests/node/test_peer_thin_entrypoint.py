"""thin_entrypoint of the original beside ours: one service account, the same primaries, folders of its own for each. What differs
on purpose is named here by the number of the original's fault in the specification."""

import base64
import json
import os
import re
import shutil
import signal
import stat

import pytest

from harness.cluster.peer import BOTH, ORIGINAL, OURS, needs_original, program_of
from harness.machine.wait import until
from harness.node.thin import ENVIRONMENT, PEM, ServiceAccount, ThinEntrypoint

pytestmark = needs_original("thin_entrypoint")

PROGRAM = "/srv/image/multus"
OWN, OWN_LIST, KUBECONFIG = "net.d/00-multus.conf", "net.d/00-multus.conflist", "net.d/multus.d/multus.kubeconfig"
PRIMARY = {"cniVersion": "0.3.1", "name": "test1", "type": "cnitesttype"}
LIST = {"cniVersion": "0.4.0", "name": "l", "capabilities": {"top": True},
        "plugins": [{"type": "a", "capabilities": {"x": True, "y": False}}, {"type": "b", "capabilities": {"y": True}}]}


class Side:
    """The folders of one of the two, and its program. In what it yields the name of the folder is left out."""

    def __init__(self, host, who):
        self.host, self.who, self.top = host, who, f"/srv/thin-{who}"
        self.path = program_of(host, who, "thin_entrypoint")
        self.begin()

    def begin(self):
        """Empty folders."""
        shutil.rmtree(self.host.path(self.top), ignore_errors=True)
        for folder in ("net.d", "bin"):
            self.host.path(f"{self.top}/{folder}").mkdir(parents=True)

    def place(self, name, content):
        """Replaces the file at once, as programs do that expect readers; None removes it."""
        path = self.host.path(f"{self.top}/{name}")
        if content is None:
            path.unlink()
            return
        self.host.write(f"{self.top}/part", content)
        path.parent.mkdir(exist_ok=True)
        self.host.path(f"{self.top}/part").rename(path)

    def start(self, *flags, env=None):
        command = [self.path, f"--cni-bin-dir={self.top}/bin", f"--cni-conf-dir={self.top}/net.d",
                   f"--multus-autoconfig-dir={self.top}/net.d", f"--multus-cni-conf-dir={self.top}/multus",
                   f"--multus-bin-file={PROGRAM}"]
        return ThinEntrypoint(self.host, *(flag.replace("TOP", self.top) for flag in flags), env=env, command=command,
                              name=f"thin-{self.who}")

    def shown(self, text):
        return text.replace(self.top, "TOP")

    def text(self, name):
        """None if there is no such file."""
        try:
            return self.shown(self.host.path(f"{self.top}/{name}").read_text(errors="replace"))
        except FileNotFoundError:
            return None

    def files(self):
        """Mode and text of each file, mode of each folder."""
        found = {}
        for folder, folders, names in os.walk(self.host.path(self.top)):
            for name in [*folders, *names]:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, self.host.path(self.top))
                status = os.stat(path)
                found[relative] = stat.S_IMODE(status.st_mode), settled(self.text(relative)) if stat.S_ISREG(status.st_mode) else None
        return found

    def tried(self, *flags, env=None):
        """The exit status (None if it stays), its files then, stdout and stderr."""
        entrypoint = self.start(*flags, env=env)
        until(lambda: entrypoint.is_installed or not entrypoint.process.running, "an outcome")
        status = None if entrypoint.is_installed else entrypoint.process.wait()
        files = self.files()
        entrypoint.process.signal(signal.SIGKILL)
        entrypoint.process.wait()
        return status, files, self.shown(entrypoint.out.read_text()), self.shown(entrypoint.err.read_text())


def settled(text):
    """The kubeconfigs of the two differ in quotes and in the comment above."""
    return re.sub(r'^    server: "(.*)"$', r"    server: \1", re.sub(r"^# .*\n", "", text), flags=re.M)


@pytest.fixture
def account(host):
    return ServiceAccount(host)


@pytest.fixture
def sides(host, account, program):
    program("thin_entrypoint")
    host.write(PROGRAM, "#!/bin/sh\n", mode=0o751)
    return {who: Side(host, who) for who in BOTH}


@pytest.fixture
def compare(sides):
    """Runs both on the same primary; yields for each exit status, files, stdout and stderr (Side.tried)."""
    def run(*flags, primary=PRIMARY, name="10-primary.conf", env=None):
        seen = {}
        for who, side in sides.items():
            side.begin()
            side.place(f"net.d/{name}", primary)
            seen[who] = side.tried(*flags, env=env)
        return seen
    return run


def assert_equal_and_running(seen, case):
    """Files are the same, and what ours tells the original tells, too."""
    (ours, our_files, out, _), (theirs, their_files, their_out, their_err) = seen[OURS], seen[ORIGINAL]
    assert (ours, theirs) == (None, None), f"{case}: {seen[OURS]}\n{their_err}"
    assert our_files == their_files, case
    assert set(out.splitlines()) - set(re.sub("/+", "/", their_out).splitlines()) <= RENAMED, case
    return our_files


RENAMED = {"primary configuration TOP/net.d/10-primary.conf is renamed to TOP/net.d/10-primary.conf.old"}
FLAGS = [
    "", "--namespace-isolation", "--namespace-isolation=T --global-namespaces=default,kube-system", "--multus-log-to-stderr=false",
    "--multus-log-to-stderr=0", "--multus-log-level=DEBUG", "--multus-log-level=Verbose", "--multus-log-level=error",
    "--multus-log-level=panic", "--multus-log-level=", "--multus-log-file=/var/log/multus.log", "--override-network-name",
    "--readiness-indicator-file=/run/ready", "--additional-bin-dir=/opt/more", "--multus-kubeconfig-file-host=/k",
    "--multus-kubeconfig-file-host=", "--cni-version=0.3.1", "--cni-version 0.3.1", "--cni-version=1.0.0 --force-cni-version",
    "--cni-version=0.3.1 --force-cni-version", "--skip-multus-binary-copy", "--rename-conf-file", "--skip-tls-verify",
    "--cleanup-config-on-exit", "--skip-config-watch", "--rename-conf-file --cleanup-config-on-exit",
    "--multus-master-cni-file-name=10-primary.conf", "--multus-master-cni-file-name=./10-primary.conf", "--cni-conf-dir=TOP//net.d/",
    "--multus-cni-conf-dir=TOP/a/b/c", "--help=false", "word", "-- --nosuch", "--namespace-isolation true",
    "--global-namespaces=a --global-namespaces=b", "--multus-conf-file=/etc/passwd", "--multus-conf-file=TOP/net.d/10-primary.conf",
    "--override-network-name --namespace-isolation --global-namespaces=a --multus-log-level=debug --multus-log-file=/l "
    "--additional-bin-dir=/b --readiness-indicator-file=/r --multus-log-to-stderr=false --cni-version=0.3.1"]


@pytest.mark.spec("03:150")
@pytest.mark.parametrize("version", ["0.3.1", "1.0.0"])
def test_flags_give_the_same_files(compare, version):
    for line in FLAGS:
        flags = line.replace("--cni-version=0.3.1", f"--cni-version={version}").replace("--cni-version 0.3.1", f"--cni-version {version}")
        files = assert_equal_and_running(compare(*flags.split(), primary={**PRIMARY, "cniVersion": version}), flags)
        assert KUBECONFIG in files


PRIMARIES = {
    "list": LIST, "newer list": {**LIST, "cniVersion": "1.0.0"}, "newest": {**PRIMARY, "cniVersion": "1.1.0"},
    "future": {**PRIMARY, "cniVersion": "2.0.0"}, "old": {**PRIMARY, "cniVersion": "0.2.0"}, "oldest": {**PRIMARY, "cniVersion": "0.1.0"},
    "0.9.9": {**PRIMARY, "cniVersion": "0.9.9"}, "1": {**PRIMARY, "cniVersion": "1"}, "1.0": {**PRIMARY, "cniVersion": "1.0"},
    "01.0.0": {**PRIMARY, "cniVersion": "01.0.0"}, "empty version": {**PRIMARY, "cniVersion": ""},
    "capabilities": {**PRIMARY, "capabilities": {"z": True, "a": False}}, "none of them": {**PRIMARY, "capabilities": {}},
    "no plugins": {"cniVersion": "0.4.0", "name": "x", "capabilities": {"a": True}, "plugins": []},
    "escapes": {**PRIMARY, "x": "<a>&b\u2028é😀\u0001\"\\/\t\x7f"}, "quoted name": {**PRIMARY, "name": 'a"b'},
    "order": '{"type":"b","z":{"b":1,"a":[true,false,null,{}]},"a":"","name":"n","cniVersion":"0.3.1"}',
    "twice": '{"cniVersion":"0.3.1","name":"a","name":"b","type":"b","x":{"a":1},"x":{"b":2}}',
    "blanks": ' \n\t{"cniVersion" : "0.3.1" , "name":"a","type":"b"}\r\n\n', "no name": {"cniVersion": "0.3.1", "type": "b"},
    "no type": {"cniVersion": "0.3.1", "name": "b"}, "integers": {**PRIMARY, "mtu": 1500, "n": -7, "z": 0, "half": 0.5},
    "no UTF-8": b'{"cniVersion":"0.3.1","name":"a\xff\xc3(","type":"b"}',
    "half a pair": '{"cniVersion":"0.3.1","name":"\\ud800","type":"\\u0000"}',
    "megabytes": {**PRIMARY, "x": "y" * 3_000_000},
    "deep": '{"cniVersion":"0.3.1","name":"a","type":"b","x":' + "[" * 200 + "]" * 200 + "}"}


@pytest.mark.spec("03:150")
def test_primaries_give_the_same_files(compare):
    for what, primary in PRIMARIES.items():
        files = assert_equal_and_running(compare(primary=primary), what)
        assert (OWN in files) != (OWN_LIST in files), what


def moved(side, name, to):
    """A link to where it is now."""
    side.host.path(f"{side.top}/{name}").rename(side.host.path(f"{side.top}/{to}"))
    side.host.path(f"{side.top}/{name}").symlink_to("../" * name.count("/") + to)


@pytest.mark.parametrize("linked", ["net.d", "net.d/10-primary.conf", OWN, "net.d/multus.d", "bin/multus", "bin"])
def test_links_are_followed_or_replaced_alike(sides, linked):
    def run(side):
        side.place("net.d/10-primary.conf", PRIMARY)
        side.place(OWN, "old")
        side.place("bin/multus", "old")
        side.place(KUBECONFIG, "old")
        moved(side, linked, "moved")
        status, files, *_ = side.tried()
        return status, files, sorted(name for name in files if side.host.path(f"{side.top}/{name}").is_symlink())
    ours, theirs = (run(side) for side in sides.values())

    assert ours == theirs
    assert ours[0] is None and (OWN in ours[1] or linked == "net.d")


NAMES = {"10.conflist": "10.conflist", "10.conf 20.conf": "10.conf", "20.conf 10.conflist": "10.conflist", "B.conf a.conf": "B.conf",
         "10.json 20.conf": "20.conf", "x.CONF y.conf": "y.conf", "10.conf.bak 20.conf": "20.conf", "00-multusX.conf 20.conf": "00-multusX.conf",
         "00-multus.confX.conf 20.conf": "20.conf", ".hidden.conf 20.conf": ".hidden.conf"}


def test_the_same_file_is_taken_for_the_primary(sides):
    for names, taken in NAMES.items():
        for side in sides.values():
            side.begin()
            for name in names.split():
                side.place(f"net.d/{name}", {**PRIMARY, "name": name})
            side.host.path(f"{side.top}/net.d/00.conf").mkdir()  # a folder is none
        ours, theirs = (side.tried()[1][OWN] for side in sides.values())

        assert ours == theirs, names
        assert f'"name":"{taken}"' in ours[1], names


@pytest.mark.parametrize("env", [{}, {"KUBERNETES_SERVICE_HOST": "fd00::1"},
                                 {"KUBERNETES_SERVICE_HOST": "api.example", "KUBERNETES_SERVICE_PORT": "6443"},
                                 {"KUBERNETES_SERVICE_PROTOCOL": "http"}], ids=["usual", "IPv6", "name", "protocol"])
def test_the_kubeconfig_says_the_same(compare, env):
    for flags in ([], ["--skip-tls-verify"]):
        files = assert_equal_and_running(compare(*flags, env=env), flags)

        assert files[KUBECONFIG][0] == 0o600 and files["net.d/multus.d"][0] == files["multus"][0] == 0o755
        assert ("insecure-skip-tls-verify: true" in files[KUBECONFIG][1]) == bool(flags)


REFUSED = {1: ["-h", "--help", "--help=true", "-h=1"],
           2: ["-x", "--nosuch", "--nosuch=1", "-cni-version=0.3.1", "--cni-version", "--namespace-isolation=maybe", "--namespace-isolation=",
               "--namespace_isolation", "---cni-version=1", "--=x", "-h --nosuch"]}


@pytest.mark.spec("03:151")
@pytest.mark.parametrize("status", REFUSED)
def test_the_same_command_lines_are_refused(compare, status):
    for line in REFUSED[status]:
        seen = compare(*line.split())
        for who in BOTH:
            code, files, out, err = seen[who]
            assert code == status, (who, line)
            assert out == "" or (who, code) == (ORIGINAL, 2), (who, line)  # v4.2.4 complains there
            assert "--cni-conf-dir" in err and set(files) == {"bin", "net.d", "net.d/10-primary.conf"}, (who, line)
            assert "force-cni-version" not in err, "hidden"


def test_every_flag_of_the_originals_help_is_in_ours_with_the_same_default(compare):
    def flags(text):
        """Name: default, as far as one is shown; lines that go on belong to the flag above."""
        entries = re.split(r"^ +(?=-)", text, flags=re.M)[1:]
        named = {re.search(r"--([a-z-]+)", entry)[1]: re.search(r'\(default "?(.*?)"?\)', entry) for entry in entries}
        return {name: found[1] if found else "" for name, found in named.items()}
    seen = compare("-h")
    ours, theirs = flags(seen[OURS][3]), flags(seen[ORIGINAL][3])

    assert len(theirs) > 20
    assert {name: ours.get(name) for name in theirs} == theirs
    assert set(ours) - set(theirs) == {"version"}


FAILS = {
    "no configuration folder": (["--cni-conf-dir=/none"], {}, "/none"),
    "no folder of programs": (["--cni-bin-dir=/none"], {}, "/none"),
    "no program": (["--multus-bin-file=/none"], {}, "/none"),
    "no program, not copied": (["--multus-bin-file=/none", "--skip-multus-binary-copy"], {}, "/none"),
    "no file to copy": (["--multus-conf-file=/none"], {}, "/none"),
    "a wrong word": (["--multus-conf-file=AUTO"], {}, "AUTO"),
    "an empty one": (["--multus-conf-file="], {}, "file"),
    "log level": (["--multus-log-level=chatty"], {}, "Log levels should be one of: debug/verbose/error/panic"),
    "version": (["--cni-version=0.4.0"], {}, 'Multus cni version is "0.4.0" while master plugin cni version is "0.3.1"'),
    "no primary": ([], {"name": "10.json"}, "cannot find valid master CNI config in"),
    "only our own": ([], {"name": "00-multus.conflist"}, "cannot find valid master CNI config in"),
    "no folder of primaries": (["--multus-autoconfig-dir=/none"], {}, "/none"),
    "no such primary": (["--multus-master-cni-file-name=20.conf"], {}, "20.conf"),
    "no version": ([], {"primary": {"name": "a", "type": "b"}}, "cannot get cniVersion in master CNI config file"),
    "another key": ([], {"primary": {"CNIVERSION": "0.3.1", "name": "a", "type": "b"}}, "cannot get cniVersion in master CNI config file"),
    "no name to take": (["--override-network-name"], {"primary": {"cniVersion": "0.3.1", "type": "b"}},
                        "cannot get name in master CNI config file"),
    "nothing in it": ([], {"primary": ""}, "cannot read master CNI config json"),
    "half of it": ([], {"primary": "{"}, "cannot read master CNI config json"),
    "a list": ([], {"primary": "[]"}, "cannot read master CNI config json"),
    "two of it": ([], {"primary": json.dumps(PRIMARY) * 2}, "cannot read master CNI config json"),
    "a mark before it": ([], {"primary": "\ufeff" + json.dumps(PRIMARY)}, "cannot read master CNI config json"),
    "a file in the way": (["--multus-cni-conf-dir=/etc/passwd"], {}, "/etc/passwd")}


@pytest.mark.spec("03:151")
def test_both_fail_with_the_same_reason(compare):
    """F64: the original then exits 0."""
    for what, (flags, more, reason) in FAILS.items():
        seen = compare(*flags, **more)
        for who, status in ((OURS, 1), (ORIGINAL, 0)):
            code, files, _, err = seen[who]
            assert code == status and reason in err, (who, what, err)
            assert not {OWN, OWN_LIST} & (set(files) - {f"net.d/{more.get('name')}"}), (who, what)


@pytest.mark.parametrize("token, ca", [(None, PEM), ("x", None)], ids=["no token", "no authority"])
def test_without_a_service_account_neither_begins(compare, account, token, ca):
    account.place(token, ca)

    seen = compare()

    assert [seen[who][0] for who in BOTH] == [1, 0]
    assert all(not {OWN, KUBECONFIG} & set(seen[who][1]) for who in BOTH)


def test_files_that_are_there_are_replaced(compare, sides):
    def run(content, mode):
        seen = {}
        for who, side in sides.items():
            side.begin()
            side.place("net.d/10-primary.conf", PRIMARY)
            for name in ("bin/multus", "net.d/passwd", KUBECONFIG, OWN):
                side.place(name, content)
                side.host.path(f"{side.top}/{name}").chmod(mode)
            seen[who] = side.tried(*flags)
        return seen
    for flags in ([], ["--multus-conf-file=/etc/passwd"]):
        for content, mode in (("old" * 1000, 0o644), ("", 0o400)):
            files = assert_equal_and_running(run(content, mode), flags)
            assert files["bin/multus"] == (0o751, "#!/bin/sh\n")


def ended(side, how, *flags):
    """Its files after a signal ended it, which it does with status 0. The original handles signals only some time after it has
    written everything: one that comes too early ends it at once, or is lost."""
    def stopped(entrypoint):
        if side.who != ORIGINAL:
            return entrypoint.stop(how)
        try:
            return entrypoint.stop(how, timeout=10)
        except AssertionError:
            entrypoint.stop(signal.SIGKILL)
            return -how

    def once():
        side.begin()
        side.place("net.d/10-primary.conf", PRIMARY)
        side.place("net.d/other", "x")
        entrypoint = side.start(*flags).wait_installed()
        status = stopped(entrypoint)
        assert status == 0 or (side.who == ORIGINAL and status == -how), f"{status}: {entrypoint.err.read_text()}"
        return [side.files()] if status == 0 else None
    return until(once, "a proper end")[0]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("cleans", [False, True])
@pytest.mark.parametrize("flags", [[], ["--skip-config-watch"], ["--multus-conf-file=/etc/passwd"]], ids=["auto", "unwatched", "copied"])
def test_the_same_is_left_at_the_end(sides, how, cleans, flags):
    ours, theirs = (ended(side, how, *flags, *["--cleanup-config-on-exit"] * cleans) for side in sides.values())

    assert ours == theirs
    assert KUBECONFIG in ours and "bin/multus" in ours
    assert ({OWN, "net.d/passwd"} & set(ours) == set()) == cleans


@pytest.fixture
def watching(sides):
    """Both, with the flag that makes the original follow (F65)."""
    for side in sides.values():
        side.place("net.d/10-primary.conf", PRIMARY)
    running = {who: side.start("--cleanup-config-on-exit") for who, side in sides.items()}
    for entrypoint in running.values():
        entrypoint.wait_installed()
    until(lambda: "Entering watch loop" in running[ORIGINAL].out.read_text(), "the original's loop")
    yield running
    for entrypoint in running.values():
        if entrypoint.process.running:
            assert entrypoint.stop() == 0, entrypoint.err.read_text()


def both_come_to(sides, name, is_right):
    """Both have such a file, and the same."""
    def there():
        texts = [side.text(name) for side in sides.values()]
        return texts if all(text is not None and is_right(text) for text in texts) else None
    ours, theirs = until(there, lambda: {who: side.text(name) for who, side in sides.items()})
    assert settled(ours) == settled(theirs)


def test_both_follow_the_primary_and_the_service_account(sides, watching, account):
    def place(name, content):
        for side in sides.values():
            side.place(f"net.d/{name}", content)
    place("10-primary.conf", {**PRIMARY, "name": "changed", "capabilities": {"a": True}})
    both_come_to(sides, OWN, lambda text: "changed" in text)
    place("10-primary.conf", LIST | {"cniVersion": "0.3.1"})
    both_come_to(sides, OWN, lambda text: '"name":"l"' in text)
    place("05-earlier.conflist", {**PRIMARY, "name": "earlier"})
    both_come_to(sides, OWN, lambda text: "earlier" in text)
    place("05-earlier.conflist", None)
    until(lambda: "has been deleted" in watching[ORIGINAL].out.read_text(), "the original's complaint")
    watching[OURS].wait_complaint("05-earlier.conflist is gone")
    assert all("earlier" in side.text(OWN) for side in sides.values())  # a later one does not take over
    place("05-earlier.conflist", {**PRIMARY, "name": "back"})
    both_come_to(sides, OWN, lambda text: "back" in text)
    account.place("second")
    both_come_to(sides, KUBECONFIG, lambda text: '"second"' in text)
    account.place("second", PEM + PEM)
    both_come_to(sides, KUBECONFIG, lambda text: base64.b64encode(2 * PEM.encode()).decode() in text)

    for entrypoint in watching.values():
        assert entrypoint.stop() == 0
    assert all(side.text(OWN) is None for side in sides.values())
    assert sides[OURS].files() == sides[ORIGINAL].files()


def newer_primary(sides, _):
    for side in sides.values():
        side.place("net.d/10-primary.conf", {**PRIMARY, "cniVersion": "1.0.0"})


def broken_primary(sides, _):
    for side in sides.values():
        side.place("net.d/10-primary.conf", "{")


def no_account(_, account):
    account.remove()


@pytest.mark.parametrize("happens", [newer_primary, broken_primary, no_account])
def test_ours_stays_where_the_original_ends_and_takes_its_file_away(sides, watching, account, happens):
    """F70, F64: the original even ends with 0."""
    happens(sides, account)

    assert watching[ORIGINAL].process.wait() == 0
    assert sides[ORIGINAL].text(OWN) is None
    if happens is newer_primary:
        until(lambda: sides[OURS].text(OWN) is None and sides[OURS].text(OWN_LIST), "the list")
    else:
        watching[OURS].wait_complaint("stays as it is")
        assert sides[OURS].text(OWN)
    assert watching[OURS].process.running


@pytest.mark.parametrize("flags", [[], ["--multus-conf-file=/etc/passwd"]], ids=["auto", "copied"])
def test_ours_follows_the_token_with_default_flags(sides, account, flags):
    """F65."""
    running = []
    for side in sides.values():
        side.begin()
        side.place("net.d/10-primary.conf", PRIMARY)
        running.append(side.start(*flags).wait_installed())

    account.place("second")

    until(lambda: "second" in sides[OURS].text(KUBECONFIG), "the new token")
    for entrypoint in running:
        entrypoint.stop()
    assert "watch loop" not in running[1].out.read_text() and "first" in sides[ORIGINAL].text(KUBECONFIG)


def on_purpose(seen):
    """Of each what stays: the generated file, or the exit status."""
    return {who: status if status is not None else (files.get(OWN) or files[OWN_LIST])[1] for who, (status, files, *_) in seen.items()}


def test_ours_keeps_numbers_as_they_are_written(compare):
    """9007199254740993 is the first integer that a double does not hold."""
    seen = on_purpose(compare(primary='{"cniVersion":"0.3.1","name":"a","type":"b","n":[1.50,9007199254740993]}'))

    assert '"n":[1.50,9007199254740993]' in seen[OURS] and '"n":[1.5,9007199254740992]' in seen[ORIGINAL]


def test_a_capability_that_one_plugin_has_is_had(compare):
    plugins = [{"type": "a", "capabilities": {"x": True}}, {"type": "b", "capabilities": {"x": False}}]
    seen = on_purpose(compare(primary={"cniVersion": "1.0.0", "name": "l", "plugins": plugins}))

    assert '"capabilities": {"x":true}' in seen[OURS] and '"capabilities": {"x":false}' in seen[ORIGINAL]


def test_ours_does_not_crash_where_the_original_does(compare):
    """F70."""
    for wrong in ({"capabilities": ["x"]}, {"capabilities": {"x": "yes"}}, {"plugins": {}}):
        seen = on_purpose(compare(primary={**PRIMARY, **wrong}))
        assert '"delegates"' in seen[OURS] and seen[ORIGINAL] == 2, wrong
    assert on_purpose(compare(primary={**PRIMARY, "cniVersion": 1})) == {OURS: 1, ORIGINAL: 2}


def test_ours_writes_nothing_that_cannot_work(compare, account):
    """A Multus below Multus, a version that is none, no API server, half a service account."""
    cases = [{"primary": {**PRIMARY, **useless}} for useless in ({"type": "multus"}, {"cniVersion": "abc"}, {"cniVersion": "1.0.0-rc1"})]
    cases += [{"env": {name: None}} for name in ENVIRONMENT]
    for case in cases:
        seen = on_purpose(compare(**case))
        assert seen[OURS] == 1 and '"delegates"' in seen[ORIGINAL], case
    for token, ca in (("", PEM), ("x", ""), ("x", PEM[:40])):
        account.place(token, ca)
        seen = on_purpose(compare())
        assert seen[OURS] == 1 and '"delegates"' in seen[ORIGINAL], (token, ca)


def test_ours_makes_sense_of_flags_that_the_original_stumbles_over(compare):
    """F68: names with quotes."""
    seen = on_purpose(compare("--multus-cni-conf-dir="))
    assert "cniConf" not in seen[OURS] and seen[ORIGINAL] == 0
    seen = on_purpose(compare("--force-cni-version"))
    assert '"cniVersion": "0.3.1"' in seen[OURS] and '"cniVersion": ""' in seen[ORIGINAL]
    seen = on_purpose(compare("--override-network-name", primary={**PRIMARY, "name": 'a"b'}))
    assert json.loads(seen[OURS])["name"] == 'a"b'
    with pytest.raises(ValueError):
        json.loads(seen[ORIGINAL])
    for flag in ("--version", "-v"):
        assert on_purpose(compare(flag)) == {OURS: 0, ORIGINAL: 2}


def test_a_given_file_that_lies_there_already_is_not_removed_by_ours(sides):
    flags = ["--multus-conf-file=TOP/net.d/other", "--cleanup-config-on-exit"]
    ours, theirs = (ended(side, signal.SIGTERM, *flags) for side in sides.values())

    assert "net.d/other" in ours and "net.d/other" not in theirs


def test_ours_puts_its_file_back_and_follows_a_renamed_primary(sides):
    """F71, F72."""
    running = {}
    for who, side in sides.items():
        side.place("net.d/10-primary.conf", PRIMARY)
        running[who] = side.start("--cleanup-config-on-exit", "--rename-conf-file").wait_installed()
        side.place(OWN, None)
        side.place("net.d/10-primary.conf.old", {**PRIMARY, "name": "changed"})

    until(lambda: "changed" in (sides[OURS].text(OWN) or ""), "the new primary")
    until(lambda: "has been deleted" in running[ORIGINAL].out.read_text(), "the original's complaint")
    assert sides[ORIGINAL].text(OWN) is None
    assert [entrypoint.stop() for entrypoint in running.values()] == [0, 0]


def test_what_an_earlier_run_left_does_not_matter_to_ours(sides):
    """F66: the rest of a longer temporary file; F67: the sibling of another version."""
    texts = {}
    for who, side in sides.items():
        side.begin()
        side.place("net.d/10-primary.conf", {**PRIMARY, "cniVersion": "1.0.0"})
        side.place("net.d/00-multus.conf.new", "x" * 5000)
        side.place(OWN, {"cniVersion": "0.3.1"})
        _, files, *_ = side.tried()
        texts[who] = files[OWN_LIST][1], OWN in files

    assert "xxx" not in texts[OURS][0] and not texts[OURS][1]
    assert "xxx" in texts[ORIGINAL][0] and texts[ORIGINAL][1]
