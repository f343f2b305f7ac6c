"""The program as a user runs it: in this process, in its own, or at a terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from typer.testing import CliRunner, Result

from threadline.cli.main import app
from threadline.testing.deadline import HANG_SECONDS

PROGRAM = [sys.executable, "-c", "from threadline.cli.main import main; main()"]
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|[=>])|\r")


def run(*arguments: str, lines: str | bytes = "") -> Result:
    """Run a command in this process, with lines on its standard input."""
    return CliRunner().invoke(app, list(arguments), input=lines)


def environment(home: Path) -> dict[str, str]:
    """Make the surroundings of a process whose home is a temporary folder."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "LANG"}}
    return {**kept, "HOME": str(home), "TZ": "UTC"}


def run_apart(
    home: Path, *arguments: str, lines: bytes = b"", more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [*PROGRAM, *arguments],
        input=lines,
        capture_output=True,
        check=False,
        cwd=home,
        env={**environment(home), **(more or {})},
        timeout=HANG_SECONDS,
    )


class Pipe:
    """A chat behind a pipe, in a process that can be killed."""

    def __init__(self, home: Path, *arguments: str) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            [*PROGRAM, "chat", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=home,
            env=environment(home),
        )
        self.seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()

    def say(self, line: str) -> None:
        """Write a line."""
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def expect(self, text: str, within: float = HANG_SECONDS) -> str:
        """Read until a text was seen."""
        assert self._process.stdout is not None
        self.seen = read_until(self._process.stdout.fileno(), self.seen, text, within)
        return self.seen

    def ends(self) -> int:
        """Say no more, wait for its end, and answer the exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(timeout=HANG_SECONDS)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


class Terminal:
    """A chat at a real pseudo-terminal of 80 by 24."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        more: Mapping[str, str] | None = None,
        command: str = "chat",
    ) -> None:
        """Start it, or another command."""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self._process = subprocess.Popen(
            [*PROGRAM, command, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=home,
            env={
                **environment(home),
                "TERM": "xterm",
                "PROMPT_TOOLKIT_NO_CPR": "1",
                **(more or {}),
            },
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def say(self, line: str) -> None:
        """Type a line."""
        self.press(line + "\r")

    def expect(self, text: str, within: float = HANG_SECONDS) -> str:
        """Look at the screen until a text was seen since the last look; answer what was seen."""
        self.seen = read_until(self._master, self.seen, text, within)
        seen, self.seen = self.seen, self.seen.partition(text)[2]
        return seen

    def leave(self) -> int:
        """Press Ctrl-D and answer the exit code."""
        self.press("\x04")
        deadline = time.monotonic() + HANG_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    os.read(self._master, 65536)
                except OSError:
                    break
        return self._process.wait(timeout=HANG_SECONDS)


def read_until(file: int, seen: str, text: str, within: float) -> str:
    """Read from a file until a text was seen, without escape sequences."""
    deadline = time.monotonic() + within
    raw = b""
    while text not in (whole := seen + _ESCAPES.sub("", raw.decode("utf-8", "replace"))):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([file], [], [], left)[0]:
            raise AssertionError(f"{text!r} did not come within {within} s, but:\n{whole}")
        chunk = os.read(file, 65536)
        if not chunk:
            raise AssertionError(f"{text!r} did not come before the end, but:\n{whole}")
        raw += chunk
    return whole
