"""The alerts of deploy/monitoring/rules.yaml: each fires when it must and is silent when it must be, and says where to read on."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = (ROOT / "deploy/monitoring/rules.yaml").read_text()
ALERTS = re.findall(r"- alert: (\w+)", RULES)
UP = {'up{job="multus",instance="n"}': "1x60"}
ERRORS = 'multus_request_errors_total{instance="n",command="ADD",code="%s"}'
REQUESTS = {'multus_request_duration_seconds_count{instance="n",command="ADD"}': "0+60x60"}
CERTIFICATE = "multus_client_certificate_%s{}"
TOKEN = "multus_client_token_%s{}"
SLOW = 'multus_request_duration_seconds_bucket{instance="n",command="ADD",le="%s"}'
FAILED_WRITES = 'multus_config_writes_total{instance="n",outcome="failure"}'


def slow(beyond):
    """So many of sixty ADDs a minute take between 30 and 60 s, the others less than one."""
    return {SLOW % "1": f"0+{60 - beyond}x60", SLOW % "30": f"0+{60 - beyond}x60", SLOW % "60": "0+60x60", SLOW % "+Inf": "0+60x60"}


def credential(kind, lifetime, left):
    """`left`: seconds that it still has at each minute; time begins at 0."""
    return {kind % "lifetime_seconds": f"{lifetime}x60",
            kind % "expiration_timestamp_seconds": " ".join(str(60 * minute + more) for minute, more in enumerate(left))}


# Alert, series with a value for each minute, and the minutes at which it fires, or is silent.
CASES = [
    ("MultusDaemonGone", {**UP, 'up{job="multus",instance="gone"}': "0x60"}, [6, 30], [4]),
    ("MultusDaemonGone", {**UP, 'up{job="multus",instance="restarted"}': "1 0 0 1x57"}, [], [3, 10]),
    ("MultusNotScraped", {}, [16, 30], [14]),
    ("MultusNotScraped", UP, [], [16, 30]),
    ("MultusNotReady", {**UP, 'multus_ready{instance="n"}': "0x60"}, [6], [4]),
    ("MultusNotReady", {**UP, 'multus_ready{instance="n"}': "0 0 0 1x57"}, [], [6, 30]),
    ("MultusPodsWithoutNetworks", {**UP, "multus_pods_without_networks{}": "2x60"}, [6], [4]),
    ("MultusPodsWithoutNetworks", {**UP, "multus_pods_without_networks{}": "2 2 0x58"}, [], [6, 30]),
    ("MultusRequestsFail", {**UP, **REQUESTS, ERRORS % "7": "0+10x60"}, [30], [5]),
    ("MultusRequestsFail", {**UP, **REQUESTS, ERRORS % "7": "0+5x60"}, [], [30]),
    ("MultusRequestsFail", {**UP, **REQUESTS, ERRORS % "11": "0+30x60"}, [], [30]),
    ("MultusDelegateFails", {**UP, 'multus_delegate_failures_total{type="t",command="ADD",reason="error"}': "0+6x60"}, [30], [5]),
    ("MultusDelegateFails", {**UP, 'multus_delegate_failures_total{type="t",command="ADD",reason="error"}': "0+1x60"}, [], [30]),
    ("MultusDelegateBinaryMissing", {**UP, 'multus_delegate_binary_missing_total{type="t"}': "0 1x59"}, [2], [30]),
    ("MultusAddSlow", {**UP, **slow(12)}, [30], [5]),
    ("MultusAddSlow", {**UP, **slow(3)}, [], [30]),
    ("MultusQueueGrows", {**UP, "multus_requests_queued{}": "4x60"}, [20], [3]),
    ("MultusQueueGrows", {**UP, "multus_requests_queued{}": "4 4 4 0 4 4 4 4 0 4 4 4 4 0 4 4 4 4 0 4 4"}, [], [3, 14, 20]),
    ("MultusPendingDels", {**UP, "multus_pending_dels{}": "1x60"}, [21], [3]),
    ("MultusPendingDels", {**UP, "multus_pending_dels{}": "3 2 1 0x57"}, [], [2, 21]),
    ("MultusIncompleteDels", {**UP, "multus_incomplete_dels_total{}": "0 0 1x58"}, [3, 10], [1, 30]),
    ("MultusWatchDown", {**UP, 'multus_watch_down_seconds{kind="pod"}': "0+60x60"}, [10], [2, 6]),
    ("MultusWatchDown", {**UP, 'multus_watch_down_seconds{kind="pod"}': "0 30 0 30 0 30 0x50"}, [], [10]),
    ("MultusConfigFight", {**UP, "multus_config_fights_total{}": "0 0 1x120"}, [3, 50], [1, 70]),
    ("MultusConfigNotWritten", {**UP, 'multus_ready{instance="n"}': "1x60", FAILED_WRITES: "0+6x60"}, [5, 30], [1]),
    ("MultusConfigNotWritten", {**UP, FAILED_WRITES: "0 1x59"}, [], [5, 30]),
    # Ten minutes, renewed after eight and a half; then never again.
    ("MultusCertificateExpires", {**UP, **credential(CERTIFICATE, 900, [600, 540, 480, 420, 360, 300, 240, 180, 120, 600, 540, 480])}, [],
     [1, 8, 9, 11]),
    ("MultusCertificateExpires", {**UP, **credential(CERTIFICATE, 900, [120, 60, 0, -60, -120])}, [2, 4], [1]),
    ("MultusCertificateExpires", {**UP, **credential(CERTIFICATE, 86400, [4400, 4340, 4280])}, [2], [0]),
    ("MultusCertificateNotApproved", {**UP, "multus_client_certificate_wanted_seconds{}": "0+60x60"}, [16, 30], [14]),
    ("MultusCertificateNotApproved", {**UP, "multus_client_certificate_wanted_seconds{}": "0 60 120 0x57"}, [], [5, 30]),
    ("MultusTokenExpires", {**UP, **credential(TOKEN, 3607, [420, 360, 300, -60])}, [2, 3], [0]),
    ("MultusTokenExpires", {**UP, **credential(TOKEN, 600, [240, 180, 120, 600, 540])}, [], [0, 2, 4]),
]


def unit_test(alert, series, firing, silent):
    """In the language of promtool. Nothing but the alert itself fires."""
    def expectation(minute, fires):
        return {"expr": 'count by (alertname) (ALERTS{alertstate="firing"})', "eval_time": f"{minute}m",
                "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1}] if fires else []}
    return {"interval": "1m", "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "promql_expr_test": [expectation(minute, minute in firing) for minute in sorted(firing + silent)]}


def promtool(folder, cases):
    test = folder / "rules.test.json"
    test.write_text(json.dumps({"rule_files": [str(ROOT / "deploy/monitoring/rules.yaml")], "evaluation_interval": "1m",
                                "tests": [unit_test(*case) for case in cases]}))
    return subprocess.run(["promtool", "test", "rules", test], capture_output=True, text=True)


def test_each_alert_fires_when_it_must_and_only_then(tmp_path):
    done = promtool(tmp_path, CASES)

    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_is_tried_both_ways():
    assert {alert for alert, _, firing, _ in CASES if firing} == set(ALERTS)
    assert {alert for alert, _, _, silent in CASES if silent} == set(ALERTS)


@pytest.mark.parametrize("alert", ALERTS)
def test_each_alert_says_where_to_read_on(alert):
    assert f"runbook_url: docs/operating.md#{alert.lower()}\n" in RULES
    assert f"\n#### {alert}\n" in (ROOT / "docs/operating.md").read_text()


def test_a_wrong_expectation_is_seen(tmp_path):
    done = promtool(tmp_path, [("MultusNotReady", {**UP, 'multus_ready{instance="n"}': "0x60"}, [4], [])])

    assert done.returncode != 0 and "FAILED" in done.stdout + done.stderr
