"""multusctl on a whole node, with faults made on purpose: what it says is true, and where it names a command, that command
mends the fault. From outside, with a kubeconfig, and on the node, with the socket. docs/testing.md lists the faults.
"""

import json
import random
import re
import signal
import subprocess
import tarfile
import time
from io import BytesIO

import pytest

from harness.cluster.control_plane import ROOT
from harness.machine.wait import until
from harness.node.networks import NODE_BRIDGE, NODE_MACVLAN, bridge
from harness.whole_node.boot import NAME
from harness.whole_node.installation import DAEMON_SET
from harness.whole_node.multusctl import CTL, Said, pods_left, trial
from harness.whole_node.pod_space import pod_object

pytestmark = pytest.mark.ours


def test_a_sound_cluster_is_called_sound(outside, inside, space):
    space.network("lab", NODE_BRIDGE)
    space.pod("web", "lab")

    status = outside("status")
    assert status.exit == 0 and re.search(rf"^{NAME} .* yes ", status.out, re.M)
    assert inside("status").exit == 0
    assert outside("pods", "-n", space.name).out.count(" ok\n") == 2
    doctor = outside("doctor", "--check-pods")
    assert doctor.exit == 0 and f"node {NAME}: CHECK of" in doctor.out
    assert inside("doctor", "--check-pods").exit == 0
    explained = outside("explain", "-n", space.name, "web")
    assert explained.exit == 0 and f"net1  {space.name}/lab" in explained.out
    assert outside("pending").out == "no pending DELs\n" and outside("gc", "--dry-run").out == "nothing to do\n"
    assert outside("lint", "--cluster", "-n", space.name).exit == 0


def test_a_missing_definition_right_or_label_is_named_with_the_command_that_mends_it(outside, obey, node, multus):
    kubectl = node.cluster.kubectl
    kubectl("delete", "clusterrolebinding", "multus")
    rights = outside("doctor")
    assert rights.exit == 1
    obey(rights.hint("the daemon's account lacks the right to get pods"))
    kubectl("label", "namespace", "kube-system", "pod-security.kubernetes.io/enforce=restricted")
    level = outside("doctor")
    obey(level.hint("Pod Security keeps the daemons"))
    kubectl("delete", "crd", "network-attachment-definitions.k8s.cni.cncf.io")
    crd = outside("doctor")
    obey(crd.hint("the CRD of network definitions is missing"))
    kubectl("wait", "--for=condition=Established", "--timeout=60s", "crd/network-attachment-definitions.k8s.cni.cncf.io")
    multus.restart()
    multus.wait_rolled_out()

    until(lambda: outside("doctor").exit == 0, "a good cluster", 60)


POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-status}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [pods/status]}]}
  validations: [{expression: "!('k8s.v1.cni.cncf.io/network-status' in object.metadata.?annotations.orValue({}))", message: not here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-status}
spec: {policyName: no-status, validationActions: [Deny]}
"""


def test_admission_in_the_way_of_statuses_is_found_by_a_dry_run(outside, obey, node):
    node.cluster.kubectl("apply", "-f", "-", stdin=POLICY)
    try:
        said = until(lambda: "admission blocks network statuses" in (now := outside("doctor")).out and now, "the policy in force", 60)
        assert "not here" in said.line("admission blocks network statuses")
        assert "no-status" in obey(said.hint("admission blocks network statuses"))
    finally:
        node.cluster.kubectl("delete", "-f", "-", stdin=POLICY)
    until(lambda: "admission lets the daemon write network statuses" in outside("doctor").out, "the policy gone", 60)


def wait_nothing_pending(outside):
    """A network whose ADD and DEL fail leaves DELs for ten minutes (decision 0053): an operator who has mended it does not wait."""
    until(lambda: outside("pending", "retry", "--yes").exit == 0 and outside("pending").out == "no pending DELs\n", "no pending DELs")


def test_faults_of_definitions_and_pods_are_told_by_lint_pods_and_explain(outside, obey, space, node):
    space.network("typo", {**NODE_BRIDGE, "type": "brigde"})
    space.network("missing-master", {**NODE_MACVLAN, "name": "m", "master": "eth77"})
    space.network("one", bridge("one", "brone", "10.21.0.0/24", default_route=False))
    space.network("two", bridge("two", "brone", "10.21.0.128/25", default_route=False))
    space.apply({"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": "broken"},
                 "spec": {"config": "{\"type\":"}})
    space.apply(pod_object("lost", "nowhere"), pod_object("bad", "[{"), pod_object("masterless", "missing-master"),
                pod_object("wants", [{"name": "one", "ips": ["10.21.0.77/24"]}]),
                pod_object("hosted", "one", hostNetwork=True))

    lint = outside("lint", "--cluster", "-n", space.name)
    assert lint.exit == 1
    for part in ('unknown type "brigde", did you mean "bridge"?', "nowhere", "broken", "10.21.0", "capability"):
        lint.line(part)
    pods = until(lambda: " ok" in (now := outside("pods", "-n", space.name, "-o", "wide")).out and now, "pods", 60)
    assert "no-definition" in pods.line("nowhere")
    assert "missing-master" in obey(pods.hint("describe pod masterless"))
    assert "bad-annotation" in pods.out and "host-network" in pods.line("hosted")
    space.wait_ready("pod/wants")
    gone = outside("explain", "-n", space.name, "lost")
    assert gone.exit == 1 and "cannot find a network-attachment-definition (nowhere)" in gone.err
    doctor = outside("doctor")
    assert doctor.exit == 1
    doctor.line('master "eth77" does not exist on this node')
    doctor.line(f"there is no network definition {space.name}/nowhere")
    unknown = outside("status", "nosuchnode")
    assert unknown.exit == 1 and NAME in obey(unknown.hint("nosuchnode"))

    until(lambda: "Link not found" in (now := outside("pending")).out and now.line("masterless"), "the DEL of a network without its master", 120)
    assert "masterless" in obey(outside("status").hint("pending DEL"))
    node.host.add_bridge("eth77")
    space.wait_ready("pod/masterless")
    wait_nothing_pending(outside)
    space.network("nowhere", NODE_BRIDGE)
    space.kubectl("delete", "network-attachment-definitions", "typo", "broken")
    space.network("two", bridge("two", "brtwo", "10.23.0.0/24", default_route=False))
    space.network("one", bridge("one", "brone", "10.21.0.0/24", default_route=False, capabilities={"ips": True}))
    space.wait_ready("pod/lost")
    assert outside("explain", "-n", space.name, "lost").exit == 0
    space.kubectl("delete", "pods", "bad", "hosted", "wants")
    mended = outside("lint", "--cluster", "-n", space.name)
    assert mended.exit == 0, mended.all
    until(lambda: outside("doctor").exit == 0, "a good cluster", 60)
    space.delete_pods()
    node.host.run("ip", "link", "del", "eth77")


def test_a_plugin_or_file_that_is_wrong_on_the_node_is_found_from_both_sides(outside, inside, obey, space, node):
    plugin, stray = node.host.path("/opt/cni/bin/macvlan"), node.host.path("/etc/cni/net.d/00-a-stray.conf")
    bytes_of_it = plugin.read_bytes()
    space.network("mac", NODE_MACVLAN)
    plugin.unlink()
    try:
        space.apply(pod_object("web", "mac"))
        until(lambda: "plugins missing on the node: macvlan" in inside("doctor").out, "the plugin, on the node", 90)
        stray.write_text('{"cniVersion":"1.0.0","name":"stray","type":"ptp"}')
        said = until(lambda: 'the plugin "macvlan" is not in' in (now := outside("doctor")).out and now, "the plugin", 60)
        assert said.exit == 1 and "00-a-stray.conf" in said.out
        assert 'the plugin "macvlan" is not in' in obey(inside("doctor").hint("multus-daemon is not on this machine"))
        status = until(lambda: "plugins missing on the node: macvlan" in (now := outside("status")).err and now, "status", 90)
        assert f'MN012 {space.name}/mac: no plugin "macvlan" in binDir of any node' in obey(status.hint("plugins missing on the node"))
    finally:
        stray.unlink(missing_ok=True)
        plugin.write_bytes(bytes_of_it)
        plugin.chmod(0o755)
    space.wait_ready("pod/web")
    assert 'the plugin "macvlan"' not in outside("doctor").out
    assert "plugins missing on the node" not in outside("status").err
    assert "MN012" not in outside("lint", "--cluster", "-n", space.name).out


def test_an_interface_that_went_away_is_found_by_check_pods(outside, space):
    space.network("lab", NODE_BRIDGE)
    space.pod("web", "lab", containers={"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}})
    space.execute("web", "ip", "link", "del", "net1")

    said = outside("doctor", "--check-pods")

    assert said.exit == 1
    said.line(f"CHECK of pod {space.name}/web fails")
    space.delete_pods()  # as the line says
    space.pod("web", "lab")
    assert outside("doctor", "--check-pods").exit == 0


def test_a_pending_del_that_cannot_succeed_is_shown_tried_and_given_up(outside, inside, obey, space, node):
    broken = node.host.path("/opt/cni/bin/stubborn")
    broken.write_text("#!/bin/sh\n[ $CNI_COMMAND = DEL ] && echo '{\"cniVersion\":\"1.0.0\",\"code\":11,\"msg\":\"not today\"}' && exit 1\n"
                      "exec /opt/cni/bin/host-local\n")
    broken.chmod(0o755)
    stuck = bridge("stuck", "brstuck", "10.22.0.0/24", default_route=False)
    stuck["ipam"]["type"] = "stubborn"
    space.network("stuck", stuck)
    space.pod("web", "stuck")
    space.delete_pods()

    listed = until(lambda: "not today" in (now := outside("pending")).out and now, "a pending DEL with its reason", 90)
    short = listed.line(f"{space.name}/web").split()[1]
    failed = outside("pending", "retry", short, "--yes")
    assert failed.exit == 1 and "still pending" in failed.err and "not today" in failed.err
    assert outside("pending", "drop", short).exit == 2, "without a terminal nothing is done"
    dropped = outside("pending", "drop", short, "--yes")
    assert dropped.exit == 0
    assert short not in inside("pending").out
    assert "drop" in outside("gc", "--dry-run").out
    obey(f"{dropped.hint('given up')} --yes")
    assert outside("gc", "--yes").out == "nothing to do\n"
    broken.unlink()
    node.host.run("rm", "-rf", "/var/lib/cni/networks/stuck")  # by hand, as `drop` says
    node.host.run("ip", "link", "del", "brstuck")


def test_an_address_without_an_owner_is_told_with_the_command_that_shows_who_lives(outside, obey, space, node):
    space.network("lab", NODE_BRIDGE)
    space.pod("web", "lab")
    addresses = node.host.path(f"/var/lib/cni/networks/{NODE_BRIDGE['name']}")
    owner = next(file for file in addresses.iterdir() if file.name.startswith("10.")).read_text().split()[0]
    lost = addresses / "10.20.3.3"
    lost.write_text("0123456789abcdef\r\nnet1")

    said = outside("doctor")
    told = "belong to containers without a record, such as 10.20.3.3 of container 0123456789abcdef"
    alive = obey(said.hint(told)).split()
    assert owner in alive and "0123456789abcdef" not in alive
    lost.unlink()  # as the line says

    assert told not in outside("doctor").out


KEEP_PODS = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: keep-pods}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [pods]}]}
  validations: [{expression: "!(oldObject.metadata.?labels.app.orValue('') in ['multusctl-test', 'canary'])", message: pods stay here}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: keep-pods}
spec: {policyName: keep-pods, validationActions: [Deny]}
"""


def test_pods_of_a_test_that_cannot_be_deleted_are_told_with_the_command_that_deletes_them(outside, obey, space, node):
    space.network("lab", NODE_BRIDGE)
    space.pod("canary", labels={"app": "canary"})

    def may_delete():
        return bool(space.kubectl("delete", "pod", "canary", "--dry-run=server", check=False))
    node.cluster.kubectl("apply", "-f", "-", stdin=KEEP_PODS)
    try:
        until(lambda: not may_delete(), "the policy in force", 60)
        said = outside("test", "--network", f"{space.name}/lab", "--yes", "--timeout", "60")
    finally:
        node.cluster.kubectl("delete", "-f", "-", stdin=KEEP_PODS)
    assert said.exit == 1 and said.out.count(" ok\n") == 2 and len(pods_left(space)) == 2
    until(may_delete, "the policy gone", 60)
    obey(said.hint("pods stay here"))

    assert pods_left(space) == []
    assert trial(space, outside, "lab").exit == 0


def test_a_network_is_tried_between_pods_of_our_own_image(outside, obey, space, node):
    space.network("lab", NODE_BRIDGE)

    good = trial(space, outside, "lab")
    assert good.exit == 0 and "no problems found" in good.out and good.out.count(" ok\n") == 2

    node.host.run("nft", "add", "table", "bridge", "small")
    node.host.run("nft", "add", "chain", "bridge", "small", "f", "{ type filter hook forward priority 0 ; }")
    node.host.run("nft", "add", "rule", "bridge", "small", "f", "meta", "length", ">", "1400", "drop")
    large = trial(space, outside, "lab")
    node.host.run("nft", "delete", "table", "bridge", "small")
    assert large.exit == 1 and "mtu (" in large.out and "wrong MTU" in large.err

    space.network("same", {**NODE_BRIDGE, "name": "same", "ipam": {"type": "static", "addresses": [{"address": "10.20.7.7/22"}]}})
    double = trial(space, outside, "same")
    assert double.exit == 1 and "address 10.20.7.7 is used twice" in double.err
    obey(double.hint("`multusctl lint --cluster`"))

    # One address in each range. Not a gateway: a bridge that is one has one address, and refuses the second pod.
    apart = bridge("apart", "brapart", default_route=False, isGateway=False)
    apart["ipam"] = {"type": "host-local", "ranges": [[{"subnet": "10.31.1.0/30"}, {"subnet": "10.31.2.0/30"}]]}
    space.network("apart", apart)
    unrouted = trial(space, outside, "apart")
    assert unrouted.exit == 1 and unrouted.out.count("no-route (") == 2 and "no route: " in unrouted.err
    assert "does not lead through net1" in unrouted.out
    apart["ipam"] = {"type": "host-local", "ranges": [[{"subnet": "10.31.1.0/24"}]]}
    space.network("apart", apart)
    assert trial(space, outside, "apart").exit == 0
    node.host.run("ip", "link", "del", "brapart")

    space.network("plain", {**bridge("plain", "brplain", isGateway=False), "ipam": {}})
    silent = outside("test", "--network", f"{space.name}/plain", "--yes", "--timeout", "30")
    assert silent.exit == 1 and "does the definition have `ipam`?" in silent.err
    assert pods_left(space) == []
    node.host.run("ip", "link", "del", "brplain")

    cluster_network = outside("test", "-n", space.name, "--yes")
    assert cluster_network.exit == 0, cluster_network.err


def test_a_pod_that_is_gone_half_way_is_told_and_the_rest_goes_on(node, space):
    space.network("lab", NODE_BRIDGE)
    running = node.host.spawn(CTL, "test", "--network", f"{space.name}/lab", "--yes", "--timeout", "60", "--kubeconfig",
                              str(node.cluster.kubeconfig), env={"HOME": str(node.cluster.folder)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    until(lambda: len(pods_left(space)) == 2, "its pods", 30)
    space.kubectl("delete", "pod", pods_left(space)[0]["metadata"]["name"], "--grace-period=0", "--force")

    said = running.stdout.read().decode()

    assert running.wait(120) == 1 and "did not take part: " in said, said
    assert pods_left(space) == []


def interrupted(node, moment, *words):
    """The exit status of a command that gets a Ctrl-C after that many seconds, if it still runs."""
    running = node.host.spawn(CTL, *words, "--kubeconfig", str(node.cluster.kubeconfig), env={"HOME": str(node.cluster.folder)})
    time.sleep(moment)  # the moment of the interruption is what is tried
    running.signal(signal.SIGINT)
    return running.wait(90)


def test_ctrl_c_at_any_moment_leaves_nothing(node, space):
    space.network("lab", NODE_BRIDGE)
    seed = random.randrange(1000)
    print(f"seed {seed}", flush=True)
    moments = random.Random(seed)
    for _ in range(6):
        status = interrupted(node, moments.uniform(0.3, 9), "test", "--network", f"{space.name}/lab", "--yes")
        assert status in (0, 1, 130, -signal.SIGINT)
        until(lambda: pods_left(space) == [], "its pods gone", 30)


def test_ctrl_c_leaves_no_half_of_a_file(node, space):
    space.network("lab", NODE_BRIDGE)
    space.pod("web", "lab")
    node.host.run("mkdir", "/srv/part")
    moments = random.Random(7)
    for words in (["bundle", "--yes", "-o", "/srv/part/x"], ["report", "-o", "/srv/part/x"]):
        for _ in range(5):
            status = interrupted(node, moments.uniform(0.1, 4), *words)
            assert node.host.files_below("/srv/part") in ([], ["x"])
            assert status in (0, -signal.SIGINT)
            node.host.run("rm", "-f", "/srv/part/x")
    node.host.run("rm", "-r", "/srv/part")


def test_ctrl_c_while_attach_waits_restores_the_annotation(node, space):
    """Nothing applies annotations here."""
    space.network("lab", NODE_BRIDGE)
    space.pod("web")

    for moment in (0.3, 0.6, 1, 3):
        assert interrupted(node, moment, "attach", "-n", space.name, "web", "lab", "--yes") in (130, -signal.SIGINT)
        assert not space.get("pod", "web")["metadata"]["annotations"].get("k8s.v1.cni.cncf.io/networks")


def test_a_daemon_that_is_away_is_told_by_status_doctor_and_test(outside, inside, obey, space, multus, node):
    space.network("lab", NODE_BRIDGE)
    system = multus.system
    system.kubectl("patch", DAEMON_SET, "--type=merge", "-p", '{"spec":{"template":{"spec":{"nodeSelector":{"away":"yes"}}}}}')
    try:
        until(lambda: multus.pods() == [], "no daemon", 120)
        status = outside("status")
        assert "away=yes" in obey(status.hint("no pod labelled app=multus in namespace kube-system is on this node"))
        assert outside("doctor").exit == 1
        assert inside("status", "--this-node").exit == 1
        said = outside("test", "--network", f"{space.name}/lab", "--yes", "--timeout", "5", "--image", multus.image)
        assert said.exit == 1 and "daemon away" in said.err
        assert pods_left(space) == []
    finally:
        system.kubectl("patch", DAEMON_SET, "--type=json", "-p", '[{"op":"remove","path":"/spec/template/spec/nodeSelector/away"}]')
        multus.wait_rolled_out()
    until(lambda: outside("doctor").exit == 0 and "no pod labelled" not in outside("status").err, "a good cluster", 60)
    assert trial(space, outside, "lab").exit == 0


RIGHTS = ("kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: status-reader}\nrules:\n"
          "- {apiGroups: [''], resources: [pods, nodes], verbs: [list]}\n"
          "- {apiGroups: [''], resources: [pods/exec], verbs: [get, create]}\n")


def test_a_missing_right_of_the_user_is_named(node, space, multus):
    cluster = node.cluster
    space.kubectl("create", "serviceaccount", "powerless")
    token = space.kubectl("create", "token", "powerless").strip()
    kubeconfig = cluster.write_kubeconfig("powerless.kubeconfig", token=token)

    def status():
        return Said(node.host.run(CTL, "status", "--kubeconfig", kubeconfig, check=False))

    done = status()
    assert done.exit == 1 and "needs the right to list pods in namespace kube-system" in done.err

    # What `multusctl status --help` says it needs is enough.
    cluster.kubectl("apply", "-f", "-", stdin=RIGHTS)
    cluster.kubectl("create", "clusterrolebinding", "status-reader", "--clusterrole=status-reader",
                    f"--serviceaccount={space.name}:powerless")
    try:
        until(lambda: re.search(rf"^{NAME} .* yes ", status().out, re.M), "the status")
    finally:
        cluster.kubectl("delete", "clusterrole,clusterrolebinding", "status-reader")


def test_attach_and_detach_wait_for_the_hot_plug_of_the_daemon(outside, space, plugging):
    space.network("lab", NODE_BRIDGE)
    space.pod("web")

    attached = outside("attach", "-n", space.name, "web", "lab", "--yes")
    assert attached.exit == 0 and "net1: attached" in attached.out, attached.all
    assert "net1" in space.addresses("web")
    assert outside("pods", "-n", space.name).out.count(" ok\n") == 2
    again = outside("attach", "-n", space.name, "web", "lab", "--interface", "net1", "--yes")
    assert again.exit == 1 and "already has interface net1" in again.err

    detached = outside("detach", "-n", space.name, "web", "lab", "--yes")
    assert detached.exit == 0 and "net1: removed" in detached.out, detached.all
    assert "net1" not in space.addresses("web")
    assert outside("detach", "-n", space.name, "web", "lab", "--yes").exit == 1, "a second run is harmless"
    assert not space.get("pod", "web")["metadata"]["annotations"].get("k8s.v1.cni.cncf.io/networks")


def test_attach_restores_the_annotation_where_nothing_applies_it(outside, obey, space):
    space.network("lab", NODE_BRIDGE)
    space.pod("web")

    attached = outside("attach", "-n", space.name, "web", "lab", "--yes", "--timeout", "5")

    assert attached.exit == 1 and "the annotation was restored" in attached.err and "`hotplug`" in attached.err
    assert "AddedInterface" in obey(attached.hint("describe pod"))
    assert "net1" not in space.addresses("web")
    assert not space.get("pod", "web")["metadata"]["annotations"].get("k8s.v1.cni.cncf.io/networks")


def test_a_report_and_a_bundle_of_a_sick_cluster_tell_all_but_secrets(outside, space, node, multus):
    secrets = {"password": "hunter1", "token": "hunter2", "url": "https://me:hunter3@registry/x", "clientKeyData": "hunter4"}
    space.network("lab", {**NODE_BRIDGE, **secrets})
    space.network("typo", {**NODE_BRIDGE, "type": "brigde"})
    space.pod("web", "lab", annotations={"note": "Bearer hunter5"})
    space.apply(pod_object("lost", "nowhere"))

    assert outside("report", "-o", "/srv/report.html").exit == 0
    page = node.host.path("/srv/report.html").read_text()
    assert "Problems found" in page and "nowhere" in page and "brigde" in page and "<svg" in page
    kept = ROOT / "build" / "logs" / "report.html"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(page)
    made = outside("bundle", "-o", "/srv/x.tgz", "--yes")
    assert made.exit == 0, made.err
    with tarfile.open(fileobj=BytesIO(node.host.path("/srv/x.tgz").read_bytes())) as bundle:
        names = bundle.getnames()
        print("\n".join(names), flush=True)
        for name in ("CONTENTS", "report.html", "status.json", f"logs/{NAME}.log", f"nodes/{NAME}/status.json",
                     f"nodes/{NAME}/doctor.json", f"nodes/{NAME}/daemon-config.json", "events.json"):
            assert name in names
        for name in names:
            text = bundle.extractfile(name).read()
            assert b"hunter" not in text, name
            assert b"PRIVATE KEY" not in text and not re.search(rb"eyJ[\w-]{20,}\.", text), name
        assert json.loads(bundle.extractfile(f"nodes/{NAME}/status.json").read())["ready"] is True
    space.kubectl("delete", "pod", "lost", "--grace-period=0", "--force")
