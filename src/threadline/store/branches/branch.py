"""Branches: another way from a place in a conversation, without copying what was said before."""

from threadline.core.address import Address, Sender
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.core.hidden_range import Edited
from threadline.core.message import Attachment, Message, NewMessage, Role, Text
from threadline.core.person import Viewer
from threadline.core.route import route
from threadline.core.session import Session, SessionId
from threadline.core.validation import checked_count, checked_text, clean_title
from threadline.database.port import Transaction
from threadline.store.branches.child_sessions import fork
from threadline.store.people.aliases import resolve_aliases
from threadline.store.people.persons import remember_asker
from threadline.store.queries import read_session
from threadline.store.session_writer import SessionState, require_writable, write_session
from threadline.store.sessions.bindings import BindingChange, switch
from threadline.store.sessions.merge_dms import is_one_conversation, join_before_command
from threadline.store.transcripts.history import forwards
from threadline.store.transcripts.segments import TranscriptLayout, layout_of
from threadline.store.transcripts.titles import follow_first_words


def branch(
    tx: Transaction, id: SessionId, *, at: int | None = None, title: str | None = None
) -> Session:
    """Begin a session that shares another one's transcript up to a line; None: up to its end.

    Whatever happens to one of them later does not show in the other. No route is bound to it.
    """
    named = None if title is None else clean_title(checked_text(title, "title"))
    with write_session(tx, id) as writer:
        layout = layout_of(tx, id)
        place = layout.last_seq if at is None else checked_count(at, "sequence number")
        if place not in {0, layout.last_seq} and _line(tx, layout, place) is None:
            raise _no_line(id, place)
        with fork(writer, layout, place, title=named or None) as child:
            pass
    return read_session(tx, child.id)


def branch_route(
    tx: Transaction, address: Address, sender: Sender, *, profile: str, title: str | None
) -> BindingChange:
    """Let a route go on in a branch of its session, which ends as with a switch."""
    named, speaker = resolve_aliases(tx, address, sender)
    where = route(named, speaker, tx.settings.scopes_for(address.platform), profile)
    if is_one_conversation(address, tx.settings):
        join_before_command(tx, where, named, speaker, profile=profile)
    bound = tx.one("lock_bound_session", SessionState, route=where)
    if bound is None:
        raise NotFound("Nobody has spoken here yet", id=where, hint="Say something first")
    child = branch(tx, bound.id, title=title)
    return switch(tx, address, sender, profile=profile, to=child.id)


def edit_in_branch(tx: Transaction, id: SessionId, seq: int, text: str, *, by: Viewer) -> Edited:
    """Replace a message of a person, in a branch that begins before it, and queue its turn.

    The new text has the attachments of the old one. The editor is its author and pays for the turn.
    The reply goes only to where the editor is.
    """
    place = checked_count(seq, "sequence number", 1)
    if not checked_text(text, "text").strip():
        raise Invalid("The new text is empty", id=id, hint="Write something")
    sender_key, address_key = remember_asker(tx, by)
    if sender_key is None:
        raise Refused("The editor is not known", id=id, hint="Give a sender with an id")
    with require_writable(write_session(tx, id)) as writer:
        layout = layout_of(tx, id)
        old = _spoken_line(tx, layout, place)
        with fork(writer, layout, place - 1, title=None) as child:
            turn_id = child.queue_turn(address_key)
            attached = tuple(part for part in old.parts if isinstance(part, Attachment))
            said = NewMessage(role=Role.USER, parts=(Text(text=text), *attached))
            child.keep(said, turn_id, sender_key)
            follow_first_words(child)
    return Edited(session=read_session(tx, child.id), turn_id=turn_id)


def _spoken_line(tx: Transaction, layout: TranscriptLayout, seq: int) -> Message:
    """Find a line in sight that a person said."""
    line = _line(tx, layout, seq)
    if line is None:
        raise _no_line(layout.id, seq)
    if line.role is not Role.USER or line.deleted_at is not None:
        raise Conflict(
            f"Line {seq} cannot be edited",
            id=layout.id,
            hint="Only what a person said and has not deleted can be edited",
        )
    return line


def _line(tx: Transaction, layout: TranscriptLayout, seq: int) -> Message | None:
    """Read a line; None if it is out of sight, or was forgotten."""
    return next(forwards(tx, layout, layout.hidden(), after=seq - 1, before=seq + 1), None)


def _no_line(id: SessionId, seq: int) -> NotFound:
    return NotFound(f"There is no visible line {seq}", id=id, hint="Read the transcript")
