"""One image for several machines: joins OCI layouts of scripts/image to an archive with an index, which registries, containerd,
podman and skopeo take."""

import json
from pathlib import Path

from images import oci


class Index:
    """`layouts`: folder by architecture. The digest of the index is what manifests pin."""

    def __init__(self, name, layouts):
        self.name = name
        self.blobs = {}
        manifests = [self._take(Path(folder), arch) for arch, folder in sorted(layouts.items())]
        self.content = oci.as_json({"schemaVersion": 2, "mediaType": oci.INDEX, "manifests": manifests})

    @property
    def digest(self):
        return oci.digest(self.content)

    def _take(self, folder, arch):
        """Its blobs, and the descriptor of its only manifest."""
        for blob in (folder / "blobs" / "sha256").iterdir():
            self.blobs[blob.name] = blob.read_bytes()
        (named,) = json.loads((folder / "index.json").read_text())["manifests"]
        kept = {key: named[key] for key in ("mediaType", "digest", "size")}
        return {**kept, "platform": {"architecture": arch, "os": "linux"}}

    def archive(self, date):
        """The bytes of an OCI archive (a layout in a tar file)."""
        layout = oci.Tree()
        for name, content in {**self.blobs, self.digest.removeprefix("sha256:"): self.content}.items():
            layout.file(f"/blobs/sha256/{name}", content)
        named = {"mediaType": oci.INDEX, "digest": self.digest, "size": len(self.content), "annotations": {
            "org.opencontainers.image.ref.name": self.name.rpartition(":")[2], "io.containerd.image.name": self.name}}
        layout.file("/oci-layout", oci.as_json({"imageLayoutVersion": "1.0.0"}))
        layout.file("/index.json", oci.as_json({"schemaVersion": 2, "mediaType": oci.INDEX, "manifests": [named]}))
        return layout.tar(date)
