"""An event: one fact a screen may want; together they are the feed."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import NewType

from msgspec import Struct, field
from msgspec.structs import replace

from threadline.core.session import SessionId

Cursor = NewType("Cursor", str)
"""A place in the feed. Only the database that made it can read it."""


class EventKind(StrEnum):
    """What became true, of a session and what is in it, or of something beside all sessions."""

    SESSION_OPENED = "session.opened"
    SESSION_CHANGED = "session.changed"
    SESSION_SUSPENDED = "session.suspended"
    SESSION_ENDED = "session.ended"
    SESSION_FORGOTTEN = "session.forgotten"
    """It is gone, and nothing can be asked about it any more."""
    MESSAGE_ADDED = "message.added"
    MESSAGE_CHANGED = "message.changed"
    TRANSCRIPT_CHANGED = "transcript.changed"
    """A stretch of it was hidden or shown again: undo, redo, retry, compaction."""
    TURN_QUEUED = "turn.queued"
    TURN_RUNNING = "turn.running"
    TURN_WAITING = "turn.waiting"
    TURN_DONE = "turn.done"
    TURN_FAILED = "turn.failed"
    TURN_STOPPED = "turn.stopped"
    TURN_INTERRUPTED = "turn.interrupted"
    TURN_MOVED = "turn.moved"
    """It waits in another session from now on."""
    DELIVERY_PENDING = "delivery.pending"
    DELIVERY_SENDING = "delivery.sending"
    DELIVERY_SENT = "delivery.sent"
    DELIVERY_FAILED = "delivery.failed"
    DELIVERY_ABANDONED = "delivery.abandoned"
    PROJECT_CHANGED = "project.changed"
    """It was made, renamed, given another colour, or deleted. It belongs to no session."""
    JOB_CHANGED = "job.changed"
    """It was made, changed, run, or deleted. It belongs to no session."""
    ACCESS_CHANGED = "access.changed"
    """Somebody asked to be let in, was let in, or is no longer. It belongs to no session."""
    PERSON_CHANGED = "person.changed"
    """Senders became one person, or are no longer, or it has another name. It has no session."""
    ALLOWANCE_CHANGED = "allowance.changed"
    """Leave for a tool was given or taken back, in every session. It belongs to none."""
    HOME_CHANGED = "home.changed"
    """Another chat became the home of a platform. It belongs to no session."""
    GATEWAY_CHANGED = "gateway.changed"
    """It began to serve, serves no longer, or a platform of it is up or down. It has no session."""
    SETTINGS_CHANGED = "settings.changed"
    """Other settings hold from now on. They belong to no session."""
    SHARE_CHANGED = "share.changed"
    """A page of the session was shared, or revoked."""
    ACCOUNT_CHANGED = "account.changed"
    """It was made, renamed or ended, or what logs in with it did. It belongs to no session."""
    AUDIT_NOTED = "audit.noted"
    """An administrative act was written down. It belongs to no session."""

    @property
    def noun(self) -> str:
        """What the event is about."""
        return self.value.partition(".")[0]

    @property
    def state(self) -> str:
        """What that noun has become."""
        return self.value.partition(".")[2]


class Event(Struct, frozen=True, kw_only=True):
    """One fact, born in the transaction that made it true. It carries ids and states, never text.

    Each event of a session has its own revision, without gaps, so that whoever follows can tell
    that nothing is missing and skip what a snapshot already showed.
    """

    cursor: Cursor
    kind: EventKind
    session_id: SessionId | None
    """None: it is about something that belongs to no session; then there is no revision either."""
    revision: int
    subject: int | None
    """Id of a turn, delivery or job, sequence number, or key of another thing, by the kind."""
    at: datetime


class SessionSnapshot(Struct, frozen=True, kw_only=True):
    """What a screen knows of one session: the newest state of each thing in it."""

    revision: int = 0
    last_seq: int = 0
    states: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """`session`, `turn 7`, `delivery 3` → its state, and the revision that told of it."""

    def shown(self) -> dict[str, str]:
        """Answer what a person would see of it: each thing and its state."""
        moved = EventKind.TURN_MOVED.state
        return {thing: state for thing, (state, _) in self.states.items() if state != moved}


def fold(
    glimpses: Mapping[SessionId, SessionSnapshot], events: Iterable[Event]
) -> dict[SessionId, SessionSnapshot]:
    """Apply events to what a screen knows; old news and repeated news change nothing."""
    after = dict(glimpses)
    for event in events:
        if event.session_id is None:
            continue
        after[event.session_id] = _apply(after.get(event.session_id, SessionSnapshot()), event)
    return after


def _apply(glimpse: SessionSnapshot, event: Event) -> SessionSnapshot:
    states = dict(glimpse.states)
    last_seq = glimpse.last_seq
    if event.kind is EventKind.MESSAGE_ADDED:
        last_seq = max(last_seq, event.subject or 0)
    elif event.kind not in {
        EventKind.MESSAGE_CHANGED,
        EventKind.SESSION_CHANGED,
        EventKind.SHARE_CHANGED,
        EventKind.TRANSCRIPT_CHANGED,
    }:
        thing = event.kind.noun if event.subject is None else f"{event.kind.noun} {event.subject}"
        if states.get(thing, ("", 0))[1] < event.revision:
            states[thing] = (event.kind.state, event.revision)
    return replace(
        glimpse, revision=max(glimpse.revision, event.revision), last_seq=last_seq, states=states
    )
