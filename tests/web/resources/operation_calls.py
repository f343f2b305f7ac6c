"""Calling: asks for an operation as the table says, also for one whose answer has no end."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
from starlette.types import Message

from tests.web.resources.sample_store import Caller, Household
from tests.web.resources.table import TABLE
from threadline.testing.deadline import HANG_SECONDS

FOLLOW = "follow"
"""The operation whose answer does not end by itself."""


def fill(wish: object, things: Mapping[str, str | int]) -> Any:
    """Put things of the household where a row names them."""
    if isinstance(wish, str) and wish.startswith("$"):
        return things[wish[1:]]
    if isinstance(wish, dict):
        return {key: fill(value, things) for key, value in wish.items()}
    return [fill(one, things) for one in wish] if isinstance(wish, list) else wish


def request_for(
    household: Household, operation: str, headers: Mapping[str, str], **instead: Any
) -> httpx.Request:
    """Make the request of an operation as the table says, with another body or none of it."""
    row, things = TABLE[operation], household.inventory.things
    method, path = household.places[operation]
    body = {"json": fill(row.body, things), "content": row.content}
    return household.client.build_request(
        method,
        path.format(**fill(dict(row.path), things)),
        params=fill(dict(row.query), things),
        headers={**row.headers, **headers},
        **(instead or body),
    )


async def ask(household: Household, operation: str, headers: Mapping[str, str]) -> int:
    """Ask for an operation as the table says, and answer the status."""
    request = request_for(household, operation, headers)
    if operation == FOLLOW:
        return await begin(household, request)
    return (await household.client.send(request)).status_code


async def ask_as(household: Household, operation: str, caller: Caller) -> int:
    """Ask for an operation with what a caller shows."""
    return await ask(household, operation, household.headers(caller))


async def begin(household: Household, request: httpx.Request) -> int:
    """Ask for something that has no end, go away when it begins, and answer its status."""
    path, _, query = request.url.raw_path.partition(b"?")
    begun: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def receive() -> Message:
        await begun
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            begun.set_result(message["status"])

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": path.decode(),
        "raw_path": path,
        "root_path": "",
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in request.headers.raw],
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 8642),
    }
    async with asyncio.timeout(HANG_SECONDS):
        await household.app(scope, receive, send)
    return begun.result()
