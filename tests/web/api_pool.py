"""APIs that were made before: making one, and asking it first, takes longer than most tests."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI
from starlette.datastructures import State

from threadline.config import Config
from threadline.store import Store
from threadline.web.feed.broadcaster import Feed
from threadline.web.gateway_protocol import GatewayPort, live_of
from threadline.web.resources.app import make_api

_free: list[FastAPI] = []


@contextmanager
def lent_api(gateway: GatewayPort, store: Store, config: Config) -> Iterator[FastAPI]:
    """Lend an API, which knows nothing of those whom it served before."""
    api = _free.pop() if _free else make_api(gateway, store, config)
    api.state = State({"gateway": gateway, "store": store, "config": config})
    api.state.feed = Feed(store, live_of(gateway))
    try:
        yield api
    finally:
        api.state.feed.close()
        _free.append(api)
