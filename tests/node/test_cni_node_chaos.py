"""cni-node under faults at random moments (04, 4: row 131). `scripts/chaos-cni-node` does it 500 times."""

import subprocess
import sys

import pytest

from harness.node import tool_chaos


@pytest.mark.spec("04:131")
@pytest.mark.parametrize("seed", [1, 2])
def test_after_each_fault_everything_is_as_asked_or_as_before(program, seed):
    done = subprocess.run(["unshare", "-m", sys.executable, tool_chaos.__file__, str(program("cni-node")), "--times=8",
                           f"--seed={seed}"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
