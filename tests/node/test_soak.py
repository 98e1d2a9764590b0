"""Random operations and faults for a while: the short form of `make soak` (tests/harness/node/soak.py)."""

import pytest
from harness.node.soak import Soak


@pytest.mark.slow
@pytest.mark.release("speed")
def test_random_operations_and_faults_lose_nothing(host, program):
    program("multus-daemon")
    soak = Soak(host, seed=18)

    soak.run(operations=2000).finish()

    soak.close()
    assert not soak.violations, f"{soak.violations[0]}\n{soak.report()}"
    assert set(soak.faults()) <= set(soak.seen), soak.report()
