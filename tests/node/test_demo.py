"""`make demo` must work whenever the tests do."""

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.release("demo")

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo"


def test_the_demo_shows_its_pods_and_leaves_nothing(program, programs):
    program("multus-daemon")
    program("multus-shim")

    done = subprocess.run([str(DEMO)], env={**os.environ, "MNET_BIN": str(programs)}, capture_output=True,
                          text=True, timeout=600, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout and done.stdout.rstrip().splitlines()[-1].startswith("All well.")
    for shown in ("10.244.0.2/24", "10.10.1.77/24", "02:00:00:00:00:77", "10.10.2.2/24",
                  '"name": "kube-system/cluster"', "Add net1 [10.10.1.77/24] from default/storage",
                  "CNI_COMMAND=ADD, CNI_IFNAME=net9", "interfaces of pod web: backup0 eth0 net1 net9",
                  "10.10.3.2/24", "archive (net9)", "default/archive (net8)", " ms: backup0 eth0 net1 net8"):
        assert shown in done.stdout, shown
    (default,) = [line for line in done.stdout.splitlines() if line.split()[:2] == ["web", "default"]]
    assert default.split()[2:] == ["10.10.2.1", "backup0"]
