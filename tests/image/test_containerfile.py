"""The last stage of the Containerfile, with the image's own root in place of the build, which needs a registry."""

import json
import subprocess

from harness.images.made_image import ROOT

# Everything that podman keeps goes with the namespace.
PODMAN = """mount -t tmpfs none /run && mount -t tmpfs none /var/lib && cd "$1" &&
id=$(podman --storage-driver vfs build -q --isolation chroot --target multus -f "$2" .) &&
podman --storage-driver vfs image inspect "$id" """


def stages():
    """The text of each stage, by name."""
    pieces = (ROOT / "Containerfile").read_text().split("\nFROM ")[1:]
    return {piece.split("\n")[0].split()[-1]: f"FROM {piece}\n" for piece in pieces}


def test_the_last_stage_runs_what_the_image_runs(multus, tmp_path):
    containerfile = tmp_path / "Containerfile"
    containerfile.write_text("FROM scratch AS multus-root\nCOPY multus.root/ /image/\n" + stages()["multus"])
    done = subprocess.run(["unshare", "--mount", "sh", "-c", PODMAN, "sh", multus.root.parent, containerfile],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)[0]["Config"]
    wanted = multus.config["config"]
    assert (seen["Entrypoint"], seen["Env"]) == (wanted["Entrypoint"], wanted["Env"])


def test_each_image_has_a_stage():
    assert {"multus", "cni-node", "kube-watch"} <= set(stages())
