"""Updates: what waits for the bot until it confirms that it has it."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.doubles.telegram.refusals import Wire

KEPT = timedelta(hours=24)
"""How long an update waits for a bot that does not fetch it."""
UNASKED = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
"""The kinds that a bot gets only if it names them."""


class Bell:
    """Wakes whoever waits for something to change."""

    def __init__(self) -> None:
        """Hang it up."""
        self._next = asyncio.Event()

    def ring(self) -> None:
        """Wake everybody who waits now."""
        self._next.set()
        self._next = asyncio.Event()

    async def until(self, condition: Callable[[], object], within: float) -> bool:
        """Wait until something holds, looking again at each ring; False: it did not in time."""
        over = asyncio.get_running_loop().time() + within
        while not condition():
            ringing, left = self._next, over - asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(left):  # `wait_for` may swallow being cancelled
                    await ringing.wait()
            except TimeoutError:
                return bool(condition())
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One update that was not confirmed yet."""

    id: int
    wire: Wire
    at: datetime


class Updates:
    """The line of updates. What was handed out stays in it until a higher offset is asked for."""

    def __init__(self, now: Callable[[], datetime], bell: Bell, first: int = 730_000_001) -> None:
        """Begin with an empty line, and with ids that look like Telegram's."""
        self._now = now
        self._bell = bell
        self._next = first
        self._line: list[Waiting] = []
        self.allowed: frozenset[str] | None = None
        """The kinds that the bot asked for; None: all that need no asking."""
        self.confirmed: list[int] = []
        """The ids that will not be handed out again."""
        self.garbage: list[bytes] = []
        """What is answered, byte for byte, in the place of updates; each of them once."""

    @property
    def waiting(self) -> list[Waiting]:
        """Everything that was not confirmed, the oldest first; what is too old is forgotten."""
        since = self._now() - KEPT
        self._line = [one for one in self._line if one.at >= since]
        return self._line

    def wants(self, kind: str) -> bool:
        """Tell whether the bot gets updates of this kind."""
        return kind not in UNASKED if self.allowed is None else kind in self.allowed

    def allow(self, kinds: Collection[str] | None) -> None:
        """Remember which kinds the bot asked for; an empty list is the default again."""
        if kinds is not None:
            self.allowed = frozenset(kinds) if kinds else None

    def push(self, kind: str, content: Wire) -> int | None:
        """Let an update wait for the bot; None: it does not want this kind."""
        return self.put({kind: content}) if self.wants(kind) else None

    def put(self, update: Wire) -> int:
        """Let anything at all wait for the bot, under the next id if it has none."""
        id = update.get("update_id", self._next)
        self._next = max(self._next, id) + 1
        self._line.append(Waiting(id=id, wire={"update_id": id, **update}, at=self._now()))
        self._bell.ring()
        return int(id)

    def confirm(self, offset: int) -> None:
        """Forget what stands before an offset; a negative one leaves so many of the last."""
        if offset < 0:
            offset = self._line[offset:][0].id if self._line else 0
        gone = [one.id for one in self._line if one.id < offset]
        self.confirmed += gone
        self._line = [one for one in self._line if one.id >= offset]
        if gone:
            self._bell.ring()

    def forget(self) -> None:
        """Throw away all that waits."""
        self._line = []
        self._bell.ring()
