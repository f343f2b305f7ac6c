"""Session reader: one session of an export, read in pages, with everything that belongs to it."""

from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.errors import NotFound
from threadline.core.export_format.files import PortableSender
from threadline.core.export_format.sessions import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
    SharedHistory,
)
from threadline.core.message import BlobHash, Marker, MarkerKind, Role
from threadline.core.session import (
    BusyMode,
    Cause,
    EndReason,
    ModelChoice,
    Origin,
    SessionId,
    TitleSource,
    Worktree,
)
from threadline.database.port import Row, Transaction, expect
from threadline.store.transfer import records
from threadline.store.transfer.records import Numbers
from threadline.store.transfer.selection import Excerpt

EXPORT_PAGE = 200
_UNFINISHED = "This was not finished when it was exported."


class SessionReader(Struct, frozen=True, kw_only=True):
    """A session at one moment: what its pages are read by."""

    row: Row
    session: PortableSession
    senders: tuple[PortableSender, ...]
    blobs: tuple[tuple[BlobHash, int], ...]
    """Its attachments and their sizes."""
    waiting: Sequence[tuple[Row, Sequence[Row]]]
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
        return self.row.number("key")

    @property
    def as_of(self) -> int | None:
        """The revision at which its lines are shown, if that is not the present one."""
        return None if self.excerpt is None else self.excerpt.revision


def read_unit(tx: Transaction, key: int, excerpt: Excerpt | None = None) -> SessionReader:
    """Read everything of a session that does not grow with its length."""
    row = tx.one("read_exported", key=key)
    if row is None:
        raise NotFound("The session is gone", id=str(key))
    upto = row.number("last_seq") if excerpt is None else excerpt.until
    waiting = [] if excerpt is not None else _waiting(tx, key)
    unfinished = [] if excerpt is not None else tx.all("list_unfinished", session_key=key)
    senders = [
        records.sender_record(tx, each) for each in tx.all("list_exported_senders", session_key=key)
    ]
    blobs = tx.all("list_exported_blobs", session_key=key, upto=upto)
    unit = SessionReader(
        row=row,
        session=_session_of(tx, row),
        senders=tuple(sorted(senders, key=lambda each: (each.platform, each.id))),
        blobs=tuple(sorted((BlobHash(b.text("hash")), b.number("size")) for b in blobs)),
        waiting=waiting,
        unfinished=tuple(each.number("id") for each in unfinished),
        after=row.number_or_none("base_seq") or 0,
        upto=upto,
        excerpt=excerpt,
    )
    session = _finished(unit) if excerpt is None else _excerpted(tx, unit, excerpt)
    return replace(unit, session=session)


def _waiting(tx: Transaction, key: int) -> list[tuple[Row, Sequence[Row]]]:
    before = _by_message(tx.all("list_waiting_revisions", session_key=key))
    rows = tx.all("list_exported_waiting", session_key=key)
    return [(row, before[row.number("key")]) for row in rows]


def _by_message(rows: Sequence[Row]) -> defaultdict[int, list[Row]]:
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.number("message_key")].append(row)
    return found


def _session_of(tx: Transaction, row: Row) -> PortableSession:
    key, model, titled_by = row.number("key"), row["model"], row.text_or_none("titled_by")
    end_reason, notice = row.text_or_none("end_reason"), row.text_or_none("notice")
    busy_mode, parent_id = row.text_or_none("busy_mode"), row.text_or_none("parent_id")
    return PortableSession(
        id=SessionId(row.text("id")),
        profile=row.text("profile"),
        place=records.address_record(row),
        owner=records.reference(row.text_or_none("owner_platform"), row.text_or_none("owner_id")),
        parent=None if parent_id is None else SessionId(parent_id),
        base=_base_of(row),
        cause=Cause(row.text("cause")),
        origin=Origin(row.text("origin")),
        native_source=row.text_or_none("native_source"),
        native_id=row.text_or_none("native_id"),
        opened_at=row.moment("opened_at"),
        last_activity_at=row.moment("last_activity_at"),
        ended_at=row.moment_or_none("ended_at"),
        end_reason=None if end_reason is None else EndReason(end_reason),
        suspended_at=row.moment_or_none("suspended_at"),
        notice=None if notice is None else Cause(notice),
        told_at=row.moment_or_none("told_at"),
        title=row.text_or_none("title"),
        titled_by=None if titled_by is None else TitleSource(titled_by),
        summary=row.text_or_none("summary"),
        choice=None if model is None else _choice_of(row),
        busy_mode=None if busy_mode is None else BusyMode(busy_mode),
        personality=row.text_or_none("personality"),
        tools=records.tools_of(row.text_or_none("tools")),
        workspace=row.text_or_none("workspace"),
        worktree=_worktree_of(row),
        project=row.text_or_none("project_name"),
        pinned_at=row.moment_or_none("pinned_at"),
        archived_at=row.moment_or_none("archived_at"),
        last_seq=row.number("last_seq"),
        user_messages=row.number("user_messages"),
        revision=row.number("revision"),
        interruptions=row.number("interruptions"),
        cuts=records.cuts_of(tx.all("list_exported_cuts", session_key=key), None),
        marks=records.marks_of(tx.all("list_exported_marks", session_key=key)),
    )


def _base_of(row: Row) -> SharedHistory | None:
    base_id = row.text_or_none("base_id")
    if base_id is None:
        return None
    return SharedHistory(
        session=SessionId(base_id),
        seq=row.number("base_seq"),
        revision=row.number("base_revision"),
    )


