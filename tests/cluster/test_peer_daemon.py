"""The original's programs beside ours, on one node with the same objects in a real API server: each shim with each daemon, what
both leave on disk and in the API, and pods that one attached and the other deletes. What differs on purpose is named here
by the number of the original's fault in the specification."""

import base64
import json
import subprocess
from pathlib import Path

import pytest

from harness.cluster.control_plane import ROOT
from harness.cluster.kube_node import KUBECONFIG
from harness.cluster.peer import BOTH, ORIGINAL, OURS, answer, needs_the_original, plugin_of, settled
from harness.cluster.roles import UPSTREAM_RULES
from harness.machine.wait import until
from harness.node import networks
from harness.node.autoconf import NET_D, OWN, PRIMARY
from harness.node.netconf import netconf
from harness.node.pods import CNI_DIR

pytestmark = needs_the_original

SINGLE = f"{NET_D}/10-primary.conf"
# With a gateway: without one the original writes "<nil>" (02-F07).
CLUSTER = networks.bridge("primary", version="0.4.0")
CLUSTER["ipam"]["routes"] = [{"dst": "0.0.0.0/0", "gw": "10.244.0.1"}]
MAC = networks.macvlan("mac", "uplink", version="0.4.0")
LAB = networks.conflist(networks.bridge("lab", "brlab", "10.20.4.0/24", "0.4.0", default_route=False), networks.TUNING)


@pytest.fixture
def node(peer_node, host, space):
    """Two networks beside the cluster's own, which is where both daemons look for it."""
    host.write(SINGLE, CLUSTER)
    space.add_network("mac", json.dumps(MAC))
    space.add_network("lab", json.dumps(LAB))
    return peer_node


@pytest.fixture
def primary_list(host, node):
    """The cluster network as a list of two plugins, as most are."""
    host.path(SINGLE).unlink()
    host.write(PRIMARY, networks.conflist(CLUSTER, networks.PORTMAP))


def objects_of(cluster, path):
    """The documents of a manifest, as kubectl reads them."""
    text, at = cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", path), 0
    while text[at:].strip():
        one, at = json.JSONDecoder().raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        yield one


def test_the_role_of_these_tests_is_that_of_the_originals_manifest(cluster):
    folder = subprocess.run([ROOT / "scripts" / "peer", "--manifests"], check=True, capture_output=True, text=True).stdout.strip()

    (role,) = [one for one in objects_of(cluster, Path(folder) / "multus-daemonset-thick.yml") if one["kind"] == "ClusterRole"]

    assert role["rules"] == UPSTREAM_RULES


ALL_OPTIONS = {"binDir": "/opt/cni/bin", "capabilities": {"bandwidth": True, "mac": False}, "logFile": "/srv/log/multus.log", "logLevel": "verbose",
               "logOptions": {"maxAge": 5, "maxSize": 100, "maxBackups": 5, "compress": True}, "namespaceIsolation": True,
               "globalNamespaces": "default,kube-system", "cniDir": "/var/lib/cni/multus", "overrideNetworkName": True,
               "daemonSocketDir": "/run/multus", "auxiliaryCNIChainName": "vendor-chain", "multusMasterCNI": "10-primary.conf"}


@pytest.mark.spec("03:124")
@pytest.mark.parametrize("keys", [{}, ALL_OPTIONS, {"capabilities": {}, "logOptions": {}, "logToStderr": False}],
                         ids=["usual", "all", "empty"])
def test_both_write_the_same_configuration_of_the_node(node, host, keys):
    written = {}
    for who in BOTH:
        node.use(who, **keys)
        written[who] = host.path(OWN).read_text()

    assert written[OURS] == written[ORIGINAL]


def test_both_write_the_same_configuration_for_a_list(node, host, primary_list):
    written = {}
    for who in BOTH:
        node.use(who)
        written[who] = host.path(OWN).read_text()

    assert written[OURS] == written[ORIGINAL]
    assert '"portMappings":true' in written[OURS]


