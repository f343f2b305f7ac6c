"""Child sessions: how one is made that shares its transcript, or only goes on from it."""

from msgspec import Struct

from threadline.core.event import EventKind
from threadline.core.hidden_range import HiddenRangeKind
from threadline.core.message import Part, pack, with_sessions
from threadline.core.session import Cause, make_session_id
from threadline.database.port import SqlValue, expect
from threadline.store.session_writer import SessionState, SessionWriter, use_parts
from threadline.store.transcripts.history import END
from threadline.store.transcripts.segments import DEEPEST_BASE, Segment, TranscriptLayout, pieces
from threadline.store.transcripts.titles import follow_first_words


class BranchPoint(Struct, frozen=True, kw_only=True):
    """What a new session stands on: the rows it shares, and how many of them people wrote."""

    last_seq: int = 0
    shares: Segment | None = None
    """The segment in which the shared rows end; None: it shares none."""
    revision: int = 0
    user_messages: int | None = 0
    """None: as many as its parent has, less the fewer."""
    fewer: int = 0

    def values(self) -> dict[str, SqlValue]:
        """Answer what is stored of it."""
        shares = self.shares
        return {
            "last_seq": self.last_seq,
            "base_key": None if shares is None else shares.session_key,
            "base_seq": None if shares is None else self.last_seq,
            "base_revision": None if shares is None else self.revision,
            "base_depth": 0 if shares is None else shares.depth + 1,
            "user_messages": self.user_messages,
            "fewer": self.fewer,
        }


class _CopiedNote(Struct, frozen=True, kw_only=True):
    """A note among the lines that a branch was given copies of."""

    key: int
    parts: tuple[Part, ...]


def open_child(
    writer: SessionWriter, cause: Cause, ground: BranchPoint, *, title: str | None
) -> SessionWriter:
    """Store a session that goes on from the one of an open session writer, and begin its writer."""
    born = expect(
        writer.tx,
        "open_child",
        SessionState,
        id=make_session_id(writer.tx.now, writer.tx.new_id()),
        parent_key=writer.key,
        cause=cause,
        title=title,
        now=writer.at,
        **ground.values(),
    )
    child = SessionWriter(writer.tx, born)
    child.tell(EventKind.SESSION_OPENED)
    return child


def fork(
    writer: SessionWriter, layout: TranscriptLayout, at: int, *, title: str | None
) -> SessionWriter:
    """Begin a branch of a session after a line that no hidden stretch reaches across."""
    base = next((s for s in reversed(layout.segments) if s.first <= at), None)
    copies = base is not None and base.depth >= DEEPEST_BASE
    user_messages, fewer = _count_people(writer, layout, at)
    ground = BranchPoint(
        last_seq=at,
        shares=None if copies else base,
        revision=_revision_of(base, writer),
        user_messages=user_messages,
        fewer=fewer,
    )
    child = open_child(writer, Cause.BRANCH, ground, title=title)
    if copies:
        _copy_lines(child, layout, at)
    if layout.cuts:
        keys: dict[str, SqlValue] = {"from_key": writer.key, "to_key": child.key}
        writer.tx.run("copy_cuts", upto=at, **keys)
        writer.tx.run("copy_lifted_compactions", **keys)
    if at:
        child.tell(EventKind.MESSAGE_ADDED, at)
    if title is None:
        follow_first_words(child)
    return child


def _revision_of(base: Segment | None, writer: SessionWriter) -> int:
    if base is None or base.revision is None:
        return writer.next_revision - 1
    return base.revision


def _count_people(
    writer: SessionWriter, layout: TranscriptLayout, at: int
) -> tuple[int | None, int]:
    """Count what people wrote, and see, on the shorter side of a line."""
    hidden = [cut for cut in layout.cuts if cut.kind is HiddenRangeKind.UNDONE]
    if at <= layout.last_seq - at:
        unseen = sum(cut.user_messages for cut in hidden if cut.to_seq <= at)
        return _count_rows(writer, layout, 0, at + 1) - unseen, 0
    unseen = sum(cut.user_messages for cut in hidden if cut.to_seq > at)
    return None, _count_rows(writer, layout, at, END) - unseen


def _count_rows(writer: SessionWriter, layout: TranscriptLayout, after: int, before: int) -> int:
    return sum(
        expect(
            writer.tx,
            "count_user_messages",
            int,
            session_key=segment.session_key,
            after=first - 1,
            before=last + 1,
        )
        for segment, (first, last) in pieces(layout, (), after=after, before=before)
    )


def _copy_lines(child: SessionWriter, layout: TranscriptLayout, at: int) -> None:
    """Give a branch rows of its own, where it would stand on too many others."""
    own = {segment.session_id: child.id for segment in layout.segments}
    for segment, (first, last) in pieces(layout, (), after=0, before=at + 1):
        stretch: dict[str, SqlValue] = {
            "from_key": segment.session_key,
            "to_key": child.key,
            "after": first - 1,
            "before": last + 1,
        }
        revision = END if segment.revision is None else segment.revision
        child.tx.run("copy_messages", revision=revision, **stretch)
        child.tx.run("copy_blob_uses", **stretch)
        for note in child.tx.all("list_copied_notes", _CopiedNote, **stretch):
            parts = with_sessions(note.parts, own)
            child.tx.run("set_parts", key=note.key, parts=pack(parts)[1])
            use_parts(child.tx, parts, note.key)
