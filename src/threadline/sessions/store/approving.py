"""The store's leaves: what agents ask, and the tools that they may use without asking."""

from datetime import datetime

from threadline.core.account import Actor
from threadline.core.approval import (
    Allowance,
    AllowanceKey,
    Approval,
    Extent,
    checked_allowance_key,
)
from threadline.core.person import Asker
from threadline.core.route import canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.text import (
    checked_choice,
    checked_count,
    checked_moment,
    checked_text,
    checked_type,
)
from threadline.core.turn import Turn, TurnId, TurnState, checked_turn_id
from threadline.sessions import allowances, decisions, views
from threadline.sessions.store.door import Door
from threadline.sessions.views import LARGEST_PAGE
from threadline.storage.database import Transaction


class Approving(Door):
    """What agents ask leave for, and leave that people gave for longer than once."""

    async def questions(
        self,
        asker: Asker,
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
            decisions.list_questions,
            checked_type(asker, "asker", Asker),
            before=place,
            most=min(checked_count(most, "number of questions", 1), LARGEST_PAGE),
            rules=self.rules,
        )

    async def decide(
        self,
        asker: Asker,
        turn_id: TurnId,
        approval: Approval,
        *,
        asked_at: datetime | None = None,
        extent: Extent = Extent.ONCE,
        words: str = "",
    ) -> TurnState:
        """Say yes or no to what a turn asks; answers the state that this brought it to.

        `asked_at` is when the question was asked that is decided: if the turn asks another one by
        now, that is a `Conflict`, and nothing is allowed.
        Leave that is given for longer than once holds for the tools that were asked about. Only
        who sees everything may give it for always.
        """
        return await self._db.write(
            decisions.decide,
            checked_type(asker, "asker", Asker),
            checked_turn_id(turn_id),
            checked_choice(approval, "approval", Approval),
            asked_at=None if asked_at is None else checked_moment(asked_at, "asked_at"),
            extent=checked_choice(extent, "extent", Extent),
            words=checked_text(words, "words"),
            rules=self.rules,
            now=self.now(),
        )

    async def allowances(
        self, profile: str | None = None, *, id: SessionId | None = None
    ) -> list[Allowance]:
        """List what was allowed, in a profile, in a session, or everywhere."""
        return await self._db.read(
            _list_allowances,
            None if profile is None else canonical_profile(profile),
            None if id is None else checked_session_id(id),
        )

    async def allowance(self, key: AllowanceKey) -> Allowance:
        """Read leave that was given."""
        return await self._db.read(allowances.read_allowance, checked_allowance_key(key))

    async def revoke_allowance(self, key: AllowanceKey, *, by: Actor | None = None) -> Allowance:
        """Take leave back, so that the agent asks again; answers what was allowed."""
        return await self._db.write(
            allowances.revoke_allowance, checked_allowance_key(key), by=by, now=self.now()
        )


def _list_allowances(tx: Transaction, profile: str | None, id: SessionId | None) -> list[Allowance]:
    key = None if id is None else views.session_row(tx, id).number("key")
    return allowances.list_allowances(tx, profile, key)
