"""A hall: a house whose conversations are followed over HTTP, by whoever has a token."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, cast

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from tests.web.api_pool import lent_api
from threadline.config import Config
from threadline.core.account import Account, AccountRole, TokenScope
from threadline.core.inbound import Inbound
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.stream_checker import Frame, Told, read_frames
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret
from threadline.web.feed.broadcaster import Feed
from threadline.web.gateway_protocol import GatewayPort
from threadline.web.request_limits import RequestGuard
from threadline.web.server import serve


async def make_token(store: Store, account: Account, *scopes: TokenScope) -> str:
    """Make a token of an account, and answer it."""
    secret = new_secret(TOKEN_PREFIX)
    scoped = frozenset(scopes or (TokenScope.READ,))
    await store.make_token(account.key, "test", scoped, hash_secret(secret), None)
    return secret


class Visit:
    """Somebody who asks over HTTP."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self.client = client

    async def snapshot(self, *sessions: SessionId) -> Told:
        """Ask for a snapshot."""
        answer = await self.client.get("/api/snapshot", params={"sessions": list(sessions)})
        assert answer.status_code == 200, answer.text
        return cast("Told", answer.json())

    @asynccontextmanager
    async def follows(
        self,
        after: str | None = None,
        *,
        last_event_id: str | None = None,
        sessions: Sequence[SessionId] = (),
        live: Sequence[SessionId] = (),
    ) -> AsyncIterator[AsyncIterator[Frame]]:
        """Follow the feed."""
        params: dict[str, Any] = {"sessions": list(sessions), "live": list(live)}
        if after is not None:
            params["after"] = after
        headers = {} if last_event_id is None else {"Last-Event-ID": last_event_id}
        request = self.client.build_request("GET", "/api/feed", params=params, headers=headers)
        answer = await self.client.send(request, stream=True)
        try:
            assert answer.status_code == 200, await answer.aread()
            yield read_frames(answer.aiter_lines())
        finally:
            await answer.aclose()


class Hall:
    """Serves a house over HTTP, with an owner who reads."""

    def __init__(self, house: GatewayScenario, elsewhere: Store | None = None) -> None:
        """Serve a house, or as a process without agents that has opened its store, too."""
        self.house = house
        self._elsewhere = elsewhere
        self._visits: list[Visit] = []

    async def __aenter__(self) -> Self:
        gateway = self.house.gateway if self._elsewhere is None else cast("GatewayPort", None)
        self._lent = lent_api(gateway, self._elsewhere or self.house.store, Config())
        self.api = self._lent.__enter__()
        self.app = Starlette(
            routes=[Mount("/api", app=self.api)], middleware=[Middleware(RequestGuard)]
        )
        self._serving = serve(self.app, "127.0.0.1", 0)
        self.url = await self._serving.__aenter__()
        store = self.house.store
        self.owner_account = await store.owner_account()
        self.owner = await self.visit(await make_token(store, self.owner_account))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for visit in self._visits:
            await visit.client.aclose()
        self.feed.close()
        await self._serving.__aexit__(kind, error, traceback)
        self._lent.__exit__(kind, error, traceback)

    @property
    def feed(self) -> Feed:
        """The feed of the server."""
        return cast("Feed", self.api.state.feed)

    async def visit(self, token: str) -> Visit:
        """Come with a token."""
        headers = {"Authorization": f"Bearer {token}"}
        client = httpx.AsyncClient(
            base_url=self.url, headers=headers, trust_env=False, timeout=httpx.Timeout(HANG_SECONDS)
        )
        self._visits.append(Visit(client))
        return self._visits[-1]

    async def member(self, name: str) -> tuple[Account, Visit]:
        """Let a member visit."""
        account = await self.house.store.make_account(name, AccountRole.MEMBER)
        return account, await self.visit(await make_token(self.house.store, account))

    async def speaks(self, account: Account, words: str) -> SessionId:
        """Let an account say something in a conversation of its own, and be answered."""
        inbound = Inbound.text(
            words, address=account.place("1"), sender=account.sender, at=self.house.clock()
        )
        arrival = await self.house.store.receive(inbound)
        await self.house.rests()
        assert arrival.session_id is not None
        return arrival.session_id
