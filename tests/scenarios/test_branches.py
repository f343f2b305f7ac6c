"""Going another way: branches, and lines that read differently in one."""

import pytest

from tests.scenarios.transcript_setup import said, talk
from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind, Role, Text
from threadline.core.message import NewMessage as New
from threadline.core.person import Viewer
from threadline.core.route import MAIN_PROFILE
from threadline.core.session import Cause, EndReason, ModelChoice, SessionId, TitleSource
from threadline.core.session_patch import SessionPatch
from threadline.core.turn import TurnState
from threadline.store.branches.branch import branch_route
from threadline.testing.scenario import Scenario
from threadline.testing.scripted_agent import Says


async def test_a_branch_shares_what_was_said_and_goes_its_own_way(house: Scenario) -> None:
    """From a line on there are two conversations, and neither shows in the other."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three")
    lines = await house.transcript_of(id)
    place = next(line.seq for line in lines if line.text == "re: two")

    branch = await house.store.transcripts.branch(id, at=place, title="Another way")
    await house.store.transcripts.record(
        branch.id, [New(role=Role.USER, parts=(Text(text="four"),))]
    )
    await talk(house, alice, "five")

    assert said(await house.transcript_of(branch)) == ["one", "re: one", "two", "re: two", "four"]
    assert said(await house.transcript_of(id))[-4:] == ["three", "re: three", "five", "re: five"]
    assert (branch.parent_id, branch.root_id, branch.cause) == (id, id, Cause.BRANCH)
    assert (branch.base_id, branch.base_seq, branch.title) == (id, place, "Another way")
    assert (await house.store.sessions.get(branch.id)).user_messages == 3
    assert (await house.store.sessions.get(id)).user_messages == 4
    assert await house.store.sessions.routes(branch.id) == []


async def test_a_branch_keeps_what_its_parent_later_changes(house: Scenario) -> None:
    """Edits, deletions, undo and compaction in the parent do not show in the branch."""
    alice = house.person("alice", on="telegram")
    first = await alice.says("one")
    second = await alice.says("two")
    await talk(house, alice, "three")
    id = first.session_id
    await alice.edits(first, "one, edited once", version=1)
    branch = await house.store.transcripts.branch(id)
    before = await house.store.transcripts.read(branch.id)

    await alice.edits(first, "one, edited twice", version=2)
    await alice.deletes(second)
    await house.store.transcripts.compact(id, "short", keep=1)
    await house.store.transcripts.undo(id)

    assert await house.store.transcripts.read(branch.id) == before
    assert said(before)[0] == "one, edited once"
    assert await house.store.transcripts.hidden_ranges(branch.id) == []
    assert (await house.store.sessions.get(branch.id)).user_messages == 3


async def test_a_parent_keeps_what_its_branch_later_changes(house: Scenario) -> None:
    """Undo in a branch reaches into the shared lines, and the parent still has them."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")
    branch = await house.store.transcripts.branch(id)

    undone = await house.store.transcripts.undo(branch.id, 2)

    assert undone.texts == ("one", "two")
    assert said(await house.transcript_of(branch)) == []
    assert said(await house.transcript_of(id)) == ["one", "re: one", "two", "re: two"]


async def test_a_branch_of_a_branch_stands_on_whoever_wrote_the_line(house: Scenario) -> None:
    """Branching inside the shared part of a branch skips it, so that chains stay short."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")
    child = await house.store.transcripts.branch(id)

    grandchild = await house.store.transcripts.branch(child.id, at=2)
    empty = await house.store.transcripts.branch(child.id, at=0)

    assert (grandchild.parent_id, grandchild.base_id) == (child.id, id)
    assert (empty.base_id, empty.last_seq, empty.user_messages) == (None, 0, 0)
    assert await house.store.transcripts.read(empty.id) == []


async def test_a_branch_is_as_its_parent_in_everything_else(house: Scenario) -> None:
    """Model, title and owner go along; a manual title stays manual."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one")
    await house.store.sessions.update(
        id, SessionPatch(model=ModelChoice(model="gpt", provider="x"))
    )
    await house.store.sessions.update(id, SessionPatch(title="Plans"))

    branch = await house.store.transcripts.branch(id)

    assert (branch.title, branch.titled_by) == ("Plans", TitleSource.PERSON)
    assert branch.choice == ModelChoice(model="gpt", provider="x")
    assert branch.id in {session.id for session in await house.sessions_of(alice)}


