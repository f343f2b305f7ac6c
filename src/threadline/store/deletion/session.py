"""A session that goes as a whole, in steps that each fit into one short transaction."""

from collections.abc import Callable, Sequence

from threadline.core.address import Kind, Sender
from threadline.core.budget import CapKind
from threadline.core.deletion import DeletionKind
from threadline.core.event import EventKind
from threadline.core.message import Attachment, MarkerKind, unpack
from threadline.core.route import canonical_chat
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.database.port import Row, SqlValue, expect
from threadline.store.deletion import branches, messages
from threadline.store.deletion.share_cleanup import drop_pages, note_files
from threadline.store.deletion.tasks import DeletionSlice
from threadline.store.deliveries.recovery import delete_delivery
from threadline.store.row_mappers import address_from_row
from threadline.store.search.index import unindex_title
from threadline.store.session_writer import SessionState, SessionWriter, write_session_by_key
from threadline.store.transcripts.notes import list_notes
from threadline.store.turns.terminate import close_turn

_MESSAGES = 16
_TURNS = 60
_FAMILY = 30
_ROWS = 300
_EVENTS = 5_000


def remove_some(work: DeletionSlice, key: int, seen: int) -> bool:
    """Remove a slice of a session; True when nothing of it is left.

    Each step finds by itself what is left to do, so that it goes on after any interruption.
    """
    # Runs and routes first, as everywhere: whoever speaks there now waits, and begins anew.
    work.tx.run("loosen_job_runs", session_key=key)
    work.tx.run("unbind_session", session_key=key)
    session = work.tx.one("lock_session_by_key", SessionState, key=key)
    if session is None:
        return True
    with SessionWriter(work.tx, session) as writer:
        _quieten(writer)
        drop_pages(work, writer)
    gone = expect(work.tx, "read_remains", key=key)
    # Nobody carries anything over from it any more: what others quote of it goes after it.
    if list_notes(work.tx, SessionId(gone.text("id")), most=1):
        work.add_task("notes", gone.text("id"))
    if any(step(work, gone) for step in _STEPS) or _drop_events(work, gone, seen):
        return False
    _bury(work, gone, seen)
    return True


def _quieten(writer: SessionWriter) -> None:
    """Stop what runs there, and take the words out of the session's own row."""
    tx, key = writer.tx, writer.key
    for turn in tx.all("list_unfinished", session_key=key):
        why = "Stopped, because the conversation is being forgotten."
        turn_id = TurnId(turn.number("id"))
        close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, why)
    unindex_title(tx, key)
    if tx.one("hush_session", key=key, now=writer.at) is not None:
        was_open = writer.session.ended_at is None
        writer.tell(EventKind.SESSION_ENDED if was_open else EventKind.SESSION_CHANGED)
    tx.run("drop_holds", session_key=key)
    tx.run("drop_marks", session_key=key)
    tx.run("drop_drafts", session_key=key)
    tx.run("drop_tellings_of_session", session_key=key)
    tx.run("drop_endings", session_key=key)
    tx.run("drop_allowances_of_session", session_key=key)
    tx.run("take_waiting_commands_of", session_key=key)


def _detach_branch(work: DeletionSlice, gone: Row) -> bool:
    branch = work.tx.one("next_heir", key=gone.number("key"))
    if branch is not None:
        branches.detach(work, gone, branch)
    return branch is not None


def _relink_family(work: DeletionSlice, gone: Row) -> bool:
    """Take the session out of the lineage of others."""
    tx, key = work.tx, gone.number("key")
    rows = tx.all("list_family", key=key, most=_FAMILY)
    heir = expect(tx, "find_root_heir", key=key)["key"] if rows else None
    for row in rows:
        opened = work.open(row.number("key"))
        if opened is None:
            continue
        with opened as writer:
            drop_pages(work, writer)
            tx.run("drop_memory", key=writer.key)
            tx.run(
                "relink_session",
                key=writer.key,
                gone=key,
                parent_key=gone["parent_key"],
                heir_key=heir,
            )
            writer.tell(EventKind.SESSION_CHANGED)
    return bool(rows)


def _drop_messages(work: DeletionSlice, gone: Row) -> bool:
    rows = work.tx.all("list_doomed", session_key=gone.number("key"), most=_MESSAGES)
    messages.delete_messages(work, rows)
    if rows:
        places = [row.number("seq") for row in rows if row["seq"] is not None]
        _tell(work, gone, EventKind.TRANSCRIPT_CHANGED, min(places, default=1))
    return bool(rows)


def _tell(work: DeletionSlice, gone: Row, kind: EventKind, subject: int | None = None) -> None:
    """Tell whoever still looks at the session that there is less of it."""
    with write_session_by_key(work.tx, gone.number("key")) as writer:
        writer.tell(kind, subject)


def _drop_cuts(work: DeletionSlice, gone: Row) -> bool:
    everything: dict[str, SqlValue] = {
        "session_key": gone.number("key"),
        "from_seq": 0,
        "to_seq": 2**62,
    }
    work.tx.run("free_cuts", **everything)
    rows = work.tx.all("drop_cuts_inside", **everything)
    if rows:
        _tell(work, gone, EventKind.TRANSCRIPT_CHANGED, 1)
    return bool(rows)


