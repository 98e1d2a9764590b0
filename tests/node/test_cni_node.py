"""cni-node on directories: command line, plugins, configurations, bad input (04, 1 and the rows of 04, 4)."""

import contextlib
import fcntl
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest

from harness.machine.wait import until
from harness.node.cni_node import PLUGINS, CniNode

CALICO = '{"name": "k8s", "plugins": [{"type": "calico"}]}'
MULTUS = '{"name": "m", "type": "multus-cni", "delegates": [\n   __10-calico.conflist__\n]}\n'


@pytest.fixture
def cni(program, tmp_path):
    node = CniNode(program("cni-node"), tmp_path)
    yield node
    node.close()


def usage_is_shown(done):
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Usage: cni-node" in done.stderr


@pytest.mark.spec("04:1")
def test_without_a_known_command_usage_goes_to_stderr(cni):
    usage_is_shown(cni.run())
    usage_is_shown(cni.run("bogus"))
    usage_is_shown(cni.run("instal"))
    assert cni.run("instal", "--plugins=macvlan").stderr.endswith("\nUnknown command: instal, did you mean \"install\"?\n")
    usage_is_shown(cni.run("--plugins=macvlan"))


@pytest.mark.spec("04:2")
def test_help_goes_to_stdout_and_names_everything(cni):
    for words in (["--help"], ["-h"], ["help"], ["install", "--help"], ["install", "--plugins=macvlan", "-h"]):
        done = cni.run(*words)
        assert done.returncode == 0 and done.stderr == ""
        for text in ("Usage: cni-node", "install", "uninstall", "apply", "watch", "list", "version", "--plugins=",
                     "--configs=", "--manifests=", "--pause", "--dry-run", "--host-root=", "--configmap="):
            assert text in done.stdout


@pytest.mark.spec("04:3")
def test_the_version_has_a_commit(cni):
    done = cni.run("version")
    assert done.returncode == 0 and cni.run("--version").stdout == done.stdout
    assert re.fullmatch(r"\S+ \(git-[0-9a-f]{8}\)\n", done.stdout)
    assert cni.run("version", "x").returncode == 2


@pytest.mark.spec("04:4", "04:5")
def test_list_shows_plugins_and_nothing_else(cni):
    (cni.plugin_source / ".hidden").write_text("")
    (cni.plugin_source / "folder").mkdir()
    (cni.plugin_source / "dangling").symlink_to("nowhere")
    (cni.plugin_source / "Zlink").symlink_to("vlan")

    done = cni.run("list", "-o", "name")

    assert done.returncode == 0
    assert done.stdout.splitlines() == sorted(["Zlink", *PLUGINS])
    assert [line.split()[0] for line in cni.run("list").stdout.splitlines()] == sorted(["Zlink", *PLUGINS])
    assert cni.run("list", "--plugin-source=/nowhere").returncode == 1
    assert cni.run("list", "x").stderr == "Unknown option: x\n"


@pytest.mark.spec("04:6")
@pytest.mark.parametrize("words, option", [
    (["install", "--foo=1"], "--foo"), (["install", "--plugins", "macvlan", "bridge"], "bridge"),
    (["install", "--pause=x"], "--pause"), (["install", "macvlan"], "macvlan"), (["watch", "--pause"], "--pause"),
    (["install", "--configmap=x"], "--configmap"), (["version", "--plugins=x"], "--plugins")])
def test_unknown_options_are_refused(cni, words, option):
    done = cni.run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Unknown option: {option}\n")


def test_a_value_may_be_the_next_word_as_for_kubectl(cni):
    assert cni.run("install", "--plugins", "macvlan", "--quiet").returncode == 0
    assert cni.installed() == ["macvlan"]
    done = cni.run("install", "--plugins", "--quiet")
    assert (done.returncode, done.stderr) == (2, "Missing value: --plugins\n")


