"""Deps: the store, the gateway and the configuration of their application."""

import re
from typing import Annotated, Any, cast

from fastapi import Depends, Path, Query, Request
from pydantic import AwareDatetime, BeforeValidator

from threadline.config import Config
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.web.authentication import authority_of
from threadline.web.gateway_protocol import GatewayPort


async def _store(request: Request) -> Store:
    return cast("Store", request.app.state.store).authorised(authority_of(request))


async def _gateway(request: Request) -> GatewayPort:
    return cast("GatewayPort", request.app.state.gateway)


async def _config(request: Request) -> Config:
    # It is looked up each time: settings that were changed hold from the next request on.
    return cast("Config", request.app.state.config)


StoreDep = Annotated[Store, Depends(_store)]
"""All conversations, for one request: each transaction asks whether its user may do this."""
GatewayDep = Annotated[GatewayPort, Depends(_gateway)]
"""The gateway of this process."""
ConfigDep = Annotated[Config, Depends(_config)]
"""The settings as they are now."""

KEY_MOST = 2**53
"""The greatest number that a browser can tell from its neighbours."""


def path_key(description: str, example: int = 1) -> Any:
    """Describe the number by which a path names something."""
    return Path(ge=1, le=KEY_MOST, description=description, examples=[example])


_SESSION_ID = "^[0-9]{8}_[0-9]{6}_[0-9a-f]{8}$"

SessionIdPath = Annotated[
    SessionId,
    Path(
        pattern=_SESSION_ID,
        description="The id of a session.",
        examples=["20260131_184500_0a1b2c3d"],
    ),
]
"""A session that a path names."""
SessionIdQuery = Annotated[
    SessionId | None,
    Query(
        pattern=_SESSION_ID,
        description="The session that is meant.",
        examples=["20260131_184500_0a1b2c3d"],
    ),
]
"""A session that a query may name."""

_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]")


def _written_moment(value: object) -> object:
    # Without this, pydantic reads a number as seconds or milliseconds since 1970.
    if isinstance(value, str) and not _MOMENT.match(value):
        raise ValueError("write it as in RFC 3339, such as 2026-01-31T18:45:00Z")
    return value


MomentQuery = Annotated[AwareDatetime | None, BeforeValidator(_written_moment)]
"""A moment that a query may name, with its time zone."""
