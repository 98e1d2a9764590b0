"""Network configurations for the real reference plugins, and their usual names."""


def host_local(*subnets, default_route=False):
    """Addresses of one family each; with `default_route`, a default route in each."""
    ipam = {"type": "host-local", "ranges": [[{"subnet": subnet}] for subnet in subnets]}
    if default_route:
        ipam["routes"] = [{"dst": "::/0" if ":" in subnet else "0.0.0.0/0"} for subnet in subnets]
    return ipam


def _subnets(subnet, subnet6):
    return [one for one in (subnet, subnet6) if one]


def bridge(name="cluster", bridge="cni0", subnet="10.244.0.0/24", version="1.0.0", default_route=True,
           subnet6=None, **more):
    """A conf of the bridge plugin with addresses from host-local."""
    return {"cniVersion": version, "name": name, "type": "bridge", "bridge": bridge, "isGateway": True,
            "ipam": host_local(*_subnets(subnet, subnet6), default_route=default_route), **more}


def macvlan(name="mac1", master="nodebr", subnet="10.10.1.0/24", version="1.0.0", subnet6=None, **more):
    return {"cniVersion": version, "name": name, "type": "macvlan", "master": master, "mode": "bridge",
            "ipam": host_local(*_subnets(subnet, subnet6)), **more}


def ptp(name="ptp1", subnet="10.10.3.0/24", version="1.0.0", subnet6=None, **more):
    return {"cniVersion": version, "name": name, "type": "ptp",
            "ipam": host_local(*_subnets(subnet, subnet6)), **more}


def static(*addresses, **more):
    """IPAM of fixed addresses; a gateway is the first address of its net."""
    return {"type": "static", "addresses": [{"address": address} for address in addresses], **more}


def conflist(*plugins, name=None, version=None, **more):
    """Joins confs into one list: the first one's name and version count."""
    inner = [{key: value for key, value in plugin.items() if key not in ("cniVersion", "name")}
             for plugin in plugins]
    return {"cniVersion": version or plugins[0]["cniVersion"], "name": name or plugins[0]["name"],
            "plugins": inner, **more}


PORTMAP = {"type": "portmap", "capabilities": {"portMappings": True}}
TUNING = {"type": "tuning", "sysctl": {"net.core.somaxconn": "500"}}

# Of whole nodes: room for hundreds of pods. One bridge has one subnet, so tests share them.
NODE_MACVLAN = macvlan("mac", master="uplink", subnet="10.20.0.0/22")
NODE_BRIDGE = bridge("lab", "brlab", "10.20.4.0/22", default_route=False)
