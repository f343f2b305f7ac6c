"""Taking back, asking again, parting and shortening: through the front door."""

import pytest

from tests.scenarios.transcript_setup import said, talk
from threadline.core.errors import Conflict, Invalid
from threadline.core.event import EventKind
from threadline.core.hidden_range import HiddenRangeKind
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind, Role, Text
from threadline.core.person import Viewer
from threadline.core.reset_policy import Carry, Policies, ResetMode, ResetPolicy
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.core.turn import TurnState
from threadline.testing.feed_checker import FeedWitness
from threadline.testing.scenario import A_NIGHT, Scenario
from threadline.testing.scripted_agent import Fails, Hangs, Says, Streams


async def test_undo_hides_the_last_turn_from_people_and_from_the_agent(house: Scenario) -> None:
    """Alice takes back her last words: neither she nor the agent sees them any more."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")

    undone = await house.store.transcripts.undo(id)
    await alice.says("three")

    assert (undone.messages, undone.turns, undone.texts) == (2, 1, ("two",))
    assert house.agent.saw_only("one", "three")
    assert said(await house.transcript_of(id)) == ["one", "re: one", "three", "ok"]
    assert (await house.store.sessions.get(id)).user_messages == 2


async def test_what_was_undone_is_kept_for_whoever_has_to_look(house: Scenario) -> None:
    """An undone line is still there when hidden lines are asked for, and the cut says which."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")

    undone = await house.store.transcripts.undo(id)

    everything = await house.store.transcripts.read(id, hidden=True)
    assert said(everything) == ["one", "re: one", "two", "re: two"]
    (cut,) = await house.store.transcripts.hidden_ranges(id)
    assert (cut.kind, cut.from_seq, cut.to_seq) == (
        HiddenRangeKind.UNDONE,
        undone.from_seq,
        everything[-1].seq,
    )


async def test_redo_brings_back_what_undo_took(house: Scenario) -> None:
    """Two undos are taken back one after the other, the newest first."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three")
    before = await house.store.transcripts.history(id)

    await house.store.transcripts.undo(id)
    await house.store.transcripts.undo(id)
    assert said(await house.store.transcripts.history(id)) == ["one", "re: one"]
    first = await house.store.transcripts.redo(id)
    assert said(await house.store.transcripts.history(id)) == ["one", "re: one", "two", "re: two"]
    await house.store.transcripts.redo(id)

    assert first.messages == 2
    assert await house.store.transcripts.history(id) == before
    assert (await house.store.sessions.get(id)).user_messages == 3


async def test_redo_is_over_once_the_conversation_has_gone_on(house: Scenario) -> None:
    """After new words the undone ones stay undone, and Alice is told why."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")
    await house.store.transcripts.undo(id)
    await talk(house, alice, "three")

    with pytest.raises(Conflict, match="continued since"):
        await house.store.transcripts.redo(id)

    assert said(await house.transcript_of(id)) == ["one", "re: one", "three", "re: three"]


async def test_redo_is_over_once_something_was_asked_again(house: Scenario) -> None:
    """A retry after an undo ends it, also when the agent had nothing to say to it."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")
    await house.store.transcripts.undo(id)
    house.agent.will(Streams(""))
    await house.store.transcripts.retry(id)
    await house.rests()
    assert said(await house.transcript_of(id)) == ["one"]

    with pytest.raises(Conflict, match="continued since"):
        await house.store.transcripts.redo(id)

    assert said(await house.transcript_of(id)) == ["one"]


async def test_undo_beyond_the_start_takes_everything(house: Scenario) -> None:
    """More turns than there are is all of them; then there is nothing left to undo."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")

    undone = await house.store.transcripts.undo(id, 1_000_000)

    assert (undone.turns, undone.texts) == (2, ("one", "two"))
    assert said(await house.transcript_of(id)) == []
    assert (await house.store.sessions.get(id)).user_messages == 0
    with pytest.raises(Conflict, match="nothing to undo"):
        await house.store.transcripts.undo(id)


@pytest.mark.parametrize("turns", [0, -1, 1.5, True, "1", None, 2**70])
async def test_an_impossible_number_of_turns_is_refused(house: Scenario, turns: object) -> None:
    """What is no number of turns changes nothing."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one")

    with pytest.raises(Invalid):
        await house.store.transcripts.undo(id, turns)  # type: ignore[arg-type]

    assert await house.store.transcripts.hidden_ranges(id) == []


async def test_a_running_turn_is_in_the_way(house: Scenario) -> None:
    """While the agent answers, nothing can be undone, redone or asked again."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one")
    house.agent.will(Hangs())
    await alice.says("two")

    for verb in (house.store.transcripts.undo, house.store.transcripts.retry):
        with pytest.raises(Conflict, match="Stop it first"):
            await verb(id)
    with pytest.raises(Conflict):
        await house.store.transcripts.redo(id)

    await alice.stops()
    assert (await house.store.transcripts.undo(id)).texts == ("two",)


