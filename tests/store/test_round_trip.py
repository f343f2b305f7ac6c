"""Whatever happened in a store, it can be carried elsewhere: the same bytes, the same words."""

import contextlib
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.store import transfer_setup
from tests.store.transfer_setup import BOB, BOBS, THREAD, chunks, export, tell
from threadline.core.errors import ThreadlineError
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MediaKind, Message, Role, Text, say
from threadline.core.person import Identity, Viewer
from threadline.core.session import Session
from threadline.core.session_patch import SessionPatch
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.store.deletion.forget import forget_sessions
from threadline.store.transcripts.history import history
from threadline.store.transfer.importer import ImportOptions
from threadline.testing.clock import FakeClock

Step = tuple[str, int]

STEPS = (
    "say", "say", "answer", "answer", "attach", "edit", "delete", "branch", "branch", "undo",
    "redo", "retry", "compact", "uncompact", "revise", "reset", "title", "pin", "move", "mark",
    "group", "bob", "run", "link", "end", "forget",
)  # fmt: skip
steps = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 40)), min_size=3, max_size=30)


class Life:
    """Lets things happen in a store."""

    def __init__(self, store: Store, clock: FakeClock) -> None:
        self.store = store
        self.clock = clock
        self.said = 0

    async def live(self, wishes: Sequence[Step]) -> None:
        """Do one thing after another; what is not possible just now is left out."""
        for name, n in wishes:
            self.clock.advance(timedelta(seconds=7, microseconds=n))
            with contextlib.suppress(ThreadlineError):
                await self.do(name, n)

    async def do(self, name: str, n: int) -> None:
        """Do one thing."""
        found = (await self.store.sessions.list()).rows
        if found:
            await getattr(self, f"_{name}")(n, found[n % len(found)].session)
        else:
            await self._say(n, None)

    async def _say(self, n: int, _: Session | None) -> None:
        self.said += 1
        await tell(self.store, f"words {self.said}", message_id=str(self.said))

    async def _answer(self, n: int, _: Session | None) -> None:
        claim = await self.store.turns.claim()
        if claim is not None:
            await self.store.turns.finish(
                claim.lease, [say(Role.ASSISTANT, f"answer {n}")] * (n % 3)
            )

    async def _attach(self, n: int, _: Session | None) -> None:
        file = await self.store.attachments.put(b"x" * n, "text/plain", MediaKind.FILE, f"{n}.txt")
        self.said += 1
        await tell(self.store, "", message_id=str(self.said), parts=(Text(text="see"), file))

    async def _edit(self, n: int, _: Session | None) -> None:
        await self._change(n, (Text(text=f"edited {n}"),), InboundKind.EDIT)

    async def _delete(self, n: int, _: Session | None) -> None:
        await self._change(n, (), InboundKind.DELETION)

    async def _change(self, n: int, parts: tuple[Text, ...], kind: InboundKind) -> None:
        change = Inbound(
            address=transfer_setup.DM,
            sender=transfer_setup.ALICE,
            at=self.store.now(),
            message_id=str(n % self.said + 1),
            kind=kind,
            version=n,
            parts=parts,
        )
        await self.store.receive(change)

    async def _branch(self, n: int, session: Session) -> None:
        await self.store.transcripts.branch(session.id, at=n % (session.last_seq + 1))

    async def _undo(self, n: int, session: Session) -> None:
        await self.store.transcripts.undo(session.id, 1 + n % 2)

    async def _redo(self, n: int, session: Session) -> None:
        await self.store.transcripts.redo(session.id)

    async def _retry(self, n: int, session: Session) -> None:
        await self.store.transcripts.retry(session.id)

    async def _compact(self, n: int, session: Session) -> None:
        await self.store.transcripts.compact(session.id, f"summary {n}", keep=1)

    async def _uncompact(self, n: int, session: Session) -> None:
        await self.store.transcripts.undo_compaction(session.id)

    async def _revise(self, n: int, session: Session) -> None:
        by = Viewer(address=transfer_setup.DM, sender=transfer_setup.ALICE)
        await self.store.transcripts.edit(
            session.id, n % (session.last_seq + 1), f"revised {n}", by=by
        )

    async def _reset(self, n: int, _: Session | None) -> None:
        await self.store.sessions.reset(transfer_setup.DM, transfer_setup.ALICE)

    async def _title(self, n: int, session: Session) -> None:
        await self.store.sessions.update(session.id, SessionPatch(title=f"Title {n}"))

    async def _pin(self, n: int, session: Session) -> None:
        await self.store.pin([session.id])

    async def _move(self, n: int, session: Session) -> None:
        project = await self.store.make_project(f"Project {n}")
        await self.store.move([session.id], project.key)

    async def _mark(self, n: int, session: Session) -> None:
        await self.store.mark_read(session.id, seq=n)

    async def _group(self, n: int, _: Session | None) -> None:
        await tell(
            self.store,
            "in the group",
            address=THREAD,
            sender=BOB if n % 2 else transfer_setup.ALICE,
        )

    async def _bob(self, n: int, _: Session | None) -> None:
        await tell(self.store, "bob speaks", address=BOBS, sender=BOB)

    async def _run(self, n: int, _: Session | None) -> None:
        await self.store.turns.claim()

    async def _link(self, n: int, _: Session | None) -> None:
        one = Identity(platform="telegram", id="alice")
        await self.store.join(one, Identity(platform="telegram", id="bob"))

    async def _end(self, n: int, session: Session) -> None:
        await self.store.sessions.end(session.id)

    async def _forget(self, n: int, session: Session) -> None:
        if n % 4 == 0:
            await forget_sessions(self.store.database, [session.id])


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(steps)
async def test_any_history_is_the_same_file_after_it_went_elsewhere(wishes: list[Step]) -> None:
    """After any mix of happenings: export, import, export gives the same bytes and words."""
    with tempfile.TemporaryDirectory() as folder:
        clock = FakeClock()
        old, new = (
            await opened(Path(folder) / "old", clock),
            await opened(Path(folder) / "new", clock),
        )
        async with old, new:
            await Life(old, clock).live(wishes)
            data = await export(old)

            report = await new.transfer.import_history(
                chunks(data), ImportOptions(keep_settings=True)
            )

            assert await export(new) == data
            assert not report.problems
            assert (await old.transfer.import_history(chunks(data))).added == 0
            await compare(old, new)
            await carry_one(old, clock, Path(folder))


