"""The cni-node and kube-watch images: one content, two entry points (04, 0)."""

import json
import os
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


def test_both_have_the_same_content(tools):
    assert len({json.dumps(tools[title].manifest["layers"]) for title in TOOLS}) == 1


@pytest.mark.spec("04:117")
def test_it_lists_every_promised_plugin(tools):
    listed = entry(tools["cni-node"], "list").stdout.splitlines()
    assert set(PROMISED) <= set(listed)
    assert listed == sorted(listed)


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


def test_nothing_of_ours_is_where_volumes_are_mounted(tools):
    entries = tools["cni-node"].entries
    assert not [entry for entry in entries if entry.startswith(MOUNTED_OVER) or entry == "/bin/kubectl"]


@pytest.mark.parametrize("title", TOOLS)
def test_the_version_files_hold_what_the_commands_print(tools, title):
    image = tools["cni-node"]
    assert (image.root / f"{title}-version").read_text() == image.run(f"/bin/{title}", "version").stdout


def test_licences_of_plugins_and_busybox_are_in_it(tools):
    image = tools["cni-node"]
    packages = {package["name"]: package["licenseDeclared"] for package in json.loads(image.bill.read_bytes())["packages"]}
    assert packages["busybox"] == "GPL-2.0-only"
    modules = [name for name in packages if name.startswith("github.com/containernetworking/plugins@")]
    assert len(modules) == 2
    for module in modules:
        assert "Apache License" in (image.root / "usr/share/doc" / module / "LICENSE").read_text()
