"""Forgetting is proven by looking for the bytes in every file that belongs to a store."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import apsw
import pytest

from tests.databases import DURABLE, FAST, POSTGRES, DatabaseFactory, on
from threadline.core.address import Address, Kind, Sender
from threadline.core.deletion import DeletionState
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MediaKind, Role, Text, say
from threadline.core.person import Identity
from threadline.core.route import Scopes, Sharing
from threadline.core.session import SessionId
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.core.usage import Usage
from threadline.store import Store
from threadline.store.deletion.forget import finish_deletions
from threadline.store.search.search import index_all
from threadline.store.search.terms import words_entry
from threadline.store.sessions.session_settings import set_summary

ALICE = Sender(id="alice-zebranumber-4711", name="Alicia Quaggafield")
HERE = Address(platform="telegram", kind=Kind.DM, chat="chat-okapinumber-815")
BOB = Sender(id="bob", name="Bob")
THERE = Address(platform="telegram", kind=Kind.DM, chat="bob")

WORDS = (
    "xylocarp",
    "quixotrope",
    "märchenwürfel",
    "秘密の花園",
    "zyzzogeton",
)


def traces(folder: Path, words: Iterable[str]) -> set[str]:
    """Look for words, as bytes, in every file of a folder and in its name.

    An index leaves out what a word has in common with the one before it, so that the rest of each
    token is looked for as well.
    """
    found = set()
    for file in folder.rglob("*"):
        content = file.name.encode() + (file.read_bytes() if file.is_file() else b"")
        for word in words:
            if any(form.encode() in content for form in forms(word)):
                found.add(word)
    return found


def forms(word: str) -> set[str]:
    """Answer how a word may be written down: as it is, folded, and as the end of a token."""
    entry = words_entry(1, word, "@s1")
    tokens = [token for token in str(entry["words"]).split() if not token.startswith("@")]
    ends = {token[-6:] for token in tokens if len(token) > 6} if len(tokens) == 1 else set()
    return {word, *ends}


async def answer(store: Store, *texts: str) -> None:
    """Answer the next turn."""
    claim = await store.turns.claim()
    assert claim is not None
    spent = Usage(provider="p", model="m", input_tokens=7)
    messages = [say(Role.ASSISTANT, text) for text in texts]
    await store.turns.finish(claim.lease, messages, usage=[spent])


async def tell(store: Store, text: str, n: int, **fields: object) -> SessionId:
    """Say something as Alice, with an id of its own."""
    given = {
        "address": HERE,
        "sender": ALICE,
        "at": store.now(),
        "parts": (Text(text=text),),
        "message_id": f"platform-gnunumber-{n}",
    }
    arrival = await store.receive(Inbound(**{**given, **fields}))  # type: ignore[arg-type]
    assert arrival.session_id is not None
    return arrival.session_id


async def talk(store: Store, rounds: int = 60) -> SessionId:
    """Let Alice have a conversation in which her words are everywhere."""
    data = b"".join(f"photo of the xylocarp {n} ".encode() for n in range(40_000))
    photo = await store.attachments.put(data, "image/png", MediaKind.IMAGE, "gnatcatcher.png")
    id = await tell(store, "first words: xylocarp", 0, parts=(Text(text="xylocarp"), photo))
    await answer(store, "You said quixotrope.")
    for n in range(1, rounds):
        words = WORDS[n % len(WORDS)]
        await tell(store, f"{words} {n} " * (1 + n % 50), n)
        await answer(store, f"About {words}: " + f"{words} " * (n % 300))
    await tell(store, "edited zyzzogeton", 3, kind=InboundKind.EDIT, version=1)
    early = Inbound(
        address=HERE,
        sender=ALICE,
        at=store.now(),
        parts=(Text(text="an early piepmatz"),),
        kind=InboundKind.EDIT,
        message_id="not-yet-here",
        version=1,
    )
    await store.receive(early)
    await store.sessions.update(id, SessionPatch(title="All about xylocarp"))
    await store.database.write(set_summary, id, "They spoke of märchenwürfel.")
    while await index_all(store.database):
        pass
    return id


@contextlib.asynccontextmanager
async def others_go_on(store: Store) -> AsyncIterator[None]:
    """Let Bob speak and read all the time."""
    over = asyncio.Event()

    async def speak() -> None:
        n = 0
        while not over.is_set():
            n += 1
            text = Inbound.text(f"bob {n}", address=THERE, sender=BOB, at=store.now())
            await store.receive(text)
            claim = await store.turns.claim()
            if claim is not None:
                await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])

    async def read() -> None:
        while not over.is_set():
            await store.sessions.list()
            await asyncio.sleep(0)

    tasks = [asyncio.create_task(work()) for work in (speak, read, read)]
    try:
        yield
    finally:
        over.set()
        await asyncio.gather(*tasks)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


SAID = (*WORDS, "gnatcatcher.png", "piepmatz")


@on(FAST, DURABLE)
async def test_no_byte_of_a_forgotten_session_is_left(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """A session's words are in no file of the store any more, while others speak and read."""
    store = Store(await database_factory())
    id = await talk(store)
    assert traces(tmp_path, SAID) == set(SAID)

    async with others_go_on(store):
        certificate = await store.sessions.delete(id)
        left = traces(tmp_path, SAID)

    assert certificate.state is DeletionState.DONE
    assert left == set()
    assert certificate.counts["messages"] > 100
    assert certificate.counts["attachments"] == 1
    assert await store.check(deep=True) == []


