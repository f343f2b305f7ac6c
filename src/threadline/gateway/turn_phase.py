"""Turn phase: how far this process has come with a turn that it runs, and what may follow."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class TurnPhase(StrEnum):
    """Where a running turn is between its claim and its end."""

    SILENT = "silent"
    """Its agent runs, and has said nothing that is kept or that somebody may have seen."""
    SPEAKING = "speaking"
    """Its agent runs, and has said something."""
    ENDING = "ending"
    """Its end, its failure or its question is being stored."""
    LOST = "lost"
    """Its lease is gone, or this process stops: nothing more of it is stored but its usage."""
    CLOSED = "closed"
    """Its listeners were told that it does not run any more."""


NEXT: Mapping[TurnPhase, frozenset[TurnPhase]] = MappingProxyType(
    {
        TurnPhase.SILENT: frozenset({TurnPhase.SPEAKING, TurnPhase.ENDING, TurnPhase.LOST}),
        TurnPhase.SPEAKING: frozenset({TurnPhase.ENDING, TurnPhase.LOST}),
        # Back to speaking when its failure could not be stored: then its agent goes on.
        TurnPhase.ENDING: frozenset({TurnPhase.SPEAKING, TurnPhase.CLOSED, TurnPhase.LOST}),
        TurnPhase.LOST: frozenset({TurnPhase.CLOSED}),
        TurnPhase.CLOSED: frozenset(),
    }
)
"""The phases that may follow each phase."""

ANSWERING = frozenset({TurnPhase.SILENT, TurnPhase.SPEAKING})
"""Its agent may still say something for it."""
OVER = frozenset({TurnPhase.LOST, TurnPhase.CLOSED})
"""Nothing that its agent says is taken any more."""


def next_phase(now: TurnPhase, wanted: TurnPhase) -> TurnPhase:
    """Return the wanted phase; raise `RuntimeError` if it may not follow. Staying is allowed."""
    if wanted is not now and wanted not in NEXT[now]:
        raise RuntimeError(f"A turn that is {now} cannot become {wanted}")
    return wanted
