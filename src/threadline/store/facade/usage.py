"""Usage: what was spent, and whether more may be."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from threadline.core.budget import Spending, checked_zone
from threadline.core.errors import Invalid
from threadline.core.person import Identity, PersonKey, checked_person_key
from threadline.core.route import canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import Lease
from threadline.core.usage import Usage, UsageBy, UsageSum
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_moment,
    checked_type,
)
from threadline.store import usage as store_usage
from threadline.store.facade.connection import StoreConnection
from threadline.store.turns import finish
from threadline.store.usage import ContextUsage, UsageFilter, read_meter


class UsageMethods(StoreConnection):
    """Usage, and caps on spending."""

    async def last_prompt(self, id: SessionId) -> int:
        """Tell how many tokens the last prompt of a session had; 0 if it was compacted since."""
        return await self._db.read(store_usage.last_prompt, checked_session_id(id))

    async def meter(
        self, id: SessionId, sender: Identity | None = None, *, everybody: bool = True
    ) -> ContextUsage:
        """Tell how full the context of a session is, what it spent, and how near its caps are.

        Those of a sender are told, too, and with `everybody` those of all together.
        """
        return await self._db.read(
            read_meter,
            checked_session_id(id),
            None if sender is None else checked_type(sender, "sender", Identity),
            everybody=checked_flag(everybody, "everybody"),
        )

    async def usage_by(
        self,
        by: UsageBy,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        id: SessionId | None = None,
        person: PersonKey | None = None,
        sender: Identity | None = None,
        profile: str | None = None,
        timezone: tzinfo = UTC,
        after: int = 0,
        most: int | None = None,
    ) -> list[UsageSum]:
        """Add up usage by turn, session, model, task, person or day, from `since` to `until`.

        Days are those of the time zone, in order and all of them; everything else begins with what
        cost most: `most` of it, after the first ones, or all. Without a session, a person or a
        sender it is everybody's.
        """
        if person is not None and sender is not None:
            raise Invalid("Give either a person or a sender, not both")
        only = UsageFilter(
            since=None if since is None else checked_moment(since, "since"),
            until=None if until is None else checked_moment(until, "until"),
            session_id=None if id is None else checked_session_id(id),
            person=None if person is None else checked_person_key(person),
            sender=None if sender is None else checked_type(sender, "sender", Identity),
            profile=None if profile is None else canonical_profile(profile),
        )
        return await self._db.read(
            store_usage.sum_usage,
            checked_choice(by, "by", UsageBy),
            only,
            timezone=checked_zone(timezone),
            after=checked_count(after, "after"),
            most=None if most is None else checked_count(most, "most", 1),
        )

    async def approve_spending(self, lease: Lease) -> Sequence[Spending]:
        """Let a turn call a model, or raise `CapReached`; answers what its person is warned of.

        Without any cap nothing is asked of the database.
        """
        return await store_usage.approve_spending(self._db, checked_type(lease, "lease", Lease))

    async def approve_spending_for(self, id: SessionId) -> None:
        """Let somebody call a model for a session beside its turns, or raise `CapReached`."""
        await store_usage.approve_spending_for(self._db, checked_session_id(id))

    async def spend_for(self, id: SessionId, usage: Sequence[Usage]) -> None:
        """Record what was spent on a session beside its turns, as on a title or a summary."""
        await self._db.write(store_usage.spend_for, checked_session_id(id), tuple(usage))

    async def spend(self, lease: Lease, usage: Sequence[Usage]) -> None:
        """Record what a turn spent that was stopped, or taken from its worker."""
        await self._db.write(finish.spend, checked_type(lease, "lease", Lease), usage)
