"""Container images without a registry: docker-archive tars, made on the spot."""

import hashlib
import io
import json
import subprocess
import tarfile

NAME = "localhost/busybox:1"
PAUSE = "localhost/pause:1"
KUBECTL = "localhost/kubectl:1"
APPLETS = ("sh", "ip", "ping", "sleep", "cat", "ls", "wget", "nc", "httpd", "echo", "true", "readlink", "grep")
FOLDERS = ("bin", "proc", "sys", "dev", "etc", "tmp")


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


def archive(name, entries, command, architecture="amd64", entrypoint=None):
    """The bytes of an archive with one image of one layer."""
    layer = _tar(entries)
    config = json.dumps({
        "architecture": architecture, "os": "linux", "config": {"Entrypoint": entrypoint, "Cmd": command, "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
    return _tar([("manifest.json", manifest), ("config.json", config), ("layer.tar", layer)])


def busybox_archive(busybox="/bin/busybox", programs=None):
    """An image with a shell, tagged NAME. `programs`: more of them, bytes by name."""
    with open(busybox, "rb") as file:
        program = file.read()
    return archive(NAME, [(folder, None) for folder in FOLDERS] + [("bin/busybox", program)]
                   + [(f"bin/{applet}", "busybox") for applet in APPLETS]
                   + [(f"bin/{more}", content) for more, content in (programs or {}).items()], ["/bin/sh"])


def pause_archive(program):
    """The image of a pod's sandbox, tagged PAUSE."""
    return archive(PAUSE, [(folder, None) for folder in FOLDERS] + [("bin/pause", program)], ["/bin/pause"])


def kubectl_archive(program):
    """An image that is kubectl, tagged KUBECTL."""
    return archive(KUBECTL, [(folder, None) for folder in FOLDERS] + [("bin/kubectl", program)], [], entrypoint=["/bin/kubectl"])


def compile_static(source, folder):
    """The bytes of a small C program that needs nothing of its image."""
    program = folder / source.stem
    subprocess.run(["clang-19", "-O1", "-Wall", "-Werror", "-static", "-s", "-o", program, source], check=True)
    return program.read_bytes()
