"""Corners of shared transcripts: deep chains, long ones, two at once, a turn under way."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

import pytest

from tests.databases import FAST, DatabaseFactory, OpenStore, on
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Conflict
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MediaKind, Message, NewMessage, Role, Text, say
from threadline.core.session import SessionId
from threadline.database.port import SqlValue, Transaction
from threadline.store import Store, queries
from threadline.store.branches import branch
from threadline.store.transcripts import undo
from threadline.store.transcripts.history import history
from threadline.store.transcripts.segments import DEEPEST_BASE

T = TypeVar("T")

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
ALICE = Sender(id="alice")


class Counting:
    """A transaction that counts what is asked of another one."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.now, self.settings, self.new_id = tx.now, tx.settings, tx.new_id
        self.statements = 0
        self.rows = 0

    def one(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        self.statements += 1
        return self.tx.one(query, *kind, **values)

    def all(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        self.statements += 1
        rows = self.tx.all(query, *kind, **values)
        self.rows += len(rows)
        return rows

    def exists(self, query: str, /, **values: SqlValue) -> bool:
        self.statements += 1
        return self.tx.exists(query, **values)

    def run(self, query: str, **values: SqlValue) -> None:
        self.statements += 1
        self.tx.run(query, **values)

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        self.statements += 1
        self.tx.run_many(query, rows)


async def counted(store: Store, work: Callable[[Transaction], T]) -> tuple[T, int, int]:
    """Do something in a transaction; answer also its statements and the rows it read."""

    def verb(tx: Transaction) -> tuple[T, int, int]:
        counting = Counting(tx)
        return work(counting), counting.statements, counting.rows

    return await store.database.write(verb)


async def tell(store: Store, text: str, **fields: object) -> SessionId:
    """Say something as Alice, and let it be answered."""
    given = {"address": HERE, "sender": ALICE, "at": store.now(), "parts": (Text(text=text),)}
    arrival = await store.receive(Inbound(**{**given, **fields}))  # type: ignore[arg-type]
    claim = await store.turns.claim()
    if claim is not None:
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "ok")])
    assert arrival.session_id is not None
    return arrival.session_id


async def fill(store: Store, id: SessionId, lines: int) -> None:
    """Make a transcript longer by as many lines of a person and of the agent in turn."""
    said = [say(Role.ASSISTANT if n % 2 else Role.USER, f"line {n}") for n in range(lines)]
    for n in range(0, lines, 500):
        await store.transcripts.record(id, said[n : n + 500])


def words(lines: list[Message]) -> list[str]:
    """Read lines as words."""
    return [line.text for line in lines]


