"""Random talk, edits, undoing and indexing: a search finds what reading everything would find."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import hypothesis
from hypothesis import strategies as st

from tests.databases import Server
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Conflict, Invalid
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Role, Text, say
from threadline.core.person import Viewer
from threadline.core.search import read_query
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.database.port import Database
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.store.search import index
from threadline.store.search.check import check_index
from threadline.store.search.matcher import says
from threadline.store.search.search import index_all

SETTINGS = hypothesis.settings(
    max_examples=60, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate]
)
PIECES = ("fox", "foxes", "Fuchs", "日本", "日本語", "本", "é", "🎉", "a-b", "abcabc", " ", "xx")

texts = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join) | st.lists(
    st.sampled_from(PIECES), max_size=4
).map("".join)
terms = st.builds(
    "{}{}".format,
    st.sampled_from(("", "", "", "-")),
    st.one_of(
        st.sampled_from(PIECES[:-2]),
        texts.map('"{}"'.format),
        st.sampled_from(("fo*", "日*", "*oxe*", "*本*", "*bca*", "*日本*", "a*")),
    ),
)
questions = st.lists(terms, min_size=1, max_size=3).map(" ".join)
steps = st.one_of(
    st.tuples(st.just("talk"), texts),
    st.tuples(st.just("record"), texts),
    st.tuples(st.just("edit"), texts),
    st.tuples(st.just("delete"), texts),
    st.tuples(st.just("undo"), texts),
    st.tuples(st.just("redo"), texts),
    st.tuples(st.just("retry"), texts),
    st.tuples(st.just("index"), texts),
    st.tuples(st.just("search"), questions),
)


@dataclass(slots=True)
class Talk:
    """One person's conversation in a store that others use too."""

    store: Store
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    sent: list[str] = field(default_factory=list)
    version: int = 0
    session: SessionId | None = None

    async def step(self, what: str, text: str) -> None:
        """Do one thing; what cannot be done just now is left out."""
        if what == "talk":
            self.sent.append(f"{self.name}-{len(self.sent)}")
            await self.arrive(text, self.sent[-1], InboundKind.MESSAGE)
            await self.answer(text)
        elif what == "index":
            await self.store.database.write(index.index_some, most=1 + len(text) % 5)
        elif what == "search":
            await self.compare(text)
        elif self.session is not None:
            try:
                await self.change(what, text, self.session)
            except Conflict:
                return

    async def change(self, what: str, text: str, id: SessionId) -> None:
        """Change what was said."""
        chosen = self.sent[len(text) % len(self.sent)]
        if what == "record":
            await self.store.transcripts.record(id, [say(Role.ASSISTANT, text)])
        elif what == "edit":
            await self.arrive(text, chosen, InboundKind.EDIT)
        elif what == "delete":
            await self.arrive("", chosen, InboundKind.DELETION)
        elif what == "undo":
            await self.store.transcripts.undo(id, 1 + len(text) % 2)
        elif what == "redo":
            await self.store.transcripts.redo(id)
        else:
            await self.store.transcripts.retry(id)
            await self.answer(text)

    async def arrive(self, text: str, number: str, kind: InboundKind) -> None:
        """Let something arrive of this person."""
        self.version += 1
        inbound = Inbound(
            address=self.asker.address or Address(platform="telegram", kind=Kind.DM),
            sender=self.asker.sender,
            kind=kind,
            parts=() if kind is InboundKind.DELETION else (Text(text=text),),
            message_id=number,
            version=0 if kind is InboundKind.MESSAGE else self.version,
            at=self.store.now(),
        )
        arrival = await self.store.receive(inbound)
        self.session = arrival.session_id or self.session

    async def answer(self, text: str) -> None:
        """Answer the turn that waits."""
        claim = await self.store.turns.claim(self.session)
        assert claim is not None
        await self.store.turns.finish(claim.lease, [say(Role.ASSISTANT, f"fox {text}")])

    @property
    def asker(self) -> Viewer:
        """This person, at home."""
        home = Address(platform="telegram", kind=Kind.DM, chat=self.name)
        return Viewer(address=home, sender=Sender(id=self.name))

    async def compare(self, question: str) -> None:
        """Search, and read everything."""
        try:
            wanted = read_query(question)
        except Invalid:
            return
        found = await self.store.search(question, asker=self.asker, most=1000)
        if self.session is None:
            assert not found.hits
            return
        lines = await self.store.transcripts.read(self.session, most=1000)
        naive = [
            line.seq
            for line in lines
            if line.role is not Role.SYSTEM and line.deleted_at is None and says(line.text, wanted)
        ]
        assert sorted(hit.seq for hit in found.hits) == naive, question


def run(open_database: Callable[[], Awaitable[Database]], settings: hypothesis.settings) -> None:
    """Let people talk and search at random on a database."""

    @settings
    @hypothesis.given(st.lists(steps, max_size=30), st.lists(questions, min_size=3, max_size=6))
    def talk_at_random(happenings: list[tuple[str, str]], asked: list[str]) -> None:
        runner.run(happen(happenings, asked))

    async def happen(happenings: list[tuple[str, str]], asked: list[str]) -> None:
        talk = Talk(store)
        for what, text in happenings:
            await talk.step(what, text)
        for question in asked:
            await talk.step("search", question)
        await index_all(talk.store.database)
        for question in asked:
            await talk.step("search", question)

    with asyncio.Runner() as runner:
        store = Store(runner.run(_awaited(open_database())), Settings())
        try:
            talk_at_random()
            assert not runner.run(store.database.read(check_index))
        finally:
            runner.run(store.close())


async def _awaited(opening: Awaitable[Database]) -> Database:
    return await opening


def test_sqlite_finds_what_reading_everything_finds(tmp_path: Path) -> None:
    """Whatever was said, changed, hidden and indexed on SQLite, a search finds it."""

    async def open_database() -> Database:
        database = SqliteDatabase(tmp_path / "search.db", durable=False)
        await database.open()
        return database

    run(open_database, SETTINGS)


def test_postgres_finds_what_reading_everything_finds(postgres_server: Server) -> None:
    """Whatever was said, changed, hidden and indexed on PostgreSQL, a search finds it."""
    from threadline.database.postgres import PostgresDatabase

    where = postgres_server.url(postgres_server.create())

    async def open_database() -> Database:
        database = PostgresDatabase(where)
        await database.open()
        return database

    run(open_database, hypothesis.settings(SETTINGS, max_examples=20))
