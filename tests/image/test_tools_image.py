"""The cni-node and kube-watch images (04, 0)."""

import hashlib
import json
import os
import re
import subprocess

import pytest

from harness.images.made_image import TOOLS

# 04, 0: at least these.
PROMISED = ["bridge", "dhcp", "flannel", "host-device", "host-local", "ipvlan", "loopback", "macvlan", "portmap", "ptp",
            "tuning", "vlan", "multus-cni", "multus", "multus-shim", "passthru"]
# Existing manifests mount volumes over these.
MOUNTED_OVER = ("/usr/local/bin", "/etc/cni/net.d", "/etc/kubernetes/manifests", "/usr/share/kube-watch")


def entry(image, *words):
    return image.run(*image.config["config"]["Entrypoint"], *words)


@pytest.mark.spec("04:117", "04:118")
@pytest.mark.parametrize("title", TOOLS)
def test_without_arguments_it_says_how_it_is_used(tools, title):
    image = tools[title]
    done = entry(image)
    assert done.returncode == 2
    assert f"Usage: {title}" in done.stderr
    assert "Cmd" not in image.config["config"] and "User" not in image.config["config"]


def test_kube_watch_has_no_plugins_and_is_small(tools):
    image = tools["kube-watch"]
    assert not [entry for entry in image.entries if entry.startswith("/opt") or entry == "/bin/cni-node"]
    assert image.layer_size() <= 12_000_000
    assert "/bin/kube-watch" in tools["cni-node"].entries


@pytest.mark.spec("04:117")
def test_it_lists_every_promised_plugin(tools):
    listed = entry(tools["cni-node"], "list", "-o", "name").stdout.splitlines()
    assert set(PROMISED) <= set(listed)
    assert listed == sorted(listed)
    for plugin in json.loads(entry(tools["cni-node"], "list", "-o", "json").stdout)["plugins"]:
        content = (tools["cni-node"].root / "opt/cni/bin" / plugin["name"]).read_bytes()
        assert plugin["sha256"] == hashlib.sha256(content).hexdigest()
        assert re.fullmatch(r"\d+\.\d+\.\d+\S*", plugin["version"]), plugin


@pytest.mark.spec("04:117")
def test_it_puts_plugins_onto_the_node(tools):
    image = tools["cni-node"]
    done = entry(image, "install", "--plugins=flannel,ipvlan,multus-cni")
    assert done.returncode == 0, done.stderr
    assert set(os.listdir(image.root / "host/opt/cni/bin")) == {"flannel", "ipvlan", "multus-cni"}


@pytest.mark.spec("04:117")
def test_it_puts_configurations_onto_the_node(tools):
    image = tools["cni-node"]
    (image.root / "etc/cni/net.d").mkdir(parents=True, exist_ok=True)
    (image.root / "etc/cni/net.d/10-ipvlan.conf").write_text('{"type": "ipvlan"}\n')
    done = entry(image, "install", "--configs=10-ipvlan.conf")
    assert done.returncode == 0, done.stderr
    assert (image.root / "host/etc/cni/net.d/10-ipvlan.conf").read_text() == '{"type": "ipvlan"}\n'


def test_what_it_puts_onto_nodes_runs_on_any(tools):
    for path in (tools["cni-node"].root / "opt/cni/bin").iterdir():
        assert "INTERP" not in subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout, path.name


@pytest.mark.spec("04:118")
def test_scripts_of_users_run(tools):
    """Handlers and watchers are scripts, for one of two shells, found by PATH."""
    image = tools["cni-node"]
    assert image.config["config"]["Env"] == ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    for shell in ("/bin/sh", "/bin/bash"):
        script = image.root / "tmp" / "handler"
        script.write_text(f'#!{shell}\necho "$1,$2" | sed s/,/+/ && which {" ".join(TOOLS)}\n')
        script.chmod(0o755)
        assert image.run("/tmp/handler", "a b", "c").stdout == "".join(["a b+c\n", *(f"/bin/{title}\n" for title in TOOLS)])


@pytest.mark.parametrize("title", TOOLS)
def test_scripts_for_bash_run(tools, title):
    """Arrays, here-strings, regular expressions; and who they are."""
    image = tools[title]
    script = image.root / "tmp" / "handler"
    script.write_text("""#!/bin/bash
fruits=(orange apple)
read -r first rest <<< "${fruits[*]}"
[[ $rest =~ ^a(.*)e$ ]] && echo "$first ${BASH_REMATCH[1]} $(whoami) ~"
""")
    script.chmod(0o755)
    done = image.run("/tmp/handler")
    assert done.stdout == "orange ppl root ~\n", done.stderr
    assert image.run("/bin/bash", "-c", "echo ~").stdout == "/root\n"


def test_nothing_of_ours_is_where_volumes_are_mounted(tools):
    entries = tools["cni-node"].entries
    assert not [entry for entry in entries if entry.startswith(MOUNTED_OVER) or entry == "/bin/kubectl"]


@pytest.mark.parametrize("title", TOOLS)
def test_the_version_files_hold_what_the_commands_print(tools, title):
    image = tools[title]
    assert (image.root / f"{title}-version").read_text() == image.run(f"/bin/{title}", "version").stdout


def test_licences_of_plugins_and_busybox_are_in_it(tools):
    image = tools["cni-node"]
    packages = {package["name"]: package["licenseDeclared"] for package in json.loads(image.bill.read_bytes())["packages"]}
    assert packages["busybox"] == "GPL-2.0-only" and packages["bash"] == "GPL-3.0-or-later"
    modules = [name for name in packages if name.startswith("github.com/containernetworking/plugins@")]
    assert len(modules) == 2
    for module in modules:
        assert "Apache License" in (image.root / "usr/share/doc" / module / "LICENSE").read_text()
