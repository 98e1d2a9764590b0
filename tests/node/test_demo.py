"""`make demo` must work whenever the tests do."""

import os
import subprocess
from pathlib import Path

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo"


def test_the_demo_shows_its_pods_and_leaves_nothing(program, programs):
    program("multus-daemon")
    program("multus-shim")

    done = subprocess.run([str(DEMO)], env={**os.environ, "MNET_BIN": str(programs)}, capture_output=True,
                          text=True, timeout=120, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout and done.stdout.rstrip().splitlines()[-1].startswith("All well.")
    for shown in ("10.244.0.2/24", "10.10.1.2/24", "10.10.2.2/24"):
        assert shown in done.stdout
