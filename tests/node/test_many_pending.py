"""Thousands of pending DELs, as pods leave them that can never start, cost the daemon little (SECURITY.md, "The author of a pod")."""

import pytest
from harness.machine.proc import peak_memory
from harness.machine.wait import until
from harness.node.pending import FOLDER

MIB = 1 << 20
COUNT = 3000


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
