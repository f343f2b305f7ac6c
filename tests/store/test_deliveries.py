"""The ledger: what is owed, who carries it, and how far it came."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import DatabaseFactory, OpenStore
from tests.store.delivery_setup import HERE, THERE, begin, finish, take, told
from threadline.core.address import Address, Kind
from threadline.core.agent import Question
from threadline.core.delivery import (
    GROWING,
    KEEP_WORDS_OWED,
    MAX_DELIVERY_ATTEMPTS,
    MAX_REPEATS,
    DeliveryState,
    SendOutcome,
    SentPiece,
)
from threadline.core.errors import Invalid, LeaseLost, NotFound
from threadline.core.event import EventKind
from threadline.core.message import Attachment, BlobHash, MediaKind, Role, say
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.store import Store
from threadline.store.deletion.forget import finish_deletions
from threadline.store.deliveries.lease import next_due
from threadline.store.deliveries.recovery import clear_words
from threadline.store.turns.live_reply import open_stream
from threadline.testing.clock import FakeClock


async def test_a_question_is_owed_with_what_was_said_before_it(store: Store) -> None:
    """Who has to answer sees the question; the reply after it repeats nothing."""
    claim = await begin(store)
    await store.turns.append(claim.lease, [say(Role.ASSISTANT, "let me see")])
    await store.turns.wait(claim.lease, Question(text="may I?"))

    asked = await take(store)
    assert (asked.text, asked.is_question) == ("let me see\n\nmay I?", True)
    await store.deliveries.record_sent(asked.delivery, "p1")

    await store.turns.answer(claim.turn.id, "approved")
    again = await store.turns.claim()
    assert again is not None
    await store.turns.finish(again.lease, [say(Role.ASSISTANT, "done")])
    reply = await take(store)
    assert (reply.text, reply.is_question, reply.delivery.part) == ("done", False, 1)


async def test_a_terminal_is_owed_no_question(store: Store) -> None:
    """Whoever sits at a terminal reads the question in the store."""
    claim = await begin(store, at=Address(platform="local", kind=Kind.DM, chat="me"))
    await store.turns.wait(claim.lease, Question(text="may I?"))

    assert not await store.deliveries.lease()


async def test_words_are_owed_without_a_turn(store: Store) -> None:
    """Something sent by hand reaches a place of which the store had never heard."""
    file = await store.attachments.put(b"pages", "application/pdf", MediaKind.FILE, "report.pdf")
    id = await store.deliveries.create(THERE, "here it is", [file])

    parcel = await take(store)
    assert (parcel.delivery.id, parcel.delivery.turn_id, parcel.delivery.session_id) == (
        id,
        None,
        None,
    )
    assert (parcel.text, parcel.attachments) == ("here it is", (file,))
    assert parcel.delivery.address == THERE
    await store.deliveries.record_sent(parcel.delivery, "p1")
    assert [event.kind for event in await told(store)] == [
        EventKind.DELIVERY_PENDING,
        EventKind.DELIVERY_SENDING,
        EventKind.DELIVERY_SENT,
    ]
    assert {event.session_id for event in await told(store)} == {None}


async def test_words_that_were_sent_are_not_kept(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """The ledger forgets what it said in its own words as soon as that has reached its end."""
    await store.deliveries.create(HERE, "a secret plan")
    await store.deliveries.record_sent((await take(store)).delivery)

    assert database_factory.tamper("SELECT text, parts FROM deliveries") == [(None, None)]


async def test_a_file_that_was_never_stored_is_not_owed(store: Store) -> None:
    """What cannot be sent is refused before it is owed."""
    missing = Attachment(
        kind=MediaKind.FILE, blob=BlobHash("0" * 64), media_type="text/plain", size=1
    )
    with pytest.raises(NotFound):
        await store.deliveries.create(HERE, "here", [missing])

    assert not await store.deliveries.lease()


@pytest.mark.parametrize("bad", [None, 7, "a\0b", "x" * (4 * 1024 * 1024 + 1)])
async def test_words_that_cannot_be_kept_are_refused(store: Store, bad: str) -> None:
    """Nothing is half owed."""
    with pytest.raises(Invalid):
        await store.deliveries.create(HERE, bad)
    with pytest.raises(Invalid):
        await store.deliveries.create("telegram:42", "hello")  # type: ignore[arg-type]

    assert not await store.deliveries.lease()


async def test_each_process_takes_only_what_it_can_carry(store: Store) -> None:
    """What is owed on a platform that somebody else serves is left to them."""
    await store.deliveries.create(HERE, "on telegram")
    await store.deliveries.create(THERE, "on slack")

    assert [parcel.text for parcel in await store.deliveries.lease(["slack", "x"])] == ["on slack"]
    assert not await store.deliveries.lease([])
    with pytest.raises(Invalid):
        await store.deliveries.lease("telegram")


async def test_order_is_kept_at_each_address(store: Store) -> None:
    """The second message waits for the first one, also between the attempts at that."""
    await store.deliveries.create(HERE, "one")
    await store.deliveries.create(HERE, "two")
    first = await take(store)
    assert not await store.deliveries.lease()

    wait = timedelta(minutes=5)
    await store.deliveries.record_failure(first.delivery, SendOutcome.REJECTED, "429", wait)

    assert not await store.deliveries.lease()
    due = await store.database.read(next_due, None, owner=store.database.owner)
    assert due is not None
    assert due - store.now() > timedelta(minutes=4)


async def test_what_became_due_since_it_was_looked_is_not_passed_over(
    open_store: OpenStore,
) -> None:
    """Between taking and asking for the next time, the time of something may have come."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await store.deliveries.create(HERE, "one")
    wait = timedelta(seconds=30)
    await store.deliveries.record_failure(
        (await take(store)).delivery, SendOutcome.REJECTED, "429", wait
    )
    due = await store.database.read(next_due, None, owner=store.database.owner)
    assert due is not None
    clock.advance(due - clock() - timedelta(milliseconds=1))
    assert not await store.deliveries.lease()
    clock.advance(timedelta(milliseconds=2))

    assert await store.database.read(next_due, None, owner=store.database.owner) == due
    await take(store)
    assert await store.database.read(next_due, None, owner=store.database.owner) is None


