"""Acting on the store that the settings name: open it, do one thing, close it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from threadline.core.session import SessionId

if TYPE_CHECKING:
    from threadline.cli.opening import Opened

T = TypeVar("T")


def in_store(
    settings: Mapping[str, str | None],
    act: "Callable[[Opened], Awaitable[T]]",
    *,
    make: bool = False,
) -> T:
    """Do something with the store, which may be made for it, and answer what came of it."""
    from threadline.cli.opening import open_store
    from threadline.config import load_config

    async def run() -> T:
        async with open_store(load_config(settings), make=make) as opened:
            return await act(opened)

    return asyncio.run(run())


def at_session(
    settings: Mapping[str, str | None],
    prefix: str,
    act: "Callable[[Opened, SessionId], Awaitable[T]]",
) -> T:
    """Do something with the session whose id begins so."""

    async def run(opened: "Opened") -> T:
        return await act(opened, await find(opened, prefix))

    return in_store(settings, run)


async def find(opened: "Opened", prefix: str) -> SessionId:
    """Find the session whose id begins so."""
    from threadline.sessions.diagnosis import find_session

    return await opened.database.read(find_session, prefix)
