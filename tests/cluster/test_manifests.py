"""What is in deploy/ is taken by a real API server as it stands, and says what it must."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
ORIGINAL = ROOT / "tests" / "data" / "manifests"
APPLIED = sorted([*DEPLOY.glob("*.yml"), *DEPLOY.glob("cni-node/multus-*.yaml"), *DEPLOY.glob("kube-watch/kube-watch-*.yaml")])
KUSTOMIZED = sorted(path.parent for path in DEPLOY.rglob("kustomization.yaml")
                    if "kind: Kustomization" in path.read_text())


def relative(path):
    return str(path.relative_to(ROOT))


def server_takes(cluster, *words, stdin=None):
    """A strict dry run: unknown fields are errors. Definitions and namespaces must be there already."""
    return cluster.kubectl("apply", "--dry-run=server", "--validate=strict", "-o", "name", *words, stdin=stdin)


@pytest.mark.spec("04:110")
@pytest.mark.parametrize("path", APPLIED, ids=relative)
def test_the_server_takes_each_file(cluster, path):
    assert server_takes(cluster, "-f", path)


@pytest.mark.parametrize("folder", KUSTOMIZED, ids=relative)
def test_the_server_takes_each_kustomization(cluster, folder):
    assert server_takes(cluster, "-f", "-", stdin=cluster.kubectl("kustomize", folder))


def test_the_server_takes_the_pods_to_watch(cluster):
    """In namespaces of the same file: these have to be there, and the pods wait for no account."""
    for namespace in ("n1", "n2"):
        cluster.kubectl("create", "namespace", namespace)
    assert len(server_takes(cluster, "-f", DEPLOY / "kube-watch" / "pods.yaml").splitlines()) == 6


@pytest.mark.parametrize("path", sorted(ORIGINAL.glob("*.yml")), ids=relative)
def test_the_server_takes_the_originals_manifests(cluster, path):
    assert "daemonset.apps/" in server_takes(cluster, "-f", path)


def objects_of(cluster, path):
    """Of a file, or of the folder of a kustomization."""
    text = cluster.kubectl("kustomize", path) if path.is_dir() else path.read_text()
    made = cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", stdin=text)
    items = json.loads("[" + re.sub(r"\n}\n{", "\n},{", made) + "]")
    return [inner for item in items for inner in item.get("items", [item])]


@pytest.mark.spec("04:129")
@pytest.mark.parametrize("path", [path for path in APPLIED if path.parent.name in ("cni-node", "kube-watch")], ids=relative)
def test_each_example_of_the_tools_asks_for_its_health(cluster, path):
    templates = [one["spec"]["template"] for one in objects_of(cluster, path) if one["kind"] in ("DaemonSet", "Deployment")]
    tool = "kube-watch" if "kube-watch" in path.name else "cni-node"
    assert all(container["readinessProbe"]["exec"]["command"] == [tool, "health"]
               for template in templates for container in template["spec"]["containers"])


def documents(cluster, folder):
    """The objects of a kustomization, by (kind, name)."""
    return {(one["kind"], one["metadata"]["name"]): one for one in objects_of(cluster, folder)}


def daemon_config(objects):
    """As the daemon merges it: what is mounted, in the order of the names. No object of the overlays' has one in the base."""
    data, merged = objects["ConfigMap", "multus-daemon-config"]["data"], {}
    (volume,) = [one for one in pod_of(objects)["volumes"] if one["name"] == "multus-daemon-config"]
    mounted = {item["path"]: item["key"] for source in volume["projected"]["sources"] for item in source["configMap"]["items"]}
    assert set(data) <= set(mounted.values())
    for path in sorted(mounted, key=lambda path: ("/" in path, path)):
        merged.update(json.loads(data.get(mounted[path], "{}")))
    return merged


def pod_of(objects):
    return objects["DaemonSet", "kube-multus-ds"]["spec"]["template"]["spec"]


def host_paths(objects):
    return {volume["name"]: volume["hostPath"]["path"] for volume in pod_of(objects)["volumes"] if "hostPath" in volume}


EVERYTHING = [*APPLIED, DEPLOY / "kube-watch" / "pods.yaml", *KUSTOMIZED]


