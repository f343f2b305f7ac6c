"""Commands that say something to the agent in another way: background, queue, steer."""

from dataclasses import replace

from threadline.core.errors import Invalid
from threadline.core.message import Role
from threadline.core.route import canonical_sender
from threadline.core.session import SessionId
from threadline.core.text import clean_title
from threadline.core.turn import BusyMode, TurnId, TurnState
from threadline.sessions import views
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.arrive import arrive
from threadline.sessions.arrivals.asks import ask_in
from threadline.sessions.arrivals.outcome import Arrival
from threadline.sessions.background import begin_beside
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.people.aliases import rename, resolve
from threadline.sessions.phrases import count, name

LISTED = 20
"""Messages that a list of what waits shows."""
SHOWN_WORDS = 80
"""Characters of a waiting message that a list shows."""


def background(ask: Ask) -> Reply:
    """Have something done in a session of its own, while this conversation goes on."""
    found = ask.explanation()
    id, turn_id = begin_background(ask)
    title = name(views.read_session(ask.tx, id))
    where = "In a private chat, " if found.multi_user else ""
    return Reply(
        text=f"{title} is being done in the background. The answer comes here."
        f" {where}/resume {id} goes on with it.",
        turn_id=turn_id,
    )


def begin_background(ask: Ask) -> tuple[SessionId, TurnId]:
    """Begin the session in which something is done beside this one, with the turn that does it."""
    if not ask.argument:
        raise Invalid("Say what is to be done", hint="/background and the task")
    return begin_beside(
        ask.tx,
        ask.inbound,
        ask.words(),
        parent=ask.here(),
        rules=ask.rules,
        now=ask.now,
        new_id=ask.new_id,
    )


def queue(ask: Ask) -> Reply:
    """Show what waits, or say something that waits for its turn."""
    if not ask.argument:
        return Reply(text=_waiting(ask))
    return _said(ask, BusyMode.QUEUE, "It waits for its turn.")


def steer(ask: Ask) -> Reply:
    """Say something to the agent while it works; if it does not, it is said as usual."""
    if not ask.argument:
        raise Invalid("Say what the agent should know", hint="/steer and the words")
    return _said(ask, BusyMode.STEER, "The agent is told at its next step.")


def _said(ask: Ask, busy: BusyMode, told: str) -> Reply:
    """Say something, and tell what comes of it; where nothing is before it, the answer does."""
    before = _unfinished(ask)
    arrival = _say(ask, busy)
    if not before or arrival.turn_id is None:
        return Reply(text="", is_in_transcript=True, turn_id=arrival.turn_id)
    if TurnState.RUNNING not in before:
        told = "It waits for its turn."
    return Reply(text=told, turn_id=arrival.turn_id)


def _unfinished(ask: Ask) -> frozenset[str]:
    """Tell in which states the turns are that have not ended here."""
    id = ask.here()
    if id is None:
        return frozenset()
    key = views.session_row(ask.tx, id).number("key")
    return frozenset(row.text("state") for row in ask.tx.all("list_unfinished", session_key=key))


def _say(ask: Ask, busy: BusyMode) -> Arrival:
    """Let the words arrive as a message of their own, known by the id of the command's."""
    said = replace(ask.inbound, parts=ask.words())
    if said.message_id is not None:
        known = outcome.in_known_form(ask.tx, rename(ask.tx, said))
        ask.tx.run("take_back_command", **outcome.identity(known))
    if ask.session is not None:
        return ask_in(ask.tx, ask.session, said, rules=ask.rules, now=ask.now, busy=busy)
    return arrive(ask.tx, said, rules=ask.rules, now=ask.now, new_id=ask.new_id, busy=busy)


def _waiting(ask: Ask) -> str:
    """List what the asker said that waits; of what others said only how much it is."""
    id = ask.here()
    lines = [] if id is None else views.queue(ask.tx, id)
    spoken = [line for line in lines if line.role is Role.USER]
    if not spoken:
        return "Nothing is waiting."
    address, sender = resolve(ask.tx, ask.inbound.address, ask.inbound.sender)
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
