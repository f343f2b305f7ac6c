"""Changing a session: everything that is wanted of it, in one transaction or not at all."""

from collections.abc import Iterator
from datetime import datetime

from threadline.core.account import Actor
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.revision import Seen, require_seen
from threadline.core.rules import Rules
from threadline.core.session import ModelChoice, Session, SessionId, TitleSource
from threadline.core.wanted import KEPT, Wanted
from threadline.sessions import arrangement, choices
from threadline.sessions.arrangement import Step
from threadline.sessions.arrivals.arrive import arrive
from threadline.sessions.arrivals.outcome import Arrival
from threadline.sessions.audit import note_audit
from threadline.sessions.chronicle import open_chronicle
from threadline.sessions.conversations import NewId
from threadline.sessions.views import read_session
from threadline.sessions.welcome.accounts import find_actor
from threadline.storage.database import Transaction


def change_session(
    tx: Transaction,
    id: SessionId,
    wanted: Wanted,
    *,
    seen: Seen | None = None,
    by: Actor | None = None,
    now: datetime,
) -> Session:
    """Apply the changes, or raise `Stale` if the settings are not those of any tag in `seen`."""
    with open_chronicle(tx, id, now) as chronicle:
        if seen is not None:
            settings = frozenset(etag.partition(".")[0] for etag in seen)
            require_seen(read_session(tx, id).settings_revision, settings, id)
        done = [step(chronicle) for step in _steps(wanted)]
        if any(done):
            chronicle.tell(EventKind.SESSION_CHANGED)
            if reach := _reach(wanted):
                note_audit(tx, by, "session.equipped", id, ", ".join(reach), now=now)
    return read_session(tx, id)


def begin(
    tx: Transaction,
    inbound: Inbound,
    wanted: Wanted,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Arrival:
    """Take in the first words of a conversation, and what is wanted of its session."""
    arrival = arrive(tx, inbound, rules=rules, now=now, new_id=new_id)
    id = None if arrival.is_repeated or wanted == Wanted() else arrival.session_id
    if id is not None:
        by = find_actor(tx, inbound.address.platform, inbound.sender.id)
        change_session(tx, id, wanted, by=by, now=now)
    return arrival


def _reach(wanted: Wanted) -> list[str]:
    """Name what lets an agent reach further than its conversation, and so wants an admin."""
    choice = wanted.model
    has_address = isinstance(choice, ModelChoice) and choice.base_url is not None
    given = {
        "tools": wanted.tools is not KEPT,
        "workspace": wanted.workspace is not KEPT,
        "base_url": has_address,
    }
    return [name for name, is_given in given.items() if is_given]


def _steps(wanted: Wanted) -> Iterator[Step]:
    if wanted.is_pinned is not KEPT:
        yield arrangement.pin if wanted.is_pinned else arrangement.unpin
    if wanted.is_archived is not KEPT:
        yield arrangement.archive if wanted.is_archived else arrangement.unarchive
    if wanted.project is not KEPT:
        yield arrangement.into(wanted.project)
    if wanted.title is not KEPT:
        yield choices.entitle(wanted.title, TitleSource.PERSON)
    if wanted.model is not KEPT:
        yield choices.use_model(wanted.model)
    if wanted.busy_mode is not KEPT:
        yield choices.behave(wanted.busy_mode)
    if wanted.personality is not KEPT:
        yield choices.impersonate(wanted.personality)
    if wanted.tools is not KEPT:
        yield choices.allow_tools(wanted.tools)
    if wanted.workspace is not KEPT:
        yield choices.work_in(wanted.workspace)