@pytest.mark.parametrize("path", EVERYTHING, ids=relative)
def test_no_role_deletes_and_none_changes_rights(cluster, path):
    rules = [rule for one in objects_of(cluster, path) if one["kind"] in ("Role", "ClusterRole") for rule in one["rules"]]
    for rule in rules:
        assert not {"*", "delete", "deletecollection", "impersonate", "escalate", "bind"} & set(rule["verbs"]), rule
        assert not {"*", "rbac.authorization.k8s.io"} & set(rule["apiGroups"]), rule
        assert not {"*", "secrets", "nodes"} & set(rule["resources"]), rule


@pytest.mark.parametrize("path", EVERYTHING, ids=relative)
def test_kubelets_get_no_rights_but_to_read_network_definitions(cluster, path):
    objects = {(one["kind"], one["metadata"]["name"]): one for one in objects_of(cluster, path)}
    for (kind, name), one in objects.items():
        if kind != "ClusterRoleBinding" or not any(subject["name"].startswith("system:node") for subject in one["subjects"]):
            continue
        rules = objects[one["roleRef"]["kind"], one["roleRef"]["name"]]["rules"]
        assert [(rule["resources"], rule["verbs"]) for rule in rules] == [
            (["network-attachment-definitions"], ["get", "list", "watch"])], name


@pytest.mark.parametrize("path", EVERYTHING, ids=relative)
def test_only_the_thick_daemon_is_privileged_and_every_other_container_is_confined(cluster, path):
    for one in objects_of(cluster, path):
        pod = one["spec"] if one["kind"] == "Pod" else one.get("spec", {}).get("template", {}).get("spec", {})
        for container in [*pod.get("initContainers", []), *pod.get("containers", [])]:
            context = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
            if container["name"] == "kube-multus" and context.get("privileged"):
                continue
            assert context["capabilities"]["drop"] == ["ALL"], container["name"]
            assert context["allowPrivilegeEscalation"] is False, container["name"]
            assert context["seccompProfile"] == {"type": "RuntimeDefault"}, container["name"]


def test_the_hardened_overlay_runs_nothing_privileged_and_mounts_no_token(cluster):
    pod = pod_of(documents(cluster, DEPLOY / "overlays" / "hardened"))
    assert pod["automountServiceAccountToken"] is False
    (daemon,) = pod["containers"]
    assert not daemon["securityContext"]["privileged"]
    assert daemon["securityContext"]["readOnlyRootFilesystem"]


# pains 1, 41, 55
def test_the_thick_daemon_is_never_starved_or_evicted_first(cluster):
    pod = pod_of(documents(cluster, DEPLOY / "thick"))
    assert pod["priorityClassName"] == "system-node-critical"
    assert {toleration["effect"]: toleration["operator"] for toleration in pod["tolerations"]} == {
        "NoSchedule": "Exists", "NoExecute": "Exists"}
    for container in [*pod["initContainers"], *pod["containers"]]:
        resources = container["resources"]
        assert "cpu" not in resources["limits"]
        assert resources["requests"]["memory"] == "16Mi"  # so that the second pod of an update evicts no other
        assert container["securityContext"]["readOnlyRootFilesystem"]
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux"}  # pain 56
    daemon = pod["containers"][0]
    assert {probe: daemon[probe]["exec"]["command"][1] for probe in ("startupProbe", "livenessProbe", "readinessProbe")} == {
        "startupProbe": "-probe=healthz", "livenessProbe": "-probe=healthz", "readinessProbe": "-probe=readyz"}


