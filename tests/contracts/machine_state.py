"""The world of the machine: two people, one agent, the model of them, and what must always hold."""

import asyncio
import itertools
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from tests.contracts.conversation_model import SYSTEM, Line, ModelSession, ModelTurn
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import Message, Role, Text
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.core.turn import Lease
from threadline.database.port import Database
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival
from threadline.store.turn_queue.queue import serve
from threadline.testing.feed_checker import FeedWitness

T = TypeVar("T")

IDLE = timedelta(minutes=60)
RULES = Settings(policies=Policies(default=ResetPolicy(mode=ResetMode.IDLE, idle=IDLE)))
MINUTE = 60.0

people = st.sampled_from(["ann", "bob"])
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


class World(RuleBasedStateMachine):
    """A store, and a model that says what should be in it."""

    def __init__(
        self, open_database: Callable[[Callable[[], datetime]], Awaitable[Database]]
    ) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.seconds = 0.0
        self.tag = uuid.uuid4().hex[:8]
        self.numbers = itertools.count()
        self.store = Store(self.run(open_database(self.now)), RULES)
        self.run(serve(self.store.database))
        self.witness = FeedWitness(self.store)
        self.sessions: dict[str, ModelSession] = {}
        self.bound: dict[str, ModelSession] = {}
        self.met: set[str] = set()
        self.leases: dict[int, Lease] = {}
        self.sent: list[tuple[Inbound, Line, ModelSession, ModelTurn | None]] = []
        self.gone: set[int] = set()

    def run(self, work: Awaitable[T]) -> T:
        """Wait for something on the machine's own loop."""

        async def waited() -> T:
            return await work

        return self.runner.run(waited())

    def now(self) -> datetime:
        """Tell the model's time."""
        return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def teardown(self) -> None:
        """Let go of the store."""
        self.run(self.store.close())
        self.runner.close()

    # Who, where, and what they see ---------------------------------------------------------

    def place(self, person: str) -> tuple[Address, Sender]:
        """Answer where a person speaks."""
        id = f"{self.tag}-{person}"
        return Address(platform="telegram", kind=Kind.DM, chat=id), Sender(id=id)

    def inbound(self, person: str, text: str, *, observed: bool = False) -> Inbound:
        """Make a message with an id of its own."""
        address, sender = self.place(person)
        return Inbound(
            address=address,
            sender=sender,
            parts=(Text(text=text),),
            at=self.now(),
            message_id=str(next(self.numbers)),
            observed=observed,
        )

    def current(self, person: str) -> ModelSession | None:
        """Answer the session that a message of this person would go on in."""
        session = self.bound.get(person)
        if session is None or not session.is_open or session.is_suspended:
            return None
        # Somebody always serves, so that nothing that waits becomes too old.
        busy = session.held() is not None or bool(session.queued())
        expired = self.seconds - session.quiet_since > IDLE.total_seconds()
        return None if expired and not busy else session

    def open(self, person: str, arrival: Arrival) -> tuple[ModelSession, list[Line]]:
        """Begin a session in the model, and answer what its agent is told first."""
        told = [] if person in self.met else [Line("system", SYSTEM)]
        self.met.add(person)
        old = self.bound.get(person)
        reset = False
        if old is not None:
            was_open = old.is_open
            reset = was_open and bool(old.lines)
            if was_open:
                old.end(expired=not old.is_suspended)
        assert arrival.session_id is not None
        session = ModelSession(id=arrival.session_id, person=person)
        self.sessions[session.id] = self.bound[person] = session
        if reset or (old is not None and old.lines and arrival.cause in {"idle", "daily"}):
            told.append(Line("system", SYSTEM))
        return session, told

    def running(self, person: str) -> tuple[ModelSession, ModelTurn, Lease] | None:
        """Find the running turn of a person's session."""
        session = self.bound.get(person)
        turn = None if session is None else session.held()
        if session is None or turn is None or turn.state != "running":
            return None
        return session, turn, self.leases[turn.id]

    def recovers(self, session: ModelSession, turn: ModelTurn) -> None:
        """Decide in the model what becomes of an interrupted turn."""
        worn_out = turn.attempts >= 3 or session.interruptions >= 3
        expired = self.seconds - session.quiet_since > IDLE.total_seconds()
        if worn_out or expired:
            session.close(turn, "failed")
        else:
            turn.state, turn.queued_at = "queued", self.seconds
            if turn.has_news:
                session.lines.append(Line("system", SYSTEM))
            turn.has_news = False
        if session.interruptions >= 3:
            self.suspends(session)

    def suspends(self, session: ModelSession) -> None:
        """Let a session rest; what waits goes on in a fresh one."""
        session.is_suspended = True
        waiting = session.queued()
        if not waiting:
            return
        session.is_open = False
        route = self.run(self.store.sessions.explain(*self.place(session.person))).route
        id = self.run(self.store.sessions.find(route))
        assert id is not None
        fresh = ModelSession(id=id, person=session.person, quiet_since=self.seconds)
        assert id not in self.sessions
        self.sessions[id] = self.bound[session.person] = fresh
        if session.lines:
            waiting[0].lines.append(Line("system", SYSTEM))
        for turn in waiting:
            session.turns.remove(turn)
            fresh.turns.append(turn)
        for index, (inbound, line, _home, turn_of) in enumerate(self.sent):
            if turn_of is not None and any(turn_of is turn for turn in waiting):
                self.sent[index] = (inbound, line, fresh, turn_of)

    # What must always hold -----------------------------------------------------------------

    @invariant()
    def transcripts_agree(self) -> None:
        """Every transcript reads as in the model, numbered without a gap."""
        for session in self.sessions.values():
            lines = self.run(
                self.store.transcripts.read(SessionId(session.id), most=1000, hidden=True)
            )
            assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
            assert [_seen(line) for line in lines] == [_kept(line) for line in session.lines]
            shown = self.run(self.store.transcripts.read(SessionId(session.id), most=1000))
            assert [(line.seq, _seen(line)) for line in shown] == [
                (seq, _kept(line)) for seq, line in session.shown()
            ], session
            history = self.run(self.store.transcripts.history(SessionId(session.id)))
            assert [(line.seq, _seen(line)) for line in history] == session.history(), session

    @invariant()
    def states_agree(self) -> None:
        """Every turn and session is in the state that the model expects."""
        for session in self.sessions.values():
            found = self.run(self.store.sessions.get(SessionId(session.id)))
            assert (found.ended_at is None) == session.is_open, session
            assert found.user_messages == sum(line.role == "user" for _, line in session.shown())
            turns = self.run(self.store.turns.list(SessionId(session.id), 1000))
            assert {turn.id: str(turn.state) for turn in turns} == {
                turn.id: turn.state for turn in session.turns
            }

    @invariant()
    def feed_agrees(self) -> None:
        """The old snapshot and the events make the new snapshot."""
        self.run(self.witness.verify([SessionId(id) for id in self.sessions]))


def _seen(message: Message) -> tuple[str, str]:
    return str(message.role), message.text if message.role is Role.USER else _plain(message)


def _plain(message: Message) -> str:
    only = len(message.parts) == 1 and isinstance(message.parts[0], Text)
    return message.text if only and message.role is Role.ASSISTANT else SYSTEM


def _kept(line: Line) -> tuple[str, str]:
    return line.role, line.text
