"""What tests of the worker share: people who write, and patience."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from datetime import timedelta

from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.turn import TurnId, TurnState
from threadline.gateway.intervals import Intervals
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival
from threadline.testing.deadline import HANG_SECONDS

NEVER = timedelta(days=1)
_numbers = itertools.count(1)


def unhurried(**beats: timedelta) -> Intervals:
    """Let no beat come by itself but those that are named."""
    return Intervals(
        checkpoint=beats.get("checkpoint", NEVER),
        renew=beats.get("renew", timedelta(0)),
        recover=beats.get("recover", NEVER),
        sweep=beats.get("sweep", NEVER),
        drain=beats.get("drain", timedelta(milliseconds=50)),
        grace=beats.get("grace", timedelta(seconds=10)),
    )


async def tell(store: Store, text: str, *, who: str = "alice", on: str = "telegram") -> Arrival:
    """Let somebody say something."""
    inbound = Inbound.text(
        text,
        address=Address(platform=on, kind=Kind.DM, chat=who),
        sender=Sender(id=who, name=who.title()),
        at=store.now(),
        message_id=str(next(_numbers)),
    )
    return await store.receive(inbound)


async def until(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Wait for something that must come true soon."""
    over = asyncio.get_running_loop().time() + HANG_SECONDS
    while not await condition():
        assert asyncio.get_running_loop().time() < over, f"it never happened: {what}"
        await asyncio.sleep(0.002)


async def becomes(store: Store, turn_id: TurnId | None, state: TurnState) -> None:
    """Wait until a turn has come to a state."""
    assert turn_id is not None

    async def is_there() -> bool:
        return (await store.turns.get(turn_id)).state is state

    await until(is_there, f"turn {turn_id} {state}")
