"""deploy/network-definition-policy.yml in a real API server: which definitions it takes, and ways around it."""

import json
import random
import re

import pytest
from harness.cluster.control_plane import DEPLOY, Cluster, Refused
from harness.cluster.workspace import Workspace
from harness.machine.wait import until

LABEL = "v1.multus-cni.io/plugin-types"
POLICY = "network-definition-policy.yml"
BRIDGE = {"cniVersion": "1.0.0", "name": "n", "type": "bridge", "ipam": {"type": "host-local", "subnet": "10.0.0.0/24"}}
CHAIN = {"cniVersion": "1.0.0", "name": "n", "plugins": [BRIDGE, {"type": "macvlan", "master": "type"}]}


@pytest.fixture(scope="module")
def guarded():
    """A control plane with the policy in force."""
    cluster = Cluster()
    try:
        cluster.install_definitions()
        before = Workspace(cluster)
        before.add_network("old", json.dumps({"type": "evil"}), finalizers=["example.org/wait"])
        cluster.apply_files(POLICY)
        probe = Workspace(cluster)

        def is_in_force():
            try:
                probe.add_network("probe", json.dumps({"type": "evil"}))
            except Refused as refused:
                return "evil" in str(refused)
            probe.delete_network("probe")
            return False
        until(is_in_force, "the policy in force", 120)
        cluster.before = before
        yield cluster
    finally:
        cluster.close()


@pytest.fixture
def tenant(guarded):
    return Workspace(guarded)


def labelled(cluster, name):
    """A namespace whose label names this list."""
    space = Workspace(cluster)
    cluster.kubectl("label", "namespace", space.namespace, f"{LABEL}={name}")
    return space


def refusal(space, config):
    """What the server says; a definition that it takes is a failure."""
    text = config if isinstance(config, str) else json.dumps(config)
    with pytest.raises(Refused) as refused:
        space.add_network("bad", text)
    assert refused.value.status == 422, refused.value
    return str(refused.value)


@pytest.mark.parametrize("config", [
    BRIDGE, CHAIN, json.dumps(CHAIN, indent=2), {"type": "bridge", "notes": "a type: b", "mytype": "evil", "types": ["evil"]},
    {"type": "bridge", "key": "type", "other": ["type", "type"]}, '{"type": "bridge", "ä": "ü€😀"}',
])
def test_ordinary_definitions_are_taken(tenant, config):
    tenant.add_network("good", config if isinstance(config, str) else json.dumps(config))
    tenant.change_network("good", json.dumps({**BRIDGE, "name": "other"}))


@pytest.mark.parametrize("config", [
    pytest.param('{"type":"evil"}', id="plain"),
    pytest.param('{"TYPE":"evil"}', id="upper-case"),
    pytest.param('{"type":"bridge","tYpE":"evil"}', id="beside-an-allowed-one"),
    pytest.param('{"type" \t:\r\n  "evil"}', id="white-space"),
    pytest.param('{\n"type"\n:\n"evil"\n}', id="newlines"),
    pytest.param('{"type":"bridge","type":"evil"}', id="doubled-last"),
    pytest.param('{"type":"evil","type":"bridge"}', id="doubled-first"),
    pytest.param('{"type":"bridge","ipam":{"type":"evil"}}', id="ipam"),
    pytest.param('{"type":"bridge","ipam":{"type":"evil"},"ipam":{"type":"static"}}', id="doubled-object"),
    pytest.param('{"plugins":[{"type":"bridge"},{"type":"evil"}]}', id="chain"),
    pytest.param('{"type":"bridge","a":[[[{"b":[{"type":"evil"}]}]]]}', id="nested-lists"),
    pytest.param('{"type":"bridge","a":"\\"type","type":"evil"}'.replace("\\", ""), id="quotes-that-do-not-match"),
    pytest.param('{"type":"bridge","x":"type","type":"evil"}', id="after-a-value-called-type"),
    pytest.param('{"type":"type","type":"evil"}', id="of-the-type-type"),
    pytest.param('{"type":"bridge ","x":1}', id="blank-behind"),
    pytest.param('{"type":"Bridge"}', id="value-in-another-case"),
    pytest.param('{"type":"ｂridge"}', id="full-width-letter"),
    pytest.param('{"type":"bri\u200bdge"}', id="zero-width-space"),
    pytest.param('{"type":""}', id="empty"),
])
def test_every_type_has_to_be_allowed(tenant, config):
    assert "spec.config names the plugin type" in refusal(tenant, config)


