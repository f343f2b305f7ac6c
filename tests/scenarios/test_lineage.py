"""Parents, roots, continuations: sessions that are one conversation, and those that are not."""

import pytest

from tests.databases import POSTGRES, DatabaseFactory
from tests.scenarios.transcript_setup import said, talk
from threadline.core.errors import Invalid, NotFound
from threadline.core.message import Message
from threadline.core.session import Cause, SessionId
from threadline.store.branches.lineage import Position
from threadline.testing.scenario import Scenario

LONG = 10_000


async def read_through(house: Scenario, id: SessionId, most: int) -> tuple[list[Message], ...]:
    """Read a stitched transcript from its end and from its beginning, page by page."""
    page = await house.store.transcripts.stitched(id, most=most)
    back = list(page.messages)
    while page.messages:
        page = await house.store.transcripts.stitched(id, before=page.first, most=most)
        back = [*page.messages, *back]
    start = Position(id=(await house.store.transcripts.lineage(id)).first_id, seq=0)
    page = await house.store.transcripts.stitched(id, after=start, most=most)
    forth = list(page.messages)
    while page.messages:
        page = await house.store.transcripts.stitched(id, after=page.last, most=most)
        forth += page.messages
    return back, forth


async def test_continuations_are_one_transcript(house: Scenario) -> None:
    """A conversation that went on in two more sessions reads as one, whichever is asked."""
    alice = house.person("alice", on="telegram")
    first = await talk(house, alice, "one")
    second = (await house.store.transcripts.continue_session(first)).id
    await talk(house, alice, "two")
    third = (await house.store.transcripts.continue_session(second)).id
    await talk(house, alice, "three")
    whole = ["one", "re: one", "two", "re: two", "three", "re: three"]

    for id in (first, second, third):
        back, forth = await read_through(house, id, most=2)
        assert said(back) == said(forth) == whole
        kin = await house.store.transcripts.lineage(id)
        assert (kin.first_id, kin.latest_id, kin.root_id) == (first, third, first)
    assert (await alice.session()).id == third


async def test_undone_lines_are_left_out_of_a_stitched_transcript(house: Scenario) -> None:
    """What was taken back in one of the sessions is not seen in the whole."""
    alice = house.person("alice", on="telegram")
    first = await talk(house, alice, "one", "two")
    await house.store.transcripts.undo(first)
    second = (await house.store.transcripts.continue_session(first)).id
    await talk(house, alice, "three")

    back, _ = await read_through(house, second, most=50)

    assert said(back) == ["one", "re: one", "three", "re: three"]


async def test_a_branch_inside_a_chain_is_read_with_what_it_shares(house: Scenario) -> None:
    """The chain begins with a branch: the lines it shares are read, and pages go on from them."""
    alice = house.person("alice", on="telegram")
    first = await talk(house, alice, "one", "two")
    branch = await house.store.transcripts.branch(first)
    next_one = await house.store.transcripts.continue_session(branch.id)

    back, forth = await read_through(house, next_one.id, most=1)

    assert said(back) == said(forth) == ["one", "re: one", "two", "re: two"]


async def test_branches_and_resets_are_not_stitched(house: Scenario) -> None:
    """A branch and a session after a quiet night name their parent, and stand for themselves."""
    alice = house.person("alice", on="telegram")
    first = await talk(house, alice, "one")
    branch = await house.store.transcripts.branch(first, title="Aside")
    await house.time_passes(hours=9)
    later = await talk(house, alice, "two")

    kin = await house.store.transcripts.lineage(first)

    assert (kin.parent_id, kin.cause, kin.latest_id) == (None, Cause.FIRST, first)
    assert [(child.id, child.cause) for child in kin.children] == [
        (later, Cause.IDLE),
        (branch.id, Cause.BRANCH),
    ]
    assert (kin.number_of_children, kin.children[1].title) == (2, "Aside")
    back, _ = await read_through(house, later, most=50)
    assert said(back) == ["two", "re: two"]
    assert (await house.store.transcripts.lineage(later)).parent_id == first


async def test_the_newer_of_two_continuations_counts(house: Scenario) -> None:
    """Continued twice, a conversation goes on where it was continued last."""
    alice = house.person("alice", on="telegram")
    first = await talk(house, alice, "one")
    older = await house.store.transcripts.continue_session(first)
    await house.time_passes(minutes=1)
    newer = await house.store.transcripts.continue_session(first)

    assert (await house.store.transcripts.lineage(first)).latest_id == newer.id
    assert (await house.store.transcripts.lineage(older.id)).latest_id == older.id
    assert (await house.store.transcripts.lineage(older.id)).first_id == first


async def test_a_circle_of_continuations_does_no_harm(
    house: Scenario, database_factory: DatabaseFactory
) -> None:
    """Sessions that go on from each other are read once each."""
    alice = house.person("alice", on="telegram")
    first = await talk(house, alice, "one")
    second = (await house.store.transcripts.continue_session(first)).id
    await talk(house, alice, "two")
    database_factory.tamper(
        "UPDATE sessions SET cause = 'continued', parent_key = "
        f"(SELECT key FROM sessions WHERE id = '{second}') WHERE id = '{first}'"
    )

    for id in (first, second):
        back, forth = await read_through(house, id, most=1)
        assert sorted(said(back)) == sorted(said(forth)) == ["one", "re: one", "re: two", "two"]
        assert (await house.store.transcripts.lineage(id)).latest_id in {first, second}


async def test_a_long_chain_does_no_harm(
    house: Scenario, database_factory: DatabaseFactory
) -> None:
    """The ends of ten thousand continuations are found from its middle."""
    alice = house.person("alice", on="telegram")
    first = await talk(house, alice, "one")
    is_postgres = database_factory.kind == POSTGRES
    number = "lpad(n.i::text, 8, '0')" if is_postgres else "printf('%08d', n.i)"
    database_factory.tamper(
        f"""
        INSERT INTO sessions (key, id, profile, platform, kind, address_key, sender_key, parent_key,
                              root_key, cause, opened_at, last_activity_at, last_seq)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {LONG})
        SELECT s.key + n.i, '20260101_000000_' || {number}, s.profile, s.platform, s.kind,
               s.address_key, s.sender_key, s.key + n.i - 1, s.key, 'continued', s.opened_at,
               s.last_activity_at, 0
        FROM sessions s JOIN n ON s.id = '{first}'
        """
    )
    middle, last = (SessionId(f"20260101_000000_{n:08d}") for n in (LONG // 2, LONG))

    kin = await house.store.transcripts.lineage(middle)
    page = await house.store.transcripts.stitched(middle)

    assert (kin.first_id, kin.latest_id, kin.root_id) == (first, last, first)
    assert said(list(page.messages)) == ["one", "re: one"]


async def test_strangers_and_nonsense_are_refused(house: Scenario) -> None:
    """A place in another conversation, and what is no place, is told so."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    mine, other = await talk(house, alice, "one"), await talk(house, bob, "two")

    with pytest.raises(NotFound, match="not part"):
        await house.store.transcripts.stitched(mine, before=Position(id=other, seq=1))
    with pytest.raises(Invalid):
        await house.store.transcripts.stitched(mine, after=("x", 1))  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        Position(id=mine, seq=-1)
    for ask in (
        house.store.transcripts.lineage,
        house.store.transcripts.stitched,
        house.store.transcripts.continue_session,
    ):
        with pytest.raises(NotFound):
            await ask(SessionId("20260101_000000_00000000"))
