"""Remote turn deltas: what turns of other processes say, as far as they have stored it."""

import asyncio
import logging
from collections.abc import Callable
from datetime import timedelta

from threadline.core.errors import NotFound, StorageError
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.store import Store
from threadline.store.turns.turn_context import StreamedText
from threadline.web.feed.frames import DeltaKind, write_delta

log = logging.getLogger("threadline.web")

EVERY = timedelta(seconds=1)
"""How often it is looked; whoever runs a turn stores what it says once a second."""


class RemoteTurnDeltas:
    """Looks what is said in sessions that somebody hears, and whose turn runs somewhere else."""

    def __init__(
        self,
        store: Store,
        tell: Callable[[SessionId, bytes], None],
        is_wanted: Callable[[SessionId], bool],
        every: timedelta = EVERY,
    ) -> None:
        """Tell whoever hears a session; `is_wanted` says whether that is to be looked for here."""
        self._store = store
        self._tell = tell
        self._is_wanted = is_wanted
        self._every = every.total_seconds()
        self._heard: dict[SessionId, StreamedText | None] = {}
        self._news = asyncio.Event()

    def expect(self, session_id: SessionId) -> None:
        """Look from now on whether something is said in a session, for as long as a turn runs."""
        self._heard.setdefault(session_id, None)
        self._news.set()

    def so_far(self, session_id: SessionId) -> bytes:
        """Write what was heard since the last line, for somebody who begins to hear a session."""
        heard = self._heard.get(session_id)
        if heard is None or heard.turn_id is None or not heard.text:
            return b""
        return write_delta(session_id, heard.turn_id, DeltaKind.TEXT, heard.text)

    async def run(self) -> None:
        """Look again and again, while there is something to be heard."""
        while True:
            await self._news.wait()
            try:
                await self.look()
            except StorageError as error:
                log.warning("What other processes say cannot be read: %s", error)
            await asyncio.sleep(self._every)

    async def look(self) -> None:
        """Look once, and tell what is new."""
        for id in list(self._heard):
            if not self._is_wanted(id):
                del self._heard[id]
                continue
            try:
                now = await self._store.streaming(id)
            except NotFound:
                now = StreamedText(session_id=id, last_seq=0)
            self._compare(id, now)
        if not self._heard:
            self._news.clear()

    def _compare(self, id: SessionId, now: StreamedText) -> None:
        before = self._heard.get(id)
        if now.turn_id is None or not self._is_wanted(id):
            self._heard.pop(id, None)
            return
        self._heard[id] = now
        known = before.text if before is not None and _is_same_line(before, now) else ""
        if before is not None and before.text and not known:
            self._say(id, before.turn_id or now.turn_id, DeltaKind.LINE)
        if len(now.text) > len(known):
            self._say(id, now.turn_id, DeltaKind.TEXT, now.text[len(known) :], len(known))

    def _say(
        self, id: SessionId, turn_id: TurnId, kind: DeltaKind, text: str = "", offset: int = 0
    ) -> None:
        self._tell(id, write_delta(id, turn_id, kind, text, offset))


def _is_same_line(before: StreamedText, now: StreamedText) -> bool:
    return before.turn_id == now.turn_id and now.text.startswith(before.text)
