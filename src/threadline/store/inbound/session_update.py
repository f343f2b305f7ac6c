"""Session update: everything that is wanted of it, in one transaction or not at all."""

from collections.abc import Iterator

from threadline.core.account import Actor
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.revision import Seen, require_seen
from threadline.core.session import ModelChoice, Session, SessionId, TitleSource
from threadline.core.session_patch import KEPT, SessionPatch
from threadline.database.port import Transaction
from threadline.store.accounts.accounts import find_actor
from threadline.store.audit import note_audit
from threadline.store.inbound.deduplication import Arrival
from threadline.store.inbound.receive import receive
from threadline.store.queries import read_session
from threadline.store.session_writer import write_session
from threadline.store.sessions import pins, session_settings
from threadline.store.sessions.pins import Step


def change_session(
    tx: Transaction,
    id: SessionId,
    wanted: SessionPatch,
    *,
    seen: Seen | None = None,
    by: Actor | None = None,
) -> Session:
    """Apply the changes, or raise `Stale` if the settings are not those of any tag in `seen`."""
    with write_session(tx, id) as writer:
        if seen is not None:
            settings = frozenset(etag.partition(".")[0] for etag in seen)
            require_seen(read_session(tx, id).settings_revision, settings, id)
        done = [step(writer) for step in _steps(wanted)]
        if any(done):
            writer.tell(EventKind.SESSION_CHANGED)
            if reach := _reach(wanted):
                note_audit(tx, by, "session.equipped", id, ", ".join(reach))
    return read_session(tx, id)


def create_session(tx: Transaction, inbound: Inbound, wanted: SessionPatch) -> Arrival:
    """Take in the first words of a conversation, and what is wanted of its session."""
    arrival = receive(tx, inbound)
    id = None if arrival.is_repeated or wanted == SessionPatch() else arrival.session_id
    if id is not None:
        by = find_actor(tx, inbound.address.platform, inbound.sender.id, inbound.token)
        change_session(tx, id, wanted, by=by)
    return arrival


def _reach(wanted: SessionPatch) -> list[str]:
    """Name what lets an agent reach further than its conversation, and so wants an admin."""
    choice = wanted.model
    has_address = isinstance(choice, ModelChoice) and choice.base_url is not None
    given = {
        "tools": wanted.tools is not KEPT,
        "workspace": wanted.workspace is not KEPT,
        "base_url": has_address,
    }
    return [name for name, is_given in given.items() if is_given]


def _steps(wanted: SessionPatch) -> Iterator[Step]:
    if wanted.is_pinned is not KEPT:
        yield pins.pin if wanted.is_pinned else pins.unpin
    if wanted.is_archived is not KEPT:
        yield pins.archive if wanted.is_archived else pins.unarchive
    if wanted.project is not KEPT:
        yield pins.move_to_project(wanted.project)
    if wanted.title is not KEPT:
        yield session_settings.set_session_title(wanted.title, TitleSource.PERSON)
    if wanted.model is not KEPT:
        yield session_settings.set_model(wanted.model)
    if wanted.busy_mode is not KEPT:
        yield session_settings.set_busy_mode(wanted.busy_mode)
    if wanted.personality is not KEPT:
        yield session_settings.set_personality(wanted.personality)
    if wanted.tools is not KEPT:
        yield session_settings.set_tools(wanted.tools)
    if wanted.workspace is not KEPT:
        yield session_settings.set_workspace(wanted.workspace)