@pytest.mark.spec("04:7")
def test_nothing_to_do_is_nothing_said(cni):
    for command in ("install", "uninstall", "apply"):
        done = cni.run(command)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.spec("04:8", "04:9")
def test_plugins_are_installed_once(cni):
    first = cni.run("install", "--plugins=macvlan,ipvlan")
    before = {path.name: path.stat() for path in cni.bin.iterdir()}
    second = cni.run("install", "--plugins=macvlan,ipvlan")

    expected = "Installing CNI plugin macvlan...\nInstalling CNI plugin ipvlan...\nDone.\n"
    assert (first.returncode, first.stdout) == (second.returncode, second.stdout) == (0, expected)
    assert "2 changed, 0 unchanged" in first.stderr and "0 changed, 2 unchanged" in second.stderr
    for name in ("macvlan", "ipvlan"):
        path = cni.bin / name
        assert path.read_text() == (cni.plugin_source / name).read_text()
        assert path.stat().st_mode & 0o7777 == 0o755
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before[name].st_ino, before[name].st_mtime_ns)


@pytest.mark.spec("04:10")
def test_installing_stops_at_the_first_failure(cni):
    done = cni.run("install", "--plugins=macvlan,nope,vlan")

    assert done.returncode == 1
    assert "Done." not in done.stdout
    assert "cni-node: nope: no such plugin in " in done.stderr
    assert cni.installed() == ["macvlan"]

    (hint,) = re.findall(r"`cni-node (.*?)`", done.stderr)
    shown = cni.run(*hint.split()).stdout
    assert "vlan" in shown and "nope" not in shown
    assert cni.run("install", "--plugins=macvlan,vlan").returncode == 0
    assert cni.installed() == ["macvlan", "vlan"]


BAD_NAMES = ["../evil", "/etc/passwd", "..", "..data", ".hidden", "-x", "a/b", "*", "a?b", "a" * 201, "a;b", "$(x)"]


@pytest.mark.spec("04:11", "04:12", "04:13", "04:25")
@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_touch_nothing(cni, name):
    cni.run("install", "--plugins=macvlan")
    for command, option in (("install", f"--plugins=vlan,{name}"), ("uninstall", f"--plugins=macvlan,{name}"),
                            ("apply", f"--plugins=vlan:{name}"), ("install", f"--configs={name}"),
                            ("install", f"--manifests={name}")):
        done = cni.run(command, "--plugins=vlan", option)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"Invalid name: {name}\n")
    assert cni.installed() == ["macvlan"]


def test_names_with_blanks_are_two_names(cni):
    done = cni.run("install", "--plugins=macvlan ipvlan")
    assert done.returncode == 0
    assert cni.installed() == ["ipvlan", "macvlan"]


@pytest.mark.spec("04:14", "04:15")
def test_uninstalling_reverses_the_order(cni):
    cni.run("install", "--plugins=macvlan,ipvlan,vlan")
    done = cni.run("uninstall", "--plugins=macvlan,ipvlan,vlan")

    assert done.stdout == "".join(f"Uninstalling CNI plugin {name}...\n" for name in ("vlan", "ipvlan", "macvlan")) \
        + "Done.\n"
    assert cni.installed() == []
    again = cni.run("uninstall", "--plugins=nothere")
    assert again.returncode == 0 and again.stdout.endswith("Done.\n")


def test_uninstalling_goes_on_after_a_failure(cni):
    cni.run("install", "--plugins=macvlan,vlan")
    (cni.bin / "ipvlan").mkdir()

    done = cni.run("uninstall", "--plugins=macvlan,ipvlan,vlan")

    assert done.returncode == 1
    assert "cni-node: ipvlan: " in done.stderr and "is a directory" in done.stderr
    assert cni.installed() == ["ipvlan"]


