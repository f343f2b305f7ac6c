"""The exchange: a chat platform that outlives every gateway, and remembers all that people saw."""

import asyncio
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from threadline.core.address import Address, Kind
from threadline.core.delivery import REPEAT_MARKER
from threadline.core.errors import QueueFull
from threadline.web.server import serve

GROWS, STAYS = "grows", "stays"
"""The platforms: on one a message can be changed, on the other it stays as it is."""
PLATFORMS = (GROWS, STAYS)
CONVERSATIONS = 50
AHEAD = 3
"""So many questions are asked in one conversation before the first of them is answered."""
SEND_AGAIN_AFTER = 0.3
"""Seconds after which a refused message is sent again, under the same id."""
_MOST = 20
_WAIT = 10.0
TOKEN = re.compile(r"(\d+)\.(\d+)/(\d+)/(\d+)")
"""Conversation, number of the question, attempt of the turn, number of the word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One thing that somebody said, as it is handed out."""

    id: int
    conversation: int
    question: int
    text: str = ""
    """What it says; nothing: it is called by its number."""

    @property
    def message_id(self) -> str:
        return f"{self.conversation}.{self.question}"


@dataclass(slots=True, kw_only=True)
class Shown:
    """One message that people see."""

    id: str
    platform: str
    chat: str
    key: str
    text: str
    round: int
    """During the life of which child it was first seen."""
    edits: int = 0
    """How often it was changed."""
    late_edit: int = 0
    """Which of these changes came too late, as `is_late` says; 0: none."""
    by: int = 0
    """The process that sent it."""
    age: float = 0.0
    """Seconds from the beginning of the call in that process to its arrival here."""
    is_late: bool = False
    """It was under way so long that the lease of its process may have ended after its check."""

    @property
    def delivery(self) -> int:
        return int(self.key.split("-")[0])

    @property
    def n(self) -> int:
        return int(self.key.split("-")[1])

    @property
    def is_marked(self) -> bool:
        return self.text.startswith(REPEAT_MARKER)

    @property
    def words(self) -> str:
        """What it says, without the marker."""
        return self.text.removeprefix(f"{REPEAT_MARKER}\n")

    @property
    def tokens(self) -> list[tuple[int, int, int, int]]:
        found = TOKEN.findall(self.text)
        return [(int(a), int(b), int(c), int(d)) for a, b, c, d in found]


@dataclass(slots=True, kw_only=True)
class Hold:
    """Keeps the gateway waiting for the reply to one send request."""

    platform: str
    is_seen: bool
    """Whether people see the message although the gateway never hears of it."""
    delivery: int | None = None
    """Which delivery; None: the first that is sent on the platform."""
    is_holding: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)


def platform_of(conversation: int) -> str:
    """Tell on which platform a conversation is."""
    return PLATFORMS[conversation % len(PLATFORMS)]


def address_of(conversation: int) -> Address:
    """Tell where a conversation is: most are between two, some in groups, some in threads."""
    platform, chat = platform_of(conversation), f"chat{conversation}"
    match conversation % 10:
        case 8:
            return Address(platform=platform, kind=Kind.GROUP, chat=chat)
        case 9:
            return Address(platform=platform, kind=Kind.THREAD, chat=chat, thread="topic")
        case _:
            return Address(platform=platform, kind=Kind.DM, chat=chat)


