"""The examples of a document: shell blocks after a comment that says where they run, and the lines that they must print. And the
commands that a document shows anywhere."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
BLOCK = re.compile(r"<!-- run: (\w+) -->\n```sh\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.S)

PROMISE = "Every example below is run by a test."


@dataclass(frozen=True)
class Example:
    where: str
    script: str
    lines: tuple

    def check(self, said):
        missing = [line for line in self.lines if line not in said.splitlines()]
        assert not missing, f"{missing} in:\n{said}"


def examples(name, where):
    text = (ROOT / "docs" / name).read_text()
    found = [Example(*match.group(1, 2), tuple((match[3] or "").splitlines())) for match in BLOCK.finditer(text)]
    assert len(found) == text.count("```sh"), "a shell block that no test runs"
    if PROMISE in text:
        assert "```" not in BLOCK.sub("", text), "a block that no test runs"
    return [example for example in found if example.where == where]


def commands(path):
    """Lines of shell blocks, with what follows && or ; on lines of its own, and what stands in backquotes."""
    text = Path(path).read_text()
    lines = [line.removeprefix("$ ") for language, block in FENCE.findall(text) if language in ("", "sh") for line in block.splitlines()]
    spans = SPAN.findall(FENCE.sub("", text))
    return [re.sub(r"\s+# .*", "", part).strip() for line in [*lines, *spans] for part in re.split(r" && |; ", line)]
