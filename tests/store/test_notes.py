"""Notes that quote people are found by what they quote, however their sentences read."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.scenarios.people import ONE
from tests.store.people_setup import ALICE, BOB, GROUP, SHARED, answers, dm, lines, says, talk
from tests.store.transfer_setup import chunks, export
from threadline.core.address import Address, Kind, Sender
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.inbound import InboundKind
from threadline.core.message import Note, NoteKind, Role, say
from threadline.core.person import Identity
from threadline.core.reset_policy import Carry, Policies, ResetMode, ResetPolicy
from threadline.core.session import SessionId
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.core.system_notes import NOTES
from threadline.store import Store
from threadline.store.sessions.session_settings import set_summary
from threadline.store.transcripts.segments import DEEPEST_BASE
from threadline.store.transfer.importer import ImportOptions
from threadline.testing.clock import FakeClock

pytestmark = on(FAST, POSTGRES)

SECRET = "quetzal"
LAST, SUMMARY = Carry.last(8), Carry.summary()
A_DAY = timedelta(days=1)
WHO = Identity(platform="telegram", id="alice")


@pytest.fixture(autouse=True, params=["as they are", "reworded"])
def wording(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every note read as it does today, or entirely differently."""
    if request.param == "reworded":
        for n, kind in enumerate(NoteKind):
            monkeypatch.setitem(NOTES, kind, f"{n} Otherwise. ")


def carrying(carry: Carry, rules: Settings = SHARED) -> Settings:
    """Make rules by which a session ends after a silence, and something is carried over."""
    policy = ResetPolicy(mode=ResetMode.IDLE, idle=timedelta(hours=1), carry=carry)
    return replace(rules, policies=Policies(default=policy))


