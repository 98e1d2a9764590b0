"""Delegates that need much memory, in a control group with a limit (03, 2.11; pains 1 and 2). The daemon lives, and what fails once
succeeds when the runtime tries again."""

import concurrent.futures
import contextlib
from pathlib import Path

import pytest

from harness.machine import cgroups
from harness.machine.wait import until
from harness.node.daemon import default_config

pytestmark = [pytest.mark.cgroups, pytest.mark.without_sanitizers, pytest.mark.release("limits")]

IN_GROUP = 'echo 0 > "$1/cgroup.procs"; shift; exec "$@"'


class Group:
    """A control group with a limit, and the processes that were killed in it."""

    def __init__(self, limit):
        self.name = cgroups.new_name("memory")
        memory = cgroups.CGROUPS if cgroups.is_version_2() else cgroups.CGROUPS / "memory"
        self.folder = memory / self.name
        if cgroups.is_version_2():
            (memory / "cgroup.subtree_control").write_text("+memory")
        self.folder.mkdir()
        (self.folder / ("memory.max" if cgroups.is_version_2() else "memory.limit_in_bytes")).write_text(str(limit << 20))

    @property
    def kills(self):
        """In groups below it, too."""
        lines = (self.folder / ("memory.events" if cgroups.is_version_2() else "memory.oom_control")).read_text().split()
        return int(lines[lines.index("oom_kill") + 1])

    def start(self, daemons, **keys):
        return daemons.launch(default_config(**keys), through=("/bin/sh", "-c", IN_GROUP, "sh", str(self.folder))).wait_ready()


@pytest.fixture
def group():
    """Makes groups; each is removed when its processes are gone."""
    made = []

    def make(limit):
        made.append(Group(limit))
        return made[-1]
    yield make
    for one in made:
        cgroups.remove(one.name)


def conf(fake, **behaviour):
    return {"cniVersion": "1.0.0", "name": "multus", "type": "multus-shim", "delegates": [fake.network("large", **behaviour)]}


def all_at_once(daemon, command, config, pod, names, width=60):
    with concurrent.futures.ThreadPoolExecutor(width) as threads:
        answers = threads.map(lambda name: daemon.cni(command, config, pod, container_id=name), names)
        return dict(zip(names, answers, strict=True))


def until_all_succeed(daemon, config, pod, names):
    """As a runtime does: what failed is deleted and added again. Gives the first failures."""
    first, left = {}, list(names)
    for _ in range(10):
        answers = all_at_once(daemon, "ADD", config, pod, left)
        failed = {name: answer.text for name, answer in answers.items() if answer.status != 200}
        first = first or failed
        if not failed:
            return first
        left = sorted(failed)
        assert {answer.status for answer in all_at_once(daemon, "DEL", config, pod, left).values()} == {200}
    raise AssertionError(f"still failing after ten attempts: {failed}")


@pytest.mark.slow
def test_sixty_pods_with_delegates_of_55_mb_in_the_shipped_limit(group, host, daemons, fake):
    shipped = group(272)
    daemon = shipped.start(daemons)
    pod = host.add_pod("all")
    config = conf(fake, ADD={"allocate_mb": 55}, DEL={"allocate_mb": 55})
    names = [f"c{number}" for number in range(60)]

    first = until_all_succeed(daemon, config, pod, names)

    assert daemon.process.running
    for text in first.values():
        assert "the kernel killed it because memory ran out" in text, text
    known = shipped.kills
    daemon.wait_log("plugin .* took .* MiB of memory: from now on each run takes 2 of the maxDelegates slots")
    # From now on their size is known: none is killed.
    assert {answer.status for answer in all_at_once(daemon, "DEL", config, pod, names).values()} == {200}
    again = all_at_once(daemon, "ADD", config, pod, names)
    assert {answer.status for answer in again.values()} == {200} and shipped.kills == known
    assert {answer.status for answer in all_at_once(daemon, "DEL", config, pod, names).values()} == {200}
    print(f"killed while their size was not known: {known}")


@pytest.mark.slow
def test_a_thousand_adds_in_a_group_of_64_mib(group, host, daemons, fake):
    small = group(64)
    daemon = small.start(daemons, logLevel="error")
    pod = host.add_pod("all")
    config = conf(fake)
    names = [f"c{number}" for number in range(1000)]

    until_all_succeed(daemon, config, pod, names)

    assert daemon.process.running
    assert {answer.status for answer in all_at_once(daemon, "DEL", config, pod, names).values()} == {200}
    print(f"killed: {small.kills}")


def test_the_kernel_kills_a_delegate_and_not_the_daemon(group, host, daemons, fake):
    small = group(64)
    daemon = small.start(daemons)
    pod = host.add_pod("one")

    answer = daemon.cni("ADD", conf(fake, ADD={"allocate_mb": 200}), pod)

    assert answer.status == 400 and "the kernel killed it because memory ran out" in answer.text, answer.text
    assert daemon.process.running and small.kills == 1
    assert daemon.cni("DEL", conf(fake), pod).status == 200


