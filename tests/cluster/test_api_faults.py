"""Every kind of fault of the API server, one after another, under load: the short form of `make api-faults`."""

import pytest

from harness.cluster.api_faults import FaultRun
from harness.cluster.workspace import Workspace


@pytest.mark.slow
def test_after_faults_of_every_kind_under_load_each_pod_has_its_status(host, daemons, own_cluster):
    cluster = own_cluster()
    cluster.install_definitions()
    cluster.apply_files("common/role.yaml")
    run = FaultRun(host, lambda config, env: daemons.launch(config, env=env), Workspace(cluster), seed=17)

    run.run(rounds=1, longest=1.0)

    assert len(run.faults.seen) == len(run.faults.kinds)
    run.assert_statuses()
    run.assert_records()
    run.assert_bounded_requests()
    run.close()
