"""The socket as an HTTP server: routes, framing, limits, silent clients (03, rows 21 to 32, 49 to 62)."""

import base64
import contextlib
import json
import socket
import threading
import time

import pytest
from harness.machine.proc import pss
from harness.machine.wait import until
from harness.net import unix_http

HEAD = b"POST /cni HTTP/1.1\r\nHost: dummy\r\n"


def post(path, content, extra=b""):
    return (b"POST " + path + b" HTTP/1.1\r\nHost: dummy\r\nContent-Length: %d\r\n" % len(content)
            + extra + b"\r\n" + content)


@pytest.mark.spec("03:21")
@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("method, content", [("GET", None), ("POST", b"null"), pytest.param("POST", b"x" * 1024, id="POST-1KiB")])
def test_probes_answer_any_body(daemon, path, method, content):
    answer = daemon.http(method, path, content)

    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["connection"] == "close"
    assert answer.headers["content-length"] == "0"
    assert "date" in answer.headers


@pytest.mark.spec("03:22", "03:24")
@pytest.mark.parametrize("path, method", [
    *[(path, method) for path in ("/cni", "/delegate", "/healthz", "/readyz")
      for method in ("HEAD", "PUT", "DELETE", "PATCH")], ("/cni", "GET"), ("/delegate", "GET")])
def test_other_methods_are_405(daemon, path, method):
    answer = daemon.http(method, path)

    assert answer.status == 405
    if method != "HEAD":
        assert answer.body == b"Method not allowed\n"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.spec("03:23")
@pytest.mark.parametrize("path", ["/", "/cni/", "//cni", "/CNI", "/metrics", "/cni%2f"])
def test_unknown_paths_are_404_without_a_body(daemon, path):
    answer = daemon.raw(b"GET " + path.encode() + b" HTTP/1.1\r\nHost: dummy\r\n\r\n")

    assert (answer.status, answer.body) == (404, b"")
    daemon.wait_log("http not found: ")


@pytest.mark.spec("03:25")
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"x"', b"{}{}", pytest.param(b"[" * 5000, id="deep"), b"\xff\xfe",
                                     pytest.param(b"{\"env\":" * 2000, id="deep-objects")])
def test_what_is_no_request_is_400_and_the_daemon_lives(daemon, content):
    answer = daemon.http("POST", "/cni", content)

    assert answer.status == 400 and answer.body.strip()
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert daemon.answers()


@pytest.mark.spec("03:26")
@pytest.mark.parametrize("content", [b"null", b"{}"])
def test_a_request_without_command_is_400(daemon, content):
    answer = daemon.http("POST", "/cni", content)

    assert answer.status == 400
    assert answer.text.endswith("unexpected or missing CNI_COMMAND\n")


@pytest.mark.spec("03:27", "03:28", "03:29")
@pytest.mark.parametrize("request_body", [
    {"env": {"CNI_COMMAND": 5}}, {"env": ["CNI_COMMAND=STATUS"]}, {"env": "x"},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": "e30"}, {"env": {"CNI_COMMAND": "STATUS"}, "config": "!!"},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": "--__"},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": base64.b64encode(b"").decode()},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": base64.b64encode(b"null").decode()},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": base64.b64encode(b"[]").decode()},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": base64.b64encode(b'{"a"').decode()},
])
def test_wrong_types_and_encodings_are_400(daemon, request_body):
    answer = daemon.http("POST", "/cni", request_body)

    assert answer.status == 400 and answer.body.strip()
    assert daemon.answers()


STATUS_CONF = {"cniVersion": "1.1.0", "name": "n", "type": "multus-shim",
               "delegates": [{"cniVersion": "1.0.0", "name": "d", "type": "bridge"}]}
STATUS_BYTES = json.dumps(STATUS_CONF).encode()


@pytest.mark.spec("03:30", "03:31", "03:40")
@pytest.mark.parametrize("request_body", [
    {"env": {"CNI_COMMAND": "STATUS"}, "config": base64.b64encode(STATUS_BYTES).decode()},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": STATUS_CONF},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": list(STATUS_BYTES)},
    {"ENV": {"CNI_COMMAND": "STATUS"}, "Config": base64.b64encode(STATUS_BYTES).decode(), "unknown": 1},
    {"env": {"CNI_COMMAND": "GC"}, "config": base64.b64encode(STATUS_BYTES).decode()},
    {"env": {"CNI_COMMAND": "STATUS"}, "config": base64.encodebytes(STATUS_BYTES).decode()},
])
def test_config_may_be_base64_bytes_or_an_object_and_names_any_case(daemon, request_body):
    answer = daemon.http("POST", "/cni", request_body)

    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.spec("03:49")
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_413_and_the_client_reads_it(daemon, chunked):
    content = b"x" * (20 << 20)
    if chunked:
        data = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"%x\r\n" % len(content) + content + b"\r\n0\r\n\r\n"
    else:
        data = post(b"/cni", content)

    answer = daemon.raw(data)

    assert answer.status == 413
    assert answer.body == b"request body too large\n"
    assert daemon.answers()


@pytest.mark.spec("03:49")
def test_the_body_limit_is_configurable(daemons):
    daemon = daemons(maxRequestBytes=1000)

    assert daemon.http("POST", "/cni", b"x" * 1001).status == 413
    assert daemon.http("POST", "/cni", b"x" * 1000).status == 400


