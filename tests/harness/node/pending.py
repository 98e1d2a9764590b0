"""DELs that wait for a daemon, as the shim leaves them (03, 2.14)."""

from harness.node.cni import environment
from harness.node.daemon import body

FOLDER = "/var/lib/cni/multus/pending-del"


def leave_pending_del(host, pod, conf, args, name=None):
    host.path(FOLDER).mkdir(parents=True, exist_ok=True, mode=0o700)
    container = f"c-{pod.name}"
    env = environment("DEL", pod, container, args=args)
    return host.write(f"{FOLDER}/{name or container + '-eth0.json'}", body(env, conf), mode=0o600)
