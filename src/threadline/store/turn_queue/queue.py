"""Queue: the turn queue as one process works on it, over several transactions where it must.

Messages grow old only while no process works on the queue. So each of these records, every twenty
seconds, that this process does.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from threadline.core.delivery import DeliveryId
from threadline.core.message import NewMessage
from threadline.core.session import SessionId
from threadline.core.turn import Lease, OwnerId, TurnId
from threadline.database.cancellation import run_to_end
from threadline.database.port import Database, Transaction
from threadline.store import gateways
from threadline.store.deliveries import recovery
from threadline.store.gateways import SERVED_EVERY
from threadline.store.turn_queue import claim as turn_claim
from threadline.store.turn_queue import crash_recovery
from threadline.store.turn_queue.claim import Expired, TurnClaim
from threadline.store.turn_queue.crash_recovery import Recovery
from threadline.store.turns import output


@dataclass(slots=True)
class QueueState:
    """What one process remembers of its work on the queue."""

    served: tuple[datetime, timedelta] | None = None
    """When it last recorded that it works on the queue, by the clock and by uptime."""
    claims: int = 0
    """How many claims are under way."""


async def serve(db: Database) -> datetime:
    """Record that this process works on the queue, unless it did so just now.

    Return the time; use it to judge the age of messages, as the clock may be set meanwhile.
    """
    state = db.environment.state(QueueState)
    now, uptime = db.now(), db.environment.uptime()
    if state.served is not None:
        served_at, elapsed = state.served
        if abs(now - served_at) < SERVED_EVERY and uptime.elapsed - elapsed < SERVED_EVERY:
            return now
    await db.write(gateways.record_service, uptime=uptime, at=now)
    state.served = now, uptime.elapsed
    return now


async def claim(
    db: Database,
    session_id: SessionId | None = None,
    *,
    full: Collection[str] = (),
    crowding: Collection[str] = (),
) -> TurnClaim | None:
    """Take the turn that has waited longest, of one session or of all; None if there is none.

    Turns of the profiles in `full`, and of the senders in `crowding`, are passed over where no
    session is named. Turns that are too old are closed on the way. If the caller is cancelled
    meanwhile, the turn is returned to the queue.
    """
    state = db.environment.state(QueueState)
    kept: list[TurnClaim] = []
    state.claims += 1
    try:
        found: TurnClaim | Expired | None = Expired(turn_ids=())
        while isinstance(found, Expired):
            found = await db.write(
                _claim,
                kept,
                owner=db.owner,
                served_at=await serve(db),
                session_id=session_id,
                full=full,
                crowding=crowding,
            )
        return found
    except asyncio.CancelledError:
        if kept:
            await run_to_end(db.write(turn_claim.return_turn, kept[0].lease))
        raise
    finally:
        state.claims -= 1


async def renew(db: Database, leases: Sequence[Lease]) -> frozenset[TurnId]:
    """Renew leases; return the turns whose lease is lost, whose work must end at once."""
    await serve(db)
    return await db.write(turn_claim.renew_leases, leases)


async def append(db: Database, lease: Lease, messages: Sequence[NewMessage]) -> int:
    """Store messages of a running turn; return the last sequence number."""
    await serve(db)
    return await db.write(output.append, lease, messages)


async def checkpoint(db: Database, pieces: Sequence[tuple[Lease, str]]) -> frozenset[TurnId]:
    """Store streamed output of several turns; return those whose lease is lost."""
    await serve(db)
    return await db.write(output.checkpoint, pieces)


async def list_dead_owners(db: Database) -> frozenset[OwnerId]:
    """Return the processes that hold something under a lease and are certainly gone."""
    return await db.dead(await db.read(crash_recovery.list_lease_owners))


async def interrupt_dead(
    db: Database,
    running: Callable[[], frozenset[TurnId]] = frozenset,
    dead: frozenset[OwnerId] | None = None,
) -> list[TurnId]:
    """Take the turns of workers that are gone, and keep what they had said.

    `running` returns the turns that the caller runs: they are not taken, whatever the clock says.
    `dead` are the processes that are gone; None: they are looked up.
    """
    return await _interrupt(db, await list_dead_owners(db) if dead is None else dead, running)


async def interrupt_own(db: Database) -> list[TurnId]:
    """Interrupt the turns that this process still runs, because it is about to end."""
    return await _interrupt(db, frozenset({db.owner}))


async def recover(
    db: Database,
    refused: frozenset[TurnId] = frozenset(),
    among: frozenset[TurnId] | None = None,
) -> Recovery:
    """Queue interrupted turns again, or fail them visibly: one slice, of `among` or of all.

    Turns in `refused` are those whose sender may not speak any more.
    """
    return await db.write(
        crash_recovery.recover, served_at=await serve(db), refused=refused, among=among
    )


async def recover_deliveries(
    db: Database,
    sending: Callable[[], frozenset[DeliveryId]] = frozenset,
    dead: frozenset[OwnerId] | None = None,
) -> list[DeliveryId]:
    """Take back what stopped processes were sending: it may have been seen, or not.

    `sending` returns what the caller is sending: it is not taken, whatever the clock says.
    `dead` are the processes that are gone; None: they are looked up.
    """
    if dead is None:
        dead = await list_dead_owners(db)
    return await db.write(recovery.recover_deliveries, dead=dead, sending=sending())


async def _interrupt(
    db: Database,
    dead: frozenset[OwnerId],
    running: Callable[[], frozenset[TurnId]] = frozenset,
) -> list[TurnId]:
    interrupted: list[TurnId] = []
    is_all = False
    while not is_all:
        slice_, is_all = await db.write(
            crash_recovery.interrupt,
            dead=dead,
            running=running(),
            claimer=db.owner if db.environment.state(QueueState).claims else None,
        )
        interrupted += slice_
    return interrupted


def _claim(
    tx: Transaction,
    kept: list[TurnClaim],
    *,
    owner: OwnerId,
    served_at: datetime,
    session_id: SessionId | None,
    full: Collection[str],
    crowding: Collection[str],
) -> TurnClaim | Expired | None:
    """Claim a turn, and store a copy of the claim where a cancelled caller can find it."""
    claimed = turn_claim.claim(
        tx, owner=owner, served_at=served_at, session_id=session_id, full=full, crowding=crowding
    )
    kept[:] = [claimed] if isinstance(claimed, TurnClaim) else []
    return claimed
