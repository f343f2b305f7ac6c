"""The meter of a session: how full its context is, what it spent, and how near its caps are."""

from datetime import timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from tests.databases import OpenStore
from tests.store.delivery_setup import begin
from threadline.core.budget import CapKind, SpendCaps
from threadline.core.errors import NotFound
from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store
from threadline.testing.clock import FakeClock

CALL = Usage(
    provider="openai",
    model="gpt-5",
    input_tokens=900,
    output_tokens=100,
    prompt_tokens=900,
    cost=Decimal("0.25"),
    cost_status=CostStatus.ESTIMATED,
)


async def spend(store: Store, clock: FakeClock, id: str, *usage: Usage) -> SessionId:
    """Let a turn be answered by calls of a model."""
    claim = await begin(store, id=id)
    clock.advance(timedelta(seconds=1))
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "an answer")], usage=usage)
    clock.advance(timedelta(seconds=1))
    return claim.turn.session_id


async def test_nothing_is_known_before_the_first_call(open_store: OpenStore) -> None:
    """A session that called no model has no prompt, and has spent nothing."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    id = await spend(store, clock, "1")
    meter = await store.meter(id)

    assert (meter.session.id, meter.prompt_tokens, meter.is_exact) == (id, None, False)
    assert (meter.spent, list(meter.caps)) == (None, [])
    with pytest.raises(NotFound):
        await store.meter(SessionId("20260101_000000_00000000"))


async def test_the_last_prompt_is_exact_until_more_is_said(open_store: OpenStore) -> None:
    """Words that came since make the next prompt longer, and so the number a guess."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    id = await spend(store, clock, "1", CALL, replace(CALL, prompt_tokens=1_200))
    exact = await store.meter(id)
    await begin(store, id="2")
    guessed = await store.meter(id)

    assert (exact.prompt_tokens, exact.is_exact) == (1_200, True)
    assert (guessed.prompt_tokens, guessed.is_exact) == (1_200, False)


async def test_what_is_hidden_makes_it_a_guess_or_unknown(open_store: OpenStore) -> None:
    """After an undo the next prompt is shorter; after a compaction nobody knows how long it is."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    for number in range(2):
        await spend(store, clock, str(number), CALL)
    id = await spend(store, clock, "2", CALL)
    await store.transcripts.undo(id, 1)
    undone = await store.meter(id)
    await store.transcripts.redo(id)
    redone = await store.meter(id)
    await store.transcripts.compact(id, "numbers", upto=2)
    compacted = await store.meter(id)

    assert (undone.prompt_tokens, undone.is_exact) == (900, False)
    assert (redone.prompt_tokens, redone.is_exact) == (900, False)
    assert (compacted.prompt_tokens, compacted.is_exact) == (None, False)


async def test_sums_and_caps_are_those_of_the_session(open_store: OpenStore) -> None:
    """All calls count, also those for a title; the caps that concern it are told with them."""
    clock = FakeClock()
    caps = SpendCaps(session=Decimal(1), day=Decimal(10))
    store = await open_store(clock=clock, rules=Settings(spend=caps))
    id = await spend(store, clock, "1", CALL, CALL)
    await store.usage.record(id, [replace(CALL, task="title")])
    meter, own = await store.meter(id), await store.meter(id, everybody=False)

    assert meter.spent is not None
    assert (meter.spent.calls, meter.spent.input_tokens) == (3, 2_700)
    assert (meter.spent.cost, meter.spent.cost_status) == (Decimal("0.75"), CostStatus.ESTIMATED)
    assert [(one.kind, one.spent) for one in meter.caps] == [
        (CapKind.SESSION, Decimal("0.75")),
        (CapKind.DAY, Decimal("0.75")),
    ]
    assert [one.kind for one in own.caps] == [CapKind.SESSION]
