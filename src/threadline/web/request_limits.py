"""Request limits: size, time and headers of every request."""

import asyncio
import logging
from datetime import timedelta

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from threadline.core.errors import Invalid, PlatformError, ThreadlineError, TooLarge, TooSlow
from threadline.core.platform import KNOWN_CALLER
from threadline.web.headers import headers_for
from threadline.web.problems import problem_response
from threadline.web.raw_writer import pipe_of

log = logging.getLogger("threadline.web")

BODY_LIMIT = 32_000_000
"""Bytes that any request may have; what is behind may ask for less."""
REQUEST_SECONDS = timedelta(seconds=180)
"""How long a request may take, waiting for an answer included; a file, each piece of it."""
BODY_SECONDS = timedelta(seconds=30)
"""How long each next piece of a request may be on its way."""
STRANGER_SECONDS = timedelta(seconds=10)
"""How long the whole body of an unknown caller may take."""
ANSWER_PIECE = 64 * 1024
"""Bytes of an answer that are sent at once; the next ones wait until these are taken."""
SHARED = "/s/"
"""Where shared pages are."""
PATH_TOLD = 200
"""Characters of a path that the log tells."""
_DEADLINE = "threadline.deadline"
_REQUEST_TIME = "threadline.request_time"
_WHOLE = "threadline.whole_body"


class RequestGuard:
    """Wraps an application: limits, headers, and a failure that becomes an answer."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_limit: int = BODY_LIMIT,
        request_time: timedelta = REQUEST_SECONDS,
        body_time: timedelta = BODY_SECONDS,
        stranger_time: timedelta = STRANGER_SECONDS,
    ) -> None:
        """Stand before an application."""
        self._app = app
        self._body_limit = body_limit
        self._request_time = request_time.total_seconds()
        self._body_time = body_time.total_seconds()
        self._stranger_time = stranger_time.total_seconds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] != "http":
            return  # there is nothing else here yet
        reply = _Reply(scope, send)
        if _has_two_lengths(scope):
            # A proxy may believe the other one, and what follows is then no request of this caller.
            wrong = Invalid("The request gives its length twice")
            await problem_response(wrong, 400, headers={"Connection": "close"})(
                scope, receive, reply.send
            )
            return
        if (length := _length(scope)) is not None and length > self._body_limit:
            await problem_response(_too_large(self._body_limit))(scope, receive, reply.send)
            return
        try:
            async with asyncio.timeout(self._request_time) as deadline:
                scope[_DEADLINE], scope[_REQUEST_TIME] = deadline, self._request_time
                await self._app(scope, self._counted(scope, receive), reply.send)
        except TimeoutError:
            await reply.fail(scope, receive, TooSlow(), TooSlow.status)
            await reply.break_off()
        except ThreadlineError as error:  # from where the application does not look
            await reply.fail(scope, receive, error, error.status)
        except Exception:
            # The path may be told, the query may not: it can hold what nobody should read.
            log.exception("A request failed: %s %s", scope["method"], _told_path(scope["path"]))
            await reply.fail(scope, receive, PlatformError("Something went wrong here"), 500)

    def _counted(self, scope: Scope, receive: Receive) -> Receive:
        """Return a `receive` that limits the size of a body, and the time that it takes."""
        read, began = 0, asyncio.get_running_loop().time()

        async def counted() -> Message:
            nonlocal read
            if has_whole_body(scope):  # from here on one only waits for the caller to go away
                return await receive()
            until = asyncio.get_running_loop().time() + self._body_time
            if KNOWN_CALLER not in scope:
                until = min(until, began + self._stranger_time)
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError:
                raise TooSlow from None
            read += len(message.get("body", b""))
            if not message.get("more_body", False):
                scope[_WHOLE] = True
            if read > self._body_limit:
                raise _too_large(self._body_limit)
            return message

        return counted


class _Reply:
    """What goes back: with our headers, and replaced by a problem while nothing has gone yet."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope = scope
        self._send = send
        self._has_begun = self._is_whole = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._has_begun = True
            headers = MutableHeaders(scope=message)
            for name, value in headers_for(self._scope).items():
                headers.setdefault(name, value)
        is_body = message["type"] == "http.response.body"
        body = message.get("body", b"") if is_body else b""
        if len(body) > ANSWER_PIECE:
            # Whole, it would stay in memory for as long as the caller takes nothing of it.
            last = (len(body) - 1) // ANSWER_PIECE * ANSWER_PIECE
            for at in range(0, last, ANSWER_PIECE):
                piece = bytes(body[at : at + ANSWER_PIECE])
                await self._send({"type": message["type"], "body": piece, "more_body": True})
                extend_time(self._scope)
            message = {**message, "body": bytes(body[last:])}
        await self._send(message)
        self._is_whole = is_body and not message.get("more_body", False)

    async def fail(
        self, scope: Scope, receive: Receive, error: ThreadlineError, status: int
    ) -> None:
        if not self._has_begun:
            await problem_response(error, status)(scope, receive, self.send)

    async def break_off(self) -> None:
        """End an answer in its middle: whoever takes nothing of it would hold its connection."""
        pipe = pipe_of(self._scope)
        if not self._is_whole and pipe is not None:
            pipe.break_off()
            await asyncio.sleep(0)  # so that nobody tries to end it well


def extend_time(scope: Scope) -> None:
    """Give a request its whole time again, as it has come further; not if it lasts anyway."""
    deadline = scope.get(_DEADLINE)
    if isinstance(deadline, asyncio.Timeout) and deadline.when() and not deadline.expired():
        deadline.reschedule(asyncio.get_running_loop().time() + scope[_REQUEST_TIME])


def has_whole_body(scope: Scope) -> bool:
    """Return whether all of a request's body has been read."""
    return _WHOLE in scope


def drop_request(scope: Scope) -> None:
    """End a request at once, as if its time were over."""
    deadline = scope.get(_DEADLINE)
    if isinstance(deadline, asyncio.Timeout) and not deadline.expired():
        deadline.reschedule(asyncio.get_running_loop().time())


def lift_time_limit(scope: Scope) -> None:
    """Let the answer to a request last for as long as it wants: somebody follows."""
    deadline = scope.get(_DEADLINE)
    if isinstance(deadline, asyncio.Timeout):
        deadline.reschedule(None)


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The request has more than {limit:,} bytes")


def _length(scope: Scope) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:18])
    return None


def _told_path(path: str) -> str:
    """Write a path for the log: that of a shared page is all that one needs to read it."""
    return f"{SHARED}…" if path.startswith(SHARED) else path[:PATH_TOLD]


def _has_two_lengths(scope: Scope) -> bool:
    names = {name for name, _ in scope["headers"]}
    return names >= {b"content-length", b"transfer-encoding"}