async def test_whoever_is_cancelled_leaves_nothing_behind(store: Store) -> None:
    """What was taken for a caller that is gone is given back at once, and counts as no attempt."""
    await finish(store)
    for _ in range(20):
        taking = asyncio.create_task(store.deliveries.lease())
        await asyncio.sleep(0)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking

    assert (await take(store)).delivery.attempts == 1


async def test_a_lease_is_renewed_while_something_is_sent(open_store: OpenStore) -> None:
    """A file that takes long to send is not taken from its sender."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    parcel = await take(store)
    for _ in range(3):
        clock.advance(store.rules.lease / 2)
        assert not await store.deliveries.renew([parcel.delivery])
        assert not await store.deliveries.recover()

    clock.advance(store.rules.lease * 2)
    assert await store.deliveries.recover() == [parcel.delivery.id]
    assert await store.deliveries.renew([parcel.delivery]) == {parcel.delivery.id}
    with pytest.raises(LeaseLost):
        await store.deliveries.record_piece(
            parcel.delivery, SentPiece(n=0, platform_id="p", length=1)
        )
    with pytest.raises(LeaseLost):
        await store.deliveries.record_sent(parcel.delivery)


async def test_what_was_taken_is_never_sent_again(open_store: OpenStore) -> None:
    """After a crash one goes on after the last message that the platform has taken."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    parcel = await take(store)
    piece = SentPiece(n=0, platform_id="p0", length=3)
    await store.deliveries.record_piece(parcel.delivery, piece)
    clock.advance(store.rules.lease * 3)
    await store.deliveries.recover()
    clock.advance(timedelta(seconds=5))

    again = await take(store)

    assert again.pieces == (piece,)
    assert again.delivery.repeated_at is not None


