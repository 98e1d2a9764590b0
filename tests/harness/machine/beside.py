"""Something that a test does beside something else."""

import threading


class Call(threading.Thread):
    """One call beside the test; `.answer` after join()."""

    def __init__(self, call, *args, **options):
        super().__init__()
        self.answer = None
        self._call = lambda: call(*args, **options)
        self.start()

    def run(self):
        self.answer = self._call()

    def result(self, timeout=180):
        self.join(timeout)
        assert not self.is_alive(), "no answer"
        return self.answer
