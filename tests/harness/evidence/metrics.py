"""A daemon's metrics as a scraper inside its host sees them, and a real Prometheus beside it."""

import json
import re
import urllib.parse
from dataclasses import dataclass

from harness.machine.wait import until

PORT = 9091
# Run inside the host; one line of JSON, `null` if no process listens, or no longer.
FETCH = """
import http.client, json, sys
address, port, method, path = sys.argv[1:]
connection = http.client.HTTPConnection(address, int(port), timeout=60)
try:
    connection.request(method, path)
    answer = connection.getresponse()
    print(json.dumps([answer.status, dict(answer.getheaders()), answer.read().decode()]))
except (ConnectionRefusedError, ConnectionResetError):
    print("null")
"""
SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass
class Answer:
    status: int
    headers: dict
    body: str


def fetch(host, path="/metrics", address="127.0.0.1", port=PORT, method="GET"):
    """None if no process listens there."""
    done = host.run("/usr/bin/python3", "-I", "-c", FETCH, address, port, method, path)
    answer = json.loads(done.stdout)
    return answer and Answer(*answer)


class Page:
    """The values of one page: page.value(name, label="x")."""

    def __init__(self, text):
        self.text = text
        self._samples = []
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            found = SAMPLE.fullmatch(line)
            assert found, line
            self._samples.append((found["name"], dict(LABEL.findall(found["labels"] or "")), float(found["value"])))

    def values(self, name, **labels):
        return [value for there, their, value in self._samples
                if there == name and labels.items() <= their.items()]

    def value(self, name, **labels):
        """The sum over all series with these labels; None if there is none."""
        found = self.values(name, **labels)
        return sum(found) if found else None

    def labels(self, name, label):
        return {their[label] for there, their, _ in self._samples if there == name}


def page(host, **options):
    answer = fetch(host, **options)
    assert answer is not None and answer.status == 200
    return Page(answer.body)


def complaints(host, text):
    """The complaints of promtool."""
    done = host.run("promtool", "check", "metrics", input=text, check=False)
    said = (done.stdout + done.stderr).strip()
    return said or (f"exit {done.returncode}" if done.returncode else "")


class Prometheus:
    """A real server that scrapes the daemon once a second; ended with the host at the latest."""

    def __init__(self, host, port=9090, rules=None):
        self.host = host
        self.port = port
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                  "scrape_configs": [{"job_name": "multus",
                                      "static_configs": [{"targets": [f"127.0.0.1:{PORT}"]}]}]}
        if rules:
            config["rule_files"] = [rules]
        host.write("/srv/prometheus/prometheus.yml", config)
        with open(host.path("/srv/prometheus/log"), "wb") as log:
            self.process = host.spawn(
                "prometheus", "--config.file=/srv/prometheus/prometheus.yml",
                "--storage.tsdb.path=/srv/prometheus/data", f"--web.listen-address=127.0.0.1:{port}",
                stdout=log, stderr=log)

    def ask(self, path, **query):
        answer = fetch(self.host, f"{path}?{urllib.parse.urlencode(query)}", port=self.port)
        if answer is None or answer.status == 503:  # it still starts
            return None
        found = json.loads(answer.body)
        assert found["status"] == "success", found
        return found["data"]

    def query(self, expression):
        """The values, once there are any."""
        def found():
            data = self.ask("/api/v1/query", query=expression)
            return data and [(sample["metric"], float(sample["value"][1])) for sample in data["result"]]
        return until(found, lambda: f"an answer to {expression}; the log:\n{self.log}")

    @property
    def log(self):
        return self.host.path("/srv/prometheus/log").read_text(errors="replace")[-3000:]

    def stop(self):
        self.process.signal(15)
        self.process.wait()
