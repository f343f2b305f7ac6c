"""Callers: an owner, two members and nobody, each with a token of their own, before the API."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import Message, Scope

from tests.web.api_pool import lent_api
from tests.web.browser import HERE, make_token, settings
from tests.web.test_server import FakeGateway
from threadline.config import Config
from threadline.core.account import Account, AccountRole, TokenScope
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, Part, Role, Text, say
from threadline.core.platform import Platform
from threadline.core.session import SessionId
from threadline.core.usage import Usage
from threadline.store import Store
from threadline.web.gateway_protocol import GatewayPort
from threadline.web.request_limits import RequestGuard
from threadline.web.share_pages import make_share_route

READ_WRITE = (TokenScope.READ, TokenScope.WRITE)


@dataclass
class Callers:
    """Everybody who asks for something in a test."""

    store: Store
    site: Starlette
    owner: httpx.AsyncClient
    reader: httpx.AsyncClient
    """A program of the owner that may only read."""
    member: httpx.AsyncClient
    other: httpx.AsyncClient
    nobody: httpx.AsyncClient
    accounts: dict[str, Account]
    _count: int = field(default=0, init=False)

    async def break_off(self, path: str, begun: bytes) -> int | None:
        """Let the member post something, and go away in its middle; answer what would be said."""
        said: list[int] = []
        coming: list[Message] = [
            {"type": "http.request", "body": begun, "more_body": True},
            {"type": "http.disconnect"},
        ]

        async def receive() -> Message:
            return coming.pop(0)

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                said.append(message["status"])

        shown = self.member.headers["authorization"].encode()
        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1:8642"), (b"authorization", shown)],
        }
        await self.site(scope, receive, send)
        return said[0] if said else None

    async def talk(
        self,
        who: str,
        text: str = "hello",
        *files: Attachment,
        answer: str = "hi",
        usage: tuple[Usage, ...] = (),
    ) -> SessionId:
        """Let somebody say something in a conversation of its own, and be answered."""
        self._count += 1
        account = self.accounts[who]
        parts: list[Part] = [Text(text=text), *files]
        inbound = Inbound(
            address=account.place(f"t{self._count}"),
            sender=account.sender,
            parts=tuple(parts),
            at=self.store.now(),
            message_id=f"m{self._count}",
        )
        arrival = await self.store.receive(inbound)
        claim = await self.store.turns.claim()
        assert claim is not None
        await self.store.turns.finish(claim.lease, [say(Role.ASSISTANT, answer)], usage=usage)
        assert arrival.session_id is not None
        return arrival.session_id


@asynccontextmanager
async def calling(
    store: Store,
    *platforms: Platform,
    config: Config | None = None,
    gateway: GatewayPort | None = None,
) -> AsyncIterator[Callers]:
    """Stand before the API, each with what they may show."""
    accounts = {
        "owner": await store.owner_account(),
        "member": await store.make_account("mia", AccountRole.MEMBER),
        "other": await store.make_account("otto", AccountRole.MEMBER),
    }
    shown = {
        "owner": await make_token(store, *TokenScope),
        "reader": await make_token(store, TokenScope.READ),
        "member": await make_token(store, *READ_WRITE, account=accounts["member"]),
        "other": await make_token(store, *READ_WRITE, account=accounts["other"]),
        "nobody": {},
    }
    async with AsyncExitStack() as stack:
        lent = lent_api(gateway or FakeGateway(*platforms), store, config or settings())
        site = Starlette(
            routes=[make_share_route(store), Mount("/api", app=stack.enter_context(lent))],
            middleware=[Middleware(RequestGuard)],
        )
        clients = {
            name: await stack.enter_async_context(
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app=site),
                    base_url=HERE,
                    headers=headers,
                    trust_env=False,
                )
            )
            for name, headers in shown.items()
        }
        yield Callers(store=store, site=site, accounts=accounts, **clients)
