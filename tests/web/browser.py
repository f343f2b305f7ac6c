"""Browsers, and programs with tokens, before a whole application in this process."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.types import ASGIApp

from tests.web.test_server import FakeGateway
from threadline.config import Config, parse_config
from threadline.core.account import Account, TokenScope
from threadline.store import Store
from threadline.web.app import WebApp
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret
from threadline.web.server import make_app
from threadline.web.spa import SpaFiles

HERE = "http://127.0.0.1:8642"
PUBLIC = "https://chat.example.org"
PASSWORD = "a bridge of sighs"
NO_SCREENS = SpaFiles(Path("never-built"))
"""As in a checkout whose app was never built, whatever was built in this one."""


def settings(text: str = "") -> Config:
    """Make settings of a text, and of nothing else."""
    return parse_config(text, "threadline.toml", environ={})


def public() -> Config:
    """Make the settings of a server that people reach over https."""
    return settings(f'[server]\nurl = "{PUBLIC}"\nproxies = ["10.0.0.0/8"]')


def make_site(
    store: Store, config: Config | None = None, screens: SpaFiles = NO_SCREENS
) -> Starlette:
    """Make the application, with everything that stands before it."""
    gateway = FakeGateway()
    site = WebApp(gateway, store, config or settings(), screens=screens)
    return make_app(gateway, site=site)


@dataclass
class Browser:
    """A browser with cookies of its own."""

    client: httpx.AsyncClient
    csrf: str = ""

    async def ask(
        self,
        method: str,
        path: str,
        json: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Ask for something, as a page of ours does."""
        told = {"X-CSRF-Token": self.csrf} if self.csrf else {}
        given = {**told, **(headers or {})}
        return await self.client.request(method, path, json=json, headers=given)

    async def open_link(self, secret: str) -> httpx.Response:
        """Open a link that logs in; then read what goes with each change."""
        response = await self.client.get(f"/login?link={secret}")
        me = await self.client.get("/api/me")
        self.csrf = me.json().get("csrf") or "" if me.status_code == 200 else ""
        return response

    async def log_in(self, name: str, password: str = PASSWORD) -> httpx.Response:
        """Log in by name and password."""
        wish = {"name": name, "password": password}
        response = await self.client.post("/api/login/password", json=wish)
        if response.status_code == 200:
            self.csrf = response.json()["csrf"]
        return response


@asynccontextmanager
async def browsing(
    app: ASGIApp,
    *,
    base: str = HERE,
    address: str = "127.0.0.1",
    headers: Mapping[str, str] | None = None,
) -> AsyncIterator[Browser]:
    """Open a browser somewhere."""
    transport = httpx.ASGITransport(app=app, client=(address, 50_000))
    async with httpx.AsyncClient(
        transport=transport, base_url=base, headers=headers, trust_env=False
    ) as client:
        yield Browser(client)


async def make_link(store: Store, account: Account | None = None) -> str:
    """Make a link that logs in once; the owner, unless somebody else is meant."""
    secret, whose = new_secret(), account or await store.owner_account()
    await store.make_link(whose.key, hash_secret(secret))
    return secret


async def make_token(
    store: Store, *scopes: TokenScope, account: Account | None = None
) -> dict[str, str]:
    """Make a token, and the header that shows it."""
    secret, whose = new_secret(TOKEN_PREFIX), account or await store.owner_account()
    await store.make_token(whose.key, "a program", scopes, hash_secret(secret))
    return {"Authorization": f"Bearer {secret}"}
