"""Runs the examples of a document: Python, what it prints, and what one types in a shell."""

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sybil import Document, Example
from sybil.parsers.markdown import CodeBlockParser

from threadline.testing.deadline import HANG_SECONDS

_SESSION_ID = re.compile(r"\b\d{8}_\d{6}_[0-9a-f]{8}\b")
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d\b")
_SECONDS = re.compile(r"\b\d+[sm]\b *")
"""With the blanks behind it: in a table a longer span has fewer."""
_AGO = re.compile(r"\b\d+ (?:second|minute)s? ago\b")
"""A busy machine may take longer than the moment that the document shows."""


class Examples:
    """One reader of one document, who tries out everything in an empty folder."""

    def __init__(
        self, document: Path, folder: Path, variables: Mapping[str, str] | None = None
    ) -> None:
        """Open the document; its shell may know some variables from the beginning."""
        self._path = document
        self._folder = folder
        self._names: dict[str, object] = {"__name__": "__main__"}
        self._printed = ""
        self._variables = dict(variables or {})
        parsers = [
            CodeBlockParser("python", self._run_python),
            CodeBlockParser("output", self._compare_output),
            CodeBlockParser("console", self._run_shell),
        ]
        self._document = Document.parse(str(document), *parsers)

    def run(self) -> int:
        """Run all examples; answer how many there were."""
        count = 0
        with asyncio.Runner() as self._runner, contextlib.chdir(self._folder):
            for example in self._document.examples():
                example.evaluate()
                count += 1
        return count

    def _run_python(self, example: Example) -> None:
        # Empty lines in front, so that a traceback names the line of the document.
        source = "\n" * (example.line + example.parsed.line_offset) + str(example.parsed)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        code = compile(source, str(self._path), "exec", flags=flags, dont_inherit=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            awaitable = eval(code, self._names)
            if inspect.iscoroutine(awaitable):
                self._runner.run(awaitable)
        self._printed = printed.getvalue()

    def _compare_output(self, example: Example) -> None:
        assert _alike(self._printed) == _alike(str(example.parsed)), self._printed

    def _run_shell(self, example: Example) -> None:
        for command, expected in commands(str(example.parsed)):
            with tempfile.NamedTemporaryFile() as kept:
                done = subprocess.run(
                    # What is set in one command is known to the next, as in one shell.
                    ["sh", "-c", f"set -a; {command}\nenv -0 > {shlex.quote(kept.name)}"],
                    check=False,
                    capture_output=True,
                    text=True,
                    timeout=HANG_SECONDS,
                    env=self._environment(),
                )
                self._variables.update(_pairs(kept.read()))
            shown = done.stdout + done.stderr
            assert _matches(shown, expected), f"{command}\n{shown}"

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        home = {"HOME": str(self._folder), "PATH": path, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        return {**home, **self._variables}


def _pairs(variables: bytes) -> Iterator[tuple[str, str]]:
    """Part the variables of a shell, as `env -0` writes them."""
    for one in filter(None, variables.decode().split("\0")):
        name, _, value = one.partition("=")
        yield name, value


def commands(block: str) -> list[tuple[str, str]]:
    """Part what is typed after a `$` from what is shown below it; a backslash goes on."""
    found: list[tuple[str, str]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), ""))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", "")
        elif found:
            command, shown = found[-1]
            found[-1] = (command, f"{shown}{line}\n")
    return found


def _matches(shown: str, expected: str) -> bool:
    """Compare what a command shows; three dots in the document stand for anything."""
    pattern = re.escape(_alike(expected)).replace("…", ".*")
    return re.fullmatch(pattern, _alike(shown), re.DOTALL) is not None


def _alike(text: str) -> str:
    """Blank out what is new with each run: ids, moments and spans."""
    text = "\n".join(line.rstrip() for line in text.strip().splitlines())
    patterns = ((_SESSION_ID, "ID"), (_MOMENT, "WHEN"), (_SECONDS, "0s "), (_AGO, "a moment ago"))
    for pattern, word in patterns:
        text = pattern.sub(word, text)
    return text
