"""Acting on the store that the settings name: open it, do one thing, close it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from threadline.core.account import Actor
from threadline.core.errors import StorageError
from threadline.core.session import SessionId

if TYPE_CHECKING:
    from threadline.cli.store_opener import Opened
    from threadline.store import Store

T = TypeVar("T")


def in_store(
    settings: Mapping[str, str | None],
    act: "Callable[[Opened], Awaitable[T]]",
    *,
    make: bool = False,
) -> T:
    """Do something with the store, which may be made for it, and answer what came of it."""
    from threadline.cli.store_opener import open_store
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
        return await act(opened, await find_session(opened, prefix))

    return in_store(settings, run)


async def find_session(opened: "Opened", prefix: str) -> SessionId:
    """Find the session whose id begins so."""
    from threadline.store.stats import find_session

    return await opened.database.read(find_session, prefix)


async def audit_command(store: "Store", act: str, subject: str, detail: str = "") -> None:
    """Write to the audit log what was done in the terminal; say so if it cannot be written.

    For acts that are not done in the store itself. They must be possible on a full disk, too.
    """
    from threadline.cli.output import complain
    from threadline.store.audit import note_audit

    try:
        await store.database.write(note_audit, Actor(), act, subject, detail)
    except StorageError as error:
        complain(StorageError(f"This is not in the audit log: {error}"))
