"""The store's leaves: the tools that agents may use without asking."""

from threadline.core.approval import Allowance, AllowanceKey, checked_allowance_key
from threadline.core.route import canonical_profile
from threadline.core.session import SessionId, checked_session_id
from threadline.sessions import allowances, views
from threadline.sessions.store.door import Door
from threadline.storage.database import Transaction


class Approving(Door):
    """Leave that people gave for longer than once."""

    async def allowances(
        self, profile: str | None = None, *, id: SessionId | None = None
    ) -> list[Allowance]:
        """List what was allowed, in a profile, in a session, or everywhere."""
        return await self._db.read(
            _list_allowances,
            None if profile is None else canonical_profile(profile),
            None if id is None else checked_session_id(id),
        )

    async def revoke_allowance(self, key: AllowanceKey) -> Allowance:
        """Take leave back, so that the agent asks again; answers what was allowed."""
        return await self._db.write(
            allowances.revoke_allowance, checked_allowance_key(key), now=self.now()
        )


def _list_allowances(tx: Transaction, profile: str | None, id: SessionId | None) -> list[Allowance]:
    key = None if id is None else views.session_row(tx, id).number("key")
    return allowances.list_allowances(tx, profile, key)
