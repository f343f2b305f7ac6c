"""Messages that go: deleted with their session, or emptied where a transcript stays."""

from collections.abc import Sequence

from msgspec import Struct

from threadline.core.session import SessionId
from threadline.store.deletion.tasks import DeletionSlice
from threadline.store.search.index import reindex, unindex


class DoomedMessage(Struct, frozen=True, kw_only=True):
    """A message that goes, and its place in the transcript."""

    key: int
    seq: int | None


class _QuotedMessage(Struct, frozen=True, kw_only=True):
    """A message that notes of a session quote, by what they refer to it."""

    session_id: SessionId
    seq: int
    session_key: int


def delete_messages(work: DeletionSlice, doomed: Sequence[DoomedMessage]) -> None:
    """Delete messages wholly; what they needed alone goes later."""
    # All of the index first: with each other change in between it would be written out anew.
    for message in doomed:
        unindex(work.tx, message.key)
    for message in doomed:
        strip(work, message.key)
        work.tx.run("drop_message", key=message.key)
    work.counts["messages"] += len(doomed)


def empty(work: DeletionSlice, doomed: Sequence[DoomedMessage]) -> list[int]:
    """Leave only the places of messages, so that the lines after them keep their numbers.

    Notes that quote them go later, in whichever session they are. Answers those places.
    """
    for message in doomed:
        quoted = work.tx.one("list_notes_on", _QuotedMessage, message_key=message.key)
        if quoted is not None:
            work.add_task("notes", f"{quoted.session_id} {quoted.seq}")
    for message in doomed:
        reindex(work.tx, message.key, "")
    for message in doomed:
        strip(work, message.key)
        work.tx.run("empty_message", key=message.key, now=work.at)
    work.counts["lines"] += len(doomed)
    return [message.seq for message in doomed if message.seq is not None]


def strip(work: DeletionSlice, key: int) -> None:
    """Take from a message what it said before, and its attachments."""
    for used in work.tx.all("list_used_blobs", str, message_key=key):
        work.add_task("blob", used)
    work.tx.run("drop_blob_uses", message_key=key)
    work.tx.run("drop_quotes", message_key=key)
    work.tx.run("drop_revisions", message_key=key)


def drop_blob(work: DeletionSlice, hash: str, most: int) -> bool:
    """Delete a slice of an attachment that nobody needs any more; True when nothing is left."""
    if work.tx.exists("drop_unused_blob", hash=hash):
        work.counts["attachments"] += 1
    return len(work.tx.all("drop_some_blob_chunks", int, hash=hash, most=most)) < most
