"""The API as an application: every resource below one path, errors told in one way."""

from importlib import import_module
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from threadline.config import Config
from threadline.sessions.store import Store
from threadline.web.api.description import ABOUT, describe
from threadline.web.api.manual import show_manual
from threadline.web.api.problems import EVERYWHERE, tell_problems
from threadline.web.bodies import Bodies
from threadline.web.feed.feed import Feed
from threadline.web.screens import Screens
from threadline.web.served import Served, live_of

RESOURCES: tuple[str, ...] = (
    "sessions",
    "messages",
    "takeover",
    "minimap",
    "policy",
    "batches",
    "cuts",
    "turns",
    "commands",
    "context",
    "approvals",
    "drafts",
    "search",
    "lineage",
    "projects",
    "login",
    "me",
    "logins",
    "tokens",
    "accounts",
    "audit",
    "feed",
    "profiles",
    "people",
    "pairing",
    "platforms",
    "deliveries",
    "jobs",
    "usage",
    "models",
    "attachments",
    "exports",
    "shares",
    "settings",
    "probes",
)
"""The modules of this room that have a `router`, in the order of the documentation.

A request is held against one after the other, so those stand first that are asked for most.
"""


def load_resources() -> list[APIRouter]:
    """Import all resources; their operations and shapes are made once, which takes its time."""
    return [import_module(f"threadline.web.api.{name}").router for name in RESOURCES]


def make_api(
    gateway: Served,
    store: Store,
    config: Config,
    *,
    feed: Feed | None = None,
    screens: Screens | None = None,
) -> FastAPI:
    """Make the application that stands below `/api`; without a feed it makes one.

    Without screens its manual can be read, but nothing tried out.
    """
    app = FastAPI(
        title="Threadline",
        version=version("threadline"),
        description=ABOUT,
        root_path_in_servers=False,
        servers=[{"url": "/api"}],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=EVERYWHERE,
        generate_unique_id_function=_operation,
    )
    app.state.gateway, app.state.store, app.state.config = gateway, store, config
    app.state.feed = feed or Feed(store, live_of(gateway))
    app.add_middleware(Bodies)
    tell_problems(app)
    describe(app)
    for router in load_resources():
        app.include_router(router)
    show_manual(app, screens)
    return app


def _operation(route: APIRoute) -> str:
    """Call an operation after its function, which is a verb."""
    return route.name
