"""An HTTP proxy that knows only CONNECT; every tunnel ends at the same place, whatever name the client requests."""

import socket
import threading

from harness.net.relays import pour, serve_each


class ConnectProxy:
    def __init__(self, port, user=None):
        """Tunnels lead to that port of loopback. `user`: the value of Proxy-Authorization without which it refuses."""
        self.port, self.user = port, user
        self.asked = []  # host:port, in order
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        serve_each(self.listener, self._serve)

    def close(self):
        self.listener.close()

    def _serve(self, client):
        head = b""
        while b"\r\n\r\n" not in head:
            data = client.recv(4096)
            if not data:
                return
            head += data
        method, target, _ = head.decode().split("\r\n", 1)[0].split(" ")
        self.asked.append(target)
        wrong_user = self.user and f"Proxy-Authorization: {self.user}".encode() not in head
        if method != "CONNECT" or wrong_user:
            client.sendall(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", self.port))
        client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        threading.Thread(target=pour, args=(client, server), daemon=True).start()
        pour(server, client)
