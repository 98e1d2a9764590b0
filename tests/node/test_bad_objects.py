"""Malformed annotations and definitions, huge ones and odd bytes: an error with its reason, nothing run, daemon alive
(02, 2 and 3; rows 22 to 47, 54, 69, 77)."""

import json

import pytest
from harness.node.objects import DEFAULT_NETWORK, NETWORKS, network_manifest, pod_manifest

LONG = "a" * 16


@pytest.fixture
def quiet(node, fake):
    """A node where every plugin is recorded; `n` and `m` exist."""
    node.configure(fake.conf("cluster"))
    for name in ("n", "m", "5", "my.net"):
        node.network(name, fake.conf(name))
    return node


def refused(pod, fake, *texts):
    """ADD fails with all of the texts, before any plugin ran, and leaves nothing."""
    error = pod.add().error
    for text in texts:
        assert text in error["msg"], error
    assert fake.calls() == [] and pod.links() == set()
    assert pod.status_text is None
    assert pod.node.daemon.answers()


@pytest.mark.spec("02:22", "02:23", "02:24", "02:25", "02:27")
@pytest.mark.parametrize("text, reason", [
    ("a/b/c", "failed at '/'"), ("a@b@c", "failed at '@'"), ("root@ip/root@x", "mismatch @ 'root@ip'"),
    ("Net1", "did not match comma-delimited format"), ("net_1", "mismatch @ 'net_1'"), ("net.1", "mismatch @ 'net.1'"),
    ("-n", "mismatch @"), ("n-", "mismatch @"), ("NS/n", "mismatch @ 'NS'"), ("n@my Ifc", "Failed to parse interface name"),
    (f"n@{LONG}", "Failed to parse interface name"), ("n@very_long_interface_name", "Failed to parse interface name"),
    ("n,", "empty"), (",", "empty"), ("ns/", "empty"), ("@x", "empty"), ("n,,m", "empty"), ("n m", "mismatch @"),
    ("n;m", "mismatch @"), ("ñ", "mismatch @")])
def test_comma_lists_that_are_none(quiet, fake, text, reason):
    refused(quiet.pod(text), fake, reason)


@pytest.mark.spec("02:30", "02:31", "02:33", "02:34", "02:35", "02:43")
@pytest.mark.parametrize("text, reason", [
    ("[adsf]", "JSON format"), ('{"name":"n"}', "JSON format"), ('"n"', "JSON format"), ("[null]", ""), ("[5]", ""),
    ('["n"]', ""), ("[[]]", ""), ("[{]", "JSON format"), ('[{"name":"n"}] x', ""), ('[{"name":5}]', "name"),
    ('[{"name":"n","ips":"10.0.0.1"}]', "ips"), ('[{"name":"n","ips":["10.0.0.300"]}]', 'failed to parse IP address "10.0.0.300"'),
    ('[{"name":"n","ips":["10.0.0.1/33"]}]', 'failed to parse CIDR "10.0.0.1/33"'),
    ('[{"name":"n","ips":["010.0.0.1"]}]', "failed to parse IP address"), ('[{"name":"n","ips":["fe80::1%eth0"]}]', "failed to parse IP address"),
    ('[{"name":"n","ips":[""]}]', "failed to parse IP address"), ('[{"name":"n","mac":"zz"}]', "failed to mac"),
    ('[{"name":"n","mac":"02:00:00:00:00"}]', "failed to mac"), ('[{"name":"n","mac":5}]', "mac"),
    ('[{"name":"n","infiniband-guid":"zz"}]', "failed to validate infiniband GUID"),
    ('[{"name":"n","portMappings":{}}]', "portMappings"), ('[{"name":"n","portMappings":[{"hostPort":"80"}]}]', "hostPort"),
    ('[{"name":"n","portMappings":[{"hostPort":80.5}]}]', "hostPort"), ('[{"name":"n","bandwidth":[]}]', "bandwidth"),
    ('[{"name":"n","bandwidth":{"ingressRate":"1"}}]', "ingressRate"), ('[{"name":"n","cni-args":[]}]', "cni-args"),
    ('[{"name":"n","cni-args":"x"}]', "cni-args"), ('[{"name":"n","default-route":["x"]}]', ""),
    ('[{"name":"n","default-route":[""]}]', ""), ('[{"name":"n","default-route":[null]}]', ""),
    ('[{"name":"n","default-route":"10.0.0.1"}]', "default-route"), ('[{"name":"n"},{"name":"m","mac":"zz"}]', "failed to mac"),
    ('[{"namespace":"default"}]', ""), ('[{"name":""}]', "")])
