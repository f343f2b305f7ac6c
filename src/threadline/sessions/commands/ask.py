"""A command being carried out, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from threadline.core.address import Kind
from threadline.core.command import words_of
from threadline.core.errors import Conflict, Invalid
from threadline.core.forgetting import ForgettingId
from threadline.core.inbound import Inbound
from threadline.core.listing import SessionRow
from threadline.core.message import Part, Role
from threadline.core.person import Asker
from threadline.core.platform import Choice
from threadline.core.portable.files import ExportFormat
from threadline.core.rank import Rank
from threadline.core.rules import Rules
from threadline.core.session import Session, SessionId
from threadline.core.text import clean_title
from threadline.core.turn import TurnId
from threadline.sessions import views
from threadline.sessions.chronicle import open_chronicle
from threadline.sessions.conversations import NewId
from threadline.sessions.explain import Explanation, explain
from threadline.sessions.phrases import ago, count, name
from threadline.sessions.turns import pause
from threadline.sessions.views import LARGEST_PAGE
from threadline.sessions.waiting import drop_waiting, wake_next
from threadline.storage.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """Write a session to a file, wherever the asker gets files."""

    session_id: SessionId
    format: ExportFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Go on with a forgetting that has begun; if nobody does, the next keeper will."""

    id: ForgettingId


@dataclass(frozen=True, slots=True, kw_only=True)
class Compress:
    """Have a summary written of the older part of a session, and let it stand for that."""

    session_id: SessionId
    focus: str = ""
    """What matters most in it."""
    place: int | None = None
    """Where it stands in the line of the session, until its end: no later turn begins before."""


Errand: TypeAlias = Export | Forget | Compress
"""What is left to do after a command, because it takes longer than one transaction may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a command answers."""

    text: str
    choices: Sequence[Choice] = ()
    """What can be pressed, in the order in which the text shows it."""
    is_in_transcript: bool = False
    """The transcript says the same, where it is seen."""
    offer: str | None = None
    """Words that were taken back, to be changed and said again."""
    turn_id: TurnId | None = None
    """The turn that answers, where the command has asked for one or let it go on."""
    errand: Errand | None = None
    is_carried: bool = False
    """What the turn had shown is carried on, and says the same."""
    is_secret: bool = False
    """It is said directly, and never kept."""
    session_id: SessionId | None = None
    """Where a screen goes on; None: with a conversation that begins with its first words."""
    waited: Sequence["Waited"] = ()
    """Commands that had waited for what this one stopped, and were carried out after it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """A command that had waited and was carried out, and what it answered."""

    inbound: Inbound
    reply: Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One command being carried out."""

    tx: Transaction
    inbound: Inbound
    argument: str
    rules: Rules
    now: datetime
    new_id: NewId
    rank: Rank = Rank.OWNER
    session: SessionId | None = None
    """The session that the asker looks at on a screen; None: the one that goes on in their chat."""

    def words(self) -> tuple[Part, ...]:
        """Answer what the message says without its command: the words, and what came along."""
        return words_of(self.argument, self.inbound.parts)

    def title(self) -> str | None:
        """Read the title that stands after the command; None: nothing does."""
        title = clean_title(self.argument)
        if self.argument and not title:
            raise Invalid("A title needs at least one visible character")
        return title or None

    def new_code(self) -> int:
        """Draw forty random bits from the same source as ids."""
        return (self.new_id() << 32 | self.new_id()) & (1 << 40) - 1

    def explanation(self) -> Explanation:
        """Tell where the next message of the asker would go, and why."""
        found = explain(
            self.tx,
            self.inbound.address,
            self.inbound.sender,
            profile=self.inbound.profile,
            rules=self.rules,
            now=self.now,
        )
        if self.session is None:
            return found
        session = views.read_session(self.tx, self.session)
        policy = self.rules.policies.resolve(session.platform, session.kind)
        return replace(found, session_id=self.session, cause=None, policy=policy)

    def here(self) -> SessionId | None:
        """Find the session that the next message would go on in; None: it begins a new one."""
        if self.session is not None:
            return self.session
        found = self.explanation()
        return found.session_id if found.cause is None else None

    def must_be_here(self) -> SessionId:
        """Find the session that goes on here, or say that there is none to do anything with."""
        id = self.here()
        if id is None:
            raise Conflict("There is no conversation here yet", hint="Say something first")
        return id

    def stop(self) -> None:
        """Stop what is under way here, as the command changes what it stands on."""
        id = self.here()
        if id is None:
            return
        pause.stop_session(self.tx, id, now=self.now)
        with open_chronicle(self.tx, id, self.now) as chronicle:
            # What waits was meant for a conversation that will not be there any more.
            if drop_waiting(chronicle, "another command came after it"):
                wake_next(chronicle)
        # One that asks once more, and has not begun, has no words of its own that could wait.
        key = views.session_row(self.tx, id).number("key")
        while waiting := self.tx.one("find_turn_in_the_way", session_key=key):
            if not pause.stop(self.tx, TurnId(waiting.number("id")), now=self.now):
                return

    @property
    def is_overheard(self) -> bool:
        """Whether others may read what is said."""
        return self.inbound.address.kind is not Kind.DM

    def asker(self, *, sees_all: bool = False) -> Asker:
        """Return who asks, for checks of what they may see."""
        inbound = self.inbound
        return Asker(
            address=inbound.address,
            sender=inbound.sender,
            profile=inbound.profile,
            sees_all=sees_all,
        )

    def own(self) -> list[SessionRow]:
        """Return the sender's sessions as the sidebar would show them, latest activity first.

        In a group these are only the conversations of that chat.
        """
        inbound = self.inbound
        return views.list_own_sessions(
            self.tx,
            inbound.address,
            inbound.sender,
            profile=inbound.profile,
            only_here=self.is_overheard,
            most=LARGEST_PAGE,
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
