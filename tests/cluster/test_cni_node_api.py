"""cni-node against a real API server: manifests, watch mode, the rights of the shipped manifests (04, 1.10 and 3)."""

import json

import pytest

from harness.cluster.control_plane import DEPLOY, Refused
from harness.machine.wait import until
from harness.node.cni_node import CniNode, replace

CALICO = '{"name": "k8s", "plugins": [{"type": "calico"}]}\n'
MULTUS = '{"name": "m", "type": "multus-cni", "delegates": [\n   __10-calico.conflist__\n]}\n'


def config_map(name, **data):
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {json.dumps(data)}\n"


@pytest.fixture
def cni(program, tmp_path, cluster, space):
    node = CniNode(program("cni-node"), tmp_path)
    node.env["KUBECONFIG"] = str(cluster.kubeconfig)
    node.env["POD_NAMESPACE"] = space.namespace
    node.env["NODE_HOSTNAME"] = space.node
    (node.templates / "05-m.conf").write_text(MULTUS)
    yield node
    node.close()


@pytest.fixture
def find(cluster, space):
    """A ConfigMap of the test's namespace, or None."""
    def find_(name, path=None):
        try:
            return cluster.get(path or f"/api/v1/namespaces/{space.namespace}/configmaps/{name}")
        except Refused as refused:
            assert refused.status == 404
            return None
    return find_


@pytest.fixture
def lists(cluster, space):
    """Writes the ConfigMap that watch follows, as users do."""
    def write(**data):
        cluster.kubectl("-n", space.namespace, "apply", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "lists"}, "data": data}))
    return write


def watch(cni, *words, wait="### Status ###", **env):
    return cni.start("watch", "--configmap=lists", *words, **env).wait_for(wait)


def ledger(cni):
    return json.loads(cni.state.read_text())


@pytest.mark.spec("04:52", "04:54", "04:55")
def test_objects_come_and_go(cni, find, cluster):
    (cni.manifests / "m.yaml").write_text(
        config_map("a", x="$NODE_HOSTNAME") + "---\n# nothing\n---\n---\n" + config_map("b", x="1"))

    first = cni.run("install", "--manifests=m.yaml")
    second = cni.run("install", "--manifests=m.yaml")

    assert first.returncode == 0, first.stderr
    assert first.stdout.endswith("###\nconfigmap/a created\nconfigmap/b created\nDone.\n")
    assert second.stdout.endswith("###\nconfigmap/a serverside-applied\nconfigmap/b serverside-applied\nDone.\n")
    assert "1 changed, 0 unchanged" in first.stderr and "0 changed, 1 unchanged" in second.stderr
    assert find("a")["data"] == {"x": cni.env["NODE_HOSTNAME"]}
    assert find("a")["metadata"]["managedFields"][0]["manager"] == "cni-node"

    (cni.manifests / "m.yaml").write_text(config_map("a", y="2") + "---\n" + config_map("b", x="1"))
    changed = cni.run("apply", "--manifests=m.yaml", "--field-manager=cni-node")
    assert changed.returncode == 0 and find("a")["data"] == {"y": "2"}

    gone = cni.run("uninstall", "--manifests=m.yaml")
    assert gone.stdout.endswith('###\nconfigmap "b" deleted\nconfigmap "a" deleted\nDone.\n')
    assert find("a") is None and find("b") is None
    assert cni.run("uninstall", "--manifests=m.yaml").stdout.count("not found, skipped") == 2


def test_what_kubectl_made_can_be_taken_over(cni, find, cluster, space):
    (cni.manifests / "m.yaml").write_text(config_map("a", x="2"))
    cluster.kubectl("-n", space.namespace, "apply", "-f", "-", stdin=config_map("a", x="1"))

    assert cni.run("install", "--manifests=m.yaml").returncode == 0
    assert find("a")["data"] == {"x": "2"}
    assert cni.run("uninstall", "--manifests=m.yaml").returncode == 0
    assert find("a") is None


