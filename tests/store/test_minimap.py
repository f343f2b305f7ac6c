"""The minimap: a transcript from afar, however long it is and wherever its lines stand."""

import pytest

from tests.store.command_setup import both
from tests.store.people_setup import ALICE, says, talk
from threadline.core.errors import Invalid, NotFound
from threadline.core.message import Role, say
from threadline.core.minimap import BUCKETS
from threadline.core.session import SessionId
from threadline.store import Store


@both
async def test_every_line_is_in_one_bucket(store: Store) -> None:
    """The buckets are as long as each other but the last, and have no gaps between them."""
    id = await talk(store, ALICE, "one", "two", "three")
    await store.transcripts.record(id, [say(Role.TOOL, "a tool"), say(Role.SYSTEM, "a note")])
    last = (await store.transcripts.read(id))[-1].seq

    for most in (1, 2, 3, 5, 8, 100):
        seen = await store.minimap(id, most)
        assert len(seen) <= most
        ends = [bucket.last_seq for bucket in seen]
        assert [bucket.first_seq for bucket in seen] == [1, *(end + 1 for end in ends[:-1])]
        assert ends[-1] == last
        spans = {bucket.last_seq - bucket.first_seq for bucket in seen[:-1]}
        assert len(spans) <= 1
    (whole,) = await store.minimap(id, 1)
    roles = [line.role for line in await store.transcripts.read(id)]
    assert (whole.user, whole.assistant) == (3, 3)
    assert (whole.tool, whole.system) == (roles.count(Role.TOOL), roles.count(Role.SYSTEM))


@both
async def test_mishaps_and_cuts_are_seen_from_afar(store: Store) -> None:
    """A turn that was stopped leaves a mark; what was undone or compacted is counted as cut."""
    id = await talk(store, ALICE, "one", "two")
    await says(store, ALICE, "three")
    claimed = await store.turns.claim(id)
    assert claimed is not None
    await store.turns.checkpoint([(claimed.lease, "half an ans")])
    await store.turns.stop(claimed.turn.id)
    (before,) = await store.minimap(id, 1)
    assert (before.markers, before.hidden) == (1, 0)

    await store.transcripts.undo(id)

    (after,) = await store.minimap(id, 1)
    assert after.hidden == after.last_seq - len(await store.transcripts.read(id))
    assert after.hidden > 0


@both
async def test_a_branch_shows_what_it_shares(store: Store) -> None:
    """Its map has the lines of its base, up to where it left, and its own."""
    id = await talk(store, ALICE, "one", "two")
    branch = (await store.transcripts.branch(id)).id
    await store.transcripts.record(branch, [say(Role.ASSISTANT, "own")])
    await talk(store, ALICE, "three")

    (base,), (own,) = await store.minimap(id, 1), await store.minimap(branch, 1)
    assert (base.user, base.assistant) == (3, 3)
    assert (own.user, own.assistant) == (2, 3)


@both
async def test_an_odd_map_is_refused(store: Store) -> None:
    """No buckets, or no session; more buckets than a screen has are cut down."""
    id = await says(store, ALICE, "waits")
    assert await store.minimap(id) == []
    for wrong in (0, -1, True, "1"):
        with pytest.raises(Invalid):
            await store.minimap(id, wrong)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await store.minimap(SessionId("20200101_000000_00000000"))
    await store.transcripts.record(id, [say(Role.ASSISTANT, str(n)) for n in range(BUCKETS + 1)])
    assert len(await store.minimap(id, 10**9)) == (BUCKETS + 2) // 2
