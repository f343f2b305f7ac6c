"""The nursery, seen from outside: starts gateways quickly, and knows how each of them died."""

import asyncio
import json
import os
import signal
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from tests.crash.dying_database import Step
from threadline.testing.deadline import HANG_SECONDS

_WITHIN = 5 * HANG_SECONDS
"""Seconds that a loaded machine may take to start a gateway, or to let one die."""


class Nursery:
    """A process in which everything is loaded; one gateway at a time is born of it."""

    def __init__(self, process: Process, complaints: Path) -> None:
        self._process = process
        self._complaints = complaints
        self._pid = 0
        self._death: int | None = None

    @property
    def is_serving(self) -> bool:
        """Whether a gateway was started and has not ended."""
        return self._pid != 0 and self._death is None

    async def bear(
        self,
        where: str,
        url: str,
        seed: int,
        step: Step | None = None,
        options: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Start a gateway; it is not ready yet."""
        errand: list[object] = [where, url, seed, None if step is None else str(step)]
        errand += [dict(options)] if options else []
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(errand).encode() + b"\n")
        self._death = None
        self._pid = int(await self._hear("born"))

    async def ready(self) -> str:
        """Wait until the gateway serves; answer who it is."""
        return await self._hear("ready")

    async def kill(self) -> None:
        """Kill the gateway now; it must not have ended by itself before."""
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        await self.death()

    def stop(self) -> None:
        """Stop the gateway's process: it does nothing, but its connections and locks stay."""
        os.kill(self._pid, signal.SIGSTOP)

    async def stopped(self) -> None:
        """Wait until the gateway's process has stopped itself."""
        async with asyncio.timeout(_WITHIN):
            while await _state_of(self._pid) != "T":
                await asyncio.sleep(0.02)

    def resume(self) -> None:
        """Make a stopped process run on."""
        os.kill(self._pid, signal.SIGCONT)

    def end(self) -> None:
        """Kill the gateway if there is one, without waiting for its death."""
        if self.is_serving:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    async def death(self) -> None:
        """Wait until the gateway is dead; whatever else than a kill ended it is an error."""
        if self._death is None:
            self._death = int(await self._hear("died"))
        assert self._death == -signal.SIGKILL, self._complaint()

    async def _hear(self, what: str) -> str:
        assert self._process.stdout is not None
        while line := await asyncio.wait_for(self._process.stdout.readline(), _WITHIN):
            said, _, which = line.decode().strip().partition(" ")
            if said == "died":
                self._death = int(which)
            if said == what:
                return which
            assert said != "died", self._complaint()
        raise AssertionError(self._complaint())

    def _complaint(self) -> str:
        said = self._complaints.read_text(encoding="utf-8")
        return f"The gateway ended by itself ({self._death}): {said[-3000:]}"


async def _state_of(pid: int) -> str:
    """Return the state of a process as `ps` shows it: T, if it is stopped."""
    shown = await asyncio.create_subprocess_exec("ps", "-o", "state=", "-p", str(pid), stdout=PIPE)
    out, _ = await shown.communicate()
    return out.decode().strip()[:1]


@asynccontextmanager
async def nursery(child: str = "tests.crash.gateway.child") -> AsyncIterator[Nursery]:
    """Have a nursery for as long as the context is open; whoever lives at the end is killed."""
    with tempfile.NamedTemporaryFile(prefix="threadline-complaints-") as complaints:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", child),
            stdin=PIPE,
            stdout=PIPE,
            stderr=complaints,
        )
        born = Nursery(process, Path(complaints.name))
        try:
            yield born
        finally:
            # A gateway ends by itself when its parent is gone, unless it is stopped.
            born.end()
            assert process.stdin is not None
            process.stdin.close()
            await asyncio.wait_for(process.communicate(), _WITHIN)
