"""Takeover times: from the death of a gateway, or the end of its lease, to the next claim."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.crash.verify import Look

_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A turn that a gateway had in hand when it was killed or stopped."""

    turn: int
    fence: int
    since: float
    """Unix time from which another gateway may take it."""


def held_by(look: Look, owner: str, died_at: float) -> list[Held]:
    """List the turns of an owner that was killed."""
    return _held(look, owner, lambda _until: died_at)


def leased_to(look: Look, owner: str) -> list[Held]:
    """List the turns of an owner that was stopped: others take them when its leases are over."""
    return _held(look, owner, lambda until: until / _MICROSECONDS)


def _held(look: Look, owner: str, since: Callable[[int], float]) -> list[Held]:
    rows = look(
        f"SELECT id, fence, lease_until FROM turns WHERE owner = '{owner}' AND state = 'running'"
    )
    return [
        Held(turn=int(str(id)), fence=int(str(fence)), since=since(int(str(until))))
        for id, fence, until in rows
    ]


def still_held(look: Look, held: Sequence[Held]) -> list[Held]:
    """List those of these turns that no one has taken, and that have not ended either."""
    rows = look(
        "SELECT id, fence, state FROM turns WHERE state IN ('running', 'interrupted', 'queued')"
    )
    open_ = {(id, fence) for id, fence, state in rows if state == "running"}
    waiting = {id for id, _, state in rows if state != "running"}
    return [one for one in held if (one.turn, one.fence) in open_ or one.turn in waiting]


def takeovers(look: Look, held: Sequence[Held]) -> list[float]:
    """Return the seconds until each of these turns was claimed again; some never are."""
    ids = ", ".join(str(one.turn) for one in held) or "0"
    rows = look(
        "SELECT subject, at FROM events "
        f"WHERE kind = 'turn.running' AND subject IN ({ids}) ORDER BY at"
    )
    found = []
    for one in held:
        claims = [int(str(at)) / _MICROSECONDS for id, at in rows if id == one.turn]
        later = [at - one.since for at in claims if at >= one.since]
        found += later[:1]
    return found


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile by the nearest rank; there must be a value."""
    ordered = sorted(values)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)]
