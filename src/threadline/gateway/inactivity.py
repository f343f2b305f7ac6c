"""Inactivity: turns whose agent says nothing are warned of, and given up in the end."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from typing import TypeAlias

from threadline.core.gateway_status import SILENT_AFTER
from threadline.core.turn import Turn
from threadline.gateway.running_turn import RunningTurn
from threadline.gateway.turn_pubsub import TurnPubSub, TurnQuiet

OnQuiet: TypeAlias = Callable[[Turn, timedelta], Awaitable[None]]
"""Is told once of a running turn that has said nothing for so long. It must not raise."""


class InactivityTimer:
    """Knows how long an agent may say nothing; half of that is time for a warning."""

    def __init__(
        self, most: timedelta | None, live: TurnPubSub, on_quiet: OnQuiet | None = None
    ) -> None:
        """Watch for silences longer than `most`; None: everybody may be silent."""
        self.most = most
        self._live = live
        self._on_quiet = on_quiet

    @property
    def why(self) -> str:
        """Say why a turn was given up, fit for the transcript."""
        return f"The agent said nothing for {show_span(self.most or timedelta(0))}."

    def too_long(self, turns: Iterable[RunningTurn], now: float) -> list[RunningTurn]:
        """Answer the turns that have been silent for too long at a moment of the loop's clock."""
        most = self.most
        if most is None:
            return []
        return [turn for turn in turns if _is_watched(turn) and _silence(turn, now) >= most]

    def long(self, turns: Iterable[RunningTurn], now: float) -> list[RunningTurn]:
        """Return the turns that count as silent in reports about a gateway."""
        return [turn for turn in turns if not turn.is_asking and _silence(turn, now) > SILENT_AFTER]

    async def warn(self, turns: Iterable[RunningTurn], now: float) -> None:
        """Tell of each turn, once, whose silence has come to half of what it may be."""
        if self.most is None:
            return
        telling: list[Awaitable[None]] = []
        for turn in turns:
            silence = _silence(turn, now)
            if turn.warned_at is not None or not _is_watched(turn) or silence < self.most / 2:
                continue
            turn.warned_at = now
            left = max(self.most - silence, timedelta(0))
            happening = TurnQuiet(turn_id=turn.turn.id, silence=silence, left=left)
            self._live.publish(turn.lease.session_id, happening)
            if self._on_quiet is not None:
                telling.append(self._on_quiet(turn.turn, silence))
        # All at once: a platform that takes its time shall not keep the others from being warned.
        await asyncio.gather(*telling)


def show_span(span: timedelta) -> str:
    """Say how long something took, as people say it."""
    seconds = int(span.total_seconds())
    if seconds >= 120:
        return f"{seconds // 60} minutes"
    return "1 second" if seconds == 1 else f"{seconds} seconds"


def _is_watched(turn: RunningTurn) -> bool:
    """Tell whether it is for the agent to say something: an answer takes as long as it takes."""
    return turn.is_answering and not turn.is_asking


def _silence(turn: RunningTurn, now: float) -> timedelta:
    return timedelta(seconds=max(now - turn.heard_at, 0))
