"""Session reader: one session of an export, read in pages, with everything that belongs to it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.errors import NotFound
from threadline.core.export_format.file_records import PortableSender
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)
from threadline.core.message import BlobHash, Marker, MarkerKind, Role
from threadline.core.session import EndReason
from threadline.core.turn import TurnId
from threadline.database.port import Transaction, expect
from threadline.store.transfer import records
from threadline.store.transfer.records import (
    ExportedMessage,
    ExportedRevision,
    ExportedSession,
    ExportedTurn,
    ExportedUsage,
    Numbers,
)
from threadline.store.transfer.selection import Excerpt

EXPORT_PAGE = 200
_UNFINISHED = "This was not finished when it was exported."


class _Blob(Struct, frozen=True, kw_only=True):
    """An attachment, and its size."""

    hash: BlobHash
    size: int


class _SharedCount(Struct, frozen=True, kw_only=True):
    """How many messages of users a session has up to a place, and when the last one was said."""

    user_messages: int
    last_at: datetime | None


class SessionReader(Struct, frozen=True, kw_only=True):
    """A session at one moment: what its pages are read by."""

    row: ExportedSession
    session: PortableSession
    senders: tuple[PortableSender, ...]
    blobs: tuple[tuple[BlobHash, int], ...]
    """Its attachments and their sizes."""
    waiting: Sequence[tuple[ExportedMessage, Sequence[ExportedRevision]]]
    """The messages without a place, and their revisions."""
    unfinished: tuple[int, ...]
    """The ids of turns that had not ended."""
    after: int
    """Its own lines begin after this one."""
    upto: int
    excerpt: Excerpt | None

    @property
    def key(self) -> int:
        """The key of the session."""
        return self.row.key

    @property
    def as_of(self) -> int | None:
        """The revision at which its lines are shown, if that is not the present one."""
        return None if self.excerpt is None else self.excerpt.revision


def read_unit(tx: Transaction, key: int, excerpt: Excerpt | None = None) -> SessionReader:
    """Read everything of a session that does not grow with its length."""
    row = tx.one("read_exported", ExportedSession, key=key)
    if row is None:
        raise NotFound("The session is gone", id=str(key))
    record = row.record
    upto = record.last_seq if excerpt is None else excerpt.until
    waiting = [] if excerpt is not None else _waiting(tx, key)
    unfinished = (
        [] if excerpt is not None else tx.all("list_turns_to_stop", TurnId, session_key=key)
    )
    senders = records.list_senders(tx, key)
    blobs = tx.all("list_exported_blobs", _Blob, session_key=key, upto=upto)
    unit = SessionReader(
        row=row,
        session=replace(
            record, cuts=records.list_cuts(tx, key, None), marks=records.list_marks(tx, key)
        ),
        senders=tuple(sorted(senders, key=lambda each: (each.platform, each.id))),
        blobs=tuple(sorted((blob.hash, blob.size) for blob in blobs)),
        waiting=waiting,
        unfinished=tuple(unfinished),
        after=0 if record.base is None else record.base.seq,
        upto=upto,
        excerpt=excerpt,
    )
    session = _finished(unit) if excerpt is None else _excerpted(tx, unit, excerpt)
    return replace(unit, session=session)


def _waiting(tx: Transaction, key: int) -> list[tuple[ExportedMessage, Sequence[ExportedRevision]]]:
    before = _by_message(tx.all("list_waiting_revisions", ExportedRevision, session_key=key))
    messages = tx.all("list_exported_waiting", ExportedMessage, session_key=key)
    return [(message, before[message.key]) for message in messages]


def _by_message(
    revisions: Sequence[ExportedRevision],
) -> defaultdict[int, list[ExportedRevision]]:
    found: defaultdict[int, list[ExportedRevision]] = defaultdict(list)
    for revision in revisions:
        found[revision.message_key].append(revision)
    return found


def _finished(unit: SessionReader) -> PortableSession:
    """Count also what gets its place only now, because its turn is told as stopped."""
    placed = [message for message, _ in unit.waiting if _is_placed(unit, message)]
    users = sum(message.role is Role.USER for message in placed)
    session = unit.session
    return replace(
        session,
        last_seq=session.last_seq + len(placed) + len(unit.unfinished),
        user_messages=session.user_messages + users,
    )


def _is_placed(unit: SessionReader, message: ExportedMessage) -> bool:
    """Return whether a waiting message gets a place: with its turn, or a note with the first."""
    if message.turn_id is None:
        return bool(unit.unfinished)
    return message.turn_id in unit.unfinished


def _excerpted(tx: Transaction, unit: SessionReader, excerpt: Excerpt) -> PortableSession:
    """Leave of a session only what its branches show, and nothing of what came later."""
    session, key = unit.session, unit.key
    cuts = records.list_cuts(tx, key, excerpt.until)
    counted = expect(tx, "count_shared_lines", _SharedCount, session_key=key, upto=excerpt.until)
    hidden = sum(cut.user_messages for cut in cuts if cut.lifted_at is None)
    last_at = counted.last_at or session.opened_at
    base = session.base
    if base is not None:
        base = replace(base, seq=min(base.seq, excerpt.until))
    return PortableSession(
        id=session.id,
        profile=session.profile,
        place=session.place,
        owner=session.owner,
        base=base,
        cause=session.cause,
        origin=session.origin,
        opened_at=session.opened_at,
        last_activity_at=last_at,
        ended_at=last_at,
        end_reason=EndReason.CLOSED,
        last_seq=excerpt.until,
        user_messages=max(0, counted.user_messages - hidden),
        revision=max(1, excerpt.revision),
        excerpt=True,
        cuts=cuts,
    )


def read_turns(
    tx: Transaction, unit: SessionReader, after: int, numbers: dict[int, int]
) -> tuple[list[PortableTurn], int | None]:
    """Read a page of turns and number them; also answers where the next page begins."""
    page = tx.all(
        "list_exported_turns",
        ExportedTurn,
        session_key=unit.key,
        after=after,
        last_id=unit.row.last_turn_id or 0,
        most=EXPORT_PAGE,
    )
    more = page[-1].id if len(page) == EXPORT_PAGE else None
    if unit.excerpt is not None:
        until = unit.excerpt.until
        page = [turn for turn in page if (turn.first_seq or until + 1) <= until]
    found = []
    for turn in page:
        numbers.setdefault(turn.id, len(numbers) + 1)
        found.append(records.turn_of(turn, numbers, unit.row))
    return found, more


def read_messages(
    tx: Transaction, unit: SessionReader, after: int, numbers: Numbers
) -> tuple[list[PortableMessage], int | None]:
    """Read a page of lines; also answers where the next page begins."""
    page = tx.all(
        "list_exported_messages",
        ExportedMessage,
        session_key=unit.key,
        after=after,
        upto=unit.upto,
        most=EXPORT_PAGE,
    )
    if not page:
        return [], None
    last = page[-1].seq
    revisions = tx.all(
        "list_exported_revisions",
        ExportedRevision,
        session_key=unit.key,
        after=after,
        upto=last,
    )
    before = _by_message(revisions)
    found = [
        records.message_of(message, before[message.key], numbers, as_of=unit.as_of)
        for message in page
    ]
    return found, last if len(page) == EXPORT_PAGE else None


def read_usage(
    tx: Transaction, unit: SessionReader, after: int, numbers: Numbers
) -> tuple[list[PortableUsage], int | None]:
    """Read a page of what was spent; also answers where the next page begins."""
    if unit.excerpt is not None:
        return [], None
    page = tx.all(
        "list_exported_usage", ExportedUsage, session_key=unit.key, after=after, most=EXPORT_PAGE
    )
    more = page[-1].key if len(page) == EXPORT_PAGE else None
    return [records.usage_of(spent, numbers) for spent in page], more


def place_waiting(unit: SessionReader, numbers: Numbers) -> list[PortableMessage]:
    """Give what waits for a turn its place after the last line, and mark what was cut off."""
    found: list[PortableMessage] = []
    seq = unit.upto
    left = list(unit.waiting)
    for turn_id in unit.unfinished:
        mine = [each for each in left if each[0].turn_id in (turn_id, None)]
        left = [each for each in left if each not in mine]
        mine.sort(key=lambda each: (each[0].role is not Role.SYSTEM, each[0].key))
        for message, revisions in mine:
            seq += 1
            found.append(records.message_of(message, revisions, numbers, seq=seq))
        seq += 1
        found.append(_cut_off(unit, turn_id, numbers, seq))
    return found + [records.message_of(message, before, numbers) for message, before in left]


def _cut_off(unit: SessionReader, turn_id: int, numbers: Numbers, seq: int) -> PortableMessage:
    return PortableMessage(
        seq=seq,
        turn=numbers.get(turn_id),
        role=Role.SYSTEM,
        parts=(Marker(kind=MarkerKind.STOPPED, text=_UNFINISHED),),
        at=unit.row.record.last_activity_at,
    )
