"""The gateway as a whole: from a message on a platform to an answer there."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, OpenStore
from tests.gateway.outbox_setup import Billboard, soon
from tests.gateway.test_platform_supervisor import Moody
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.access import AccessRules
from threadline.core.address import Address, Kind
from threadline.core.delivery import SendOutcome
from threadline.core.errors import Conflict, Invalid
from threadline.core.gateway_status import PlatformState, ServerHealth, ServerState
from threadline.core.job import NewJob, RunState
from threadline.core.platform import Outgoing, Platform, ReadBlob, SendFailed
from threadline.core.settings import Settings
from threadline.core.target import parse_target
from threadline.core.turn import TurnState
from threadline.gateway.gateway import Gateway, GatewayRole
from threadline.gateway.intervals import Intervals
from threadline.gateway.settings import GatewaySettings
from threadline.gateway.worker import Worker
from threadline.platforms.simulated import Simulated
from threadline.store import Store
from threadline.store.deliveries.targets import resolve_targets
from threadline.testing.clock import FakeClock
from threadline.testing.scripted_agent import Hangs, Says, ScriptedAgent

PACE = Intervals(drain=timedelta(milliseconds=50), grace=timedelta(milliseconds=200))
EVERYBODY = GatewaySettings(access=AccessRules(allow=["chat:*"]), pace=PACE)


class Tattler(Simulated):
    """A platform that cannot send, and says too much about it."""

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        address = "https://host/bot123:s3cret/send"
        raise SendFailed(f"POST {address} said 403", outcome=SendOutcome.DEAD)


@pytest.fixture(params=(FAST, POSTGRES))
def database_kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def serving(
    store: Store, *platforms: Platform, settings: GatewaySettings = EVERYBODY, says: str = ""
) -> AsyncIterator[tuple[Gateway, ScriptedAgent]]:
    """Serve a store for as long as this lasts, with an agent that says something first."""
    agent = ScriptedAgent()
    if says:
        agent.will(Says(says))
    async with Gateway(store, agent, platforms, settings=settings) as gateway:
        yield gateway, agent


async def sees(platform: Simulated, person: Address, text: str) -> None:
    """Wait until a text is seen in a chat."""

    async def is_seen() -> bool:
        return any(text in shown.text for shown in platform.seen(person))

    await until(is_seen, f"{text!r} is seen")


async def test_a_message_is_answered_where_it_was_written(store: Store) -> None:
    """Inbox, worker and outbox work together; afterwards nothing is owed or unacknowledged."""
    chat = Simulated("chat")
    alice = chat.person("Alice")
    async with serving(store, chat, says="Hello Alice!") as (gateway, _):
        alice.writes("Hello!")

        await sees(chat, alice.dm, "Hello Alice!")
        assert gateway.is_ready
        assert gateway.health().platforms["chat"].state is PlatformState.UP

    assert not chat.unacknowledged
    assert (await store.load()).owed == 0


async def test_a_command_is_answered_too(store: Store) -> None:
    """Without an agent."""
    chat = Simulated("chat")
    alice = chat.person("Alice")
    async with serving(store, chat):
        alice.writes("/help")

        await sees(chat, alice.dm, "/new")


async def test_a_platform_that_breaks_harms_nobody_else(store: Store) -> None:
    """Its state says why, and the other one goes on."""
    chat, broken = Simulated("chat"), Moody(ValueError("no such host"))
    broken.hangs_in_register = True
    alice = chat.person("Alice")
    async with serving(store, chat, broken, says="still here") as (gateway, _):
        alice.writes("Hello?")

        await sees(chat, alice.dm, "still here")
        down = gateway.health().platforms["moody"]
        assert (down.state, down.error) == (PlatformState.DOWN, "ValueError: no such host")
        assert gateway.is_ready


async def test_why_a_send_failed_holds_no_secret(store: Store) -> None:
    """What a platform raises may quote an address with a token in it."""
    chat = Tattler("chat")
    alice = chat.person("Alice")
    settings = replace(EVERYBODY, secrets=frozenset({"123:s3cret"}))
    async with serving(store, chat, settings=settings, says="Hello!"):
        alice.writes("Hello?")

        async def is_noted() -> bool:
            return bool(await store.dead_targets())

        await until(is_noted, "the failure is noted")

    (dead,) = await store.dead_targets()
    assert "bot••••••/send" in (dead.why or "")


async def test_whoever_serves_can_be_seen(store: Store) -> None:
    """With its platforms and where it listens, until it leaves."""
    async with serving(store, Simulated("chat")) as (gateway, _):
        await gateway.enrol("http://127.0.0.1:8642")

        async def is_told() -> bool:
            (row,) = await store.gateways()
            return row.platforms["chat"].state is PlatformState.UP

        await until(is_told, "the enrolment tells that the platform is up")
        (row,) = await store.gateways()
        assert row.url == "http://127.0.0.1:8642"

    assert await store.gateways() == []


class WithTools(ScriptedAgent):
    """An agent that uses an MCP server."""

    health = ServerHealth(state=ServerState.UP, since=datetime(2026, 1, 1, tzinfo=UTC), tools=3)

    def servers(self) -> dict[str, ServerHealth]:
        return {"notes": self.health}


async def test_the_state_of_mcp_servers_can_be_seen(store: Store) -> None:
    """A gateway publishes the MCP servers of its agent, and what changes about them."""
    agent = WithTools()
    settings = GatewaySettings(beat=timedelta(milliseconds=10))
    async with Gateway(store, agent, [], settings=settings):

        async def is_published() -> bool:
            (row,) = await store.gateways()
            return row.servers == {"notes": agent.health}

        await until(is_published, "the server is up")
        now = datetime(2026, 1, 2, tzinfo=UTC)
        agent.health = ServerHealth(
            state=ServerState.DOWN, since=now, error="It ended by itself", error_at=now
        )
        await until(is_published, "the server is down")


async def test_what_was_cut_off_goes_on_with_the_next_gateway(store: Store) -> None:
    """A stop that takes too long interrupts the turn; the next start answers it, once."""
    chat = Simulated("chat")
    alice = chat.person("Alice")
    async with serving(store, chat) as (gateway, agent):
        agent.will(Hangs())
        alice.writes("Take your time")
        await until(lambda: _is(bool(agent.parked)), "the turn runs")
        assert gateway.health().running == 1

    async with serving(store, chat, says="done at last"):
        await sees(chat, alice.dm, "done at last")
    assert sum("done at last" in shown.text for shown in chat.seen(alice.dm)) == 1


async def test_what_is_owed_is_carried_before_turns_go_on(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outbox runs before the first turn does, and what was owed is seen before its answer."""
    chat = Simulated("chat")
    alice = chat.person("Alice")
    async with serving(store, chat) as (_, agent):
        agent.will(Hangs())
        alice.writes("Take your time")
        await until(lambda: _is(bool(agent.parked)), "the turn runs")
    await store.deliveries.create(alice.dm, "owed since yesterday")
    agent = ScriptedAgent()
    agent.will(Says("done at last"))
    gateway = Gateway(store, agent, [chat], settings=EVERYBODY)
    enter, running = gateway.worker.__aenter__, list[bool]()

    async def enter_late() -> Worker:
        running.append("outbox" in gateway._loops)
        return await enter()

    monkeypatch.setattr(gateway.worker, "__aenter__", enter_late)
    async with gateway:
        await sees(chat, alice.dm, "done at last")

    assert running == [True]
    assert [shown.text for shown in chat.seen(alice.dm) if not shown.text.startswith("Take")] == [
        "owed since yesterday",
        "done at last",
    ]


