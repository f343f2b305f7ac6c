"""Branches of what goes: they lose the history that they shared, and say so in a line."""

from threadline.core.event import EventKind
from threadline.core.message import Marker, MarkerKind, NewMessage, Role, pack
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.forgetting.ledger import Work
from threadline.sessions.forgetting.pages import drop_pages
from threadline.sessions.search.index import index_line, unindex_title
from threadline.sessions.transcripts.titles import follow_first_words
from threadline.storage.database import Row, expect

_WHY = "What was said before this line was forgotten."


def detach(work: Work, gone: Row, branch: Row) -> None:
    """Let a branch, and those that share history through it, live without a base that goes.

    What the base itself shared with another session stays: that one does not go.
    """
    first = (gone.number_or_none("base_seq") or 0) + 1
    for heir in work.tx.all("list_heirs", key=branch.number("key")):
        opened = work.open(heir.number("key"))
        if opened is None:
            continue
        with opened as chronicle:
            if heir.number("reach") >= first:
                _lose(work, chronicle, gone, first, heir)
                drop_pages(work, chronicle)
                drop_spent_title(chronicle)
            elif heir.number("key") == branch.number("key"):
                _rebase(work, chronicle, gone, heir.number("base_seq"))
            chronicle.tell(EventKind.TRANSCRIPT_CHANGED, min(first, heir.number("reach")))


def drop_spent_title(chronicle: Chronicle) -> None:
    """Let a title go whose words are gone, from the index too."""
    if follow_first_words(chronicle):
        unindex_title(chronicle.tx, chronicle.key)


def _lose(work: Work, chronicle: Chronicle, gone: Row, first: int, heir: Row) -> None:
    """Take a stretch of the base out of what an heir shows."""
    tx, last = work.tx, heir.number("reach")
    stretch = {"session_key": chronicle.key, "from_seq": first, "to_seq": last}
    lost = tx.one(
        "count_lost",
        session_key=gone.number("key"),
        heir_key=chronicle.key,
        from_seq=first,
        to_seq=last,
    )
    if lost is not None and lost.number("lost"):
        tx.run("lower_user_messages", key=chronicle.key, lost=lost.number("lost"))
    tx.run("free_cuts", **stretch)
    tx.all("drop_cuts_inside", **stretch)
    tx.run("clip_cuts", **stretch)
    tx.run("drop_memory", key=chronicle.key)
    if heir.number("base_seq") == last:
        _rebase(work, chronicle, gone, gone.number_or_none("base_seq"))
        _mark(chronicle, last)
    work.counts["branches"] += 1


def _rebase(work: Work, chronicle: Chronicle, gone: Row, base_seq: int | None) -> None:
    """Let an heir share what the base that goes had shared with its own base."""
    has_base = gone["base_key"] is not None
    work.tx.run(
        "rebase_session",
        key=chronicle.key,
        base_key=gone["base_key"],
        base_seq=base_seq if has_base else None,
        base_revision=gone["base_revision"],
        base_depth=gone.number("base_depth") if has_base else 0,
    )


def _mark(chronicle: Chronicle, seq: int) -> None:
    """Put the marker where the shared history ended."""
    marker = NewMessage(role=Role.SYSTEM, parts=(Marker(kind=MarkerKind.FORGOTTEN, text=_WHY),))
    text, parts = pack(marker.parts)
    row = expect(
        chronicle.tx,
        "add_message",
        session_key=chronicle.key,
        seq=seq,
        turn_id=None,
        role=marker.role,
        sender_key=None,
        text=text,
        parts=parts,
        at=chronicle.at,
        arrived_at=None,
        platform_id=None,
        reply_to=None,
    )
    index_line(chronicle.tx, row.number("key"))
