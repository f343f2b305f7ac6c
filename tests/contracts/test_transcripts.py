"""Any mix of undo, redo, retry, branch, edit and compaction, against a model that copies all."""

import asyncio
import itertools
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.contracts.transcript_model import NaiveTranscript, Spoken
from tests.databases import Server
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Conflict
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Message, Role, Text, say
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.database.port import Database
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.testing.feed_checker import FeedWitness

T = TypeVar("T")
OpenDatabase = Callable[[Callable[[], datetime]], Awaitable[Database]]

SETTINGS = hypothesis.settings(
    max_examples=45,
    stateful_step_count=20,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    report_multiple_bugs=False,
)
MOST_SESSIONS = 4
DEEDS = (
    *("undoes", "undoes_more", "redoes", "redoes", "compacts", "compacts", "lifts", "retries"),
    *("parts", "parts_in_the_middle", "changes_last"),
)
NOW = datetime(2026, 3, 1, tzinfo=UTC)

which = st.sampled_from([0, 0, 0, 1, 1, 2, 3])


class Transcripts(RuleBasedStateMachine):
    """One chat, branches of it, and what each of them should show."""

    def __init__(self, open_database: OpenDatabase) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.numbers = itertools.count(1)
        self.store = Store(self.run(open_database(lambda: NOW)))
        self.witness = FeedWitness(self.store)
        chat = uuid.uuid4().hex
        self.address = Address(platform="telegram", kind=Kind.DM, chat=chat)
        self.sender = Sender(id=chat)
        self.ids: list[SessionId] = []
        self.models: list[NaiveTranscript] = []
        self.written: list[tuple[str, Spoken]] = []
        self.speaks()

    def run(self, work: Awaitable[T]) -> T:
        """Wait for something on the machine's own loop."""

        async def waited() -> T:
            return await work

        return self.runner.run(waited())

    def teardown(self) -> None:
        """Let go of the store."""
        self.run(self.store.close())
        self.runner.close()

    def word(self) -> str:
        """Make up a word that nobody has said."""
        return f"w{next(self.numbers)}"

    def pick(self, n: int) -> tuple[SessionId, NaiveTranscript]:
        """Choose one of the sessions there are."""
        n %= len(self.ids)
        return self.ids[n], self.models[n]

    def inbound(self, message_id: str, kind: InboundKind, text: str) -> Inbound:
        """Make something that arrives."""
        return Inbound(
            address=self.address,
            sender=self.sender,
            parts=() if kind is InboundKind.DELETION else (Text(text=text),),
            at=NOW,
            message_id=message_id,
            kind=kind,
            version=0 if kind is InboundKind.MESSAGE else next(self.numbers),
        )

    def answers(self, id: SessionId, model: NaiveTranscript) -> None:
        """Let the agent answer what waits."""
        claim = self.run(self.store.turns.claim(id))
        assert claim is not None
        text = self.word()
        self.run(self.store.turns.finish(claim.lease, [say(Role.ASSISTANT, text)], deliver=False))
        model.add("assistant", text, claim.turn.id)

    @rule()
    def speaks(self) -> None:
        """Somebody writes in the chat, and is answered."""
        text = self.word()
        arrival = self.run(self.store.receive(self.inbound(text, InboundKind.MESSAGE, text)))
        assert arrival.session_id is not None
        if not self.ids:
            self.ids.append(arrival.session_id)
            self.models.append(NaiveTranscript(notes=[None]))  # The agent is told to greet.
        assert arrival.session_id == self.ids[0]
        model = self.models[0]
        model.place_notes()
        self.written.append((text, model.add("user", text, arrival.turn_id)))
        self.answers(self.ids[0], model)

    @rule(n=which, roles=st.lists(st.sampled_from(["user", "assistant", "system"]), min_size=1))
    def records(self, n: int, roles: list[str]) -> None:
        """Somebody brings lines in that belong to no turn."""
        id, model = self.pick(n)
        lines = [model.add(role, self.word()) for role in roles[:4]]
        self.run(
            self.store.transcripts.record(id, [say(Role(line.role), line.text) for line in lines])
        )

    @rule(n=which, deeds=st.lists(st.sampled_from(DEEDS), min_size=1, max_size=6))
    def shapes(self, n: int, deeds: list[str]) -> None:
        """Somebody does several things in a row to what was said."""
        for deed in deeds:
            getattr(self, deed)(n)
            self.views_agree()

    def undoes_more(self, n: int) -> None:
        """Somebody takes back several turns."""
        self.undoes(n, 3)

    def undoes(self, n: int, turns: int = 1) -> None:
        """Somebody takes back what was said."""
        id, model = self.pick(n)
        before = len(model.shown)
        texts = model.undo(turns)
        if texts is None:
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.undo(id, turns))
            return
        undone = self.run(self.store.transcripts.undo(id, turns))
        assert list(undone.texts) == texts
        assert undone.messages == before - len(model.shown)

    def redoes(self, n: int) -> None:
        """Somebody wants it back."""
        id, model = self.pick(n)
        before = len(model.shown)
        if not model.redo():
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.redo(id))
            return
        assert self.run(self.store.transcripts.redo(id)).messages == len(model.shown) - before

    @rule(n=which)
    def undoes_and_redoes(self, n: int) -> None:
        """Undo and then redo is as if nothing had happened."""
        id, model = self.pick(n)
        before = (
            self.run(self.store.transcripts.history(id)),
            self.run(self.store.transcripts.read(id)),
        )
        try:
            self.run(self.store.transcripts.undo(id, 2))
        except Conflict:
            return
        self.run(self.store.transcripts.redo(id))
        model.undo(2)
        model.redo()
        assert before == (
            self.run(self.store.transcripts.history(id)),
            self.run(self.store.transcripts.read(id)),
        )

    def retries(self, n: int) -> None:
        """Somebody wants another answer."""
        id, model = self.pick(n)
        if not model.can_retry():
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.retry(id))
            return
        retried = self.run(self.store.transcripts.retry(id))
        claim = self.run(self.store.turns.claim(id))
        assert claim is not None
        assert claim.turn.id == retried.turn_id
        text = self.word()
        self.run(self.store.turns.finish(claim.lease, [say(Role.ASSISTANT, text)], deliver=False))
        model.retry(retried.turn_id, text)

    def compacts(self, n: int, keep: int = 1) -> None:
        """Room is made."""
        id, model = self.pick(n)
        to_seq = model.boundary(keep)
        boundary = self.run(self.store.transcripts.boundary(id, keep=keep))
        if to_seq is None:
            assert boundary is None
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.compact(id, "?", keep=keep))
            return
        assert boundary is not None
        replaced = [_kept(line) for line in model.history_lines() if line.seq <= to_seq]
        assert [_seen(line) for line in boundary.messages][-len(replaced) :] == replaced
        summary = self.word()
        assert (
            self.run(self.store.transcripts.compact(id, summary, upto=boundary.to_seq)).to_seq
            == to_seq
        )
        model.compact(to_seq, next(self.numbers), summary)

    def lifts(self, n: int) -> None:
        """A compaction is taken back."""
        id, model = self.pick(n)
        cut = model.compaction()
        if cut is None:
            with pytest.raises(Conflict):
                self.run(self.store.transcripts.undo_compaction(id))
            return
        model.compactions.remove(cut)
        assert self.run(self.store.transcripts.undo_compaction(id)).summary == cut[2]

    @precondition(lambda self: len(self.ids) < MOST_SESSIONS)
    @rule(n=which, data=st.data())
    def branches(self, n: int, data: st.DataObject) -> None:
        """Somebody goes another way from any line."""
        _, model = self.pick(n)
        self.parts(n, data.draw(st.sampled_from([0, *(line.seq for line in model.shown)])))

    def parts_in_the_middle(self, n: int) -> None:
        """Somebody goes another way from a line near the end."""
        _, model = self.pick(n)
        if len(model.shown) > 1:
            self.parts(n, model.shown[-2].seq)

    def parts(self, n: int, at: int | None = None) -> None:
        """Somebody goes another way; where there are too many sessions, one is not looked at."""
        id, model = self.pick(n)
        child = self.run(self.store.transcripts.branch(id, at=at))
        if len(self.ids) == MOST_SESSIONS:
            del self.ids[1], self.models[1]
        self.ids.append(child.id)
        self.models.append(model.branch(at))

    @precondition(lambda self: len(self.ids) < MOST_SESSIONS)
    @rule(n=which, data=st.data())
    def edits(self, n: int, data: st.DataObject) -> None:
        """Somebody says an earlier line differently, in a branch."""
        id, model = self.pick(n)
        lines = [line for line in model.shown if line.role == "user" and not line.is_deleted]
        if not lines:
            return
        line = data.draw(st.sampled_from(lines))
        text = self.word()
        edited = self.run(self.store.transcripts.edit(id, line.seq, text, by=Viewer.owner()))
        child = model.branch(line.seq - 1)
        child.add("user", text, edited.turn_id)
        self.ids.append(edited.session.id)
        self.models.append(child)
        self.answers(edited.session.id, child)

    def changes_last(self, _: int) -> None:
        """Somebody edits what they wrote last."""
        self.change(self.written[-1], is_deletion=False)

    @rule(data=st.data(), is_deletion=st.booleans())
    def changes(self, data: st.DataObject, is_deletion: bool) -> None:
        """Somebody edits or deletes a message on the platform."""
        self.change(data.draw(st.sampled_from(self.written)), is_deletion=is_deletion)

    def change(self, written: tuple[str, Spoken], *, is_deletion: bool) -> None:
        """Let a message read differently, or be gone."""
        message_id, line = written
        kind = InboundKind.DELETION if is_deletion else InboundKind.EDIT
        text = self.word()
        self.run(self.store.receive(self.inbound(message_id, kind, text)))
        if line.is_deleted:
            return
        line.text, line.is_deleted = ("", True) if is_deletion else (text, False)
        if is_deletion:
            self.models[0].delete_notes(line)
        if line in self.models[0].shown:
            self.models[0].notes.append(line)

    @invariant()
    def views_agree(self) -> None:
        """People and the agent are shown what the model shows them, in pages of any size."""
        for id, model in zip(self.ids, self.models, strict=True):
            lines = self.run(self.store.transcripts.read(id, most=1000))
            assert [_seen(line) for line in lines] == [_kept(line) for line in model.shown]
            history = self.run(self.store.transcripts.history(id))
            cut = model.compaction()
            if cut is not None:
                summary = history.pop(0)
                assert (summary.seq, summary.role) == (cut[0], Role.SYSTEM)
                assert summary.text.endswith(cut[2])
            assert [_seen(line) for line in history] == [_kept(x) for x in model.history_lines()]
            session = self.run(self.store.sessions.get(id))
            assert session.user_messages == sum(line.role == "user" for line in model.shown)
            assert session.last_seq == model.last_seq
            self.pages_agree(id, lines)

    def pages_agree(self, id: SessionId, lines: list[Message]) -> None:
        """Small pages, from either end, make the whole."""
        forth: list[Message] = []
        while page := self.run(
            self.store.transcripts.read(id, after=(forth[-1].seq or 0) if forth else 0, most=7)
        ):
            forth += page
        back = self.run(self.store.transcripts.read(id, most=3))
        if lines:
            back = self.run(self.store.transcripts.read(id, before=back[0].seq, most=3)) + back
        assert forth == lines
        assert back == lines[-6:]

    @invariant()
    def feed_agrees(self) -> None:
        """The old snapshot and the events make the new snapshot."""
        self.run(self.witness.verify(self.ids))


