"""A command being carried out, and what it answers."""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.address import Kind
from threadline.core.command import command_text
from threadline.core.deletion import ForgettingId
from threadline.core.errors import Conflict, Invalid
from threadline.core.export_format.file_records import ExportFormat
from threadline.core.inbound import Inbound
from threadline.core.message import Part, Role
from threadline.core.person import Viewer
from threadline.core.platform import Choice
from threadline.core.session import Session, SessionId
from threadline.core.session_list import SessionRow
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import clean_title
from threadline.database.port import Transaction
from threadline.store import queries
from threadline.store.formatting import ago, count, name
from threadline.store.queries import LARGEST_PAGE
from threadline.store.session_writer import write_session
from threadline.store.sessions import session_list
from threadline.store.sessions.route_explanation import Explanation, explain_route
from threadline.store.turns import stop_and_wait
from threadline.store.turns.deferred_commands import drop_waiting, wake_next


class Export(Struct, frozen=True, kw_only=True):
    """Write a session to a file, wherever the asker gets files."""

    session_id: SessionId
    format: ExportFormat


class Forget(Struct, frozen=True, kw_only=True):
    """Go on with a forgetting that has begun; if nobody does, the next keeper will."""

    id: ForgettingId


class Compress(Struct, frozen=True, kw_only=True):
    """Have a summary written of the older part of a session, and let it stand for that."""

    session_id: SessionId
    focus: str = ""
    """What matters most in it."""
    place: int | None = None
    """Where it stands in the line of the session, until its end: no later turn begins before."""


Errand: TypeAlias = Export | Forget | Compress
"""What is left to do after a command, because it takes longer than one transaction may."""


class CommandReply(Struct, frozen=True, kw_only=True):
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
    waited: Sequence["DeferredCommandResult"] = ()
    """Commands that had waited for what this one stopped, and were carried out after it."""


class DeferredCommandResult(Struct, frozen=True, kw_only=True):
    """A command that had waited and was carried out, and what it answered."""

    inbound: Inbound
    reply: CommandReply


class _TurnInTheWay(Struct, frozen=True, kw_only=True):
    """A turn that has not ended and is based on what is in the transcript already."""

    id: TurnId
    state: TurnState


class CommandContext(Struct, frozen=True, kw_only=True):
    """One command being carried out."""

    tx: Transaction
    inbound: Inbound
    argument: str
    rank: AccessLevel = AccessLevel.OWNER
    session: SessionId | None = None
    """The session that the asker looks at on a screen; None: the one that goes on in their chat."""

    def words(self) -> tuple[Part, ...]:
        """Answer what the message says without its command: the words, and what came along."""
        return command_text(self.argument, self.inbound.parts)

    def title(self) -> str | None:
        """Read the title that stands after the command; None: nothing does."""
        title = clean_title(self.argument)
        if self.argument and not title:
            raise Invalid("A title needs at least one visible character")
        return title or None

    def explanation(self) -> Explanation:
        """Tell where the next message of the asker would go, and why."""
        found = explain_route(
            self.tx, self.inbound.address, self.inbound.sender, profile=self.inbound.profile
        )
        if self.session is None:
            return found
        session = queries.read_session(self.tx, self.session)
        policy = self.tx.settings.policies.resolve(session.platform, session.kind)
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
        stop_and_wait.stop_session(self.tx, id)
        with write_session(self.tx, id) as writer:
            # What waits was meant for a conversation that will not be there any more.
            if drop_waiting(writer, "another command came after it"):
                wake_next(writer)
        # One that asks once more, and has not begun, has no words of its own that could wait.
        key = queries.session_key(self.tx, id)
        while turn := self.tx.one("find_turn_in_the_way", _TurnInTheWay, session_key=key):
            if not stop_and_wait.stop(self.tx, turn.id):
                return

    @property
    def is_overheard(self) -> bool:
        """Whether others may read what is said."""
        return self.inbound.address.kind is not Kind.DM

    def asker(self, *, sees_all: bool = False) -> Viewer:
        """Return who asks, for checks of what they may see."""
        inbound = self.inbound
        return Viewer(
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
        return session_list.list_own_sessions(
            self.tx,
            inbound.address,
            inbound.sender,
            profile=inbound.profile,
            only_here=self.is_overheard,
            most=LARGEST_PAGE,
        )


def describe_session(tx: Transaction, id: SessionId) -> str:
    """Say which conversation goes on: its name, when it was last spoken in, how long it is."""
    session = queries.read_session(tx, id)
    when = ago(session.last_activity_at, tx.now)
    return f"{name(session)} from {when} — {count(count_said(tx, session), 'message')}"


def count_said(tx: Transaction, session: Session) -> int:
    """Count what was said, without the lines in between; those of a long transcript count, too."""
    if session.last_seq > LARGEST_PAGE:
        return session.last_seq
    lines = queries.transcript(tx, session.id, most=LARGEST_PAGE)
    waiting = queries.list_queue(tx, session.id)
    return sum(line.role in {Role.USER, Role.ASSISTANT} for line in [*lines, *waiting])
