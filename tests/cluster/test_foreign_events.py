"""Events of pods whose owners mean no good: what they write costs the daemon and the API server little (02, 5.6)."""

import pytest

from harness.machine.wait import until
from harness.node.cni import environment
from harness.node.daemon import body

COUNT = 100
ANNOTATION = 262_000  # the API server takes 256 KiB of annotations, keys included
MOST = 16 * 2**20


def memory(pid, what):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{what}:"))


def refused(node, name, made):
    """An ADD of the pod as a shim sends it; it must fail."""
    args = (f"IgnoreUnknown=1;K8S_POD_NAMESPACE={node.space.namespace};K8S_POD_NAME={name};"
            f"K8S_POD_INFRA_CONTAINER_ID=c-{name};K8S_POD_UID={made['metadata']['uid']}")
    answer = node.daemon.http("POST", "/cni", body(environment("ADD", node.host.pods[0], f"c-{name}", args=args), node.conf))
    assert answer.status == 400 and "mismatch @" in answer.text, answer
    return answer.text


@pytest.mark.slow
def test_the_memory_of_events_does_not_grow_with_what_a_tenant_writes(node, space):
    """One pod after another, each with another annotation as large as can be, refused and deleted."""
    node.host.add_pod("all")
    node.start(logLevel="error")
    before = memory(node.daemon.pid, "VmRSS")
    answers = []

    for number in range(COUNT):
        name = f"p{number}"
        made = space.add_pod(name, networks=f"{number:05d}\x1b" + "X" * (ANNOTATION - 6))
        answers.append(refused(node, name, made))
        space.delete_pod(name)

    until(lambda: len(space.events()) >= COUNT, lambda: f"all events; {len(space.events())} are there")
    after, peak = memory(node.daemon.pid, "VmRSS"), memory(node.daemon.pid, "VmHWM")
    print(f"{COUNT} pods: {before / 2**20:.1f} MB before, {after / 2**20:.1f} MB after, {peak / 2**20:.1f} MB at most")
    assert after - before < MOST, f"it grew from {before / 2**20:.1f} to {after / 2**20:.1f} MB"
    assert max(map(len, answers)) < 4096
    for event in space.events():
        assert len(event["message"]) <= 1024 and event["message"].isprintable(), event["message"][:200]
    assert "\x1b" not in node.daemon.log