@pytest.mark.spec("04:16", "04:17", "04:18", "04:19", "04:20", "04:21", "04:113")
@pytest.mark.parametrize("lists, there, installs, uninstalls", [
    ("multus-cni,macvlan:host-device,multus-cni,ipvlan", ["host-device", "multus-cni", "ipvlan"], ["macvlan"],
     ["ipvlan", "host-device"]),
    ("vlan:vlan,macvlan", ["vlan", "macvlan"], [], ["macvlan"]),
    ("vlan,macvlan:vlan", ["vlan"], ["macvlan"], []),
    ("a.b:a.b,axb", ["a.b", "axb"], [], ["axb"]),
    ("a+b:", [], ["a+b"], []),
    ("macvlan", [], ["macvlan"], []),
    (":macvlan", ["macvlan"], [], ["macvlan"]),
    ("macvlan:", [], ["macvlan"], [])])
def test_apply_does_exactly_the_difference(cni, lists, there, installs, uninstalls):
    for name in ("a.b", "axb", "a+b"):
        cni.add_plugin(name)
    if there:
        cni.run("install", f"--plugins={','.join(there)}")
    inodes = {name: (cni.bin / name).stat().st_ino for name in there}

    done = cni.run("apply", f"--plugins={lists}")

    assert done.returncode == 0
    lines = [f"Installing CNI plugin {name}..." for name in installs] + ["Done."] * bool(installs)
    lines += [f"Uninstalling CNI plugin {name}..." for name in uninstalls] + ["Done."] * bool(uninstalls)
    assert done.stdout.splitlines() == lines
    assert cni.installed() == sorted({*there, *installs} - {*uninstalls})
    for name in set(there) - set(uninstalls):
        assert (cni.bin / name).stat().st_ino == inodes[name]


@pytest.mark.spec("04:22", "04:23", "04:24", "04:26")
def test_lists_are_read_with_care(cni):
    assert cni.run("apply", "--plugins=a:b:c").returncode == 2
    done = cni.run("install", "--plugins= macvlan ,\n ipvlan,,macvlan")
    assert done.stdout.count("macvlan") == 1
    assert cni.installed() == ["ipvlan", "macvlan"]
    cni.run("uninstall", "--plugins=macvlan,ipvlan")
    cni.run("install", "--plugins=macvlan", "--plugins=ipvlan")
    assert cni.installed() == ["ipvlan"]


@pytest.mark.spec("04:25")
def test_a_star_is_no_pattern(cni):
    done = cni.run("install", "--plugins=*")
    assert done.returncode == 2 and cni.installed() == []


@pytest.mark.spec("04:27", "04:28")
def test_kinds_have_an_order(cni):
    (cni.templates / "a.conf").write_text("{}")
    (cni.templates / "b.conf").write_text("{}")

    done = cni.run("apply", "--plugins=vlan:macvlan", "--configs=a.conf:b.conf", "--quiet")
    assert [line.split(" ")[0] + " " + line.split(" ")[2] for line in done.stdout.splitlines() if line != "Done."] == [
        "Installing plugin", "Installing configuration", "Uninstalling configuration", "Uninstalling plugin"]

    (cni.manifests / "m.yaml").write_text("# nothing\n")
    done = cni.run("uninstall", "--plugins=vlan,macvlan", "--configs=a.conf,b.conf", "--manifests=m.yaml", "--quiet",
                   KUBECONFIG=str(kubeconfig_to_nowhere(cni)))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "Uninstalling CNI configuration b.conf...", "Uninstalling CNI configuration a.conf...", "Done.",
        "Uninstalling CNI plugin macvlan...", "Uninstalling CNI plugin vlan...", "Done.",
        "Deleting Kubernetes object...", "Done."]


def kubeconfig_to_nowhere(cni):
    path = cni.folder / "kubeconfig"
    path.write_text(json.dumps({"current-context": "c", "clusters": [
        {"name": "k", "cluster": {"server": "http://127.0.0.1:1"}}], "contexts": [
            {"name": "c", "context": {"cluster": "k"}}]}))
    return path