def test_json_lists_that_are_none(quiet, fake, text, reason):
    refused(quiet.pod(text), fake, reason)


@pytest.mark.spec("02:38", "02:69")
@pytest.mark.parametrize("requested", [
    [{"name": "n", "interface": "a/b"}], [{"name": "n", "interface": ".."}], [{"name": "n", "interface": "."}],
    [{"name": "n", "interface": LONG}], [{"name": "n", "interface": "a b"}], [{"name": "n", "interface": "a:b"}],
    [{"name": "n", "interface": "eth0"}], [{"name": "n", "interface": "x"}, {"name": "m", "interface": "x"}],
    [{"name": "n", "interface": "net2"}, {"name": "m"}], "n@net2,m", "n@x,m@x", "n@eth0"])
def test_interface_names_that_are_none_or_used_twice(quiet, fake, requested):
    refused(quiet.pod(requested), fake)


@pytest.mark.spec("02:26", "02:40", "02:41", "02:154")
@pytest.mark.parametrize("requested, ifname, network", [
    ("n@my_IF.0", "my_IF.0", "n"), (f"n@{LONG[:15]}", LONG[:15], "n"), ("5", "net1", "5"), ("n@", "net1", "n"),
    ('[{"name":"my.net"}]', "net1", "my.net"),
    ('[{"name":"n","ipRequest":"1.2.3.4","ipam-claim-reference":"c","ips":["10.1.1.1/24"],"unknown":{"deep":[]}}]', "net1", "n"),
    ('[{"NAME":"n","Interface":"x1"}]', "x1", "n"), ('[{"name":"m","name":"n"}]', "net1", "n"),
    ('[{"name":"n","cni-args":null,"default-route":null,"ips":null,"mac":null}]', "net1", "n")])
def test_odd_but_legal_requests(quiet, fake, requested, ifname, network):
    pod = quiet.pod(requested)

    assert pod.add().ok

    assert [(call.network, call.env["CNI_IFNAME"]) for call in fake.calls("ADD")] == [("cluster", "eth0"), (network, ifname)]


@pytest.mark.spec("02:44")
@pytest.mark.parametrize("text, reason", [
    ("n,m", "more than one default network is specified"), ("", ""), ("   ", ""), ("[]", ""), ("[null]", ""),
    ("a/b/c", "failed at '/'"), ('[{"name":"n"},{"name":"m"}]', "more than one default network is specified"),
    ('{"name":"n"}', ""), ("gone", "cannot find a network-attachment-definition (gone) in namespace (kube-system)")])
def test_default_network_annotations_that_are_none(quiet, fake, text, reason):
    refused(quiet.pod(annotations={DEFAULT_NETWORK: text}), fake, reason)


@pytest.mark.spec("02:54", "02:5")
@pytest.mark.parametrize("config, reason", [
    ("null", "failed to unmarshal Spec.Config"), ("[]", "failed to unmarshal Spec.Config"), ('"x"', "failed to unmarshal Spec.Config"),
    ("  ", ""), ("{", ""), ("{} x", ""), ("5", ""), ("{}", "must have the 'type' or 'plugin' field"),
    ('{"name":"n"}', "must have the 'type' or 'plugin' field"), ('{"type":5}', ""), ('{"type":""}', ""),
    ('{"plugins":[]}', "type"), ('{"plugins":[null]}', "type"), ('{"plugins":[{}]}', "type"), ('{"plugins":{}}', ""),
    ('{"plugins":[5]}', "error unmarshalling delegate conflist"), ('{"type":"fake","name":"a/b"}', ""),
    ('{"type":"fake","name":"../x"}', ""), ('{"type":"fake","capabilities":{"x":"y"}}', ""), ('{"type":"fake","ipam":[]}', ""),
    ('{"type":"../fake"}', ""), ('{"type":"fake","cniVersion":5}', "")])
def test_definitions_that_are_none(quiet, fake, config, reason):
    quiet.network("bad", config)
    pod = quiet.pod("bad")

    error = pod.add().error

    assert reason in error["msg"], error
    assert [call.network for call in fake.calls("ADD")] in ([], ["cluster"])
    assert pod.links() == set() and quiet.daemon.answers()


@pytest.mark.spec("02:77")
@pytest.mark.parametrize("more", [{"args": "text"}, {"args": {"cni": "text"}}, {"args": []}, {"args": {"cni": 5}}])
def test_arguments_that_cannot_be_merged(quiet, fake, more):
    quiet.network("bad", fake.conf("bad", more=more))

    refused(quiet.pod([{"name": "bad", "cni-args": {"a": 1}}]), fake)


