"""What stand-ins between a client and a server share: they accept connections, and pass bytes on."""

import socket
import threading


def serve_each(listener, serve):
    """Calls serve(connection) in a thread of its own for each connection, until the listener is closed."""
    def accept():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()


def shut(*connections):
    """Shuts down both directions; a thread that reads or writes there now ends."""
    for one in connections:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def pour(source, target):
    """Copies until one of them ends, then ends both."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    shut(source, target)