@pytest.mark.spec("04:29")
def test_a_running_plugin_is_replaced(cni):
    cni.bin.mkdir(parents=True)
    target = cni.bin / "macvlan"
    target.write_bytes(open("/bin/sleep", "rb").read())
    target.chmod(0o755)
    running = subprocess.Popen([target, "60"])
    try:
        done = cni.run("install", "--plugins=macvlan")
        assert done.returncode == 0, done.stderr
        assert target.read_text() == (cni.plugin_source / "macvlan").read_text()
        assert running.poll() is None
    finally:
        running.kill()
        running.wait()


@pytest.mark.spec("04:30")
def test_a_link_is_replaced_and_a_directory_refused(cni):
    cni.bin.mkdir(parents=True)
    (cni.folder / "other").write_text("other")
    (cni.bin / "macvlan").symlink_to(cni.folder / "other")
    (cni.bin / "ipvlan").mkdir()

    assert cni.run("install", "--plugins=macvlan").returncode == 0
    refused = cni.run("install", "--plugins=ipvlan")

    assert not (cni.bin / "macvlan").is_symlink()
    assert (cni.folder / "other").read_text() == "other"
    assert refused.returncode == 1 and "is a directory" in refused.stderr
    (cni.net / "x.conf").symlink_to(cni.folder / "other")
    assert cni.run("uninstall", "--configs=x.conf").returncode == 0
    assert (cni.folder / "other").exists() and cni.configs() == []


def mounted(cni, options, *words):
    """The command with something mounted over the plugin directory, in a mount namespace of its own."""
    script = f"mount {options} {cni.bin} && exec \"$@\""
    return subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", cni.program, *words], env=cni.env,
                          capture_output=True, text=True, timeout=180)


@pytest.mark.spec("04:31")
def test_a_read_only_directory_stays_as_it_is(cni):
    cni.run("install", "--plugins=macvlan")
    cni.add_plugin("macvlan", "new")
    done = mounted(cni, f"--bind -o ro {cni.bin}", "install", "--plugins=macvlan")
    if "read-only" not in done.stderr:  # older mount: a remount is needed
        done = subprocess.run(["unshare", "-m", "sh", "-ec",
                               f"mount --bind {cni.bin} {cni.bin}; mount -o remount,ro,bind {cni.bin}; exec \"$@\"",
                               "sh", cni.program, "install", "--plugins=macvlan"], env=cni.env, capture_output=True,
                              text=True, timeout=180)
    assert done.returncode == 1
    assert "read-only file system" in done.stderr
    assert cni.installed() == ["macvlan"]
    assert (cni.bin / "macvlan").read_text() != "new"


def test_a_full_disk_leaves_the_old_plugin_and_nothing_else(cni):
    cni.bin.mkdir(parents=True)
    cni.add_plugin("macvlan", "x" * 300_000)
    script = (f"mount -t tmpfs -o size=64k none {cni.bin}; echo old > {cni.bin}/macvlan; "
              f"\"$@\" && exit 9; ls -a {cni.bin}; cat {cni.bin}/macvlan")
    done = subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", cni.program, "install", "--plugins=macvlan"],
                          env=cni.env, capture_output=True, text=True, timeout=180)
    assert "no space left on device" in done.stderr
    assert done.stdout.splitlines()[-4:] == [".", "..", "macvlan", "old"]


@pytest.mark.failpoints
@pytest.mark.spec("04:32")
def test_a_kill_in_the_middle_of_a_write_leaves_the_old_file(cni):
    (cni.templates / "x.conf").write_text('{"old": 1}\n')
    cni.run("install", "--configs=x.conf")
    (cni.templates / "x.conf").write_text('{"new": 1}\n')

    killed = cni.run("install", "--configs=x.conf", MULTUS_FAILPOINTS="directory-before-rename=crash")

    assert killed.returncode == -signal.SIGKILL
    assert (cni.net / "x.conf").read_text() == '{"old": 1}\n'
    left = [name for name in cni.configs() if name != "x.conf"]
    assert len(left) == 1 and left[0].startswith(".cni-node.x.conf.")
    assert not left[0].endswith((".conf", ".conflist", ".json"))

    long_ago = time.time() - 7200
    os.utime(cni.net / left[0], (long_ago, long_ago))
    assert cni.run("install", "--configs=x.conf").returncode == 0
    assert cni.configs() == ["x.conf"] and (cni.net / "x.conf").read_text() == '{"new": 1}\n'


