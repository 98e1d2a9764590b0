"""Images as scripts/image makes them of a release build, unpacked."""

import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ["cni-node", "kube-watch"]
VERSION = (ROOT / "VERSION").read_text().strip()


def build():
    return Path(os.environ.get("MNET_BIN", ROOT / "build" / "release" / "bin")).resolve().parent


def make(out, *options, **how):
    return subprocess.run([ROOT / "scripts" / "image", "--build", build(), "--out", out, *options], capture_output=True,
                          text=True, **how)


class Made:
    """One image out of a folder that scripts/image wrote to: its configuration and its files."""

    def __init__(self, title, folder, said):
        self.title, self.said = title, said
        self.archive = folder / f"{title}-{VERSION}.tar"
        self.layout = folder / f"{title}-{VERSION}.oci"
        self.bill = folder / f"{title}-{VERSION}.spdx.json"
        index = json.loads((self.layout / "index.json").read_bytes())
        self.manifest = self.blob(index["manifests"][0])
        self.config = self.blob(self.manifest["config"])
        self.root = folder / f"{title}.root"
        with tarfile.open(self._path(self.manifest["layers"][0])) as layer:
            self.entries = {"/" + name for name in layer.getnames()}
            layer.extractall(self.root, numeric_owner=True)

    def _path(self, descriptor):
        return self.layout / "blobs" / "sha256" / descriptor["digest"].removeprefix("sha256:")

    def blob(self, descriptor):
        return json.loads(self._path(descriptor).read_bytes())

    def layer_size(self):
        """Compressed, in bytes."""
        return sum(layer["size"] for layer in self.manifest["layers"])

    def sizes(self):
        """Compressed and unpacked, in MB, as the last line says."""
        found = re.fullmatch(r"\S+:\S+ ([\d.]+) MB compressed, ([\d.]+) MB unpacked", self.said.splitlines()[-1])
        return float(found[1]), float(found[2])

    def files(self):
        """Regular files, as paths inside the image."""
        return {"/" + str(path.relative_to(self.root)) for path in self.root.rglob("*")
                if path.is_file() and not path.is_symlink()}

    def run(self, *words, **options):
        """In the image's own root, with its environment and nothing else."""
        environment = dict(entry.split("=", 1) for entry in self.config["config"]["Env"])
        return subprocess.run(["/usr/sbin/chroot", self.root, *words], env=environment, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=30, **options)


def made(folder, *titles):
    done = make(folder, *(word for title in titles for word in ("--only", title)))
    assert done.returncode == 0, done.stderr
    return {title: Made(title, folder, done.stdout) for title in titles}
