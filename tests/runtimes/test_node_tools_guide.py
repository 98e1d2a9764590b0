"""The examples of docs/node-tools.md that use podman, with the image that scripts/image makes."""

from harness.docs import guide
from harness.images.made_image import make

# Everything that podman keeps is in the host's own folders; the limits that it would set need CAP_SYS_RESOURCE.
WRAPPER = """#!/bin/sh
command=$1
shift
[ "$command" != run ] || set -- --cgroup-parent {cgroup} --ulimit nofile=1000:1000 --ulimit nproc=1000:1000 "$@"
exec /usr/bin/podman --root /srv/podman --runroot /run/podman --tmpdir /run/podman-tmp "$command" "$@"
"""


def test_the_examples_do_what_they_say(host, podman, tmp_path):
    made = make(tmp_path, "--only", "cni-node")
    assert made.returncode == 0, made.stderr
    archive = next(tmp_path.glob("cni-node-*.tar"))
    host.write("/srv/cni-node.tar", archive.read_bytes())
    podman.podman("load", "-i", "/srv/cni-node.tar")
    host.write("/srv/bin/podman", WRAPPER.format(cgroup=podman.cgroup))
    host.path("/srv/bin/podman").chmod(0o755)
    for folder in ("/opt/cni/bin", "/etc/cni/net.d", "/var/lib/cni-node"):
        host.path(folder).mkdir(parents=True, exist_ok=True)
    def plugins():
        return {name: host.path(f"/opt/cni/bin/{name}").read_bytes() for name in host.files_below("/opt/cni/bin")}
    before = plugins()
    installing, removing = guide.examples("node-tools.md", "podman")
    for example, is_changed in ((installing, True), (removing, False)):
        done = host.run("sh", "-ec", f"PATH=/srv/bin:$PATH\n{example.script}", env={"CONTAINERS_CONF": podman.CONF})
        example.check(done.stdout)
        assert (plugins() != before) == is_changed
