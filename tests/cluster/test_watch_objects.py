"""kube-watch on objects of a real API server (04, 2.2 and 2.5)."""

import os
import time
import uuid

import pytest

from harness.machine.wait import until
from harness.node.kube_watch import KubeWatch

FRUITS = "orange,apple,banana"


@pytest.fixture(scope="session")
def kube_watch(tools):
    path = tools.parent / "bin" / "kube-watch"
    assert path.exists(), f"{path} is not built"
    return path


@pytest.fixture
def start(kube_watch, tmp_path):
    started = []

    def begin(kubeconfig, *words, **options):
        folder = tmp_path / f"watch{options.pop('number', len(started))}"
        started.append(KubeWatch(kube_watch, folder, *words, f"--kubeconfig={kubeconfig}", **options))
        return started[-1]
    yield begin
    for one in started:
        if one.process.poll() is None:
            assert one.stop() == 0, one.err.read_text()


class Map:
    """A ConfigMap, and an account that may get and watch it and nothing else, as in the fruits example."""

    def __init__(self, space, name="fruits"):
        self.space, self.cluster, self.name = space, space.cluster, name
        self.path = f"/api/v1/namespaces/{space.namespace}/configmaps"

    def create(self, **data):
        self.cluster.request("POST", self.path, {"metadata": {"name": self.name}, "data": data})
        return self

    def change(self, **data):
        self.cluster.request("PATCH", f"{self.path}/{self.name}", {"data": data}, "application/merge-patch+json")

    def annotate(self, **annotations):
        self.cluster.request("PATCH", f"{self.path}/{self.name}", {"metadata": {"annotations": annotations}},
                             "application/merge-patch+json")

    def delete(self):
        self.cluster.request("DELETE", f"{self.path}/{self.name}")

    def watcher(self):
        """The token of its account."""
        ns, name = self.space.namespace, f"watcher-{uuid.uuid4().hex[:6]}"
        rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}"
        self.cluster.request("POST", f"/api/v1/namespaces/{ns}/serviceaccounts", {"metadata": {"name": name}})
        self.cluster.request("POST", f"{rbac}/roles", {"metadata": {"name": name}, "rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [self.name], "verbs": ["get", "watch"]}]})
        self.cluster.request("POST", f"{rbac}/rolebindings", {
            "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": ns}]})
        return self.cluster.token_for(ns, name)


@pytest.fixture
def fruits(space):
    return Map(space).create(fruits=FRUITS)


def words(space, name="fruits", jsonpath="{.data.fruits}"):
    return ["object", "configmap", f"{space.namespace}/{name}", f"--jsonpath={jsonpath}"]


@pytest.mark.spec("04:74", "04:75", "04:76", "04:82")
def test_fruits_with_no_more_rights_than_the_example_has(start, fruits, space, proxy):
    watch = start(proxy.kubeconfig("fruits.kubeconfig", token=fruits.watcher()), *words(space))
    watch.wait_values((FRUITS, ""))
    fruits.annotate(some="thing")
    fruits.change(fruits="orange,mango,banana")
    watch.wait_values((FRUITS, ""), ("orange,mango,banana", FRUITS))

    assert watch.calls()[0].channel == str(watch.channel)
    assert [call.event for call in watch.calls()] == ["ADDED", "MODIFIED"]
    assert watch.calls()[0].object == f"{space.namespace}/fruits"
    assert f"Watching object configmap {space.namespace}/fruits jsonpath={{.data.fruits}}...\n" \
           f"### Channel data ###\n{FRUITS}\n###\n### Channel data diff ###\n@@ -0,0 +1 @@\n+{FRUITS}\n" \
           "\\ No newline at end of file\n###\n" \
           f"Handling channel data with {watch.handler}...\n" in watch.out.read_text()
    assert ("@@ -1 +1 @@\n-orange,apple,banana\n\\ No newline at end of file\n+orange,mango,banana\n"
            "\\ No newline at end of file\n###\n") in watch.out.read_text()
    asked = [f"{method} {target}" for method, target in proxy.requests]
    assert asked[1] == f"GET {fruits.path}/fruits"  # after the request for the type
    assert "watch=1" in asked[2] and "fieldSelector=metadata.name%3Dfruits" in asked[2] and "resourceVersion=" in asked[2]
    assert not [line for line in asked if line.split("?")[0] == f"GET {fruits.path}" and "watch=1" not in line]


