"""Importer: history that comes in as a file, session by session, each of them wholly or not."""

from collections.abc import AsyncIterable, Callable
from datetime import datetime
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.errors import Conflict, Invalid, ThreadlineError
from threadline.core.export_format.codec import Record
from threadline.core.export_format.file_records import (
    Footer,
    PortableProject,
    PortableSender,
    SenderReference,
)
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)
from threadline.core.message import BlobHash, Text, quotes_of
from threadline.core.session import SessionId, make_session_id
from threadline.database.port import Database, Transaction
from threadline.store import blobs
from threadline.store.transfer import references, staging_area
from threadline.store.transfer.diff import SessionDigest, essence_of, without_settings
from threadline.store.transfer.session_import import SessionImport, delete_staged, drop_abandoned
from threadline.store.transfer.validation import FileCheck, UnitCheck, split_lines

PROBLEMS_SHOWN = 100

WasForgotten: TypeAlias = Callable[
    [Transaction, PortableSession | PortableSender | SessionId], bool
]
"""Tells whether a session (or the one with an id) or a sender was forgotten here."""

_A_SESSION = b'{"type":"session"'
_BELONGING = (PortableSender, PortableTurn, PortableMessage, PortableUsage)


class BadFile(Invalid):
    """A file cannot be imported."""


class ImportIssue(Struct, frozen=True, kw_only=True):
    """Something that was not imported, and why."""

    line: int
    what: str
    session_id: SessionId | None = None


class ImportOptions(Struct, frozen=True, kw_only=True):
    """How a file is imported."""

    dry_run: bool = False
    """Look at everything, and change nothing."""
    skip_bad: bool = False
    """Go on after a session that cannot be read."""
    as_copies: bool = False
    """Give a session new ids where the store has another one with the same id."""
    keep_settings: bool = False
    """Keep the folders, tools and model addresses of the file: a file of others may name any."""


class ImportReport(Struct, kw_only=True):
    """What came of an import."""

    added: int = 0
    copied: int = 0
    """Of those added, how many have a new id."""
    skipped: int = 0
    """The store had them already."""
    forgotten: int = 0
    """They were forgotten here, and stay so."""
    conflicts: int = 0
    """The store has others with the same id."""
    bad: int = 0
    messages: int = 0
    attachments: int = 0
    without_settings: int = 0
    """Of those added, how many are without the folder, tools or model address of the file."""
    problems: list[ImportIssue] | None = None
    """The first of the conflicts and of what was bad."""

    def note(self, line: int, error: ThreadlineError, id: SessionId | None) -> None:
        """Keep a problem, if there are not too many."""
        self.problems = self.problems or []
        if len(self.problems) < PROBLEMS_SHOWN:
            self.problems.append(ImportIssue(line=line, what=str(error), session_id=id))


class _Open(Struct, kw_only=True):
    """The session that is being read."""

    session: PortableSession
    line: int
    check: UnitCheck
    essence: SessionDigest
    existing: int | None
    """The key of the session in the store that has its id."""
    load: SessionImport | None
    messages: int = 0


