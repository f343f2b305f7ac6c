"""Usage: what was spent, and whether more may be."""

from datetime import UTC, datetime, tzinfo

from threadline.core.budget import checked_zone
from threadline.core.errors import Invalid
from threadline.core.person import Identity, PersonKey, checked_person_key
from threadline.core.route import canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.core.usage import UsageBy, UsageSum
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_moment,
    checked_type,
)
from threadline.store import usage as store_usage
from threadline.store.facade.connection import StoreConnection
from threadline.store.usage import ContextUsage, UsageFilter, read_meter


class UsageMethods(StoreConnection):
    """Usage, and caps on spending."""

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
