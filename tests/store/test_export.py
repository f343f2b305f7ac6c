"""History leaves the store as a file and comes back from it, on both databases."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, Server
from tests.query_recorder import QueryWitness
from tests.store import transfer_setup
from tests.store.transfer_setup import Elsewhere, chunks, export, live, tell
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.inbound import InboundKind
from threadline.core.message import MediaKind, Message, Role, say
from threadline.core.person import Identity, Viewer
from threadline.core.session_patch import SessionPatch
from threadline.database.port import Transaction
from threadline.store import Store
from threadline.store.deletion.forget import forget_sessions
from threadline.store.transcripts.history import history
from threadline.store.transfer.importer import ImportOptions, ImportReport
from threadline.store.transfer.selection import plan_page
from threadline.store.transfer.validation import validate_file
from threadline.testing.clock import FakeClock


@pytest.fixture(name="clock")
def a_clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(name="old")
async def an_old_store(database_factory: DatabaseFactory, clock: FakeClock) -> Store:
    return Store(await database_factory(clock=clock), new_id=transfer_setup.one_after_another())


@pytest.fixture(name="elsewhere")
async def other_stores(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Elsewhere]:
    def server() -> Server:
        found: Server = request.getfixturevalue("postgres_server")
        return found

    stores = Elsewhere(tmp_path, server)
    yield stores
    assert not await stores.close()


async def take(store: Store, data: bytes, **manner: bool) -> ImportReport:
    """Import a file as a backup: with its settings, unless the test says otherwise."""
    return await store.transfer.import_history(
        chunks(data), ImportOptions(**{"keep_settings": True, **manner})
    )


@pytest.mark.parametrize("kind", [FAST, POSTGRES])
async def test_a_file_is_the_same_after_it_went_elsewhere(
    old: Store, clock: FakeClock, elsewhere: Elsewhere, kind: str
) -> None:
    """Export, import into a fresh store of either database, export: the same bytes."""
    await live(old, clock)
    first = await export(old)
    new = await elsewhere.open(kind)

    report = await take(new, first)
    again = await export(new)

    assert again.decode().splitlines() == first.decode().splitlines()
    assert again == first
    assert report.added == first.count(b'{"type":"session"')
    assert not report.problems


async def test_the_second_import_adds_nothing(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """The same file again, or in the store it came from, changes no byte."""
    await live(old, clock)
    data = await export(old)
    new = await elsewhere.open(FAST)
    first = await take(new, data)

    second, home = await take(new, data), await take(old, data)

    assert (second.added, second.skipped, second.conflicts) == (0, first.added, 0)
    assert (home.added, home.skipped, home.conflicts) == (0, first.added, 0)
    assert await export(new) == data


async def test_what_came_in_works_as_before(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """Transcripts, what the model sees, cuts, lists and search are the same in the new store."""
    main = await live(old, clock)
    new = await elsewhere.open(FAST)
    await take(new, await export(old))

    for session in [row.session for row in (await old.sessions()).rows]:
        there = await new.sessions.get(session.id)
        assert (there.title, there.base_id, there.base_seq, there.parent_id) == (
            session.title,
            session.base_id,
            session.base_seq,
            session.parent_id,
        )
        if not await old.transcripts.waiting(session.id) and session.last_seq == there.last_seq:
            for hidden in (False, True):
                assert words(await new.transcripts.read(session.id, hidden=hidden)) == words(
                    await old.transcripts.read(session.id, hidden=hidden)
                )
            assert words(await new.transcripts.history(session.id)) == words(
                await old.database.read(history, session.id)
            )
    assert [cut.summary for cut in await new.transcripts.hidden_ranges(main)] == [
        cut.summary for cut in await old.transcripts.hidden_ranges(main)
    ]


def words(messages: list[Message]) -> list[object]:
    """Leave of messages what a person would notice."""
    return [(m.seq, m.role, m.parts, m.at, m.sender_name, m.deleted_at) for m in messages]


async def test_nothing_that_came_in_runs_or_is_bound(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """An unfinished turn comes in as stopped, with its words in sight, and no route leads to it."""
    await live(old, clock)
    new = await elsewhere.open(FAST)
    await take(new, await export(old))

    assert await new.turns.claim() is None
    for row in (await new.sessions()).rows:
        assert await new.sessions.routes(row.session.id) == []
    bobs = [row.session for row in (await new.sessions()).rows if row.session.title == "is running"]
    texts = [line.text for line in await new.transcripts.read(bobs[0].id)]
    assert texts[0] == "is running"
    assert "waits, corrected" in texts


async def test_a_session_that_differs_is_left_alone(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """What the store has stays; a copy is made only when it is wished, and only once needed."""
    main = await tell(old, "one")
    await transfer_setup.answer(old)
    data = await export(old)
    new = await elsewhere.open(FAST)
    await take(new, data)
    await new.sessions.update(main, SessionPatch(title="Mine"))

    report = await take(new, data)
    copies = await take(new, data, as_copies=True)

    assert (report.added, report.conflicts) == (0, 1)
    assert report.problems is not None
    assert report.problems[0].session_id == main
    assert (copies.added, copies.copied, copies.conflicts) == (1, 1, 0)
    sessions = [row.session for row in (await new.sessions()).rows]
    assert sorted(session.title or "" for session in sessions) == ["Mine", "one"]
    assert len({session.id for session in sessions}) == 2


async def test_copies_keep_what_they_share(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """A branch whose base comes in as a copy stands on the copy, and shows the same lines."""
    main = await tell(old, "one")
    await transfer_setup.answer(old)
    branch = await old.transcripts.branch(main)
    data = await export(old)
    new = await elsewhere.open(FAST)
    await take(new, data)
    await new.sessions.update(main, SessionPatch(title="Mine"))

    refused = await take(new, data)
    await new.sessions.update(branch.id, SessionPatch(title="Mine too"))
    report = await take(new, data, as_copies=True)

    assert (refused.conflicts, refused.skipped) == (1, 1)
    assert report.copied == 2
    copies = [
        row.session
        for row in (await new.sessions()).rows
        if row.session.base_id not in (None, main)
    ]
    assert len(copies) == 1
    assert [line.text for line in await new.transcripts.read(copies[0].id)][-2:] == ["one", "ok"]


async def test_one_session_stands_on_its_own(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """A branch brings the beginning it shares, as it was, and nothing of what came later."""
    main = await tell(old, "shared", message_id="1")
    await transfer_setup.answer(old)
    branch = await old.transcripts.branch(main)
    await tell(old, "a secret of later")
    await transfer_setup.answer(old)
    await tell(old, "changed later", message_id="1", kind=InboundKind.EDIT, version=1)
    await old.sessions.update(main, SessionPatch(title="A later title"))
    only = Selection(extent=ExportScope.SESSION, session=branch.id)
    data = await export(old, only)
    new = await elsewhere.open(FAST)

    report = await take(new, data)

    assert (report.added, report.problems) == (2, None)
    assert b"later" not in data
    assert [line.text for line in await new.transcripts.read(branch.id)][-2:] == ["shared", "ok"]
    assert await export(new, only) == data
    assert (await take(old, data)).skipped == 2


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(extent=ExportScope.PROFILE, profile="other"), {"elsewhere"}),
        (
            Selection(extent=ExportScope.PROJECT, profile="main", project="Garden"),
            {"Ünïcode 🌱 title", "corrected again"},
        ),
        (
            Selection(extent=ExportScope.PERSON, person=Identity(platform="telegram", id="alice")),
            {"Ünïcode 🌱 title", "corrected again", "from my phone", "Another way"},
        ),
    ],
    ids=["profile", "project", "person"],
)
async def test_a_selection_holds_what_it_names(
    old: Store,
    clock: FakeClock,
    elsewhere: Elsewhere,
    selection: Selection,
    expected: set[str],
) -> None:
    """A profile, a project, a person: theirs and nothing else; and the same bytes again."""
    await live(old, clock)

    data = await export(old, selection)
    new = await elsewhere.open(FAST)
    await take(new, data)

    assert titles(data) == expected
    assert b"waits" not in data
    assert await export(new, selection) == data


def titles(data: bytes) -> set[str]:
    """Read the titles of the sessions in a file."""
    records = [json.loads(line) for line in data.splitlines()]
    return {record["title"] for record in records if record.get("title")}


async def test_an_asker_gets_only_what_they_may_see(old: Store, clock: FakeClock) -> None:
    """Bob exports everything and gets his own; Alice's session is not found for him."""
    main = await live(old, clock)
    bob = Viewer(address=transfer_setup.BOBS, sender=transfer_setup.BOB)

    data = b"".join(
        [block async for block in old.transfer.export_history(transfer_setup.ALL, asker=bob)]
    )

    assert titles(data) == {"is running", "old"}
    assert b"first words" not in data
    with pytest.raises(NotFound):
        _ = [block async for block in old.transfer.export_session(main, asker=bob)]
    with pytest.raises(NotFound):
        _ = [piece async for piece in old.transfer.export_page(main, asker=bob)]


