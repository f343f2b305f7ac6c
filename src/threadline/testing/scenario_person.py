"""Scenario person: somebody who writes from an app, changes their mind, and waits."""

from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import NotFound
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Text
from threadline.core.route import Route, route
from threadline.core.session import Session, SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.database.port import write_keyed
from threadline.store import queries
from threadline.store.inbound.deduplication import Arrival, once
from threadline.store.inbound.receive import receive
from threadline.store.queries import session_of
from threadline.store.sessions import bindings
from threadline.store.sessions.bindings import BindingChange
from threadline.store.turns.stop_and_wait import answer, stop_session

if TYPE_CHECKING:
    from threadline.testing.scenario import Scenario


class SentMessage(Struct, frozen=True, kw_only=True):
    """Something a person said, and what came of it."""

    inbound: Inbound
    arrival: Arrival

    @property
    def session_id(self) -> SessionId:
        """The session it went to."""
        assert self.arrival.session_id is not None, "it went to no session"
        return self.arrival.session_id

    @property
    def turn_id(self) -> TurnId:
        """The turn that answers it."""
        assert self.arrival.turn_id is not None, "it started no turn"
        return self.arrival.turn_id


class ScenarioPerson:
    """Somebody at one place: a dm, unless `in_group` or `in_thread` says otherwise.

    Every verb waits until the house has come to rest, so that the answer is there when it returns.
    """

    def __init__(self, house: "Scenario", sender: Sender, address: Address) -> None:
        """Be somebody, somewhere. Made by `house.person`."""
        self.house = house
        self.sender = sender
        self.address = address

    @property
    def route(self) -> Route:
        """The conversation this person has at this place."""
        scopes = self.house.rules.scopes_for(self.address.platform)
        return route(self.address, self.sender, scopes)

    def in_group(self, chat: str) -> "ScenarioPerson":
        """Be the same person in a group."""
        address = Address(platform=self.address.platform, kind=Kind.GROUP, chat=chat)
        return ScenarioPerson(self.house, self.sender, address)

    def in_thread(self, chat: str, thread: str) -> "ScenarioPerson":
        """Be the same person in a thread of a group."""
        address = Address(
            platform=self.address.platform, kind=Kind.THREAD, chat=chat, thread=thread
        )
        return ScenarioPerson(self.house, self.sender, address)

    async def says(
        self, text: str, *, id: str | None = None, observed: bool = False
    ) -> SentMessage:
        """Write a message. A second has passed since the last one."""
        self.house.clock.advance(timedelta(seconds=1))
        inbound = Inbound(
            address=self.address,
            sender=self.sender,
            parts=(Text(text=text),),
            at=self.house.clock(),
            message_id=id or self.house.new_message_id(),
            observed=observed,
        )
        return await self._brings(inbound)

    async def says_again(self, said: SentMessage) -> SentMessage:
        """Let the platform bring the same thing once more."""
        return await self._brings(said.inbound)

    async def edits(self, said: SentMessage | str, text: str, *, version: int = 1) -> SentMessage:
        """Let an earlier message, or one that is still to come, read differently."""
        return await self._changes(said, InboundKind.EDIT, (Text(text=text),), version)

    async def deletes(self, said: SentMessage | str) -> SentMessage:
        """Take an earlier message back."""
        return await self._changes(said, InboundKind.DELETION, (), 0)

    async def stops(self) -> TurnId | None:
        """Stop the running turn, with `/stop`."""
        stopped = await self.house.store.database.write(stop_session, (await self.session()).id)
        await self.house.rests()
        return stopped

    async def resets(
        self, title: str | None = None, *, id: str | None = None
    ) -> BindingChange | None:
        """Ask for a new session, with `/new`; None if the same command had come before."""
        self.house.clock.advance(timedelta(seconds=1))
        store = self.house.store
        asked = Inbound.text(
            "/new",
            address=self.address,
            sender=self.sender,
            at=self.house.clock(),
            message_id=id or self.house.new_message_id(),
        )
        change = await store.database.write(
            once,
            asked,
            bindings.reset,
            self.address,
            self.sender,
            profile=asked.profile,
            title=title,
        )
        await self.house.rests()
        return change

    async def resumes(self, session: Session | SessionId) -> BindingChange:
        """Go on with an earlier session, with `/resume`."""
        self.house.clock.advance(timedelta(seconds=1))
        to = session.id if isinstance(session, Session) else session
        change = await self.house.store.sessions.switch(self.address, self.sender, to)
        await self.house.rests()
        return change

    async def answers(self, words: str) -> TurnState:
        """Answer the question that the agent asked here."""
        session = await self.session()
        for turn in await self.house.store.database.read(queries.turns, session.id):
            if turn.state is TurnState.WAITING:
                state = await self.house.store.database.write(answer, turn.id, words)
                await self.house.rests()
                return state
        raise NotFound("Nothing was asked here", id=session.id)

    async def session(self) -> Session:
        """Look at the session that this conversation is in."""
        id = await self.house.store.database.read(session_of, self.route)
        if id is None:
            raise NotFound("Nobody has spoken here", id=self.route)
        return await self.house.store.database.read(queries.read_session, id)

    async def _changes(
        self,
        said: SentMessage | str,
        kind: InboundKind,
        parts: tuple[Text, ...],
        version: int,
    ) -> SentMessage:
        return await self._brings(
            Inbound(
                address=self.address,
                sender=self.sender,
                kind=kind,
                parts=parts,
                version=version,
                at=self.house.clock(),
                message_id=said if isinstance(said, str) else said.inbound.message_id,
            )
        )

    async def _brings(self, inbound: Inbound) -> SentMessage:
        arrival = await write_keyed(self.house.store.database, inbound.message_id, receive, inbound)
        await self.house.rests()
        return SentMessage(inbound=inbound, arrival=arrival)
