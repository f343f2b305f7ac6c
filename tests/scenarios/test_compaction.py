"""Making room: summaries in the place of what was said first."""

import pytest

from tests.scenarios.transcript_setup import said, talk
from threadline.core.errors import Conflict, Invalid
from threadline.core.message import NewMessage as New
from threadline.core.message import Role, Text, ToolCall, ToolResult
from threadline.testing.scenario import Scenario


async def test_a_compaction_shows_the_agent_a_summary(house: Scenario) -> None:
    """The agent reads the summary and the last turns; people can still read everything."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three")
    boundary = await house.store.transcripts.boundary(id, keep=1)
    assert boundary is not None
    assert said(list(boundary.messages)) == ["one", "re: one", "two", "re: two"]

    cut = await house.store.transcripts.compact(id, "They counted.", upto=boundary.to_seq)
    await alice.says("four")

    shown = house.agent.requests[-1].history
    assert shown[0].role is Role.SYSTEM
    assert "They counted." in shown[0].text
    assert shown[0].seq == cut.to_seq == boundary.to_seq
    assert said(list(shown)) == ["three", "re: three", "four"]
    assert said(await house.transcript_of(id))[0] == "one"
    assert (await house.store.sessions.get(id)).user_messages == 4


async def test_a_second_compaction_covers_the_first_and_can_be_lifted(house: Scenario) -> None:
    """The summariser is given the first summary; lifting goes back one step at a time."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three")
    await house.store.transcripts.compact(id, "first", keep=1)
    middle = await house.store.transcripts.history(id)
    await talk(house, alice, "four")

    boundary = await house.store.transcripts.boundary(id, keep=1)
    assert boundary is not None
    assert "first" in boundary.messages[0].text
    await house.store.transcripts.compact(id, "second", keep=1)
    assert [cut.summary for cut in await house.store.transcripts.hidden_ranges(id)] == [
        "first",
        "second",
    ]
    lifted = await house.store.transcripts.undo_compaction(id)

    assert lifted.summary == "second"
    assert (await house.store.transcripts.history(id))[: len(middle)] == middle
    await house.store.transcripts.undo_compaction(id)
    assert said(await house.store.transcripts.history(id))[0] == "one"
    with pytest.raises(Conflict):
        await house.store.transcripts.undo_compaction(id)


async def test_undo_crosses_a_compaction_and_redo_puts_it_back(house: Scenario) -> None:
    """Undoing what was compacted shows the rest of it in full; redo restores the summary."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three", "four")
    await house.store.transcripts.compact(id, "short", keep=1)
    before = await house.store.transcripts.history(id)

    await house.store.transcripts.undo(id, 3)
    assert said(await house.store.transcripts.history(id)) == ["one", "re: one"]
    await house.store.transcripts.redo(id)

    assert await house.store.transcripts.history(id) == before


async def test_a_retry_of_something_compacted_shows_it_again(house: Scenario) -> None:
    """The words that are asked again must be read, not their summary."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")
    await house.store.transcripts.compact(id, "short", keep=1)
    await house.store.transcripts.undo(id)

    await house.store.transcripts.retry(id)
    await house.rests()

    assert house.agent.saw_only("one")
    assert not house.agent.was_told("short")


async def test_no_tool_call_is_parted_from_its_result(house: Scenario) -> None:
    """A call whose result comes after the boundary moves the boundary before it."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")
    call = New(role=Role.ASSISTANT, parts=(ToolCall(id="c", name="look", arguments="{}"),))
    result = New(role=Role.TOOL, parts=(ToolResult(call_id="c", text="seen"),))
    spoken = [New(role=Role.USER, parts=(Text(text=text),)) for text in ("three", "four")]
    orphan = New(role=Role.TOOL, parts=(ToolResult(call_id="nowhere", text="?"),))
    await house.store.transcripts.record(id, [spoken[0], call, spoken[1], result, orphan])

    cut = await house.store.transcripts.compact(id, "short", keep=1)

    kept = [line.text for line in await house.store.transcripts.read(id, after=cut.to_seq)]
    assert kept == ["", "four", "seen", "?"]


async def test_there_must_be_something_to_compact(house: Scenario) -> None:
    """Too little, nothing new, or a summary that is none: nothing changes."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")

    assert await house.store.transcripts.boundary(id) is None
    with pytest.raises(Conflict, match="nothing to compact"):
        await house.store.transcripts.compact(id, "short")
    for summary in ("", " ", "\0", None, "x" * 20_001):
        with pytest.raises(Invalid):
            await house.store.transcripts.compact(id, summary, keep=1)  # type: ignore[arg-type]
    for keep in (0, -1, True, "2"):
        with pytest.raises(Invalid):
            await house.store.transcripts.compact(id, "short", keep=keep)  # type: ignore[arg-type]
    await house.store.transcripts.compact(id, "short", keep=1)
    with pytest.raises(Conflict, match="nothing to compact"):
        await house.store.transcripts.compact(id, "again", keep=1)

    assert len(await house.store.transcripts.hidden_ranges(id)) == 1


async def test_a_summary_of_what_was_undone_meanwhile_is_refused(house: Scenario) -> None:
    """While a summary was made Alice took those words back: the summary is of no use."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three")
    boundary = await house.store.transcripts.boundary(id, keep=1)
    assert boundary is not None
    await house.store.transcripts.undo(id, 2)

    with pytest.raises(Conflict, match="no longer visible"):
        await house.store.transcripts.compact(id, "of what is gone", upto=boundary.to_seq)
