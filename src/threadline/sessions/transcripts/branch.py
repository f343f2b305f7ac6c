"""Branches: another way from a place in a conversation, without copying what was said before."""

from datetime import datetime

from threadline.core.address import Address, Sender
from threadline.core.cut import Edited
from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.message import Attachment, Message, NewMessage, Role, Text
from threadline.core.route import route
from threadline.core.rules import Rules
from threadline.core.session import Session, SessionId
from threadline.core.text import checked_count, checked_text, clean_title
from threadline.sessions.chronicle import open_chronicle, require_writable
from threadline.sessions.conversations import Change, NewId, switch
from threadline.sessions.people.aliases import resolve
from threadline.sessions.people.gathering import gather_for, is_one_conversation
from threadline.sessions.transcripts.children import fork
from threadline.sessions.transcripts.layout import Layout, layout_of
from threadline.sessions.transcripts.lines import forwards
from threadline.sessions.transcripts.titles import follow_first_words
from threadline.sessions.views import read_session
from threadline.storage.database import Transaction, expect


def branch(
    tx: Transaction,
    id: SessionId,
    *,
    at: int | None = None,
    title: str | None = None,
    now: datetime,
    new_id: NewId,
) -> Session:
    """Begin a session that shares another one's transcript up to a line; None: up to its end.

    Whatever happens to one of them later does not show in the other. No route is bound to it.
    """
    named = None if title is None else clean_title(checked_text(title, "title"))
    with open_chronicle(tx, id, now) as chronicle:
        layout = layout_of(tx, id)
        place = layout.last_seq if at is None else checked_count(at, "sequence number")
        if place not in {0, layout.last_seq} and _line(tx, layout, place) is None:
            raise _no_line(id, place)
        with fork(chronicle, layout, place, title=named or None, new_id=new_id) as child:
            pass
    return read_session(tx, child.id)


def branch_route(
    tx: Transaction,
    address: Address,
    sender: Sender,
    *,
    profile: str,
    title: str | None,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Change:
    """Let a route go on in a branch of its session, which ends as with a switch."""
    named, speaker = resolve(tx, address, sender)
    where = route(named, speaker, rules.scopes_for(address.platform), profile)
    if is_one_conversation(address, rules):
        gather_for(tx, where, named, speaker, profile=profile, now=now)
    bound = tx.one("lock_bound_session", route=where)
    if bound is None:
        raise NotFound("Nobody has spoken here yet", id=where, hint="Say something first")
    child = branch(tx, SessionId(bound.text("id")), title=title, now=now, new_id=new_id)
    return switch(tx, address, sender, profile=profile, to=child.id, rules=rules, now=now)


def edit(
    tx: Transaction, id: SessionId, seq: int, text: str, *, now: datetime, new_id: NewId
) -> Edited:
    """Let a line of a person read differently: in a branch that begins before it.

    The new text is asked there at once, together with what was attached to the old one.
    """
    place = checked_count(seq, "sequence number", 1)
    if not checked_text(text, "text").strip():
        raise Invalid("The new text is empty", id=id, hint="Write something")
    with require_writable(open_chronicle(tx, id, now)) as chronicle:
        layout = layout_of(tx, id)
        old = _spoken_line(tx, layout, place)
        with fork(chronicle, layout, place - 1, title=None, new_id=new_id) as child:
            author = expect(tx, "read_author", key=old.key)
            turn_id = child.queue_turn(author.number("address_key"))
            attached = tuple(part for part in old.parts if isinstance(part, Attachment))
            said = NewMessage(role=Role.USER, parts=(Text(text=text), *attached))
            child.keep(said, turn_id, author.number_or_none("sender_key"))
            follow_first_words(child)
    return Edited(session=read_session(tx, child.id), turn_id=turn_id)


def _spoken_line(tx: Transaction, layout: Layout, seq: int) -> Message:
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


def _line(tx: Transaction, layout: Layout, seq: int) -> Message | None:
    """Read a line; None if it is out of sight, or was forgotten."""
    return next(forwards(tx, layout, layout.hidden(), after=seq - 1, before=seq + 1), None)


def _no_line(id: SessionId, seq: int) -> NotFound:
    return NotFound(f"There is no visible line {seq}", id=id, hint="Read the transcript")