# pain 43
def test_the_thick_daemon_is_replaced_without_a_gap(cluster):
    daemons = documents(cluster, DEPLOY / "thick")["DaemonSet", "kube-multus-ds"]
    assert daemons["spec"]["updateStrategy"] == {"type": "RollingUpdate",
                                                 "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    pod = daemons["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 210
    (daemon,) = pod["containers"]
    assert "ports" not in daemon  # two pods of one node could not have the same
    fields = {one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in daemon["env"]}
    assert fields["MULTUS_POD_UID"] == "metadata.uid"


# pain 35: each overlay changes paths of the host, and tells the daemon where plugins are then
@pytest.mark.parametrize("name, paths", [
    ("k3s", {"cni": "/var/lib/rancher/k3s/agent/etc/cni/net.d", "cnibin": "/var/lib/rancher/k3s/data/cni"}),
    ("rke2", {}),
    ("microk8s", {"cni": "/var/snap/microk8s/current/args/cni-network",
                  "cnibin": "/var/snap/microk8s/current/opt/cni/bin",
                  "host-var-lib-kubelet": "/var/snap/microk8s/common/var/lib/kubelet"}),
    ("crio", {"cnibin": "/usr/libexec/cni"}),
    ("openshift", {"cni": "/etc/kubernetes/cni/net.d", "cnibin": "/var/lib/cni/bin"}),
    ("talos", {"host-run-netns": "/var/run/netns"})])
def test_overlays_change_paths_of_the_host(cluster, name, paths):
    usual, special = documents(cluster, DEPLOY / "thick"), documents(cluster, DEPLOY / "overlays" / name)
    assert host_paths(special) == {**host_paths(usual), **paths}
    assert pod_of(special)["containers"] == pod_of(usual)["containers"]
    more = {"binDir": paths["cnibin"]} if "cnibin" in paths else {}
    if name in ("crio", "openshift"):
        more["shimTimeout"] = 50
    assert daemon_config(special) == {**daemon_config(usual), **more}


def test_certificates_and_a_distributions_paths_go_together(cluster, tmp_path):
    """The component used to replace the whole configuration, and binDir with it."""
    (tmp_path / "deploy").symlink_to(DEPLOY)
    (tmp_path / "kustomization.yaml").write_text(
        "resources: [deploy/overlays/k3s]\ncomponents: [deploy/components/per-node-certificates]\n")

    config = daemon_config(documents(cluster, tmp_path))

    assert config["binDir"] == "/var/lib/rancher/k3s/data/cni"
    assert config["perNodeCertificate"]["enabled"] is True


# pain 19
def test_the_running_daemonset_can_be_turned_into_its_own_removal(cluster):
    """Same pods, same mounts, but no installer, no probes, and another command."""
    cluster.kubectl("apply", "-f", DEPLOY / "thick" / "daemonset.yaml")
    patched = json.loads(cluster.kubectl("-n", "kube-system", "patch", "daemonset", "kube-multus-ds", "--patch-file",
                                         DEPLOY / "uninstall.patch.yaml", "--dry-run=server", "-o", "json"))
    cluster.kubectl("delete", "-f", DEPLOY / "thick" / "daemonset.yaml")
    pod, usual = patched["spec"]["template"]["spec"], pod_of(documents(cluster, DEPLOY / "thick"))
    assert "initContainers" not in pod
    container = pod["containers"][0]
    assert container["command"][1:] == ["-uninstall", "-pause"]
    assert patched["spec"]["updateStrategy"]["rollingUpdate"] == {"maxSurge": 0, "maxUnavailable": 1}
    assert not {"startupProbe", "livenessProbe", "readinessProbe"} & set(container)
    assert container["volumeMounts"] == usual["containers"][0]["volumeMounts"]


def test_per_node_certificates_take_the_rights_from_the_account(cluster):
    usual = documents(cluster, DEPLOY / "thick")
    special = documents(cluster, DEPLOY / "overlays" / "per-node-certificates")
    asked = daemon_config(special).pop("perNodeCertificate")
    assert {**daemon_config(usual), "perNodeCertificate": asked} == daemon_config(special)
    for binding in ("multus", "multus-certificates"):
        subjects = special["ClusterRoleBinding", binding]["subjects"]
        assert [(subject["kind"], subject["name"]) for subject in subjects] == [("Group", "system:multus")]
    assert pod_of(special)["automountServiceAccountToken"] is False
    mounts = {mount["mountPath"] for mount in pod_of(special)["containers"][0]["volumeMounts"]}
    assert {asked["certDir"], os.path.dirname(asked["bootstrapKubeconfig"])} <= mounts


# pain 37: and every image is pinned to the version of the tree
def test_joined_files_are_what_their_pieces_say():
    done = subprocess.run([ROOT / "scripts" / "manifests", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
