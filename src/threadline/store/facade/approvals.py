"""Approvals: what agents ask, and the tools that they may use without asking."""

from datetime import datetime

from threadline.core.account import Actor
from threadline.core.approval import (
    AllowanceKey,
    Approval,
    PermissionDuration,
    ToolPermission,
    checked_allowance_key,
)
from threadline.core.person import Viewer
from threadline.core.route import canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import Turn, TurnId, TurnState, checked_turn_id
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_moment,
    checked_text,
    checked_type,
)
from threadline.database.port import Transaction
from threadline.store import queries
from threadline.store.approvals import tool_permissions
from threadline.store.facade.connection import StoreConnection
from threadline.store.queries import LARGEST_PAGE
from threadline.store.turns import approval_answers


class ApprovalMethods(StoreConnection):
    """What agents ask leave for, and leave that people gave for longer than once."""

    async def questions(
        self,
        asker: Viewer,
        *,
        before: tuple[datetime, TurnId] | None = None,
        most: int = LARGEST_PAGE,
    ) -> list[Turn]:
        """List the turns that wait for an answer which an asker may give, the latest first.

        `before` is when a turn asked, and its id: the list goes on behind that.
        """
        place = None
        if before is not None:
            place = checked_moment(before[0], "before"), TurnId(checked_count(before[1], "turn"))
        return await self._db.read(
            approval_answers.list_questions,
            checked_type(asker, "asker", Viewer),
            before=place,
            most=min(checked_count(most, "number of questions", 1), LARGEST_PAGE),
        )

    async def decide(
        self,
        asker: Viewer,
        turn_id: TurnId,
        approval: Approval,
        *,
        asked_at: datetime | None = None,
        extent: PermissionDuration = PermissionDuration.ONCE,
        words: str = "",
    ) -> TurnState:
        """Say yes or no to what a turn asks; answers the state that this brought it to.

        `asked_at` is when the question was asked that is decided: if the turn asks another one by
        now, that is a `Conflict`, and nothing is allowed.
        Leave that is given for longer than once holds for the tools that were asked about. Only
        who sees everything may give it for always.
        """
        return await self._db.write(
            approval_answers.answer_approval,
            checked_type(asker, "asker", Viewer),
            checked_turn_id(turn_id),
            checked_choice(approval, "approval", Approval),
            asked_at=None if asked_at is None else checked_moment(asked_at, "asked_at"),
            extent=checked_choice(extent, "extent", PermissionDuration),
            words=checked_text(words, "words"),
        )

    async def allowances(
        self, profile: str | None = None, *, id: SessionId | None = None
    ) -> list[ToolPermission]:
        """List what was allowed, in a profile, in a session, or everywhere."""
        return await self._db.read(
            _list_allowances,
            None if profile is None else canonical_profile(profile),
            None if id is None else checked_session_id(id),
        )

    async def allowance(self, key: AllowanceKey) -> ToolPermission:
        """Read leave that was given."""
        return await self._db.read(tool_permissions.read_allowance, checked_allowance_key(key))

    async def revoke_allowance(
        self, key: AllowanceKey, *, by: Actor | None = None
    ) -> ToolPermission:
        """Take leave back, so that the agent asks again; answers what was allowed."""
        return await self._db.write(
            tool_permissions.revoke_allowance, checked_allowance_key(key), by=by
        )


def _list_allowances(
    tx: Transaction, profile: str | None, id: SessionId | None
) -> list[ToolPermission]:
    key = None if id is None else queries.session_key(tx, id)
    return tool_permissions.list_allowances(tx, profile, key)
