"""How the requests of a fleet are counted (make bench-fleet)."""

import base64
import json

from harness.fleet.requests import Asked, AuditLog, peak, repeats, token_id


def watch(at, node="a", resource="pods"):
    return Asked(at, node, "watch", resource, f"/api/v1/{resource}?watch=true")


def line(stage, at, id="1", verb="watch", code=200, resource="pods", uri="/api/v1/pods?watch=true"):
    stamp = f"2026-01-01T00:00:{at:09.6f}Z"
    entry = {"auditID": id, "stage": stage, "requestReceivedTimestamp": stamp, "stageTimestamp": stamp, "verb": verb,
             "requestURI": uri, "objectRef": {"resource": resource},
             "user": {"extra": {"authentication.kubernetes.io/credential-id": ["JTI=token-a"]}}}
    if stage != "RequestReceived":
        entry["responseStatus"] = {"code": code}
    return json.dumps(entry) + "\n"


def test_the_peak_is_that_of_any_second_and_not_of_the_clocks_seconds():
    assert peak([watch(0.9), watch(1.1), watch(1.8), watch(3.0)]) == 3


def test_one_node_that_reads_the_same_kind_again_within_a_second_is_found():
    first, again = watch(1.0), watch(1.9)
    assert repeats([first, watch(1.5, node="b"), watch(1.5, resource="events"), again, watch(3.0)]) == [(first, again)]


def test_a_log_that_grows_is_read_on_and_half_a_line_is_left_for_later(tmp_path):
    log = AuditLog(tmp_path / "log")
    assert log.requests() == []
    second = line("RequestReceived", 2.0)
    log.path.write_text(line("RequestReceived", 1.0) + second[:20])
    assert len(log.requests()) == 1
    with open(log.path, "a", encoding="utf-8") as file:
        file.write(second[20:])
    assert [one.node for one in log.requests()] == ["token-a", "token-a"]


def test_a_watch_that_was_answered_and_ended_at_once_is_not_open(tmp_path):
    log = AuditLog(tmp_path / "log")
    log.path.write_text(line("ResponseStarted", 1.0, id="gone") + line("ResponseComplete", 1.1, id="gone")
                        + line("ResponseStarted", 2.0, id="lasts") + line("ResponseStarted", 2.5, id="refused", code=403))
    ((key, begun),) = log.open_watches().items()
    assert key == ("token-a", "pods") and len(begun) == 1


def test_a_streamed_list_is_a_whole_list():
    assert Asked(0, "a", "watch", "pods", "/api/v1/pods?watch=true&sendInitialEvents=true").is_read_of_all
    assert not watch(0).is_read_of_all


def test_a_token_is_named_as_the_log_names_it():
    payload = base64.urlsafe_b64encode(json.dumps({"jti": "token-a"}).encode()).decode().rstrip("=")
    assert token_id(f"head.{payload}.signature") == "token-a"