async def test_a_chain_of_branches_that_is_too_deep_gets_rows_of_its_own(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """After 64 sessions a branch copies, attachments included, and shows the same as before."""
    picture = await store.attachments.put(b"dots", "image/png", MediaKind.IMAGE)
    id = await tell(store, "", parts=(Text(text="look"), picture), message_id="1")
    expected = words(await store.transcripts.read(id))
    for n in range(DEEPEST_BASE + 1):
        id = (await store.transcripts.branch(id)).id
        await store.transcripts.record(id, [say(Role.USER, f"step {n}")])
        expected.append(f"step {n}")
    deep = await store.sessions.get(id)
    await tell(store, "", message_id="1", kind=InboundKind.EDIT, version=1, parts=(Text(text="x"),))

    found = await store.transcripts.read(id, most=1000)
    assert words(found) == expected
    assert deep.base_id is None
    assert deep.user_messages == 1 + DEEPEST_BASE + 1
    assert {line.session_id for line in found} == {id}
    undone = await store.transcripts.undo(id, 1)
    assert undone.texts[-1] == f"step {DEEPEST_BASE}"
    assert [line.parts for line in found if line.text == "look"] == [(Text(text="look"), picture)]
    keys = ", ".join(str(line.key) for line in found)
    uses = f"SELECT hash FROM blob_uses WHERE message_key IN ({keys})"
    assert database_factory.tamper(uses) == [(picture.blob,)]


@on(FAST)
async def test_a_page_of_a_long_transcript_reads_a_page(store: Store) -> None:
    """The end, the middle and the beginning of a long branch cost as little as a short one."""
    id = await tell(store, "hello")
    await fill(store, id, 2_000)
    child = await store.transcripts.branch(id)
    await store.transcripts.undo(child.id, 400)
    await store.transcripts.record(child.id, [say(Role.USER, "again")])

    places = ((None, None), (900, None), (None, 0), (1_201, None), (None, 1_150))
    for before, after in places:
        read = partial(queries.transcript, id=child.id, before=before, after=after, most=50)
        page, statements, rows = await counted(store, read)
        assert len(page) == 50
        assert statements <= 5
        assert rows <= 120


@on(FAST)
async def test_a_page_begins_and_ends_where_it_was_asked_to(store: Store) -> None:
    """Around a long gap and a short one each page is what a list of all lines would give."""
    id = await tell(store, "hello")
    await fill(store, id, 60)
    child = (await store.transcripts.branch(id)).id
    await store.transcripts.undo(child, 25)
    await fill(store, child, 20)
    await store.transcripts.undo(child, 2)
    await fill(store, child, 6)
    shown: list[Message] = []
    while page := await store.transcripts.read(
        child, after=shown[-1].seq if shown else 0, most=1000
    ):
        shown += page
    seqs = [line.seq or 0 for line in shown]
    last = (await store.sessions.get(child)).last_seq

    assert len(seqs) == last - 50 - 4
    for place in range(last + 2):
        after = await store.transcripts.read(child, after=place, most=4)
        before = await store.transcripts.read(child, before=place, most=4)
        assert [line.seq for line in after] == [seq for seq in seqs if seq > place][:4]
        assert [line.seq for line in before] == [seq for seq in seqs if seq < place][-4:]


@on(FAST)
async def test_branching_and_undoing_a_long_transcript_take_as_little_as_a_short_one(
    store: Store,
) -> None:
    """A branch at the end and an undo of the last turn do not look at the rest."""
    id = await tell(store, "hello")

    def work(tx: Transaction) -> None:
        branch.branch(tx, id)
        undo.undo(tx, id)
        undo.redo(tx, id)

    await fill(store, id, 60)
    _, short, few = await counted(store, work)
    await fill(store, id, 3_000)
    _, long, many = await counted(store, work)

    assert long == short
    assert many <= few + 10


async def test_the_last_words_of_two_people_at_once_are_undone_once_each(
    open_store: OpenStore,
) -> None:
    """Two processes undo at the same time: each takes back one turn."""
    one, other = await open_store(), await open_store()
    id = await tell(one, "one")
    await tell(one, "two")
    await tell(one, "three")

    undone = await asyncio.gather(one.transcripts.undo(id), other.undo(id))

    assert sorted(text for each in undone for text in each.texts) == ["three", "two"]
    assert (await one.sessions.get(id)).user_messages == 1


async def test_a_branch_made_while_somebody_edits_shows_one_or_the_other(
    open_store: OpenStore,
) -> None:
    """An edit that comes at the same moment is in the branch wholly or not at all, for good."""
    one, other = await open_store(), await open_store()
    id = await tell(one, "old", message_id="1")
    change = {"message_id": "1", "kind": InboundKind.EDIT, "version": 1}

    child, _ = await asyncio.gather(one.transcripts.branch(id), tell(other, "new", **change))
    shown = words(await one.transcripts.read(child.id))
    await tell(one, "newest", **{**change, "version": 2})

    assert shown[-2] in {"old", "new"}
    assert words(await one.transcripts.read(child.id)) == shown


async def test_a_turn_under_way_is_never_compacted(store: Store) -> None:
    """A model may make room while it answers; the lines of its own turn stay."""
    id = await tell(store, "one")
    await tell(store, "two")
    await store.receive(
        Inbound(address=HERE, sender=ALICE, at=store.now(), parts=(Text(text="three"),))
    )
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.append(claim.lease, [say(Role.ASSISTANT, "so far")])
    await store.transcripts.record(id, [say(Role.USER, "aside")])

    cut = await store.transcripts.compact(id, "short", keep=1)

    kept = await store.transcripts.read(id, after=cut.to_seq)
    assert words(kept) == ["three", "so far", "aside"]
    with pytest.raises(Conflict, match="nothing to compact"):
        await store.transcripts.compact(id, "short", upto=kept[-1].seq)
    assert words(await store.transcripts.history(id))[1:] == words(kept)


async def test_a_message_that_waits_is_not_in_the_way(store: Store) -> None:
    """What has yet to be said stands on nothing: undo works, and it is said afterwards."""
    id = await tell(store, "one")
    await store.receive(
        Inbound(address=HERE, sender=ALICE, at=store.now(), parts=(Text(text="two"),))
    )

    undone = await store.transcripts.undo(id)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "ok")])

    assert undone.texts == ("one",)
    said = [line.text for line in await store.transcripts.read(id) if line.role is not Role.SYSTEM]
    assert said == ["two", "ok"]


async def test_a_message_edited_before_its_turn_is_shared_with_its_new_text(store: Store) -> None:
    """A revision from before the message had a place is none that a branch could fall back to."""
    message = {"address": HERE, "sender": ALICE, "at": store.now(), "message_id": "1"}
    await store.receive(Inbound(parts=(Text(text="old"),), **message))  # type: ignore[arg-type]
    id = await tell(store, "new", message_id="1", kind=InboundKind.EDIT, version=1)

    child = await store.transcripts.branch(id)

    assert "new" in words(await store.transcripts.read(child.id))
    assert "old" not in words(await store.transcripts.read(child.id))


async def test_a_long_compaction_is_not_read_again_for_each_turn(store: Store) -> None:
    """What the model is shown after a compaction costs what is left, not what was said."""
    id = await tell(store, "hello")
    await fill(store, id, 1_000)
    await store.transcripts.compact(id, "short")

    shown, statements, rows = await counted(store, lambda tx: history(tx, id))

    assert len(shown) == 1 + 4
    assert statements == 3
    assert rows <= 10


async def test_a_user_message_counts_once_it_has_its_place(store: Store) -> None:
    """What waits is not yet counted; what is recorded, overheard or answered is."""
    id = await tell(store, "one")
    await store.receive(
        Inbound(address=HERE, sender=ALICE, at=store.now(), parts=(Text(text="two"),))
    )
    assert (await store.sessions.get(id)).user_messages == 1

    await store.turns.claim()
    await store.transcripts.record(id, [NewMessage(role=Role.USER, parts=(Text(text="three"),))])

    assert (await store.sessions.get(id)).user_messages == 3
