"""A gateway that serves is changed: at once for the next message, and for nobody in the middle."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES
from tests.gateway.test_gateway import EVERYBODY, sees
from tests.gateway.worker_setup import until
from threadline.core.access import AccessRules
from threadline.core.errors import ConfigError, Conflict
from threadline.core.gateway_status import PlatformState
from threadline.core.instructions import Instructions
from threadline.core.platform import Outgoing, Platform, ReadBlob, Receiver
from threadline.core.profile_rules import ProfileRule
from threadline.core.session import BusyMode
from threadline.core.settings import Settings
from threadline.gateway.gateway import Gateway
from threadline.gateway.reload import ReloadableParts
from threadline.gateway.settings import GatewaySettings
from threadline.platforms.simulated import Simulated
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Hangs, Says, ScriptedAgent

ALL = replace(EVERYBODY, access=AccessRules(allow=["chat:*", "other:*"]))


class Slow(Simulated):
    """A platform that takes its time to send, and to come and go."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.begins, self.may_send = asyncio.Event(), asyncio.Event()
        self.ran: list[str] = []

    async def run(self, gate: Receiver) -> None:
        self.ran.append("begun")
        try:
            await super().run(gate)
        finally:
            self.ran.append("ended")

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        self.begins.set()
        await self.may_send.wait()
        assert "ended" not in self.ran, "it was closed while it sent"
        return await super().send(outgoing, read_blob)


@pytest.fixture(params=(FAST, POSTGRES))
def database_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Served:
    """A gateway, its agent, and how it can be changed."""

    def __init__(self, gateway: Gateway, agent: ScriptedAgent) -> None:
        self.gateway, self.agent = gateway, agent

    async def becomes(
        self,
        *,
        settings: GatewaySettings = ALL,
        rules: Settings | None = None,
        agent: ScriptedAgent | None = None,
        coming: Sequence[Platform] = (),
        going: Sequence[str] = (),
    ) -> None:
        """Change what is said, and leave the rest."""
        change = ReloadableParts(
            settings=settings,
            rules=rules or self.gateway.store.rules,
            agent=agent or self.agent,
            coming=coming,
            going=going,
        )
        await self.gateway.reload(change)


@asynccontextmanager
async def served(store: Store, *platforms: Platform) -> AsyncIterator[Served]:
    """Serve some platforms for as long as this lasts."""
    agent = ScriptedAgent()
    async with Gateway(store, agent, platforms, settings=ALL) as gateway:
        yield Served(gateway, agent)


async def test_a_running_turn_ends_as_it_began(store: Store) -> None:
    """The old agent says the end of what it began, and the new one answers what comes after."""
    chat = Simulated("chat")
    alice, bob = chat.person("Alice"), chat.person("Bob")
    async with served(store, chat) as house:
        house.agent.will(Says("Once upon"), Hangs(), Says("the old end"))
        alice.writes("Tell me something")
        await until(lambda: _is(bool(house.agent.parked)), "the turn runs")

        new = ScriptedAgent()
        new.will(Says("I am new here"))
        await house.becomes(agent=new)
        bob.writes("Hello?")
        await sees(chat, bob.dm, "I am new here")
        house.agent.goes_on()
        await sees(chat, alice.dm, "the old end")

        assert len(house.agent.requests) == len(new.requests) == 1


async def test_who_may_speak_changes_with_the_next_message(store: Store) -> None:
    """Access, routing and what agents are told are others from one moment on."""
    chat = Simulated("chat")
    alice, bob = chat.person("Alice"), chat.person("Bob")
    async with served(store, chat) as house:
        alice.writes("Hello!")
        await sees(chat, alice.dm, "ok")
        settings = replace(
            ALL,
            access=AccessRules(allow=["chat:bob"]),
            routing=(ProfileRule(profile="coder", platform="chat"),),
            instructions=(Instructions(text="Be brief.", platform="chat"),),
        )

        await house.becomes(settings=settings)
        alice.writes("Still there?")
        bob.writes("And me?")

        await sees(chat, bob.dm, "ok")
        await sees(chat, alice.dm, "I do not know you")
        assert len(house.agent.requests) == 2
        assert house.agent.requests[-1].session.profile == "coder"
        assert "Be brief." in str(house.agent.requests[-1].context)


async def test_rules_of_the_store_change_too(store: Store) -> None:
    """From the next verb on."""
    async with served(store, Simulated("chat")) as house:
        await house.becomes(rules=replace(store.rules, busy=BusyMode.STEER))

        assert store.rules.busy is BusyMode.STEER


async def test_more_may_run_at_a_time(store: Store) -> None:
    """Whoever waited for a seat gets it at once."""
    chat = Simulated("chat")
    alice, bob = chat.person("Alice"), chat.person("Bob")
    async with served(store, chat) as house:
        await house.becomes(settings=replace(ALL, concurrency=1))
        house.agent.will(Hangs())
        house.agent.will(Says("at last"))
        alice.writes("Think!")
        await until(lambda: _is(bool(house.agent.parked)), "the turn runs")
        bob.writes("And me?")
        await until(lambda: _has_queued(store, 1), "the other waits")

        await house.becomes(settings=replace(ALL, concurrency=2))

        await sees(chat, bob.dm, "at last")
        house.agent.goes_on()


