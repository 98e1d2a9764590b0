"""HTTP/1.1 over a unix socket, well-formed or as raw bytes."""

import contextlib
import http.client
import json
import resource
import socket
from dataclasses import dataclass

from harness.machine.wait import PATIENCE


@dataclass
class Response:
    status: int
    headers: dict  # names in lower case
    body: bytes

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


class _Connection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("dummy", timeout=timeout)
        self._path = str(path)

    def connect(self):
        self.sock = connect(self._path, self.timeout)


@contextlib.contextmanager
def room_for(count):
    """Raises our limit of descriptors so that we can have that many connections at once."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, count + 500), hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connect(path, timeout=PATIENCE):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(timeout)
    sock.connect(str(path))
    return sock


def request(path, method, target, body=None, headers=None, timeout=2 * PATIENCE):
    """One request on a connection of its own. A value that is not bytes is sent as JSON."""
    if body is not None and not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    connection = _Connection(path, timeout)
    try:
        connection.request(method, target, body=body, headers=headers or {})
        answer = connection.getresponse()
        return Response(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def read_all(sock):
    """Everything until the peer closes; a reset is an error, as it would be for a Go client."""
    data = b""
    while True:
        part = sock.recv(65536)
        if not part:
            return data
        data += part


def parse(data):
    """Splits one raw answer with Content-Length; yields None if there is none at all."""
    if not data:
        return None
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return Response(int(lines[0].split(" ")[1]), headers, body)


def raw(path, data, half_close=False, timeout=PATIENCE):
    """Sends the bytes as they are and reads the whole answer."""
    sock = connect(path, timeout)
    try:
        try:
            sock.sendall(data)
        except BrokenPipeError:
            pass  # refused half-way; the answer says why
        if half_close:
            sock.shutdown(socket.SHUT_WR)
        return parse(read_all(sock))
    finally:
        sock.close()
