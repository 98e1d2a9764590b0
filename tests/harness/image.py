"""A container image without a registry: busybox-static as a docker-archive tar."""

import hashlib
import io
import json
import tarfile

NAME = "localhost/busybox:1"
APPLETS = ("sh", "ip", "ping", "sleep", "cat", "ls")


def _tar(entries):
    """`entries`: (name, content) with bytes for a file, None for a folder, text for a link's target."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.mode = 0o755
            if content is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            elif isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
                tar.addfile(info)
            else:
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def busybox_archive(busybox="/bin/busybox", architecture="amd64"):
    """The bytes of the archive, tagged NAME."""
    with open(busybox, "rb") as file:
        program = file.read()
    layer = _tar([(folder, None) for folder in ("bin", "proc", "sys", "dev", "etc", "tmp")]
                 + [("bin/busybox", program)] + [(f"bin/{applet}", "busybox") for applet in APPLETS])
    config = json.dumps({
        "architecture": architecture, "os": "linux", "config": {"Cmd": ["/bin/sh"], "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [NAME], "Layers": ["layer.tar"]}]).encode()
    return _tar([("manifest.json", manifest), ("config.json", config), ("layer.tar", layer)])