async def test_a_gateway_that_crashes_leaves_no_task(store: Store) -> None:
    """`halt` writes nothing more, and is what tests and the demo use for a crash."""
    chat = Simulated("chat")
    alice = chat.person("Alice")
    gateway = Gateway(store, ScriptedAgent(), [chat], settings=EVERYBODY)
    await gateway.__aenter__()
    alice.writes("Hello?")
    await gateway.halt()

    assert not gateway.is_ready
    assert len(await store.gateways()) == 1, "who crashes does not say good-bye"


async def test_who_crashed_does_not_write_afterwards(store: Store) -> None:
    """Leaving the context after a crash changes nothing any more, and nobody begins again."""
    async with serving(store, Simulated("chat")) as (gateway, _):
        await gateway.halt()

    assert len(await store.gateways()) == 1
    with pytest.raises(Conflict, match="has been used"):
        await gateway.__aenter__()


async def test_a_loop_that_breaks_ends_the_waiting(store: Store) -> None:
    """The gateway is not ready any more, and says why."""
    async with serving(store, Simulated("chat")) as (gateway, _):
        gateway._begin("broken", _break())

        with pytest.raises(ValueError, match="unexpected"):
            await gateway.wait()

        assert not gateway.is_ready
        assert gateway.health().error == "ValueError: unexpected"


