"""A proxy between a client and a real API server that can be told to misbehave: it ends TLS on both sides, so it sees
requests and may answer itself, delay, pause streams or cut them anywhere."""

import json
import re
import select
import socket
import ssl
import threading
import time

from harness.machine.host import in_network_of
from harness.net.relays import serve_each, shut


def chunk(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


GONE = chunk(json.dumps({"type": "ERROR", "object": {
    "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired", "code": 410,
    "message": "too old resource version: told by the test"}}).encode() + b"\n")


def listen_in(pid):
    """A listening socket on the loopback of the network namespace of that process."""
    return in_network_of(pid, lambda: socket.create_server(("127.0.0.1", 0)))


class ApiProxy:
    def __init__(self, cluster, listener=None):
        """`listener`: a socket to serve; it may be one of another network namespace."""
        self.cluster = cluster
        self.requests = []  # (method, target), in order
        self.bodies = []    # of the same requests
        self.times = []     # when they came, by the clock that never steps
        self.agents = set()  # what clients call themselves
        self.rules = []     # (pattern, function): the first that matches "METHOD target" and returns True has answered
        self.delay = 0.0
        self.connections = set()
        self.lock = threading.Lock()
        self.flowing = threading.Event()  # cleared: no byte of an answer passes
        self.flowing.set()
        self.left = None  # bytes of answers that still pass before the next cut
        self.forgets = False  # every position, as soon as its list is told
        self.server_tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server_tls.load_cert_chain(cluster.folder / "server.crt", cluster.folder / "server.key")
        self.listener = listener or socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        host = self.listener.getsockname()[0]
        self.url = f"https://[{host}]:{self.port}" if ":" in host else f"https://{host}:{self.port}"
        serve_each(self.listener, self._serve)

    def kubeconfig(self, name, **user):
        return self.cluster.write_kubeconfig(name, server=self.url, **user)

    def count(self, pattern):
        with self.lock:
            return sum(1 for method, target in self.requests if re.search(pattern, f"{method} {target}"))

    def forget(self):
        with self.lock:
            self.requests.clear()
            self.bodies.clear()
            self.times.clear()

    def refuse(self, pattern, status, times=None, headers=None, message="refused by the test"):
        """Answers such requests itself, at most `times` times."""
        left = [times]

        def answer(client):
            if left[0] == 0:
                return False
            if left[0] is not None:
                left[0] -= 1
            body = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status,
                               "message": message}).encode()
            lines = [f"HTTP/1.1 {status} X", "Content-Type: application/json", f"Content-Length: {len(body)}",
                     *(f"{name}: {value}" for name, value in (headers or {}).items())]
            client.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
            return True
        self.rules.append((re.compile(pattern), answer))

    def stall(self, pattern):
        """Accepts such requests and never answers them."""
        def answer(client):
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
            return True
        self.rules.append((re.compile(pattern), answer))

    def forget_positions(self):
        """From now on each streamed list ends with an ERROR event with code 410, and other watches get nothing but that event."""
        def answer(client):
            if not self.forgets:
                return False
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                           + GONE + b"0\r\n\r\n")
            return True
        self.forgets = True
        self.rules.append((re.compile("watch=true(?!.*sendInitialEvents)"), answer))

    def cut(self):
        """Cuts every connection, whatever it is doing."""
        with self.lock:
            shut(*self.connections)

    def cut_after(self, count):
        """Lets this many more bytes of answers pass, then cuts the connection that carries the last of them."""
        with self.lock:
            self.left = count

    def _pass_on(self, client, data):
        if self.forgets and b"k8s.io/initial-events-end" in data:
            assert data.endswith(b"\r\n"), "the end of a chunk was expected"
            data += GONE
        with self.lock:
            ends = self.left is not None and len(data) >= self.left
            if ends:
                data, self.left = data[:self.left], None
            elif self.left is not None:
                self.left -= len(data)
        client.sendall(data)
        if ends:
            raise ConnectionError("cut")

    def close(self):
        self.flowing.set()
        self.listener.close()
        self.cut()

    def _serve(self, raw):
        with self.lock:
            self.connections.add(raw)
        try:
            client = self.server_tls.wrap_socket(raw, server_side=True)
            upstream = self._connect()
        except OSError:
            raw.close()
            return
        finally:
            with self.lock:
                self.connections.discard(raw)
        with self.lock:
            self.connections |= {client, upstream}
            is_late = self.listener.fileno() < 0  # closed meanwhile: cut() no longer reaches it
        try:
            if not is_late:
                self._relay(client, upstream)
        except OSError:
            pass
        finally:
            with self.lock:
                self.connections -= {client, upstream}
            for one in (client, upstream):
                one.close()

    def _connect(self):
        tls = ssl.create_default_context(cafile=self.cluster.authority.certificate)
        return tls.wrap_socket(socket.create_connection(("127.0.0.1", self.cluster.port)), server_hostname="127.0.0.1")

    def _relay(self, client, upstream):
        """One thread for both directions: two threads must not use a TLS connection at once."""
        asked = b""
        while True:
            flowing = self.flowing.is_set()
            watched = [client, upstream] if flowing else [client]
            ready = [one for one in watched if one.pending()] or select.select(watched, [], [], 0.05)[0]
            if upstream in ready and flowing:
                data = self._read(upstream)
                if data == b"":
                    return
                self._pass_on(client, data or b"")
            if client in ready:
                data = self._read(client)
                if data == b"":
                    return
                asked = self._take_requests(asked + (data or b""), client, upstream)

    @staticmethod
    def _read(connection):
        """What has arrived; None if these were only messages of TLS itself."""
        connection.settimeout(0)
        try:
            return connection.recv(65536)
        except ssl.SSLWantReadError:
            return None
        finally:
            connection.settimeout(None)

    def _take_requests(self, data, client, upstream):
        """Passes on or answers the whole requests in `data`; gives the rest."""
        while b"\r\n\r\n" in data:
            head, rest = data.split(b"\r\n\r\n", 1)
            length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
            wanted = int(length[1]) if length else 0
            if len(rest) < wanted:
                break
            body, data = rest[:wanted], rest[wanted:]
            method, target = head.decode().split(" ")[:2]
            with self.lock:
                self.requests.append((method, target))
                self.bodies.append(body)
                self.times.append(time.monotonic())
                self.agents |= {agent.decode().strip() for agent in re.findall(rb"(?i)\r\nuser-agent:([^\r]*)", head)} or {""}
            if self.delay:
                time.sleep(self.delay)
            if not any(rule.search(f"{method} {target}") and answer(client) for rule, answer in list(self.rules)):
                upstream.sendall(head + b"\r\n\r\n" + body)
        return data