async def opened(folder: Path, clock: FakeClock) -> Store:
    """Open a fresh store."""
    folder.mkdir()
    database = SqliteDatabase(folder / "threadline.db", durable=False, clock=clock)
    await database.open()
    return Store(database, new_id=transfer_setup.one_after_another())


async def compare(old: Store, new: Store) -> None:
    """Assert that people and models read the same, apart from what was unfinished."""
    for row in (await old.sessions()).rows:
        id = row.session.id
        there = await new.sessions.get(id)
        upto = row.session.last_seq + 1
        for hidden in (False, True):
            before = await old.transcripts.read(id, most=1000, hidden=hidden)
            after = await new.transcripts.read(id, most=1000, hidden=hidden, before=upto)
            assert shown(after) == shown(before)
        if there.last_seq == row.session.last_seq:
            assert shown(await new.transcripts.history(id)) == shown(
                await old.database.read(history, id)
            )
            assert there.user_messages == row.session.user_messages


def shown(messages: list[Message]) -> list[object]:
    """Leave of messages what a person would notice."""
    return [(m.seq, m.role, m.parts, m.at, m.sender_name, m.deleted_at) for m in messages]


async def carry_one(old: Store, clock: FakeClock, folder: Path) -> None:
    """Assert that each session alone reads the same elsewhere."""
    for n, row in enumerate((await old.sessions()).rows[:3]):
        only = Selection(extent=ExportScope.SESSION, session=row.session.id)
        data = await export(old, only)
        new = await opened(folder / f"alone-{n}", clock)
        async with new:
            report = await new.transfer.import_history(
                chunks(data), ImportOptions(keep_settings=True)
            )
            assert not report.problems
            assert await export(new, only) == data
            before = await old.transcripts.read(row.session.id, most=1000)
            after = await new.transcripts.read(
                row.session.id, most=1000, before=row.session.last_seq + 1
            )
            assert shown(after) == shown(before)
