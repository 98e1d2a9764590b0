"""kube-probe as a process: the object source over an API, asked from Python."""

import itertools
import json
import os
import queue
import subprocess
import threading

from harness.evidence import sanitizers


class Failed(AssertionError):
    """The probe answered with an error."""


class Pending:
    """An answer that will come."""

    def __init__(self):
        self.answers = queue.Queue()

    def result(self, timeout=180):
        answer = self.whole(timeout)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer["result"]

    def whole(self, timeout=180):
        """With `ms`, and `error` instead of `result` if there was one."""
        return self.answers.get(timeout=timeout)

    def done(self):
        return not self.answers.empty()


class Probe:
    def __init__(self, program, kubeconfig, node, *options, env=None, log=None):
        assert program.exists(), f"{program} is not built"
        words = [str(program), *options]
        if kubeconfig:
            words.append(f"--kubeconfig={kubeconfig}")
        if node:
            words.append(f"--node={node}")
        self.log_lines = []
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, **(env or {})})
        self.numbers = itertools.count(1)
        self.pending = {}
        self.threads = [threading.Thread(target=self._read_answers), threading.Thread(target=self._read_log)]
        for thread in self.threads:
            thread.start()

    def _read_answers(self):
        for line in self.process.stdout:
            answer = json.loads(line)
            self.pending.pop(answer["id"]).answers.put(answer)

    def _read_log(self):
        for line in self.process.stderr:
            self.log_lines.append(line)

    @property
    def log(self):
        return "".join(self.log_lines)

    def start(self, what, **members):
        """Many may be under way."""
        number = next(self.numbers)
        pending = self.pending[number] = Pending()
        self.process.stdin.write(json.dumps({"id": number, "do": what, **members}) + "\n")
        self.process.stdin.flush()
        return pending

    def ask(self, what, **members):
        return self.start(what, **members).result()

    def stats(self):
        return self.ask("stats")

    def memory(self):
        """Proportional set size in bytes."""
        with open(f"/proc/{self.process.pid}/smaps_rollup") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) * 1024
        raise AssertionError("no Pss")

    def close(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        try:
            status = self.process.wait(30)
        finally:
            if self.process.poll() is None:
                self.process.kill()
        for thread in self.threads:
            thread.join()
        sanitizers.assert_clean(self.log)
        assert status == 0, f"probe ended with {status}:\n{self.log}"