def tables_with(factory: DatabaseFactory, word: str = SECRET) -> set[str]:
    """Return the tables in which any row has a word, in whatever column."""
    if factory.kind == POSTGRES:
        named = factory.tamper("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        wish = "SELECT 1 FROM {table} AS t WHERE t::TEXT LIKE '%{word}%' LIMIT 1"
        found = {str(name): wish.format(table=name, word=word) for (name,) in named}
    else:
        is_in = "'typeof(' || c.name || ') = ''text'' AND instr(' || c.name || ', ''@'') > 0'"
        named = factory.tamper(
            f"SELECT t.name, group_concat({is_in}, ' OR ')"
            " FROM sqlite_schema t, pragma_table_info(t.name) c"
            " WHERE t.type = 'table' AND t.sql NOT LIKE '%VIRTUAL%' GROUP BY t.name"
        )
        found = {
            str(name): f"SELECT 1 FROM {name} WHERE {str(wish).replace('@', word)} LIMIT 1"
            for name, wish in named
        }
    return {name for name, query in found.items() if factory.tamper(query)}


async def edits(store: Store, who: Sender, text: str, *, at: Address | None = None) -> SessionId:
    """Let a sender edit their message 1."""
    edit = InboundKind.EDIT
    return await says(store, who, text, at=at, message_id="1", kind=edit, version=1)


async def notes_in(store: Store, id: SessionId) -> list[Note]:
    """Return the notes that the agent of a session is shown."""
    said = await store.transcripts.history(id)
    return [part for line in said for part in line.parts if isinstance(part, Note)]


async def test_a_note_says_what_it_quotes(open_store: OpenStore) -> None:
    """It refers to the messages that it quotes by their session and their places."""
    clock = FakeClock()
    store = await open_store(rules=carrying(LAST), clock=clock)
    await says(store, ALICE, "first", message_id="1")
    await answers(store, "re: first")
    old = await edits(store, ALICE, "corrected")
    await talk(store, ALICE, "second")
    (edited,) = await notes_in(store, old)
    clock.advance(A_DAY)
    new = await talk(store, ALICE, "third")
    (carried,) = await notes_in(store, new)

    assert (edited.kind, carried.kind) == (NoteKind.EDITED, NoteKind.CARRIED_OVER)
    quoted = await store.transcripts.read(old)
    first = next(line.seq for line in quoted if line.text == "corrected")
    spoken = [line.seq for line in quoted if line.role in {Role.USER, Role.ASSISTANT}]
    assert [(quote.session_id, quote.seq) for quote in edited.quotes] == [(old, first)]
    assert [(quote.session_id, quote.seq) for quote in carried.quotes] == [
        (old, seq) for seq in spoken
    ]


@pytest.mark.parametrize("carry", [LAST, SUMMARY], ids=["last", "summary"])
async def test_nothing_of_a_forgotten_session_is_quoted(
    open_store: OpenStore, database_factory: DatabaseFactory, carry: Carry
) -> None:
    """Neither the next session nor one that carries on from its summary has a word of it."""
    clock = FakeClock()
    store = await open_store(rules=carrying(carry), clock=clock)
    old = await talk(store, ALICE, f"one {SECRET}", "two")
    await store.database.write(set_summary, old, f"about {SECRET}")
    clock.advance(A_DAY)
    next_one = await talk(store, ALICE, "good morning", "three", "four", "five")
    assert any(SECRET in line for line in await lines(store, next_one))
    await store.transcripts.compact(next_one, f"they said {SECRET}", keep=1)
    await store.database.write(set_summary, next_one, f"again about {SECRET}")
    clock.advance(A_DAY)
    last = await talk(store, ALICE, "good evening")

    await store.sessions.delete(old)

    assert tables_with(database_factory) == set()
    assert "good morning" in await lines(store, next_one)
    assert "good evening" in await lines(store, last)
    assert await store.check(deep=True) == []


async def test_nothing_of_a_forgotten_person_is_quoted(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """What was carried over or edited of theirs in a group goes, and notes on others stay."""
    clock = FakeClock()
    store = await open_store(rules=carrying(LAST), clock=clock)
    await talk(store, BOB, *(f"bob {n}" for n in range(12)), at=GROUP)
    await says(store, ALICE, f"alice {SECRET}", at=GROUP, message_id="1")
    await answers(store, f"re: {SECRET}")
    old = await edits(store, ALICE, f"alice new {SECRET}", at=GROUP)
    await says(store, BOB, "bob old", at=GROUP, message_id="2")
    await answers(store, "re: bob")
    await says(store, BOB, "bob new", at=GROUP, message_id="2", kind=InboundKind.EDIT, version=1)
    await talk(store, BOB, "bob again", at=GROUP)
    clock.advance(A_DAY)
    new = await talk(store, BOB, "bob later", at=GROUP)
    assert "messages" in tables_with(database_factory)

    await store.people.delete(WHO)

    assert tables_with(database_factory) == set()
    (kept,) = await notes_in(store, old)
    assert kept.text.endswith("bob new")
    assert await notes_in(store, new) == []
    assert await store.check(deep=True) == []


async def test_nothing_of_a_forgotten_person_is_quoted_in_copied_lines(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """A branch so deep that it has lines of its own refers to these."""
    store = await open_store(rules=SHARED)
    await says(store, ALICE, f"alice {SECRET}", at=GROUP, message_id="1")
    await answers(store, "yes")
    branch = await edits(store, ALICE, f"alice new {SECRET}", at=GROUP)
    await talk(store, BOB, "bob one", at=GROUP)
    for n in range(DEEPEST_BASE + 1):
        branch = (await store.transcripts.branch(branch)).id
        await store.transcripts.record(branch, [say(Role.ASSISTANT, f"line {n}")])
    assert (await store.sessions.get(branch)).base_id is None
    (note,) = await notes_in(store, branch)
    assert [quote.session_id for quote in note.quotes] == [branch]

    await store.people.delete(WHO)

    assert tables_with(database_factory) == set()
    assert any(line.text == "bob one" for line in await store.transcripts.history(branch))


async def test_nothing_of_a_deleted_message_is_quoted(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """Only earlier versions have its words, of notes too, and these go with its sender."""
    clock = FakeClock()
    store = await open_store(rules=carrying(LAST), clock=clock)
    await talk(store, BOB, "hello", at=GROUP)
    await says(store, ALICE, SECRET, at=GROUP, message_id="1")
    await answers(store, "yes")
    old = await edits(store, ALICE, f"new {SECRET}", at=GROUP)
    await talk(store, BOB, "two", at=GROUP)
    clock.advance(A_DAY)
    new = await talk(store, BOB, "three", at=GROUP)
    assert any(SECRET in line for line in await lines(store, new))

    deletion = InboundKind.DELETION
    await says(store, ALICE, "", at=GROUP, message_id="1", kind=deletion, version=2)

    assert tables_with(database_factory) == {"revisions"}
    for id in (old, new):
        assert not any(SECRET in line.text for line in await store.transcripts.history(id))
    await store.people.delete(WHO)
    assert tables_with(database_factory) == set()
    assert await store.check(deep=True) == []


async def test_nothing_is_quoted_to_another_person(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """After `/unlink` the sessions of one quote no session of the other."""
    clock = FakeClock()
    store = await open_store(rules=carrying(LAST, ONE), clock=clock)
    phone, bob = Address(platform="signal", kind=Kind.DM, chat="bob"), Sender(id="bob")
    await talk(store, bob, f"bob {SECRET}", at=phone)
    code = (await store.people.make_link_code(dm(ALICE), ALICE)).code
    await store.people.link(phone, bob, code)
    await talk(store, ALICE, "hello")
    clock.advance(A_DAY)
    later = await talk(store, ALICE, "one", "two", "three")
    assert any(SECRET in line for line in await lines(store, later))
    await store.transcripts.compact(later, f"they said {SECRET}", keep=1)
    await store.database.write(set_summary, later, f"about {SECRET}")

    await store.people.unlink(dm(ALICE), ALICE)

    assert not any(SECRET in line for line in await lines(store, later))
    assert not any(SECRET in line.text for line in await store.transcripts.history(later))
    assert database_factory.tamper(f"SELECT summary FROM sessions WHERE id = '{later}'") == [
        (None,)
    ]
    assert await store.check(deep=True) == []


async def test_an_undone_edit_is_not_told(open_store: OpenStore) -> None:
    """The agent is not told of edits to hidden messages, and is told of those to others."""
    store = await open_store(rules=SHARED)
    await says(store, ALICE, "one", message_id="2")
    await answers(store, "yes")
    await says(store, ALICE, "two", message_id="1")
    await answers(store, "yes")
    await says(store, ALICE, "first", message_id="2", kind=InboundKind.EDIT, version=1)
    id = await edits(store, ALICE, SECRET)

    await store.transcripts.undo(id)
    await talk(store, ALICE, "three")

    assert not any(SECRET in line.text for line in await store.transcripts.history(id))
    (told,) = await notes_in(store, id)
    assert told.text.endswith("first")


async def test_references_survive_an_import(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """A copy of a session with another id is quoted by the copies of others, and goes with them."""
    clock = FakeClock()
    store = await open_store(rules=carrying(LAST), clock=clock)
    await says(store, ALICE, SECRET, message_id="1")
    await answers(store, "yes")
    old = await edits(store, ALICE, f"new {SECRET}")
    await talk(store, ALICE, "two")
    clock.advance(A_DAY)
    new = await talk(store, ALICE, "three")
    history = await export(store)
    await talk(store, ALICE, "more")
    await store.sessions.update(old, SessionPatch(title="another one"))
    await store.transfer.import_history(chunks(history), ImportOptions(as_copies=True))
    copies = {row.session.id for row in (await store.sessions.list()).rows} - {old, new}
    found = {id: await notes_in(store, id) for id in copies}
    copied_old = next(id for id in copies if [n.kind for n in found[id]] == [NoteKind.EDITED])
    assert {q.session_id for notes in found.values() for n in notes for q in n.quotes} == {
        copied_old
    }

    await store.sessions.delete(old)
    await store.sessions.delete(copied_old)

    assert tables_with(database_factory) == set()
    assert await store.check(deep=True) == []


async def test_an_import_quotes_nothing_forgotten(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """A note that quotes a session which was forgotten here comes in empty."""
    clock = FakeClock()
    store = await open_store(rules=carrying(LAST), clock=clock)
    old = await talk(store, ALICE, SECRET)
    clock.advance(A_DAY)
    new = await talk(store, ALICE, "good morning")
    later = await export(store, Selection(extent=ExportScope.SESSION, session=new))
    assert SECRET.encode() in later
    await store.sessions.delete(old)

    await store.transfer.import_history(chunks(later), ImportOptions(as_copies=True))

    assert tables_with(database_factory) == set()
    assert len((await store.sessions.list()).rows) == 2
