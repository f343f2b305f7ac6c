"""The desk of a provider: takes a request, and gives out the answer in the provider's language."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Protocol

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from tests.doubles.providers.script import (
    Disconnects,
    Error,
    Hangs,
    Malformed,
    Reply,
    TooLong,
    Trouble,
    Unauthorised,
    tokens,
)
from tests.doubles.providers.wire import Asked, Json, Objection, Received, Refusal, Wire
from threadline.testing.breakable_proxy import cut_line, wait_for_end

_TYPES = {True: "text/event-stream; charset=utf-8", False: "application/json"}


class Script(Protocol):
    """What a desk goes by."""

    key: str | None
    window: int | None
    pace: float

    def take(self, received: Received) -> int:
        """Write a request down, and answer which it is."""
        ...

    def knows(self, model: str) -> bool:
        """Tell whether there is such a model."""
        ...

    def reply_to(self, asked: Asked) -> Reply:
        """Answer what is to be said."""
        ...

    async def hang(self) -> None:
        """Wait until the test lets everything go on."""
        ...


class Desk:
    """Answers on one path, in one language."""

    def __init__(self, script: Script, wire: Wire, *, wants_key: bool = True) -> None:
        """Go by a script."""
        self._script = script
        self._wire = wire
        self._wants_key = wants_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as any ASGI application does."""
        received = await _received(Request(scope, receive))
        number = self._script.take(received)
        answered = self._consider(received, number)
        if isinstance(answered, Refusal):
            await _send_json(send, answered.status, answered.body, answered.headers)
            return
        asked, reply = answered
        if await self._goes_wrong(reply.steps[:1], received, scope, receive, send):
            return
        if asked.streams:
            await self._stream(asked, reply, scope, receive, send)
        else:
            await self._answer(asked, reply, scope, receive, send)

    def _consider(self, received: Received, number: int) -> Refusal | tuple[Asked, Reply]:
        """Hold a request against the rules, and look up what to say if it keeps them."""
        key = self._wire.key(received)
        if self._wants_key and (not key or self._script.key not in {None, key}):
            return self._wire.refuse(Unauthorised(), key or "")
        try:
            asked = self._wire.read(received, number)
        except (json.JSONDecodeError, UnicodeDecodeError):
            return self._wire.object_to(Objection("We could not parse the JSON body."))
        except (AttributeError, KeyError, TypeError) as error:
            strange = f"The request has not the shape that is asked for: {error!r}"
            return self._wire.object_to(Objection(strange))
        except Objection as objection:
            return self._wire.object_to(objection)
        if not self._script.knows(asked.model):
            return self._wire.unknown(asked.model)
        window = self._script.window
        if window is not None and tokens(len(received.body)) > window:
            return self._wire.refuse(TooLong())
        return asked, self._script.reply_to(asked)

    async def _goes_wrong(
        self,
        steps: Sequence[object],
        received: Received,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> bool:
        """Refuse or disconnect before anything is said; tell whether that was all."""
        for step in steps:
            if isinstance(step, Error):
                refusal = self._wire.refuse(step, self._wire.key(received) or "")
                await _send_json(send, refusal.status, refusal.body, refusal.headers)
                return True
            if isinstance(step, Disconnects):
                await cut_line(scope, receive)
                return True
        return False

    async def _answer(
        self, asked: Asked, reply: Reply, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Give an answer in one piece."""
        body = json.dumps(self._wire.whole(reply, asked), ensure_ascii=False).encode()
        for step in reply.steps:
            if isinstance(step, Hangs) and not await self._hang(receive):
                return
            if isinstance(step, Error):
                await self._goes_wrong([step], asked.received, scope, receive, send)
                return
            if isinstance(step, Malformed):
                body = body[: len(body) // 2]
        cuts = Disconnects() in reply.steps
        await _begin(send, 200, streams=False, length=len(body))
        said = body[: len(body) // 2] if cuts else body
        await send({"type": "http.response.body", "body": said, "more_body": cuts})
        if cuts:
            await cut_line(scope, receive)

    async def _stream(
        self, asked: Asked, reply: Reply, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Give an answer as events."""
        await _begin(send, 200, streams=True)
        for frame in self._wire.stream(reply, asked):
            if isinstance(frame, bytes):
                await _send_piece(send, frame)
                await asyncio.sleep(self._script.pace)
            elif isinstance(frame, Disconnects):
                await cut_line(scope, receive)
                return
            elif not isinstance(frame, Hangs):
                await _send_piece(send, self._broken(frame, asked))
                break
            elif not await self._hang(receive):
                return
        await _send_piece(send, b"", more=False)

    def _broken(self, frame: Error | Trouble, asked: Asked) -> bytes:
        return self._wire.breaks(frame, asked) if isinstance(frame, Error) else self._wire.garbage

    async def _hang(self, receive: Receive) -> bool:
        """Wait until the test lets it go on; tell whether somebody is still there to hear it."""
        going_on = asyncio.ensure_future(self._script.hang())
        gone = asyncio.ensure_future(wait_for_end(receive))
        try:
            await asyncio.wait({going_on, gone}, return_when=asyncio.FIRST_COMPLETED)
            return not gone.done()
        finally:
            going_on.cancel()
            gone.cancel()
            await asyncio.wait({going_on, gone})


async def _received(request: Request) -> Received:
    return Received(
        path=request.url.path,
        headers=dict(request.headers),
        query=dict(request.query_params),
        body=await request.body(),
    )


async def _send_json(
    send: Send, status: int, body: Json, headers: Mapping[str, str] | None = None
) -> None:
    written = json.dumps(body).encode()
    await _begin(send, status, streams=False, length=len(written), headers=headers)
    await _send_piece(send, written, more=False)


async def _begin(
    send: Send,
    status: int,
    *,
    streams: bool,
    length: int | None = None,
    headers: Mapping[str, str] | None = None,
) -> None:
    told = {"content-type": _TYPES[streams], "x-request-id": "req_double", **(headers or {})}
    if length is not None:
        told["content-length"] = str(length)
    rows = [(name.encode(), value.encode()) for name, value in told.items()]
    await send({"type": "http.response.start", "status": status, "headers": rows})


async def _send_piece(send: Send, body: bytes, *, more: bool = True) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})
