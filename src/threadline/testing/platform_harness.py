"""Platform harness: one platform with a person on the other side, for the contract."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from enum import StrEnum

from threadline.core.address import Address
from threadline.core.errors import ThreadlineError
from threadline.core.platform import Platform, Receiver

AGAIN_SECONDS = 0.01
"""How long the stage waits before it begins a `run` again that ended."""


class Fault(StrEnum):
    """What a stage can let go wrong with the next send."""

    FLOOD = "flood"
    """The platform wants a pause of two seconds."""
    BROKEN = "broken"
    """The platform has a fault of its own."""
    SILENT = "silent"
    """Nothing is heard, though it was shown."""
    DEAD = "dead"
    """Nobody is there any more."""


class PlatformHarness(ABC):
    """What a contract needs from the other side of a platform.

    Everything happens between us and one person at `address`. A step that the platform does not
    know raises `unittest.SkipTest`: the checks that need it are then passed over.
    """

    platform: Platform
    """The platform under test."""
    address: Address
    """Where the person is."""
    thread: Address | None = None
    """A thread there, where the platform has threads."""

    @abstractmethod
    async def write(
        self,
        text: str,
        *,
        file: tuple[str, str, bytes] | None = None,
        in_thread: bool = False,
    ) -> str:
        """Let the person write, perhaps with a file (name, media type, bytes); answer the id."""

    @abstractmethod
    async def edit(self, message_id: str, text: str) -> None:
        """Let the person change what they wrote."""

    @abstractmethod
    async def delete(self, message_id: str) -> None:
        """Let the person take back what they wrote."""

    @abstractmethod
    async def repeat(self) -> None:
        """Let the platform bring once more what it brought last."""

    @abstractmethod
    async def talk_nonsense(self) -> None:
        """Let something come from the platform that cannot be read."""

    @abstractmethod
    async def disconnect(self) -> None:
        """Break the connection, if there is one that stands."""

    @abstractmethod
    async def suffer(self, mishap: Fault) -> None:
        """Let the next send go wrong."""

    @abstractmethod
    async def is_acknowledged(self) -> bool:
        """Tell whether the platform believes that we have everything it brought."""

    @abstractmethod
    async def seen(self, *, in_thread: bool = False) -> Sequence[str]:
        """Read what the person sees of our messages now, in their order."""

    @abstractmethod
    async def files(self) -> Sequence[bytes]:
        """Open the files that we sent to the person."""

    async def is_typing(self) -> bool:
        """Tell whether the person sees that we write. Asked only where `typing` is said."""
        return False

    @asynccontextmanager
    async def running(self, gate: Receiver) -> AsyncIterator[asyncio.Task[None]]:
        """Let the platform run, and begin again when it ends, as a gateway does."""
        task = asyncio.create_task(_run_for_ever(self.platform, gate))
        try:
            yield task
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _run_for_ever(platform: Platform, gate: Receiver) -> None:
    while True:
        with suppress(ThreadlineError, OSError):
            await platform.run(gate)
        await asyncio.sleep(AGAIN_SECONDS)
