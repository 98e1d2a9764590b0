"""Thousands of pending DELs, as pods leave them that can never start or whose plugins refuse, cost the daemon little
(SECURITY.md, "The author of a pod")."""

import pytest
from harness.machine.proc import cpu_seconds, peak_memory
from harness.machine.wait import until
from harness.node.pending import FOLDER
from harness.node.pods import CNI_DIR

MIB = 1 << 20
COUNT, REFUSED = 3000, 1000


def copy_files(host, container, count):
    """All files of the container, for `count` others with addresses of their own."""
    texts = {name: host.path(f"{CNI_DIR}/{name}").read_text() for name in host.files_below(CNI_DIR) if container in name}
    for number in range(count):
        copy = f"copy{number}"
        for name, text in texts.items():
            text = text.replace(container, copy).replace("10.1.2.3/24", f"10.{number // 250 + 1}.{number % 250}.3/24")
            host.path(f"{CNI_DIR}/{name.replace(container, copy)}").write_text(text)


@pytest.mark.without_sanitizers  # they take memory themselves
@pytest.mark.leaves("record *")
def test_many_pending_dels_take_little_memory(host, node, fake):
    node.configure(fake.conf("cluster"))
    no = {"error": {"code": 100, "msg": "no"}, "exit": 1}
    node.network("bad", fake.conf("bad", ADD=no, DEL=no))
    pod = node.pod("bad")
    assert not pod.add().ok and pod.delete().ok
    (file,) = host.files_below(FOLDER)
    text, container = host.path(f"{FOLDER}/{file}").read_text(), file.removesuffix("-eth0.json")
    node.daemon.kill()
    for number in range(COUNT):
        host.write(f"{FOLDER}/{file.replace(container, f'copy{number}')}", text.replace(container, f"copy{number}"))

    node.start()
    until(lambda: not any(name.startswith("copy") for name in host.files_below(FOLDER)), "all replayed")

    peak = peak_memory(node.daemon.pid)
    print(f"{COUNT} pending DELs: {peak / MIB:.1f} MiB at the peak")
    assert peak <= 32 * MIB
    assert node.pod().add().ok


@pytest.mark.without_sanitizers
@pytest.mark.leaves("record *")
def test_many_dels_that_fail_cost_little(host, node, fake):
    """Their plugin says much, and each of them had an address, which may belong to another container by now."""
    node.configure(fake.conf("cluster"))
    node.network("bad", fake.network("bad", DEL={"error": {"code": 100, "msg": "n" * 15000}, "exit": 1}))
    pod = node.pod("bad")
    assert pod.add().ok and pod.delete().ok
    node.daemon.kill()
    host.run("ip", "netns", "del", pod.name)
    copy_files(host, pod.container_id, REFUSED)

    node.start(logLevel="verbose")
    until(lambda: node.daemon.log.count("failed and is tried again") > REFUSED, "all replayed", 300)

    peak, used = peak_memory(node.daemon.pid), cpu_seconds(node.daemon.pid)
    print(f"{REFUSED} DELs that fail: {peak / MIB:.1f} MiB at the peak, {used:.1f} s of the processor, "
          f"{len(node.daemon.log) / MIB:.1f} MiB of log")
    assert peak <= 32 * MIB
    assert node.pod(name="other", namespace="other").add().ok