@pytest.mark.spec("04:56", "04:57")
def test_a_definition_and_an_object_of_it_in_one_file(cni, space, cluster):
    group = f"{space.namespace}.example.org"
    thing = f"apiVersion: {group}/v1\nkind: Thing\nmetadata: {{name: t}}\nspec: {{mode: 0744}}\n"
    (cni.manifests / "thing.yaml").write_text(thing)
    (cni.manifests / "both.yaml").write_text(f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: things.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{kind: Thing, plural: things, singular: thing}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}
---
""" + thing)

    refused = cni.run("install", "--manifests=thing.yaml")
    dry = cni.run("install", "--manifests=both.yaml", "--dry-run")
    done = cni.run("install", "--manifests=both.yaml")

    assert refused.returncode == 1
    assert f'no matches for kind "Thing" in version "{group}/v1"' in refused.stderr
    assert dry.returncode == 0 and "would be created" in dry.stdout
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"customresourcedefinition.apiextensions.k8s.io/things.{group} created\n"
                                f"thing.{group}/t created\nDone.\n")
    assert cluster.get(f"/apis/{group}/v1/namespaces/{space.namespace}/things/t")["spec"] == {"mode": 484}

    gone = cni.run("uninstall", "--manifests=both.yaml")
    assert gone.returncode == 0, gone.stderr
    assert gone.stdout.endswith(f'thing.{group} "t" deleted\ncustomresourcedefinition.apiextensions.k8s.io '
                                f'"things.{group}" deleted\nDone.\n')
    assert cni.run("uninstall", "--manifests=thing.yaml").stdout.count("not found, skipped") == 1


def test_a_manifest_refused_in_the_middle_stops_the_list_there(cni, find):
    (cni.manifests / "1.yaml").write_text(config_map("a", x="1"))
    (cni.manifests / "2.yaml").write_text(config_map("b", x="1") + "---\n" + config_map("Not_A_Name", x="1")
                                          + "---\n" + config_map("d", x="1"))
    (cni.manifests / "3.yaml").write_text(config_map("e", x="1"))

    done = cni.run("install", "--plugins=macvlan", "--manifests=1.yaml,2.yaml,3.yaml")

    assert done.returncode == 1
    assert "cni-node: 2.yaml: configmap/Not_A_Name: " in done.stderr and "Invalid value" in done.stderr
    assert [name for name in "abde" if find(name)] == ["a", "b"]
    assert cni.installed() == ["macvlan"]


@pytest.mark.spec("04:65", "04:66")
@pytest.mark.parametrize("text, reason", [
    ("a: [", "document 1: line "), ("a: 1\na: 2\n", 'key "a" occurs twice'), ("a:\n\tb: 1\n", "document 1: line "),
    ("x: .inf\n", "is not a JSON number"), ("kind: A\nmetadata: {name: a}\n", "document 1: apiVersion: missing"),
    (config_map("a") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: x}\n",
     "document 2: metadata.name: missing"), ("{", "document 1: ")])
def test_a_bad_manifest_causes_no_request(cni, proxy, text, reason):
    (cni.manifests / "m.yaml").write_text(text)
    done = cni.run("install", "--manifests=m.yaml", f"--kubeconfig={proxy.kubeconfig('none', token='x')}")
    assert done.returncode == 1
    assert "cni-node: m.yaml: " in done.stderr and reason in done.stderr
    assert proxy.requests == []


def test_a_dry_run_shows_what_would_change_on_the_server(cni, find):
    (cni.manifests / "m.yaml").write_text(config_map("a", x="1"))
    created = cni.run("install", "--manifests=m.yaml", "--dry-run")
    assert find("a") is None and "configmap/a would be created" in created.stdout
    cni.run("install", "--manifests=m.yaml")
    assert "configmap/a would stay unchanged" in cni.run("install", "--manifests=m.yaml", "--dry-run").stdout
    (cni.manifests / "m.yaml").write_text(config_map("a", x="2"))
    changed = cni.run("install", "--manifests=m.yaml", "--dry-run")
    assert '-    "x": "1"\n+    "x": "2"\n' in changed.stdout
    assert find("a")["data"] == {"x": "1"}
    assert "configmap/a would be deleted" in cni.run("uninstall", "--manifests=m.yaml", "--dry-run").stdout
    assert find("a")


@pytest.mark.spec("04:63")
def test_a_deletion_that_does_not_end_is_an_error(cni, cluster, space, find):
    text = config_map("a", x="1").replace("name: a", "name: a, finalizers: [example.org/hold]")
    (cni.manifests / "m.yaml").write_text(text)
    cni.run("install", "--manifests=m.yaml")

    late = cni.run("uninstall", "--manifests=m.yaml", "--wait-timeout=1")
    hasty = cni.run("uninstall", "--manifests=m.yaml", "--wait-timeout=0")

    assert late.returncode == 1 and 'not deleted in time: finalizers ["example.org/hold"]' in late.stderr
    assert hasty.returncode == 0
    cluster.request("PATCH", f"/api/v1/namespaces/{space.namespace}/configmaps/a",
                    {"metadata": {"finalizers": None}}, "application/merge-patch+json")


@pytest.mark.spec("04:96", "04:97", "04:98")
def test_the_node_follows_its_configmap(cni, lists, find, cluster, space):
    (cni.net / "10-calico.conflist").write_text(CALICO)
    (cni.manifests / "m.yaml").write_text(config_map("made", x="$NODE_HOSTNAME"))
    lists(plugins="macvlan, vlan", configs="05-m.conf", manifests="m.yaml")

    running = watch(cni)
    until(lambda: find("made"), lambda: running.stderr)
    running.wait_for("manifest  m.yaml     installed")

    order = [line.split(" ")[0] + " " + line.split(" ")[2] for line in running.stdout.splitlines()
             if line.startswith(("Installing", "Applying"))]
    assert order == ["Installing plugin", "Installing plugin", "Installing configuration", "Applying object..."]
    assert ledger(cni)["source"] == f"{space.namespace}/lists"
    assert ledger(cni)["plugins"] == ["macvlan", "vlan"]
    assert ledger(cni)["manifests"][0]["objects"] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "namespace": space.namespace, "name": "made"}]
    assert json.loads((cni.net / "05-m.conf").read_text())["delegates"][0]["name"] == "k8s"

    inode = (cni.bin / "vlan").stat().st_ino
    lists(plugins="vlan", configs="05-m.conf", manifests="m.yaml")
    until(lambda: cni.installed() == ["vlan"], lambda: running.stdout)
    assert (cni.bin / "vlan").stat().st_ino == inode and find("made")

    lists(plugins="", manifests="m.yaml")
    until(lambda: cni.installed() == [], lambda: running.stdout)
    assert "05-m.conf" in cni.configs() and find("made")

    cluster.kubectl("-n", space.namespace, "delete", "configmap", "lists")
    running.wait_for("warning: the ConfigMap was deleted; everything stays as it is")
    assert "05-m.conf" in cni.configs() and find("made")
    lists(plugins="ipvlan")
    until(lambda: cni.installed() == ["ipvlan"], lambda: running.stdout)
    assert running.stop() == 0
    assert cni.installed() == ["ipvlan"]


@pytest.mark.spec("04:103", "04:104")
def test_a_manifest_goes_with_its_file_and_its_variables(cni, lists, find):
    (cni.manifests / "m.yaml").write_text(config_map("$NAME", x="1") + "---\n" + config_map("second", x="1"))
    lists(manifests="m.yaml", plugins="vlan")
    running = watch(cni, NAME="first")
    running.wait_for("manifest  m.yaml  installed")
    assert find("first") and find("second")

    replace(cni.manifests / "m.yaml", config_map("$NAME", x="2"))
    until(lambda: find("second") is None, lambda: running.stdout)
    assert find("first")["data"] == {"x": "2"}, running.stdout + running.stderr

    (cni.manifests / "m.yaml").unlink()
    lists(manifests="", plugins="vlan")
    until(lambda: find("first") is None, lambda: running.stdout)
    until(lambda: ledger(cni)["manifests"] == [], "the ledger")

    assert running.stop() == 0
    lists(plugins="")
    again = watch(cni)
    until(lambda: cni.installed() == [], lambda: again.stdout)


@pytest.mark.spec("04:109")
def test_a_bad_name_keeps_the_old_list_of_its_kind(cni, lists):
    lists(plugins="macvlan")
    running = watch(cni)
    (cni.templates / "x.conf").write_text("{}")
    lists(plugins="vlan,../../etc/passwd", configs="x.conf")
    running.wait_for("plugins: Invalid name: ../../etc/passwd")
    until(lambda: "x.conf" in cni.configs(), lambda: running.stderr)
    assert cni.installed() == ["macvlan"]


def test_a_configmap_that_comes_late_is_waited_for(cni, lists):
    running = cni.start("watch", "--configmap=lists").wait_for("the ConfigMap does not exist")
    lists(plugins="macvlan")
    until(lambda: cni.installed() == ["macvlan"], lambda: running.stderr)


@pytest.mark.spec("04:107")
def test_clean_up_takes_objects_away_too(cni, lists, find):
    (cni.net / "10-calico.conflist").write_text(CALICO)
    (cni.manifests / "m.yaml").write_text(config_map("made", x="1"))
    lists(plugins="macvlan", configs="05-m.conf", manifests="m.yaml")
    running = watch(cni, "--cleanup-on-exit")
    running.wait_for("manifest  m.yaml     installed")

    assert running.stop() == 0

    assert cni.installed() == [] and cni.configs() == ["10-calico.conflist"] and find("made") is None
    assert ledger(cni)["manifests"] == []
    order = [line.split(" ")[0] for line in running.stdout.splitlines() if line.startswith(("Uninst", "Deleting"))]
    assert order == ["Uninstalling", "Uninstalling", "Deleting"]


@pytest.mark.slow
@pytest.mark.spec("04:105")
def test_an_outage_of_the_api_holds_up_no_file(cni, own_cluster):
    cluster = own_cluster()
    cni.env.update(KUBECONFIG=str(cluster.kubeconfig), POD_NAMESPACE="default")
    (cni.net / "10-calico.conflist").write_text(CALICO)
    (cni.manifests / "m.yaml").write_text(config_map("made", x="1"))

    def write(**data):
        cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "lists", "namespace": "default"},
                       "data": data})

    def made():
        try:
            return cluster.get("/api/v1/namespaces/default/configmaps/made")["data"]["x"]
        except (OSError, Refused):
            return None
    write(plugins="macvlan", configs="05-m.conf", manifests="m.yaml")
    running = watch(cni)
    until(lambda: made() == "1", lambda: running.stderr)

    cluster.stop_apiserver()
    replace(cni.manifests / "m.yaml", config_map("made", x="2"))
    running.wait_for("manifest  m.yaml     failed")
    replace(cni.net / "10-calico.conflist", CALICO.replace("k8s", "other"))
    until(lambda: "other" in (cni.net / "05-m.conf").read_text(), lambda: running.stderr)
    # A watch that starts now goes on with what it had.
    assert running.stop() == 0
    again = watch(cni, wait="Watching configmap")
    replace(cni.net / "10-calico.conflist", CALICO.replace("k8s", "third"))
    until(lambda: "third" in (cni.net / "05-m.conf").read_text(), lambda: again.stderr)

    cluster.start_apiserver()
    until(lambda: made() == "2", lambda: again.stderr)
    write(plugins="vlan", configs="05-m.conf", manifests="m.yaml")
    until(lambda: cni.installed() == ["vlan"], lambda: again.stderr)


# Rights: those of the shipped example, and those that manifests of bindings need, as the original's example has one.

SHIPPED = ("cni-node/multus-cni-config.yaml", "cni-node/multus-cni-rbac.yaml")
ROLE = "rbac.authorization.k8s.io"
BINDING = """apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "multus-cni-${NODE_HOSTNAME}"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: multus-cni-crd}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:node:${NODE_HOSTNAME}"}
"""
BIND = {"apiGroups": [ROLE], "resources": ["clusterroles"], "resourceNames": ["multus-cni-crd"], "verbs": ["bind"]}
ORIGINAL_RULES = [{"apiGroups": [ROLE], "resources": ["clusterrolebindings"], "verbs": ["get", "create", "delete"]}, BIND]
ENOUGH_RULES = [{"apiGroups": [ROLE], "resources": ["clusterrolebindings"], "verbs": ["get", "create", "patch", "delete"]}, BIND]


@pytest.fixture
def shipped(cni, own_cluster):
    """A cluster with the watching example but its DaemonSet, and its volumes as kubelet would show them."""
    cluster = own_cluster()
    cluster.apply_files(*SHIPPED)
    cluster.cni = cni
    for name, text in cluster.get("/api/v1/namespaces/kube-system/configmaps/multus-cni-configs")["data"].items():
        (cni.templates / name).write_text(text)
    (cni.net / "10-calico.conflist").write_text(CALICO)
    token = cluster.token_for("kube-system", "multus-cni")
    cni.env["KUBECONFIG"] = str(cluster.write_kubeconfig("account", token=token))
    return cluster


@pytest.fixture
def with_binding(shipped, cni):
    """The example with a manifest of a binding for each node, and the rights to apply it."""
    (cni.manifests / "multus-cni-crd.yaml").write_text(BINDING)
    for name, rules in (("multus-cni-crd", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]),
                        ("multus-cni", ENOUGH_RULES)):
        role = {"apiVersion": f"{ROLE}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}
        shipped.kubectl("apply", "-f", "-", stdin=json.dumps(role))
    shipped.kubectl("create", "clusterrolebinding", "multus-cni", "--clusterrole=multus-cni",
                    "--serviceaccount=kube-system:multus-cni")
    return shipped


def binding(cluster, cni):
    try:
        return cluster.get("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/multus-cni-"
                           + cni.env["NODE_HOSTNAME"])
    except Refused:
        return None


def start_shipped(cni):
    return cni.start("watch", "--configmap=kube-system/multus-cni", "--cleanup-on-exit")


def set_rules(cluster, kind, path, rules):
    cluster.request("PATCH", f"/apis/rbac.authorization.k8s.io/v1/{path}/multus-cni", {"rules": rules},
                    "application/merge-patch+json")


@pytest.mark.slow
@pytest.mark.spec("04:121")
def test_the_shipped_rights_suffice_and_each_is_needed(shipped, cni):
    running = start_shipped(cni)
    until(lambda: cni.installed() == ["ipvlan", "macvlan", "multus-cni"] and "05-multus-cni.conf" in cni.configs(),
          lambda: running.stderr)
    assert running.stop() == 0, running.stderr
    assert cni.installed() == []

    path = "namespaces/kube-system/roles"
    rules = shipped.get(f"/apis/rbac.authorization.k8s.io/v1/{path}/multus-cni")["rules"]
    for verb in rules[0]["verbs"]:
        set_rules(shipped, "Role", path, [{**rules[0], "verbs": [v for v in rules[0]["verbs"] if v != verb]}])
        running = start_shipped(cni).wait_for(f'cannot {verb} resource "configmaps"')
        running.stop()


def test_the_shipped_account_may_do_nothing_else(shipped):
    account = "--as=system:serviceaccount:kube-system:multus-cni"
    for words in (("delete", "clusterrolebindings"), ("create", "clusterrolebindings"), ("list", "pods", "-A"),
                  ("get", "secrets", "-n", "kube-system"), ("get", "configmaps", "-n", "kube-system"),
                  ("update", "configmaps/multus-cni", "-n", "kube-system"), ("get", "daemonsets", "-n", "kube-system"),
                  ("delete", "daemonsets/multus-cni-node", "-n", "kube-system")):
        assert shipped.kubectl("auth", "can-i", *words, account, check=False).strip() == "no", words
    assert shipped.kubectl("auth", "can-i", "get", "configmaps/multus-cni", "-n", "kube-system", account).strip() == "yes"


@pytest.mark.spec("04:130")
def test_only_the_end_of_its_daemonset_takes_everything_away(shipped, cni):
    """With the account's own rights: a rollout, a deletion, and a deletion of the rights with it."""
    def run_until(change, *expected):
        running = cni.start("watch", "--configmap=kube-system/multus-cni", "--cleanup-on-exit",
                            "--owner=kube-system/multus-cni-node").wait_for("05-multus-cni.conf  installed")
        change()
        assert running.stop(timeout=60) == 0, running.stderr
        assert cni.installed() == list(expected), running.stderr
        return running.stderr
    placed = ("ipvlan", "macvlan", "multus-cni")
    shipped.kubectl("apply", "-f", DEPLOY / "cni-node" / "multus-cni.yaml")

    assert "DaemonSet kube-system/multus-cni-node exists; everything stays" in run_until(lambda: None, *placed)
    assert "does not exist any more" in run_until(
        lambda: shipped.kubectl("-n", "kube-system", "delete", "daemonset", "multus-cni-node"))
    shipped.kubectl("apply", "-f", DEPLOY / "cni-node" / "multus-cni.yaml")
    assert "is another one now" in run_until(lambda: (
        shipped.kubectl("-n", "kube-system", "delete", "daemonset", "multus-cni-node"),
        shipped.kubectl("apply", "-f", DEPLOY / "cni-node" / "multus-cni.yaml")))
    assert "is forbidden now" in run_until(
        lambda: shipped.kubectl("-n", "kube-system", "delete", "rolebinding", "multus-cni"))


