"""Commands that answer what an agent asks: approve, deny."""

from threadline.core.approval import Approval, write_answer
from threadline.core.errors import Conflict
from threadline.core.turn import TurnId
from threadline.sessions import views
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.turns import pause


def approve(ask: Ask) -> Reply:
    """Say yes to what the agent of this conversation asks."""
    return _answer(ask, Approval.APPROVED)


def deny(ask: Ask) -> Reply:
    """Say no to what the agent of this conversation asks."""
    return _answer(ask, Approval.DENIED)


def _answer(ask: Ask, approval: Approval) -> Reply:
    id = ask.here()
    waiting = None
    if id is not None:
        key = views.session_row(ask.tx, id).number("key")
        waiting = ask.tx.one("find_waiting_turn", session_key=key)
    if waiting is None:
        raise Conflict("Nothing waits for an answer here", hint="Perhaps somebody was quicker")
    turn_id = TurnId(waiting.number("id"))
    pause.answer(ask.tx, turn_id, write_answer(approval, ask.argument), now=ask.now)
    return Reply(text=f"{approval.capitalize()}.", turn_id=turn_id)
