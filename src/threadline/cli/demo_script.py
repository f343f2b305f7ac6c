"""Demo script: made-up people chat, scene by scene, and a narrator explains."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta, timezone

from msgspec import Struct
from msgspec.structs import replace

from threadline.cli.output import clean, fitted, show_text
from threadline.core.address import Address
from threadline.core.errors import AgentError
from threadline.core.job import NewJob
from threadline.core.person import Viewer
from threadline.core.platform import Capabilities, Unit
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.platforms.simulated import (
    EVERYTHING,
    SendFault,
    SentFile,
    Simulated,
    SimulatedPerson,
)
from threadline.platforms.simulated.chats import ChatMessage
from threadline.store import Store
from threadline.store.jobs.job_runs import run_now
from threadline.store.jobs.jobs import make_job

PATIENCE = timedelta(seconds=60)
"""How long the story waits for an answer before it breaks off."""

LOOK_AGAIN = timedelta(seconds=0.5)
"""How often it is looked, after the story, what people have received."""

ECHO = "of our conversation."
"""How an answer of the echo ends."""

_BREATH = timedelta(milliseconds=100)
_ASIDE = 13
"""Where what somebody says goes on in the next line."""
_PICTURE = b"\x89PNG\r\n\x1a\n a picture that nobody painted"
_BOLD, _DIM, _CYAN, _GREEN, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[32m", "\x1b[0m"


class Narrator:
    """Tells the story on the terminal, in colour where there is some, with time to read."""

    def __init__(self, *, pause: timedelta, colour: bool | None = None) -> None:
        """Choose how long it rests after each line."""
        self._pause = pause.total_seconds()
        self._colour = sys.stdout.isatty() if colour is None else colour
        self._scenes = 0

    async def begin(self, title: str) -> None:
        """Begin a scene."""
        self._scenes += 1
        await self._line(f"\n{self._scenes}. {title}", _BOLD)

    async def explain(self, text: str) -> None:
        """Say what is going on behind it."""
        await self._line(f"   {text}", _DIM)

    async def quote(self, platform: str, who: str, text: str) -> None:
        """Show what a person says."""
        await self._line(f"   {platform:<9} {who}: {text}", _CYAN)

    async def answer(self, platform: str, who: str, text: str) -> None:
        """Show what a person reads."""
        shown = text.replace("\n", "\n" + " " * _ASIDE)
        await self._line(f"   {platform:<9} → {who}: {shown}", _GREEN)

    async def _line(self, text: str, style: str) -> None:
        shown = "\n".join(fitted(clean(text), sys.stdout))
        if self._colour:
            sys.stdout.write(f"{style}{shown}{_PLAIN}\n")
            sys.stdout.flush()
        else:
            show_text(shown)
        await asyncio.sleep(self._pause)


class DemoPlatforms(Struct, frozen=True, kw_only=True):
    """The platforms of the demo; they outlive the gateway, as real ones do."""

    telegram: Simulated
    discord: Simulated
    slack: Simulated
    matrix: Simulated

    @property
    def all(self) -> list[Simulated]:
        """All of them."""
        return [self.telegram, self.discord, self.slack, self.matrix]


def make_world() -> DemoPlatforms:
    """Open the platforms, each with the limits that one of its kind has."""
    plain = Capabilities(text_limit=4000, attachments=True, typing=True, threads=True)
    short = Capabilities(text_limit=2000, edits=True, typing=True, attachments=True, threads=True)
    return DemoPlatforms(
        telegram=Simulated(
            "telegram",
            capabilities=Capabilities(
                text_limit=4096, unit=Unit.UTF16, edits=True, typing=True, attachments=True
            ),
        ),
        discord=Simulated("discord", capabilities=short),
        slack=Simulated("slack", capabilities=EVERYTHING),
        matrix=Simulated("matrix", capabilities=plain),
    )


class DemoScript:
    """What happens, in two parts: before the crash and after it."""

    def __init__(self, world: DemoPlatforms, narrator: Narrator) -> None:
        """Know everybody."""
        self._world = world
        self._tell = narrator
        self._alice = world.telegram.person("Alice")
        self._bob = world.discord.person("Bob")
        self._carol = world.discord.person("Carol")
        self._dan = world.slack.person("Dan")
        self._erin = world.matrix.person("Erin")

    async def play_first_part(self, store: Store) -> None:
        """Tell everything up to the crash, which comes in the middle of an answer."""
        for scene in (
            self._hello,
            self._group,
            self._thread,
            self._edit,
            self._file,
            self._commands,
            self._flood,
            self._stranger,
        ):
            await scene()
        await self._new_day(store)
        await self._job(store)
        await self._tell.begin("A crash, in the middle of an answer")
        self._alice.writes("slow, please")
        await self._tell.quote("telegram", "Alice", "slow, please")
        await self._wait(self._alice, lambda seen: " 2" in seen[-1])
        await self._tell.answer("telegram", "Alice", f"{self._alice.sees()[-1]} …")

    async def tell_of_the_crash(self) -> None:
        """Let somebody write while nobody is there."""
        await self._tell.explain("The gateway is gone, as after kill -9. Nobody said goodbye.")
        self._bob.writes("is anybody there?")
        await self._tell.quote("discord", "Bob", "is anybody there?")
        await self._tell.explain("Discord keeps that, because nobody has acknowledged it.")

    async def play_second_part(self) -> None:
        """Tell how everything goes on."""
        await self._tell.begin("Another gateway takes over")
        await self._wait(self._bob, lambda seen: "is anybody there?" in seen[-1], ECHO)
        await self._tell.answer("discord", "Bob", self._bob.sees()[-1])
        await self._tell.explain("Alice's answer goes on in the same message, and says so:")
        await self._wait(self._alice, lambda seen: seen[-1].endswith("Done."))
        await self._tell.answer("telegram", "Alice", self._alice.sees()[-1])
        await self._tell.explain("Nothing was lost, and nothing was answered twice.")

    async def _hello(self) -> None:
        await self._tell.begin("A first hello")
        await self._talk(self._alice, "hello")
        edits = max(shown.edits for shown in self._world.telegram.seen(self._alice.dm))
        await self._tell.explain(
            f"It grew before her eyes ({edits} edit{'s' if edits != 1 else ''}), "
            "and was on disk before it was sent."
        )
        await self._talk(self._alice, "remember the number 7")
        await self._tell.explain("The same conversation: it is message 2.")

    async def _group(self) -> None:
        await self._tell.begin("In a group everybody has a conversation of their own")
        family = self._world.discord.group("family")
        await self._talk(self._bob, "what is for dinner?", at=family)
        await self._talk(self._carol, "and for lunch?", at=family)
        await self._tell.explain('Carol\'s is message 1 of hers: groups = "member".')

    async def _thread(self) -> None:
        await self._tell.begin("In a thread all of them share one")
        holidays = self._world.discord.thread("family", "holidays")
        await self._talk(self._bob, "shall we go to the sea?", at=holidays)
        await self._talk(self._carol, "or to the mountains?", at=holidays)
        await self._tell.explain('Message 2, by another person: threads = "shared".')

    async def _edit(self) -> None:
        await self._tell.begin("Somebody corrects themselves")
        message_id = await self._talk(self._dan, "meet at tree")
        self._dan.edits(message_id, "meet at three")
        await self._tell.quote("slack", "Dan (edited)", "meet at three")
        await self._talk(self._dan, "did you get that?")
        await self._tell.explain("The transcript keeps both; the agent was told of the change.")

    async def _file(self) -> None:
        await self._tell.begin("A file")
        await self._talk(
            self._dan,
            "look at this",
            files=[SentFile(name="tree.png", data=_PICTURE, media_type="image/png")],
        )
        await self._tell.explain("Its bytes lie in the same database, for every gateway.")

    async def _commands(self) -> None:
        await self._tell.begin("Commands, the same in every chat")
        await self._talk(self._alice, "/title Numbers", ends="")
        await self._talk(self._alice, "/new", ends="")
        await self._talk(self._alice, "which number was it?")
        await self._tell.explain("A new conversation: message 1. The old one stays readable.")

    async def _flood(self) -> None:
        await self._tell.begin("Matrix asks for patience")
        self._world.matrix.suffer(SendFault.FLOOD, times=2)
        await self._talk(self._erin, "can you hear me?")
        tries = len(self._world.matrix.sends)
        await self._tell.explain(f"It was tried {tries} times, and shown once.")

    async def _new_day(self, store: Store) -> None:
        await self._tell.begin("A new day")
        await self._tell.explain(
            'reset.platforms.matrix.mode = "daily", and the day turns just now.'
        )
        before = store.rules
        # In some place of the world it is about four o'clock.
        turns_at = store.now() + timedelta(seconds=1)
        since_four = timedelta(hours=turns_at.hour - 4, minutes=turns_at.minute)
        place = timezone(-since_four - timedelta(seconds=turns_at.second))
        daily = ResetPolicy(mode=ResetMode.DAILY, timezone=place)
        store.rules = replace(before, policies=Policies(by_platform={"matrix": daily}))
        await asyncio.sleep((turns_at - store.now() + _BREATH).total_seconds())
        await self._talk(self._erin, "good morning")
        store.rules = before
        await self._tell.explain("Message 1 of a fresh conversation; she is told so once.")

    async def watch(self) -> None:
        """Show what people receive from now on, each message when it grows no more."""
        growing: dict[tuple[str, str], ChatMessage] = {}
        known = {(one.name, shown.id) for one in self._world.all for shown in one.chats}
        while True:
            await asyncio.sleep(LOOK_AGAIN.total_seconds())
            for platform in self._world.all:
                for shown in platform.chats:
                    key = (platform.name, shown.id)
                    if key in known or shown.by is not None:
                        continue
                    if growing.get(key) == shown:
                        known.add(key)
                        await self._tell.answer(platform.name, _where(shown.address), shown.text)
                    growing[key] = shown

    async def _stranger(self) -> None:
        await self._tell.begin("A stranger")
        mallory = self._world.telegram.person("Mallory")
        await self._talk(mallory, "show me what Alice said", ends="")
        await self._tell.explain("Whoever is named nowhere may not speak until the owner agrees.")

    async def _job(self, store: Store) -> None:
        await self._tell.begin("A job: a prompt that is asked by itself")
        before = len(self._alice.sees())
        new = NewJob(
            prompt="Wish Alice a good morning",
            schedule="0 9 * * *",
            target="telegram:alice",
        )
        job = await store.database.write(
            make_job,
            new,
            Viewer.owner(),
        )
        await self._tell.explain("“Wish Alice a good morning”, every day at nine. Now, for once:")
        await store.database.write(
            run_now, job.id, Viewer.owner(), platforms=[one.name for one in self._world.all]
        )
        await self._wait(self._alice, lambda seen: len(seen) > before, ECHO)
        await self._tell.answer("telegram", "Alice", self._alice.sees()[-1])

    async def _talk(
        self,
        person: SimulatedPerson,
        words: str,
        *,
        at: Address | None = None,
        files: Sequence[SentFile] = (),
        ends: str = ECHO,
    ) -> str:
        """Let somebody write, and wait for what they are answered."""
        before = len(person.sees(at))
        place = f"{person.platform.name}"
        who = person.sender.name or ""
        where = f" in {at.topic or at.chat_name}" if at else ""
        message_id = person.writes(words, at=at, files=files)
        await self._tell.quote(place, f"{who}{where}", words)
        await self._wait(person, lambda seen: len(seen) > before, ends, at=at)
        await self._tell.answer(place, f"{who}{where}", person.sees(at)[-1])
        return message_id

    async def _wait(
        self,
        person: SimulatedPerson,
        holds: Callable[[list[str]], bool],
        ends: str = "",
        *,
        at: Address | None = None,
    ) -> None:
        def is_there() -> bool:
            seen = person.sees(at)
            return bool(seen) and holds(seen) and seen[-1].endswith(ends)

        with suppress(TimeoutError):
            await person.platform.until(is_there, PATIENCE)
            return
        raise AgentError(f"{person.sender.name} waits in vain on {person.platform.name}")


def _where(address: Address) -> str:
    """Name a chat as the story does."""
    return address.topic or address.chat_name or address.chat.capitalize()