def life_of_a_pod(node):
    """Every command of a runtime, and what it got."""
    newest = {**node.conf, "cniVersion": "1.1.0"}
    pod = node.new_pod("mac,lab")
    valid = {"cni.dev/valid-attachments": [{"containerID": pod.container_id, "ifname": "eth0"}]}
    told = {"VERSION": pod.call("VERSION"), "ADD": pod.add(), "CHECK": pod.check(), "STATUS": pod.call("STATUS", newest),
            "STATUS of the node's version": pod.call("STATUS"), "GC": pod.call("GC", {**newest, **valid})}
    links = pod.links()
    told |= {"DEL": pod.delete(), "DEL again": pod.delete(), "DEL unknown": pod.call("DEL", container_id="unknown")}
    return links, pod.links(), {command: answer(outcome, pod) for command, outcome in told.items()}


@pytest.mark.spec("03:94", "03:95")
@pytest.mark.parametrize("version", ["0.3.1", "0.4.0", "1.0.0", "1.1.0"])
@pytest.mark.parametrize("shim, daemon", [(ORIGINAL, OURS), (OURS, ORIGINAL), (OURS, OURS)])
def test_each_shim_works_with_each_daemon(node, shim, daemon, version):
    node.version = version
    node.use(ORIGINAL)
    theirs = life_of_a_pod(node)
    assert theirs[0] == {"eth0", "net1", "net2"} and theirs[1] == set()
    assert theirs[2]["ADD"][0] == theirs[2]["DEL"][0] == 0

    node.use(daemon, shim=shim)

    assert life_of_a_pod(node) == theirs


def bad_calls(pod, conf):
    """What a runtime or a node may do wrong."""
    less = {key: value for key, value in conf.items() if key not in ("name", "clusterNetwork")}
    yield "no namespace", pod.call("ADD", netns="/var/run/netns/nowhere")
    yield "empty namespace", pod.call("ADD", netns="")
    yield "no container", pod.call("ADD", container_id="")
    yield "no interface", pod.call("ADD", ifname="")
    yield "a bad interface", pod.call("ADD", ifname="a/b")
    yield "no path", pod.call("ADD", path="")
    yield "no arguments", pod.call("ADD", args="")
    yield "arguments without a pod", pod.call("ADD", args="IgnoreUnknown=1")
    yield "another UID", pod.call("ADD", args=pod.args.replace(pod.uid, "00000000-0000-4000-8000-000000000001"))
    yield "an unknown command", pod.call("FOO")
    yield "half an object", pod.call("ADD", "{")
    yield "a list", pod.call("ADD", "[]")
    yield "no name", pod.call("ADD", {"clusterNetwork": conf["clusterNetwork"], **less})
    yield "a bad name", pod.call("ADD", {**conf, "name": "a b"})
    yield "an unknown version", pod.call("ADD", {**conf, "cniVersion": "9.9.9"})
    yield "CHECK before it was there", pod.call("CHECK", {**conf, "cniVersion": "0.3.1"})
    yield "GC before it was there", pod.call("GC", {**conf, "cniVersion": "1.0.0"})
    yield "no cluster network", pod.call("ADD", {"name": conf["name"], **less})
    yield "a missing cluster network", pod.call("ADD", {**conf, "clusterNetwork": "nowhere"})
    yield "DEL of a namespace that is gone", pod.call("DEL", netns="/var/run/netns/nowhere")
    yield "DEL without arguments", pod.call("DEL", args="")


@pytest.mark.spec("03:94", "03:95")
@pytest.mark.parametrize("shim, daemon", [(ORIGINAL, OURS), (OURS, ORIGINAL), (OURS, OURS)])
def test_bad_calls_get_the_same_codes(node, shim, daemon):
    def codes():
        pod = node.new_pod()
        told = {what: answer(outcome, pod) for what, outcome in bad_calls(pod, node.conf)}
        assert pod.links() == set()
        return told
    node.use(ORIGINAL)
    theirs = codes()
    assert {code for status, code in theirs.values() if status != 0} == {1, 4, 6, 7, 999}

    node.use(daemon, shim=shim)

    assert codes() == theirs


