"""Claims and slices of dynamic resource allocation as a scheduler and a driver would write them."""

API = "/apis/resource.k8s.io/v1"
RESOURCE = "test.example.com/vf"


def attributes(**texts):
    return {f"k8s.cni.cncf.io/{key}": {"string": text} for key, text in texts.items()}


def device(name, resource=RESOURCE):
    """One for networks: `id-<name>`."""
    return {"name": name, "attributes": attributes(deviceID=f"id-{name}", resourceName=resource)}


def add_slice(space, driver, *devices, node=None, generation=1, name="slice"):
    """Of the pool `pool` of this driver; on the space's node unless `node` is another, on all nodes if it is empty."""
    where = {"allNodes": True} if node == "" else {"nodeName": node or space.node}
    return space.cluster.request("POST", f"{API}/resourceslices", {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": f"{driver}-{name}"},
        "spec": {"driver": driver, "pool": {"name": "pool", "generation": generation, "resourceSliceCount": 1},
                 "devices": list(devices), **where}})


def add_claim(space, name, driver, *devices, allocated=True):
    """A claim, and the devices that it was given in this order, one for each request."""
    requests = [{"name": f"r{i}", "exactly": {"deviceClassName": "any"}} for i in range(max(len(devices), 1))]
    path = f"{API}/namespaces/{space.namespace}/resourceclaims"
    space.cluster.request("POST", path, {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
                                         "metadata": {"name": name}, "spec": {"devices": {"requests": requests}}})
    if allocated:
        results = [{"request": f"r{i}", "driver": driver, "pool": "pool", "device": one} for i, one in enumerate(devices)]
        space.cluster.request("PATCH", f"{path}/{name}/status", {"status": {"allocation": {"devices": {"results": results}}}},
                              "application/merge-patch+json")


def add_claiming_pod(space, name, *claims, status=None, **spec):
    """`claims`: names of claims, in the pod's order."""
    references = [{"name": f"c{i}", "resourceClaimName": claim} for i, claim in enumerate(claims)]
    space.cluster.request("POST", space.path("pods"), {
        "metadata": {"name": name},
        "spec": {"nodeName": space.node, "resourceClaims": references, **spec,
                 "containers": [{"name": "c", "image": "none"}]}})
    if status:
        space.cluster.request("PATCH", space.path("pods", name) + "/status", {"status": status},
                              "application/merge-patch+json")
