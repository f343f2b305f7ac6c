"""The site: what people and programs find who have an account, and shared pages."""

from typing import TYPE_CHECKING

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount

from threadline.config import Config
from threadline.sessions.store import Store
from threadline.web.api.app import make_api
from threadline.web.hosts import Hosts
from threadline.web.limits import Limits
from threadline.web.login.pages import Pages
from threadline.web.screens import Screens
from threadline.web.served import Served
from threadline.web.sharing import make_share_route

if TYPE_CHECKING:
    from threadline.assembly.reloading import Reloading


class Site:
    """The API, the login and shared pages, over one store."""

    def __init__(
        self,
        gateway: Served,
        store: Store,
        config: Config,
        *,
        reloading: "Reloading | None" = None,
        screens: Screens | None = None,
    ) -> None:
        """Show a store; with somebody who reloads them, settings can be changed here.

        Without other screens the app is shown that was built.
        """
        self.api = make_api(gateway, store, config)
        self.api.state.reloading = reloading
        if reloading is not None:
            reloading.listen(self._go_by)
        self._store, self._config = store, config
        self._screens = screens or Screens()

    def routes(self) -> list[BaseRoute]:
        """Answer what is found where; what is asked for most stands first."""
        return [
            Mount("/api", app=self.api),
            *self._screens.routes(),
            *Pages(self._store, self._config.server, self._screens).routes(),
            make_share_route(self._store),
        ]

    def middleware(self) -> list[Middleware]:
        """Answer what stands before all of it: names that we know, and nobody too often."""
        return [Middleware(Hosts, server=self._config.server), Middleware(Limits)]

    def close(self) -> None:
        """End what would else go on for as long as somebody follows."""
        self.api.state.feed.close()

    def _go_by(self, config: Config) -> None:
        self.api.state.config = config
