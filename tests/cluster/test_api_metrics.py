"""What the daemon's metrics tell of the API server (03, 4.2)."""

import time

from harness.evidence import metrics
from harness.machine.wait import until


# pains 15 and 38
def test_requests_stores_and_watches_are_seen(host, node):
    node.start(metricsPort=metrics.PORT)
    pod = node.pod("web")
    assert pod.add().ok

    # The pod itself may have been read before the watch brought it.
    until(lambda: metrics.page(host).value("multus_store_objects", kind="pod") == 1, "the pod in the store")
    page = metrics.page(host)
    assert page.value("multus_api_requests_total", verb="watch", code="200") == 2
    assert page.value("multus_api_requests_total", verb="patch", code="200") == 1
    assert page.values("multus_store_synced") == [1, 1]
    assert page.values("multus_watch_down_seconds") == [0, 0]
    assert max(page.values("multus_watch_lag_seconds")) < 60
    assert 0 < page.value("multus_client_token_expiration_timestamp_seconds") - time.time() < 10 * 24 * 3600
    left = page.value("multus_client_token_expiration_timestamp_seconds") - time.time()
    assert left <= page.value("multus_client_token_lifetime_seconds") <= left + 3600
    assert metrics.complaints(host, page.text) == ""
    assert pod.delete().ok


# pain 38
def test_a_watch_that_is_down_is_seen(host, node):
    node.start(metricsPort=metrics.PORT)

    node.proxy.refuse("", 503)
    node.proxy.cut()

    def down():
        page = metrics.page(host)
        return min(page.values("multus_watch_down_seconds")) > 0 \
            and page.value("multus_api_requests_total", code="503")
    until(down, "watches down")
    assert metrics.page(host).values("multus_store_synced") == [1, 1]