def _choice_of(row: Row) -> ModelChoice:
    return ModelChoice(
        model=row.text("model"),
        provider=row.text_or_none("provider"),
        base_url=row.text_or_none("base_url"),
    )


def _worktree_of(row: Row) -> Worktree | None:
    if row["worktree_path"] is None:
        return None
    return Worktree(
        path=row.text("worktree_path"),
        branch=row.text("worktree_branch"),
        repository=row.text("worktree_repository"),
        at=row.moment("worktree_at"),
    )


def _finished(unit: SessionReader) -> PortableSession:
    """Count also what gets its place only now, because its turn is told as stopped."""
    placed = [row for row, _ in unit.waiting if _is_placed(unit, row)]
    users = sum(row["role"] == Role.USER for row in placed)
    session = unit.session
    return replace(
        session,
        last_seq=session.last_seq + len(placed) + len(unit.unfinished),
        user_messages=session.user_messages + users,
    )


def _is_placed(unit: SessionReader, row: Row) -> bool:
    """Tell whether a waiting message gets a place: with its turn, or a note with the first one."""
    turn_id = row.number_or_none("turn_id")
    return turn_id in unit.unfinished if turn_id is not None else bool(unit.unfinished)


def _excerpted(tx: Transaction, unit: SessionReader, excerpt: Excerpt) -> PortableSession:
    """Leave of a session only what its branches show, and nothing of what came later."""
    session, key = unit.session, unit.key
    cuts = records.cuts_of(tx.all("list_exported_cuts", session_key=key), excerpt.until)
    counted = expect(tx, "count_shared_lines", session_key=key, upto=excerpt.until)
    hidden = sum(cut.user_messages for cut in cuts if cut.lifted_at is None)
    last_at = counted.moment_or_none("last_at") or session.opened_at
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
        user_messages=max(0, counted.number("user_messages") - hidden),
        revision=max(1, excerpt.revision),
        excerpt=True,
        cuts=cuts,
    )


def read_turns(
    tx: Transaction, unit: SessionReader, after: int, numbers: dict[int, int]
) -> tuple[list[PortableTurn], int | None]:
    """Read a page of turns and number them; also answers where the next page begins."""
    last_id = unit.row.number_or_none("last_turn_id") or 0
    rows = tx.all(
        "list_exported_turns", session_key=unit.key, after=after, last_id=last_id, most=EXPORT_PAGE
    )
    more = rows[-1].number("id") if len(rows) == EXPORT_PAGE else None
    if unit.excerpt is not None:
        until = unit.excerpt.until
        rows = [row for row in rows if (row.number_or_none("first_seq") or until + 1) <= until]
    found = []
    for row in rows:
        numbers.setdefault(row.number("id"), len(numbers) + 1)
        found.append(records.turn_of(row, numbers, unit.row))
    return found, more


def read_messages(
    tx: Transaction, unit: SessionReader, after: int, numbers: Numbers
) -> tuple[list[PortableMessage], int | None]:
    """Read a page of lines; also answers where the next page begins."""
    rows = tx.all(
        "list_exported_messages",
        session_key=unit.key,
        after=after,
        upto=unit.upto,
        most=EXPORT_PAGE,
    )
    if not rows:
        return [], None
    last = rows[-1].number("seq")
    before = _by_message(
        tx.all("list_exported_revisions", session_key=unit.key, after=after, upto=last)
    )
    found = [
        records.message_of(row, before[row.number("key")], numbers, as_of=unit.as_of)
        for row in rows
    ]
    return found, last if len(rows) == EXPORT_PAGE else None


def read_usage(
    tx: Transaction, unit: SessionReader, after: int, numbers: Numbers
) -> tuple[list[PortableUsage], int | None]:
    """Read a page of what was spent; also answers where the next page begins."""
    if unit.excerpt is not None:
        return [], None
    rows = tx.all("list_exported_usage", session_key=unit.key, after=after, most=EXPORT_PAGE)
    more = rows[-1].number("key") if len(rows) == EXPORT_PAGE else None
    return [records.usage_record(row, numbers) for row in rows], more


def place_waiting(unit: SessionReader, numbers: Numbers) -> list[PortableMessage]:
    """Give what waits for a turn its place after the last line, and mark what was cut off."""
    found: list[PortableMessage] = []
    seq = unit.upto
    left = list(unit.waiting)
    for turn_id in unit.unfinished:
        mine = [each for each in left if each[0]["turn_id"] in (turn_id, None)]
        left = [each for each in left if each not in mine]
        mine.sort(key=lambda each: (each[0]["role"] != Role.SYSTEM, each[0].number("key")))
        for row, revisions in mine:
            seq += 1
            found.append(records.message_of(row, revisions, numbers, seq=seq))
        seq += 1
        found.append(_cut_off(unit, turn_id, numbers, seq))
    return found + [records.message_of(row, revisions, numbers) for row, revisions in left]


def _cut_off(unit: SessionReader, turn_id: int, numbers: Numbers, seq: int) -> PortableMessage:
    return PortableMessage(
        seq=seq,
        turn=numbers.get(turn_id),
        role=Role.SYSTEM,
        parts=(Marker(kind=MarkerKind.STOPPED, text=_UNFINISHED),),
        at=unit.row.moment("last_activity_at"),
    )