BAD_NETWORKS = {
    "nosuch": {"cniVersion": "0.4.0", "name": "x", "type": "nosuch"},
    "half": "{", "empty": "", "notype": {"cniVersion": "0.4.0", "name": "x"},
    "nomaster": networks.macvlan("nomaster", "nolink", version="0.4.0"),
    "future": networks.macvlan("future", "uplink", version="9.9.9")}
WISHES = [*BAD_NETWORKS, "missing", "a@b@c", "ns/x/y", "UPPER!", "[{", '[{"name":""}]', "mac@eth0", "mac@net5,lab@net5",
          "mac@abcdefghijklmnopq", "mac,", ","]
KEPT_CODE = {"future": 1}  # the plugin's own; 999 in the original (02-F35)


# Plugins refuse the DELs of `nomaster` and `future`, too: ours stay on record and are tried again (decision 0053).
@pytest.mark.leaves("record /var/lib/cni/multus/*")
def test_networks_that_cannot_be_had_fail_with_the_same_codes(node, space):
    """And leave no interface behind."""
    for name, config in BAD_NETWORKS.items():
        space.add_network(name, config if isinstance(config, str) else json.dumps(config))

    def codes():
        told = {}
        for wish in WISHES:
            pod = node.new_pod(wish)
            told[wish] = answer(pod.add(), pod)
            assert pod.delete().ok and pod.links() == set(), wish
        return told
    node.use(ORIGINAL)
    theirs = codes()
    assert all(code == 999 for _, code in theirs.values())

    node.use(OURS)

    assert codes() == {**theirs, **{wish: (1, code) for wish, code in KEPT_CODE.items()}}


def decoded(element):
    """A result-cache entry or scratch element, its Base64 read."""
    return {key: json.loads(base64.b64decode(value)) if key in ("Bytes", "config") else value
            for key, value in element.items()}


def files_of(node, pod):
    """What is on disk about a pod, without what only ours writes."""
    names = [name for name in pod.remembered() if not name.startswith("_attachments/")]
    results = {settled(name, pod): settled(decoded(json.loads(node.host.path(f"{CNI_DIR}/{name}").read_text())), pod)
               for name in names if name.startswith("results/")}
    return sorted(settled(name, pod) for name in names), results, [decoded(element) for element in pod.scratch()]


def test_both_leave_the_same_files(node, primary_list):
    """But for 02-F55: of a list in a file the original keeps a second, whole copy, and the first without most members."""
    seen = {}
    for who in (OURS, ORIGINAL):
        node.use(who)
        pod = node.new_pod("mac,lab")
        assert pod.add().ok
        seen[who] = files_of(node, pod)
        node.use(OURS)  # the original's own DEL would leave an address behind (02-F55)
        assert pod.delete().ok
    names, results, scratch = zip(seen[OURS], seen[ORIGINAL])

    assert names[0] == names[1] and len(names[0]) == 4
    assert results[0] == results[1]
    for ours, theirs in zip(*scratch, strict=True):
        copy = theirs.pop("CNINetworkConfigList")
        if copy["Plugins"]:
            theirs["Bytes"] = json.loads(base64.b64decode(copy["Bytes"]))
        assert list(ours) == list(theirs)  # members in the same order
        assert settled(ours, pod) == settled(theirs, pod)


