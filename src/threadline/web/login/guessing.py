"""Guessing: whoever is wrong too often has to wait, by name and by where they are."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from threadline.sessions.store import Store
from threadline.web.problems import TooOften

WITHIN = timedelta(minutes=15)
NAME_MOST = 10
"""Tries for one name within that time."""
ADDRESS_MOST = 30
"""Tries from one address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Try:
    """A try that was counted, and is a mistake until it is forgiven."""

    counted: Mapping[str, int] = field(default_factory=dict)
    name: str | None = None


class Guesses:
    """Counts tries before they are made, so that many at once are no way around it."""

    def __init__(self, store: Store) -> None:
        """Count in the store, for all processes and over restarts."""
        self._store = store

    async def count(self, address: str, name: str | None = None) -> Try:
        """Count a try as a mistake until it is forgiven; refuse one too many."""
        most = {guesser("address", address): ADDRESS_MOST}
        if name is not None:
            most[guesser("name", name)] = NAME_MOST
        counted = await self._store.count_try(most, WITHIN)
        if counted is None:
            raise TooOften("Too many wrong attempts", after=WITHIN)
        return Try(counted=counted, name=name)

    async def forgive(self, tried: Try) -> None:
        """Forget a try that was right, and the mistakes before it for its name.

        Those of the address stay: whoever has an account of their own could try others in between.
        """
        if tried.counted:
            named = None if tried.name is None else guesser("name", tried.name)
            await self._store.forgive(tried.counted, named)


def guesser(kind: str, text: str) -> str:
    """Name whom a mistake is counted for; a password may have been typed where the name goes."""
    told = f"{kind}\0{text}".encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()
