"""Random operations and faults for a while, with an API server that is away at times (tests/harness/node/soak.py)."""

import pytest

from harness.cluster.soak_source import ApiObjects
from harness.node.soak import Soak


@pytest.mark.slow
def test_random_operations_and_faults_lose_nothing_while_the_api_comes_and_goes(host, program, space):
    program("multus-daemon")
    source = ApiObjects(host, space)
    soak = Soak(host, seed=18, source=source)

    soak.run(operations=1000).finish()

    soak.close()
    source.close()
    assert not soak.violations, f"{soak.violations[0]}\n{soak.report()}"
    assert set(source.faults()) <= set(soak.seen), soak.report()
