"""Messages that go: deleted with their session, or emptied where a transcript stays."""

from collections.abc import Sequence

from threadline.database.port import Row
from threadline.store.deletion.tasks import DeletionSlice
from threadline.store.search.index import reindex, unindex


def delete_messages(work: DeletionSlice, rows: Sequence[Row]) -> None:
    """Delete messages wholly; what they needed alone goes later."""
    # All of the index first: with each other change in between it would be written out anew.
    for row in rows:
        unindex(work.tx, row.number("key"))
    for row in rows:
        strip(work, row.number("key"))
        work.tx.run("drop_message", key=row.number("key"))
    work.counts["messages"] += len(rows)


def empty(work: DeletionSlice, rows: Sequence[Row]) -> list[int]:
    """Leave only the places of messages, so that the lines after them keep their numbers.

    Notes that quote them go later, in whichever session they are. Answers those places.
    """
    for row in rows:
        quoted = work.tx.one("list_notes_on", message_key=row.number("key"))
        if quoted is not None:
            work.add_task("notes", f"{quoted.text('session_id')} {quoted.number('seq')}")
    for row in rows:
        reindex(work.tx, row.number("key"), "")
    for row in rows:
        strip(work, row.number("key"))
        work.tx.run("empty_message", key=row.number("key"), now=work.at)
    work.counts["lines"] += len(rows)
    return [row.number("seq") for row in rows if row["seq"] is not None]


def strip(work: DeletionSlice, key: int) -> None:
    """Take from a message what it said before, and its attachments."""
    for used in work.tx.all("list_used_blobs", message_key=key):
        work.add_task("blob", used.text("hash"))
    work.tx.run("drop_blob_uses", message_key=key)
    work.tx.run("drop_quotes", message_key=key)
    work.tx.run("drop_revisions", message_key=key)


def drop_blob(work: DeletionSlice, hash: str, most: int) -> bool:
    """Delete a slice of an attachment that nobody needs any more; True when nothing is left."""
    if work.tx.one("drop_unused_blob", hash=hash) is not None:
        work.counts["attachments"] += 1
    return len(work.tx.all("drop_some_blob_chunks", hash=hash, most=most)) < most