@pytest.mark.slow
def test_what_manifests_of_bindings_need(with_binding, cni):
    with_binding.kubectl("-n", "kube-system", "patch", "configmap", "multus-cni", "--type=merge", "--patch",
                         json.dumps({"data": {"manifests": "multus-cni-crd.yaml"}}))
    running = start_shipped(cni).wait_for("manifest  multus-cni-crd.yaml  installed")
    assert binding(with_binding, cni)["subjects"][0]["name"] == f"system:node:{cni.env['NODE_HOSTNAME']}"
    replace(cni.manifests / "multus-cni-crd.yaml", BINDING.replace("metadata: {", "metadata: {labels: {x: 'x'}, "))
    until(lambda: binding(with_binding, cni)["metadata"].get("labels"), lambda: running.stderr)
    assert running.stop() == 0, running.stderr
    assert binding(with_binding, cni) is None and cni.installed() == []

    for number, rule in enumerate(ENOUGH_RULES):
        for verb in rule["verbs"]:
            rules = [dict(other) for other in ENOUGH_RULES]
            rules[number]["verbs"] = [other for other in rule["verbs"] if other != verb]
            set_rules(with_binding, "ClusterRole", "clusterroles", [one for one in rules if one["verbs"]])
            assert_missing(with_binding, cni, verb, BINDING)


