"""A command being carried out, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from threadline.core.inbound import Inbound
from threadline.core.message import Role
from threadline.core.rules import Rules
from threadline.core.session import Session, SessionId
from threadline.sessions import views
from threadline.sessions.conversations import NewId
from threadline.sessions.explain import Explanation, explain
from threadline.sessions.phrases import ago, count, name
from threadline.sessions.views import LARGEST_PAGE, SessionRow
from threadline.storage.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a command answers."""

    text: str
    choices: Sequence[SessionRow] = ()
    """Conversations to choose from, in the order in which the text shows them."""
    is_in_transcript: bool = False
    """The transcript says the same, where it is seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One command being carried out."""

    tx: Transaction
    inbound: Inbound
    argument: str
    rules: Rules
    now: datetime
    new_id: NewId

    def explanation(self) -> Explanation:
        """Tell where the next message of the asker would go, and why."""
        return explain(
            self.tx,
            self.inbound.address,
            self.inbound.sender,
            profile=self.inbound.profile,
            rules=self.rules,
            now=self.now,
        )

    def here(self) -> SessionId | None:
        """Find the session that the next message would go on in; None: it begins a new one."""
        found = self.explanation()
        return found.session_id if found.cause is None else None

    def own(self) -> list[SessionRow]:
        """Read what the asker may see, the latest activity first."""
        inbound = self.inbound
        return views.list_own_sessions(
            self.tx, inbound.address, inbound.sender, profile=inbound.profile, most=LARGEST_PAGE
        )


def introduce(tx: Transaction, id: SessionId, *, now: datetime) -> str:
    """Say which conversation goes on: its name, when it was last spoken in, how long it is."""
    session = views.read_session(tx, id)
    when = ago(session.last_activity_at, now)
    return f"{name(session)} from {when} — {count(count_said(tx, session), 'message')}"


def count_said(tx: Transaction, session: Session) -> int:
    """Count what was said, without the lines in between; those of a long transcript count, too."""
    if session.last_seq > LARGEST_PAGE:
        return session.last_seq
    lines = views.transcript(tx, session.id, most=LARGEST_PAGE)
    waiting = views.queue(tx, session.id)
    return sum(line.role in {Role.USER, Role.ASSISTANT} for line in [*lines, *waiting])
