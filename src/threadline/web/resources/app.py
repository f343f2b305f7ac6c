"""The API as an application: every resource below one path, errors told in one way."""

from importlib import import_module
from importlib.metadata import version

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from threadline.config import Config
from threadline.store import Store
from threadline.web.body_limits import BodyLimits
from threadline.web.feed.broadcaster import Feed
from threadline.web.gateway_protocol import GatewayPort, live_of
from threadline.web.resources.description import ABOUT, extend_openapi
from threadline.web.resources.docs_page import add_docs
from threadline.web.resources.problems import EVERYWHERE, tell_problems
from threadline.web.spa import SpaFiles

RESOURCES: tuple[str, ...] = (
    "session_list",
    "sessions",
    "deletions",
    "messages",
    "takeover",
    "minimap",
    "reset_policy",
    "batches",
    "transcript_edits",
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
    "checks",
)
"""The modules of this room that have a `router`, in the order of the documentation.

A request is held against one after the other, so those stand first that are asked for most.
"""


def load_resources() -> list[APIRouter]:
    """Import all resources; their operations and shapes are made once, which takes its time."""
    return [import_module(f"threadline.web.resources.{name}").router for name in RESOURCES]


def make_api(
    gateway: GatewayPort,
    store: Store,
    config: Config,
    *,
    feed: Feed | None = None,
    screens: SpaFiles | None = None,
) -> FastAPI:
    """Make the application that stands below `/api`; without a feed it makes one.

    Without screens the page of the API has no viewer.
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
    app.add_middleware(BodyLimits)
    routers = load_resources()
    extend_openapi(app, routers)
    for router in routers:
        app.include_router(router)
    add_docs(app, screens)
    # An application does not list the routes of its routers.
    tell_problems(app, [*app.routes, *(route for router in routers for route in router.routes)])
    return app


def _operation(route: APIRoute) -> str:
    """Call an operation after its function, which is a verb."""
    return route.name
