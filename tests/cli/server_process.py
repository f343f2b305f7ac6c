"""The server as a user runs it: a process of its own on a free port of this machine."""

import os
import re
import signal
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.cli.program import PROGRAM, environment, read_until
from threadline.testing.deadline import HANG_SECONDS


class Server:
    """`threadline serve`, until the context is left."""

    def __init__(self, home: Path, *arguments: str) -> None:
        """Start it on a free port."""
        self._log = home / "serve.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*PROGRAM, "serve", "--port", "0", *arguments],
                stdout=subprocess.PIPE,
                stderr=log,
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
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def expect(self, text: str, within: float = HANG_SECONDS) -> str:
        """Read what it says until a text was seen."""
        assert self._process.stdout is not None
        self.seen = read_until(self._process.stdout.fileno(), self.seen, text, within)
        return self.seen

    def url(self) -> str:
        """Wait until it is up, and answer where."""
        found = re.search(r"http://127\.0\.0\.1:\d+", self.expect("Ctrl-C ends it."))
        assert found is not None, self.seen
        return found[0]

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self._process.pid, number)

    def ended(self) -> int:
        """Wait for its end and answer the exit code."""
        return self._process.wait(timeout=HANG_SECONDS)

    def logged(self) -> str:
        """Answer what it wrote into its log."""
        return self._log.read_text()
