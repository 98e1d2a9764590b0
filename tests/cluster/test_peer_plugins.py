"""What plugins are given by the original and by ours, for every form of a pod's annotations: commands in their order, environment
and input."""

import json

import pytest

from harness.cluster.peer import BOTH, ORIGINAL, OURS, answer, needs_the_original, settled
from harness.node import networks
from harness.node.autoconf import NET_D
from harness.node.fake import RECORD
from harness.node.objects import DEFAULT_NETWORK

pytestmark = needs_the_original

CAPABILITIES = {"ips": True, "mac": True, "infinibandGUID": True}
RESULT = {"cniVersion": "0.4.0", "interfaces": [{"name": "n", "mac": "02:00:00:00:00:01", "sandbox": "/x"}],
          "ips": [{"version": "4", "address": "10.9.0.5/24", "gateway": "10.9.0.1", "interface": 0}],
          "routes": [{"dst": "0.0.0.0/0", "gw": "10.9.0.1"}], "dns": {"nameservers": ["10.9.0.9"]}}
FROM_RUNTIME = {"portMappings": [{"hostPort": 1, "containerPort": 2, "protocol": "udp"}]}
WISHES = {
    "one": "a", "twice": "a,a", "interfaces": "a@x0,b", "spaces": "  a ,  b ", "file": "file", "list": "list",
    "none": "", "empty list": "[]", "no name": "noname", "no version": "noversion",
    "objects": [{"name": "a", "interface": "y0"}, {"name": "b"}],
    "capabilities": [{"name": "able", "ips": ["10.9.1.5/24"], "mac": "02:00:00:00:00:05",
                      "infiniband-guid": "c2:11:22:33:44:55:66:77"}],
    "capabilities of a list": [{"name": "ablelist", "ips": ["10.9.1.5/24"], "mac": "02:00:00:00:00:05"}],
    "no capabilities": [{"name": "a", "ips": ["10.9.1.5/24"], "mac": "02:00:00:00:00:05"}],
    "arguments": [{"name": "a", "cni-args": {"a": 1, "b": {"c": [1, 2]}}}],
    "arguments of a list": [{"name": "list", "cni-args": {"a": 1}}]}


@pytest.fixture
def node(peer_node, host, space, fake):
    """All networks are the fake, which tells what it was given."""
    def conf(name, **more):
        return fake.conf(name, "0.4.0", ADD={"result": RESULT}, more=more)

    def without(member):
        return {key: value for key, value in conf("x").items() if key != member}
    able = conf("able", capabilities=CAPABILITIES)
    host.write(f"{NET_D}/10-primary.conf", conf("primary", capabilities={"portMappings": True}))
    host.write("/etc/cni/multus/net.d/50-file.conf", conf("file"))
    for name, config in {"a": conf("a"), "b": conf("other", number=1.50), "noname": without("name"), "noversion": without("cniVersion"),
                         "able": able, "ablelist": networks.conflist(able, conf("x", capabilities={"mac": True})),
                         "list": networks.conflist(conf("list"), conf("list")), "file": ""}.items():
        space.add_network(name, json.dumps(config) if config else "")
    return peer_node


def given(call):
    """CNI_PATH of ours has the runtime's folders, too (02-F23)."""
    environment = {name: call.env.get(name) for name in ("CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS")}
    return call.command, environment, set(call.env["CNI_PATH"].split(":")), call.conf


def told(node, fake, wish, annotations):
    """One pod: what its plugins were given, what the runtime got, and the status."""
    node.host.path(RECORD).unlink(missing_ok=True)
    pod = node.pod(f"{node.who}-{len(node.sandboxes)}", wish if isinstance(wish, str) else json.dumps(wish), annotations=annotations)
    conf = {**node.conf, "runtimeConfig": FROM_RUNTIME}
    outcomes = [answer(pod.add(conf), pod), answer(pod.delete(conf), pod)]
    calls = [(command, settled(environment, pod), sorted(path), settled(config, pod))
             for command, environment, path, config in map(given, fake.calls())]
    return outcomes, calls, settled(pod.status_text, pod)


@pytest.mark.parametrize("default_network", [None, "b"])
def test_plugins_are_given_the_same(node, fake, space, default_network):
    annotations = {DEFAULT_NETWORK: f"{space.namespace}/{default_network}"} if default_network else {}
    seen = {}
    for who in BOTH:
        node.use(who)
        seen[who] = {what: told(node, fake, wish, annotations) for what, wish in WISHES.items()}

    for what in WISHES:
        assert seen[OURS][what] == seen[ORIGINAL][what], what
    assert [call[0] for call in seen[OURS]["twice"][1]] == ["ADD"] * 3 + ["DEL"] * 3
