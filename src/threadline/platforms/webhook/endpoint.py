"""Endpoint: requests come in here, are checked, taken in, and answered."""

import asyncio
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import cast

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive as StarletteReceive
from starlette.types import Scope as StarletteScope
from starlette.types import Send as StarletteSend

from threadline.core.errors import (
    PROBLEM_TYPE,
    Invalid,
    NotFound,
    Refused,
    StorageError,
    ThreadlineError,
    TooLarge,
    problem_of,
    retry_header,
)
from threadline.core.platform import (
    KNOWN_CALLER,
    Receive,
    Receiver,
    ReceiveResult,
    ReceiveStatus,
    Scope,
    Send,
    TurnReply,
)
from threadline.core.route import MAIN_PROFILE
from threadline.core.turn import TurnId
from threadline.core.validation import UTF_8, charset_of, is_utf8_text
from threadline.platforms.webhook.body_memory import UNVERIFIED, BodyMemory
from threadline.platforms.webhook.payload import read_payload, tell_answer
from threadline.platforms.webhook.settings import WebhookSettings
from threadline.platforms.webhook.signature import SignatureHeaders, read_claim

LONGEST_WAIT = timedelta(seconds=120)
"""How long a caller may wait for an answer."""
MOST_WAITING = 200
"""How many callers may wait at a time; the others are told where to ask."""

_TICKET_DIGITS = 32