async def test_a_line_that_is_not_to_be_seen_is_no_place_for_a_branch(house: Scenario) -> None:
    """Undone lines, lines that never were, and things that are no numbers are refused."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two")
    hidden = (await house.store.transcripts.undo(id)).from_seq
    before = len(await house.sessions_of(alice))

    for at in (hidden, 99, 2**40):
        with pytest.raises(NotFound):
            await house.store.transcripts.branch(id, at=at)
    for wrong in (-1, 1.0, True, "1", 2**70):
        with pytest.raises(Invalid):
            await house.store.transcripts.branch(id, at=wrong)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        await house.store.transcripts.branch(id, title="a\0b")
    with pytest.raises(NotFound):
        await house.store.transcripts.branch(SessionId("20260101_000000_00000000"))

    assert len(await house.sessions_of(alice)) == before


async def test_redo_works_in_a_branch_too(house: Scenario) -> None:
    """A branch made after an undo can take it back, and the parent does not notice."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "two", "three")
    await house.store.transcripts.compact(id, "short", keep=1)
    full = await house.store.transcripts.history(id)
    await house.store.transcripts.undo(id, 2)
    branch = await house.store.transcripts.branch(id)

    await house.store.transcripts.redo(branch.id)

    redone = await house.store.transcripts.history(branch.id)
    assert [line.text for line in redone] == [line.text for line in full]
    assert said(await house.store.transcripts.history(id)) == ["one", "re: one"]


async def test_a_chat_goes_on_in_its_branch(house: Scenario) -> None:
    """After /branch Alice speaks in the branch, and the session she left has ended."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one")

    change = await house.store.database.write(
        branch_route, alice.address, alice.sender, profile=MAIN_PROFILE, title="Aside"
    )
    await talk(house, alice, "two")

    old, new = await house.store.sessions.get(id), await alice.session()
    assert (change.left_id, change.session_id) == (id, new.id)
    assert (old.end_reason, new.title) == (EndReason.SWITCHED, "Aside")
    assert said(await house.transcript_of(new)) == ["one", "re: one", "two", "re: two"]
    assert said(await house.transcript_of(old)) == ["one", "re: one"]


async def test_a_chat_in_which_nobody_spoke_has_no_branch(house: Scenario) -> None:
    """There is nothing to go another way from."""
    alice = house.person("alice", on="telegram")

    with pytest.raises(NotFound, match="Nobody has spoken"):
        await house.store.database.write(
            branch_route, alice.address, alice.sender, profile=MAIN_PROFILE, title=None
        )


async def test_an_edit_is_a_branch_with_other_words(house: Scenario) -> None:
    """The old line stays where it was; in the branch the new words are asked and answered."""
    alice = house.person("alice", on="telegram")
    picture = await house.store.attachments.put(b"dots", "image/png", MediaKind.IMAGE)
    id = await talk(house, alice, "one")
    await house.store.receive(
        Inbound(
            address=alice.address,
            sender=alice.sender,
            parts=(Text(text="two"), picture),
            at=house.clock(),
            message_id="p1",
        )
    )
    await house.rests()
    seq = next(line.seq for line in await house.transcript_of(id) if line.text == "two")
    assert seq is not None

    house.agent.will(Says("re: 2"))
    edited = await house.store.transcripts.edit(
        id, seq, "2", by=Viewer(address=alice.address, sender=alice.sender)
    )
    await house.rests()

    assert said(await house.transcript_of(edited.session)) == ["one", "re: one", "2", "re: 2"]
    assert said(await house.transcript_of(id)) == ["one", "re: one", "two", "ok"]
    line = next(x for x in await house.transcript_of(edited.session) if x.text == "2")
    assert (line.parts, line.sender_id) == ((Text(text="2"), picture), alice.sender.id)
    assert (await house.store.turns.get(edited.turn_id)).state is TurnState.DONE


async def test_only_words_of_a_person_can_be_edited(house: Scenario) -> None:
    """Answers, deleted and undone lines, and empty words are refused."""
    alice = house.person("alice", on="telegram")
    gone = await alice.says("one")
    id = gone.session_id
    await alice.deletes(gone)
    lines = {line.role: line.seq or 0 for line in await house.transcript_of(id)}

    with pytest.raises(Conflict):
        await house.store.transcripts.edit(id, lines[Role.USER], "x", by=Viewer.owner())
    with pytest.raises(Conflict):
        await house.store.transcripts.edit(id, lines[Role.ASSISTANT], "x", by=Viewer.owner())
    with pytest.raises(NotFound):
        await house.store.transcripts.edit(id, 77, "x", by=Viewer.owner())
    for text in ("", "  \n", "\0", 7):
        with pytest.raises(Invalid):
            await house.store.transcripts.edit(id, lines[Role.USER], text, by=Viewer.owner())  # type: ignore[arg-type]
    await house.store.transcripts.undo(id)
    with pytest.raises(NotFound):
        await house.store.transcripts.edit(id, lines[Role.USER], "x", by=Viewer.owner())


@pytest.mark.parametrize("turn", ["one", "two", "three", "four"])
async def test_a_branch_counts_what_people_wrote_and_see(house: Scenario, turn: str) -> None:
    """From whichever line it parts, a branch knows how many of its lines people wrote."""
    alice = house.person("alice", on="telegram")
    id = await talk(house, alice, "one", "gone")
    await house.store.transcripts.undo(id)
    await talk(house, alice, "two", "three", "four", "also gone")
    await house.store.transcripts.undo(id)
    place = next(line.seq for line in await house.transcript_of(id) if line.text == f"re: {turn}")

    branch = await house.store.transcripts.branch(id, at=place)

    people = [x for x in await house.transcript_of(branch) if x.role is Role.USER]
    assert branch.user_messages == len(people) == ["one", "two", "three", "four"].index(turn) + 1