@pytest.mark.spec("03:50")
@pytest.mark.parametrize("data, status", [
    pytest.param(b"GET /healthz HTTP/1.1\r\nHost: d\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", 431, id="long-header"),
    pytest.param(b"GET /healthz HTTP/1.1\r\nHost: d\r\n" + b"".join(b"X%d: %s\r\n" % (i, b"y" * 90)
                                                                 for i in range(1000)) + b"\r\n", 431,
                 id="many-headers"),
    (b"GET /healthz HTTP/1.1\r\nHost: d\r\nno colon here\r\n\r\n", 400),
    (b"POST /healthz HTTP/1.1\r\nHost: d\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nnull", 400),
    (b"POST /healthz HTTP/1.1\r\nHost: d\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    (b"POST /healthz HTTP/1.1\r\nHost: d\r\nContent-Length: -4\r\n\r\nnull", 400),
    (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    (b"GET\r\n\r\n", 400),
])
def test_malformed_http_is_refused(daemon, data, status):
    assert daemon.raw(data).status == status
    assert daemon.answers()


@pytest.mark.spec("03:60")
@pytest.mark.parametrize("data", [
    b"GET /healthz HTTP/1.0\r\n\r\n",
    b"GET http://dummy/healthz HTTP/1.1\r\nHost: dummy\r\n\r\n",
    b"GET /healthz?verbose=1&x=%20 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /%68ealthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /healthz HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nnull\r\n0\r\n\r\n",
])
def test_unusual_but_legal_requests_are_served(daemon, data):
    answer = daemon.raw(data)

    assert answer.status == 200
    assert answer.headers["connection"] == "close"


@pytest.mark.spec("03:60")
def test_expect_100_continue_is_answered(daemon):
    sock = daemon.connect()
    sock.sendall(b"POST /healthz HTTP/1.1\r\nHost: d\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")

    assert sock.recv(1000).startswith(b"HTTP/1.1 100 Continue\r\n\r\n")
    sock.sendall(b"null")
    assert unix_http.parse(unix_http.read_all(sock)).status == 200
    sock.close()


@pytest.mark.spec("03:53")
def test_a_half_closed_client_gets_the_full_answer(daemon):
    content = json.dumps({"env": {"CNI_COMMAND": "STATUS"}, "config": STATUS_CONF}).encode()

    answer = daemon.raw(post(b"/cni", content), half_close=True)

    assert answer.status == 200


def test_one_request_per_connection(daemon):
    data = daemon.raw(b"GET /healthz HTTP/1.1\r\nHost: d\r\n\r\nGET /healthz HTTP/1.1\r\nHost: d\r\n\r\n")

    assert data.status == 200 and data.body == b""


@pytest.mark.slow
@pytest.mark.spec("03:51", "03:58")
def test_silent_clients_are_cut_and_nobody_else_notices(daemons):
    daemon = daemons(connectionLimit=1)
    begun = time.monotonic()
    silent = daemon.connect()
    half = daemon.connect()
    half.sendall(b"POST /cni HTTP/1.1\r\nHo")
    bodiless = daemon.connect()
    bodiless.sendall(HEAD + b"Content-Length: 5\r\n\r\n")

    assert daemon.answers("/healthz")
    content = json.dumps({"env": {"CNI_COMMAND": "STATUS"}, "config": STATUS_CONF}).encode()
    assert daemon.raw(post(b"/cni", content)).status == 200

    assert unix_http.read_all(silent) == b"" and unix_http.read_all(half) == b""
    assert 9 < time.monotonic() - begun < 60
    assert unix_http.parse(unix_http.read_all(bodiless)).status == 408
    assert 9 < time.monotonic() - begun < 60
    for sock in (silent, half, bodiless):
        sock.close()


@pytest.mark.slow
@pytest.mark.spec("03:52")
def test_a_trickling_client_is_cut_after_a_minute(daemon):
    sock = daemon.connect(timeout=600)
    sock.sendall(HEAD + b"Content-Length: 1000\r\n\r\n")
    begun = time.monotonic()
    done = threading.Event()

    def trickle():
        while not done.wait(1):
            try:
                sock.sendall(b"x")
            except OSError:
                return

    sender = threading.Thread(target=trickle)
    sender.start()
    answer = unix_http.parse(unix_http.read_all(sock))
    done.set()
    sender.join()
    assert answer.status == 408
    assert 55 < time.monotonic() - begun < 300
    sock.close()


@pytest.mark.release("limits")
@pytest.mark.spec("03:56")
def test_two_thousand_idle_connections_do_not_stop_the_service(host, daemon):
    before = pss(daemon.pid)
    with unix_http.room_for(2000), contextlib.ExitStack() as crowd:
        for _ in range(1000):
            crowd.enter_context(daemon.connect())
        assert daemon.answers("/healthz")
        for _ in range(1000):
            crowd.enter_context(daemon.connect())

        assert pss(daemon.pid) - before < 32 << 20
    until(lambda: daemon.answers("/healthz"), "served again")


@pytest.mark.spec("03:62")
def test_peers_that_are_not_root_are_refused(host, daemon):
    host.path("/run/multus").chmod(0o755)
    host.path(daemon.socket).chmod(0o666)
    program = ("import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/multus/multus.sock'); "
               "s.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: d\\r\\n\\r\\n'); print(s.recv(1000))")

    done = host.run("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups",
                    "/usr/bin/python3", "-c", program)

    assert "HTTP/1.1 403 " in done.stdout
    assert daemon.answers()


def test_abandoned_connections_leave_no_descriptor(daemon):
    for step in (b"", b"POST /cni HTTP/1.1\r\n", HEAD + b"Content-Length: 10\r\n\r\n12345"):
        for _ in range(20):
            sock = daemon.connect()
            sock.sendall(step)
            sock.close()
    sock = daemon.connect()
    sock.sendall(post(b"/healthz", b"null"))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    sock.close()

    daemon.wait_idle()