class WebhookEndpoint:
    """Answers the requests of one webhook, while a gate stands open behind it."""

    def __init__(
        self,
        name: str,
        settings: WebhookSettings,
        *,
        clock: Callable[[], datetime],
        budget: BodyMemory = UNVERIFIED,
    ) -> None:
        """Stand closed until `open`."""
        self._budget = budget
        self._name = name
        self._settings = settings
        self._clock = clock
        self._gate: Receiver | None = None
        self._asking: set[asyncio.Task[TurnReply | None]] = set()

    @contextmanager
    def open(self, gate: Receiver) -> Iterator[None]:
        """Let requests in for as long as this lasts."""
        self._gate = gate
        try:
            yield
        finally:
            self._gate = None
            for asking in self._asking:
                asking.cancel()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; whatever is wrong with it is told as a problem."""
        request = Request(
            cast("StarletteScope", scope),
            cast("StarletteReceive", receive),
            cast("StarletteSend", send),
        )
        try:
            response = await self._answer(request)
        except ThreadlineError as error:
            response = _problem(error)
        except ClientDisconnect:
            return  # Nobody is there to be told.
        await response(
            cast("StarletteScope", scope),
            cast("StarletteReceive", receive),
            cast("StarletteSend", send),
        )

    async def _answer(self, request: Request) -> Response:
        path = request.url.path.removeprefix(str(request.scope.get("root_path", "")))
        match request.method, path.split("/"):
            case "POST", ["", "messages"]:
                return await self._take(request)
            case "GET", ["", "messages", ticket]:
                return await self._ask(request, ticket)
            case _, ["", "messages"]:
                return _problem(Invalid("A message is posted"), 405, {"Allow": "POST"})
            case _, ["", "messages", _]:
                return _problem(Invalid("An answer is fetched with GET"), 405, {"Allow": "GET"})
            case _:
                raise NotFound("There is nothing here", hint="Post to …/messages")

    async def _take(self, request: Request) -> Response:
        try:
            # First, so that no body is read which no signature can make right.
            claim = read_claim(request.headers, self._clock())
            body = await self._verified_body(request, claim)
        except Refused as error:
            return _unsigned(error)
        wait = _wait_in(request.query_params)
        if charset_of(request.headers.get("content-type", "")) not in UTF_8:
            return _problem(Invalid("The body must be UTF-8"), 415)
        if not is_utf8_text(body):
            return _problem(Invalid("The body is not UTF-8"), 400)
        payload = read_payload(body, message_id=claim.id)
        if payload.profile != _profile_of(request):
            # The path is not signed: what was sent to one profile must not be played to another.
            raise Refused(
                "The message was not signed for this profile",
                hint="Name the profile of the path in the field `profile`",
            )
        gate = self._gate_now()
        files = [await gate.keep(f.data, f.media_type, f.kind, f.name) for f in payload.files]
        inbound = payload.inbound(
            self._name,
            files=files,
            is_trusted=self._settings.senders == "trusted",
            at=self._clock(),
        )
        return await self._outcome(request, gate, await gate.take(inbound), wait)

    async def _outcome(
        self, request: Request, gate: Receiver, taken: ReceiveResult, wait: timedelta
    ) -> Response:
        if taken.reception is ReceiveStatus.REFUSED:
            return _problem(Refused(taken.said or "This sender may not speak here"))
        if taken.reception.is_refusal:
            said = taken.said or "Too many messages at once"
            hint = "Send it again, with the same message_id, after Retry-After"
            return _problem(Refused(said, hint=hint), 429, retry_header(taken.retry_after))
        if taken.turn_id is None:
            answer = {"text": taken.said, "messages": []} if taken.said else None
            return _json(200, {"state": "done", "answer": answer})
        ticket = self._ticket(taken.turn_id, _profile_of(request))
        return await self._say(gate, taken.turn_id, wait, ask=f"{request.url.path}/{ticket}")

    async def _ask(self, request: Request, ticket: str) -> Response:
        try:
            claim = read_claim(request.headers, self._clock())
            claim.check(self._settings.keys, ticket.encode("utf-8", "replace"))
        except Refused as error:
            return _unsigned(error)
        request.scope[KNOWN_CALLER] = True
        wait = _wait_in(request.query_params)
        number, _, _ = ticket.partition("-")
        is_number = number.isascii() and number.isdigit() and len(number) <= 18
        if not is_number or not self._is_ours(ticket, TurnId(int(number)), request):
            raise NotFound("No message of this webhook has this ticket", id=ticket[:60])
        return await self._say(self._gate_now(), TurnId(int(number)), wait, ask=request.url.path)

    async def _say(self, gate: Receiver, turn_id: TurnId, wait: timedelta, *, ask: str) -> Response:
        answer = await self._wait(gate, turn_id, wait)
        if answer is None:
            return _json(202, {"state": "working", "ask": ask}, {"Location": ask})
        return _json(200, {**tell_answer(answer), "ask": ask})

    async def _wait(self, gate: Receiver, turn_id: TurnId, wait: timedelta) -> TurnReply | None:
        """Wait for an answer, but not longer than the door stands open."""
        patience = wait if len(self._asking) < MOST_WAITING else timedelta(0)
        asking = asyncio.create_task(_ask_gate(gate, turn_id, patience))
        self._asking.add(asking)
        try:
            await asyncio.wait({asking})
        finally:
            self._asking.discard(asking)
            asking.cancel()
        return None if asking.cancelled() else asking.result()

    async def _verified_body(self, request: Request, claim: SignatureHeaders) -> bytes:
        limit, body = self._settings.body_limit, bytearray()
        promised = request.headers.get("content-length", "")
        if promised.isdigit() and int(promised[:18]) > limit:
            raise _too_large(limit)
        async with self._budget.hold() as holding:
            async for piece in request.stream():
                holding.add(len(piece))
                body += piece
                if len(body) > limit:
                    raise _too_large(limit)
            claim.check(self._settings.keys, bytes(body))
        request.scope[KNOWN_CALLER] = True
        return bytes(body)

    def _gate_now(self) -> Receiver:
        if self._gate is None:
            raise StorageError("The gateway is not ready yet", hint="Try again in a moment")
        return self._gate

    def _ticket(self, turn_id: TurnId, profile: str, secret: str | None = None) -> str:
        """Make what asks for one turn and no other: turns have numbers, which can be guessed."""
        key = (secret or self._settings.keys[0]).encode()
        said = json.dumps(["ticket", self._name, profile, turn_id]).encode()
        return f"{turn_id}-{hmac.digest(key, said, 'sha256').hex()[:_TICKET_DIGITS]}"

    def _is_ours(self, ticket: str, turn_id: TurnId, request: Request) -> bool:
        profile, given = _profile_of(request), ticket.encode("utf-8", "replace")
        fits = [
            hmac.compare_digest(given, self._ticket(turn_id, profile, secret).encode())
            for secret in self._settings.keys
        ]
        return any(fits)


def _unsigned(error: Refused) -> Response:
    """Return what an unsigned request is told: who is there is not known, so it is a 401."""
    return _problem(error, 401, {"WWW-Authenticate": "Threadline-Signature"})


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The request has more than {limit:,} bytes")


async def _ask_gate(gate: Receiver, turn_id: TurnId, within: timedelta) -> TurnReply | None:
    return await gate.answer_to(turn_id, within)


def _wait_in(query: Mapping[str, str]) -> timedelta:
    written = query.get("wait", "0")
    most = int(LONGEST_WAIT.total_seconds())
    if written.isascii() and written.isdigit() and len(written) <= 3 and int(written) <= most:
        return timedelta(seconds=int(written))
    raise Invalid("wait cannot be read", hint=f"It is a whole number of seconds from 0 to {most}")


def _profile_of(request: Request) -> str:
    profile = request.scope.get("threadline.profile", MAIN_PROFILE)
    return profile if isinstance(profile, str) else MAIN_PROFILE


def _json(
    status: int, content: Mapping[str, object], headers: Mapping[str, str] | None = None
) -> Response:
    return Response(
        json.dumps(content, ensure_ascii=False),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


def _problem(
    error: ThreadlineError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    told = problem_of(error, status)
    return Response(
        json.dumps(told).encode(),
        status_code=status or error.status,
        headers={**retry_header(error.retry_after), **(headers or {})},
        media_type=PROBLEM_TYPE,
    )