@pytest.mark.spec("04:77")
def test_a_field_that_is_emptied(start, fruits, space, kubeconfig_of_admin):
    plain = start(kubeconfig_of_admin, *words(space))
    empty = start(kubeconfig_of_admin, *words(space), "-e")
    for watch in (plain, empty):
        watch.wait_values((FRUITS, ""))

    fruits.change(fruits="")
    empty.wait_values((FRUITS, ""), ("", FRUITS))
    fruits.change(fruits="plum")

    plain.wait_values((FRUITS, ""), ("plum", FRUITS))
    empty.wait_values((FRUITS, ""), ("", FRUITS), ("plum", ""))


@pytest.fixture
def kubeconfig_of_admin(cluster):
    return cluster.kubeconfig


@pytest.mark.spec("04:78", "04:79")
def test_an_object_that_comes_and_goes(start, space, proxy, cluster):
    watch = start(proxy.kubeconfig("late.kubeconfig", certificate=None, token=cluster.token_for("kube-system", "multus")),
                  *words(space))
    watch.wait_said("Watching object")
    late = Map(space)
    admin = start(cluster.kubeconfig, *words(space))
    time.sleep(2)  # a while in which it asks now and then: it is not allowed to, and not in a hurry
    assert proxy.count("GET") < 8
    late.create(fruits="first")
    admin.wait_values(("first", ""))

    late.delete()
    late.create(fruits="second")

    admin.wait_values(("first", ""), ("second", "first"))
    watch.wait_said("forbidden")


@pytest.mark.spec("04:78")
def test_an_object_that_is_missing_costs_a_handful_of_requests(start, space, proxy):
    late = Map(space)
    watch = start(proxy.kubeconfig("missing.kubeconfig", token=late.watcher()), *words(space))
    until(lambda: proxy.count("watch=1"), "a watch")
    time.sleep(2)  # a while in which nothing more is to be asked
    assert proxy.count("GET") < 5

    late.create(fruits="here")

    watch.wait_values(("here", ""))
    assert proxy.count("GET") < 5


@pytest.mark.spec("04:80")
def test_what_changes_while_the_stream_is_cut_is_one_call(start, fruits, space, proxy):
    watch = start(proxy.kubeconfig("cut.kubeconfig", token=fruits.watcher()), *words(space))
    watch.wait_values((FRUITS, ""))
    until(lambda: proxy.count("watch=1"), "a watch")

    proxy.flowing.clear()
    proxy.cut()
    for value in ("one", "two", "three"):
        fruits.change(fruits=value)
    proxy.flowing.set()
    proxy.cut()

    watch.wait_values((FRUITS, ""), ("three", FRUITS))


@pytest.mark.spec("04:81")
def test_a_position_that_the_server_has_forgotten(own_cluster, start):
    from harness.net.api_proxy import ApiProxy
    from harness.cluster.workspace import Workspace
    cluster = own_cluster()
    proxy = ApiProxy(cluster)
    fruits = Map(Workspace(cluster)).create(fruits=FRUITS)
    watch = start(proxy.kubeconfig("old.kubeconfig", token=fruits.watcher()), *words(fruits.space))
    watch.wait_values((FRUITS, ""))
    until(lambda: proxy.count("watch=1"), "a watch")

    proxy.refuse("watch=1.*resourceVersion=", 410, times=1)
    gets = proxy.count(f"GET {fruits.path}/fruits")
    proxy.cut()

    until(lambda: proxy.count(f"GET {fruits.path}/fruits") > gets, "read anew")
    fruits.change(fruits="plum")
    watch.wait_values((FRUITS, ""), ("plum", FRUITS))
    proxy.close()


@pytest.mark.spec("04:83")
@pytest.mark.parametrize("written,path", [
    ("cm", "/api/v1/namespaces/{ns}/configmaps"), ("ConfigMap", "/api/v1/namespaces/{ns}/configmaps"),
    ("configmaps", "/api/v1/namespaces/{ns}/configmaps"), ("deployments.apps", "/apis/apps/v1/namespaces/{ns}/deployments"),
    ("deployments.v1.apps", "/apis/apps/v1/namespaces/{ns}/deployments"),
    ("net-attach-def", "/apis/k8s.cni.cncf.io/v1/namespaces/{ns}/network-attachment-definitions"),
    ("node", "/api/v1/nodes")])