def _loosen_arrivals(work: DeletionSlice, gone: Row) -> bool:
    """Remember that messages arrived, so that none comes twice, but not which session they entered.

    The arrivals are found by their session: a message sent from the web app or an approval given
    elsewhere arrived in another chat.
    """
    for place in work.tx.all("list_places_of", key=gone.number("key")):
        sender_id = place.text_or_none("sender_id")
        chat: dict[str, SqlValue] = {
            "profile": place.text("profile"),
            "platform": place.text("platform"),
            "account": place.text("account"),
            "chat": canonical_chat(address_from_row(place), Sender(id=sender_id)),
        }
        work.tx.run("drop_early_changes", sender_id=sender_id, **chat)
        if work.kind is DeletionKind.PERSON and place.text("kind") == Kind.DM:
            # The name of the chat identifies the person.
            work.add_task("address", place.number("key"))
            sender_key = gone.number_or_none("sender_key")
            if work.tx.all("drop_arrivals", sender_key=sender_key, most=_ROWS, **chat):
                return True
    return bool(work.tx.all("loosen_arrivals", session_key=gone.number("key"), most=_ROWS))


def _drop_turns(work: DeletionSlice, gone: Row) -> bool:
    rows = work.tx.all("list_doomed_turns", session_key=gone.number("key"), most=_TURNS)
    delivery_id = 0
    for row in rows:
        turn_id = row.number("id")
        work.tx.run("drop_chunks", turn_id=turn_id)
        for owed in work.tx.all("list_deliveries_of_turn", turn_id=turn_id):
            delivery_id = max(delivery_id, owed.number("id"))
            note_files(work, owed.number("id"))
            delete_delivery(work.tx, owed.number("id"))
        work.tx.run("drop_turn_targets", turn_id=turn_id)
        work.tx.run("drop_turn", id=turn_id)
    if rows:
        last = rows[-1].number("id")
        work.tx.run("raise_last_numbers", id=work.id, turn_id=last, delivery_id=delivery_id)
        _tell(work, gone, EventKind.SESSION_CHANGED)
    work.counts["turns"] += len(rows)
    return bool(rows)


def _drop_words(work: DeletionSlice, gone: Row) -> bool:
    """Delete what was owed in the session without a turn: answers to commands."""
    drop_owed(work, work.tx.all("list_words_of_session", session_key=gone.number("key")))
    return False


def drop_owed(work: DeletionSlice, owed: Sequence[Row]) -> None:
    """Delete words that are owed, with their files; their numbers are not given again."""
    for row in owed:
        parts = unpack(row.text_or_none("text") or "", row.text_or_none("parts"))
        for file in (part for part in parts if isinstance(part, Attachment)):
            work.add_task("blob", file.blob)
        note_files(work, row.number("id"))
        delete_delivery(work.tx, row.number("id"))
        work.tx.run("raise_last_numbers", id=work.id, turn_id=0, delivery_id=row.number("id"))


def _anonymise_usage(work: DeletionSlice, gone: Row) -> bool:
    """Keep what was spent as numbers that belong to nobody, so that bills still add up."""
    return bool(work.tx.all("anonymise_usage", session_key=gone.number("key"), most=_ROWS))


_STEPS: tuple[Callable[[DeletionSlice, Row], bool], ...] = (
    _detach_branch,
    _relink_family,
    _drop_messages,
    _drop_cuts,
    _loosen_arrivals,
    _drop_turns,
    _drop_words,
    _anonymise_usage,
)


def _drop_events(work: DeletionSlice, gone: Row, seen: int) -> bool:
    """Delete a slice of the session's events; the newest of all stays, as ids go on from it."""
    ends = expect(work.tx, "read_feed_ends")
    newest, seen = ends.number("newest"), max(seen, ends.number("oldest") - 1)
    upto = min(seen + _EVENTS, newest - 1)
    if upto <= seen:
        return False
    key = gone.number("key")
    work.tx.run("drop_events", session_key=key, after=seen, upto=upto)
    work.tx.run("note_seen", forgetting_id=work.id, step="session", subject=str(key), seen=upto)
    return upto < newest - 1


def _bury(work: DeletionSlice, gone: Row, seen: int) -> None:
    """Delete the session's row, tell the feed, and leave tombstones."""
    tx, id = work.tx, gone.text("id")
    work.bury("session", id)
    if (native := gone.text_or_none("native_id")) is not None:
        work.bury("native", gone.text_or_none("native_source") or "", native)
    tx.run("tell_forgotten", session_id=id, revision=gone.number("revision") + 1, at=work.at)
    tx.run("drop_events", session_key=gone.number("key"), after=seen, upto=2**62)
    tx.run("drop_spend_warnings", cap=CapKind.SESSION, subject=id)
    tx.run("drop_session", key=gone.number("key"))
    work.counts["sessions"] += 1
