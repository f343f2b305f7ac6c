"""Usage: what was spent, and whether more may be spent."""

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
    checked_moment,
    checked_type,
)
from threadline.store import usage as store_usage
from threadline.store.library.group import Group
from threadline.store.usage import UsageFilter


class UsageGroup(Group):
    """What was spent, and whether more may be spent."""

    async def of_session(self, id: SessionId) -> list[Usage]:
        """Return what a session spent, by model and task.

        >>> [used.model for used in await store.usage.of_session(arrival.session_id)]
        ['small']
        """
        return await self._db.read(store_usage.usage_of_session, checked_session_id(id))

    async def sum(
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
        """Return usage by turn, session, model, task, person or day, from `since` to `until`.

        Days are those of the time zone, in order and all of them; everything else begins with what
        cost most: `most` of it, after the first ones, or all. Without a session, a person or a
        sender it is the usage of all.

        >>> (total,) = await store.usage.sum(UsageBy.MODEL)
        >>> total.output_tokens
        9
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

    async def approve(self, lease: Lease) -> Sequence[Spending]:
        """Return the caps that a turn's sender is warned of, or raise `CapReached`.

        Call it before each call of a model. Without any cap the database is not asked.

        >>> await store.usage.approve(claim.lease)
        ()
        """
        return await store_usage.approve_spending(self._db, checked_type(lease, "lease", Lease))

    async def last_prompt(self, id: SessionId) -> int:
        """Return how many tokens the last prompt of a session had; 0 if it was compacted since.

        >>> await store.usage.last_prompt(arrival.session_id)
        40
        """
        return await self._db.read(store_usage.last_prompt, checked_session_id(id))

    async def record(self, id: SessionId, usage: Sequence[Usage]) -> None:
        """Record what was spent on a session beside its turns, as on a title or a summary.

        >>> used = Usage(provider="acme", model="tiny", input_tokens=5, output_tokens=1)
        >>> await store.usage.record(arrival.session_id, [used])
        """
        await self._db.write(store_usage.spend_for, checked_session_id(id), tuple(usage))
