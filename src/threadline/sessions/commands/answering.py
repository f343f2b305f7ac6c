"""Commands that answer what an agent asks: approve, deny."""

from threadline.core.approval import Approval, Extent, write_answer
from threadline.core.errors import Conflict, Refused
from threadline.core.rank import Rank
from threadline.core.turn import Turn
from threadline.sessions import allowances, questions, views
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.decisions import note_leave
from threadline.sessions.phrases import listed
from threadline.sessions.questions import OpenQuestion
from threadline.sessions.turns import pause


def approve(ask: Ask) -> Reply:
    """Say yes to what an agent asks here: this once, in this conversation, or always."""
    asked, words = _find_question(ask)
    turn = views.read_turn(ask.tx, asked.turn_id)
    extent, words = _extent(words) if turn.asks else (Extent.ONCE, words)
    if extent is Extent.ALWAYS and not ask.rank.may(Rank.ADMIN):
        hint = f"/approve {turn.id} {Extent.SESSION} allows it in this conversation"
        raise Refused("Only an admin may always allow a tool", hint=hint)
    # Whoever comes second is told so here, and nothing is allowed.
    _answer(ask, asked, write_answer(Approval.APPROVED, words))
    return Reply(text=f"Approved.{_allow(ask, turn, extent)}", turn_id=turn.id)


def deny(ask: Ask) -> Reply:
    """Say no to what an agent asks here."""
    asked, words = _find_question(ask)
    _answer(ask, asked, write_answer(Approval.DENIED, words))
    return Reply(text="Denied.", turn_id=asked.turn_id)


def _answer(ask: Ask, asked: OpenQuestion, said: str) -> None:
    pause.answer(ask.tx, asked.turn_id, said, asked_at=asked.asked_at, now=ask.now)


def _allow(ask: Ask, turn: Turn, extent: Extent) -> str:
    """Remember leave that is given for longer than this once; answer what to say of it."""
    if extent is Extent.ONCE:
        return ""
    session = views.session_row(ask.tx, turn.session_id)
    allowances.allow(
        ask.tx,
        turn.asks,
        profile=session.text("profile"),
        session_key=session.number("key") if extent is Extent.SESSION else None,
        sender_key=questions.find_respondent(ask.tx, ask.inbound, ask.rank).sender_key,
        now=ask.now,
    )
    if extent is Extent.ALWAYS:
        note_leave(ask.tx, ask.inbound.address, ask.inbound.sender, turn, now=ask.now)
    where = "in that conversation" if turn.session_id != ask.here() else "in this conversation"
    where = where if extent is Extent.SESSION else "anywhere"
    return f" {listed(turn.asks)} will not be asked about {where} again."


def _extent(words: str) -> tuple[Extent, str]:
    """Read for how long leave is given, and the words after that."""
    first = _first(words)
    if first in list(Extent):
        return Extent(first), words[len(first) :].strip()
    return Extent.ONCE, words


def _first(words: str) -> str:
    return words.strip().partition(" ")[0].lower()


def _find_question(ask: Ask) -> tuple[OpenQuestion, str]:
    """Find which question is meant, and the words that are said with the answer.

    A number alone is that of a turn, and so is one before an extent; buttons name one of its
    questions. Who presses one late must not answer another question.
    """
    id = ask.here()
    key = None if id is None else views.session_row(ask.tx, id).number("key")
    asked = questions.list_open(ask.tx, ask.inbound, ask.rank, session_key=key, rules=ask.rules)
    number, _, rest = ask.argument.partition(" ")
    turn, _, nth = number.partition(".")
    for one in asked:
        if number in {str(one.turn_id), one.name}:
            return one, rest.strip()
        if turn == str(one.turn_id) and nth.isdecimal():
            raise pause.over(one.turn_id)
    is_name = turn.isdecimal() and (not nth or nth.isdecimal())
    if not asked or (is_name and _first(rest) in {"", *Extent}):
        raise Conflict("Nothing is waiting for an answer here", hint="Maybe somebody was faster")
    return asked[0], ask.argument
