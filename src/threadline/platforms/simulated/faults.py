"""Faults: what can go wrong on the way to people, on demand."""

import asyncio
from collections import deque
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from threadline.core.address import Address
from threadline.core.delivery import SendOutcome
from threadline.core.platform import SendFailed


class SendFault(StrEnum):
    """One way in which a send goes wrong."""

    FLOOD = "flood"
    """The platform asks for patience, as HTTP does with 429."""
    BROKEN = "broken"
    """The platform has a fault of its own, as HTTP says with 5xx."""
    LOST = "lost"
    """Nothing is heard, and nothing was shown."""
    UNHEARD = "unheard"
    """Nothing is heard, but it was shown."""
    HANG = "hang"
    """No answer ever comes, and nothing is shown."""


class _Planned(Struct, frozen=True, kw_only=True):
    trouble: SendFault
    at: Address | None
    retry_after: timedelta


class FaultQueue:
    """The trouble that is still to come, in the order in which it was asked for."""

    def __init__(self) -> None:
        """Begin with a clear sky."""
        self._coming: deque[_Planned] = deque()

    def plan(
        self, trouble: SendFault, *, times: int, at: Address | None, retry_after: timedelta
    ) -> None:
        """Let the next sends go wrong, all or only those to one address."""
        planned = _Planned(trouble=trouble, at=at, retry_after=retry_after)
        self._coming.extend([planned] * times)

    def clear(self) -> None:
        """Let everything go well from now on."""
        self._coming.clear()

    async def meet(self, address: Address) -> SendFault | None:
        """Suffer the next trouble of an address; one that comes after the showing is answered."""
        planned = next((one for one in self._coming if one.at in (None, address)), None)
        if planned is None:
            return None
        self._coming.remove(planned)
        match planned.trouble:
            case SendFault.FLOOD:
                raise SendFailed(
                    "Too many messages (429)",
                    outcome=SendOutcome.REJECTED,
                    retry_after=planned.retry_after,
                )
            case SendFault.BROKEN:
                raise SendFailed("Internal server error (500)", outcome=SendOutcome.REJECTED)
            case SendFault.LOST:
                raise SendFailed("No answer came", outcome=SendOutcome.AMBIGUOUS)
            case SendFault.HANG:
                await asyncio.Event().wait()
            case SendFault.UNHEARD:
                pass
        return planned.trouble
