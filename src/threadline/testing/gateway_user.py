"""Gateway user: somebody who chats on one of its platforms, and reads there."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from threadline.core.address import Address
from threadline.core.errors import NotFound
from threadline.core.message import Message
from threadline.core.route import route
from threadline.core.session import Session
from threadline.core.turn import Turn
from threadline.platforms.simulated import ChatMessage, SentFile, SimulatedPerson
from threadline.store import queries
from threadline.store.queries import session_of

if TYPE_CHECKING:
    from threadline.testing.gateway_scenario import GatewayScenario

A_MOMENT = timedelta(seconds=1)
"""How much time passes whenever somebody does something."""


class GatewayUser:
    """Somebody at one place of a platform: their dm, unless `in_group` says otherwise.

    Every verb waits until the house has come to rest, so that the answer is seen when it returns.
    """

    def __init__(self, house: "GatewayScenario", person: SimulatedPerson, at: Address) -> None:
        """Be somebody, somewhere. Made by `house.guest`."""
        self.house = house
        self.person = person
        self.at = at

    def in_group(self, name: str) -> "GatewayUser":
        """Be the same person in a group."""
        return GatewayUser(self.house, self.person, self.person.platform.group(name))

    def in_thread(self, group: str, name: str) -> "GatewayUser":
        """Be the same person in a thread of a group."""
        return GatewayUser(self.house, self.person, self.person.platform.thread(group, name))

    async def says(
        self,
        text: str = "",
        *,
        files: Sequence[SentFile] = (),
        reply_to: str | None = None,
        observed: bool = False,
    ) -> str:
        """Write a message; answer its id."""
        id = self.writes(text, files=files, reply_to=reply_to, observed=observed)
        await self.house.rests()
        return id

    async def asks(self, text: str, *, files: Sequence[SentFile] = ()) -> str:
        """Write a message, and read what was said to it: whatever is new here, in one text."""
        before = {shown.id for shown in self.shown}
        await self.says(text, files=files)
        return "\n\n".join(shown.text for shown in self.shown if shown.id not in before)

    def writes(
        self,
        text: str = "",
        *,
        files: Sequence[SentFile] = (),
        reply_to: str | None = None,
        observed: bool = False,
    ) -> str:
        """Write a message and wait for nothing; answer its id."""
        self.house.clock.advance(A_MOMENT)
        return self.person.writes(
            text, at=self.at, files=files, reply_to=reply_to, observed=observed
        )

    async def edits(self, message_id: str, text: str) -> None:
        """Let one of their messages read differently."""
        self.house.clock.advance(A_MOMENT)
        self.person.edits(message_id, text)
        await self.house.rests()

    async def deletes(self, message_id: str) -> None:
        """Take one of their messages back."""
        self.house.clock.advance(A_MOMENT)
        self.person.deletes(message_id)
        await self.house.rests()

    async def presses(self, label: str, under: str = "") -> None:
        """Press a choice under what was said here last, or last with some words in it."""
        self.house.clock.advance(A_MOMENT)
        shown = [one for one in self.shown if under in one.text]
        self.person.presses(shown[-1].id, label)
        await self.house.rests()

    @property
    def shown(self) -> list[ChatMessage]:
        """What we said here, as it is seen now."""
        return [one for one in self.person.platform.seen(self.at) if one.by is None]

    @property
    def sees(self) -> list[str]:
        """What they read of us here."""
        return [shown.text for shown in self.shown]

    async def hears(self, words: str) -> str:
        """Wait until something with these words is seen here; answer the whole message."""
        await self.house.until(lambda: any(words in text for text in self.sees), f"{words!r}")
        return next(text for text in reversed(self.sees) if words in text)

    async def session(self) -> Session:
        """Look at the session that this conversation is in."""
        store, platform = self.house.store, self.at.platform
        scopes = store.rules.scopes_for(platform)
        for profile in self.house.profiles:
            id = await store.database.read(
                session_of, route(self.at, self.person.sender, scopes, profile)
            )
            if id is not None:
                return await store.database.read(queries.read_session, id)
        raise NotFound("Nobody has spoken here", id=self.at.chat)

    async def turns(self) -> Sequence[Turn]:
        """List the turns of that session, the oldest first."""
        return (
            await self.house.store.database.read(queries.turns, (await self.session()).id, 1000)
        )[::-1]

    async def transcript(self) -> list[Message]:
        """Read the whole transcript of that session."""
        return await self.house.store.database.read(
            queries.transcript,
            (await self.session()).id,
            most=1000,
        )
