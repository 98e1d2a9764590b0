"""The Helm chart says what the manifests say. Not part of `make test`: `make try-chart` runs it, with helm from its Go module."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "chart"
OVERLAYS = ROOT / "deploy" / "overlays"


def supplied(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def helm():
    program = supplied(ROOT / "scripts/supply/go-tool", "helm").strip()
    return lambda *words, check=True: subprocess.run([program, *words], check=check, capture_output=True, text=True)


@pytest.fixture(scope="module")
def kubectl():
    program = supplied(ROOT / "scripts/supply/cluster-binaries", "kubectl").split()[1]
    return lambda *words: supplied(program, *words)


def objects(text):
    """By kind and name."""
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(text) if one}


@pytest.fixture
def render(helm):
    def run(*settings):
        words = [word for one in settings for word in ("--set", one)]
        return objects(helm("template", "multus", str(CHART), "-n", "kube-system", "--include-crds", "--kube-version", "1.34", *words).stdout)
    return run


def comparable(objects_):
    """Lists whose order does not matter in one order, and JSON by its value."""
    config = objects_["ConfigMap", "multus-daemon-config"]
    config["data"] = {name: json.loads(text) for name, text in config["data"].items()}
    pod = objects_["DaemonSet", "kube-multus-ds"]["spec"]["template"]["spec"]
    for what in (pod["volumes"], pod["containers"][0]["volumeMounts"]):
        what.sort(key=lambda one: one.get("mountPath", one["name"]))
    return objects_


DISTROS = ["k3s", "rke2", "microk8s", "talos", "crio", "openshift"]


@pytest.mark.parametrize("folder, settings", [
    ("../thick", []), *((name, [f"distro={name}"]) for name in DISTROS),
    ("per-node-certificates", ["certApprover.enabled=true"]), ("hardened", ["hardened=true"])])
def test_the_chart_says_what_the_manifests_say(render, kubectl, folder, settings):
    ours = objects(kubectl("kustomize", str((OVERLAYS / folder).resolve())))

    assert comparable(render(*settings)) == comparable(ours)


@pytest.mark.parametrize("distro", DISTROS)
@pytest.mark.parametrize("more, setting", [([], "certApprover.enabled=true"), (["overlays/hardened/daemonset.yaml"], "hardened=true")])
def test_a_distributions_paths_and_certificates_go_together(render, kubectl, tmp_path, distro, more, setting):
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump({
        "resources": [f"deploy/overlays/{distro}", "deploy/cert-approver"],
        "components": ["deploy/components/per-node-certificates"],
        "patches": [{"path": f"deploy/{path}"} for path in more]}))

    ours = objects(kubectl("kustomize", "--load-restrictor=LoadRestrictionsNone", str(tmp_path)))

    assert comparable(render(f"distro={distro}", setting)) == comparable(ours)


def test_lint(helm):
    done = helm("lint", "--strict", str(CHART), check=False)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("wrong", ["distro=other", "image.digest=sha256:1", "imgae.tag=1", "metrics.port=70000",
                                   "hotplug=yes", "hotplug.workers=65", "hotplug.onAttributeChange=other", "hotplug.wrokers=1"])
def test_values_that_cannot_be_are_refused(helm, wrong):
    done = helm("template", "multus", str(CHART), "--kube-version", "1.34", "--set", wrong, check=False)

    assert done.returncode != 0 and "values don't meet the specifications" in done.stderr


@pytest.mark.parametrize("settings, key", [
    (["hotplug=false"], None), (["hotplug=true"], True), (["hotplug.workers=2", "hotplug.resync=1m"], {"workers": 2, "resync": "1m"}),
    (["hotplug.enabled=false"], {"enabled": False})])
def test_hotplug_is_a_key_of_the_daemon_and_needs_no_rights(render, settings, key):
    made, plain = render(*settings), render()

    local = made["ConfigMap", "multus-daemon-config"]["data"].get("90-local.json", "{}")
    assert json.loads(local).get("hotplug") == key
    assert made["ClusterRole", "multus"] == plain["ClusterRole", "multus"]


@pytest.mark.parametrize("settings", [[], ["hardened=true"], ["certApprover.enabled=true"]])
def test_every_container_but_the_thick_daemons_is_confined(render, settings):
    made = render("uninstall.image=r.example/kubectl:1", *settings)
    pods = {key: one["spec"]["template"]["spec"] for key, one in made.items() if key[0] in ("DaemonSet", "Deployment", "Job")}

    assert ("Job", "multus-uninstall") in pods
    for (_, name), pod in pods.items():
        for container in [*pod.get("initContainers", []), *pod["containers"]]:
            context = {**pod.get("securityContext", {}), **container.get("securityContext", {})}
            if container["name"] == "kube-multus" and context.get("privileged"):
                continue
            assert context["capabilities"]["drop"] == ["ALL"], (name, container["name"])
            assert context["allowPrivilegeEscalation"] is False, (name, container["name"])
            assert context["seccompProfile"] == {"type": "RuntimeDefault"}, (name, container["name"])


def test_the_job_that_uninstalls_has_a_user_of_its_own_and_writes_no_file(render):
    pod = render("uninstall.image=r.example/kubectl:1")["Job", "multus-uninstall"]["spec"]["template"]["spec"]

    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"]
    for container in [*pod["initContainers"], *pod["containers"]]:
        assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_values_change_what_they_name(render):
    digest = "sha256:" + "a" * 64
    made = render("image.repository=r.example/m", f"image.digest={digest}", "config.logLevel=error", "metrics.port=9091",
                  "resources.limits.memory=1Gi", "metrics.rules=true", "metrics.dashboard=true", "metrics.podMonitor=true",
                  "uninstall.image=r.example/kubectl:1")

    pod = made["DaemonSet", "kube-multus-ds"]["spec"]["template"]["spec"]
    assert {one["image"].partition("@")[2] for one in [*pod["initContainers"], *pod["containers"]]} == {digest}
    assert pod["containers"][0]["resources"] == {"limits": {"memory": "1Gi"}}
    local = made["ConfigMap", "multus-daemon-config"]["data"]["90-local.json"]
    assert json.loads(local) == {"logLevel": "error", "metricsPort": 9091}
    assert made["PrometheusRule", "multus"]["spec"]["groups"] and json.loads(made["ConfigMap", "multus-dashboard"]["data"]["multus.json"])
    patch = made["Job", "multus-uninstall"]["spec"]["template"]["spec"]["initContainers"][0]["args"][-1]
    assert json.loads(patch)["spec"]["template"]["spec"]["containers"][0]["command"][1:] == ["-uninstall", "-pause"]