async def test_an_asker_is_looked_up_once_for_many_sessions(
    database_factory: DatabaseFactory, clock: FakeClock
) -> None:
    """Who asks is found out once for a page of sessions, and not again for each of them."""
    database = await database_factory(clock=clock)
    store = Store(database, new_id=transfer_setup.one_after_another())
    await live(store, clock)
    bob = Viewer(address=transfer_setup.BOBS, sender=transfer_setup.BOB)

    def watch(tx: Transaction) -> Counter[str]:
        witness = QueryWitness(tx)
        plan_page(witness, transfer_setup.ALL, 0, bob)
        return Counter(query for query, _ in witness.asked)

    asked = await database.read(watch)

    assert asked["read_owner"] > 2
    assert asked["find_sender"] == 1


async def test_a_file_joins_nobody_who_is_known(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """A file that says Mallory is also Alice does not let Mallory see what is Alice's."""
    await live(old, clock)
    data = await export(old)
    new = await elsewhere.open(FAST)
    await tell(new, "private", address=transfer_setup.PHONE, sender=transfer_setup.ALICE_AGAIN)

    await take(new, data)

    mallory = Identity(platform="telegram", id="alice")
    assert await new.people.find(mallory) is None
    assert await new.people.find(Identity(platform="whatsapp", id="4917012345")) is None


async def test_what_was_forgotten_stays_so(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """A forgotten session does not come back with a file, nor what a person said or attached."""
    await live(old, clock)
    photo = await old.attachments.put(b"a face", "image/png", MediaKind.IMAGE)
    await tell(old, "", address=transfer_setup.BOBS, sender=transfer_setup.BOB, parts=(photo,))
    data = await export(old)
    bob = Identity(platform="telegram", id="bob")
    await old.people.delete(bob)

    report = await take(old, data, skip_bad=True)

    assert report.forgotten >= 2
    assert b"is running" not in await export(old)
    with pytest.raises(NotFound):
        _ = [piece async for piece in old.attachments.read(photo.blob)]


async def test_the_feed_tells_of_what_came_in(
    old: Store, clock: FakeClock, elsewhere: Elsewhere
) -> None:
    """Whoever follows learns of each session, its last line and its end, with its own revisions."""
    main = await live(old, clock)
    data = await export(old)
    new = await elsewhere.open(FAST)
    start = await new.feed.end()

    await take(new, data)

    events = (await new.feed.read(start, 500)).events
    told = [event for event in events if event.session_id == main]
    session = await new.sessions.get(main)
    assert [event.kind for event in told] == [EventKind.SESSION_OPENED, EventKind.MESSAGE_ADDED]
    assert [event.revision for event in told] == [session.revision - 1, session.revision]
    assert told[-1].subject == session.last_seq
    assert {event.session_id for event in events} == {
        json.loads(line)["id"] for line in data.splitlines() if b'{"type":"session"' in line
    }


async def test_an_export_goes_on_when_a_session_is_deleted_meanwhile(
    old: Store, clock: FakeClock
) -> None:
    """What was forgotten after the export had begun is not in it, and the file is whole."""
    first = await tell(old, "first")
    await transfer_setup.answer(old)
    gone = await tell(old, "gone", address=transfer_setup.BOBS, sender=transfer_setup.BOB)
    blocks = old.transfer.export_history(transfer_setup.ALL)
    data = await anext(blocks)

    await forget_sessions(old.database, [gone])
    data += b"".join([block async for block in blocks])

    assert (await validate_file(chunks(data))).counts["sessions"] == 1
    assert first.encode() in data
    assert b"gone" not in data


async def test_lines_that_come_while_a_session_is_written_wait_for_the_next_export(
    old: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session is as it was when its first line was written, and the file can be imported."""
    monkeypatch.setattr("threadline.store.transfer.session_reader.EXPORT_PAGE", 2)
    main = await tell(old, "one")
    for _ in range(5):
        await transfer_setup.answer(old)
        await tell(old, "more")
    blocks = old.transfer.export_history(transfer_setup.ALL)
    data = await anext(blocks) + await anext(blocks)

    await transfer_setup.answer(old, say(Role.ASSISTANT, "too late"))
    await old.transcripts.undo(main, 2)
    data += b"".join([block async for block in blocks])

    assert b"too late" not in data
    await validate_file(chunks(data))