PERSON = ("alice-zebranumber-4711", "Alicia Quaggafield", "chat-okapinumber-815")


@on(FAST, DURABLE)
async def test_no_byte_of_a_forgotten_person_is_left(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """Neither what she said, in private and among others, nor her names and ids can be found."""
    store = Store(await database_factory(), Settings(scopes=Scopes(groups=Sharing.SHARED)))
    group = Address(platform="telegram", kind=Kind.GROUP, chat="friends")
    await talk(store)
    shared = None
    for n in range(40):
        await tell(store, f"in the group: snollygoster {n}", 1_000 + n, address=group)
        await answer(store, f"dear Alicia Quaggafield, hornswoggle {n}")
        bob = Inbound.text(f"bob {n}", address=group, sender=BOB, at=store.now())
        shared = (await store.receive(bob)).session_id
        await answer(store, f"dear bob {n}")
    assert shared is not None
    await store.transcripts.compact(shared, "Alicia said snollygoster.")
    await tell(store, "edited blatherskite", 1_007, address=group, kind=InboundKind.EDIT, version=1)
    await index_all(store.database)
    said = (*SAID, *PERSON, "snollygoster", "hornswoggle", "blatherskite")
    assert traces(tmp_path, said) == set(said)

    async with others_go_on(store):
        who = Identity(platform="telegram", id=str(ALICE.id))
        certificate = await store.people.delete(who)
        left = traces(tmp_path, said)

    assert certificate.state is DeletionState.DONE
    assert left == set()
    kept = [line.text for line in await store.transcripts.read(shared, most=1000)]
    assert [text for text in kept if text == "dear bob 39"]
    assert await store.check(deep=True) == []


@on(FAST)
async def test_who_reads_an_older_state_delays_the_end(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """While somebody looks at an older state it is not yet forgotten, and says so; later it is."""
    store = Store(await database_factory())
    id = await talk(store, rounds=9)
    reader = apsw.Connection(database_factory.where)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM messages").fetchall()

    early = await store.sessions.delete(id)
    assert early.state is DeletionState.WIPING
    assert early.done_at is None
    assert traces(tmp_path, SAID)
    reader.execute("ROLLBACK")
    reader.close()
    (late,) = await finish_deletions(store.database)

    assert late.state is DeletionState.DONE
    assert traces(tmp_path, SAID) == set()


@on(FAST)
async def test_a_killed_forgetting_is_finished_by_the_next(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """Kill -9 in the middle leaves a store that knows what it still has to forget."""
    store = Store(await database_factory())
    id = await talk(store, rounds=200)
    program = (
        "import asyncio, os, sys, threadline\n"
        "async def main():\n"
        "    async with threadline.open(sys.argv[1]) as store:\n"
        "        def die(slices):\n"
        "            if slices == int(sys.argv[3]): os.kill(os.getpid(), 9)\n"
        "        await store.forget_session(sys.argv[2], progress=die)\n"
        "asyncio.run(main())\n"
    )
    for slices in ("2", "9"):
        died = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, database_factory.where, id, slices
        )
        assert await died.wait() == -9

    certificates = await finish_deletions(store.database)

    assert [one.state for one in certificates] == [DeletionState.DONE] * 2
    assert traces(tmp_path, SAID) == set()
    assert await store.check(deep=True) == []


def rows_with(factory: DatabaseFactory, words: Iterable[str]) -> set[str]:
    """Look for words in every row of every table, the search index included."""
    tables = factory.tamper("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    found = set()
    for (table,) in tables:
        for word in words:
            hexed = word.encode().hex()
            wish = f"t::TEXT LIKE '%{word}%' OR t::TEXT LIKE '%{hexed}%'"
            if factory.tamper(f"SELECT 1 FROM {table} AS t WHERE {wish} LIMIT 1"):
                found.add(word)
    return found


@on(POSTGRES)
async def test_no_row_holds_a_forgotten_person(database_factory: DatabaseFactory) -> None:
    """On a server no row of any table, and no dead one that an index could lead to, is left."""
    store = Store(await database_factory())
    await talk(store)
    said = (*SAID, *PERSON)
    assert rows_with(database_factory, said) == set(said)

    async with others_go_on(store):
        who = Identity(platform="telegram", id=str(ALICE.id))
        certificate = await store.people.delete(who)
        left = rows_with(database_factory, said)

    assert certificate.state is DeletionState.DONE
    assert left == set()
    await store.database.wipe()
    dead = database_factory.tamper("SELECT pg_stat_force_next_flush()") and database_factory.tamper(
        "SELECT sum(n_dead_tup)::BIGINT FROM pg_stat_user_tables WHERE relname = 'messages'"
    )
    assert dead == [(0,)]
    assert await store.check(deep=True) == []
