"""Concurrency: how many requests of unknown callers may be under way at a time."""

from collections import defaultdict

from starlette.types import ASGIApp, Receive, Scope, Send

from threadline.core.platform import KNOWN_CALLER
from threadline.web.request_limits import drop_request, has_whole_body
from threadline.web.trusted_hosts import LOOPBACK, client_address, is_in_networks

ADDRESS_MOST = 100
"""Requests of unknown callers that may be under way from one address; the machine itself has no
limit of its own.
"""
STRANGERS_MOST = 1000
"""Requests of unknown callers that may be under way from all addresses."""


class Concurrency:
    """Middleware that drops the slowest requests of unknown callers when there are too many.

    The address is that which a trusted proxy reports. A caller is known as soon as a login, a token
    or a signature was found right.
    """

    def __init__(
        self, app: ASGIApp, *, per_address: int = ADDRESS_MOST, most: int = STRANGERS_MOST
    ) -> None:
        """Wrap an application."""
        self._app = app
        self._per_address, self._most = per_address, most
        # Both are ordered: the request that began first is the first one.
        self._requests: dict[int, Scope] = {}
        self._by_address: dict[str, dict[int, Scope]] = defaultdict(dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        address, key = client_address(scope), id(scope)
        self._requests[key] = self._by_address[address][key] = scope
        self._make_room(address)
        try:
            await self._app(scope, receive, send)
        finally:
            self._remove(address, key)

    def _make_room(self, address: str) -> None:
        here = self._by_address[address]
        if len(here) > self._per_address and not is_in_networks(address, LOOPBACK):
            _drop_slowest(here, self._per_address)
        if len(self._requests) > self._most:
            _drop_slowest(self._requests, self._most)

    def _remove(self, address: str, key: int) -> None:
        self._requests.pop(key, None)
        here = self._by_address[address]
        here.pop(key, None)
        if not here:
            del self._by_address[address]


def _drop_slowest(requests: dict[int, Scope], most: int) -> None:
    """Drop requests until not more are left; known callers are only taken out of the count.

    The slowest is the oldest one whose body has not come, or else the oldest one.
    """
    for key in [key for key, scope in requests.items() if KNOWN_CALLER in scope]:
        del requests[key]
    while len(requests) > most:
        *older, _ = requests.items()  # the last one has just begun
        waiting = (key for key, scope in older if not has_whole_body(scope))
        drop_request(requests.pop(next(waiting, older[0][0])))
