"""The survey: deliveries, senders, caps, profiles and attachments, as screens show them."""

from datetime import timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from tests.databases import OpenStore
from tests.store.delivery_setup import begin, take
from tests.store.job_setup import HOURLY, TELEGRAM
from threadline.core.address import Address, Kind, Sender
from threadline.core.budget import CapKind, SpendCaps
from threadline.core.delivery import DeliveryState, SendOutcome
from threadline.core.errors import Invalid, NotFound
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, BlobHash, MediaKind, Role, Text, say
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store
from threadline.store.stats import list_overdue
from threadline.testing.clock import A_MONDAY, FakeClock

ADA = Sender(id="ada", name="Ada")
CHAT = Address(platform="telegram", kind=Kind.DM, chat="ada")


async def send(store: Store, file: Attachment, id: str = "m1") -> SessionId:
    """Say something with a file, and answer the session that it came to."""
    inbound = Inbound(
        address=CHAT,
        sender=ADA,
        at=A_MONDAY,
        message_id=id,
        parts=(Text(text="look"), file),
    )
    arrival = await store.receive(inbound)
    assert arrival.session_id is not None
    return arrival.session_id


async def test_what_a_session_owes_is_listed_page_by_page(store: Store) -> None:
    """The newest comes first, and the next page goes on behind the last one shown."""
    turns = []
    for number in range(3):
        claim = await begin(store, id=str(number))
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, f"answer {number}")])
        turns.append(claim.turn)
    id = turns[0].session_id
    all_three = await store.deliveries.list(id)
    assert [one.turn_id for one in all_three] == [turn.id for turn in reversed(turns)]

    first = await store.deliveries.list(id, most=1)
    rest = await store.deliveries.list(id, before=first[0].id)
    assert [*first, *rest] == all_three


async def test_deliveries_are_listed_by_their_state(store: Store) -> None:
    """What failed is found however many newer ones arrived."""
    outcomes = [SendOutcome.DEAD, None, None]
    turns = []
    for number, outcome in enumerate(outcomes):
        claim = await begin(store, id=str(number))
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, f"answer {number}")])
        parcel = await take(store)
        if outcome is None:
            await store.deliveries.record_sent(parcel.delivery)
        else:
            await store.deliveries.record_failure(parcel.delivery, outcome, "gone")
        turns.append(claim.turn)
    id = turns[0].session_id

    lost = (DeliveryState.FAILED, DeliveryState.ABANDONED)
    assert [one.turn_id for one in await store.deliveries.list(id, states=lost)] == [turns[0].id]
    (newest,) = await store.deliveries.list(id, states=[DeliveryState.SENT], most=1)
    assert newest.turn_id == turns[2].id
    assert await store.deliveries.list(id, states=[DeliveryState.PENDING]) == []
    with pytest.raises(Invalid):
        await store.deliveries.list(id, states=["late"])  # type: ignore[list-item]


async def test_deliveries_of_an_unknown_session_are_not_found(store: Store) -> None:
    """It is no empty list."""
    with pytest.raises(NotFound):
        await store.deliveries.list(SessionId("20260101_000000_00000000"))