class Importer:
    """Imports one file."""

    def __init__(
        self, db: Database, manner: ImportOptions, *, was_forgotten: WasForgotten | None = None
    ) -> None:
        """Import into this store."""
        self._db = db
        self._manner = manner
        self._was_forgotten = was_forgotten
        self._check = FileCheck()
        self._open: _Open | None = None
        self._ids: dict[SessionId, SessionId] = {}
        """The sessions of the file that are in the store, and their ids there."""
        self._left_out: set[SessionId] = set()
        """The sessions of the file that were forgotten here, or have a forgotten sender."""
        self._made: set[SenderReference] = set()
        self._stored: dict[BlobHash, datetime] = {}
        """The attachments that are new: those of sessions that are left out are not kept."""
        self._line = 0
        self._is_skipping = False
        self.report = ImportReport()

    async def take(self, chunks: AsyncIterable[bytes]) -> ImportReport:
        """Read a file to its end, and store what is new in it."""
        if not self._manner.dry_run:
            await drop_abandoned(self._db)
        try:
            async for self._line, line in split_lines(chunks):
                await self._take_line(line)
            try:
                self._check.end()
            except Invalid as error:
                await self._spoil(error)
        finally:
            await self._abandon()
            for blob, stored_at in self._stored.items():
                await self._db.write(staging_area.drop_unused, blob, stored_at=stored_at)
        return self.report

    async def _take_line(self, line: bytes | None) -> None:
        try:
            record = self._check.read(line)
            if self._is_skipping and isinstance(record, _BELONGING):
                return
            await self._take_record(record, len(line or b""))
        except BadFile:
            raise
        except Invalid as error:
            if not self._is_skipping or (line or b"").startswith(_A_SESSION):
                await self._spoil(error)

    async def _spoil(self, error: Invalid, line: int | None = None) -> None:
        """Let a bad line cost its session, or the whole import."""
        at = line or self._line
        await self._abandon()
        self._is_skipping = True
        self._check.unit = None
        if not self._manner.skip_bad or self._check.header is None:
            raise BadFile(f"Line {at}: {error}", hint=_advice(self._manner)) from error
        self.report.bad += 1
        self.report.note(at, error, None)

    async def _abandon(self) -> None:
        left, self._open = self._open, None
        if left is not None and left.load is not None:
            await delete_staged(self._db, left.load.key)

    async def _take_record(self, record: Record, size: int) -> None:
        if isinstance(record, Footer):
            # What stands before a footer that is wrong may be wrong as well.
            self._check.take(record)
            await self._close()
            return
        if not isinstance(record, _BELONGING):
            await self._close()
            self._is_skipping = False
        data = self._check.take(record)
        match record:
            case PortableSession():
                await self._begin(record)
            case PortableProject():
                if not self._manner.dry_run:
                    await self._db.write(references.bring_project, record)
            case _:
                await self._add(record, size)
        if data is not None:
            await self._put_blob(data)

    async def _begin(self, session: PortableSession) -> None:
        if await self._leave_out(session):
            return
        check = self._check.unit
        if check is None:
            raise Invalid("There is no session to begin")
        existing = await self._db.read(_find, session.id)
        load = None
        if not self._manner.dry_run and (existing is None or self._manner.as_copies):
            load = await SessionImport.begin(self._db, session.place, self._made)
        self._open = _Open(
            session=session,
            line=self._line,
            check=check,
            essence=SessionDigest(),
            existing=existing,
            load=load,
        )
        self._open.essence.add([session])

    async def _leave_out(self, record: PortableSession | PortableSender) -> bool:
        """Leave a session out that was forgotten here, or in which somebody forgotten speaks."""
        forgotten = self._was_forgotten
        if forgotten is None or not await self._db.read(forgotten, record):
            return False
        if isinstance(record, PortableSession):
            self._left_out.add(record.id)
        elif self._open is not None:
            self._left_out.add(self._open.session.id)
        await self._abandon()
        self.report.forgotten += 1
        self._is_skipping = True
        return True

    async def _without_forgotten(self, message: PortableMessage) -> PortableMessage:
        """Return a message as it is stored: empty if it quotes a session that was left out."""
        forgotten = self._was_forgotten
        for id in {quote.session_id for quote in quotes_of(message.parts)}:
            if id in self._left_out or (forgotten and await self._db.read(forgotten, id)):
                at = message.changed_at or message.at
                nothing = (Text(text=""),)
                return replace(message, parts=nothing, changed_at=at, deleted_at=at, revisions=())
        return message

    async def _add(self, record: Record, size: int) -> None:
        unit = self._open
        if unit is None or (isinstance(record, PortableSender) and await self._leave_out(record)):
            return
        if isinstance(record, PortableMessage):
            record = await self._without_forgotten(record)
        unit.essence.add([record])
        unit.messages += isinstance(record, PortableMessage)
        if unit.load is not None:
            await unit.load.add(record, size)

    async def _put_blob(self, data: bytes) -> None:
        self.report.attachments += 1
        if self._manner.dry_run:
            return
        content, db, now = blobs.hash_of(data), self._db, self._db.now()
        if await db.read(blobs.has_blob, content) is None:
            self._stored[content] = now
        while not await db.write(blobs.put_blob, content, len(data), stored_at=now):
            for n, piece in enumerate(blobs.pieces_of(data)):
                await db.write(blobs.put_piece, content, n, piece)

    async def _close(self) -> None:
        """Decide what becomes of the session that was read to its end."""
        unit = self._open
        if unit is None:
            return
        try:
            unit.check.end()
            if await self._is_same(unit):
                self._ids[unit.session.id] = unit.session.id
                self.report.skipped += 1
            else:
                await self._publish(unit)
        except Conflict as error:
            self.report.conflicts += 1
            self.report.note(unit.line, error, unit.session.id)
        except Invalid as error:
            await self._spoil(error, unit.line)
        await self._abandon()

    async def _is_same(self, unit: _Open) -> bool:
        if unit.existing is None:
            return False
        there = await essence_of(self._db, unit.existing, unit.session)
        return there == unit.essence.digest()

    async def _publish(self, unit: _Open) -> None:
        session, id = unit.session, unit.session.id
        base = session.base
        if base is not None and base.session not in self._ids:
            raise Conflict("The session whose history it shares was not imported", id=id)
        if unit.existing is not None:
            if not self._manner.as_copies:
                raise Conflict(
                    "The store has another session with this id", id=id, hint="Import it as a copy"
                )
            id = make_session_id(session.opened_at, self._db.environment.new_id())
            session = replace(session, native_source=None, native_id=None)
        if session.parent is not None and session.parent not in self._ids:
            session = replace(session, parent=None)
        harmless = session if self._manner.keep_settings else without_settings(session)
        if unit.load is not None:
            await unit.load.publish(harmless, id, self._ids, unit.check.joints)
            unit.load = None
        self._ids[unit.session.id] = id
        self.report.added += 1
        self.report.copied += id != unit.session.id
        self.report.without_settings += harmless != session
        self.report.messages += unit.messages


def _find(tx: Transaction, id: SessionId) -> int | None:
    return tx.one("read_session_key", int, id=id)


def _advice(manner: ImportOptions) -> str:
    kept = "Nothing was changed" if manner.dry_run else "Sessions before this line were stored"
    return f"{kept}; --skip-bad goes on after what cannot be read"
