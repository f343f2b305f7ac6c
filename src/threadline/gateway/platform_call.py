"""Platform call: one message to one platform, and a plain account of how that went."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from datetime import timedelta
from typing import Any, Generic, TypeVar

from threadline.core.address import Address
from threadline.core.delivery import REPEAT_MARKER, SendOutcome
from threadline.core.errors import Invalid, LeaseLost, sentence_of
from threadline.core.platform import Outgoing, Platform, ReadBlob, SendFailed
from threadline.core.validation import checked_id
from threadline.gateway.lease import LeaseProof

SEND_WITHIN = timedelta(seconds=30)
"""How long a platform may take for one message."""
MARKED = f"{REPEAT_MARKER}\n"
T = TypeVar("T")


class CallLease:
    """The lease under which a platform is called.

    A process can be stopped at any point of a call, and wake up after another one has taken over.
    The lease is therefore checked each time a call continues, not only before it begins.
    """

    def __init__(self, proof: LeaseProof, renew: Callable[[], Awaitable[None]]) -> None:
        """Hold a lease of some age; `renew` prolongs it, or raises `LeaseLost`."""
        self.proof = proof
        self._renew = renew

    async def require(self) -> None:
        """Raise `LeaseLost` if the lease may have expired and another process has taken over."""
        if self.proof.has_lapsed:
            asked_at = self.proof.clock()
            await self._renew()
            self.proof.confirm(asked_at)


class EditOverwritten(LeaseLost):
    """Another process took over while a message was being edited: it may read as it did before."""

    def __init__(self, message_id: str) -> None:
        """Name the message."""
        super().__init__("A message was edited too late", id=message_id)
        self.message_id = message_id


async def send(
    platform: Platform, outgoing: Outgoing, read_blob: ReadBlob, hold: CallLease | None = None
) -> str | None:
    """Show one message and answer the platform's id of it; whatever goes wrong is `SendFailed`.

    If another process has taken over by then, raise `LeaseLost`: the message is in doubt, and the
    other process sends it marked as a possible repeat.
    """
    call = _LeasedCall(platform.send(outgoing, read_blob), hold)
    id = await _within(call, SendOutcome.AMBIGUOUS)
    try:
        return None if id is None else checked_id(id, "platform's id")
    except Invalid:
        return None  # It was taken; by an id that cannot be kept it cannot be changed later.


async def edit(
    platform: Platform, address: Address, message_id: str, text: str, hold: CallLease | None = None
) -> None:
    """Let a message read differently. To do that twice is no harm: no failure is ambiguous.

    If another process has taken over by then, raise `EditOverwritten`.
    """
    call = _LeasedCall(platform.edit(address, message_id, text), hold)
    try:
        await _within(call, SendOutcome.REJECTED)
        if hold is not None:
            await hold.require()  # The process may have been stopped just before the request left.
    except LeaseLost as error:
        if call.has_begun:
            raise EditOverwritten(message_id) from error
        raise


class _LeasedCall(Generic[T]):
    """A call of a platform that goes on only while its lease holds."""

    def __init__(self, work: Awaitable[T], hold: CallLease | None) -> None:
        self._work = work
        self._hold = hold
        self.has_begun = False
        """The platform was called, and a request may have left."""

    def __await__(self) -> Generator[Any, None, T]:
        """Check the lease before each step of the call; raise `LeaseLost` in it if it is lost."""
        work, hold = self._work.__await__(), self._hold
        raised: BaseException | None = None
        while True:
            if hold is not None and raised is None:
                try:
                    yield from hold.require().__await__()
                except BaseException as error:  # noqa: BLE001 - the platform may have to tidy up
                    raised = error
            self.has_begun |= raised is None
            try:
                waits_for = work.send(None) if raised is None else work.throw(raised)
            except StopIteration as end:
                result: T = end.value
                return result
            except Exception as error:
                if isinstance(raised, LeaseLost) and error is not raised:
                    raise raised from error
                raise
            raised = None
            try:
                yield waits_for
            except BaseException as error:  # noqa: BLE001
                raised = error


async def _within(call: _LeasedCall[T], outcome: SendOutcome) -> T:
    try:
        async with asyncio.timeout(SEND_WITHIN.total_seconds()):
            return await call
    except LeaseLost:
        raise
    except SendFailed as error:
        if outcome is SendOutcome.REJECTED and error.outcome is SendOutcome.AMBIGUOUS:
            raise SendFailed(str(error), outcome=outcome, retry_after=error.retry_after) from error
        raise
    except TimeoutError as error:
        raise SendFailed("The platform did not answer in time", outcome=outcome) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise SendFailed("The platform gave up", outcome=outcome) from error
    except Exception as error:
        raise SendFailed(sentence_of(error), outcome=outcome) from error
