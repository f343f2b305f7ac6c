"""Hostile input: whatever comes in is stored unharmed, or refused by an error of our family."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.crash.verify import broken_laws, looking
from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.store.hostile_values import PATHS, SQL, Scene, calls, inbound, odd_values, usage, values
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import SendOutcome
from threadline.core.errors import Invalid, ThreadlineError
from threadline.core.inbound import InboundKind
from threadline.core.json_codec import checked
from threadline.core.message import (
    NewMessage,
    Reasoning,
    Role,
    Text,
    ToolCall,
    say,
)
from threadline.core.turn import Lease, TurnId
from threadline.core.usage import CostStatus
from threadline.store import Store
from threadline.store.sessions.session_settings import set_summary
from threadline.store.turn_queue.crash_recovery import interrupt
from threadline.testing.clock import FakeClock


@pytest.mark.parametrize(
    "make",
    [pytest.param(make, id=f"{number} {name}") for number, (name, make) in
     enumerate([*values(), *odd_values()])],
)  # fmt: skip
def test_values_that_cannot_be_made(make: Callable[[], object]) -> None:
    """A value that no database could store is refused at the port, in a short sentence."""
    with pytest.raises(Invalid) as caught:
        checked(make(), "value")

    assert len(str(caught.value)) < 500
    str(caught.value).encode()


@pytest.fixture
async def scene(open_store: OpenStore, database_factory: DatabaseFactory) -> Scene:
    """Set the scene: a finished turn with a reply under way, and two running turns."""
    store = await open_store()
    leases = []
    for n, chat in enumerate(("c", "c", "d")):
        address = Address(platform="p", kind=Kind.DM, chat=chat)
        await store.receive(inbound(address=address, message_id=f"{n}"))
        claimed = await store.turns.claim()
        assert claimed is not None
        if n == 0:
            await store.turns.finish(claimed.lease, [say(Role.ASSISTANT, "done")])
        else:
            leases.append(claimed.lease)
    (parcel,) = await store.deliveries.lease()
    mine, other = leases
    return Scene(
        store=store,
        where=database_factory.where,
        session_id=mine.session_id,
        lease=mine,
        other=other,
        parcel=parcel,
    )


@on(FAST, POSTGRES)
async def test_calls_that_cannot_be_answered(scene: Scene) -> None:
    """A call with a hostile argument gets an error of our family, and nothing is half-written."""
    before = scene.counts()
    wrong = []

    for number, (name, call) in enumerate(calls()):
        try:
            answer = await call(scene)
            wrong.append(f"{number} {name}: answered {answer!r:.80}")
        except ThreadlineError as error:
            str(error).encode()
        except Exception as error:  # noqa: BLE001 - any other error is what this test looks for
            wrong.append(f"{number} {name}: {type(error).__name__}: {error!s:.80}")
    assert not wrong, "\n".join(wrong)
    after = scene.counts()

    assert after == before
    await scene.store.turns.finish(scene.lease, [say(Role.ASSISTANT, "still mine")])
    await scene.store.turns.finish(scene.other, [say(Role.ASSISTANT, "still mine, too")])
    await scene.store.deliveries.record_sent(scene.parcel.delivery)


PLANES = "".join(
    chr(plane * 0x10000 + at) for plane in range(17) for at in (0x41, 0xFFFD, 0x1F600 & 0xFFFF)
)
STRANGE = (
    SQL,
    *PATHS,
    PLANES,
    "\u202egnirts desrever",
    "e\u0301 é \u200b\ufeff",
    "".join(map(chr, range(1, 0x20))),
    "\U0010ffff\ufffe\uffff",
    " ",
    "null",
    "\r\n\t",
)


@on(FAST, POSTGRES)
async def test_strange_texts_are_stored_unharmed(open_store: OpenStore) -> None:
    """SQL, paths and characters of all planes come back as they went in, in every field."""
    store = await open_store()
    for strange in STRANGE:
        id = strange.encode()[:250].decode(errors="ignore")
        address = Address(
            platform=id, kind=Kind.THREAD, chat=id, account=id, thread=id, topic=strange, scope=id
        )
        sender = Sender(id=id, name=strange)
        parts = (
            Text(text=strange, raw=strange),
            ToolCall(id=id, name=id, arguments=strange, raw=strange),
            Reasoning(text=strange, raw=strange),
        )
        arrival = await store.receive(
            inbound(address=address, sender=sender, parts=parts, message_id=id)
        )
        assert arrival.session_id is not None
        claimed = await store.turns.claim(arrival.session_id)
        assert claimed is not None
        await store.turns.checkpoint([(claimed.lease, strange)])
        spent = usage(provider=id, model=id, task=id)
        await store.turns.finish(claimed.lease, usage=[spent])
        await store.database.write(set_summary, arrival.session_id, strange)
        await store.sessions.hold(arrival.session_id, id, store.now() + timedelta(hours=1))
        for parcel in await store.deliveries.lease():
            assert parcel.delivery.address == address
            await store.deliveries.record_sent(parcel.delivery, id)

        said = await store.transcripts.read(arrival.session_id)
        assert said[-2].parts == parts
        assert (said[-2].sender_id, said[-1].text) == (id, strange)
        assert await store.usage.of_session(arrival.session_id) == [spent]
        assert arrival.route is not None
        assert await store.sessions.find(arrival.route) == arrival.session_id
        again = await store.receive(inbound(address=address, sender=sender, message_id=id))
        assert again.is_repeated
    assert await store.check(deep=True) == []


@on(FAST, POSTGRES)
async def test_the_largest_that_is_allowed(open_store: OpenStore) -> None:
    """Texts, ids and numbers at their limits are stored, and come back whole."""
    store = await open_store()
    longest = "ß" * (4 * 1024 * 1024)
    parts = (Text(text=longest), Text(text=longest))
    most = 2**63 - 1
    arrival = await store.receive(
        inbound(parts=parts, message_id="x" * 255, at=datetime.max.replace(tzinfo=UTC))
    )
    edit = inbound(kind=InboundKind.EDIT, message_id="x" * 255, version=most)
    await store.receive(edit)
    claimed = await store.turns.claim()
    assert claimed is not None
    spent = usage(input_tokens=10**12, cost=Decimal(10) ** 6, cost_status=CostStatus.EXACT)
    await store.turns.finish(
        claimed.lease, [NewMessage(role=Role.TOOL, parts=parts)], usage=[spent] * 100
    )
    for parcel in await store.deliveries.lease():
        await store.deliveries.record_failure(
            parcel.delivery, SendOutcome.REJECTED, "later", timedelta.max
        )

    assert arrival.session_id is not None
    said = await store.transcripts.read(arrival.session_id)
    assert said[-1].parts == parts
    (summed,) = await store.usage.of_session(arrival.session_id)
    assert (summed.input_tokens, summed.cost) == (10**14, Decimal(10) ** 8)


@on(FAST, POSTGRES)
async def test_a_stream_longer_than_a_text_may_be(open_store: OpenStore) -> None:
    """However much a turn streams, it can be finished, stopped and taken from a dead owner.

    Once the partial output of a turn had grown past the limit of a text, every attempt to end it
    was refused, and no other turn could be recovered either.
    """
    clock = FakeClock()
    store = await open_store(clock=clock)
    piece = "y" * (3 * 1024 * 1024)
    for ending in ("finish", "stop", "interrupt"):
        await store.receive(inbound(message_id=ending))
        claimed = await store.turns.claim()
        assert claimed is not None
        for _ in range(2):
            await store.turns.checkpoint([(claimed.lease, piece)])
        if ending == "finish":
            await store.turns.finish(claimed.lease)
        elif ending == "stop":
            await store.turns.stop(claimed.lease.turn_id)
        else:
            await _outlive(store, clock, claimed.lease)
        said = await store.transcripts.read(claimed.lease.session_id)
        texts = [part.text for part in said[-1].parts if isinstance(part, Text)]
        assert "".join(texts) == piece * 2


async def _outlive(store: Store, clock: FakeClock, lease: Lease) -> None:
    """Let a lease end."""
    clock.advance(timedelta(hours=1))
    none = frozenset[TurnId]()
    taken, _ = await store.database.write(interrupt, dead=frozenset(), running=none)
    assert taken == [lease.turn_id]


@on(FAST)
async def test_the_same_id_a_hundred_thousand_times(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """However often a message is delivered again, it is there once, and costs no more room."""
    store = await open_store()
    message = inbound(message_id="again")
    first = await store.receive(message)
    for _ in range(100):
        answers = await asyncio.gather(*(store.receive(message) for _ in range(1000)))
        assert all(answer.is_repeated for answer in answers)
        assert {answer.turn_id for answer in answers} == {first.turn_id}
    with looking(database_factory.where) as look:
        assert look("SELECT count(*) FROM messages WHERE role = 'user'") == [(1,)]
        assert look("SELECT count(*) FROM arrivals") == [(1,)]
        assert broken_laws(look) == []
