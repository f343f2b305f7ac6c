"""Rate limit: nobody asks so often that the others have to wait."""

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta

from msgspec import Struct
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from threadline.web.authentication import bearer_secret, hash_secret, login_secret
from threadline.web.problems import TooOften, problem_response
from threadline.web.trusted_hosts import LOOPBACK, client_address, is_in_networks

KNOWN_MOST = 10_000
"""Askers that are remembered; of more, those are forgotten that were silent for longest."""


class Rate(Struct, frozen=True, kw_only=True):
    """How often something may be asked: many times at once, and so often for ever."""

    burst: int
    per_second: float


VISITOR_RATE = Rate(burst=1500, per_second=50)
ADDRESS_RATE = Rate(burst=3000, per_second=100)


class RequestBudget:
    """How much each of many askers may still ask."""

    def __init__(self, rate: Rate, ticks: Callable[[], float] = time.monotonic) -> None:
        """Give everybody the same rate."""
        self._rate = rate
        self._ticks = ticks
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> timedelta | None:
        """Take one; if none is left, answer after what time there is one again."""
        now = self._ticks()
        left, at = self._left.pop(who, (float(self._rate.burst), now))
        left = min(self._rate.burst, left + (now - at) * self._rate.per_second)
        is_enough = left >= 1
        self._left[who] = (left - 1 if is_enough else left, now)
        while len(self._left) > KNOWN_MOST:
            self._left.popitem(last=False)
        return None if is_enough else timedelta(seconds=(1 - left) / self._rate.per_second)


class Limits:
    """Wraps an application: passes on what is not asked too often."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        visitor: Rate = VISITOR_RATE,
        address: Rate = ADDRESS_RATE,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with everybody's whole allowance."""
        self._app = app
        self._visitors = RequestBudget(visitor, ticks)
        self._addresses = RequestBudget(address, ticks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on, or say after what time to come again."""
        after = self._wait_for(HTTPConnection(scope))
        if after is None:
            await self._app(scope, receive, send)
        else:
            too_often = TooOften("Too many requests", after=after)
            await problem_response(too_often)(scope, receive, send)

    def _wait_for(self, connection: HTTPConnection) -> timedelta | None:
        secret = bearer_secret(connection) or login_secret(connection)
        if secret and (after := self._visitors.take(hash_secret(secret))) is not None:
            return after
        address = client_address(connection.scope)
        if is_in_networks(address, LOOPBACK):
            return None  # whoever is on this machine needs no server to keep it busy
        return self._addresses.take(address)
