"""Network namespaces of a host that come and go by the thousand: one process inside it makes and removes them, where `ip netns` starts three for each."""

import ctypes
import os
import socket
import subprocess
import sys
import threading

FOLDER = "/run/netns"


class Namespaces:
    """For several threads, one after another. Ends with close(), or with the host."""

    def __init__(self, host):
        # Makes the folder a mount of its own, as on every node.
        host.run("ip", "netns", "add", "first")
        host.run("ip", "netns", "del", "first")
        self._process = host.spawn("/usr/bin/python3", "-B", "-c", _source(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self._process.pid
        self._lock = threading.Lock()

    def _ask(self, *words):
        with self._lock:
            self._process.stdin.write(" ".join(words) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline().split()
        assert answer[:1] == ["ok"], f"{words}: {answer}"
        return answer[1:]

    def add(self, name):
        self._ask("add", name)

    def remove(self, name):
        self._ask("remove", name)

    def links(self, name):
        """Names of all links in it but lo."""
        return set(self._ask("links", name)) - {"lo"}

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


# -- inside the host


def _source():
    with open(__file__, encoding="utf-8") as file:
        return file.read() + "\nserve()\n"


def serve():
    """Reads one order of each line; answers `ok` with what was asked for, or what went wrong."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    for line in sys.stdin:
        order, name = line.split()
        try:
            answer = {"add": _add, "remove": _remove, "links": _links}[order](libc, f"{FOLDER}/{name}")
        except OSError as wrong:
            answer = [repr(wrong)]
        finally:
            _done(libc.setns(home, 0))
        print(*answer, flush=True)


def _done(status):
    if status != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _add(libc, path):
    os.close(os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0))
    _done(libc.unshare(0x40000000))  # CLONE_NEWNET
    _done(libc.mount(b"/proc/self/ns/net", path.encode(), b"none", 4096, None))  # MS_BIND
    return ["ok"]


def _remove(libc, path):
    _done(libc.umount2(path.encode(), 2))  # MNT_DETACH
    os.unlink(path)
    return ["ok"]


def _links(libc, path):
    with open(path, encoding="ascii") as namespace:
        _done(libc.setns(namespace.fileno(), 0))
    return ["ok", *(name for _, name in socket.if_nameindex())]