def test_ten_thousand_networks_in_one_annotation(quiet, fake):
    """More than 256 KiB is refused for its size, and below that for the number."""
    refused(quiet.pod([{"name": f"network-{i:05}", "interface": f"i{i}"} for i in range(10_000)]), fake)
    refused(quiet.pod(",".join(f"n{i}" for i in range(10_000))), fake, "10000 networks")


def test_hundreds_of_networks_are_attached_and_removed(quiet, fake):
    count = 300
    pod = quiet.pod(",".join(["n"] * count))

    assert pod.add(timeout=300).ok
    assert pod.delete(timeout=300).ok

    assert [call.env["CNI_IFNAME"] for call in fake.calls("DEL")] == [f"net{i}" for i in range(count, 0, -1)] + ["eth0"]
    assert pod.remembered() == []


def test_a_configuration_of_half_a_mebibyte_reaches_its_plugin(quiet, fake):
    filler = "x" * (1 << 19)
    quiet.network("huge", fake.conf("huge", more={"filler": filler}))
    pod = quiet.pod("huge")

    assert pod.add().ok and pod.delete().ok

    (add,), (delete,) = fake.calls("ADD", "huge"), fake.calls("DEL", "huge")
    assert add.conf["filler"] == delete.conf["filler"] == filler


@pytest.mark.parametrize("depth", [50, 5000, 100_000])
def test_deep_nesting_is_no_way_to_end_the_daemon(quiet, fake, depth):
    quiet.network("deep", json.dumps(fake.conf("deep"))[:-1] + ',"x":' + "[" * depth + "]" * depth + "}")
    in_definition, in_annotation = quiet.pod("deep"), quiet.pod("[" * depth + "]" * depth)

    in_definition.add()
    assert not in_annotation.add().ok

    assert quiet.daemon.answers()


@pytest.mark.parametrize("text", ['[{"name":"\\ud800"}]', '[{"name":"n\\u0000"}]', "n\x00", "n\u2028",
                                  '[{"name":"n","interface":"a\\u0000b"}]'])
def test_odd_characters_in_an_annotation(quiet, fake, text):
    refused(quiet.pod(text), fake)


def test_invalid_utf8_in_a_manifest(quiet, fake):
    """As in JSON everywhere, such a byte is a character of its own: no name of a network has it."""
    good = json.dumps(pod_manifest("raw", uid="u", annotations={NETWORKS: "n"}))
    quiet.objects.write("zz-raw.json", good.replace('"n"', '"n\xff"').encode("latin-1"), pods=1)

    refused(quiet.pod(name="raw", uid="u", is_known=False), fake, "mismatch @")


@pytest.mark.parametrize("name", [b"r\xffw", b"r\\udfffw", b"r\\u0000w"])
def test_odd_bytes_in_the_name_of_a_network(quiet, fake, name):
    """From a file, since a manifest can hold no such bytes."""
    quiet.host.write("/srv/odd.conf", json.dumps(fake.conf("odd")).encode().replace(b'"odd"', b'"' + name + b'"'))
    pod = quiet.pod()

    assert not pod.add({**quiet.conf, "clusterNetwork": "/srv/odd.conf"}).ok
    assert fake.calls() == []


@pytest.mark.parametrize("text", [
    "", "{", "[]", "kind: Pod\n", "apiVersion: v1\nkind: Pod\nmetadata: 5\n", "apiVersion: v1\nkind: Pod\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: A_B}\n", "&a [*a]\n", "a: &b [1]\nc: *b\n", "\t", "--- \n---\n...\n---\n",
    "apiVersion: v1\nkind: Pod\nmetadata: {name: x, annotations: {a: 5}}\n",
    "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: x}\nspec: {config: {a: 1}}\n",
    "apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata: {name: x}\nspec: []\n"])
def test_manifests_that_are_none_do_no_harm_to_the_others(quiet, fake, text):
    quiet.objects.write("00-bad.yaml", text)
    pod = quiet.pod("n")

    assert pod.add().ok

    assert fake.order() == ["ADD cluster", "ADD n"]


def test_too_large_an_annotation_is_named(quiet, fake):
    pod = quiet.pod("n," * (140 << 10) + "n")

    refused(pod, fake, "262144")


@pytest.mark.release("limits")
def test_a_manifest_with_ten_thousand_objects(quiet, fake):
    count = 10_000
    quiet.objects.write("many.json", {"apiVersion": "v1", "kind": "List", "items": [
        network_manifest(f"many-{i}", fake.conf(f"many-{i}")) for i in range(count)]}, networks=count)
    pod = quiet.pod(f"many-{count - 1}")

    assert pod.add().ok

    assert fake.order() == ["ADD cluster", f"ADD many-{count - 1}"]
