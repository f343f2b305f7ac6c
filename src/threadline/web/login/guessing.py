"""Guessing: whoever is wrong too often has to wait, by name and by where they are."""

import asyncio
import hashlib
from datetime import timedelta

from threadline.sessions.store import Store
from threadline.web.api.problems import TooOften

WITHIN = timedelta(minutes=15)
NAME_MOST = 10
"""Tries for one name within that time."""
ADDRESS_MOST = 30
"""Tries from one address."""


class Guesses:
    """Counts tries before they are made, so that many at once are no way around it."""

    def __init__(self, store: Store) -> None:
        """Count in the store, for all processes and over restarts."""
        self._store = store
        self._turn = asyncio.Lock()

    async def count(self, address: str, name: str | None = None) -> None:
        """Count a try as a mistake until it is forgiven; refuse one too many."""
        known = [(guesser("address", address), ADDRESS_MOST)]
        if name is not None:
            known.append((guesser("name", name), NAME_MOST))
        async with self._turn:
            for who, most in known:
                if await self._store.mistakes(who, WITHIN) >= most:
                    raise TooOften("That was wrong too often", after=WITHIN)
            for who, _ in known:
                await self._store.note_mistake(who)

    async def forgive(self, name: str) -> None:
        """Forget the mistakes for a name that got it right.

        Those of the address stay: whoever has an account of their own could try others in between.
        """
        await self._store.forgive(guesser("name", name))


def guesser(kind: str, text: str) -> str:
    """Name whom a mistake is counted for; a password may have been typed where the name goes."""
    told = f"{kind}\0{text}".encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()