def test_both_write_the_same_status_and_events(node):
    """The original sends an event for each interface, we send one with the same texts."""
    seen = {}
    for who in BOTH:
        node.use(who)
        pod = node.new_pod("mac,lab@extra0")
        assert pod.add().ok
        events = until(lambda: len(pod.events()) == (1 if who == OURS else 3) and pod.events(), "the events")
        said = {(settled(text, pod), *(event[key] for key in ("type", "reason", "count", "reportingComponent")),
                 event["source"]["component"], event["involvedObject"]["kind"]) for event in events
                for text in event["message"].split("; ")}
        seen[who] = settled(pod.status_text, pod), said
        assert pod.delete().ok

    assert seen[OURS] == seen[ORIGINAL]
    assert '"gateway": [\n        "10.244.0.1"' in seen[OURS][0]


def test_an_event_says_the_same_of_a_network_that_is_missing(node):
    seen = {}
    for who in BOTH:
        node.use(who)
        pod = node.new_pod("missing")
        assert not pod.add().ok
        (event,) = until(pod.events, "a warning")
        # The words that follow are the API server's own here, and those of a cache there (02-F11).
        seen[who] = event["type"], event["reason"], event["message"].partition("): ")[0]

    assert seen[OURS] == seen[ORIGINAL]


ROUTES = [("GET", "/healthz"), ("POST", "/healthz"), ("PUT", "/healthz"), ("HEAD", "/healthz"), ("GET", "/cni"), ("PUT", "/delegate"),
          ("GET", "/"), ("GET", "/nowhere"), ("POST", "/cni/")]
BODIES = ["{", "[]", "{}", '{"env":{"CNI_COMMAND":"ADD"}}', '{"env":{"CNI_COMMAND":"VERSION"},"config":"e30="}',
          '{"env":{"CNI_COMMAND":"ADD"},"config":"%"}', '{"env":[]}']


def test_both_sockets_answer_alike(node):
    def answers():
        daemon = node.daemon
        told = [(route, daemon.http(*route)) for route in ROUTES]
        told += [((path, body), daemon.http("POST", path, body)) for path in ("/cni", "/delegate") for body in BODIES]
        return {what: (one.status, one.headers.get("connection"), one.headers.get("content-type")) for what, one in told}
    seen = {}
    for who in BOTH:
        node.use(who)
        seen[who] = answers()

    assert seen[OURS] == seen[ORIGINAL]


HOT_LIST = networks.conflist(networks.macvlan("hot", "uplink", version="0.4.0"), networks.TUNING)
HOT_PLUG = [("ADD", MAC, "net1"), ("ADD", HOT_LIST, "net2"), ("CHECK", MAC, "net1"), ("STATUS", MAC, "net1"), ("DEL", HOT_LIST, "net2"),
            ("DEL", MAC, "net1"), ("DEL", MAC, "net1"), ("GC", MAC, "net1"), ("ADD", {**MAC, "type": "nosuch"}, "net1")]


def test_plugging_in_by_the_socket_is_alike(node):
    """CHECK of a list is left out: the original cannot (03-F25)."""
    seen = {}
    for who in BOTH:
        node.use(who)
        pod = node.new_pod()
        assert pod.add().ok
        seen[who] = []
        for command, config, ifname in HOT_PLUG:
            told = pod.delegate(command, config, ifname)
            text = settled(told.body.decode(), pod)
            seen[who].append((command, ifname, told.status, text if told.status == 200 else "", sorted(pod.links())))
        assert pod.delete().ok

    assert seen[OURS] == seen[ORIGINAL]
    assert seen[OURS][1][4] == ["eth0", "net1", "net2"]


@pytest.fixture(params=["conf", "conflist"])
def primary(request, node):
    """The cluster network in either form."""
    if request.param == "conflist":
        request.getfixturevalue("primary_list")


def take_over(node, successor, space, is_gone):
    """A pod that the daemon in use attaches, and `successor` checks and deletes."""
    pod = node.new_pod("mac,lab")
    assert pod.add().ok
    assert pod.links() == {"eth0", "net1", "net2"}
    node.use(successor)
    assert pod.check().ok
    if is_gone:
        space.delete_pod(pod.pod_name)
    assert pod.delete().ok
    assert pod.links() == set()
    return pod


