"""What a row of a list says of its session."""

from datetime import timedelta

from tests.scenarios.session_setup import begin, row_of
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import SendOutcome
from threadline.core.inbound import Inbound
from threadline.core.message import Role, Text, say
from threadline.core.session_list import SessionFilter, Speaker
from threadline.core.turn import TurnState
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Asks, Fails, Hangs, Says


async def test_a_row_tells_everything_at_a_glance(house: Scenario) -> None:
    """Where, who, how much, the last words, and what is under way."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Says("Good\n\n morning,\u202e Alice"))
    id = (await alice.says("good morning")).session_id

    row = await row_of(house.store, id)

    assert (row.session.platform, row.label, row.people, row.people_count) == (
        "telegram", "Alice", ("Alice",), 1,
    )  # fmt: skip
    assert row.last_words == "Good morning, Alice"
    assert row.last_speaker == Speaker(role=Role.ASSISTANT, name=None)
    assert (row.held, row.queued, row.needs_you, row.is_read_only) == (None, 0, False, False)
    assert row.session.last_seq > 1
    assert row.is_unread


async def test_a_row_shows_what_is_under_way(house: Scenario) -> None:
    """A running turn, one that waits in line, and a question that wants a person."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    house.agent.will(Hangs())
    busy = (await alice.says("one")).session_id
    await alice.says("two")
    house.agent.will(Asks("May I?"))
    asking = (await bob.says("do it")).session_id

    one, other = await row_of(house.store, busy), await row_of(house.store, asking)

    assert (one.held, one.queued, one.needs_you) == (TurnState.RUNNING, 1, False)
    assert (other.held, other.queued, other.needs_you) == (TurnState.WAITING, 0, True)
    house.agent.goes_on()


async def test_a_shared_conversation_names_those_who_spoke(house: Scenario) -> None:
    """The latest speakers stand first; five are named, and all are counted."""
    store = house.store
    group = Address(
        platform="telegram", kind=Kind.THREAD, chat="g", thread="t", chat_name="The\u200b Choir",
        topic="Sunday",
    )  # fmt: skip
    for n in range(7):
        singer = Sender(id=f"s{n}", name=f"Singer {n}")
        parts = (Text(text="la"),)
        await store.receive(Inbound(address=group, sender=singer, at=store.now(), parts=parts))
    await house.rests()

    (row,) = (await store.sessions.list()).rows

    assert row.label == "The Choir / Sunday"
    assert row.people == ("Singer 6", "Singer 5", "Singer 4", "Singer 3", "Singer 2")
    assert row.people_count == 7


async def test_a_row_names_who_spoke_last(house: Scenario) -> None:
    """The name is cleaned; in a branch it is whoever said what it shares."""
    store = house.store
    ann = Sender(id="ann", name="Ann\u202e\n of the choir")
    at = Address(platform="telegram", kind=Kind.DM, chat="ann")
    said = Inbound.text("hello?", address=at, sender=ann, at=store.now())
    id = (await store.receive(said)).session_id
    assert id is not None
    house.agent.will(Fails("no"))
    await house.rests()
    branch = await store.transcripts.branch(id)

    spoke = Speaker(role=Role.USER, name="Ann of the choir")
    assert (await row_of(store, id)).last_speaker == spoke
    assert (await row_of(store, branch.id)).last_speaker == spoke
    fresh = await store.sessions.list(SessionFilter(with_empty=True))
    assert {row.last_speaker for row in fresh.rows} == {spoke}


async def test_a_row_says_that_the_last_answer_did_not_arrive(house: Scenario) -> None:
    """Until it is tried again, or a later turn has ended; what nobody is owed cannot be lost."""
    store = house.store
    alice = house.person("alice", on="telegram")
    id = (await alice.says("hello")).session_id
    (parcel,) = await store.deliveries.lease()
    before = (await row_of(store, id)).has_failed_delivery
    await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "blocked")
    lost = (await row_of(store, id)).has_failed_delivery
    await store.deliveries.resend(parcel.delivery.id)
    again = (await row_of(store, id)).has_failed_delivery
    (parcel,) = await store.deliveries.lease()
    await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "blocked")
    anew = (await row_of(store, id)).has_failed_delivery
    await alice.says("and now?")
    after = (await row_of(store, id)).has_failed_delivery

    assert (before, lost, again, anew, after) == (False, True, False, True, False)


async def test_last_words_are_what_is_still_to_be_seen(house: Scenario) -> None:
    """What was deleted, what a tool said and what is empty is nobody's last word."""
    store = house.store
    id = await begin(store, "ann", "the first word")
    await house.rests()
    await store.transcripts.record(id, [say(Role.TOOL, "tool output"), say(Role.SYSTEM, "a note")])
    house_words = (await row_of(store, id)).last_words
    await store.transcripts.record(id, [say(Role.ASSISTANT, "x" * 5000)])

    assert house_words == "ok"
    assert (await row_of(store, id)).last_words == "x" * 200


async def test_a_row_follows_undo_and_branches(house: Scenario) -> None:
    """Undone words are not the last ones, and a branch shows those that it shares."""
    store = house.store
    id = await begin(store, "ann", "one")
    await house.rests()
    await store.transcripts.record(
        id, [say(Role.USER, "two"), say(Role.ASSISTANT, "answer to two")]
    )
    await store.transcripts.undo(id)
    branch = await store.transcripts.branch(id)
    await store.transcripts.record(id, [say(Role.ASSISTANT, "later in the parent")])

    assert (await row_of(store, branch.id)).last_words == "ok"
    assert (await row_of(store, id)).last_words == "later in the parent"
    assert (await row_of(store, branch.id)).session.base_id == id


async def test_a_continuation_stands_for_all_before_it(house: Scenario) -> None:
    """Three sessions that are one conversation are one row: the latest of them."""
    store = house.store
    id = await begin(store, "ann", "one")
    await house.rests()
    second = await store.transcripts.continue_session(id)
    third = await store.transcripts.continue_session(second.id)
    await store.transcripts.record(third.id, [say(Role.USER, "on and on")])

    (row,) = (await store.sessions.list()).rows

    assert (row.session.id, row.session.root_id) == (third.id, id)
    assert (await store.counts()).total == 1


async def test_a_session_that_moves_is_not_shown_twice(house: Scenario) -> None:
    """Who pages while others speak sees nobody twice; what spoke meanwhile is told by the feed."""
    store = house.store
    ids = []
    for n in range(9):
        ids.append(await begin(store, f"chat{n}"))
        await house.time_passes(minutes=1)
    await house.rests()
    await house.time_passes(minutes=1)
    first = await store.sessions.list(most=4)
    await begin(store, "chat0", "I am back")
    await house.rests()

    second = await store.sessions.list(most=50, after=first.next)

    shown = [row.session.id for row in (*first.rows, *second.rows)]
    assert shown == ids[:0:-1]
    assert (await store.sessions.list(most=1)).rows[0].session.id == ids[0]
    assert await store.sessions.active(timedelta(seconds=30)) == [ids[0]]
