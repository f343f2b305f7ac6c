"""App: what people and programs find who have an account, and shared pages."""

import asyncio
from typing import TYPE_CHECKING

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount
from starlette.types import Receive, Scope, Send

from threadline.config import Config
from threadline.store import Store
from threadline.web.auth.pages import Pages
from threadline.web.feed.broadcaster import Feed
from threadline.web.gateway_protocol import GatewayPort, live_of
from threadline.web.rate_limit import Limits
from threadline.web.share_pages import make_share_route
from threadline.web.spa import SpaFiles
from threadline.web.trusted_hosts import Hosts

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi import FastAPI

    from threadline.assembly.reload import Reloader


class WebApp:
    """The API, the login and shared pages, over one store."""

    def __init__(
        self,
        gateway: GatewayPort,
        store: Store,
        config: Config,
        *,
        reloading: "Reloader | None" = None,
        screens: SpaFiles | None = None,
    ) -> None:
        """Show a store; with somebody who reloads them, settings can be changed here.

        Without other screens the app is shown that was built.
        """
        self._gateway, self._store, self._config = gateway, store, config
        self._reloading = reloading
        if reloading is not None:
            reloading.listen(self._go_by)
        self._screens = screens or SpaFiles()
        self._feed = Feed(store, live_of(gateway))
        self._api: FastAPI | None = None
        self._making = asyncio.Lock()

    def routes(self) -> list[BaseRoute]:
        """Answer what is found where; what is asked for most stands first."""
        return [
            Mount("/api", app=self._ask_api),
            *self._screens.routes(),
            *Pages(self._store, self._config.server, self._screens).routes(),
            make_share_route(self._store),
        ]

    def middleware(self) -> list[Middleware]:
        """Answer what stands before all of it: names that we know, and nobody too often."""
        return [Middleware(Hosts, server=self._config.server), Middleware(Limits)]

    def close(self) -> None:
        """End what would else go on for as long as somebody follows."""
        self._feed.close()

    async def _ask_api(self, scope: Scope, receive: Receive, send: Send) -> None:
        api = self._api or await self._find_api()
        await api(scope, receive, send)

    async def _find_api(self) -> "FastAPI":
        """Make the API for whoever asks for it first; others who ask meanwhile wait."""
        async with self._making:
            if self._api is None:
                make_api = await asyncio.to_thread(_load_api)  # while the gateway goes on
                self._api = make_api(
                    self._gateway,
                    self._store,
                    self._config,
                    feed=self._feed,
                    screens=self._screens,
                )
                self._api.state.reloading = self._reloading
            return self._api

    def _go_by(self, config: Config) -> None:
        self._config = config
        if self._api is not None:
            self._api.state.config = config


def _load_api() -> "Callable[..., FastAPI]":
    """Import the API: it takes as long as all the rest, and without visitors nobody needs it."""
    from threadline.web.resources.app import load_resources, make_api

    load_resources()
    return make_api
