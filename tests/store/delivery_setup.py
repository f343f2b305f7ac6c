"""What tests of the ledger share: somebody asks, is answered, and something is taken."""

from collections.abc import Sequence
from datetime import timedelta

from threadline.core.address import Address, Kind, Sender
from threadline.core.event import Cursor, Event
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.turn import Lease
from threadline.store import Store
from threadline.store.clock_correction import observe_clock
from threadline.store.deliveries import DeliveryPayload
from threadline.store.turn_queue.claim import TurnClaim
from threadline.testing.clock import FakeClock

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
THERE = Address(platform="slack", kind=Kind.DM, chat="bob")


async def begin(store: Store, text: str = "hi", *, at: Address = HERE, id: str = "1") -> TurnClaim:
    """Let somebody ask, and begin to answer."""
    inbound = Inbound.text(
        text, address=at, sender=Sender(id=at.chat), at=store.now(), message_id=id
    )
    await store.receive(inbound)
    claim = await store.turns.claim()
    assert claim is not None
    return claim


async def finish(store: Store, text: str = "hello") -> Lease:
    """Let somebody ask, and answer."""
    claim = await begin(store)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, text)])
    return claim.lease


async def take(store: Store) -> DeliveryPayload:
    """Take the one thing that is due."""
    (parcel,) = await store.deliveries.lease()
    return parcel


async def told(store: Store) -> Sequence[Event]:
    """Read all that the feed tells of deliveries."""
    page = await store.feed.read(Cursor("0.0"))
    return [event for event in page.events if event.kind.noun == "delivery"]


async def run_steadily(store: Store, clock: FakeClock, span: timedelta) -> None:
    """Let time pass while a gateway reads the clock at every sweep."""
    await observe_clock(store.database)
    over = clock() + span
    while clock() < over:
        clock.advance(min(timedelta(minutes=59), over - clock()))
        assert await observe_clock(store.database) is None
