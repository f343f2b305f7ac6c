"""Bindings: which session a route goes on with, and how that changes."""

from collections.abc import Sequence
from itertools import islice

from msgspec import Struct

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import Message, NewMessage, Role
from threadline.core.person import Viewer
from threadline.core.reset_policy import CarryKind, ResetPolicy
from threadline.core.route import Route, is_multi_user, route
from threadline.core.session import (
    Cause,
    EndReason,
    SessionId,
    TitleSource,
    make_session_id,
)
from threadline.core.system_notes import carry_summary, quote_last_messages, tell_agent, tell_person
from threadline.core.validation import checked_text, clean_title
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.people.address_book import KnownAddress, look_up, upsert_address
from threadline.store.people.aliases import resolve_aliases, resolve_inbound
from threadline.store.people.visibility import asker_keys, find_owned
from threadline.store.session_writer import (
    SessionState,
    SessionWriter,
    is_being_deleted,
    write_session,
)
from threadline.store.sessions.merge_dms import is_one_conversation, join_before_command, move_dms
from threadline.store.sessions.session_end import end_if_unbound, end_open_session
from threadline.store.transcripts.history import backwards
from threadline.store.transcripts.segments import layout_of

"""Gives 32 random bits for a session id."""

RESETS = frozenset({Cause.IDLE, Cause.DAILY, Cause.SUSPENDED})
SUMMARY_STANDS_IN = 6
"""Messages that are carried over where a summary is wanted and nobody has made one."""


class OpenedSession(Struct, frozen=True, kw_only=True):
    """A session that just began, and what its agent has to be told first."""

    writer: SessionWriter
    cause: Cause
    notes: Sequence[NewMessage] = ()


class BindingChange(Struct, frozen=True, kw_only=True):
    """What became of a route: the session it left and the one it goes on with."""

    left_id: SessionId | None
    session_id: SessionId | None
    """None: the next message begins a new one."""


class SessionOwner(Struct, frozen=True, kw_only=True):
    """Whose a session is, and where it is at home."""

    profile: str
    platform: str
    kind: Kind
    address_key: int
    sender_key: int | None


def open_session(
    tx: Transaction,
    place: KnownAddress,
    where: Route,
    before: SessionState | None,
    cause: Cause,
    *,
    title: str | None = None,
    titled_by: TitleSource = TitleSource.FIRST_WORDS,
) -> OpenedSession:
    """Begin a session after another one, or the first, and bind the route to it."""
    address = place.address
    shared = is_multi_user(address, tx.settings.scopes_for(address.platform))
    seat = SessionOwner(
        profile=place.profile,
        platform=address.platform,
        kind=address.kind,
        address_key=place.address_key,
        sender_key=None if shared else place.sender_key,
    )
    opening = create_unbound_session(tx, seat, before, cause, title=title, titled_by=titled_by)
    tx.run(
        "bind_new_route" if before is None else "bind_route",
        route=where,
        session_key=opening.writer.key,
        sender_key=seat.sender_key,
        now=stamp(tx.now),
    )
    if (
        before is not None
        and place.person_key is not None
        and is_one_conversation(address, tx.settings)
    ):
        keys = before.key, opening.writer.key
        move_dms(tx, place.person_key, *keys, profile=place.profile)
    return opening


def open_apart(
    tx: Transaction, seat: SessionOwner, where: Route, *, title: str | None
) -> SessionWriter:
    """Begin the first session of somebody who spoke in another's until now; it knows of nothing."""
    opening = create_unbound_session(
        tx, seat, None, Cause.FIRST, title=title, titled_by=TitleSource.FIRST_WORDS
    )
    tx.run(
        "bind_route",
        route=where,
        session_key=opening.writer.key,
        sender_key=seat.sender_key,
        now=stamp(tx.now),
    )
    return opening.writer


def succeed(writer: SessionWriter, cause: Cause) -> OpenedSession:
    """Begin a session in the place of another, and let all its routes go on there."""
    tx = writer.tx
    before = expect(tx, "read_seat", SessionState, key=writer.key)
    seat = SessionOwner(
        profile=before.profile,
        platform=before.platform,
        kind=before.kind,
        address_key=before.address_key,
        sender_key=before.sender_key,
    )
    opening = create_unbound_session(
        tx,
        seat,
        before,
        cause,
        title=before.title,
        titled_by=before.titled_by or TitleSource.FIRST_WORDS,
    )
    tx.run("rebind_all", from_key=writer.key, to_key=opening.writer.key, now=writer.at)
    return opening


def create_unbound_session(
    tx: Transaction,
    seat: SessionOwner,
    before: SessionState | None,
    cause: Cause,
    *,
    title: str | None,
    titled_by: TitleSource,
) -> OpenedSession:
    """Begin a session that no route is bound to yet."""
    policy = tx.settings.policies.resolve(seat.platform, seat.kind)
    told = before is not None and before.last_seq > 0 and cause in RESETS
    notice = cause if told and policy.notify and tell_person(cause) else None
    id = make_session_id(tx.now, tx.new_id())
    session = expect(
        tx,
        "open_session",
        SessionState,
        id=id,
        profile=seat.profile,
        platform=seat.platform,
        kind=seat.kind,
        address_key=seat.address_key,
        sender_key=seat.sender_key,
        parent_key=None if before is None else before.key,
        root_key=None if before is None else before.root_key,
        cause=cause,
        notice=notice,
        title=title or None,
        titled_by=titled_by if title else None,
        now=stamp(tx.now),
    )
    writer = SessionWriter(tx, session)
    writer.tell(EventKind.SESSION_OPENED)
    notes = _notes(tx, before, cause, policy) if told and before is not None else ()
    return OpenedSession(writer=writer, cause=cause, notes=notes)


