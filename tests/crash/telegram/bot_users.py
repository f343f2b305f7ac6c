"""The bureau: an exchange that is Telegram itself, as far as a bot can tell."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.crash.gateway.chat_platform import AHEAD, Exchange, Shown
from tests.doubles.telegram import BotApi, Chat, Person
from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.chats import Topic

NAME = "telegram"
CONVERSATIONS = 20
_LOOK_AGAIN = 0.02
_FLOODS = 0.01
"""How often, at each look, Telegram is made to want a pause before the next message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one conversation is, and who has it."""

    person: Person
    chat: Chat
    topic: Topic | None = None


@dataclass(slots=True)
class Bureau(Exchange):
    """Has people who write to a bot, and remembers all that they saw of it."""

    conversations: int = CONVERSATIONS
    api: BotApi = field(default_factory=lambda: BotApi(reads_all=True))
    places: list[Place] = field(default_factory=list)
    _seen: int = 0
    """How many of the calls were looked at."""
    _calm_round: int = -1
    """The life of a child in which nobody asks anything more."""

    @property
    def is_empty(self) -> bool:
        return not self.api.waiting

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """Be reachable; gives the URL."""
        async with self.api:
            self.places = [self._settle(n) for n in range(max(self.conversations, 1))]
            asking = asyncio.create_task(self._keep_asking(random.Random(0)))
            try:
                yield self.api.url
            finally:
                asking.cancel()
                await asyncio.wait({asking})

    async def write(self, conversation: int, text: str = "") -> None:
        """Let somebody say something; nothing: it is called by its number."""
        self._asked[conversation] += 1
        place, words = (
            self.places[conversation],
            text or f"{conversation}.{self._asked[conversation]}",
        )
        await place.person.writes(place.chat, words, thread=place.topic)

    def refresh(self) -> None:
        """Read on in what the bot did, and see what it has confirmed."""
        new, self._seen = self.api.done[self._seen :], len(self.api.done)
        for call, answer in new:
            if call.method == "sendMessage":
                self._note_message(call, answer)
            elif call.method == "editMessageText":
                self._note_change(answer)
        waiting = {update.get("message", {}).get("text") for update in self.api.waiting}
        self.acknowledged = self.asked - waiting

    def _settle(self, conversation: int) -> Place:
        """Give a conversation its place: most are between two, some in groups, some in topics."""
        person = self.api.person(f"Person {conversation}")
        if conversation % 10 == 8:
            return Place(person=person, chat=self.api.group(f"Group {conversation}", [person]))
        if conversation % 10 == 9:
            forum = self.api.group(f"Forum {conversation}", [person], forum=True)
            topic = self.api.world.add_topic(forum, "Topic", by=person)
            return Place(person=person, chat=forum, topic=topic)
        return Place(person=person, chat=self.api.dm(person))

    async def _keep_asking(self, dice: random.Random) -> None:
        """Let everybody ask on who is not too far ahead, whether somebody serves or not."""
        while True:
            self.refresh()
            if self.is_calm:
                self._calm_round = self.round
            if self.round != self._calm_round:
                await self._ask_on()
                if self.conversations and dice.random() < _FLOODS:
                    self.api.flood(1)
            await asyncio.sleep(_LOOK_AGAIN)

    async def _ask_on(self) -> None:
        for conversation in range(self.conversations):
            chat = str(self.places[conversation].chat.id)
            for _ in range(AHEAD - self._asked[conversation] + len(self._answers[chat])):
                await self.write(conversation)

    def _note_message(self, call: Call, answer: Any) -> None:
        one = Shown(
            id=_id_of(answer),
            platform=NAME,
            chat=str(answer["chat"]["id"]),
            key=call.text("key"),
            text=answer["text"],
            round=self.round,
        )
        self.shown.append(one)
        self._by_id[one.id] = one
        self._answers[one.chat].add(one.delivery)

    def _note_change(self, answer: Any) -> None:
        one = self._by_id[_id_of(answer)]
        one.text = answer["text"]
        one.edits += 1


def _id_of(message: Any) -> str:
    return f"{message['chat']['id']}/{message['message_id']}"