def install_config(cni, text, *words, name="05-m.conf", **files):
    for file, content in files.items():
        (cni.net / file.replace("_", ".")).write_text(content)
    (cni.templates / name).write_text(text)
    return cni.run("install", f"--configs={name}", *words)


@pytest.mark.spec("04:33", "04:34")
@pytest.mark.parametrize("calico", ['{"x":1}', '{"x":1}\n', '{"x":1}\n\n'])
def test_a_pointer_is_replaced_by_its_file(cni, calico):
    (cni.net / "10-calico.conflist").write_text(calico)

    done = install_config(cni, '{"d": [\n   __10-calico.conflist__\n]}\n')

    content = '{"d": [\n{"x":1}\n]}\n'
    assert done.stdout == ("Installing CNI configuration from 05-m.conf...\n### 05-m.conf ###\n" + content
                           + "###\nDone.\n")
    assert (cni.net / "05-m.conf").read_text() == content
    assert (cni.net / "05-m.conf").stat().st_mode & 0o7777 == 0o644


@pytest.mark.parametrize("words", [(), ("--dry-run",)])
def test_what_is_not_for_everyone_is_installed_and_not_printed(cni, words):
    """A pointer may bring a token into a configuration, and more people read logs than files of mode 0600."""
    (cni.net / "token.json").write_text('"s3cr3t"')
    (cni.net / "token.json").chmod(0o600)

    done = install_config(cni, '{"token": __token.json__}\n', *words)

    assert done.returncode == 0 and "s3cr3t" not in done.stdout + done.stderr
    assert "### 05-m.conf ###\n(20 bytes, not shown: the file is not readable for everyone)\n###" in done.stdout
    if not words:
        assert (cni.net / "05-m.conf").read_text() == '{"token": "s3cr3t"}\n'
        assert "s3cr3t" not in cni.run("uninstall", "--configs=05-m.conf", "--dry-run").stdout


def test_templates_and_manifests_that_are_not_for_everyone_are_not_printed(cni):
    (cni.templates / "a.conf").write_text('{"token": "s3cr3t"}\n')
    (cni.templates / "a.conf").chmod(0o400)
    (cni.manifests / "m.yaml").write_text("# s3cr3t\n")
    (cni.manifests / "m.yaml").chmod(0o600)

    done = cni.run("install", "--configs=a.conf", "--manifests=m.yaml", KUBECONFIG=str(kubeconfig_to_nowhere(cni)))

    assert done.returncode == 0, done.stderr
    assert "s3cr3t" not in done.stdout + done.stderr
    assert (cni.net / "a.conf").stat().st_mode & 0o7777 == 0o600


@pytest.mark.spec("04:35", "04:36", "04:38", "04:39", "04:42")
@pytest.mark.parametrize("template, content", [
    ('{"d":[ __c.conflist__ ]}', '{"d":[ {"x":1} ]}\n'),
    ('{"d":[__a.conf__, __b.conf__,\n__a.conf__,\n1]}', '{"d":[{"a":1}, {"b":"__a.conf__"},\n{"a":1},\n1]}\n'),
    ('{"my__var__x":1}', '{"my__var__x":1}\n'),
    ('{"x":\n__noext__\n}', '{"x":\n2\n}\n')])
