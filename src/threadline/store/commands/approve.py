"""Approve: approve, deny."""

from threadline.core.access_level import AccessLevel
from threadline.core.approval import Approval, PermissionDuration, write_answer
from threadline.core.errors import Conflict, Refused
from threadline.core.turn import Turn
from threadline.store import queries
from threadline.store.approvals import approvers, pending_questions, tool_permissions
from threadline.store.approvals.pending_questions import OpenQuestion
from threadline.store.commands.context import CommandContext, CommandReply
from threadline.store.formatting import listed
from threadline.store.inbound.question_replies import is_blind
from threadline.store.turns import stop_and_wait
from threadline.store.turns.approval_answers import record_permission


def approve(ask: CommandContext) -> CommandReply:
    """Say yes to what an agent asks here: this once, in this conversation, or always."""
    asked, words = _find_question(ask)
    turn = queries.read_turn(ask.tx, asked.turn_id)
    is_named = ask.argument.partition(" ")[0] == asked.name
    if not is_named and is_blind(turn, ask.inbound, Approval.APPROVED):
        raise Conflict("This was asked after you wrote that", hint=f"/approve {asked.name}")
    extent, words = _extent(words) if turn.asks else (PermissionDuration.ONCE, words)
    if extent is PermissionDuration.ALWAYS and not ask.rank.may(AccessLevel.ADMIN):
        hint = f"/approve {turn.id} {PermissionDuration.SESSION} allows it in this conversation"
        raise Refused("Only an admin may always allow a tool", hint=hint)
    approvers.require_approver(ask.tx, turn, ask.inbound, ask.rank)
    # Whoever comes second is told so here, and nothing is allowed.
    _answer(ask, asked, write_answer(Approval.APPROVED, words))
    _note(ask, turn, Approval.APPROVED, extent)
    return CommandReply(text=f"Approved.{_allow(ask, turn, extent)}", turn_id=turn.id)


def deny(ask: CommandContext) -> CommandReply:
    """Say no to what an agent asks here."""
    asked, words = _find_question(ask)
    turn = queries.read_turn(ask.tx, asked.turn_id)
    _answer(ask, asked, write_answer(Approval.DENIED, words))
    _note(ask, turn, Approval.DENIED)
    return CommandReply(text="Denied.", turn_id=asked.turn_id)


def _answer(ask: CommandContext, asked: OpenQuestion, said: str) -> None:
    stop_and_wait.answer(ask.tx, asked.turn_id, said, asked_at=asked.asked_at)


def _note(
    ask: CommandContext,
    turn: Turn,
    approval: Approval,
    extent: PermissionDuration = PermissionDuration.ONCE,
) -> None:
    approvers.note_decision(ask.tx, ask.inbound, turn, approval, extent=extent)


def _allow(ask: CommandContext, turn: Turn, extent: PermissionDuration) -> str:
    """Remember leave that is given for longer than this once; answer what to say of it."""
    if extent is PermissionDuration.ONCE:
        return ""
    session = queries.read_session(ask.tx, turn.session_id)
    tool_permissions.permit_tools(
        ask.tx,
        turn.asks,
        profile=session.profile,
        session_key=(
            queries.session_key(ask.tx, session.id)
            if extent is PermissionDuration.SESSION
            else None
        ),
        sender_key=pending_questions.find_respondent(ask.tx, ask.inbound, ask.rank).sender_key,
    )
    if extent is PermissionDuration.ALWAYS:
        said = ask.inbound
        record_permission(ask.tx, said.address, said.sender, turn, token=said.token)
    where = "in that conversation" if turn.session_id != ask.here() else "in this conversation"
    where = where if extent is PermissionDuration.SESSION else "anywhere"
    return f" {listed(turn.asks)} will not be asked about {where} again."


def _extent(words: str) -> tuple[PermissionDuration, str]:
    """Read for how long leave is given, and the words after that."""
    first = _first(words)
    if first in list(PermissionDuration):
        return PermissionDuration(first), words[len(first) :].strip()
    return PermissionDuration.ONCE, words


def _first(words: str) -> str:
    return words.strip().partition(" ")[0].lower()


def _find_question(ask: CommandContext) -> tuple[OpenQuestion, str]:
    """Find which question is meant, and the words that are said with the answer.

    A number alone is that of a turn, and so is one before an extent; buttons name one of its
    questions. Who presses one late must not answer another question.
    """
    id = ask.here()
    key = None if id is None else queries.session_key(ask.tx, id)
    asked = pending_questions.list_open(ask.tx, ask.inbound, ask.rank, session_key=key)
    number, _, rest = ask.argument.partition(" ")
    turn, _, nth = number.partition(".")
    for one in asked:
        if number in {str(one.turn_id), one.name}:
            return one, rest.strip()
        if turn == str(one.turn_id) and nth.isdecimal():
            raise stop_and_wait.over(one.turn_id)
    elsewhere = _find_elsewhere(ask, turn, nth)
    if elsewhere is not None:
        return elsewhere, rest.strip()
    is_name = turn.isdecimal() and (not nth or nth.isdecimal())
    if not asked or (is_name and _first(rest) in {"", *PermissionDuration}):
        raise Conflict("Nothing is waiting for an answer here", hint="Maybe somebody was faster")
    return asked[0], ask.argument


def _find_elsewhere(ask: CommandContext, turn: str, nth: str) -> OpenQuestion | None:
    """Find a question of another chat by its whole name, for an approver to whom it was sent."""
    if not (turn.isdecimal() and nth.isdecimal()):
        return None
    asked = pending_questions.find_named(ask.tx, turn, nth, profile=ask.inbound.profile)
    if asked is None or not approvers.is_approver(ask.tx, ask.inbound, ask.rank):
        return None
    return asked
