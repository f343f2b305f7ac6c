"""The child: works a store as hard as it can, and tells what was acknowledged until it is killed.

    python -m tests.crash.load_child WHERE SEED ROUND CURSOR

Each line on its standard output is JSON and was written right after the await had returned.
"""

import asyncio
import json
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tests.crash.dying_database import ENVIRONMENT, DeadlyDatabase, Moment, die, step_from
from threadline.assembly import open_database
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.errors import Conflict, LeaseLost, QueueFull
from threadline.core.event import Cursor
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Role, Text, say
from threadline.core.session import BusyMode, SessionId
from threadline.core.settings import EditMode, Settings
from threadline.core.turn import Lease
from threadline.core.usage import Usage
from threadline.store import Store
from threadline.store.inbound.deduplication import InboundOutcome
from threadline.store.turn_queue.claim import TurnClaim

MODES = tuple(BusyMode)
SPEAKERS = 8
WORKERS = 4


def tell(did: str, **facts: object) -> None:
    """Pass on what was acknowledged, in one atomic write to the pipe."""
    os.write(1, json.dumps({"did": did, **facts}).encode() + b"\n")
    wanted = os.environ.get(ENVIRONMENT)
    if wanted is not None:
        step = step_from(wanted)
        if step.moment is Moment.TOLD and step.verb == did:
            die()


def rules_of(seed: int) -> Settings:
    """Choose rules under which every busy mode and both manners of editing occur."""
    edits = EditMode.RERUN if seed % 2 else EditMode.NOTE
    return Settings(
        busy_by_platform={f"on-{mode}": mode for mode in MODES}, edits=edits, queue_cap=40
    )


@dataclass(slots=True)
class Speaker:
    """One person in one chat, who says, repeats, edits and deletes."""

    store: Store
    round: int
    number: int
    dice: random.Random
    said: int = 0
    versions: dict[str, int] = field(default_factory=dict)
    session_id: SessionId | None = None

    @property
    def address(self) -> Address:
        platform = f"on-{MODES[self.number % len(MODES)]}"
        return Address(platform=platform, kind=Kind.DM, chat=f"chat {self.number}")

    @property
    def sender(self) -> Sender:
        return Sender(id=f"person {self.number}", name=f"Person {self.number}")

    async def run(self) -> None:
        """Do one thing after the other, for ever."""
        while True:
            try:
                await self._act()
            except QueueFull:
                await asyncio.sleep(0.005)
            except Conflict as error:
                tell("refused", why=str(error))
            await asyncio.sleep(self.dice.random() * 0.004)

    async def _act(self) -> None:
        chance = self.dice.random()
        if chance < 0.60 or not self.versions or self.session_id is None:
            await self._say()
        elif chance < 0.72:
            await self._repeat()
        elif chance < 0.82:
            await self._change(InboundKind.EDIT)
        elif chance < 0.85:
            await self._change(InboundKind.DELETION)
        elif chance < 0.88:
            await self._edit_early()
        elif chance < 0.91:
            await self._reset()
        else:
            await self._record(self.session_id)

    def _inbound(self, id: str, version: int, kind: InboundKind = InboundKind.MESSAGE) -> Inbound:
        words = f"{id} v{version}" + " and so on" * self.dice.randrange(40)
        return Inbound(
            address=self.address,
            sender=self.sender,
            parts=() if kind is InboundKind.DELETION else (Text(text=words),),
            at=datetime.now(UTC),
            kind=kind,
            message_id=id,
            version=version,
        )

    async def _say(self, id: str | None = None) -> None:
        if id is None:
            id = self._next_id()
        arrival = await self.store.receive(self._inbound(id, 0))
        tell("receive", id=id, version=0, session=arrival.session_id, turn=arrival.turn_id)
        self.versions.setdefault(id, 0)
        self.session_id = arrival.session_id

    def _next_id(self) -> str:
        self.said += 1
        return f"r{self.round}.{self.number}.{self.said}"

    async def _repeat(self) -> None:
        id = self.dice.choice(list(self.versions))
        arrival = await self.store.receive(self._inbound(id, 0))
        tell("repeat", id=id, is_repeated=arrival.is_repeated)

    async def _change(self, kind: InboundKind) -> None:
        id = self.dice.choice(list(self.versions))
        version = self.versions[id] + 1
        # Only forwards from here on, also if this one is cut off: it may have been stored.
        self.versions[id] = version
        arrival = await self.store.receive(self._inbound(id, version, kind))
        if arrival.outcome is InboundOutcome.CHANGED:
            tell(kind.value, id=id, version=version)
        if kind is InboundKind.DELETION:
            del self.versions[id]

    async def _edit_early(self) -> None:
        id = self._next_id()
        await self.store.receive(self._inbound(id, 1, InboundKind.EDIT))
        tell("early", id=id)
        await self._say(id)
        self.versions[id] = 1

    async def _reset(self) -> None:
        change = await self.store.sessions.reset(self.address, self.sender)
        tell("reset", left=change.left_id)

    async def _record(self, session_id: SessionId) -> None:
        words = f"noted {self._next_id()}"
        try:
            seq = await self.store.transcripts.record(session_id, [say(Role.SYSTEM, words)])
        except Conflict:
            return  # The session has ended meanwhile.
        tell("add_messages", session=session_id, seq=seq, text=words)