async def test_a_home_that_is_changed_in_the_settings_counts_at_the_next_start(
    open_store: OpenStore,
) -> None:
    """What the settings name is no choice that somebody made in a chat: it is not kept."""
    store = await open_store()
    for chat in ("8", "9"):
        homes = {"chat": parse_target(f"chat:{chat}")}
        store = await open_store(rules=Settings(homes=homes))
        async with serving(store, Simulated("chat")):
            assert [home.chat for home in (await store.deliveries.homes()).values()] == [chat]
            (found,) = await store.database.read(
                resolve_targets, "chat", profile="work", origin=None
            )
            assert found.chat == chat

    await store.deliveries.set_home(Address(platform="chat", kind=Kind.DM, chat="1"))
    assert [home.chat for home in (await store.deliveries.homes()).values()] == ["1"]
    assert [home.chat for home in (await store.deliveries.homes("work")).values()] == ["9"]


async def test_a_clock_that_jumps_interrupts_nothing(open_store: OpenStore) -> None:
    """What it runs and sends goes on, also if it looks for expired leases right after the jump."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board, agent = Billboard("chat", gate=asyncio.Event()), ScriptedAgent()
    agent.will(Hangs(), Says("a story"))
    settings = replace(EVERYBODY, pace=unhurried())
    await store.deliveries.create(Address(platform="chat", kind=Kind.DM, chat="bob"), "words")
    async with Gateway(store, agent, [board], settings=settings) as gateway:
        arrival = await tell(store, "tell me", on="chat")
        await soon(lambda: bool(agent.parked and board.attempts), "it runs and sends")
        clock.advance(timedelta(days=8))
        await gateway.worker.recover()
        assert board.gate is not None
        board.gate.set()
        agent.goes_on()
        await soon(lambda: len(board.texts) == 2, "both are shown")

    assert arrival.turn_id is not None
    assert (await store.turns.get(arrival.turn_id)).attempts == 1
    assert board.texts == ["words", "a story"]


async def test_two_platforms_of_one_name_are_refused(store: Store) -> None:
    """Nobody could tell them apart."""
    with pytest.raises(Invalid, match="same name"):
        Gateway(store, ScriptedAgent(), [Simulated("chat"), Simulated("chat")])


async def _break() -> None:
    raise ValueError("unexpected")


async def _is(value: bool) -> bool:
    return value


async def test_a_terminal_answers_unseen_and_starts_no_job(open_store: OpenStore) -> None:
    """Nobody takes its process for a gateway, jobs wait for one, and runs that ended are closed."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    job = await store.jobs.create(NewJob(prompt="What is new?", schedule="every 1h"))
    clock.advance(timedelta(hours=2))
    other = Gateway(
        store,
        ScriptedAgent(),
        [],
        settings=GatewaySettings(pace=unhurried()),
        role=GatewayRole.TERMINAL,
    )
    async with other as gateway:
        arrival = await tell(store, "hello", on="local")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await gateway.scheduler.look()

        assert gateway.is_ready
        assert await store.gateways() == []
        assert await store.jobs.runs(job.id) == []

    await store.jobs.start_due(job.id, platforms=frozenset({"local"}))
    again = Gateway(
        store,
        ScriptedAgent(),
        [],
        settings=GatewaySettings(pace=unhurried()),
        role=GatewayRole.TERMINAL,
    )
    async with again:

        async def is_closed() -> bool:
            return [run.state for run in await store.jobs.runs(job.id)] == [RunState.DONE]

        await until(is_closed, "the run is closed")
