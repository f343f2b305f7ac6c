from msgspec.structs import replace

from threadline.core.message import Role
from threadline.core.session import BusyMode
from threadline.core.settings import EditMode
from threadline.core.turn import TurnState
from threadline.store.inbound.deduplication import InboundOutcome
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Hangs, Says, Streams


async def test_a_queued_message_runs_with_its_new_text(house: Scenario) -> None:
    """What was edited before its turn began is read as if it had always said so (ask 4)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("wait for it")
    said = await alice.says("by a bred")

    await alice.edits(said, "buy bread")
    house.agent.goes_on()
    await house.rests()

    assert house.agent.saw_only("wait for it", "buy bread")
    assert not house.agent.was_told("was edited")


async def test_the_old_text_is_kept_as_a_revision(house: Scenario) -> None:
    """An edit changes the transcript, and what stood there can still be read (ask 4)."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("by bred")

    await alice.edits(said, "by bread", version=1)
    await alice.edits(said, "buy bread", version=2)

    line = next(line for line in await house.transcript_of(alice) if line.role is Role.USER)
    texts = [revision.parts[0] for revision in await house.store.transcripts.revisions(line.key)]
    assert line.text == "buy bread"
    assert [getattr(part, "text", None) for part in texts] == ["by bred", "by bread"]


async def test_an_edit_after_the_answer_is_noted_at_the_next_turn(house: Scenario) -> None:
    """The agent that answered the old text learns of the new one when it is asked again (ask 4)."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("meet at 7")

    await alice.edits(said, "meet at 8")
    assert len(house.agent.requests) == 1
    await alice.says("is that fine?")

    assert house.agent.saw_only("meet at 8", "is that fine?")
    assert house.agent.was_told("It now says: meet at 8")


async def test_an_edit_while_the_turn_runs_is_noted_at_the_next_turn(house: Scenario) -> None:
    """A running agent is not disturbed by an edit; the next turn knows (ask 4)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    said = await alice.says("meet at 7")

    await alice.edits(said, "meet at 8")
    house.agent.goes_on()
    await house.rests()
    await alice.says("is that fine?")

    assert len(house.agent.requests) == 2
    assert house.agent.was_told("It now says: meet at 8")


async def test_an_older_edit_changes_nothing(house: Scenario) -> None:
    """Edits that overtake each other leave the newest text (ask 4)."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("one")

    await alice.edits(said, "three", version=3)
    late = await alice.edits(said, "two", version=2)
    await alice.says("and?")

    assert late.arrival.outcome is InboundOutcome.IGNORED
    assert house.agent.saw_only("three", "and?")


async def test_an_edit_can_come_before_its_message(house: Scenario) -> None:
    """An edit that overtakes its message waits for it (ask 4)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("wait for it")

    early = await alice.edits("42", "buy bread")
    await alice.says("by bred", id="42")
    house.agent.goes_on()
    await house.rests()

    assert early.arrival.outcome is InboundOutcome.EARLY
    assert house.agent.saw_only("wait for it", "buy bread")


async def test_the_newest_of_several_early_edits_wins(house: Scenario) -> None:
    """However they overtook each other, the message reads as it was edited last (ask 4)."""
    alice = house.person("alice", on="telegram")

    await alice.edits("42", "three", version=3)
    await alice.edits("42", "two", version=2)
    await alice.says("one", id="42")

    assert house.agent.saw_only("three")


async def test_a_message_deleted_while_it_waits_is_never_answered(house: Scenario) -> None:
    """Taking a waiting message back stops its turn; the others go on (ask 4)."""
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("one")
    two = await alice.says("two")
    await alice.says("three")

    await alice.deletes(two)
    house.agent.goes_on()
    await house.rests()

    states = [turn.state for turn in await house.turns_of(alice)]
    assert states == [TurnState.DONE, TurnState.STOPPED, TurnState.DONE]
    assert house.agent.saw_only("one", "three")


async def test_a_deletion_can_come_before_its_message(house: Scenario) -> None:
    """What was taken back before it came is never answered (ask 4)."""
    alice = house.person("alice", on="telegram")

    await alice.deletes("42")
    said = await alice.says("never mind", id="42")

    assert (await house.store.turns.get(said.turn_id)).state is TurnState.STOPPED
    assert not house.agent.requests


async def test_a_message_deleted_after_its_answer_leaves_the_history(house: Scenario) -> None:
    """The agent sees a note in place of what was taken back (ask 4)."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("my pin is 1234")

    await alice.deletes(said)
    await alice.says("forget it")

    assert house.agent.saw_only("forget it")
    assert house.agent.was_told("was deleted by its sender")


async def test_a_deleted_message_cannot_be_edited(house: Scenario) -> None:
    """An edit of something that is gone does not bring it back (ask 4)."""
    alice = house.person("alice", on="telegram")
    said = await alice.says("oops")

    await alice.deletes(said)
    edit = await alice.edits(said, "hello", version=5)

    assert edit.arrival.outcome is InboundOutcome.IGNORED


async def test_an_edit_can_run_the_last_turn_again(house: Scenario) -> None:
    """With edits = "rerun" the corrected question is answered at once (ask 4)."""
    house.lives_by(replace(house.rules, edits=EditMode.RERUN))
    alice = house.person("alice", on="telegram")
    house.agent.will(Says("at 7, noted"))
    house.agent.will(Says("at 8, noted"))
    said = await alice.says("meet at 7")

    await alice.edits(said, "meet at 8")

    assert house.agent.saw_only("meet at 8")
    assert [reply.text for reply in await house.replies_to(alice)] == ["at 7, noted", "at 8, noted"]


async def test_an_edit_can_run_a_running_turn_again(house: Scenario) -> None:
    """With edits = "rerun" an agent at work stops, keeps what it said, and begins anew (ask 4)."""
    house.lives_by(replace(house.rules, edits=EditMode.RERUN))
    alice = house.person("alice", on="telegram")
    house.agent.will(Streams("At seven "), Hangs())
    said = await alice.says("meet at 7")
    await house.time_passes(seconds=2)

    await alice.edits(said, "meet at 8")

    states = [turn.state for turn in await house.turns_of(alice)]
    assert states == [TurnState.STOPPED, TurnState.DONE]
    assert house.agent.cancelled == [said.turn_id]
    assert "At seven " in house.agent.lines(Role.ASSISTANT)[0]


async def test_an_old_message_is_not_run_again(house: Scenario) -> None:
    """With edits = "rerun" only the last turn runs again; for others there is a note (ask 4)."""
    house.lives_by(replace(house.rules, edits=EditMode.RERUN))
    alice = house.person("alice", on="telegram")
    said = await alice.says("meet at 7")
    await alice.says("thanks")

    await alice.edits(said, "meet at 8")

    assert len(house.agent.requests) == 2


async def test_one_of_several_collected_messages_can_be_deleted(house: Scenario) -> None:
    """Taking one of them back leaves the turn to the others; taking all back stops it (ask 4)."""
    house.lives_by(replace(house.rules, busy=BusyMode.COLLECT))
    alice = house.person("alice", on="telegram")
    house.agent.will(Hangs())
    await alice.says("one")
    two, three = await alice.says("two"), await alice.says("three")

    await alice.deletes(two)
    assert (await house.store.turns.get(two.turn_id)).state is TurnState.QUEUED
    await alice.deletes(three)
    assert (await house.store.turns.get(two.turn_id)).state is TurnState.STOPPED
    house.agent.goes_on()
    await house.rests()

    assert len(house.agent.requests) == 1
