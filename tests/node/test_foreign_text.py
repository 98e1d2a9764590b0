"""Whatever a tenant writes into an annotation, a definition or CNI_ARGS, errors, events and log lines stay short and hold
nothing that a terminal obeys (02, 0.4). With the real programs; at log level verbose."""

import json

import pytest
from harness.machine.wait import until, whole_lines
from harness.node.objects import DEFAULT_NETWORK, FOLDER, SKIP_DEFAULT_NETWORKS

SIZE = 20000
RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
# A text that takes over a terminal, one that is only long, and one that every name may be.
HOSTILE = {"escapes": "\x1b]0;owned\x07\u009b31m" * (SIZE // 14), "spaces": "A " * (SIZE // 2), "name": "a" * SIZE}

ANNOTATIONS = {
    "name": lambda text: text, "namespace": lambda text: f"{text}/n", "slashes": lambda text: f"a/b/{text}",
    "interface": lambda text: f"n@{text}", "ats": lambda text: f"n@b@{text}", "empty-name": lambda text: f"{text}/@x",
    "json-name": lambda text: [{"name": text}], "json-namespace": lambda text: [{"name": "n", "namespace": text}],
    "json-ifname": lambda text: [{"name": "n", "interface": text}], "mac": lambda text: [{"name": "n", "mac": text}],
    "guid": lambda text: [{"name": "n", "infiniband-guid": text}], "ip": lambda text: [{"name": "n", "ips": [text]}],
    "cidr": lambda text: [{"name": "n", "ips": [f"{text}/24"]}],
    "gateway": lambda text: [{"name": "n", "default-route": [text]}],
    "number": lambda _: '[{"name":"n","bandwidth":{"ingressRate":%s}}]' % ("9" * SIZE),
    "port": lambda _: '[{"name":"n","portMappings":[{"hostPort":1.%s}]}]' % ("9" * SIZE),
    "own-type": lambda text: [{"name": "n", "cni-args": {text: {"type": "multus"}}}],
    "path-type": lambda text: [{"name": "n", "cni-args": {"type": f"/{text}"}}],
    "device": lambda text: [{"name": "n", "deviceID": text}],
}

DEFINITIONS = {
    "not-json": lambda text: text, "type": lambda text: {"type": text}, "path": lambda text: {"type": f"../{text}"},
    "name": lambda text: {"name": text, "type": "fake"}, "version": lambda text: {"cniVersion": text, "type": "fake"},
    "version-part": lambda text: {"cniVersion": f"1.{text}.0", "plugins": [{"type": "fake"}]},
    "capability": lambda text: {"type": "fake", "capabilities": {text: 1}},
    "list-capability": lambda text: {"cniVersion": "1.0.0", "plugins": [{"type": "fake", "capabilities": {text: 1}}]},
    "list-type": lambda text: {"cniVersion": "1.0.0", "plugins": [{"type": "fake"}, {"type": text}]},
    "list-name": lambda text: {"cniVersion": "1.0.0", "name": text, "plugins": [{"type": "fake"}]},
    "versions": lambda text: {"cniVersion": "1.0.0", "cniVersions": [text], "plugins": [{"type": "fake"}]},
    "flag": lambda text: {"cniVersion": "1.0.0", "disableCheck": text, "plugins": [{"type": "fake"}]},
    "ipam": lambda text: {"type": "fake", "ipam": {"type": f"/{text}"}},
    "null-key": lambda text: {"type": "fake", "name": "x", text: None},
    "many-types": lambda text: {"cniVersion": "1.0.0", "plugins": [{"type": f"no{i}"} for i in range(2000)]},
}

ARGS = {
    "pod": "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME={};K8S_POD_INFRA_CONTAINER_ID=c;K8S_POD_UID=u",
    "namespace": "IgnoreUnknown=1;K8S_POD_NAMESPACE={};K8S_POD_NAME=p;K8S_POD_INFRA_CONTAINER_ID=c;K8S_POD_UID=u",
    "uid": "IgnoreUnknown=1;K8S_POD_NAMESPACE=default;K8S_POD_NAME=web;K8S_POD_INFRA_CONTAINER_ID=c;K8S_POD_UID={}",
    "flag": "IgnoreUnknown={}", "unknown": "x={}", "pair": "{}", "ip": "IgnoreUnknown=1;IP={}",
}

# An error names pod, container, arguments and several steps around the text; none of that grows with it.
LONGEST_ERROR, LONGEST_LINE, LONGEST_EVENT = 4096, 8192, 1024


def is_clean(text):
    return all(character == "\n" or character.isprintable() or character == " " for character in text)


class Evidence:
    """Judges all that was said since the last look; the faults are told together, at the end."""

    def __init__(self, node):
        self.node = node
        self.seen = len(node.daemon.log)
        self.faults = []

    def judge(self, where, text, longest):
        if not is_clean(text):
            self.faults.append(f"{where}: not clean: {text[:150]!r}")
        if len(text.encode()) > longest:
            self.faults.append(f"{where}: {len(text.encode())} bytes: {text[:150]!r}")

    def look(self, outcome, what):
        if not outcome.ok:
            for text in (outcome.error["msg"], outcome.error.get("details", "")):
                self.judge((*what, "error"), text, LONGEST_ERROR)
        log = self.node.daemon.log
        new, self.seen = log[self.seen:], len(log)
        for line in new.splitlines():
            self.judge((*what, "log"), line, LONGEST_LINE)

    def look_at_events(self, at_least):
        until(lambda: len(events_of(self.node)) >= at_least, "the events")
        for event in events_of(self.node):
            self.judge(("event", event["reason"]), event["message"], LONGEST_EVENT)

    def attempt(self, pod, what):
        """A pod's life: whatever is refused is refused well."""
        for command in ("ADD", "CHECK", "DEL"):
            self.look(pod.call(command), (what, command))

    def conclude(self):
        assert not self.faults, "\n".join(self.faults)


@pytest.fixture
def tenant(node, fake):
    """A node whose daemon logs as in production, with the network `n`."""
    node.configure(fake.conf("cluster"))
    node.network("n", fake.conf("n"))
    node.start(logLevel="verbose")
    return node


def events_of(node):
    path = node.host.path(f"{FOLDER}/events.jsonl")
    return [json.loads(line) for line in whole_lines(path)] if path.exists() else []


@pytest.mark.parametrize("kind", HOSTILE)
def test_annotations(tenant, kind):
    evidence = Evidence(tenant)

    for what, make in ANNOTATIONS.items():
        evidence.attempt(tenant.pod(make(HOSTILE[kind])), what)
    for key in (DEFAULT_NETWORK, SKIP_DEFAULT_NETWORKS):
        evidence.attempt(tenant.pod(annotations={key: HOSTILE[kind]}), key)

    evidence.look_at_events(at_least=15)
    evidence.conclude()


# What cannot be added cannot be deleted either: pending DELs are left.
@pytest.mark.leaves("record */_attachments/*", "record */c-default-*", "record */pending-del/*")
@pytest.mark.parametrize("kind", HOSTILE)
def test_definitions(tenant, kind):
    evidence = Evidence(tenant)

    for what, make in DEFINITIONS.items():
        tenant.network(f"bad-{what}", make(HOSTILE[kind]))
        evidence.attempt(tenant.pod(f"bad-{what}"), what)
    tenant.network("of-resource", {"type": "fake", "name": "x"}, annotations={RESOURCE: HOSTILE[kind]})
    evidence.attempt(tenant.pod("of-resource"), "resource")

    evidence.look_at_events(at_least=5)
    evidence.conclude()


@pytest.mark.parametrize("kind", HOSTILE)
def test_arguments(tenant, kind):
    evidence = Evidence(tenant)
    pod = tenant.pod("n")

    for what, args in ARGS.items():
        for command in ("ADD", "CHECK", "DEL"):
            evidence.look(pod.call(command, args=args.format(HOSTILE[kind])), (what, command))

    evidence.conclude()


@pytest.mark.parametrize("kind", HOSTILE)
def test_hot_plugged_configurations(tenant, kind):
    evidence = Evidence(tenant)
    pod = tenant.pod()
    assert pod.add().ok

    for what, make in DEFINITIONS.items():
        for command in ("ADD", "CHECK", "DEL"):
            answer = pod.delegate(command, make(HOSTILE[kind]))
            evidence.judge((what, command, "answer"), answer.text, LONGEST_ERROR)

    evidence.conclude()


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_plugins_error_reaches_the_runtime_whole_and_the_log_without_controls(tenant, fake, kind):
    said = HOSTILE[kind]
    tenant.network("loud", fake.conf("loud", ADD={"error": {"code": 117, "msg": said, "details": said}, "exit": 1}))

    error = tenant.pod("loud").add().error

    assert error["code"] == 117 and error["msg"].endswith(said) and error["details"] == said
    assert is_clean(tenant.daemon.log)
