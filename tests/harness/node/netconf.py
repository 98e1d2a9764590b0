"""What the runtime hands to multus-shim: the node's CNI configuration."""


def netconf(*delegates, version="1.0.0", **keys):
    """With `delegates` inline, the first is the cluster's default network."""
    conf = {"cniVersion": version, "name": "multus-cni-network", "type": "multus-shim", **keys}
    if delegates:
        conf["delegates"] = list(delegates)
    return conf


def write_networks(host, *confs, folder="/etc/cni/multus/net.d"):
    """Puts each configuration into a file of its own and yields the paths: for clusterNetwork and
    defaultNetworks."""
    paths = []
    for number, conf in enumerate(confs):
        ending = "conflist" if "plugins" in conf else "conf"
        paths.append(host.write(f"{folder}/{10 + number}-{conf['name']}.{ending}", conf))
    return paths


def netconf_from_files(host, *confs, version="1.0.0", **keys):
    """The first configuration is the cluster network, the others are default networks."""
    first, *others = write_networks(host, *confs)
    keys = {"clusterNetwork": first, **keys}
    if others:
        keys["defaultNetworks"] = others
    return netconf(version=version, **keys)
