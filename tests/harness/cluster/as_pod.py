"""Runs programs of the machine as if in a pod: a service account where the kubelet mounts it, and a /run of their own."""

import os

PLACE = "/run/secrets/kubernetes.io/serviceaccount"
ENTER = f'mount -t tmpfs none /run && mkdir -p {PLACE} /run/multus && cp "$0"/* {PLACE}/ && exec "$@"'


def account_of(folder, cluster, token):
    """A folder with the files of a service account."""
    folder.mkdir()
    (folder / "token").write_text(token)
    (folder / "ca.crt").write_bytes(cluster.authority.certificate.read_bytes())
    return folder


def words(account, *argv):
    """A command line whose process becomes the program; its mounts end with it."""
    return ["unshare", "--mount", "--propagation=private", "sh", "-c", ENTER, str(account), *map(str, argv)]


def environment(cluster, **more):
    return {"PATH": os.environ["PATH"], "KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(cluster.port), **more}