@pytest.mark.cgroup2
def test_the_kernel_kills_a_delegate_alone_where_all_were_to_be_killed_together(group, host, daemons, fake):
    """Kubernetes 1.28 and newer asks for that in every container."""
    small = group(64)
    (small.folder / "memory.oom.group").write_text("1")
    daemon = small.start(daemons)
    daemon.wait_log("memory.oom.group of the daemon's control group was 1 and is 0 now")
    pod = host.add_pod("one")

    answer = daemon.cni("ADD", conf(fake, ADD={"allocate_mb": 200}), pod)

    assert answer.status == 400 and "the kernel killed it because memory ran out" in answer.text, answer.text
    assert daemon.process.running and small.kills == 1
    assert daemon.cni("DEL", conf(fake), pod).status == 200


@contextlib.contextmanager
def a_delegate(daemon, fake, pod):
    """The process of a delegate, which runs meanwhile."""
    gate = fake.gate()
    with concurrent.futures.ThreadPoolExecutor(1) as threads:
        adding = threads.submit(daemon.cni, "ADD", conf(fake, ADD={"gate": gate.path}), pod)
        gate.reached()
        try:
            (delegate,) = daemon.children()
            yield delegate
        finally:
            gate.open()
        assert adding.result().status == 200


def group_of(pid):
    return Path(f"/proc/{pid}/cgroup").read_text().strip().rpartition("/")[2]


@pytest.mark.cgroup2
def test_delegates_in_a_group_of_their_own_are_killed_there(group, host, daemons, fake):
    whole = group(64)
    daemon = whole.start(daemons, delegateCgroup=True)
    delegates = whole.folder / "multus-delegates"
    assert int((delegates / "memory.max").read_text()) == (64 - 16) << 20
    pod = host.add_pod("one")
    with a_delegate(daemon, fake, pod) as delegate:
        assert (group_of(delegate), group_of(daemon.pid)) == ("multus-delegates", "multus-daemon")
    assert daemon.cni("DEL", conf(fake), pod).status == 200

    answer = daemon.cni("ADD", conf(fake, ADD={"allocate_mb": 200}), pod)

    assert answer.status == 400 and "the kernel killed it because memory ran out" in answer.text, answer.text
    assert daemon.process.running and "oom_kill 1" in (delegates / "memory.events").read_text()
    assert "oom_kill 0" in (whole.folder / "multus-daemon" / "memory.events").read_text()
    assert daemon.cni("DEL", conf(fake), pod).status == 200


@pytest.fixture
def version_2(host):
    """What a container sees of control groups whose version 2 the kubelet has set up: files that look alike. The daemon of this machine
    stays where it is."""
    host.run("mount", "-t", "tmpfs", "tmpfs", "/sys/fs/cgroup")
    host.write("/sys/fs/cgroup/cgroup.procs", "1\n2\n")
    host.write("/sys/fs/cgroup/memory.oom.group", "1\n")
    host.write("/sys/fs/cgroup/cgroup.controllers", "memory\n")
    host.write("/sys/fs/cgroup/memory.max", f"{272 << 20}\n")
    yield "/sys/fs/cgroup"
    host.run("umount", "/sys/fs/cgroup")


def test_a_daemon_does_not_die_with_a_plugin_that_takes_too_much(host, daemons, version_2):
    """Kubernetes 1.28 and newer has all processes of a container killed together."""
    daemon = daemons.launch(default_config()).wait_ready()

    daemon.wait_log("memory.oom.group of the daemon's control group was 1 and is 0 now")
    assert host.path(f"{version_2}/memory.oom.group").read_text().strip() == "0"


def test_a_daemon_that_may_not_change_that_says_so(host, daemons, version_2):
    host.run("mount", "-o", "remount,ro", version_2)
    daemon = daemons.launch(default_config()).wait_ready()

    daemon.wait_log("resources: memory.oom.group of the daemon's control group is 1, and the daemon cannot change it")


def test_a_group_that_is_not_the_daemons_own_gets_none_below_it(host, daemons, fake, version_2):
    daemon = daemons.launch(default_config(delegateCgroup=True)).wait_ready()

    daemon.wait_log("warning: delegateCgroup: plugins run in the daemon's own control group: process 1 is in /sys/fs/cgroup, too")
    pod = host.add_pod("one")
    for command in ("ADD", "DEL"):
        assert daemon.cni(command, conf(fake), pod).status == 200


def test_delegates_are_the_first_to_be_killed(host, daemons, fake):
    daemon = daemons.launch(default_config()).wait_ready()
    pod = host.add_pod("one")
    with a_delegate(daemon, fake, pod) as delegate:
        score = Path(f"/proc/{delegate}/oom_score_adj").read_text().strip()
        own = Path(f"/proc/{daemon.pid}/oom_score_adj").read_text().strip()

    assert score == "1000" and own != "1000"
    assert daemon.cni("DEL", conf(fake), pod).status == 200
