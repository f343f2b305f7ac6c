"""Corners of the verbs: two processes at once, people who must not meet, words that must stay."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import POSTGRES, OpenStore, on
from tests.store.delivery_setup import run_steadily
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import NotFound, Refused, StorageError
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MediaKind, Role, Text, say
from threadline.core.reset_policy import Carry, Policies, ResetMode, ResetPolicy
from threadline.core.route import MAIN_PROFILE, Scopes, Sharing
from threadline.core.session import BusyMode, Cause, SessionId
from threadline.core.settings import EditMode, Settings
from threadline.store import Store, queries
from threadline.store.inbound.deduplication import Arrival
from threadline.store.sessions.session_list import list_own_sessions
from threadline.store.turn_queue.queue import interrupt_dead
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
ALICE = Sender(id="alice")


async def tell(store: Store, text: str, **fields: object) -> Arrival:
    """Say something, as Alice in her dm unless told otherwise."""
    given = {"address": HERE, "sender": ALICE, "at": store.now(), "parts": (Text(text=text),)}
    return await store.receive(Inbound(**{**given, **fields}))  # type: ignore[arg-type]


async def lines(store: Store, id: SessionId | None) -> list[str]:
    """Read a transcript as words."""
    assert id is not None
    return [line.text for line in await store.transcripts.read(id)]


async def answer(store: Store, text: str = "ok") -> None:
    """Answer the next turn."""
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, text)])


async def test_what_waited_is_still_to_be_read_after_a_new_beginning(store: Store) -> None:
    """A message that was never answered stays in the transcript of the session it was said in."""
    first = await tell(store, "one")
    await store.turns.claim()
    await tell(store, "two")

    await store.sessions.reset(HERE, ALICE)

    assert [text for text in await lines(store, first.session_id) if text in {"one", "two"}] == [
        "one",
        "two",
    ]


async def test_equal_numbers_of_two_people_are_two_messages(store: Store) -> None:
    """Where a platform names no chat, the sender tells whose message it is."""
    nowhere = Address(platform="telegram", kind=Kind.DM)

    alice = await tell(store, "hi", address=nowhere, message_id="1")
    bob = await tell(store, "hi", address=nowhere, sender=Sender(id="bob"), message_id="1")

    assert not bob.is_repeated
    assert bob.session_id != alice.session_id


async def test_two_profiles_never_meet(store: Store) -> None:
    """The same message id in another profile is another message."""
    one = await tell(store, "hi", message_id="1")
    other = await tell(store, "hi", message_id="1", profile="other")

    assert not other.is_repeated
    assert other.session_id != one.session_id


async def test_an_edit_does_not_revive_a_session_that_ended(open_store: OpenStore) -> None:
    """Edits may run the last turn again, but /new stays new (ask 21)."""
    store = await open_store(rules=Settings(edits=EditMode.RERUN))
    await tell(store, "one", message_id="1")
    await answer(store)
    await store.sessions.reset(HERE, ALICE)

    await tell(store, "changed", message_id="1", kind=InboundKind.EDIT, version=1)

    assert await store.turns.claim() is None


async def test_deleting_what_joined_keeps_the_turn_of_the_others(open_store: OpenStore) -> None:
    """A turn that had begun is not stopped because a message that joined it was taken back."""
    clock = FakeClock()
    store = await open_store(rules=Settings(busy=BusyMode.COLLECT), clock=clock)
    first = await tell(store, "one", message_id="1")
    await store.turns.claim()
    clock.advance(timedelta(minutes=2))
    await store.turns.interrupt_dead()
    await store.turns.recover()
    await tell(store, "two", message_id="2")

    await tell(store, "", message_id="2", kind=InboundKind.DELETION, version=1)

    claim = await store.turns.claim()
    assert claim is not None
    assert claim.turn.id == first.turn_id


async def test_nobody_overtakes_a_turn_that_was_cut_off(open_store: OpenStore) -> None:
    """What was interrupted is decided about before the next message has its turn."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    first = await tell(store, "one")
    await store.turns.claim()
    await tell(store, "two")
    clock.advance(timedelta(minutes=2))
    await store.turns.interrupt_dead()

    assert await store.turns.claim() is None
    await store.turns.recover()
    claim = await store.turns.claim()

    assert claim is not None
    assert claim.turn.id == first.turn_id


async def test_new_is_new_also_after_a_silence(open_store: OpenStore) -> None:
    """Who asks for a new conversation after the old one expired is handed nothing of it."""
    clock = FakeClock()
    policy = ResetPolicy(mode=ResetMode.IDLE, idle=timedelta(hours=1), carry=Carry.last(5))
    store = await open_store(rules=Settings(policies=Policies(default=policy)), clock=clock)
    await tell(store, "secret")
    await answer(store)
    clock.advance(timedelta(hours=2))
    await store.sessions.expire()

    await store.sessions.reset(HERE, ALICE)
    fresh = await tell(store, "hello")
    await answer(store)

    assert fresh.cause is Cause.NEW
    assert not [text for text in await lines(store, fresh.session_id) if "secret" in text]


