"""Commands about the conversation that goes on: title, status, stop."""

from threadline.core.errors import Conflict
from threadline.core.session import Session, TitleSource
from threadline.core.turn import HELD, TurnState
from threadline.sessions import choices, views
from threadline.sessions.allowances import list_allowed
from threadline.sessions.commands.ask import Ask, Reply, count_said
from threadline.sessions.phrases import ago, count, describe, listed, name, why
from threadline.sessions.turns import pause
from threadline.storage.moments import stamp


def title(ask: Ask) -> Reply:
    """Show or set the title."""
    id = ask.here()
    if id is None:
        hint = "Say something first, or begin with /new and a title"
        raise Conflict("There is no conversation yet that could have a title", hint=hint)
    if not ask.argument:
        return Reply(text=f"This is {name(views.read_session(ask.tx, id))}.")
    choices.set_title(ask.tx, id, ask.argument, source=TitleSource.PERSON, now=ask.now)
    return Reply(text=f"This is {name(views.read_session(ask.tx, id))} now.")


def status(ask: Ask) -> Reply:
    """Say where the asker is, and what goes on there."""
    found, inbound = ask.explanation(), ask.inbound
    place = " ".join(filter(None, (inbound.address.platform, inbound.address.chat)))
    lines = [f"Here: {place}, profile {inbound.profile}."]
    ending = f"It ends by itself: {describe(found.policy)}."
    if found.session_id is None or found.cause is not None:
        because = "" if found.cause is None else f": {why(found.cause)}"
        lines.append(f"The next message begins a new conversation{because}.")
    else:
        session = views.read_session(ask.tx, found.session_id)
        said, when = count(count_said(ask.tx, session), "message"), ago(session.opened_at, ask.now)
        lines.append(f"Conversation: {name(session)} ({session.id}), {said}, begun {when}.")
        lines.append(_activity(ask, session))
        if allowed := sorted(list_allowed(ask.tx, session.id)):
            lines.append(f"Nobody is asked about {listed(allowed)}.")
        if session.taken_at is not None:
            ending = "A person has taken over: the agent is silent until they give it back."
    return Reply(text="\n".join([*lines, ending]))


def _activity(ask: Ask, session: Session) -> str:
    """Say what goes on in a session, without that being an activity."""
    unfinished = [turn for turn in views.turns(ask.tx, session.id) if turn.ended_at is None]
    waiting = sum(turn.state is TurnState.QUEUED for turn in unfinished)
    held = next((turn for turn in unfinished if turn.state in HELD), None)
    if held is None:
        state = "Nothing is running"
    elif held.state is TurnState.WAITING:
        state = f"It waits for your answer: {held.question}"
    else:
        since = ago(held.started_at or held.queued_at, ask.now)
        state = "A turn is running" + ("" if since == "a moment ago" else f", begun {since}")
    if waiting:
        return f"{state}; {count(waiting, 'message')} waiting."
    return state if state.endswith((".", "?", "!")) else f"{state}."


def stop(ask: Ask) -> Reply:
    """Stop the turn that is under way."""
    id = ask.here()
    stopped = None if id is None else pause.stop_session(ask.tx, id, now=ask.now)
    if stopped is None:
        return Reply(text="Nothing is running.")
    is_carried = ask.tx.one("find_owed_now", turn_id=stopped, now=stamp(ask.now)) is not None
    return Reply(text="Stopped.", is_in_transcript=True, is_carried=is_carried)
