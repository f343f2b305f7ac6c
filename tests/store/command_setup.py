"""A desk at which commands are given, as a gateway gives them."""

import itertools
from datetime import timedelta

from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.agent import Question
from threadline.core.command import parse_command
from threadline.core.inbound import Inbound
from threadline.core.message import Role, Text, say
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.turn import TurnId
from threadline.store import Store
from threadline.store.commands import CommandReply
from threadline.store.commands.execute import execute
from threadline.testing.clock import FakeClock
from threadline.testing.scenario import REQUESTERS

ALICE, BOB = Sender(id="alice", name="Alice"), Sender(id="bob", name="Bob")
DM = Address(platform="telegram", kind=Kind.DM, chat="alice")
GROUP = Address(platform="telegram", kind=Kind.GROUP, chat="100")
THREAD = Address(platform="telegram", kind=Kind.THREAD, chat="100", thread="7")
_COUNT = itertools.count()

both = on(FAST, POSTGRES)


class Desk:
    """A store, the people who write to it, and what is owed to them."""

    def __init__(self, store: Store, factory: DatabaseFactory, clock: FakeClock) -> None:
        self.store = store
        self.factory = factory
        self.clock = clock

    def inbound(self, text: str, sender: Sender = ALICE, at: Address = DM) -> Inbound:
        """Write a message, a second after the last one."""
        self.clock.advance(timedelta(seconds=1))
        return Inbound.text(
            text, address=at, sender=sender, at=self.clock(), message_id=f"m{next(_COUNT)}"
        )

    async def says(
        self, text: str, sender: Sender = ALICE, at: Address = DM
    ) -> tuple[SessionId, TurnId]:
        """Say something to the agent."""
        arrival = await self.store.receive(self.inbound(text, sender, at))
        assert arrival.session_id is not None
        assert arrival.turn_id is not None
        return arrival.session_id, arrival.turn_id

    async def asks(
        self,
        text: str,
        sender: Sender = ALICE,
        at: Address = DM,
        rank: AccessLevel = AccessLevel.MEMBER,
    ) -> CommandReply:
        """Give a command that comes for the first time."""
        reply = await self.gives(self.inbound(text, sender, at), rank)
        assert reply is not None
        return reply

    async def gives(
        self, inbound: Inbound, rank: AccessLevel = AccessLevel.MEMBER
    ) -> CommandReply | None:
        """Give a command that may have come before."""
        call = parse_command(text_of(inbound))
        assert call is not None
        return await execute(self.store.database, inbound, call, rank)

    async def answers(self, id: SessionId, text: str = "an answer") -> None:
        """Let the agent answer what is next in a session."""
        claimed = await self.store.turns.claim(id)
        assert claimed is not None
        await self.store.turns.finish(claimed.lease, [say(Role.ASSISTANT, text)])

    async def wonders(self, id: SessionId | None = None, *tools: str) -> TurnId:
        """Let the agent ask a question in a session, or wherever something is to be answered."""
        claimed = await self.store.turns.claim(id)
        assert claimed is not None
        await self.store.turns.wait(claimed.lease, Question(text="May I?", tools=tools))
        return claimed.turn.id

    def owed(self) -> list[str]:
        """Read the words that are owed and are not what a turn said, in their order."""
        rows = self.factory.tamper("SELECT text FROM deliveries WHERE turn_id IS NULL ORDER BY id")
        return [str(row[0]) for row in rows]

    def waiting(self) -> int:
        """Count the commands that wait."""
        return len(self.factory.tamper("SELECT id FROM waiting_commands"))


def text_of(inbound: Inbound) -> str:
    """Read what a message says."""
    return "".join(part.text for part in inbound.parts if isinstance(part, Text))


async def open_desk(factory: DatabaseFactory) -> Desk:
    """Open a store with a clock that stands still."""
    clock = FakeClock()
    rules = Settings(approvers=REQUESTERS)
    return Desk(Store(await factory(clock=clock), rules), factory, clock)