def test_types(start, space, proxy, cluster, written, path):
    token = cluster.token_for("kube-system", "multus")
    start(proxy.kubeconfig("types.kubeconfig", token=token), "object", written, f"{space.namespace}/x")

    until(lambda: proxy.count(f"GET {path.format(ns=space.namespace)}/x"), lambda: proxy.requests)


@pytest.mark.slow
def test_a_type_that_comes_later_and_one_that_never_comes(start, cluster, space):
    group = f"g{uuid.uuid4().hex[:6]}.example"
    watch = start(cluster.kubeconfig, "object", f"things.{group}", "x", "-j={.value}")
    watch.wait_said(f'the server doesn\'t have a resource type "things.{group}"')
    cluster.apply({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                   "metadata": {"name": f"things.{group}"},
                   "spec": {"group": group, "scope": "Cluster",
                            "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
                            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                                "type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}})
    cluster.kubectl("wait", "--for=condition=Established", "--timeout=120s", f"crd/things.{group}")
    cluster.apply({"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "x"}, "value": "here"})
    watch.wait_values(("here", ""))

    cluster.kubectl("delete", "crd", f"things.{group}")
    watch.process.wait(300)
    assert watch.process.returncode == 1


@pytest.mark.spec("04:84", "04:114")
def test_pods_of_all_namespaces_by_label(start, cluster, space, proxy):
    label = f"p{uuid.uuid4().hex[:6]}"
    token = cluster.token_for("kube-system", "multus")
    for name, purpose in (("a1", label), ("b1", "other"), ("a2", label)):
        space.add_pod(name, labels={"purpose": purpose})
    watch = start(proxy.kubeconfig("pods.kubeconfig", token=token), "object", "pod", f"{space.namespace}/", "-a",
                  f"-l=purpose={label}", "-j={.metadata.name} {.metadata.annotations.v}")
    until(lambda: len(watch.calls()) == 2, lambda: watch.err.read_text())

    assert sorted(watch.values()) == [("a1 ", ""), ("a2 ", "")]
    watch.wait_said(f"the namespace {space.namespace} is ignored")
    until(lambda: proxy.count(r"GET /api/v1/pods\?.*watch=1"), "the watch after the list")
    assert proxy.count(rf"GET /api/v1/pods\?.*labelSelector=purpose%3D{label}") >= 2
    assert proxy.count(r"GET /api/v1/pods\?.*watch=1") == 1
    cluster.kubectl("-n", space.namespace, "annotate", "pod", "a2", "v=new")
    until(lambda: ("a2 new", "a2 ") in watch.values(), lambda: watch.values())
    space.delete_pod("a1")
    space.add_pod("a1", labels={"purpose": label})
    until(lambda: watch.values().count(("a1 ", "")) == 2, lambda: watch.values())


def test_an_outage_of_the_server(own_cluster, start):
    from harness.cluster.workspace import Workspace
    cluster = own_cluster()
    fruits = Map(Workspace(cluster)).create(fruits=FRUITS)
    watch = start(cluster.kubeconfig, *words(fruits.space))
    watch.wait_values((FRUITS, ""))

    cluster.stop_apiserver()
    watch.wait_said("connection refused")
    cluster.start_apiserver()
    fruits.change(fruits="after")

    watch.wait_values((FRUITS, ""), ("after", FRUITS))


def test_a_token_that_is_rotated(start, fruits, space, cluster, tmp_path):
    """Pain 15."""
    file = tmp_path / "token"
    file.write_text(fruits.watcher())
    kubeconfig = cluster.write_kubeconfig(f"rotated-{os.getpid()}.kubeconfig", token_file=file)
    file.write_text("worthless")
    watch = start(kubeconfig, *words(space))
    watch.wait_said("Unauthorized")

    file.write_text(fruits.watcher())

    watch.wait_values((FRUITS, ""))


def test_an_object_that_does_not_fit_is_said_and_skipped(start, fruits, space, cluster):
    watch = start(cluster.kubeconfig, "object", "cm", f"{space.namespace}/fruits", "-j={.data.fruits[0]}")

    watch.wait_said("string is not array or slice")
    assert watch.calls() == []