def _notes(
    tx: Transaction, before: SessionState, cause: Cause, policy: ResetPolicy
) -> Sequence[NewMessage]:
    """Answer what the agent is told of the session before: why it ended, what is carried over."""
    reason = tell_agent(cause)
    notes = [] if reason is None else [reason]
    if policy.carry.kind is CarryKind.SUMMARY and before.summary is not None:
        notes.append(carry_summary(before.summary, before.id))
    elif policy.carry.kind is not CarryKind.NOTHING:
        words = _last_words(tx, before, policy.carry.messages or SUMMARY_STANDS_IN)
        if words:
            notes.append(quote_last_messages(words))
    return notes


def _last_words(tx: Transaction, session: SessionState, most: int) -> list[Message]:
    layout = layout_of(tx, session.id)
    spoken = (
        line
        for line in backwards(tx, layout, layout.hidden())
        if line.role in {Role.USER, Role.ASSISTANT} and line.deleted_at is None
    )
    return list(islice(spoken, most))[::-1]


def reset(
    tx: Transaction, address: Address, sender: Sender, *, profile: str, title: str | None
) -> BindingChange:
    """End the session of a route because somebody asked for a new one.

    The new one begins with the next message, or at once if it was given a title.
    """
    cleaned = None if title is None else clean_title(checked_text(title, "title"))
    asked = Inbound.text("/new", address=address, sender=sender, at=tx.now, profile=profile)
    named = resolve_inbound(tx, asked)
    where = route(
        named.address, named.sender, tx.settings.scopes_for(address.platform), asked.profile
    )
    if is_one_conversation(address, tx.settings):
        join_before_command(tx, where, named.address, named.sender, profile=named.profile)
    before = tx.one("lock_bound_session", SessionState, route=where)
    left_id = None
    if before is not None:
        with SessionWriter(tx, before) as writer:
            if end_open_session(writer, EndReason.NEW):
                left_id = writer.id
            else:
                # It had ended by itself; from now on it has ended because somebody wished so.
                tx.run("set_end_reason", key=writer.key, reason=EndReason.NEW)
                writer.tell(EventKind.SESSION_CHANGED)
    if not cleaned:
        return BindingChange(left_id=left_id, session_id=None)
    place = upsert_address(tx, named, address, look_up(tx, named, address))
    opening = open_session(
        tx,
        place,
        where,
        before,
        Cause.NEW if before is not None else Cause.FIRST,
        title=cleaned,
        titled_by=TitleSource.PERSON,
    )
    with opening.writer as fresh:
        if place.greeting is not None:
            fresh.keep(place.greeting, None)
        return BindingChange(left_id=left_id, session_id=fresh.id)


def switch(
    tx: Transaction, address: Address, sender: Sender, *, profile: str, to: SessionId
) -> BindingChange:
    """Let a route go on with another session that the asker may see.

    The session it leaves ends, unless another route is bound to it. Already there: left is None.
    """
    scopes = tx.settings.scopes_for(address.platform)
    where = route(*resolve_aliases(tx, address, sender), scopes, profile)
    keys = asker_keys(tx, Viewer(address=address, sender=sender, profile=profile))
    target = find_owned(tx, to)
    if target is None or not keys.admits(target):
        raise NotFound("There is no such session", id=to)
    shared = is_multi_user(address, scopes)
    if shared and target.sender_key is not None:
        raise _not_shared(to)
    to_key = target.key
    bound = _lock_both(tx, where, to_key)
    if not tx.exists("lock_session_by_key", key=to_key) or is_being_deleted(tx, to_key):
        raise NotFound("There is no such session", id=to)
    if bound is not None and bound.id == to:
        if bound.is_open:
            return BindingChange(left_id=None, session_id=to)
        bound = None
    if (
        bound is not None
        and keys.person_key is not None
        and is_one_conversation(address, tx.settings)
    ):
        move_dms(tx, keys.person_key, bound.key, to_key, profile=profile)
    left_id = None
    if bound is not None:
        left_id = end_if_unbound(SessionWriter(tx, bound), EndReason.SWITCHED, by=where)
    speaker = None if shared else keys.sender_key
    with write_session(tx, to) as writer:
        tx.run("reopen_session", key=writer.key)
        writer.interruptions = 0
        writer.touch()
        writer.tell(EventKind.SESSION_OPENED)
        tx.run(
            "bind_route",
            route=where,
            session_key=writer.key,
            sender_key=speaker,
            now=stamp(tx.now),
        )
    return BindingChange(left_id=left_id, session_id=to)


def _lock_both(tx: Transaction, where: Route, to_key: int) -> SessionState | None:
    """Lock a route's session and the one it shall go on with, in the order of their keys."""
    from_key = tx.one("lock_binding", int, route=where)
    if from_key is None:
        return None
    for key in sorted({from_key, to_key}):
        tx.exists("lock_session_by_key", key=key)
    return tx.one("lock_bound_session", SessionState, route=where)


def _not_shared(id: SessionId) -> Refused:
    return Refused(
        "A conversation of one person cannot go on where several speak",
        id=id,
        hint="Resume it in a private chat",
    )