def _seen(line: Message) -> tuple[int | None, str, str, bool]:
    text = "…" if line.role is Role.SYSTEM and not line.text.startswith("w") else line.text
    return line.seq, str(line.role), text, line.deleted_at is not None


def _kept(line: Spoken) -> tuple[int | None, str, str, bool]:
    return line.seq, line.role, line.text, line.is_deleted


def test_sqlite_shows_what_a_copy_would_show(tmp_path: Path) -> None:
    """Whatever is hidden, shown and shared on SQLite, each transcript is as if it were copied."""

    async def open_database(clock: Callable[[], datetime]) -> Database:
        database = SqliteDatabase(tmp_path / "machine.db", durable=False, clock=clock)
        await database.open()
        return database

    run(open_database, SETTINGS)


def test_postgres_shows_what_a_copy_would_show(postgres_server: Server) -> None:
    """Whatever is hidden, shown and shared on PostgreSQL, it is as if it were copied."""
    from threadline.database.postgres import PostgresDatabase

    where = postgres_server.url(postgres_server.create())

    async def open_database(clock: Callable[[], datetime]) -> Database:
        database = PostgresDatabase(where, clock=clock)
        await database.open()
        return database

    run(open_database, hypothesis.settings(SETTINGS, max_examples=8))


def run(open_database: OpenDatabase, settings: hypothesis.settings) -> None:
    """Let the machine run on a database."""

    class OnDatabase(Transcripts):
        def __init__(self) -> None:
            super().__init__(open_database)

    run_state_machine_as_test(OnDatabase, settings=settings)
