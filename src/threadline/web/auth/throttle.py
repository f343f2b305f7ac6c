"""Throttle: whoever is wrong too often has to wait, by name and by where they are."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field

from threadline.store import Store
from threadline.web.authentication import TOKEN_PREFIX, hash_secret
from threadline.web.problems import TooOften

WITHIN = timedelta(minutes=15)
NAME_MOST = 10
"""Tries for one name within that time."""
ADDRESS_MOST = 30
"""Tries from one address."""

NOTED_EVERY = timedelta(seconds=10)
"""How often wrong tokens are written to the audit log, however many requests show them."""
TOKENS_TOLD_APART = 100
"""Wrong tokens that are counted one by one within that time; more are counted together."""


class LoginAttempt(Struct, frozen=True, kw_only=True):
    """A try that was counted, and is a mistake until it is forgiven."""

    counted: Mapping[str, int] = field(default_factory=dict)
    name: str | None = None


class LoginThrottle:
    """Counts tries before they are made, so that many at once are no way around it."""

    def __init__(self, store: Store) -> None:
        """Count in the store, for all processes and over restarts."""
        self._store = store

    async def count(self, address: str, name: str | None = None) -> LoginAttempt:
        """Count a try as a mistake until it is forgiven; refuse one too many."""
        most = {guesser("address", address): ADDRESS_MOST}
        if name is not None:
            most[guesser("name", name)] = NAME_MOST
        counted = await self._store.count_try(most, WITHIN)
        if counted is None:
            raise TooOften("Too many wrong attempts", after=WITHIN)
        return LoginAttempt(counted=counted, name=name)

    async def forgive(self, tried: LoginAttempt) -> None:
        """Forget a try that was right, and the mistakes before it for its name.

        Those of the address stay: whoever has an account of their own could try others in between.
        """
        if tried.counted:
            named = None if tried.name is None else guesser("name", tried.name)
            await self._store.forgive(tried.counted, named)


class WrongTokens:
    """Records API tokens that are not valid, without a write for each request that shows one."""

    def __init__(self, store: Store) -> None:
        """Count in memory, and write to the audit log of the store."""
        self._store = store
        self._counted: Counter[str | None] = Counter()
        self._next: datetime | None = None

    async def note(self, shown: str) -> None:
        """Count a token; the first one is written at once, later ones together."""
        hashed = hash_secret(shown) if shown.startswith(TOKEN_PREFIX) else None
        if hashed not in self._counted and len(self._counted) >= TOKENS_TOLD_APART:
            hashed = None
        self._counted[hashed] += 1
        now = self._store.now()
        if self._next is not None and now < self._next <= now + NOTED_EVERY:
            return
        self._next = now + NOTED_EVERY
        counted, self._counted = self._counted, Counter()
        await self._store.note_wrong_tokens(counted)


def guesser(kind: str, text: str) -> str:
    """Name whom a mistake is counted for; a password may have been typed where the name goes."""
    told = f"{kind}\0{text}".encode("utf-8", "replace")
    return hashlib.sha256(told).hexdigest()
