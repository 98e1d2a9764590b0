"""Network configurations for the real reference plugins, and their usual names."""


def bridge(name="cluster", bridge="cni0", subnet="10.244.0.0/24", version="1.0.0", default_route=True,
           **more):
    """A conf of the bridge plugin with addresses from host-local."""
    ipam = {"type": "host-local", "ranges": [[{"subnet": subnet}]]}
    if default_route:
        ipam["routes"] = [{"dst": "0.0.0.0/0"}]
    return {"cniVersion": version, "name": name, "type": "bridge", "bridge": bridge, "isGateway": True,
            "ipam": ipam, **more}


def macvlan(name="mac1", master="nodebr", subnet="10.10.1.0/24", version="1.0.0", **more):
    return {"cniVersion": version, "name": name, "type": "macvlan", "master": master, "mode": "bridge",
            "ipam": {"type": "host-local", "ranges": [[{"subnet": subnet}]]}, **more}


def ptp(name="ptp1", subnet="10.10.3.0/24", version="1.0.0", **more):
    return {"cniVersion": version, "name": name, "type": "ptp",
            "ipam": {"type": "host-local", "ranges": [[{"subnet": subnet}]]}, **more}


def conflist(*plugins, name=None, version=None, **more):
    """Joins confs into one list: the first one's name and version count."""
    inner = [{key: value for key, value in plugin.items() if key not in ("cniVersion", "name")}
             for plugin in plugins]
    return {"cniVersion": version or plugins[0]["cniVersion"], "name": name or plugins[0]["name"],
            "plugins": inner, **more}


PORTMAP = {"type": "portmap", "capabilities": {"portMappings": True}}
TUNING = {"type": "tuning", "sysctl": {"net.core.somaxconn": "500"}}