class Worker:
    """Runs turns as a gateway does, one after the other."""

    def __init__(self, store: Store, round: int, dice: random.Random) -> None:
        self._store = store
        self._round = round
        self._dice = dice

    async def run(self) -> None:
        while True:
            claimed = await self._store.turns.claim()
            if claimed is None:
                await asyncio.sleep(0.002)
                continue
            tell("claim", turn=claimed.lease.turn_id, fence=claimed.lease.fence)
            try:
                await self._answer(claimed)
            except LeaseLost:
                tell("lost", turn=claimed.lease.turn_id)

    async def _answer(self, claimed: TurnClaim) -> None:
        lease = claimed.lease
        pieces = self._pieces(lease)
        said = await self._stream(lease, pieces, 1 + self._dice.randrange(3))
        seq = await self._store.turns.append(lease, [say(Role.ASSISTANT, said)])
        tell("append", session=lease.session_id, seq=seq, text=said, turn=lease.turn_id)
        await self._store.turns.take_steering(lease)
        chance = self._dice.random()
        if chance < 0.10:
            await self._ask(lease)
            return
        said = await self._stream(lease, pieces, 1)
        if chance < 0.20:
            await self._store.turns.fail(lease, "The dice said so.")
            tell("fail", turn=lease.turn_id)
        else:
            last = [say(Role.ASSISTANT, said)] if chance < 0.4 else []
            spent = Usage(provider="dice", model="d6", input_tokens=6, output_tokens=1)
            await self._store.turns.finish(lease, last, usage=[spent])
            tell("finish", turn=lease.turn_id)

    def _pieces(self, lease: Lease) -> Iterator[str]:
        n = 0
        while True:
            n += 1
            yield f"<{self._round}/{lease.turn_id}/{lease.fence}/{n}>"

    async def _stream(self, lease: Lease, pieces: Iterator[str], count: int) -> str:
        said = ""
        for _ in range(count):
            piece = next(pieces)
            if await self._store.turns.checkpoint([(lease, piece)]):
                raise LeaseLost(id=str(lease.turn_id))
            tell("checkpoint", turn=lease.turn_id, piece=piece)
            said += piece
            await asyncio.sleep(self._dice.random() * 0.004)
        return said

    async def _ask(self, lease: Lease) -> None:
        await self._store.turns.wait(lease, Question(text="Shall I?"))
        tell("wait", turn=lease.turn_id)
        try:
            await self._store.turns.answer(lease.turn_id, "yes")
        except Conflict:
            return  # Somebody stopped it first.
        tell("answer", turn=lease.turn_id)


async def deliver(store: Store) -> None:
    """Send replies to nowhere."""
    while True:
        for parcel in await store.deliveries.lease(most=5):
            tell("lease_deliveries", delivery=parcel.delivery.id)
            await store.deliveries.record_sent(parcel.delivery, f"p{parcel.delivery.id}")
            tell("record_sent", delivery=parcel.delivery.id)
        await asyncio.sleep(0.003)


async def follow(store: Store, after: Cursor) -> None:
    """Follow the feed from where the parent stood, and say how far and how much."""
    count = 0
    async for event in store.feed.follow(after):
        count += 1
        if count % 10 == 0:
            tell("saw", cursor=event.cursor, count=count)


@contextmanager
def _quietly() -> Iterator[None]:
    """Say in one line why a child ends that should have been killed."""
    try:
        yield
    except Exception as error:
        tell("broke", why=f"{type(error).__name__}: {error}")
        raise


async def work(where: str, seed: int, round: int, cursor: Cursor) -> None:
    """Open the store and keep it busy for ever."""
    database = await open_database(where)
    wanted = os.environ.get(ENVIRONMENT)
    if wanted is not None:
        database = DeadlyDatabase(database, step_from(wanted))
    store = Store(database, rules_of(seed))
    tell("ready", owner=store.owner)
    dice = random.Random(seed)
    async with asyncio.TaskGroup() as tasks:
        for number in range(SPEAKERS):
            speaker = Speaker(store, round, number, random.Random(dice.random()))
            tasks.create_task(speaker.run())
        for _ in range(WORKERS):
            worker = Worker(store, round, random.Random(dice.random()))
            tasks.create_task(worker.run())
        tasks.create_task(deliver(store))
        tasks.create_task(follow(store, cursor))


if __name__ == "__main__":
    with _quietly():
        asyncio.run(work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Cursor(sys.argv[4])))
