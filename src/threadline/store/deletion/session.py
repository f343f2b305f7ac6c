"""A session that goes as a whole, in steps that each fit into one short transaction."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from threadline.core.address import Address, Kind, Sender
from threadline.core.budget import CapKind
from threadline.core.deletion import DeletionKind
from threadline.core.delivery import DeliveryId
from threadline.core.event import EventKind
from threadline.core.message import Attachment, MarkerKind, Part
from threadline.core.route import canonical_chat
from threadline.core.turn import TurnId, TurnState
from threadline.database.port import SqlValue, expect
from threadline.store.deletion import branches, messages
from threadline.store.deletion.share_cleanup import drop_pages, note_files
from threadline.store.deletion.tasks import DeletionSlice, Remains
from threadline.store.deliveries.recovery import delete_delivery
from threadline.store.search.index import unindex_title
from threadline.store.session_writer import SessionState, SessionWriter, write_session_by_key
from threadline.store.transcripts.notes import list_notes
from threadline.store.turns.terminate import close_turn

_MESSAGES = 16
_TURNS = 60
_FAMILY = 30
_ROWS = 300
_EVENTS = 5_000


class OwedWords(Struct, frozen=True, kw_only=True):
    """Words that are owed without a turn."""

    id: DeliveryId
    parts: tuple[Part, ...]


class OwedReply(OwedWords, frozen=True, kw_only=True):
    """Words that are owed because a sender asked for them with a command."""

    session_key: int | None


class _Place(Struct, frozen=True, kw_only=True):
    """A place that a session belongs to, and the sender who owns the session."""

    key: int
    profile: str
    address: Address
    sender_id: str | None


class _FeedEnds(Struct, frozen=True, kw_only=True):
    """The ids of the oldest and the newest event."""

    oldest: int
    newest: int


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
    gone = expect(work.tx, "read_remains", Remains, key=key)
    # Nobody carries anything over from it any more: what others quote of it goes after it.
    if list_notes(work.tx, gone.id, most=1):
        work.add_task("notes", gone.id)
    if any(step(work, gone) for step in _STEPS) or _drop_events(work, gone, seen):
        return False
    _bury(work, gone, seen)
    return True


def _quieten(writer: SessionWriter) -> None:
    """Stop what runs there, and take the words out of the session's own row."""
    tx, key = writer.tx, writer.key
    for turn_id in tx.all("list_turns_to_stop", TurnId, session_key=key):
        why = "Stopped, because the conversation is being forgotten."
        close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, why)
    unindex_title(tx, key)
    if tx.exists("hush_session", key=key, now=writer.at):
        was_open = writer.session.ended_at is None
        writer.tell(EventKind.SESSION_ENDED if was_open else EventKind.SESSION_CHANGED)
    tx.run("drop_holds", session_key=key)
    tx.run("drop_marks", session_key=key)
    tx.run("drop_drafts", session_key=key)
    tx.run("drop_tellings_of_session", session_key=key)
    tx.run("drop_endings", session_key=key)
    tx.run("drop_allowances_of_session", session_key=key)
    tx.run("take_waiting_commands_of", session_key=key)


def _detach_branch(work: DeletionSlice, gone: Remains) -> bool:
    branch = work.tx.one("next_heir", int, key=gone.key)
    if branch is not None:
        branches.detach(work, gone, branch)
    return branch is not None


def _relink_family(work: DeletionSlice, gone: Remains) -> bool:
    """Take the session out of the lineage of others."""
    tx, key = work.tx, gone.key
    family = tx.all("list_family", int, key=key, most=_FAMILY)
    heir = tx.one("find_root_heir", int, key=key) if family else None
    for relative in family:
        opened = work.open(relative)
        if opened is None:
            continue
        with opened as writer:
            drop_pages(work, writer)
            tx.run("drop_memory", key=writer.key)
            tx.run(
                "relink_session",
                key=writer.key,
                gone=key,
                parent_key=gone.parent_key,
                heir_key=heir,
            )
            writer.tell(EventKind.SESSION_CHANGED)
    return bool(family)


def _drop_messages(work: DeletionSlice, gone: Remains) -> bool:
    doomed = work.tx.all(
        "list_doomed", messages.DoomedMessage, session_key=gone.key, most=_MESSAGES
    )
    messages.delete_messages(work, doomed)
    if doomed:
        places = [message.seq for message in doomed if message.seq is not None]
        _tell(work, gone, EventKind.TRANSCRIPT_CHANGED, min(places, default=1))
    return bool(doomed)


def _tell(work: DeletionSlice, gone: Remains, kind: EventKind, subject: int | None = None) -> None:
    """Tell whoever still looks at the session that there is less of it."""
    with write_session_by_key(work.tx, gone.key) as writer:
        writer.tell(kind, subject)


