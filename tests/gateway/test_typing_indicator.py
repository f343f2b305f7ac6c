"""Presence: to be seen writing is a courtesy, and harms nothing when it fails."""

import asyncio

from tests.gateway.outbox_setup import Billboard
from tests.gateway.worker_setup import until
from threadline.core.address import Address, Kind
from threadline.gateway.typing_indicator import show_typing

HERE = Address(platform="telegram", kind=Kind.DM, chat="42")


class Shy(Billboard):
    """A platform that breaks whenever somebody is to be seen writing."""

    async def show_typing(self, address: Address) -> None:
        """Break."""
        await super().show_typing(address)
        raise RuntimeError("not today")


async def test_a_platform_that_cannot_show_typing_is_asked_again() -> None:
    """What it raises ends nothing: whoever writes goes on being shown."""
    board = Shy()
    shown = asyncio.create_task(show_typing(board, HERE))

    async def was_asked() -> bool:
        return board.typed == 1

    await until(was_asked, "it is asked")
    await asyncio.wait({shown}, timeout=0.05)
    assert not shown.done()
    shown.cancel()
    await asyncio.wait({shown})
    assert shown.cancelled()