async def test_lines_without_an_answer_in_between_are_one_turn(house: Scenario) -> None:
    """What was overheard belongs to the question after it, and is taken back with it."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one")
    await alice.says("by the way", observed=True)
    await talk(house, alice, "two")

    undone = await house.store.transcripts.undo(id)

    assert undone.texts == ("by the way", "two")
    assert said(await house.transcript_of(id)) == ["one", "re: one"]


async def test_two_questions_in_a_row_are_two_turns(house: Scenario) -> None:
    """A question whose answer was stopped before it began is a turn of its own."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("one")
    await alice.stops()
    id = await talk(house, alice, "two")

    assert (await house.store.transcripts.undo(id)).texts == ("two",)


async def test_the_agent_hears_nothing_of_an_edit_to_what_was_undone(house: Scenario) -> None:
    """Editing a message that was taken back tells the agent nothing of it; redo shows it new."""
    alice = house.person("alice", on="telegram")
    await alice.says("one")
    secret = await alice.says("the number is 7")
    await house.store.transcripts.undo(secret.session_id)

    await alice.edits(secret, "the number is 8")
    await alice.says("three")

    assert not house.agent.was_told("number")
    assert house.agent.saw_only("one", "three")


async def test_what_was_undone_is_not_carried_into_the_next_session(house: Scenario) -> None:
    """The next session is not told of words that were taken back in the last one."""
    alice = house.person("alice", on="telegram")
    policy = ResetPolicy(mode=ResetMode.IDLE, idle=A_NIGHT, carry=Carry.last(4))
    house.lives_by(Settings(policies=Policies(default=policy)))
    id = await talk(house, alice, "one", "secret")
    await house.store.transcripts.undo(id)

    await house.time_passes(hours=9)
    await alice.says("hello")

    assert house.agent.was_told("one")
    assert not house.agent.was_told("secret")


# Retry -----------------------------------------------------------------------------------


async def test_retry_asks_the_same_words_again(house: Scenario) -> None:
    """The old answer is hidden, the new one takes its place, and it is delivered."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")

    house.agent.will(Says("better"))
    retried = await house.store.transcripts.retry(id)
    await house.rests()

    assert retried.messages == 1
    assert house.agent.saw_only("one", "two")
    assert said(await house.transcript_of(id)) == ["one", "re: one", "two", "better"]
    assert (await house.replies_to(alice))[-1].text == "better"
    assert (await house.store.sessions.get(id)).user_messages == 2


async def test_retry_takes_attachments_along(house: Scenario) -> None:
    """A picture that came with the words is shown to the agent again."""
    alice = house.person("alice", on="telegram")
    picture = await house.store.attachments.put(b"dots", "image/png", MediaKind.IMAGE)
    arrival = await house.store.receive(
        Inbound(
            address=alice.address,
            sender=alice.sender,
            parts=(Text(text="what is it?"), picture),
            at=house.clock(),
            message_id="p1",
        )
    )
    await house.rests()
    assert arrival.session_id is not None

    await house.store.transcripts.retry(arrival.session_id)
    await house.rests()

    shown = house.agent.requests[-1].history
    assert [line.parts for line in shown if line.role is Role.USER] == [
        (Text(text="what is it?"), picture)
    ]


@pytest.mark.parametrize("ending", ["failed", "stopped"])
async def test_retry_works_after_a_turn_that_went_wrong(house: Scenario, ending: str) -> None:
    """A failed or stopped turn can be asked again, and its marker is out of sight."""
    alice = house.person("alice", on="telegram")
    house.agent.will(*([Fails()] if ending == "failed" else [Streams("half"), Hangs()]))
    await alice.says("one")
    if ending == "stopped":
        await alice.stops()
    session = await alice.session()

    house.agent.will(Says("whole"))
    await house.store.transcripts.retry(session.id)
    await house.rests()

    assert said(await house.transcript_of(alice)) == ["one", "whole"]
    assert [turn.state for turn in await house.turns_of(alice)] == [ending, TurnState.DONE]


async def test_there_must_be_something_to_retry(house: Scenario) -> None:
    """Without words, with deleted words, or in a session that ended, nothing is asked again."""
    alice = house.person("alice", on="telegram")
    gone = await alice.says("one")
    await alice.deletes(gone)
    with pytest.raises(Conflict, match="deleted"):
        await house.store.transcripts.retry(gone.session_id)

    await house.store.transcripts.undo(gone.session_id)
    with pytest.raises(Conflict, match="nothing to retry"):
        await house.store.transcripts.retry(gone.session_id)

    await house.store.sessions.end(gone.session_id)
    with pytest.raises(Conflict, match="has ended"):
        await house.store.transcripts.retry(gone.session_id)


async def test_a_question_that_waits_already_is_not_asked_again(house: Scenario) -> None:
    """Two presses on retry queue one turn."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one")
    await house.store.transcripts.retry(id)

    with pytest.raises(Conflict):
        await house.store.transcripts.retry(id)
    await house.rests()

    assert len(await house.turns_of(alice)) == 2