@pytest.mark.parametrize("config, reason", [
    pytest.param('{"\\u0074ype":"evil"}', "backslash", id="escaped-key"),
    pytest.param('{"type":"\\u0065vil"}', "backslash", id="escaped-value"),
    pytest.param('{"type":"bridge","a\\"":"","type":"evil"}', "backslash", id="escaped-quote"),
    pytest.param('{"type":5}', "not a string", id="number"),
    pytest.param('{"type":["evil"]}', "not a string", id="list"),
    pytest.param('{"type":{"type":"bridge"}}', "not a string", id="object"),
    pytest.param('{"type":"bridge","ipam":{"Type":null}}', "not a string", id="null"),
    pytest.param('{"type":"../../srv/evil"}', "a path", id="path"),
    pytest.param('{"type":"bridge","x":"%s"}' % ("x" * 32768), "32768 bytes", id="large"),
    pytest.param('{"type":"bridge","x":"%s"}' % ("€" * 11000), "32768 bytes", id="large-in-bytes"),
    pytest.param("", "is empty", id="empty"),
])
def test_what_cannot_be_judged_is_refused(tenant, config, reason):
    assert reason in refusal(tenant, config)


def test_a_definition_without_configuration_is_refused(tenant):
    with pytest.raises(Refused, match="is empty"):
        tenant.cluster.request("POST", tenant.path("network-attachment-definitions"), {
            "apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "bad"}})


@pytest.mark.parametrize("type_", ["multus", "multus-cni", "multus-shim"])
def test_multus_itself_is_refused_even_where_all_is_allowed(guarded, type_):
    trusted = labelled(guarded, "trusted")
    until(lambda: taken(trusted, {"type": "evil"}), "the label seen")

    assert "Multus itself" in refusal(trusted, {"type": "bridge", "ipam": {"Type": type_}})


def taken(space, config):
    try:
        space.add_network("try", json.dumps(config))
    except Refused:
        return False
    space.delete_network("try")
    return True


def test_the_label_of_the_namespace_chooses_the_list(guarded, tenant):
    trusted, unknown = labelled(guarded, "trusted"), labelled(guarded, "nobody-knows")

    until(lambda: taken(trusted, {"type": "evil"}), "the label seen")
    until(lambda: not taken(unknown, BRIDGE), "the label seen")

    said = refusal(tenant, {"type": "evil"})
    assert 'type \\"evil\\", which is not in the list \\"default\\" of namespace ' + tenant.namespace in said, said
    assert "(bridge, ipvlan, macvlan, host-local, static, whereabouts)" in said


def test_an_update_is_judged_like_a_new_definition(tenant):
    tenant.add_network("n", json.dumps(BRIDGE))
    with pytest.raises(Refused, match="evil"):
        tenant.change_network("n", '{"type":"evil"}')


def test_an_older_definition_can_be_labelled_and_deleted_but_not_changed(guarded):
    old = guarded.before
    path = old.path("network-attachment-definitions", "old")

    guarded.request("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, "application/merge-patch+json")
    with pytest.raises(Refused, match="evil"):
        old.change_network("old", '{"type":"evil","x":1}')
    old.delete_network("old")
    guarded.request("PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")

    with pytest.raises(Refused, match="404"):
        guarded.get(path)


def test_thousands_of_types_stay_within_what_the_server_evaluates(tenant):
    most = (32768 - 2) // len('"type":"bridge",')
    config = "{" + ",".join(['"type":"bridge"'] * most) + "}"
    tenant.add_network("many", config)
    assert "names the plugin type" in refusal(tenant, config.replace("bridge", "evil"))


def test_no_other_manifest_contains_it():
    """Off until applied."""
    for path in sorted(DEPLOY.rglob("*.y*ml")):
        if path.name != POLICY:
            assert "multus-network-definitions" not in path.read_text() and POLICY not in path.read_text(), path


class Texts:
    """Random JSON without backslashes, and every key and value of it that the policy has to see."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def space(self):
        return "".join(self.random.choices([" ", "\t", "\n", "\r", ""], k=self.random.randrange(3)))

    def value(self, depth=0):
        kind = self.random.randrange(6 if depth < 4 else 3)
        if kind < 3:
            return self.random.choice(['"type"', '"evil"', '"a:b"', '"{[,"', '""', "5", "null", '"type :"'])
        inside = [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if kind == 3:
            return "[" + ",".join(self.space() + one + self.space() for one in inside) + "]"
        keys = ['"type"', '"TYPE"', '"tYpe"', '"types"', '" type"', '"x"', '""', '"ipam"']
        return "{" + ",".join(self.space() + self.random.choice(keys) + self.space() + ":" + self.space() + one + self.space()
                              for one in inside) + "}"


def test_the_text_shows_what_a_reader_of_json_sees():
    """The expression of the policy finds every type, doubled ones too, and nothing else."""
    expression = re.search(r"findAll\(r'(.*?)'\)\.map", (DEPLOY / POLICY).read_text()).group(1)
    texts = Texts(16)
    for _ in range(20_000):
        text = texts.value()
        seen = []
        json.loads(text, object_pairs_hook=seen.extend)
        types = [value for key, value in seen if key.lower() == "type" and isinstance(value, str)]
        assert sorted(found.split('"')[3] for found in re.findall(expression, text)) == sorted(types), text
