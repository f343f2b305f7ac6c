"""Decisions: what somebody who looks at conversations says to what their agents ask."""

import json
from datetime import datetime

from threadline.core.address import Address, Sender
from threadline.core.approval import Approval, Extent, write_answer
from threadline.core.errors import NotFound, Refused
from threadline.core.person import Asker
from threadline.core.rank import Rank
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.text import COUNT_LIMIT
from threadline.core.turn import Turn, TurnId, TurnState
from threadline.sessions import allowances, views
from threadline.sessions.people.ownership import AskerKeys, asker_keys, sender_key_of
from threadline.sessions.questions import Respondent, may_answer
from threadline.sessions.records import address_from_row, turn_from
from threadline.sessions.turns import pause
from threadline.sessions.welcome.acting import note_act
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

_SLICE = 100
"""Questions that are looked at together."""


def list_questions(
    tx: Transaction,
    asker: Asker,
    *,
    before: tuple[datetime, TurnId] | None,
    most: int,
    rules: Rules,
) -> list[Turn]:
    """List the turns that wait for an answer which somebody may give, the latest first."""
    keys, found = asker_keys(tx, asker), list[Turn]()
    at, id = (COUNT_LIMIT, 0) if before is None else (stamp(before[0]), before[1])
    rows = _waiting(tx, keys, at, id)
    while rows and len(found) < most:
        found += [
            turn_from(row, SessionId(row.text("session_id")))
            for row in rows
            if _is_theirs(tx, keys, row, TurnId(row.number("id")), rules)
        ]
        at, id = rows[-1].number("asked_at"), rows[-1].number("id")
        rows = _waiting(tx, keys, at, id) if len(rows) == _SLICE else []
    return found[:most]


def _waiting(tx: Transaction, keys: AskerKeys, at: int, id: int) -> list[Row]:
    platform, account, chat = keys.chat or (None, None, None)
    return tx.all(
        "list_waiting_turns",
        profile=keys.profile,
        sender_keys=None if keys.sees_all else json.dumps(sorted(keys.sender_keys)),
        platform=platform,
        account=account,
        chat=chat,
        before_at=at,
        before_id=id,
        most=_SLICE,
    )


def decide(
    tx: Transaction,
    asker: Asker,
    turn_id: TurnId,
    approval: Approval,
    *,
    asked_at: datetime | None = None,
    extent: Extent,
    words: str,
    rules: Rules,
    now: datetime,
) -> TurnState:
    """Say yes or no to what a turn asks, and remember leave that is given for longer than once.

    `asked_at` names the question; without it, the one that is asked when this is read is meant.
    """
    turn, keys = views.read_turn(tx, turn_id), asker_keys(tx, asker)
    session = expect(tx, "read_owner", id=turn.session_id)
    if not keys.admits(session):
        raise NotFound("There is no such turn", id=str(turn_id))
    if not _is_theirs(tx, keys, session, turn_id, rules):
        raise Refused("Only whoever was asked, or an admin, can answer this", id=str(turn_id))
    if extent is Extent.ALWAYS and not keys.sees_all:
        hint = "In this conversation you may allow it"
        raise Refused("Only an admin may always allow a tool", hint=hint)
    # Whoever comes second is told so here, and nothing is allowed.
    state = pause.answer(
        tx,
        turn_id,
        write_answer(approval, words),
        asked_at=turn.asked_at if asked_at is None else asked_at,
        now=now,
    )
    if approval is Approval.APPROVED and extent is not Extent.ONCE and turn.asks:
        here = None if asker.address is None else sender_key_of(tx, asker.address, asker.sender)
        allowances.allow(
            tx,
            turn.asks,
            profile=session.text("profile"),
            session_key=session.number("key") if extent is Extent.SESSION else None,
            sender_key=here,
            now=now,
        )
        if extent is Extent.ALWAYS:
            note_leave(tx, asker.address, asker.sender, turn, now=now)
    return state


def note_leave(
    tx: Transaction, address: Address | None, sender: Sender, turn: Turn, *, now: datetime
) -> None:
    """Write down who allowed what a turn asked about for always."""
    for tool in sorted(set(turn.asks)):
        note_act(tx, address, sender, "tool.allowed", tool, now=now)


def _is_theirs(tx: Transaction, keys: AskerKeys, session: Row, id: TurnId, rules: Rules) -> bool:
    """Tell whether a question of a session that they may see is theirs to answer."""
    if keys.sees_all:
        return True
    place = expect(tx, "read_place", key=session.number("address_key"))
    who = Respondent(
        address=address_from_row(place),
        sender_key=keys.sender_key,
        person_key=keys.person_key,
        rank=Rank.MEMBER,
    )
    return may_answer(tx, id, who, rules, is_theirs=session["sender_key"] is not None)
