"""Turn deltas: what running turns of this process say, gathered into a few frames a second."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.gateway.turn_pubsub import (
    Delta,
    Happening,
    MessageAdded,
    Thinking,
    TurnBegun,
    TurnClosed,
)
from threadline.web.feed.frames import DeltaKind, write_delta

EVERY = timedelta(milliseconds=100)
"""How often at most somebody hears more of one turn."""
_AT_LEAST = 0.02
"""Seconds, in which a first letter becomes a word."""


@dataclass(slots=True, kw_only=True)
class _RunningTurn:
    """A turn that runs."""

    session_id: SessionId
    turn_id: TurnId
    said: list[str] = field(default_factory=list)
    """What it said since the last line, the part that was told in one piece."""
    told: int = 0
    """How many characters of that were told."""
    untold: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    told_at: float = float("-inf")
    timer: asyncio.TimerHandle | None = None


class TurnDeltas:
    """Hears the running turns of this process, and knows what each has said since its last line."""

    def __init__(
        self,
        tell: Callable[[SessionId, bytes], None],
        is_heard: Callable[[SessionId], bool],
        every: timedelta = EVERY,
    ) -> None:
        """Tell whoever hears a session; `is_heard` says whether anybody does."""
        self._tell = tell
        self._is_heard = is_heard
        self._every = every.total_seconds()
        self._turns: dict[TurnId, _RunningTurn] = {}
        self._sessions: dict[SessionId, _RunningTurn] = {}

    def hear(self, happening: Happening) -> None:
        """Take in what happened. Of a turn that had begun before anybody heard it nothing is."""
        if isinstance(happening, TurnBegun):
            self._begin(happening)
        elif (voice := self._turns.get(happening.turn_id)) is None:
            return
        elif isinstance(happening, Delta):
            voice.untold.append(happening.text)
            self._tell_soon(voice)
        elif isinstance(happening, Thinking):
            if self._is_heard(voice.session_id):
                voice.thoughts.append(happening.text)
                self._tell_soon(voice)
        elif isinstance(happening, MessageAdded):
            self._end_line(voice)
        elif isinstance(happening, TurnClosed):
            self._end(voice)

    def has(self, session_id: SessionId) -> bool:
        """Tell whether a turn of a session is heard here."""
        return session_id in self._sessions

    def so_far(self, session_id: SessionId) -> bytes:
        """Write what is said since the last line, for somebody who begins to hear a session."""
        voice = self._sessions.get(session_id)
        if voice is None:
            return b""
        self._tell_all(voice)  # so that the others stand at the same place
        text = "".join(voice.said)
        voice.said = [text]
        return write_delta(session_id, voice.turn_id, DeltaKind.TEXT, text) if text else b""

    def close(self) -> None:
        """Hear nothing more."""
        for voice in list(self._turns.values()):
            self._drop(voice)

    def _begin(self, begun: TurnBegun) -> None:
        if begun.lease is None:
            return
        if (before := self._turns.get(begun.turn_id)) is not None:
            self._drop(before)
        voice = _RunningTurn(session_id=begun.lease.session_id, turn_id=begun.turn_id)
        self._turns[voice.turn_id] = self._sessions[voice.session_id] = voice

    def _tell_soon(self, voice: _RunningTurn) -> None:
        if voice.timer is not None or not self._is_heard(voice.session_id):
            return
        loop = asyncio.get_running_loop()
        left = max(voice.told_at + self._every - loop.time(), _AT_LEAST)
        voice.timer = loop.call_later(left, self._tell_all, voice)

    def _tell_all(self, voice: _RunningTurn) -> None:
        """Tell everything that was not told yet, thoughts first, as they came first."""
        self._stop(voice)
        voice.told_at = asyncio.get_running_loop().time()
        if voice.thoughts:
            thought = "".join(voice.thoughts)
            voice.thoughts.clear()
            self._say(voice, DeltaKind.THOUGHT, thought)
        if voice.untold:
            text = "".join(voice.untold)
            voice.untold.clear()
            self._say(voice, DeltaKind.TEXT, text, voice.told)
            voice.said.append(text)
            voice.told += len(text)

    def _end_line(self, voice: _RunningTurn) -> None:
        self._tell_all(voice)
        self._say(voice, DeltaKind.LINE)
        voice.said.clear()
        voice.told = 0

    def _end(self, voice: _RunningTurn) -> None:
        self._tell_all(voice)
        self._drop(voice)

    def _drop(self, voice: _RunningTurn) -> None:
        self._stop(voice)
        self._turns.pop(voice.turn_id, None)
        if self._sessions.get(voice.session_id) is voice:
            del self._sessions[voice.session_id]

    def _say(self, voice: _RunningTurn, kind: DeltaKind, text: str = "", offset: int = 0) -> None:
        if self._is_heard(voice.session_id):
            frame = write_delta(voice.session_id, voice.turn_id, kind, text, offset)
            self._tell(voice.session_id, frame)

    @staticmethod
    def _stop(voice: _RunningTurn) -> None:
        if voice.timer is not None:
            voice.timer.cancel()
            voice.timer = None
