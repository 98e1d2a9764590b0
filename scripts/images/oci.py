"""Container images as plain files: a tree of entries, its layer, an OCI layout and a docker archive of it. Knows nothing of
what is in them. The same tree and date give the same bytes on every machine."""

import gzip
import hashlib
import io
import json
import os
import tarfile
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath

LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def time_text(date):
    return datetime.fromtimestamp(date, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_json(value):
    return json.dumps(value, separators=(",", ":"), sort_keys=True).encode()


class Tree:
    """The files of an image by absolute path: bytes with a mode, or the target of a link, or a folder (content None)."""

    def __init__(self):
        self.entries = {}

    def folder(self, path, mode=0o755):
        self._add(path, (None, mode))

    def file(self, path, content, mode=0o644):
        self._add(path, (content, mode))

    def link(self, path, target):
        self._add(path, (target, 0o777))

    def _add(self, path, entry):
        path = PurePosixPath(path)
        for parent in path.parents[:-1]:
            self.entries.setdefault(parent, (None, 0o755))
        if self.entries.get(path, entry) != entry:
            raise ValueError(f"{path} is there twice")
        self.entries[path] = entry

    def size(self):
        return sum(len(content) for content, _ in self.entries.values() if isinstance(content, bytes))

    def tar(self, date):
        """Owned by root, sorted, every time stamp the same."""
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path, (content, mode) in sorted(self.entries.items()):
                info = tarfile.TarInfo(str(path).lstrip("/"))
                info.mode, info.mtime = mode, date
                if isinstance(content, bytes):
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))
                    continue
                info.type = tarfile.DIRTYPE if content is None else tarfile.SYMTYPE
                info.linkname = content or ""
                tar.addfile(info)
        return out.getvalue()


    def write(self, folder, date):
        """As files on this machine. Folders come last: what is put into one changes its time."""
        folder = Path(folder)
        for path, (content, mode) in sorted(self.entries.items()):
            place = folder / str(path).lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                place.symlink_to(content)
                continue
            place.mkdir(exist_ok=True) if content is None else place.write_bytes(content)
            place.chmod(mode)
        for place in sorted([folder, *folder.rglob("*")], reverse=True):
            os.utime(place, (date, date), follow_symlinks=False)


class Layer:
    """A tree, packed once for all images that hold it."""

    def __init__(self, tree, date):
        self.tar = tree.tar(date)
        self.compressed = gzip.compress(self.tar, 6, mtime=0)
        self.unpacked_size = tree.size()


class Image:
    """One layer and how it is run. `run` holds Entrypoint, Env and the like."""

    def __init__(self, name, layer, architecture, date, run, labels):
        self.name, self.layer, self.date = name, layer, date
        created = time_text(date)
        self.config = as_json({
            "architecture": architecture, "os": "linux", "created": created,
            "config": {**run, "Labels": {**labels, "org.opencontainers.image.created": created}},
            "rootfs": {"type": "layers", "diff_ids": [digest(layer.tar)]},
            "history": [{"created": created, "created_by": "scripts/image"}]})
        self.manifest = as_json({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": self._descriptor(CONFIG, self.config),
            "layers": [self._descriptor(LAYER, layer.compressed)]})

    @staticmethod
    def _descriptor(media_type, content):
        return {"mediaType": media_type, "digest": digest(content), "size": len(content)}

    @property
    def compressed_size(self):
        return len(self.layer.compressed) + len(self.config) + len(self.manifest)

    def write_layout(self, folder):
        """An OCI image layout, for skopeo, crane, podman and registries."""
        blobs = Path(folder) / "blobs" / "sha256"
        blobs.mkdir(parents=True)
        for content in (self.layer.compressed, self.config, self.manifest):
            (blobs / digest(content).removeprefix("sha256:")).write_bytes(content)
        named = {**self._descriptor(MANIFEST, self.manifest), "annotations": {
            "org.opencontainers.image.ref.name": self.name.rpartition(":")[2],
            "io.containerd.image.name": self.name}}
        (Path(folder) / "oci-layout").write_bytes(as_json({"imageLayoutVersion": "1.0.0"}))
        (Path(folder) / "index.json").write_bytes(as_json(
            {"schemaVersion": 2, "mediaType": INDEX, "manifests": [named]}))

    def write_archive(self, path):
        """What `docker load`, `podman load` and `ctr images import` read."""
        config = digest(self.config).removeprefix("sha256:") + ".json"
        layer = digest(self.layer.tar).removeprefix("sha256:") + ".tar"
        archive = Tree()
        archive.file(f"/{config}", self.config)
        archive.file(f"/{layer}", self.layer.tar)
        archive.file("/manifest.json", as_json([{"Config": config, "RepoTags": [self.name], "Layers": [layer]}]))
        Path(path).write_bytes(archive.tar(self.date))