@pytest.mark.parametrize("is_gone", [False, True], ids=["", "pod-gone"])
def test_ours_checks_and_deletes_what_the_original_attached(node, space, primary, is_gone):
    """Addresses, links and files are looked for by the fixture `host`, too."""
    node.use(ORIGINAL)

    pod = take_over(node, OURS, space, is_gone)

    assert pod.remembered() == []


@pytest.mark.parametrize("is_gone", [False, True], ids=["", "pod-gone"])
def test_the_original_checks_and_deletes_what_ours_attached(node, space, primary, is_gone):
    """It does not look at what only ours writes; GC of ours takes that away when the node has come back."""
    node.use(OURS)

    pod = take_over(node, ORIGINAL, space, is_gone)

    assert pod.remembered() == [f"_attachments/{pod.container_id}.json"]
    node.use(OURS)
    assert pod.call("GC", {**node.conf, "cniVersion": "1.1.0", "cni.dev/valid-attachments": []}).ok
    assert pod.remembered() == []


def test_pods_run_on_through_there_and_back_again(node, primary_list):
    """Three daemons, one after the other; each pod is deleted by another than added it."""
    pods = []
    for who in (ORIGINAL, OURS, ORIGINAL):
        node.use(who)
        pods.append(node.pod(f"p{len(pods)}", "mac,lab"))
        assert pods[-1].add().ok
    addresses = [pod.addresses("net1") for pod in pods]

    node.use(OURS)

    for pod, address in zip(pods, addresses):
        assert pod.check().ok
        assert pod.addresses("net1") == address
        assert pod.delete().ok
        assert pod.links() == set()


@pytest.mark.parametrize("form", ["thick", "thin"])
def test_a_rollback_by_image_works_under_our_role(node, host, program, cluster, form):
    """The role of our manifest stays when only the image is put back. Without `update` on pods/status no pod started then."""
    node.act_as(cluster.token_for("kube-system", "multus"))
    for who in (OURS, ORIGINAL, OURS):
        if form == "thick":
            node.use(who)
            plugin, conf = node.shim, node.conf
        else:
            program("multus")
            node.daemon = object()  # none is started
            plugin = plugin_of(host, who, "multus")
            conf = netconf(type="multus", version="0.4.0", kubeconfig=KUBECONFIG, clusterNetwork=SINGLE)
        pod = node.pod(f"{form}-{len(node.sandboxes)}", "mac")

        outcome = plugin.call("ADD", conf, pod, args=pod.args)

        assert outcome.ok, outcome
        assert [entry["interface"] for entry in pod.status] == ["eth0", "net1"]
        until(lambda: pod.events("AddedInterface"), "an event")
        assert plugin.call("DEL", conf, pod, args=pod.args).ok


@pytest.mark.leaves("record */_attachments/*")  # of the one that the original deletes
@pytest.mark.parametrize("first, second", [(ORIGINAL, OURS), (OURS, ORIGINAL)])
def test_thin_multus_of_one_deletes_what_that_of_the_other_added(node, host, program, first, second):
    program("multus")
    node.daemon = object()  # none is started
    node.who = first
    conf = netconf(type="multus", version="0.4.0", kubeconfig=KUBECONFIG, clusterNetwork=SINGLE)
    pod, other = node.new_pod("mac,lab"), node.pod("other", "mac,lab")

    added = plugin_of(host, first, "multus").call("ADD", conf, pod, args=pod.args)
    assert plugin_of(host, second, "multus").call("ADD", conf, other, args=other.args).ok
    assert added.ok, added
    assert pod.links() == {"eth0", "net1", "net2"}
    assert plugin_of(host, second, "multus").call("CHECK", conf, pod, args=pod.args).ok
    for sandbox, who in ((pod, second), (other, first)):
        assert plugin_of(host, who, "multus").call("DEL", conf, sandbox, args=sandbox.args).ok
        assert sandbox.links() == set()
        assert [name for name in sandbox.remembered() if not name.startswith("_")] == []
