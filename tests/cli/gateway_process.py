"""A gateway beside the terminal: a process of its own that answers, and can be killed."""

import asyncio
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

import threadline
from tests.architecture.source import ROOT
from tests.cli.program import environment, read_until
from threadline.agents.echo import Echo
from threadline.gateway.worker import Worker
from threadline.store.gateways import register_gateway


class Served:
    """Serves a database until the context is left."""

    def __init__(self, home: Path, *, pause: float = 0.5) -> None:
        """Start it, and wait until it answers; it rests so many seconds where it is slow."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.gateway_process", str(pause)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**environment(home), "THREADLINE_DATABASE": str(home / "chat.db")},
        )
        assert self._process.stdout is not None
        read_until(self._process.stdout.fileno(), "", "serving", 30)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def kill(self) -> None:
        """End it as a power cut would."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


async def serve(pause: timedelta) -> None:
    """Answer everything with the echo agent, for ever."""
    async with (
        threadline.open(os.environ["THREADLINE_DATABASE"]) as store,
        Worker(store, Echo(long_pause=pause)),
    ):
        await store.database.write(
            register_gateway,
            owner=store.database.owner,
            host="there",
            pid=os.getpid(),
            version="0",
            url=None,
            platforms={},
        )
        sys.stdout.write("serving\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(timedelta(seconds=float(sys.argv[1]))))