async def test_a_platform_comes_while_others_go_on(store: Store) -> None:
    """What stays is not begun again, and what is new is served and counted by its name."""
    chat, other = Slow("chat"), Simulated("other")
    chat.may_send.set()
    bob = other.person("Bob")
    async with served(store, chat) as house:
        await until(lambda: _is(bool(chat.ran)), "it runs")
        await house.becomes(coming=[other])

        bob.writes("Hello!")
        await sees(other, bob.dm, "ok")
        assert chat.ran == ["begun"]
        assert set(house.gateway.health().platforms) == {"chat", "other"}
        assert 'platform="other"' in house.gateway.meters.text().decode()


async def test_a_platform_that_goes_sends_what_it_is_sending(store: Store) -> None:
    """It is closed after that, and takes in nothing more."""
    chat, other = Slow("chat"), Simulated("other")
    alice = chat.person("Alice")
    async with served(store, chat, other) as house:
        alice.writes("Hello!")
        await asyncio.wait_for(chat.begins.wait(), HANG_SECONDS)
        going = asyncio.create_task(house.becomes(going=["chat"]))
        await until(lambda: _is("chat" not in house.gateway.platforms), "it goes")
        assert not going.done()
        chat.may_send.set()
        await going

        assert chat.ran == ["begun", "ended"]
        assert [shown.text for shown in chat.seen(alice.dm)] == ["Hello!", "ok"]
        assert set(house.gateway.health().platforms) == {"other"}


async def test_what_is_owed_waits_for_the_platform_to_come_back(store: Store) -> None:
    """An answer to somebody on a platform that is gone is kept, and sent when it is there again."""
    chat = Simulated("chat")
    alice = chat.person("Alice")
    async with served(store, chat) as house:
        house.agent.will(Hangs(), Says("better late"))
        alice.writes("Think!")
        await until(lambda: _is(bool(house.agent.parked)), "the turn runs")
        await house.becomes(going=["chat"])
        house.agent.goes_on()
        await until(lambda: _owes(store, 1), "the answer is owed")
        assert not any("better" in shown.text for shown in chat.seen(alice.dm))

        await house.becomes(coming=[chat])

        await sees(chat, alice.dm, "better late")
        await until(lambda: _owes(store, 0), "nothing is owed")
        assert [shown.text for shown in chat.seen(alice.dm)] == ["Think!", "better late"]


async def test_one_takes_the_place_of_another(store: Store) -> None:
    """The old one has ended before the new one begins: two could take each other's messages."""
    before, after = Slow("chat"), Slow("chat")
    before.may_send.set()
    after.may_send.set()
    alice = after.person("Alice")
    async with served(store, before) as house:
        await until(lambda: _is(bool(before.ran)), "it runs")
        await house.becomes(coming=[after])

        assert before.ran == ["begun", "ended"]
        alice.writes("Hello!")
        await sees(after, alice.dm, "ok")
        assert house.gateway.health().platforms["chat"].state is PlatformState.UP


async def test_a_hook_that_cannot_be_found_changes_nothing(store: Store) -> None:
    """The rules beside it are not taken up either."""
    async with served(store, Simulated("chat")) as house:
        wrong = replace(ALL, hooks={"turn_finished": ["nowhere:nothing"]}, concurrency=1)
        with pytest.raises(ConfigError):
            await house.becomes(settings=wrong, rules=replace(store.rules, busy=BusyMode.STEER))

        assert house.gateway.settings == ALL
        assert store.rules.busy is BusyMode.QUEUE


told: list[str] = []


def note_finished(news: object) -> None:
    """Remember that a hook was told."""
    told.append(type(news).__name__)


async def test_a_new_hook_is_told_from_then_on(store: Store) -> None:
    """And one that was taken out is not."""
    told.clear()
    chat = Simulated("chat")
    alice = chat.person("Alice")
    async with served(store, chat) as house:
        alice.writes("one")
        await sees(chat, alice.dm, "ok")
        hooks = {"turn_finished": [f"{__name__}:note_finished"]}
        await house.becomes(settings=replace(ALL, hooks=hooks))
        alice.writes("two")
        await until(lambda: _is(told == ["TurnFinished"]), "the hook is told")

        await house.becomes(settings=ALL)
        house.agent.will(Says("three it is"))
        alice.writes("three")
        await sees(chat, alice.dm, "three it is")

    assert told == ["TurnFinished"]


async def test_only_a_gateway_that_serves_is_changed(store: Store) -> None:
    """One that has stopped says so, and begins nothing."""
    chat = Simulated("chat")
    async with served(store, chat) as house:
        pass

    with pytest.raises(Conflict):
        await house.becomes(coming=[Simulated("other")])
    assert set(house.gateway.platforms) == {"chat"}


async def _is(holds: bool) -> bool:
    return holds


async def _has_queued(store: Store, count: int) -> bool:
    return (await store.load()).queued == count


async def _owes(store: Store, count: int) -> bool:
    return (await store.load()).owed == count
