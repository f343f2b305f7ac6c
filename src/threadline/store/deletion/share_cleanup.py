"""Pages, answers and files that repeat what is forgotten: they go with it."""

import re

from msgspec import Struct

from threadline.core.account import ShareId
from threadline.core.delivery import DeliveryState, output_marks
from threadline.core.event import EventKind
from threadline.store.deletion.tasks import DeletionSlice
from threadline.store.session_writer import SessionWriter

_STEM = re.compile(r"\d{8}-\d{6}-[0-9a-f]{12}")


class _LocalPiece(Struct, frozen=True, kw_only=True):
    """A file that a delivery to this machine has become, and the state of the delivery."""

    state: DeliveryState
    platform_id: str | None
    piece: str | None


def note_files(work: DeletionSlice, delivery_id: int) -> None:
    """Remember which files of a delivery to this machine have to be deleted.

    One that was cut off may have become files whose names were never stored.
    """
    pieces = work.tx.all("list_local_pieces", _LocalPiece, id=delivery_id)
    names = {
        match[0]
        for one in pieces
        for name in (one.platform_id, one.piece)
        if name is not None and (match := _STEM.match(name))
    }
    if any(one.state is not DeliveryState.SENT for one in pieces):
        names |= output_marks(delivery_id, len(pieces) + 1)
    for name in sorted(names):
        work.tx.run("add_output", forgetting_id=work.id, session_id=name)


def drop_pages(work: DeletionSlice, writer: SessionWriter) -> None:
    """Delete the shared pages of a session, and the answers to requests that may tell of it.

    A page is one piece: nobody can tell which of its words are to stay. So is a file that was
    written of it; it is deleted afterwards, by whoever can.
    """
    dropped = work.tx.all("drop_shares_of_session", ShareId, session_key=writer.key)
    if dropped:
        writer.tell(EventKind.SHARE_CHANGED)
    work.counts["shares"] += len(dropped)
    work.tx.run("hush_outcomes_of_session", session_id=writer.id)
    work.tx.run("hush_outcomes_of_any")
    work.tx.run("add_output", forgetting_id=work.id, session_id=writer.id)
