"""Approval answers: what somebody who looks at conversations says to what their agents ask."""

import json
from datetime import datetime

from msgspec import Struct

from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.approval import Approval, PermissionDuration, write_answer
from threadline.core.delivery import LOCAL
from threadline.core.errors import NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.message import Text
from threadline.core.person import Viewer
from threadline.core.turn import Turn, TurnId, TurnState
from threadline.core.validation import COUNT_LIMIT
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store import queries
from threadline.store.accounts.accounts import note_act
from threadline.store.approvals import approvers, tool_permissions
from threadline.store.approvals.pending_questions import Respondent, may_answer
from threadline.store.people.visibility import AskerKeys, OwnedSession, asker_keys, sender_key_of
from threadline.store.turns import stop_and_wait

_SLICE = 100
"""Questions that are looked at together."""


class _ListedQuestion(Struct, frozen=True, kw_only=True):
    """A turn that waits for an answer, and whose its session is."""

    turn: Turn
    session: OwnedSession


def list_questions(
    tx: Transaction, asker: Viewer, *, before: tuple[datetime, TurnId] | None, most: int
) -> list[Turn]:
    """List the turns that wait for an answer which an asker may give, the latest first.

    What waits for an approver is listed for approvers, and for them in all conversations.
    """
    keys, found = asker_keys(tx, asker), list[Turn]()
    rank = AccessLevel.OWNER if keys.sees_all else AccessLevel.MEMBER
    may_approve = approvers.is_approver(tx, _said_by(asker, tx.now), rank)
    at, id = (COUNT_LIMIT, 0) if before is None else (stamp(before[0]), int(before[1]))
    sees_all = keys.sees_all or may_approve
    rows = _waiting(tx, keys, at, id, sees_all=sees_all)
    while rows and len(found) < most:
        found += [row.turn for row in rows if _may_decide(tx, keys, row, may_approve=may_approve)]
        at, id = _place_of(rows[-1].turn)
        rows = _waiting(tx, keys, at, id, sees_all=sees_all) if len(rows) == _SLICE else []
    return found[:most]


def _place_of(turn: Turn) -> tuple[int, int]:
    return 0 if turn.asked_at is None else stamp(turn.asked_at), turn.id


def _may_decide(
    tx: Transaction, keys: AskerKeys, row: _ListedQuestion, *, may_approve: bool
) -> bool:
    turn = row.turn
    if turn.asks and may_approve:
        return True
    if not keys.admits(row.session) or approvers.needs_approver(turn, keys.profile, tx.settings):
        return False
    return _is_theirs(tx, keys, row.session, turn.id)


def _waiting(
    tx: Transaction, keys: AskerKeys, at: int, id: int, *, sees_all: bool
) -> list[_ListedQuestion]:
    platform, account, chat = keys.chat or (None, None, None)
    return tx.all(
        "list_waiting_turns",
        _ListedQuestion,
        profile=keys.profile,
        sender_keys=None if sees_all else json.dumps(sorted(keys.sender_keys)),
        platform=platform,
        account=account,
        chat=chat,
        before_at=at,
        before_id=id,
        most=_SLICE,
    )


def answer_approval(
    tx: Transaction,
    asker: Viewer,
    turn_id: TurnId,
    approval: Approval,
    *,
    asked_at: datetime | None = None,
    extent: PermissionDuration,
    words: str,
) -> TurnState:
    """Say yes or no to what a turn asks, and remember leave that is given for longer than once.

    `asked_at` names the question; without it, the one that is asked when this is read is meant.
    """
    turn, keys = queries.read_turn(tx, turn_id), asker_keys(tx, asker)
    session = expect(tx, "read_owner", OwnedSession, id=turn.session_id)
    who, rank = _said_by(asker, tx.now), AccessLevel.OWNER if keys.sees_all else AccessLevel.MEMBER
    may_approve = bool(turn.asks) and approvers.is_approver(tx, who, rank)
    is_of_profile = session.profile == keys.profile
    if not keys.admits(session) and not (may_approve and is_of_profile):
        raise NotFound("There is no such turn", id=str(turn_id))
    if not may_approve and not _is_theirs(tx, keys, session, turn_id):
        raise Refused("Only whoever was asked, or an admin, can answer this", id=str(turn_id))
    if approval is Approval.APPROVED:
        approvers.require_approver(tx, turn, who, rank)
    if extent is PermissionDuration.ALWAYS and not keys.sees_all:
        hint = "In this conversation you may allow it"
        raise Refused("Only an admin may always allow a tool", hint=hint)
    # Whoever comes second is told so here, and nothing is allowed.
    state = stop_and_wait.answer(
        tx,
        turn_id,
        write_answer(approval, words),
        asked_at=turn.asked_at if asked_at is None else asked_at,
    )
    approvers.note_decision(tx, asker, turn, approval, extent=extent)
    if approval is Approval.APPROVED and extent is not PermissionDuration.ONCE and turn.asks:
        here = None if asker.address is None else sender_key_of(tx, asker.address, asker.sender)
        tool_permissions.permit_tools(
            tx,
            turn.asks,
            profile=session.profile,
            session_key=session.key if extent is PermissionDuration.SESSION else None,
            sender_key=here,
        )
        if extent is PermissionDuration.ALWAYS:
            record_permission(tx, asker.address, asker.sender, turn, token=asker.token)
    return state


def _said_by(asker: Viewer, now: datetime) -> Inbound:
    """Return the message by which an asker is ranked who decides without one."""
    address = asker.address or Address(platform=LOCAL, kind=Kind.DM)
    return Inbound(
        address=address,
        sender=asker.sender,
        parts=(Text(text="?"),),
        at=now,
        profile=asker.profile,
        token=asker.token,
    )


def record_permission(
    tx: Transaction,
    address: Address | None,
    sender: Sender,
    turn: Turn,
    *,
    token: int | None = None,
) -> None:
    """Write down who allowed what a turn asked about for always."""
    for tool in sorted(set(turn.asks)):
        note_act(tx, address, sender, "tool.allowed", tool, token=token)


def _is_theirs(tx: Transaction, keys: AskerKeys, session: OwnedSession, id: TurnId) -> bool:
    """Tell whether a question of a session that they may see is theirs to answer."""
    if keys.sees_all:
        return True
    who = Respondent(
        address=expect(tx, "read_place", Address, key=session.address_key),
        sender_key=keys.sender_key,
        person_key=keys.person_key,
        rank=AccessLevel.MEMBER,
    )
    return may_answer(tx, id, who, is_theirs=session.sender_key is not None)
