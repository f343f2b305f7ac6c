"""Content disposition: how files are named and sent, so that no name and no content does harm."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from urllib.parse import quote

from starlette.requests import ClientDisconnect, Request
from starlette.types import Scope

from threadline.core.errors import Invalid
from threadline.core.validation import ID_LIMIT, clean_title
from threadline.web.request_limits import extend_time

NAME_LIMIT = 120
"""Characters of a file's name."""
PIECE = 256 * 1024
"""Bytes of a file that have to come within the time of one request."""
SANDBOX = "default-src 'none'; sandbox; frame-ancestors 'none'"
"""Whatever a file holds, it runs nothing and fetches nothing."""

_DOUBTFUL = frozenset('"\\/:*?<>|;%')


def clean_name(name: str | None) -> str | None:
    """Make of what somebody calls a file a name without folders, and without what cannot be seen.

    None: nothing is left of it.
    """
    if name is None:
        return None
    last = name.replace("\\", "/").rpartition("/")[2]
    fit = clean_title(last.encode("utf-8", "ignore").decode(), NAME_LIMIT).strip(". ")
    while len(fit.encode()) > ID_LIMIT:
        fit = fit[:-1]
    return fit or None


def disposition(name: str | None, *, inline: bool = False) -> str:
    """Write how a file is to be taken; its name can end neither the value nor the header."""
    manner = "inline" if inline else "attachment"
    shown = clean_name(name)
    if shown is None:
        return manner
    plain = "".join("_" if one in _DOUBTFUL or not one.isascii() else one for one in shown)
    return f"{manner}; filename=\"{plain}\"; filename*=UTF-8''{quote(shown, safe='')}"


async def body_of(request: Request) -> AsyncIterator[bytes]:
    """Read what a request brings, block by block; one that ends in the middle is an error.

    On a slow line a file takes its time, as long as enough of it comes.
    """
    read = 0
    try:
        async for block in request.stream():
            read += len(block)
            if read >= PIECE:
                read = 0
                extend_time(request.scope)
            yield block
    except ClientDisconnect:
        raise Invalid("The upload was cut off", hint="Send it again") from None


async def send_on(scope: Scope, blocks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Send a file block by block; each may take as long as a request, and all of them longer."""
    async for block in blocks:
        extend_time(scope)
        yield block


async def read_first_block(blocks: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    """Read the first block before anything is answered, so that an error can still be told."""
    first = await anext(blocks, b"")

    async def all_of_it() -> AsyncIterator[bytes]:
        async with aclosing(blocks):
            yield first
            async for block in blocks:
                yield block

    return all_of_it()
