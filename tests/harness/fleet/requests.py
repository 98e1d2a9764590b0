"""The requests that nodes made of the API server: read from the server's own audit log, or from the record of a balancer that
refuses everything (balancer.py)."""

import base64
import collections
import datetime
import json
from dataclasses import dataclass

from harness.machine.wait import whole_lines


@dataclass(frozen=True)
class Asked:
    at: float   # seconds since the epoch, by the server's clock
    node: str   # the id of its token
    verb: str
    resource: str
    target: str

    @property
    def is_read_of_all(self):
        """A whole list, in an answer or as the first events of a watch."""
        return self.verb == "list" or "sendInitialEvents=true" in self.target


def token_id(token):
    """The id by which the server's log names a token of a service account."""
    payload = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["jti"]


def seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


@dataclass(frozen=True)
class Entry:
    """One line of the log: a request at one of its stages."""
    id: str
    stage: str
    at: float  # of the stage
    asked: Asked
    code: int


def entry_of(line):
    entry = json.loads(line)
    ids = entry["user"].get("extra", {}).get("authentication.kubernetes.io/credential-id", ["JTI="])
    what = entry.get("objectRef", {})
    resource = "/".join(filter(None, (what.get("resource"), what.get("subresource"))))
    asked = Asked(seconds(entry["requestReceivedTimestamp"]), ids[0].removeprefix("JTI="), entry["verb"], resource,
                  entry["requestURI"])
    return Entry(entry["auditID"], entry["stage"], seconds(entry["stageTimestamp"]), asked,
                 entry.get("responseStatus", {}).get("code", 0))


class AuditLog:
    """The API server's, at level Metadata; it grows while we read it."""

    def __init__(self, path):
        self.path = path
        self._entries = []
        self._read = 0  # bytes

    def entries(self, since=0.0):
        """Those that were logged at `since` or later."""
        if self.path.exists():
            with open(self.path, "rb") as file:
                file.seek(self._read)
                whole = file.read().rpartition(b"\n")[0]
            if whole:
                self._read += len(whole) + 1
                self._entries += map(entry_of, whole.split(b"\n"))
        return [entry for entry in self._entries if entry.at >= since]

    def requests(self, since=0.0, end=float("inf")):
        """In the order in which they came."""
        found = [entry.asked for entry in self.entries(since) if entry.stage == "RequestReceived"]
        return sorted((one for one in found if since <= one.at < end), key=lambda one: one.at)

    def open_watches(self, since=0.0):
        """When each watch was answered that began since then and has not ended: a list for each node and resource. A server may answer
        a watch with 200 and end it at once, because its position is too old."""
        begun = {}
        for entry in self.entries(since):
            if entry.asked.verb != "watch" or entry.code != 200:
                continue
            if entry.stage == "ResponseStarted":
                begun[entry.id] = entry
            elif entry.stage == "ResponseComplete":
                begun.pop(entry.id, None)
        found = collections.defaultdict(list)
        for entry in begun.values():
            found[entry.asked.node, entry.asked.resource].append(entry.at)
        return found

    def codes(self, since, end=float("inf")):
        """How many requests that came since then were answered with which status."""
        answers = {entry.id: entry.code for entry in self.entries(since)
                   if entry.stage in ("ResponseStarted", "ResponseComplete") and since <= entry.asked.at < end}
        return collections.Counter(answers.values())


def record_of_refusals(path):
    """What balancer.py wrote."""
    found = []
    for line in whole_lines(path) if path.exists() else []:
        at, token, method, target = json.loads(line)
        resource = next((name for name in ("network-attachment-definitions", "pods", "events") if f"/{name}" in target), "")
        verb = "watch" if "watch=" in target else method.lower()
        found.append(Asked(at, token_id(token) if token else "", verb, resource, target))
    return found


def peak(requests, window=1.0):
    """The most requests within any second."""
    times = collections.deque()
    most = 0
    for one in sorted(requests, key=lambda one: one.at):
        times.append(one.at)
        while times[0] <= one.at - window:
            times.popleft()
        most = max(most, len(times))
    return most


def repeats(requests, window=1.0):
    """Pairs of requests in which one node reads or follows the same kind of objects again within a second."""
    last, found = {}, []
    for one in sorted(requests, key=lambda one: one.at):
        if one.verb not in ("list", "watch"):
            continue
        before = last.get((one.node, one.resource))
        if before and one.at - before.at < window:
            found.append((before, one))
        last[one.node, one.resource] = one
    return found