async def test_a_private_session_cannot_go_on_among_others(open_store: OpenStore) -> None:
    """Nobody leads a shared thread into a session of their own, where others would not see it."""
    store = await open_store(rules=Settings(scopes=Scopes(groups=Sharing.SHARED)))
    group = Address(platform="telegram", kind=Kind.GROUP, chat="g")
    private = await tell(store, "mine")
    assert private.session_id is not None
    await tell(store, "ours", address=group)

    with pytest.raises(Refused, match="several"):
        await store.sessions.switch(group, ALICE, private.session_id)


async def test_a_dm_of_nobody_is_shown_to_nobody(store: Store) -> None:
    """Whose a dm without a sender is cannot be proven, so nobody sees or resumes it (ask 23)."""
    anonymous = await tell(store, "hi", sender=Sender())
    assert anonymous.session_id is not None
    group = Address(platform="telegram", kind=Kind.GROUP, chat="alice")

    assert not await store.database.read(
        list_own_sessions, group, Sender(id="mallory"), profile=MAIN_PROFILE, most=queries.PAGE
    )
    with pytest.raises(NotFound):
        await store.sessions.switch(HERE, ALICE, anonymous.session_id)


async def test_a_stale_reply_is_given_up(open_store: OpenStore) -> None:
    """What could not be sent for a whole day is abandoned, and not sent any more."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await tell(store, "one")
    await answer(store)
    await run_steadily(store, clock, timedelta(hours=25))

    assert len(await store.deliveries.abandon_stale()) == 1
    assert not await store.deliveries.lease()


async def test_a_blob_is_whole_or_not_there(store: Store) -> None:
    """What was swept is stored again with all its bytes."""
    data = b"x" * 300_000
    for _ in range(2):
        part = await store.attachments.put(data, "text/plain", MediaKind.FILE)
        assert b"".join([piece async for piece in store.attachments.read(part.blob)]) == data


async def test_who_follows_hears_of_the_close(store: Store) -> None:
    """A follower of a store that is closed ends with an error, and does not wait for ever."""

    async def follow() -> None:
        async for _ in store.feed.follow():
            pass

    following = asyncio.create_task(follow())
    await asyncio.sleep(0.05)
    await store.close()

    with pytest.raises(StorageError, match="closed"):
        await asyncio.wait_for(following, HANG_SECONDS)


@on(POSTGRES)
async def test_two_keepers_recover_a_turn_once(open_store: OpenStore) -> None:
    """Whichever of two processes is quicker decides, and the agent is told once."""
    clock = FakeClock()
    one, two = await open_store(clock=clock), await open_store(clock=clock)
    for n in range(20):
        place = Address(platform="telegram", kind=Kind.DM, chat=f"c{n}")
        await tell(one, "hello", address=place, sender=Sender(id=f"c{n}"))
        await one.turns.claim()
    clock.advance(timedelta(minutes=2))
    taken = await asyncio.gather(one.turns.interrupt_dead(), interrupt_dead(two.database))

    found = await asyncio.gather(
        *(one.turns.recover() for _ in range(2)), *(two.turns.recover() for _ in range(2))
    )

    assert sorted(turn for some in taken for turn in some) == sorted(
        turn for some in found for turn in some.resumed
    )
    for row in (await one.sessions.list()).rows:
        texts = await lines(one, row.session.id)
        assert sum("cut off" in text for text in texts) == 1


@on(POSTGRES)
async def test_the_newest_edit_wins_whoever_brings_it(open_store: OpenStore) -> None:
    """Two versions that arrive at the same moment by two processes leave the newer one."""
    one, two = await open_store(), await open_store()
    for n in range(20):
        id = f"m{n}"
        said = await tell(one, "zero", message_id=id)
        await asyncio.gather(
            tell(one, "older", message_id=id, kind=InboundKind.EDIT, version=1),
            tell(two, "newer", message_id=id, kind=InboundKind.EDIT, version=2),
        )
        assert said.session_id is not None
        assert (await one.transcripts.waiting(said.session_id))[-1].text == "newer"


@on(POSTGRES)
async def test_an_edit_that_races_its_message_is_not_lost(open_store: OpenStore) -> None:
    """A message and its edit at the same moment, by two processes, end as edited."""
    one, two = await open_store(), await open_store()
    for n in range(20):
        id = f"m{n}"
        said, _ = await asyncio.gather(
            tell(one, "old", message_id=id),
            tell(two, "new", message_id=id, kind=InboundKind.EDIT, version=1),
        )
        assert said.session_id is not None
        assert (await one.transcripts.waiting(said.session_id))[-1].text == "new"