def test_templates_are_expanded(cni, template, content):
    done = install_config(cni, template, c_conflist='{"x":1}\n', a_conf='{"a":1}', b_conf='{"b":"__a.conf__"}',
                          noext="2")
    assert done.returncode == 0, done.stderr
    assert (cni.net / "05-m.conf").read_text() == content


@pytest.mark.spec("04:37", "04:40", "04:41", "04:43")
@pytest.mark.parametrize("template, words, reason", [
    (MULTUS, [], "pointer file 10-calico.conflist not found"),
    ('{"a": __../secret.conf__}', [], "not valid JSON after expansion: line 1, column 7"),
    ('{"d": __05-m.conf__}', [], "refers to itself"),
    ("x", [], "not valid JSON after expansion: line 1, column 1"),
    ("[1]", [], "not valid JSON after expansion: "),
    ("{\0}", [], "NUL"),
    ('{"type": "multus", "d": __multus.conf__}', [], "multus inside multus"),
    ('{"d": __folder.conf__}', [], "pointer file folder.conf: "),
    ('{"d": __large.conf__}', [], "pointer file large.conf: ")])
def test_a_bad_configuration_leaves_the_old_one(cni, template, words, reason):
    (cni.net / "multus.conf").write_text('{"plugins": [{"type": "multus-shim"}]}')
    (cni.net / "folder.conf").mkdir()
    (cni.net / "large.conf").write_text("1" * ((1 << 20) + 1))
    (cni.net / "05-m.conf").write_text("before")

    done = install_config(cni, template, *words)

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("cni-node: 05-m.conf: ") and reason in done.stderr
    assert (cni.net / "05-m.conf").read_text() == "before"


@pytest.mark.spec("04:43")
def test_validation_is_for_configurations_only(cni):
    assert install_config(cni, "x", "--no-validate").returncode == 0
    assert install_config(cni, "x", name="x.env").returncode == 0
    assert cni.configs() == ["05-m.conf", "x.env"]


