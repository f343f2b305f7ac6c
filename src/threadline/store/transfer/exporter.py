"""Exporter: history as the lines of a file, session by session, with bounded memory."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterable, Sequence

from msgspec.structs import replace

from threadline.core.errors import NotFound, StorageError
from threadline.core.export_format.codec import Record, encode
from threadline.core.export_format.file_records import (
    FORMAT,
    FORMAT_VERSION,
    PIECE_BYTES,
    AttachmentChunk,
    ExportScope,
    Footer,
    Header,
    PortableProject,
    Selection,
    SenderReference,
)
from threadline.core.export_format.session_records import PortableMessage, PortableSession
from threadline.core.message import Attachment, BlobHash
from threadline.core.person import Viewer
from threadline.core.redaction import Redactor
from threadline.database.port import Database, Transaction
from threadline.database.timestamps import moment
from threadline.store import blobs
from threadline.store.transfer import session_reader
from threadline.store.transfer.records import ExportedProject
from threadline.store.transfer.redaction import collect_names, redact
from threadline.store.transfer.selection import Excerpt, ExportPlan, find_bases, plan_page
from threadline.store.transfer.session_reader import SessionReader


class RecordWriter:
    """Writes records as lines, and adds up what the footer says of them."""

    def __init__(self, redactor: Redactor | None = None) -> None:
        """Begin an empty file; a redactor takes out what nobody else shall read."""
        self._redactor = redactor
        self._hash = hashlib.sha256()
        self._counts = {"lines": 0, "sessions": 0, "messages": 0, "attachments": 0}

    def write(self, records: Iterable[Record]) -> bytes:
        """Write records as lines."""
        written = []
        for record in records:
            shown = record if self._redactor is None else redact(record, self._redactor)
            line = encode(shown)
            self._hash.update(line)
            self._count(shown)
            written.append(line)
        return b"".join(written)

    def _count(self, record: Record) -> None:
        self._counts["lines"] += 1
        match record:
            case PortableSession():
                self._counts["sessions"] += 1
            case PortableMessage():
                self._counts["messages"] += 1
            case AttachmentChunk(n=0):
                self._counts["attachments"] += 1
            case _:
                pass

    def end(self) -> bytes:
        """Write the footer."""
        return encode(Footer(**self._counts, sha256=BlobHash(self._hash.hexdigest())))


async def write_history(
    db: Database,
    selection: Selection,
    *,
    asker: Viewer | None = None,
    redactor: Redactor | None = None,
) -> AsyncIterator[bytes]:
    """Write what was selected, in blocks of whole lines.

    Each session is as it was when its first line was written. The attachments and the project
    that it needs stand before it, once in a file.
    """
    plan = await make_plan(db, selection, asker)
    member = None if asker is None or asker.sees_all else asker
    # What others changed or deleted is between them and the owner.
    hides_past = redactor is not None or member is not None
    roll = RecordWriter(redactor)
    head: list[Record] = [
        Header(
            format=FORMAT,
            version=FORMAT_VERSION,
            selection=selection,
            as_of=None if plan.latest is None else moment(plan.latest),
            redacted=redactor is not None,
        )
    ]
    yield roll.write(head)
    known = set()
    for key, project in await db.read(_list_projects, selection, asker):
        known.add(key)
        yield roll.write([project])
    carried: set[bytes] = set()
    for key, excerpt in plan.steps():
        unit = await _open_unit(db, key, excerpt)
        if unit is None:
            continue
        project_key = None if member else unit.row.project_key
        if project_key is not None and excerpt is None and project_key not in known:
            known.add(project_key)
            yield roll.write([await db.read(_read_project, project_key)])
        if redactor is not None:
            collect_names(unit.senders, redactor)
        else:
            async for block in _write_blobs(db, unit, roll, carried):
                yield block
        async for records in read_records(db, unit, plan.takes):
            told = [_shown(record, member) for record in records] if hides_past else records
            # On a thread, as everybody else would wait while long texts are redacted.
            yield await asyncio.to_thread(roll.write, told)
    yield roll.end()


def _shown(record: Record, member: Viewer | None) -> Record:
    """Leave out the past and, for a member, how others arrange it and how far they have read."""
    if isinstance(record, PortableMessage):
        return replace(record, revisions=())
    if member is None or not isinstance(record, PortableSession):
        return record
    own = tuple(mark for mark in record.marks if mark.reader == (member.sender.id or ""))
    return replace(record, project=None, marks=own)


async def make_plan(db: Database, selection: Selection, asker: Viewer | None) -> ExportPlan:
    """Find the sessions of an export, and those whose history they share."""
    plan = ExportPlan()
    after: int | None = 0
    branches = []
    while after is not None:
        page, after = await db.read(plan_page, selection, after, asker)
        for session in page:
            plan.add(session)
        branches += [session for session in page if session.base is not None]
    while branches:
        needed = [key for session in branches if (key := plan.need(session)) is not None]
        branches = await db.read(find_bases, needed)
    return plan


def _list_projects(
    tx: Transaction, selection: Selection, asker: Viewer | None
) -> list[tuple[int, PortableProject]]:
    """List the projects that are carried even if no session is in them: to an owner alone."""
    if selection.extent not in {ExportScope.ALL, ExportScope.PROFILE, ExportScope.PROJECT}:
        return []
    if asker is not None and not asker.sees_all:
        return []
    wanted = [
        (one.key, one.project)
        for one in tx.all("list_exported_projects", ExportedProject)
        if selection.profile in (None, one.project.profile)
        and selection.project in (None, one.project.name)
    ]
    return sorted(wanted, key=lambda each: (each[1].profile, each[1].name))


def _read_project(tx: Transaction, key: int) -> PortableProject:
    found = tx.one("read_exported_project", ExportedProject, key=key)
    if found is None:
        raise StorageError("A project is gone while it is exported", hint="Export again")
    return found.project


async def _open_unit(db: Database, key: int, excerpt: Excerpt | None) -> SessionReader | None:
    """Read a session, or its excerpt; None if it was deleted since the export began."""
    try:
        unit = await db.read(session_reader.read_unit, key, excerpt)
    except NotFound:
        return None
    return unit if excerpt is None else await _narrow(db, unit)


async def _narrow(db: Database, unit: SessionReader) -> SessionReader:
    """Leave of the people and attachments of a session those that its excerpt has."""
    owner = unit.session.owner
    people = set() if owner is None else {owner}
    needed: set[BlobHash] = set()
    async for records in read_records(db, unit, lambda _: False):
        for record in records:
            if isinstance(record, PortableMessage):
                people |= set() if record.sender is None else {record.sender}
                needed |= attachments_of(record)
    return replace(
        unit,
        senders=tuple(
            sender
            for sender in unit.senders
            if SenderReference(platform=sender.platform, id=sender.id) in people
        ),
        blobs=tuple((blob, size) for blob, size in unit.blobs if blob in needed),
    )


def attachments_of(message: PortableMessage) -> set[BlobHash]:
    """Name the attachments that a message has, or had."""
    told = [message.parts, *(revision.parts for revision in message.revisions)]
    return {part.blob for parts in told for part in parts if isinstance(part, Attachment)}


async def _write_blobs(
    db: Database, unit: SessionReader, roll: RecordWriter, carried: set[bytes]
) -> AsyncIterator[bytes]:
    """Write the attachments of a session that the file does not have yet."""
    for blob, size in unit.blobs:
        if bytes.fromhex(blob) in carried:
            continue
        carried.add(bytes.fromhex(blob))
        n = 0
        for at in range(0, max(size, 1), blobs.CHUNK_BYTES):
            chunk = await db.read(blobs.read_piece, blob, at // blobs.CHUNK_BYTES)
            if chunk is None and size:
                raise StorageError(
                    "A piece of an attachment is missing", id=blob, hint="Run: threadline doctor"
                )
            for start in range(0, max(len(chunk or b""), 1), PIECE_BYTES):
                data = (chunk or b"")[start : start + PIECE_BYTES]
                yield roll.write([AttachmentChunk(hash=blob, size=size, n=n, data=data)])
                n += 1


async def read_records(
    db: Database, unit: SessionReader, has: Callable[[int], bool]
) -> AsyncIterator[Sequence[Record]]:
    """Read the records of a session, page by page; `has` tells which others the file has."""
    yield [_with_known_parent(unit, has), *unit.senders]
    numbers: dict[int, int] = {}
    after: int | None = 0
    while after is not None:
        turns, after = await db.read(session_reader.read_turns, unit, after, numbers)
        yield turns
    after = unit.after
    while after is not None:
        messages, after = await db.read(session_reader.read_messages, unit, after, numbers)
        yield messages
    yield session_reader.place_waiting(unit, numbers)
    after = 0
    while after is not None:
        usage, after = await db.read(session_reader.read_usage, unit, after, numbers)
        yield usage


def _with_known_parent(unit: SessionReader, has: Callable[[int], bool]) -> PortableSession:
    """Name the session before this one only if the file has it, and earlier."""
    parent = unit.row.parent_key
    if parent is not None and parent < unit.key and has(parent):
        return unit.session
    return replace(unit.session, parent=None)


def record_excerpt(session: PortableSession) -> Excerpt | None:
    """Tell which excerpt of a session a record is; None if it is the whole."""
    if not session.excerpt:
        return None
    return Excerpt(until=session.last_seq, revision=session.revision)
