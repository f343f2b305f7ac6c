"""Webhook: each brings one update, and is answered when it is kept."""

import hmac
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive as StarletteReceive
from starlette.types import Scope as StarletteScope
from starlette.types import Send as StarletteSend

from threadline.core.errors import (
    PROBLEM_TYPE,
    Invalid,
    NotFound,
    PlatformError,
    Refused,
    StorageError,
    ThreadlineError,
    problem_of,
)
from threadline.core.platform import KNOWN_CALLER, Receive, Scope, Send

if TYPE_CHECKING:
    from threadline.platforms.telegram.album_buffer import AlbumBuffer

log = logging.getLogger("threadline.platforms.telegram")

SECRET = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the name of a header
BODY_LIMIT = 2_000_000
"""Bytes: far more than an update has."""
_PATIENCE = {"Retry-After": "5"}


class WebhookReceiver:
    """Answers the calls of Telegram, while somebody stands behind it who takes them in."""

    def __init__(self, name: str, secret: str) -> None:
        """Stand closed until `open`; without a secret it never opens."""
        self._name = name
        self._secret = secret
        self._gathering: AlbumBuffer | None = None

    @contextmanager
    def open(self, gathering: "AlbumBuffer") -> Iterator[None]:
        """Let calls in for as long as this lasts."""
        self._gathering = gathering
        try:
            yield
        finally:
            self._gathering = None
            gathering.close()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call; Telegram repeats what it is told has failed."""
        wires = (
            cast("StarletteScope", scope),
            cast("StarletteReceive", receive),
            cast("StarletteSend", send),
        )
        request = Request(*wires)
        try:
            response = await self._answer(request)
        except (StorageError, PlatformError) as error:
            response = _problem(error, 503, _PATIENCE)
        except ThreadlineError as error:
            response = _problem(error)
        except ClientDisconnect:
            return  # Nobody is there to be told.
        await response(*wires)

    async def _answer(self, request: Request) -> Response:
        path = request.url.path.removeprefix(str(request.scope.get("root_path", "")))
        if not self._secret or path != "/updates" or "threadline.profile" in request.scope:
            raise NotFound("There is nothing here", hint="Telegram posts to …/updates")
        if request.method != "POST":
            return _problem(Invalid("An update is posted"), 405, {"Allow": "POST"})
        given = request.headers.get(SECRET, "").encode("utf-8", "replace")
        if not hmac.compare_digest(given, self._secret.encode()):
            return _problem(Refused("Only Telegram may call here"), 401)
        request.scope[KNOWN_CALLER] = True
        if self._gathering is None:
            raise StorageError("The gateway is not ready yet", hint="Try again in a moment")
        raw = await _read(request)
        if raw is None:
            # It came from Telegram, which would repeat it for ever.
            log.warning("%s: a call is passed over: it cannot be read", self._name)
        else:
            await self._gathering.take(raw)
        return Response(status_code=200)


async def _read(request: Request) -> object:
    """Read the body of a call; None: it is no update."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_LIMIT:
            return None
    try:
        read: object = json.loads(bytes(body).decode())
    except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested without an end
        return None
    return read


def _problem(
    error: ThreadlineError, status: int | None = None, headers: dict[str, str] | None = None
) -> Response:
    told = problem_of(error, status)
    return Response(
        json.dumps(told),
        status_code=status or error.status,
        headers=headers,
        media_type=PROBLEM_TYPE,
    )
