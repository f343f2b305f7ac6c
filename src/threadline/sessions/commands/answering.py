"""Commands that answer what an agent asks: approve, deny."""

from threadline.core.approval import Approval, write_answer
from threadline.core.errors import Conflict
from threadline.core.turn import TurnId
from threadline.sessions import questions, views
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.turns import pause


def approve(ask: Ask) -> Reply:
    """Say yes to what an agent asks here."""
    return _answer(ask, Approval.APPROVED)


def deny(ask: Ask) -> Reply:
    """Say no to what an agent asks here."""
    return _answer(ask, Approval.DENIED)


def _answer(ask: Ask, approval: Approval) -> Reply:
    turn_id, words = _find_question(ask)
    pause.answer(ask.tx, turn_id, write_answer(approval, words), now=ask.now)
    return Reply(text=f"{approval.capitalize()}.", turn_id=turn_id)


def _find_question(ask: Ask) -> tuple[TurnId, str]:
    """Find which question is meant, and the words that are said with the answer.

    A number alone is that of a question: who presses a button late must not answer another one.
    """
    id = ask.here()
    key = None if id is None else views.session_row(ask.tx, id).number("key")
    asked = questions.list_open(ask.tx, ask.inbound, ask.rank, session_key=key, rules=ask.rules)
    number, _, rest = ask.argument.partition(" ")
    named = [turn_id for turn_id in asked if str(turn_id) == number]
    if named:
        return named[0], rest.strip()
    if not asked or ask.argument.isdecimal():
        raise Conflict("Nothing waits for an answer here", hint="Perhaps somebody was quicker")
    return asked[0], ask.argument
