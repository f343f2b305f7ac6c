"""Commands that say something to the agent in another way: background, queue, steer."""

from msgspec.structs import replace

from threadline.core.errors import Invalid
from threadline.core.message import Role
from threadline.core.route import canonical_sender
from threadline.core.session import BusyMode, SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import clean_title
from threadline.store import queries
from threadline.store.commands.context import CommandContext, CommandReply
from threadline.store.formatting import count, name
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import Arrival
from threadline.store.inbound.receive import receive
from threadline.store.inbound.web_message import ask_in
from threadline.store.people.aliases import resolve_aliases, resolve_inbound
from threadline.store.sessions.background_sessions import create_background_session

LISTED = 20
"""Messages that a list of what waits shows."""
SHOWN_WORDS = 80
"""Characters of a waiting message that a list shows."""


def background(ask: CommandContext) -> CommandReply:
    """Have something done in a session of its own, while this conversation goes on."""
    found = ask.explanation()
    id, turn_id = begin_background(ask)
    title = name(queries.read_session(ask.tx, id))
    where = "In a private chat, " if found.multi_user else ""
    return CommandReply(
        text=f"{title} is being done in the background. The answer comes here."
        f" {where}/resume {id} goes on with it.",
        turn_id=turn_id,
    )


def begin_background(ask: CommandContext) -> tuple[SessionId, TurnId]:
    """Begin the session in which something is done beside this one, with the turn that does it."""
    if not ask.argument:
        raise Invalid("Say what is to be done", hint="/background and the task")
    return create_background_session(ask.tx, ask.inbound, ask.words(), parent=ask.here())


def queue(ask: CommandContext) -> CommandReply:
    """Show what waits, or say something that waits for its turn."""
    if not ask.argument:
        return CommandReply(text=_waiting(ask))
    return _said(ask, BusyMode.QUEUE, "It waits for its turn.")


def steer(ask: CommandContext) -> CommandReply:
    """Say something to the agent while it works; if it does not, it is said as usual."""
    if not ask.argument:
        raise Invalid("Say what the agent should know", hint="/steer and the words")
    return _said(ask, BusyMode.STEER, "The agent is told at its next step.")


def _said(ask: CommandContext, busy: BusyMode, told: str) -> CommandReply:
    """Say something, and tell what comes of it; where nothing is before it, the answer does."""
    before = _unfinished(ask)
    arrival = _say(ask, busy)
    if not before or arrival.turn_id is None:
        return CommandReply(text="", is_in_transcript=True, turn_id=arrival.turn_id)
    if TurnState.RUNNING not in before:
        told = "It waits for its turn."
    return CommandReply(text=told, turn_id=arrival.turn_id)


def _unfinished(ask: CommandContext) -> frozenset[TurnState]:
    """Tell in which states the turns are that have not ended here."""
    id = ask.here()
    if id is None:
        return frozenset()
    key = queries.session_key(ask.tx, id)
    return frozenset(ask.tx.all("list_unfinished_states", TurnState, session_key=key))


def _say(ask: CommandContext, busy: BusyMode) -> Arrival:
    """Let the words arrive as a message of their own, known by the id of the command's."""
    said = replace(ask.inbound, parts=ask.words())
    if said.message_id is not None:
        known = deduplication.in_known_form(ask.tx, resolve_inbound(ask.tx, said))
        ask.tx.run("take_back_command", **deduplication.inbound_identity(known))
    if ask.session is not None:
        return ask_in(ask.tx, ask.session, said, busy=busy)
    return receive(ask.tx, said, busy=busy)


def _waiting(ask: CommandContext) -> str:
    """List what the asker said that waits; of what others said only how much it is."""
    id = ask.here()
    lines = [] if id is None else queries.list_queue(ask.tx, id)
    spoken = [line for line in lines if line.role is Role.USER]
    if not spoken:
        return "Nothing is waiting."
    address, sender = resolve_aliases(ask.tx, ask.inbound.address, ask.inbound.sender)
    who = canonical_sender(address.platform, sender)
    own = [line for line in spoken if line.sender_id == who]
    shown = [
        f"{number}. {clean_title(line.text, SHOWN_WORDS) or '(an attachment)'}"
        for number, line in enumerate(own[:LISTED], start=1)
    ]
    if len(own) > LISTED:
        shown.append(f"… and {len(own) - LISTED:,} more of yours")
    if len(spoken) > len(own):
        shown.append(f"… and {count(len(spoken) - len(own), 'message')} of others")
    return "\n".join(["This waits:", *shown])