def test_a_missing_template_is_only_an_error(cni):
    done = cni.run("install", "--configs=nope.conf")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cni-node: nope.conf: no such template in " in done.stderr
    done = cni.run("install", "--manifests=nope.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "cni-node: nope.yaml: no such manifest in " in done.stderr
    assert cni.run("uninstall", "--configs=nope.conf").returncode == 0


@pytest.mark.spec("04:44", "04:45")
def test_modes_and_links_of_what_is_read(cni):
    (cni.net / "secret.conf").write_text("{}")
    (cni.net / "secret.conf").chmod(0o600)
    volume = cni.templates / "..2024"
    volume.mkdir()
    (volume / "05-m.conf").write_text('{"s": __secret.conf__}')
    (cni.templates / "..data").symlink_to("..2024")
    (cni.templates / "05-m.conf").symlink_to("..data/05-m.conf")

    assert cni.run("install", "--configs=05-m.conf").returncode == 0

    result = cni.net / "05-m.conf"
    assert result.is_file() and not result.is_symlink()
    assert result.stat().st_mode & 0o7777 == 0o600


@pytest.mark.spec("04:46", "04:47")
def test_directories_can_be_chosen(cni, tmp_path):
    (cni.templates / "x.conf").write_text("{}")
    root = tmp_path / "h"
    done = cni.run("install", "--plugins=macvlan", "--configs=x.conf", f"--host-root={root}")
    assert done.returncode == 0
    assert (root / "opt/cni/bin/macvlan").exists() and (root / "etc/cni/net.d/x.conf").exists()

    env, option = tmp_path / "env", tmp_path / "option"
    cni.run("install", "--plugins=macvlan", CNI_NODE_PLUGIN_TARGET=str(env))
    cni.run("install", "--plugins=macvlan", f"--plugin-target={option}", CNI_NODE_PLUGIN_TARGET=str(env / "x"))
    assert [path.name for path in env.iterdir()] == [path.name for path in option.iterdir()] == ["macvlan"]
    assert cni.run("install", "--plugins=macvlan", "--plugin-target=relative").returncode == 2


@pytest.mark.spec("04:48")
def test_source_and_target_must_differ(cni, tmp_path):
    (tmp_path / "link").symlink_to(cni.plugin_source)
    for target in (cni.plugin_source, tmp_path / "link"):
        done = cni.run("install", "--plugins=macvlan", f"--plugin-target={target}")
        assert done.returncode == 2 and "same directory" in done.stderr
    assert cni.run("uninstall", "--configs=x", f"--config-target={cni.templates}").returncode == 2


@pytest.mark.spec("04:49", "04:50", "04:51")
def test_variables_of_manifests(cni):
    (cni.manifests / "m.yaml").write_text("# $A ${A} $Ab $$A \\$A ${A:-d} $1 ${A\n")
    nowhere = {"KUBECONFIG": str(kubeconfig_to_nowhere(cni)), "A": "1"}

    done = cni.run("install", "--manifests=m.yaml", **nowhere)
    assert done.returncode == 0, done.stderr
    assert "### m.yaml ###\n# 1 1  $1 \\1 ${A:-d} $1 ${A\n###\n" in done.stdout
    assert "cni-node: m.yaml: variable Ab is not set\n" in done.stderr

    strict = cni.run("install", "--manifests=m.yaml", "--strict-env", **nowhere)
    assert (strict.returncode, strict.stdout) == (1, "")
    assert "cni-node: m.yaml: variable Ab is not set\n" in strict.stderr

    (cni.manifests / "m.yaml").write_text("# $A $B\n")
    limited = cni.run("install", "--manifests=m.yaml", "--env=B", B="2", **nowhere)
    assert "# $A 2\n" in limited.stdout and limited.returncode == 0


@pytest.mark.spec("04:67")
def test_secrets_are_not_shown(cni):
    (cni.manifests / "m.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n")
    done = cni.run("install", "--manifests=m.yaml")
    assert done.returncode == 1
    assert "### m.yaml ###\n(content withheld)\n###\n" in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
    assert "no Kubernetes API access configured" in done.stderr


@pytest.mark.spec("04:68", "04:70")
def test_a_pause_ends_at_once_and_holds_nothing(cni):
    paused = cni.start("install", "--plugins=macvlan,vlan", "--pause").wait_for("Paused")

    assert cni.run("uninstall", "--plugins=vlan").returncode == 0
    begun = time.monotonic()
    assert paused.stop() == 0

    assert time.monotonic() - begun < 5
    assert paused.stdout.splitlines()[-3:] == [
        "Done.", "Paused (waiting for SIGTERM or SIGINT to stop)...", "Stopped."]
    assert cni.installed() == ["macvlan"]


@pytest.mark.spec("04:69")
def test_no_pause_after_a_failure(cni):
    done = cni.run("install", "--plugins=nope", "--pause")
    assert done.returncode == 1 and "Paused" not in done.stdout


@pytest.mark.failpoints
def test_a_signal_lets_the_current_item_finish(cni):
    go = cni.folder / "go"
    running = cni.start("install", "--plugins=macvlan,vlan", MULTUS_FAILPOINTS=f"directory-before-rename=wait:{go}")
    until((cni.folder / "go.here").exists, "the first item")
    running.process.send_signal(signal.SIGTERM)
    go.touch()
    assert running.process.wait(90) == 128 + signal.SIGTERM
    assert cni.installed() == ["macvlan"]

    go.unlink()
    (cni.folder / "go.here").unlink()
    last = cni.start("install", "--plugins=ipvlan", "--pause", MULTUS_FAILPOINTS=f"directory-before-rename=wait:{go}")
    until((cni.folder / "go.here").exists, "the last item")
    last.process.send_signal(signal.SIGINT)
    go.touch()
    assert last.process.wait(90) == 0
    assert last.stdout.endswith("Stopped.\n")


@pytest.mark.spec("04:71")
def test_two_at_once_leave_one_complete_version(cni):
    versions = ['{"v": "%s"}\n' % (letter * 5000) for letter in "ab"]
    sources = []
    for number, text in enumerate(versions):
        folder = cni.folder / f"templates-{number}"
        folder.mkdir()
        (folder / "x.conf").write_text(text)
        sources.append(folder)
    stop, bad = threading.Event(), []

    def read():
        while not stop.is_set():
            try:
                text = (cni.net / "x.conf").read_text()
            except FileNotFoundError:
                continue
            if text not in versions:
                bad.append(text)

    def write(source):
        for _ in range(50):
            done = cni.run("install", "--configs=x.conf", "--quiet", f"--config-source={source}")
            if done.returncode != 0:
                bad.append(done.stderr)
    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=[source]) for source in sources]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    reader.join()

    assert bad == []
    assert cni.configs() == ["x.conf"]