async def test_what_never_arrived_is_listed_across_sessions(open_store: OpenStore) -> None:
    """Of two that failed each stands on its own page, and what arrived stands on none."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    for number in range(3):
        place = replace(CHAT, chat=f"c{number}")
        await store.deliveries.create(place, "hello")
        parcel = await take(store)
        if number < 2:
            await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "gone")
        else:
            await store.deliveries.record_sent(parcel.delivery)
        clock.advance(timedelta(seconds=1))

    (last,) = await store.deliveries.lost(most=1)
    assert (last.address.chat, last.error) == ("c1", "gone")
    (before,) = await store.deliveries.lost(before=(last.owed_at, last.id))
    assert before.address.chat == "c0"
    assert await store.deliveries.lost(before=(before.owed_at, before.id)) == []


async def test_everybody_who_spoke_is_listed(store: Store) -> None:
    """Who was joined with somebody shows which person they are."""
    for id in ("ada", "bob", "eve"):
        await store.receive(
            Inbound.text(
                "hello",
                address=replace(CHAT, chat=id),
                sender=Sender(id=id, name=id.title()),
                at=A_MONDAY,
                message_id=id,
            )
        )
    person = await store.join(
        Identity(platform="telegram", id="ada"), Identity(platform="telegram", id="eve")
    )

    rows = await store.senders(most=2)
    rows += await store.senders(after=rows[-1].key)
    assert [str(row.sender.identity) for row in rows] == [
        "telegram:ada",
        "telegram:bob",
        "telegram:eve",
    ]
    assert [row.person for row in rows] == [person.key, None, person.key]


async def test_an_attachment_is_found_in_the_session_that_shows_it(store: Store) -> None:
    """Waiting or answered, in the session and in its branch, but in no other one."""
    file = await store.attachments.put(b"\x89PNG", "image/png", MediaKind.IMAGE, "cat.png")
    id = await send(store, file)
    assert await store.attachment_in(id, file.blob) == file

    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "a cat")])
    branch = await store.transcripts.branch(id)
    assert await store.attachment_in(id, file.blob) == file
    assert await store.attachment_in(branch.id, file.blob) == file

    other = await begin(store)
    assert await store.attachment_in(other.turn.session_id, file.blob) is None
    assert await store.attachment_in(id, BlobHash("0" * 64)) is None
    with pytest.raises(Invalid):
        await store.attachment_in(id, BlobHash("../../etc/passwd"))


async def test_a_branch_does_not_show_what_came_after_it(store: Store) -> None:
    """What its origin was sent later belongs to that alone."""
    early = await store.attachments.put(b"early", "text/plain", MediaKind.FILE)
    id = await send(store, early)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])
    branch = await store.transcripts.branch(id)
    late = await store.attachments.put(b"late", "text/plain", MediaKind.FILE)
    # A branch takes over the route, so that the origin is spoken to by name.
    await store.sessions.switch(CHAT, ADA, id)
    assert await send(store, late, "m2") == id

    assert await store.attachment_in(id, late.blob) == late
    assert await store.attachment_in(branch.id, late.blob) is None
    assert await store.attachment_in(branch.id, early.blob) == early


async def test_pieces_of_a_blob_are_read_by_number(store: Store) -> None:
    """Behind the last one there is nothing."""
    file = await store.attachments.put(b"x" * 300_000, "text/plain", MediaKind.FILE)
    pieces = [await store.blob_piece(file.blob, n) for n in range(3)]
    assert [None if one is None else len(one) for one in pieces] == [262_144, 37_856, None]


async def test_caps_tell_how_near_they_are(open_store: OpenStore) -> None:
    """Everybody's, one sender's and one session's, each only where it is asked for."""
    caps = SpendCaps(day=Decimal(10), person_month=Decimal(2), session=Decimal(4))
    store = await open_store(rules=Settings(spend=caps), clock=FakeClock())
    claim = await begin(store)
    spent = Usage(provider="p", model="m", cost=Decimal("1.75"), cost_status=CostStatus.EXACT)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "ok")], usage=[spent])
    who = Identity(platform="telegram", id="alice")

    found = await store.spendings(who, session=claim.turn.session_id)
    told = {one.kind: (one.limit, one.spent, one.is_warned) for one in found}
    assert told == {
        CapKind.DAY: (Decimal(10), Decimal("1.75"), False),
        CapKind.PERSON_MONTH: (Decimal(2), Decimal("1.75"), True),
        CapKind.SESSION: (Decimal(4), Decimal("1.75"), False),
    }
    stranger = Identity(platform="telegram", id="nobody")
    (own,) = await store.spendings(stranger, everybody=False)
    assert (own.kind, own.spent) == (CapKind.PERSON_MONTH, Decimal(0))


async def test_profiles_are_those_in_which_somebody_spoke(store: Store) -> None:
    """Each is named once, however many sessions it has."""
    assert await store.profiles() == []
    for number, profile in enumerate(["work", "main", "work", "home"]):
        await store.receive(
            Inbound.text(
                "hello",
                address=replace(CHAT, chat=str(number)),
                sender=ADA,
                at=A_MONDAY,
                message_id=str(number),
                profile=profile,
            )
        )
    assert await store.profiles() == ["home", "main", "work"]


async def test_the_seal_is_the_same_for_all_who_serve(open_store: OpenStore) -> None:
    """What one process signed, another one knows again."""
    one, other = await open_store(), await open_store()
    assert (await one.seal()).mark("a", "b") == (await other.seal()).mark("a", "b")


async def test_work_that_should_have_begun_is_overdue(open_store: OpenStore) -> None:
    """Replies by platform, turns that nothing holds up, and jobs; not what is just due."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    running = await begin(store, at=CHAT)
    await store.receive(Inbound.text("next", address=CHAT, sender=ADA, at=store.now()))
    await store.jobs.create(HOURLY, platforms=TELEGRAM)
    clock.advance(timedelta(hours=1))
    await store.deliveries.create(CHAT, "hello")
    bob = Address(platform="slack", kind=Kind.DM, chat="bob")
    await store.receive(Inbound.text("hi", address=bob, sender=Sender(id="bob"), at=store.now()))
    assert await store.database.read(list_overdue) == []

    clock.advance(timedelta(minutes=6))

    found = {
        (one.kind.value, one.platform): (one.number, one.since)
        for one in await store.database.read(list_overdue)
    }
    since = A_MONDAY + timedelta(hours=1)
    assert found == {
        ("delivery", "telegram"): (1, since),
        ("turn", None): (1, since),
        ("job", None): (1, since),
    }
    assert (await store.turns.get(running.turn.id)).ended_at is None


async def test_a_reply_that_was_planned_before_the_clock_was_set_back_is_overdue(
    open_store: OpenStore,
) -> None:
    """Its due time is days ahead, and it is owed all the same."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    clock.advance(timedelta(days=8))
    await store.deliveries.create(CHAT, "hello")
    clock.advance(timedelta(days=-8))

    assert [one.number for one in await store.database.read(list_overdue)] == [1]