# What everybody can count on -------------------------------------------------------------


async def test_every_change_of_a_transcript_is_in_the_feed(house: Scenario) -> None:
    """Undo, redo, retry, compaction and branch are told, and snapshots agree with the events."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three")
    witness = FeedWitness(house.store)
    await witness.verify([id])

    store = house.store
    for verb in (
        store.transcripts.undo(id),
        store.transcripts.redo(id),
        store.transcripts.compact(id, "short", keep=1),
        store.transcripts.undo_compaction(id),
    ):
        await verb
        events = await witness.verify([id])
        assert [event.kind for event in events] == [EventKind.TRANSCRIPT_CHANGED]
    await store.transcripts.retry(id)
    await house.rests()
    kinds = [event.kind for event in await witness.verify([id])]
    assert kinds[:2] == [EventKind.TRANSCRIPT_CHANGED, EventKind.TURN_QUEUED]
    branch = await store.transcripts.branch(id)
    assert [event.session_id for event in await witness.verify([id, branch.id])] == [branch.id] * 2


async def test_rounds_are_counted(house: Scenario) -> None:
    """What was asked and answered counts, also since a moment; what was undone does not."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one")
    await house.time_passes(hours=1)
    noon = house.clock()
    await talk(house, alice, "two", "three")
    house.agent.will(Hangs())
    await alice.says("four")
    await alice.stops()

    assert await house.store.rounds(id) == 3
    assert await house.store.rounds(id, since=noon) == 2
    await house.store.transcripts.undo(id, 2)
    assert await house.store.rounds(id) == 2
    with pytest.raises(Invalid):
        await house.store.rounds(id, since=noon.replace(tzinfo=None))


async def test_a_title_tells_nothing_that_was_taken_back(house: Scenario) -> None:
    """It follows what can be seen first: after an undo, a redo, in a branch and in an edit."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("zebra password")
    id = said.session_id
    await house.store.transcripts.undo(id)
    assert (await house.store.sessions.get(id)).title is None
    await house.store.transcripts.redo(id)
    assert (await house.store.sessions.get(id)).title == "zebra password"
    assert (await house.store.transcripts.branch(id, at=0)).title is None
    line = next(m for m in await house.store.transcripts.read(id) if m.role is Role.USER)
    edited = await house.store.transcripts.edit(
        id, line.seq or 0, "a quiet horse", by=Viewer.owner()
    )
    assert edited.session.title == "a quiet horse"
    await house.store.transcripts.undo(id)
    await alice.says("something else")

    found = await house.store.search("zebra", asker=Viewer.owner())
    assert (await house.store.sessions.get(id)).title == "something else"
    assert not found.sessions
    assert not found.hits


async def test_a_title_that_a_person_gave_stays(house: Scenario) -> None:
    """Whatever is taken back."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("zebra password")
    await house.store.sessions.update(said.session_id, SessionPatch(title="Animals"))
    await house.store.transcripts.undo(said.session_id)

    assert (await house.store.sessions.get(said.session_id)).title == "Animals"


async def test_the_agent_is_not_told_of_an_edit_that_was_taken_back(house: Scenario) -> None:
    """A note about it that was still waiting goes with the undo."""
    alice = house.person("alice", on="telegram")
    await alice.says("one")
    two = await alice.says("two")
    await alice.edits(two, "quux secret")
    await house.store.transcripts.undo(two.session_id)
    await alice.says("three")

    assert not house.agent.was_told("quux secret")
    assert all(
        "quux" not in line.text for line in await house.store.transcripts.history(two.session_id)
    )