def assert_missing(cluster, cni, verb, text):
    """Something of the example's life fails without this verb: creating, changing, deleting or waiting for the end."""
    (cni.manifests / "multus-cni-crd.yaml").write_text(text)
    kubeconfig = cni.env["KUBECONFIG"]

    def run(command, **env):
        return cni.run(command, "--manifests=multus-cni-crd.yaml", "--quiet", KUBECONFIG=kubeconfig, **env)
    outcomes = [run("install")]
    (cni.manifests / "multus-cni-crd.yaml").write_text(text.replace("metadata: {", "metadata: {labels: {y: 'y'}, "))
    outcomes.append(run("install"))
    outcomes.append(run("uninstall"))
    cluster.kubectl("delete", "clusterrolebinding", "multus-cni-" + cni.env["NODE_HOSTNAME"], "--ignore-not-found")
    if verb == "get":  # only waiting for the end needs it, which is then left out
        return
    assert any(outcome.returncode != 0 for outcome in outcomes), f"{verb} is not needed"


@pytest.mark.spec("04:111")
def test_the_original_rights_suffice_until_something_changes(with_binding, cni):
    set_rules(with_binding, "ClusterRole", "clusterroles", ORIGINAL_RULES)
    name = f"clusterrolebinding.rbac.authorization.k8s.io/multus-cni-{cni.env['NODE_HOSTNAME']}"

    def install():
        return cni.run("install", "--manifests=multus-cni-crd.yaml", "--quiet")
    created, unchanged = install(), install()
    path = cni.manifests / "multus-cni-crd.yaml"
    path.write_text(path.read_text().replace("metadata: {", "metadata: {labels: {x: 'x'}, "))
    changed = install()

    assert created.returncode == unchanged.returncode == 0, created.stderr + unchanged.stderr
    assert f"{name} created\n" in created.stdout and f"{name} unchanged\n" in unchanged.stdout
    assert changed.returncode == 1 and "patch" in changed.stderr
    assert cni.run("uninstall", "--manifests=multus-cni-crd.yaml").returncode == 0
    assert binding(with_binding, cni) is None
