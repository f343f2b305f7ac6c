"""Conversations: which session a route goes on with, and how that changes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import TypeAlias

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import Message, NewMessage, Role
from threadline.core.notice import carry_over, carry_summary, tell_agent, tell_person
from threadline.core.person import Asker
from threadline.core.policy import CarryKind, ResetPolicy
from threadline.core.route import Route, is_multi_user, route
from threadline.core.rules import Rules
from threadline.core.session import (
    Cause,
    EndReason,
    Origin,
    SessionId,
    TitleSource,
    make_session_id,
)
from threadline.core.text import checked_text, clean_title
from threadline.sessions.arrivals.places import Place, look_up, remember
from threadline.sessions.chronicle import Chronicle, is_doomed, open_chronicle
from threadline.sessions.endings import end_chronicle, leave
from threadline.sessions.people.aliases import rename, resolve
from threadline.sessions.people.gathering import gather_for, is_one_conversation, move_dms
from threadline.sessions.people.ownership import asker_keys
from threadline.sessions.transcripts.layout import layout_of
from threadline.sessions.transcripts.lines import backwards
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

NewId: TypeAlias = Callable[[], int]
"""Gives 32 random bits for a session id."""

RESETS = frozenset({Cause.IDLE, Cause.DAILY, Cause.SUSPENDED})
SUMMARY_STANDS_IN = 6
"""Messages that are carried over where a summary is wanted and nobody has made one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A session that just began, and what its agent has to be told first."""

    chronicle: Chronicle
    cause: Cause
    notes: Sequence[NewMessage] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a route: the session it left and the one it goes on with."""

    left_id: SessionId | None
    session_id: SessionId | None
    """None: the next message begins a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """Whose a session is, and where it is at home."""

    profile: str
    platform: str
    kind: Kind
    address_key: int
    sender_key: int | None


def open_session(
    tx: Transaction,
    place: Place,
    where: Route,
    before: Row | None,
    cause: Cause,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
    title: str | None = None,
    titled_by: TitleSource = TitleSource.FIRST_WORDS,
) -> Opening:
    """Begin a session after another one, or the first, and bind the route to it."""
    address = place.address
    shared = is_multi_user(address, rules.scopes_for(address.platform))
    seat = Seat(
        profile=place.profile,
        platform=address.platform,
        kind=address.kind,
        address_key=place.address_key,
        sender_key=None if shared else place.sender_key,
    )
    opening = begin_session(
        tx,
        seat,
        before,
        cause,
        rules=rules,
        now=now,
        new_id=new_id,
        title=title,
        titled_by=titled_by,
    )
    tx.run(
        "bind_new_route" if before is None else "bind_route",
        route=where,
        session_key=opening.chronicle.key,
        sender_key=seat.sender_key,
        now=stamp(now),
    )
    if before is not None and place.person_key is not None and is_one_conversation(address, rules):
        keys = before.number("key"), opening.chronicle.key
        move_dms(tx, place.person_key, *keys, profile=place.profile, now=now)
    return opening


def open_apart(
    tx: Transaction,
    seat: Seat,
    where: Route,
    *,
    title: str | None,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Chronicle:
    """Begin the first session of somebody who spoke in another's until now; it knows of nothing."""
    opening = begin_session(
        tx,
        seat,
        None,
        Cause.FIRST,
        rules=rules,
        now=now,
        new_id=new_id,
        title=title,
        titled_by=TitleSource.FIRST_WORDS,
    )
    tx.run(
        "bind_route",
        route=where,
        session_key=opening.chronicle.key,
        sender_key=seat.sender_key,
        now=stamp(now),
    )
    return opening.chronicle


def succeed(chronicle: Chronicle, cause: Cause, *, rules: Rules, new_id: NewId) -> Opening:
    """Begin a session in the place of another, and let all its routes go on there."""
    tx, now = chronicle.tx, chronicle.now
    before = expect(tx, "read_seat", key=chronicle.key)
    seat = Seat(
        profile=before.text("profile"),
        platform=before.text("platform"),
        kind=Kind(before.text("kind")),
        address_key=before.number("address_key"),
        sender_key=before.number_or_none("sender_key"),
    )
    opening = begin_session(
        tx,
        seat,
        before,
        cause,
        rules=rules,
        now=now,
        new_id=new_id,
        title=before.text_or_none("title"),
        titled_by=TitleSource(before.text_or_none("titled_by") or TitleSource.FIRST_WORDS),
    )
    tx.run("rebind_all", from_key=chronicle.key, to_key=opening.chronicle.key, now=stamp(now))
    return opening


def begin_session(
    tx: Transaction,
    seat: Seat,
    before: Row | None,
    cause: Cause,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
    title: str | None,
    titled_by: TitleSource,
) -> Opening:
    """Begin a session that no route is bound to yet."""
    policy = rules.policies.resolve(seat.platform, seat.kind)
    told = before is not None and before.number("last_seq") > 0 and cause in RESETS
    notice = cause if told and policy.notify and tell_person(cause) else None
    id = make_session_id(now, new_id())
    row = expect(
        tx,
        "open_session",
        id=id,
        profile=seat.profile,
        platform=seat.platform,
        kind=seat.kind,
        address_key=seat.address_key,
        sender_key=seat.sender_key,
        parent_key=None if before is None else before.number("key"),
        root_key=None if before is None else before.number("root_key"),
        cause=cause,
        notice=notice,
        title=title or None,
        titled_by=titled_by if title else None,
        now=stamp(now),
    )
    chronicle = Chronicle(tx, _blank(row.number("key"), id, notice, title, now), now)
    chronicle.tell(EventKind.SESSION_OPENED)
    notes = _notes(tx, before, cause, policy) if told and before is not None else ()
    return Opening(chronicle=chronicle, cause=cause, notes=notes)