def _drop_cuts(work: DeletionSlice, gone: Remains) -> bool:
    everything: dict[str, SqlValue] = {
        "session_key": gone.key,
        "from_seq": 0,
        "to_seq": 2**62,
    }
    work.tx.run("free_cuts", **everything)
    is_changed = work.tx.exists("drop_cuts_inside", **everything)
    if is_changed:
        _tell(work, gone, EventKind.TRANSCRIPT_CHANGED, 1)
    return is_changed


def _loosen_arrivals(work: DeletionSlice, gone: Remains) -> bool:
    """Remember that messages arrived, so that none comes twice, but not which session they entered.

    The arrivals are found by their session: a message sent from the web app or an approval given
    elsewhere arrived in another chat.
    """
    for place in work.tx.all("list_places_of", _Place, key=gone.key):
        chat: dict[str, SqlValue] = {
            "profile": place.profile,
            "platform": place.address.platform,
            "account": place.address.account,
            "chat": canonical_chat(place.address, Sender(id=place.sender_id)),
        }
        work.tx.run("drop_early_changes", sender_id=place.sender_id, **chat)
        if work.kind is DeletionKind.PERSON and place.address.kind is Kind.DM:
            # The name of the chat identifies the person.
            work.add_task("address", place.key)
            if work.tx.exists("drop_arrivals", sender_key=gone.sender_key, most=_ROWS, **chat):
                return True
    return work.tx.exists("loosen_arrivals", session_key=gone.key, most=_ROWS)


def _drop_turns(work: DeletionSlice, gone: Remains) -> bool:
    turns = work.tx.all("list_doomed_turns", TurnId, session_key=gone.key, most=_TURNS)
    last_delivery = 0
    for turn_id in turns:
        work.tx.run("drop_chunks", turn_id=turn_id)
        for owed in work.tx.all("list_deliveries_of_turn", DeliveryId, turn_id=turn_id):
            last_delivery = max(last_delivery, owed)
            note_files(work, owed)
            delete_delivery(work.tx, owed)
        work.tx.run("drop_turn_targets", turn_id=turn_id)
        work.tx.run("drop_turn", id=turn_id)
    if turns:
        last = turns[-1]
        work.tx.run("raise_last_numbers", id=work.id, turn_id=last, delivery_id=last_delivery)
        _tell(work, gone, EventKind.SESSION_CHANGED)
    work.counts["turns"] += len(turns)
    return bool(turns)


def _drop_words(work: DeletionSlice, gone: Remains) -> bool:
    """Delete what was owed in the session without a turn: answers to commands."""
    drop_owed(work, work.tx.all("list_words_of_session", OwedWords, session_key=gone.key))
    return False


def drop_owed(work: DeletionSlice, owed: Sequence[OwedWords]) -> None:
    """Delete words that are owed, with their files; their numbers are not given again."""
    for words in owed:
        for file in (part for part in words.parts if isinstance(part, Attachment)):
            work.add_task("blob", file.blob)
        note_files(work, words.id)
        delete_delivery(work.tx, words.id)
        work.tx.run("raise_last_numbers", id=work.id, turn_id=0, delivery_id=words.id)


def _anonymise_usage(work: DeletionSlice, gone: Remains) -> bool:
    """Keep what was spent as numbers that belong to nobody, so that bills still add up."""
    return work.tx.exists("anonymise_usage", session_key=gone.key, most=_ROWS)


_STEPS: tuple[Callable[[DeletionSlice, Remains], bool], ...] = (
    _detach_branch,
    _relink_family,
    _drop_messages,
    _drop_cuts,
    _loosen_arrivals,
    _drop_turns,
    _drop_words,
    _anonymise_usage,
)


def _drop_events(work: DeletionSlice, gone: Remains, seen: int) -> bool:
    """Delete a slice of the session's events; the newest of all stays, as ids go on from it."""
    ends = expect(work.tx, "read_feed_ends", _FeedEnds)
    seen = max(seen, ends.oldest - 1)
    upto = min(seen + _EVENTS, ends.newest - 1)
    if upto <= seen:
        return False
    subject = str(gone.key)
    work.tx.run("drop_events", session_key=gone.key, after=seen, upto=upto)
    work.tx.run("note_seen", forgetting_id=work.id, step="session", subject=subject, seen=upto)
    return upto < ends.newest - 1


def _bury(work: DeletionSlice, gone: Remains, seen: int) -> None:
    """Delete the session's row, tell the feed, and leave tombstones."""
    tx = work.tx
    work.bury("session", gone.id)
    if gone.native_id is not None:
        work.bury("native", gone.native_source or "", gone.native_id)
    tx.run("tell_forgotten", session_id=gone.id, revision=gone.revision + 1, at=work.at)
    tx.run("drop_events", session_key=gone.key, after=seen, upto=2**62)
    tx.run("drop_spend_warnings", cap=CapKind.SESSION, subject=gone.id)
    tx.run("drop_session", key=gone.key)
    work.counts["sessions"] += 1
