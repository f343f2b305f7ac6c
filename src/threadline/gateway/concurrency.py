"""Concurrency: how many turns may run at a time, of all, of each profile and of each person."""

from collections import Counter
from collections.abc import Collection, Mapping

from threadline.core.gateway_status import TurnCapacity
from threadline.core.route import canonical_profile
from threadline.core.validation import checked_count
from threadline.gateway.running_turn import RunningTurn

CONCURRENCY = 32
_SHARE = 3
"""A person may take this many times the seats that are free: three quarters of all, if alone.

So agents that hang cannot take the seats of other people, who find some free however many others
came before. This is the dynamic threshold by which switches share their memory between ports.
"""


class TurnSlots:
    """Counts the turns that run. Whoever waits for a person's answer takes no seat."""

    def __init__(self, most: int, per_profile: Mapping[str, int]) -> None:
        """Seat so many turns, and so many of some profiles."""
        self._most = checked_count(most, "concurrency", 1)
        self._per_profile = {
            canonical_profile(profile): checked_count(count, f"concurrency of {profile}", 1)
            for profile, count in per_profile.items()
        }

    def are_left(self, turns: Collection[RunningTurn]) -> bool:
        """Tell whether one more may run beside these."""
        return len(_seated(turns)) < self._most

    def full(self, turns: Collection[RunningTurn]) -> list[str]:
        """Name the profiles of which as many turns run as may."""
        if not self._per_profile:
            return []
        counts = Counter(turn.profile for turn in _seated(turns))
        return [profile for profile, most in self._per_profile.items() if counts[profile] >= most]

    def crowding(self, turns: Collection[RunningTurn]) -> list[str]:
        """Return the people who run so many turns that the free seats are for others."""
        seated = _seated(turns)
        most = _SHARE * (self._most - len(seated))
        counts = Counter(turn.asker for turn in seated)
        return [asker for asker, count in counts.items() if count >= most]

    def places(self, turns: Collection[RunningTurn], *, silent: int) -> TurnCapacity:
        """Count the seats for a report."""
        return TurnCapacity(total=self._most, taken=len(_seated(turns)), silent=silent)


def _seated(turns: Collection[RunningTurn]) -> list[RunningTurn]:
    return [turn for turn in turns if not turn.is_asking]
