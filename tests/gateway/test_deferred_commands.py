import asyncio

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.faulty_database import faulty
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.access_level import AccessLevel
from threadline.core.address import Address, Kind, Sender
from threadline.core.command import Call, parse_command
from threadline.core.errors import StorageError
from threadline.core.inbound import Inbound
from threadline.core.turn import TurnState
from threadline.gateway.deferred_commands import DeferredCommands
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.commands.context import CommandReply, DeferredCommandResult
from threadline.store.commands.execute import execute, execute_waiting
from threadline.testing.scripted_agent import Hangs, ScriptedAgent


def ordered(store: Store, text: str) -> tuple[Inbound, Call]:
    """Let Alice give a command."""
    call = parse_command(text)
    assert call is not None
    inbound = Inbound.text(
        text,
        address=Address(platform="telegram", kind=Kind.DM, chat="alice"),
        sender=Sender(id="alice", name="Alice"),
        at=store.now(),
        message_id=f"the command {text}",
    )
    return inbound, call


@on(FAST, POSTGRES)
async def test_a_command_is_carried_out_between_two_turns(open_store: OpenStore) -> None:
    """What was asked before a waiting command is answered first, what came after it later."""
    store, agent = await open_store(), ScriptedAgent()
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried()):
        first = await tell(store, "one")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        await execute(store.database, *ordered(store, "/redo"), AccessLevel.MEMBER)
        second = await tell(store, "two")
        await becomes(store, second.turn_id, TurnState.QUEUED)

        agent.goes_on()

        await becomes(store, first.turn_id, TurnState.DONE)
        await becomes(store, second.turn_id, TurnState.DONE)
        assert await execute_waiting(store.database) == []


async def test_a_command_that_waited_is_carried_out_after_a_crash(open_store: OpenStore) -> None:
    """Who starts finds the commands whose time has come meanwhile, and the turns behind them."""
    store = await open_store()
    await tell(store, "one")
    claim = await store.turns.claim()
    assert claim is not None
    await execute(store.database, *ordered(store, "/redo"), AccessLevel.MEMBER)
    second = await tell(store, "two")
    await store.turns.finish(claim.lease)
    assert await store.turns.claim() is None

    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        await becomes(store, second.turn_id, TurnState.DONE)


async def test_a_database_that_is_away_is_asked_again(open_store: OpenStore) -> None:
    """A look that fails is made up for by the next one, and nothing is told of it before."""
    waited = DeferredCommandResult(
        inbound=ordered(await open_store(), "/redo")[0], reply=CommandReply(text="Done.")
    )

    due = [[1]]
    _, database = faulty(await open_store())
    database.fail("list_command_owners", StorageError("the disk sleeps"), times=1)
    database.instead["list_due_commands"] = lambda _: due.pop() if due else []
    database.instead["carry_out_waiting"] = lambda *_, **__: waited
    done: list[int] = []
    told: list[DeferredCommandResult] = []

    async def hear(one: DeferredCommandResult) -> None:
        told.append(one)

    backlog = DeferredCommands(database, lambda: done.append(1), hear)
    running = asyncio.create_task(backlog.run())

    async def is_carried_out() -> bool:
        backlog.hear()
        return bool(done)

    await until(is_carried_out, "it is carried out")
    running.cancel()
    await asyncio.wait({running})
    assert told == [waited] * len(done)


async def _truth(value: bool) -> bool:
    return value