async def test_progress_ends_a_doubt(open_store: OpenStore) -> None:
    """When a repeated message was taken the next one may be unclear once, too."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    for n in range(3):
        parcel = await take(store)
        await store.deliveries.record_piece(
            parcel.delivery, SentPiece(n=n, platform_id=None, length=1)
        )
        still = replace(parcel.delivery, repeated_at=None, unheard_at=None)
        state = await store.deliveries.record_failure(still, SendOutcome.AMBIGUOUS, "no answer")
        assert state is DeliveryState.PENDING
        clock.advance(timedelta(minutes=1))

    unclear = await take(store)
    outcome = await store.deliveries.record_failure(
        unclear.delivery, SendOutcome.AMBIGUOUS, "no answer"
    )
    assert outcome is DeliveryState.FAILED


async def test_a_crash_while_sending_is_no_attempt(open_store: OpenStore) -> None:
    """Six crashes are needed to give a reply up; it can be resent, with all its repeats."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    seen = []
    for _ in range(MAX_REPEATS + 1):
        taken = (await take(store)).delivery
        clock.advance(store.rules.lease * 3)
        assert await store.deliveries.recover() == [taken.id]
        delivery = await store.deliveries.get(taken.id)
        seen.append((taken.attempts, delivery.repeats, delivery.is_doubtful, delivery.state))
        clock.advance(timedelta(minutes=1))

    repeats = [(1, n, True, DeliveryState.PENDING) for n in range(1, MAX_REPEATS + 1)]
    assert seen == [*repeats, (1, MAX_REPEATS, True, DeliveryState.FAILED)]
    assert (await told(store))[-1].kind is EventKind.DELIVERY_FAILED
    (lost,) = await store.deliveries.lost()
    again = await store.deliveries.resend(lost.id)
    assert (again.repeats, again.is_doubtful) == (0, True)


@pytest.mark.parametrize("most", [0, 1])
async def test_how_often_a_reply_is_repeated_is_a_setting(open_store: OpenStore, most: int) -> None:
    """With none allowed the first crash fails the reply."""
    clock = FakeClock()
    store = await open_store(rules=Settings(max_repeats=most), clock=clock)
    await finish(store)
    for _ in range(most + 1):
        await take(store)
        clock.advance(store.rules.lease * 3)
        await store.deliveries.recover()
        clock.advance(timedelta(minutes=1))

    assert [lost.repeats for lost in await store.deliveries.lost()] == [most]


async def test_an_edit_ends_no_doubt(open_store: OpenStore) -> None:
    """A message that was only edited says nothing about one that may have been added after it."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    first = await take(store)
    await store.deliveries.record_piece(
        first.delivery, SentPiece(n=0, platform_id="p0", length=GROWING)
    )
    clock.advance(store.rules.lease * 3)
    await store.deliveries.recover()
    clock.advance(timedelta(minutes=1))
    again = await take(store)

    settled = SentPiece(n=0, platform_id="p0", length=3)
    await store.deliveries.record_piece(again.delivery, settled, is_new=False)
    assert (await store.deliveries.get(again.delivery.id)).repeated_at is not None
    await store.deliveries.record_piece(again.delivery, SentPiece(n=1, platform_id="p1", length=1))
    delivery = await store.deliveries.get(again.delivery.id)
    assert (delivery.repeated_at, delivery.repeats) == (None, 0)


async def test_attempts_come_to_an_end(open_store: OpenStore) -> None:
    """What is refused again and again fails for good, and the feed tells so."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    states = []
    for _ in range(MAX_DELIVERY_ATTEMPTS):
        parcel = await take(store)
        states.append(
            await store.deliveries.record_failure(parcel.delivery, SendOutcome.REJECTED, "no")
        )
        clock.advance(timedelta(minutes=11))

    assert states == [DeliveryState.PENDING] * (len(states) - 1) + [DeliveryState.FAILED]
    assert (await told(store))[-1].kind is EventKind.DELIVERY_FAILED


