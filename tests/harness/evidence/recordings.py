"""Requests and answers recorded from the original (tests/data/recordings/README.md), and what is equal in them."""

import re
from pathlib import Path

from harness.net import unix_http

RECORDINGS = Path(__file__).resolve().parents[2] / "data" / "recordings"
AFTER_ADD = RECORDINGS / "state-after-add"
CONTAINER = "0123456789abcdef" * 4
POD_UID = b"dead8828-7018-4358-83dd-530a8561ebfc"


def recorded(folder, name):
    (path,) = (RECORDINGS / folder).glob(f"*-{name}")
    return path.read_bytes()


def replay(daemon, folder, name="cni", uid=POD_UID):
    """Our answer and the recorded one. `uid`: of the pod, where a server chose another than the recorded one."""
    assert len(uid) == len(POD_UID)  # else the length in the request's head would be wrong
    return (daemon.raw(recorded(folder, f"{name}.request").replace(POD_UID, uid)),
            unix_http.parse(recorded(folder, f"{name}.response").replace(POD_UID, uid)))


def settled(text):
    """What every run makes anew is replaced; the rest must be equal."""
    text = re.sub(rb'("mac": ?)"[0-9a-f:]+"', rb'\1"M"', text)
    text = re.sub(rb'"veth[0-9a-f]+"', b'"veth"', text)
    return re.sub(rb"(10\.244\.0|10\.10\.[12])\.(?!1\b)\d+", rb"\1.N", text)


def recorded_status():
    """The network status that the original wrote, but for 02-F07: the default route of the recorded result has no gateway,
    for which the original writes the gateway "<nil>"."""
    theirs = (AFTER_ADD / "network-status.annotation").read_bytes().rstrip(b"\n")
    return theirs.replace(b',\n    "gateway": [\n        "\\u003cnil\\u003e"\n    ]', b"")


def cause(body):
    """The text of an error after the line of the request, without the names of the original's functions."""
    return re.sub(rb"\b(GetDefaultNetworks|DelegateAdd|validateIfName): ", b"", body.split(b" ERRORED: ", 1)[1].rstrip())
