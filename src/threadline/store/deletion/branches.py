"""Branches of what goes: they lose the history that they shared, and say so in a line."""

from msgspec import Struct

from threadline.core.event import EventKind
from threadline.core.message import Marker, MarkerKind, NewMessage, Role, pack
from threadline.database.port import expect
from threadline.store.deletion.share_cleanup import drop_pages
from threadline.store.deletion.tasks import DeletionSlice, Remains
from threadline.store.search.index import index_line, unindex_title
from threadline.store.session_writer import SessionWriter
from threadline.store.transcripts.titles import follow_first_words

_WHY = "What was said before this line was forgotten."


class _Heir(Struct, frozen=True, kw_only=True):
    """A session that shares history, and how far it sees into the base that goes."""

    key: int
    base_seq: int
    reach: int


def detach(work: DeletionSlice, gone: Remains, branch_key: int) -> None:
    """Let a branch, and those that share history through it, live without a base that goes.

    What the base itself shared with another session stays: that one does not go.
    """
    first = (gone.base_seq or 0) + 1
    for heir in work.tx.all("list_heirs", _Heir, key=branch_key):
        opened = work.open(heir.key)
        if opened is None:
            continue
        with opened as writer:
            if heir.reach >= first:
                _lose(work, writer, gone, first, heir)
                drop_pages(work, writer)
                drop_spent_title(writer)
            elif heir.key == branch_key:
                _rebase(work, writer, gone, heir.base_seq)
            writer.tell(EventKind.TRANSCRIPT_CHANGED, min(first, heir.reach))


def drop_spent_title(writer: SessionWriter) -> None:
    """Let a title go whose words are gone, from the index too."""
    if follow_first_words(writer):
        unindex_title(writer.tx, writer.key)


def _lose(
    work: DeletionSlice, writer: SessionWriter, gone: Remains, first: int, heir: _Heir
) -> None:
    """Take a stretch of the base out of what an heir shows."""
    tx, last = work.tx, heir.reach
    stretch = {"session_key": writer.key, "from_seq": first, "to_seq": last}
    lost = expect(
        tx,
        "count_lost",
        int,
        session_key=gone.key,
        heir_key=writer.key,
        from_seq=first,
        to_seq=last,
    )
    if lost:
        tx.run("lower_user_messages", key=writer.key, lost=lost)
    tx.run("free_cuts", **stretch)
    tx.all("drop_cuts_inside", int, **stretch)
    tx.run("clip_cuts", **stretch)
    tx.run("drop_memory", key=writer.key)
    if heir.base_seq == last:
        _rebase(work, writer, gone, gone.base_seq)
        _mark(writer, last)
    work.counts["branches"] += 1


def _rebase(
    work: DeletionSlice, writer: SessionWriter, gone: Remains, base_seq: int | None
) -> None:
    """Let an heir share what the base that goes had shared with its own base."""
    has_base = gone.base_key is not None
    work.tx.run(
        "rebase_session",
        key=writer.key,
        base_key=gone.base_key,
        base_seq=base_seq if has_base else None,
        base_revision=gone.base_revision,
        base_depth=gone.base_depth if has_base else 0,
    )


def _mark(writer: SessionWriter, seq: int) -> None:
    """Put the marker where the shared history ended."""
    marker = NewMessage(role=Role.SYSTEM, parts=(Marker(kind=MarkerKind.FORGOTTEN, text=_WHY),))
    text, parts = pack(marker.parts)
    key = expect(
        writer.tx,
        "add_message",
        int,
        session_key=writer.key,
        seq=seq,
        turn_id=None,
        role=marker.role,
        sender_key=None,
        text=text,
        parts=parts,
        at=writer.at,
        arrived_at=None,
        platform_id=None,
        reply_to=None,
    )
    index_line(writer.tx, key)
