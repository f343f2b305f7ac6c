"""The double of the Bot API: a server on this machine, and the people behind it."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from types import TracebackType
from typing import Self

from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.chats import Chat, ChatKind, Standing
from tests.doubles.telegram.faults import SPEAKING, Limits, Mishap, Planned
from tests.doubles.telegram.people import Person
from tests.doubles.telegram.refusals import Refusal, Wire, flood
from tests.doubles.telegram.server import Server
from tests.doubles.telegram.state import CHANNEL_OFFSET, Press, World
from threadline.testing.deadline import HANG_SECONDS

TOKEN = "4242:a-token-that-opens-no-door"  # of a bot that is nowhere


class BotApi:
    """Telegram, as far as a bot can tell: point it at `url` instead of `api.telegram.org`.

    Everything outlives the programs that run the bot, for as long as this is open.
    """

    def __init__(
        self,
        *,
        token: str = TOKEN,
        username: str = "double_bot",
        name: str = "Double",
        limits: Limits | None = None,
        reads_all: bool = False,
        port: int = 0,
    ) -> None:
        """Make a bot with this token; by default it may say as much as it likes.

        With `reads_all` no privacy hides from it what people say in groups.
        """
        self.token = token
        self.url = ""
        """Where it is reached."""
        self.world = World(int(token.partition(":")[0]), name, username)
        self.world.bot["can_read_all_group_messages"] = reads_all
        self._server = Server(self.world, token, limits)
        self._port = port
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.url = await self._stack.enter_async_context(self._server.open(self._port))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    @property
    def bot(self) -> Wire:
        """Who the bot is."""
        return self.world.bot

    @property
    def calls(self) -> list[Call]:
        """Everything that was called, in order."""
        return self._server.calls

    def called(self, method: str) -> list[Call]:
        """Everything that was called of one method."""
        return [call for call in self.calls if call.method == method]

    @property
    def done(self) -> list[tuple[Call, object]]:
        """Everything that was called and not refused, in order, with what came of it."""
        return self._server.done

    @property
    def waiting(self) -> list[Wire]:
        """The updates that the bot has not confirmed."""
        return [one.wire for one in self.world.updates.waiting]

    @property
    def confirmed(self) -> list[int]:
        """The ids of the updates that will not be handed out again."""
        return self.world.updates.confirmed

    # People and places

    def person(
        self, name: str, *, id: int | None = None, username: str | None = None, is_bot: bool = False
    ) -> Person:
        """Let somebody have an account."""
        number = 1001 + len(self.world.people) if id is None else id
        person = Person(self.world, id=number, name=name, username=username, is_bot=is_bot)
        self.world.people[number] = person
        return person

    def dm(self, person: Person, *, started: bool = True, topics: bool = False) -> Chat:
        """Open the private chat of somebody and the bot; `topics` divides it into threads."""
        if person.id in self.world.chats:
            return self.world.chats[person.id]
        standing = Standing.MEMBER if started else Standing.LEFT
        chat = Chat(
            id=person.id,
            kind=ChatKind.PRIVATE,
            person=person,
            is_forum=topics,
            standing=standing,
            members={person.id: (person, Standing.MEMBER)},
        )
        self.bot["has_topics_enabled"] = topics or self.bot.get("has_topics_enabled", False)
        return self._add(chat)

    def group(
        self,
        title: str,
        members: Sequence[Person] = (),
        *,
        forum: bool = False,
        basic: bool = False,
        admin: bool = False,
        username: str | None = None,
    ) -> Chat:
        """Make a group with the bot in it; all but basic ones are supergroups."""
        number = 2001 + len(self.world.chats)
        return self._add(
            Chat(
                id=-number if basic else -CHANNEL_OFFSET - number,
                kind=ChatKind.GROUP if basic else ChatKind.SUPERGROUP,
                title=title,
                username=username,
                is_forum=forum,
                standing=Standing.ADMINISTRATOR if admin else Standing.MEMBER,
                members={
                    one.id: (one, Standing.CREATOR if n == 0 else Standing.MEMBER)
                    for n, one in enumerate(members)
                },
            )
        )

    def channel(self, title: str, *, username: str | None = None, admin: bool = True) -> Chat:
        """Make a channel, with the bot as an administrator of it."""
        return self._add(
            Chat(
                id=-CHANNEL_OFFSET - 2001 - len(self.world.chats),
                kind=ChatKind.CHANNEL,
                title=title,
                username=username,
                standing=Standing.ADMINISTRATOR if admin else Standing.MEMBER,
            )
        )

    def _add(self, chat: Chat) -> Chat:
        self.world.chats[chat.id] = chat
        return chat

    def upgrade(self, group: Chat) -> Chat:
        """Let a basic group become a supergroup, under another number."""
        return self.world.move(group)

    def typing(self, chat: Chat, thread: int | None = None) -> int:
        """Count how often something was shown to be going on in a chat, or in a thread of it."""
        return sum(1 for one in chat.typing if thread is None or one["thread"] == thread)

    def commands(self, scope: str = "default", language: str = "") -> dict[str, str]:
        """Tell which commands are offered there, with what is said of them."""
        offered = self.world.commands.get((scope, language), [])
        return {one["command"]: one["description"] for one in offered}

    # What may come

    def inject(self, update: Wire | bytes) -> int | None:
        """Bring the bot anything at all: an update, or bytes in the place of all updates, once."""
        if isinstance(update, dict):
            return self.world.updates.put(update)
        self.world.updates.garbage.append(update)
        self.world.bell.ring()
        return None

    def flood(self, seconds: int = 1, *, times: int = 1, methods: str = SPEAKING) -> None:
        """Let the next calls be asked for patience."""
        self._plan(Mishap.REFUSED, times, methods, flood(seconds))

    def fail(
        self, status: int = 502, reason: str = "", *, times: int = 1, methods: str = SPEAKING
    ) -> None:
        """Let the next calls be refused."""
        self._plan(Mishap.REFUSED, times, methods, Refusal(status, reason))

    def hang(self, *, times: int = 1, methods: str = SPEAKING) -> None:
        """Let the next calls never be answered; nothing comes of them."""
        self._plan(Mishap.HANG, times, methods)

    def drop(self, *, times: int = 1, methods: str = SPEAKING) -> None:
        """Let the connection break under the next calls; nothing comes of them."""
        self._plan(Mishap.DROPPED, times, methods)

    def silence(self, *, times: int = 1, methods: str = SPEAKING) -> None:
        """Let the next calls be done, and the connection break before their answer."""
        self._plan(Mishap.SILENCED, times, methods)

    def mangle(self, *, times: int = 1, methods: str = SPEAKING) -> None:
        """Let the next calls be done, and answered with what is no JSON."""
        self._plan(Mishap.MANGLED, times, methods)

    def clear(self) -> None:
        """Let everything go well from now on."""
        self._server.weather.clear()

    def _plan(
        self, mishap: Mishap, times: int, methods: str, refusal: Refusal | None = None
    ) -> None:
        planned = Planned(mishap=mishap, methods=methods, refusal=refusal)
        self._server.weather.plan(planned, times)

    # Time

    def pass_time(self, span: timedelta) -> None:
        """Let its clock go forward."""
        self.world.shift += span
        self.world.bell.ring()

    async def until(self, condition: Callable[[], object], within: float = HANG_SECONDS) -> None:
        """Wait until something holds, or fail."""
        if not await self.world.bell.until(condition, within):
            raise TimeoutError(f"It did not come to that within {within} s")

    async def said(self, chat: Chat, count: int = 1, within: float = HANG_SECONDS) -> list[str]:
        """Wait until the bot has said so much in a chat; answer its words."""
        await self.until(lambda: len(chat.messages) >= count, within)
        return chat.texts

    async def answered(self, press: Press, within: float = HANG_SECONDS) -> Wire:
        """Wait until the bot has answered to a button; answer what it said."""
        await self.until(lambda: press.answer is not None, within)
        return press.answer or {}
