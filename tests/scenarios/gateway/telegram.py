"""A house whose platform is Telegram itself, as far as a bot can tell, and those who write to it.

The SDK, the platform and the wire are the real ones; only the far end is a double. Its clock is
that of the house, and so are the pauses that the platform makes: they pass at once.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module

from tests.doubles.telegram import BotApi, Chat, Person, Shown
from tests.doubles.telegram.chats import Topic
from tests.doubles.telegram.state import Press
from threadline.core.address import Address, Kind, Sender
from threadline.core.message import Message
from threadline.core.route import route
from threadline.platforms.telegram import Telegram, TelegramSettings
from threadline.platforms.telegram.rate_limit import TelegramRateLimit
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.gateway_user import A_MOMENT
from threadline.testing.scenario import OpenStore, quiet_nights

# The SDK takes seconds to load: that is done before any test looks at the clock.
for module in ("update_processor", "polling", "message_sender"):
    import_module(f"threadline.platforms.telegram.{module}")

NAME = "telegram"
_QUIET = timedelta(seconds=0.05)


class TelegramHouse(GatewayScenario):
    """An installation with one bot, and everybody whom it may meet."""

    def __init__(self, open_store: OpenStore, api: BotApi) -> None:
        """Build a house on a double that is open; then `async with`."""
        super().__init__(open_store, names=(NAME,), rules=quiet_nights())
        self.api = api
        self.is_cut_off = False
        """Nothing that people say is confirmed any more, so that nobody waits for that."""
        settings = TelegramSettings.model_validate({"token": api.token, "api_url": api.url})
        pacing = TelegramRateLimit(clock=lambda: self.clock().timestamp(), sleep=self._pass)
        self.platforms = {
            NAME: Telegram(NAME, settings, clock=self.clock, quiet=_QUIET, pacing=pacing)
        }

    def writer(self, name: str) -> "Writer":
        """Introduce somebody who has a chat with the bot."""
        person = self.api.person(name, username=name.lower())
        return Writer(self, person, self.api.dm(person))

    async def rests(self) -> None:
        """Wait until everything that people said was taken and answered, or is for later."""
        await self.until(lambda: self.is_cut_off or not self.api.waiting, "all was taken")
        await super().rests()

    def tick(self) -> None:
        """Let a moment pass, here and at Telegram."""
        self.clock.advance(A_MOMENT)
        self.api.world.shift = self.clock() - datetime.now(UTC)

    async def _pass(self, seconds: float) -> None:
        self.clock.advance(timedelta(seconds=seconds))


class Writer:
    """Somebody in a chat with the bot; each verb waits until the house has come to rest."""

    def __init__(
        self, house: TelegramHouse, person: Person, chat: Chat, topic: Topic | None = None
    ) -> None:
        self.house = house
        self.person = person
        self.chat = chat
        self.topic = topic

    def at(self, chat: Chat, topic: Topic | None = None) -> "Writer":
        """Be the same person in another place."""
        return Writer(self.house, self.person, chat, topic)

    async def writes(self, text: str) -> Shown:
        """Write something, and wait for nothing."""
        self.house.tick()
        return await self.person.writes(self.chat, text, thread=self.topic)

    async def says(self, text: str) -> Shown:
        """Write something."""
        shown = await self.writes(text)
        await self.house.rests()
        return shown

    async def asks(self, text: str) -> str:
        """Write something, and read what is new here then."""
        before = len(self.shown)
        await self.says(text)
        return "\n\n".join(self.sees[before:])

    async def edits(self, shown: Shown, text: str) -> None:
        """Let something that they wrote read differently."""
        self.house.tick()
        await self.person.edits(shown, text)
        await self.house.rests()

    async def presses(self, label: str, under: Shown | None = None) -> Press:
        """Press a button under something that was said here, else under the last that has one."""
        self.house.tick()
        buttoned = [one for one in self.shown if label in one.labels]
        press = await self.person.presses(under or buttoned[-1], label)
        await self.house.api.answered(press)
        await self.house.rests()
        return press

    @property
    def shown(self) -> Sequence[Shown]:
        """What the bot said here, as it is seen now."""
        thread = self.topic.id if self.topic else None
        return [one for one in self.chat.messages if thread in (None, one.thread)]

    @property
    def sees(self) -> list[str]:
        """What they read of it."""
        return [one.text for one in self.shown]

    async def hears(self, words: str) -> None:
        """Wait until something with these words is seen here."""
        await self.house.api.until(lambda: any(words in text for text in self.sees), HANG_SECONDS)

    async def transcript(self) -> list[Message]:
        """Read all of their conversation in a direct chat."""
        store = self.house.store
        address = Address(platform=NAME, kind=Kind.DM, chat=str(self.chat.id))
        scopes = store.rules.scopes_for(NAME)
        here = route(address, Sender(id=str(self.person.id)), scopes, self.house.profiles[0])
        id = await store.sessions.find(here)
        assert id is not None, "nobody has spoken here"
        return await store.transcripts.read(id, most=1000)