@dataclass(slots=True)
class Exchange:
    """Hands out what people say until it is acknowledged, and shows them whatever it is told to.

    It knows no idempotency: what is sent twice is seen twice.
    """

    conversations: int = CONVERSATIONS
    ahead: int = AHEAD
    hold: Hold | None = None
    refused: set[str] = field(default_factory=set)
    """The message ids that a gateway refused at least once."""
    margin: float = 20.0
    """Seconds of its lease that a process has left, at least, when it begins to send."""
    round: int = 0
    is_calm: bool = False
    """Nobody asks anything more."""
    shown: list[Shown] = field(default_factory=list)
    acknowledged: set[str] = field(default_factory=set)
    """The message ids whose update will not be handed out again."""
    _updates: dict[str, list[Update]] = field(default_factory=lambda: defaultdict(list))
    _numbers: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    _asked: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _answers: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    _by_id: dict[str, Shown] = field(default_factory=dict)
    _refused_now: set[str] = field(default_factory=set)
    """Refused, and not sent again yet."""
    _is_closed: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def asked(self) -> set[str]:
        """The ids of everything that was ever said."""
        return {f"{c}.{n}" for c, last in self._asked.items() for n in range(1, last + 1)}

    @property
    def is_empty(self) -> bool:
        """Whether everything that was handed out has been acknowledged."""
        return not any(self._updates.values()) and not self._refused_now

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """Be reachable; gives the URL."""
        post = ["POST"]
        routes = [
            Route("/{platform}/updates", self._hand_out, methods=post),
            Route("/{platform}/refused", self._take_back, methods=post),
            Route("/{platform}/send", self._show, methods=post),
            Route("/{platform}/edit", self._change, methods=post),
        ]
        async with serve(
            Starlette(routes=routes, exception_handlers={ClientDisconnect: _miss}), "127.0.0.1", 0
        ) as url:
            try:
                yield url.rstrip("/")
            finally:
                self._is_closed = True
                self._news.set()

    async def _hand_out(self, request: Request) -> JSONResponse:
        """Forget what stands before the offset; answer what comes after it, as soon as it does."""
        platform, wish = request.path_params["platform"], await request.json()
        self._acknowledge(platform, int(wish["offset"]))
        over = asyncio.get_running_loop().time() + _WAIT
        while not self._top_up(platform) and not self._is_closed:
            left = over - asyncio.get_running_loop().time()
            if left <= 0 or not await self._is_news(left) or await request.is_disconnected():
                break
        return JSONResponse(
            [
                {
                    "id": one.id,
                    "conversation": one.conversation,
                    "question": one.question,
                    "text": one.text or one.message_id,
                }
                for one in self._updates[platform][:_MOST]
            ]
        )

    async def _is_news(self, within: float) -> bool:
        self._news.clear()
        try:
            await asyncio.wait_for(self._news.wait(), within)
        except TimeoutError:
            return False
        return True

    def refresh(self) -> None:
        """Bring up to date what is known of the far end; here it always is."""

    def _acknowledge(self, platform: str, offset: int) -> None:
        waiting = self._updates[platform]
        while waiting and waiting[0].id < offset:
            done = waiting.pop(0)
            if done.message_id in self._refused_now:
                loop = asyncio.get_running_loop()
                loop.call_later(SEND_AGAIN_AFTER, self._send_again, done)
            else:
                self.acknowledged.add(done.message_id)

    async def _take_back(self, request: Request) -> JSONResponse:
        """Note that a message was refused: it is sent again later, under the same id."""
        id = (await request.json())["message_id"]
        self.refused.add(id)
        self._refused_now.add(id)
        return JSONResponse({})

    def _send_again(self, update: Update) -> None:
        platform = platform_of(update.conversation)
        self._numbers[platform] += 1
        self._updates[platform].append(replace(update, id=self._numbers[platform]))
        self._refused_now.discard(update.message_id)
        self._news.set()

    def _top_up(self, platform: str) -> bool:
        """Let everybody ask on who is not too far ahead; False: there is nothing to hand out."""
        for conversation in () if self.is_calm else self._on(platform):
            ahead = self._asked[conversation] - len(self._answers[f"chat{conversation}"])
            for _ in range(self.ahead - ahead):
                self._add(conversation)
        return bool(self._updates[platform])

    def say(self, conversation: int, text: str) -> None:
        """Let somebody say something of their own."""
        self._add(conversation, text)
        self._news.set()

    def _add(self, conversation: int, text: str = "") -> None:
        platform = platform_of(conversation)
        self._numbers[platform] += 1
        self._asked[conversation] += 1
        update = Update(
            id=self._numbers[platform],
            conversation=conversation,
            question=self._asked[conversation],
            text=text,
        )
        self._updates[platform].append(update)

    def _on(self, platform: str) -> Iterator[int]:
        yield from (n for n in range(self.conversations) if platform_of(n) == platform)

    async def _show(self, request: Request) -> JSONResponse:
        """Show a message; where it is held, show it or not, and do not reply."""
        told = await request.json()
        delivery = int(told["key"].split("-")[0])
        held = self.hold
        if held is None or not self._matches(held, request.path_params["platform"], delivery):
            return JSONResponse({"id": self._add_shown(request.path_params["platform"], told)})
        if held.is_seen:
            self._add_shown(request.path_params["platform"], told)
        held.delivery = delivery
        held.is_holding = True
        await held.released.wait()
        return JSONResponse({}, status_code=503)

    def _matches(self, held: Hold, platform: str, delivery: int) -> bool:
        return held.platform == platform and held.delivery in {None, delivery}

    def _add_shown(self, platform: str, told: dict[str, Any]) -> str:
        id = f"m{len(self.shown) + 1}"
        one = Shown(
            id=id,
            platform=platform,
            chat=told["chat"],
            key=told["key"],
            text=told["text"],
            round=self.round,
            by=told["by"],
            age=time.time() - told["begun_at"],
            is_late=time.time() - told["begun_at"] >= self.margin,
        )
        self.shown.append(one)
        self._by_id[id] = one
        if one.words != QueueFull.chat:
            self._answers[one.chat].add(one.delivery)
        self._news.set()
        return id

    async def _change(self, request: Request) -> JSONResponse:
        told = await request.json()
        one = self._by_id[told["id"]]
        one.text = told["text"]
        one.edits += 1
        if time.time() - told["begun_at"] >= self.margin:
            one.late_edit = one.edits
        return JSONResponse({})

    async def until(self, condition: Callable[[], bool], within: float = 60.0) -> None:
        """Wait until something holds."""
        async with asyncio.timeout(within):
            while not condition():
                await asyncio.sleep(0.02)


async def _miss(request: Request, error: Exception) -> Response:
    """Hear nothing of somebody who died while they were speaking."""
    return Response(status_code=400)
