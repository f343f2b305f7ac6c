"""Commands about the conversation that goes on: start, title, status, stop."""

from threadline.core.errors import Conflict
from threadline.core.session import Session, TitleSource
from threadline.core.turn import HELD, TurnState
from threadline.database.timestamps import stamp
from threadline.store import queries
from threadline.store.approvals.tool_permissions import list_allowed
from threadline.store.commands.context import CommandContext, CommandReply, count_said
from threadline.store.formatting import ago, count, describe_policy, listed, name, why
from threadline.store.sessions import session_settings
from threadline.store.turns import stop_and_wait

GREETING = (
    "Hello. Send a message and the agent replies. /new begins another conversation,"
    " /help lists the commands."
)


def start(_: CommandContext) -> CommandReply:
    """Return the greeting.

    The parameter of a deep link is ignored: a link that another person made must not do anything.
    """
    return CommandReply(text=GREETING)


def title(ask: CommandContext) -> CommandReply:
    """Show or set the title."""
    id = ask.here()
    if id is None:
        hint = "Say something first, or begin with /new and a title"
        raise Conflict("There is no conversation yet that could have a title", hint=hint)
    if not ask.argument:
        return CommandReply(text=f"This is {name(queries.read_session(ask.tx, id))}.")
    session_settings.set_title(ask.tx, id, ask.argument, source=TitleSource.PERSON)
    return CommandReply(text=f"This is {name(queries.read_session(ask.tx, id))} now.")


def status(ask: CommandContext) -> CommandReply:
    """Say where the asker is, and what goes on there."""
    found, inbound = ask.explanation(), ask.inbound
    place = " ".join(filter(None, (inbound.address.platform, inbound.address.chat)))
    lines = [f"Here: {place}, profile {inbound.profile}."]
    ending = f"It ends by itself: {describe_policy(found.policy)}."
    if found.session_id is None or found.cause is not None:
        because = "" if found.cause is None else f": {why(found.cause)}"
        lines.append(f"The next message begins a new conversation{because}.")
    else:
        session = queries.read_session(ask.tx, found.session_id)
        said = count(count_said(ask.tx, session), "message")
        when = ago(session.opened_at, ask.tx.now)
        lines.append(f"Conversation: {name(session)} ({session.id}), {said}, begun {when}.")
        lines.append(_activity(ask, session))
        if allowed := sorted(list_allowed(ask.tx, session.id)):
            lines.append(f"Nobody is asked about {listed(allowed)}.")
        if session.taken_at is not None:
            ending = "A person has taken over: the agent is silent until they give it back."
    return CommandReply(text="\n".join([*lines, ending]))


def _activity(ask: CommandContext, session: Session) -> str:
    """Say what goes on in a session, without that being an activity."""
    unfinished = [turn for turn in queries.turns(ask.tx, session.id) if turn.ended_at is None]
    waiting = sum(turn.state is TurnState.QUEUED for turn in unfinished)
    held = next((turn for turn in unfinished if turn.state in HELD), None)
    if held is None:
        state = "Nothing is running"
    elif held.state is TurnState.WAITING:
        state = f"It waits for your answer: {held.question}"
    else:
        since = ago(held.started_at or held.queued_at, ask.tx.now)
        state = "A turn is running" + ("" if since == "a moment ago" else f", begun {since}")
    if waiting:
        return f"{state}; {count(waiting, 'message')} waiting."
    return state if state.endswith((".", "?", "!")) else f"{state}."


def stop(ask: CommandContext) -> CommandReply:
    """Stop the turn that is under way."""
    id = ask.here()
    stopped = None if id is None else stop_and_wait.stop_session(ask.tx, id)
    if stopped is None:
        return CommandReply(text="Nothing is running.")
    is_carried = ask.tx.exists("find_owed_now", turn_id=stopped, now=stamp(ask.tx.now))
    return CommandReply(text="Stopped.", is_in_transcript=True, is_carried=is_carried)