def has_open(pid, path):
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed while we looked
            if os.readlink(f"/proc/{pid}/fd/{fd}") == str(path):
                return True
    return False


def test_a_lock_that_stays_is_waited_for_no_longer_than_30_seconds_by_others(cni):
    """The lock is on the directory itself; cni-node waits for a process that holds it only for a moment."""
    (cni.templates / "x.conf").write_text("{}")
    folder = os.open(cni.net, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    waiting = cni.start("install", "--configs=x.conf")
    until(lambda: has_open(waiting.process.pid, cni.net), lambda: f"it asks for the lock:\n{waiting.stderr}")
    assert cni.configs() == []
    os.close(folder)
    assert waiting.process.wait(90) == 0 and cni.configs() == ["x.conf"]


def test_a_dry_run_shows_the_difference_and_changes_nothing(cni):
    (cni.net / "10-calico.conflist").write_text(CALICO)
    install_config(cni, MULTUS)
    cni.run("install", "--plugins=vlan")
    before = (cni.net / "05-m.conf").read_text()
    (cni.templates / "05-m.conf").write_text(MULTUS.replace('"m"', '"n"'))
    (cni.templates / "06-n.conf").write_text("[__05-m.conf__]".replace("[", '{"x": [').replace("]", "]}"))

    done = cni.run("apply", "--plugins=macvlan:vlan", "--configs=05-m.conf,06-n.conf", "--dry-run", "--quiet")
    shown = cni.run("install", "--configs=05-m.conf", "--dry-run")

    assert done.returncode == 0
    assert f"{cni.bin}/macvlan would be created" in done.stdout
    assert f"{cni.bin}/vlan would be removed" in done.stdout
    assert f"{cni.net}/06-n.conf would be created" in done.stdout
    assert '-{"name": "m", "type"' in shown.stdout and '+{"name": "n", "type"' in shown.stdout
    assert "1 would change" in shown.stderr
    assert (cni.net / "05-m.conf").read_text() == before
    assert cni.installed() == ["vlan"] and "06-n.conf" not in cni.configs()


def test_a_container_without_the_volume_is_warned(cni):
    """The target is the default one, and nothing is mounted there."""
    env = {key: value for key, value in cni.env.items() if key != "CNI_NODE_HOST_ROOT"}
    script = "mount -t tmpfs none /mnt; mkdir /mnt/host; exec \"$@\""
    done = subprocess.run(["unshare", "-m", "sh", "-ec", script, "sh", cni.program, "install", "--plugins=macvlan",
                           "--host-root=/mnt/host"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and "not a mount point" not in done.stderr  # below a mount
    root = cni.folder / "plain"
    done = subprocess.run([cni.program, "install", "--plugins=macvlan", f"--host-root={root}"], env=env,
                          capture_output=True, text=True)
    assert done.returncode == 0
    mounts = open("/proc/self/mountinfo").read().split()
    if str(cni.folder).split("/")[1] not in (point.strip("/") for point in mounts):
        assert "not a mount point" in done.stderr
