"""Children of a session: how one is made that shares its transcript, or only goes on from it."""

from dataclasses import dataclass

from threadline.core.cut import CutKind
from threadline.core.event import EventKind
from threadline.core.session import Cause, Origin, make_session_id
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.conversations import NewId
from threadline.sessions.transcripts.layout import DEEPEST_BASE, Layout, Segment, pieces
from threadline.sessions.transcripts.lines import END
from threadline.sessions.transcripts.titles import follow_first_words
from threadline.storage.database import Row, SqlValue, expect


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
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


def open_child(
    chronicle: Chronicle, cause: Cause, ground: Ground, *, title: str | None, new_id: NewId
) -> Chronicle:
    """Store a session that goes on from the one of an open chronicle, and begin its chronicle."""
    id = make_session_id(chronicle.now, new_id())
    row = expect(
        chronicle.tx,
        "open_child",
        id=id,
        parent_key=chronicle.key,
        cause=cause,
        title=title,
        now=chronicle.at,
        **ground.values(),
    )
    born = Row(
        key=row.number("key"),
        id=id,
        last_seq=ground.last_seq,
        revision=0,
        interruptions=0,
        last_activity_at=chronicle.at,
        ended_at=None,
        origin=Origin.PERSON,
    )
    child = Chronicle(chronicle.tx, born, chronicle.now)
    child.tell(EventKind.SESSION_OPENED)
    return child


def fork(
    chronicle: Chronicle, layout: Layout, at: int, *, title: str | None, new_id: NewId
) -> Chronicle:
    """Begin a branch of a session after a line that no hidden stretch reaches across."""
    base = next((s for s in reversed(layout.segments) if s.first <= at), None)
    copies = base is not None and base.depth >= DEEPEST_BASE
    user_messages, fewer = _count_people(chronicle, layout, at)
    ground = Ground(
        last_seq=at,
        shares=None if copies else base,
        revision=_revision_of(base, chronicle),
        user_messages=user_messages,
        fewer=fewer,
    )
    child = open_child(chronicle, Cause.BRANCH, ground, title=title, new_id=new_id)
    if copies:
        _copy_lines(child, layout, at)
    if layout.cuts:
        keys: dict[str, SqlValue] = {"from_key": chronicle.key, "to_key": child.key}
        chronicle.tx.run("copy_cuts", upto=at, **keys)
        chronicle.tx.run("copy_lifted_compactions", **keys)
    if at:
        child.tell(EventKind.MESSAGE_ADDED, at)
    if title is None:
        follow_first_words(child)
    return child


def _revision_of(base: Segment | None, chronicle: Chronicle) -> int:
    if base is None or base.revision is None:
        return chronicle.next_revision - 1
    return base.revision


def _count_people(chronicle: Chronicle, layout: Layout, at: int) -> tuple[int | None, int]:
    """Count what people wrote, and see, on the shorter side of a line."""
    hidden = [cut for cut in layout.cuts if cut.kind is CutKind.UNDONE]
    if at <= layout.last_seq - at:
        unseen = sum(cut.user_messages for cut in hidden if cut.to_seq <= at)
        return _count_rows(chronicle, layout, 0, at + 1) - unseen, 0
    unseen = sum(cut.user_messages for cut in hidden if cut.to_seq > at)
    return None, _count_rows(chronicle, layout, at, END) - unseen


def _count_rows(chronicle: Chronicle, layout: Layout, after: int, before: int) -> int:
    return sum(
        expect(
            chronicle.tx,
            "count_user_messages",
            session_key=segment.session_key,
            after=first - 1,
            before=last + 1,
        ).number("number")
        for segment, (first, last) in pieces(layout, (), after=after, before=before)
    )


def _copy_lines(child: Chronicle, layout: Layout, at: int) -> None:
    """Give a branch rows of its own, where it would stand on too many others."""
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