def _blank(key: int, id: SessionId, notice: str | None, title: str | None, now: datetime) -> Row:
    return Row(
        key=key,
        id=id,
        last_seq=0,
        revision=0,
        interruptions=0,
        last_activity_at=stamp(now),
        ended_at=None,
        notice=notice,
        told_at=None,
        title=title,
        origin=Origin.PERSON,
    )


def _notes(tx: Transaction, before: Row, cause: Cause, policy: ResetPolicy) -> Sequence[NewMessage]:
    """Answer what the agent is told of the session before: why it ended, what is carried over."""
    reason = tell_agent(cause)
    notes = [] if reason is None else [reason]
    summary = before.text_or_none("summary")
    if policy.carry.kind is CarryKind.SUMMARY and summary is not None:
        notes.append(carry_summary(summary))
    elif policy.carry.kind is not CarryKind.NOTHING:
        words = _last_words(tx, before, policy.carry.messages or SUMMARY_STANDS_IN)
        if words:
            notes.append(carry_over(words))
    return notes


def _last_words(tx: Transaction, session: Row, most: int) -> list[Message]:
    layout = layout_of(tx, SessionId(session.text("id")))
    spoken = (
        line
        for line in backwards(tx, layout, layout.hidden())
        if line.role in {Role.USER, Role.ASSISTANT} and line.deleted_at is None
    )
    return list(islice(spoken, most))[::-1]


def reset(
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
    """End the session of a route because somebody asked for a new one.

    The new one begins with the next message, or at once if it was given a title.
    """
    cleaned = None if title is None else clean_title(checked_text(title, "title"))
    asked = Inbound.text("/new", address=address, sender=sender, at=now, profile=profile)
    named = rename(tx, asked)
    where = route(named.address, named.sender, rules.scopes_for(address.platform), asked.profile)
    if is_one_conversation(address, rules):
        gather_for(tx, where, named.address, named.sender, profile=named.profile, now=now)
    before = tx.one("lock_bound_session", route=where)
    left_id = None
    if before is not None:
        with Chronicle(tx, before, now) as chronicle:
            if end_chronicle(chronicle, EndReason.NEW):
                left_id = chronicle.id
            else:
                # It had ended by itself; from now on it has ended because somebody wished so.
                tx.run("set_end_reason", key=chronicle.key, reason=EndReason.NEW)
                chronicle.tell(EventKind.SESSION_CHANGED)
    if not cleaned:
        return Change(left_id=left_id, session_id=None)
    place = remember(tx, named, address, look_up(tx, named, address), now)
    opening = open_session(
        tx,
        place,
        where,
        before,
        Cause.NEW if before is not None else Cause.FIRST,
        rules=rules,
        now=now,
        new_id=new_id,
        title=cleaned,
        titled_by=TitleSource.PERSON,
    )
    with opening.chronicle as fresh:
        if place.greeting is not None:
            fresh.keep(place.greeting, None)
        return Change(left_id=left_id, session_id=fresh.id)


def switch(
    tx: Transaction,
    address: Address,
    sender: Sender,
    *,
    profile: str,
    to: SessionId,
    rules: Rules,
    now: datetime,
) -> Change:
    """Let a route go on with another session that the asker may see.

    The session it leaves ends, unless another route is bound to it. Already there: left is None.
    """
    scopes = rules.scopes_for(address.platform)
    where = route(*resolve(tx, address, sender), scopes, profile)
    keys = asker_keys(tx, Asker(address=address, sender=sender, profile=profile))
    target = tx.one("read_owner", id=to)
    if target is None or not keys.admits(target):
        raise NotFound("There is no such session", id=to)
    shared = is_multi_user(address, scopes)
    if shared and target["sender_key"] is not None:
        raise _not_shared(to)
    bound = _lock_both(tx, where, target.number("key"))
    if tx.one("lock_session_by_key", key=target.number("key")) is None or is_doomed(
        tx, target.number("key")
    ):
        raise NotFound("There is no such session", id=to)
    if bound is not None and bound.text("id") == to:
        if bound["ended_at"] is None and bound["suspended_at"] is None:
            return Change(left_id=None, session_id=to)
        bound = None
    if bound is not None and keys.person_key is not None and is_one_conversation(address, rules):
        from_key, to_key = bound.number("key"), target.number("key")
        move_dms(tx, keys.person_key, from_key, to_key, profile=profile, now=now)
    left_id = None
    if bound is not None:
        left_id = leave(Chronicle(tx, bound, now), EndReason.SWITCHED, by=where)
    speaker = None if shared else keys.sender_key
    with open_chronicle(tx, to, now) as chronicle:
        tx.run("reopen_session", key=chronicle.key)
        chronicle.interruptions = 0
        chronicle.touch()
        chronicle.tell(EventKind.SESSION_OPENED)
        tx.run(
            "bind_route",
            route=where,
            session_key=chronicle.key,
            sender_key=speaker,
            now=stamp(now),
        )
    return Change(left_id=left_id, session_id=to)


def _lock_both(tx: Transaction, where: Route, to_key: int) -> Row | None:
    """Lock a route's session and the one it shall go on with, in the order of their keys."""
    binding = tx.one("lock_binding", route=where)
    if binding is None:
        return None
    for key in sorted({binding.number("session_key"), to_key}):
        tx.one("lock_session_by_key", key=key)
    return tx.one("lock_bound_session", route=where)


def _not_shared(id: SessionId) -> Refused:
    return Refused(
        "A conversation of one person cannot go on where several speak",
        id=id,
        hint="Resume it in a private chat",
    )