async def test_a_dead_target_is_remembered_until_a_send_works(store: Store) -> None:
    """Where nobody is any more one attempt is enough, and one success makes up for all."""
    await store.deliveries.create(HERE, "are you there?")
    await store.deliveries.record_failure(
        (await take(store)).delivery, SendOutcome.DEAD, "blocked by the user"
    )
    (dead,) = await store.dead_targets()
    assert (dead.address, dead.why) == (HERE, "blocked by the user")

    await store.deliveries.create(HERE, "hello?")
    state = await store.deliveries.record_failure(
        (await take(store)).delivery, SendOutcome.REJECTED, "500"
    )
    assert state is DeliveryState.FAILED

    await store.deliveries.create(HERE, "and now?")
    await store.deliveries.record_sent((await take(store)).delivery)
    assert not await store.dead_targets()


async def test_an_answer_goes_to_its_targets(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """What a job says goes to all its targets, though it was asked for at a terminal."""
    await store.deliveries.create(HERE, "hello")
    await store.deliveries.create(THERE, "hello")
    for parcel in await store.deliveries.lease():
        await store.deliveries.record_sent(parcel.delivery)
    claim = await begin(store, at=Address(platform="local", kind=Kind.DM, chat="job"))
    database_factory.tamper(
        f"INSERT INTO turn_targets SELECT {claim.turn.id}, key FROM addresses"
        " WHERE platform <> 'local' RETURNING turn_id"
    )

    assert await store.database.write(open_stream, claim.lease, owner=store.database.owner) is None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "the news")], deliver=False)

    parcels = await store.deliveries.lease()
    assert {parcel.delivery.address.platform for parcel in parcels} == {"telegram", "slack"}
    assert {parcel.text for parcel in parcels} == {"the news"}


async def test_a_forgotten_session_takes_all_that_it_owed(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Messages of its answers are forgotten by their ids, too, and no number comes again."""
    claim = await begin(store)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    parcel = await take(store)
    await store.deliveries.record_sent(
        parcel.delivery, "p0", [SentPiece(n=0, platform_id="p0", length=5)]
    )

    await forget(store, claim.lease.session_id)

    assert database_factory.tamper("SELECT * FROM delivery_pieces") == []
    assert database_factory.tamper("SELECT * FROM deliveries") == []
    await store.deliveries.create(THERE, "later")
    assert (await take(store)).delivery.id > parcel.delivery.id


async def forget(store: Store, id: SessionId) -> None:
    """Forget a session to its end."""
    await store.sessions.delete(id)
    await finish_deletions(store.database)


async def test_a_forgotten_person_is_owed_nothing(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """What was to be said to them is gone with them, and so is why they could not be reached."""
    await finish(store)
    await store.deliveries.create(HERE, "a word to alice")
    await store.deliveries.record_failure(
        (await take(store)).delivery, SendOutcome.DEAD, "alice blocked us"
    )

    await store.people.delete(Identity(platform="telegram", id="alice"))
    await finish_deletions(store.database)

    assert not await store.deliveries.lease()
    assert not await store.dead_targets()
    assert database_factory.tamper("SELECT id FROM deliveries WHERE turn_id IS NULL") == []


async def test_old_words_are_cleared_away(open_store: OpenStore) -> None:
    """What belonged to no session is not kept for ever, but no number is given twice."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await store.deliveries.create(HERE, "one")
    await store.deliveries.record_sent((await take(store)).delivery)
    await store.deliveries.create(HERE, "two")
    last = await take(store)
    await store.deliveries.record_sent(last.delivery)
    assert await store.database.write(clear_words) == 0
    clock.advance(KEEP_WORDS_OWED * 2)

    assert await store.database.write(clear_words) == 1
    assert await store.database.write(clear_words) == 0
    await store.deliveries.create(HERE, "three")
    assert (await take(store)).delivery.id > last.delivery.id


@pytest.mark.parametrize(
    "bad", [{"n": -1}, {"n": "0"}, {"length": -2}, {"length": None}, {"platform_id": "x" * 300}]
)
def test_a_piece_that_cannot_be_is_refused(bad: dict[str, object]) -> None:
    """A number is a number, and an id can be kept."""
    fields: dict[str, object] = {"n": 0, "length": 1, "platform_id": "p"} | bad
    with pytest.raises(Invalid):
        SentPiece(**fields)  # type: ignore[arg-type]
