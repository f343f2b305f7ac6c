"""Background tasks: bounded in number, and no failure of one is lost."""

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import count

import pytest

from tests.faulty_database import faulty
from tests.gateway.inbox_setup import ALICE, GROUP, Front
from tests.gateway.outbox_setup import Billboard, carrying, soon
from tests.gateway.worker_setup import becomes, tell, unhurried
from threadline.core.address import Address
from threadline.core.command import Command
from threadline.core.delivery import Delivery
from threadline.core.errors import StorageError
from threadline.core.session import SessionId
from threadline.core.turn import TurnState
from threadline.gateway.access import Access
from threadline.gateway.background_tasks import MOST_TASKS, BackgroundTasks, log_failure
from threadline.gateway.edit_repair import EditRepair
from threadline.gateway.inbox import Inbox
from threadline.gateway.metrics import Metrics
from threadline.gateway.platform_supervisor import PlatformSupervisor
from threadline.gateway.user_callables import Callee
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.commands.context import Compress
from threadline.testing.clock import A_MONDAY
from threadline.testing.fake_gate import RecordingGate
from threadline.testing.scripted_agent import ScriptedAgent

SOON = timedelta(milliseconds=10)


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    """List the types of the errors that were logged with a traceback."""
    return [
        record.exc_info[0].__name__
        for record in caplog.records
        if record.exc_info and record.exc_info[0] and record.exc_info[2]
    ]


async def fails(error: BaseException) -> None:
    """Fail."""
    raise error


@pytest.mark.parametrize(
    ("error", "level", "traced"),
    [
        (StorageError("The disk is full"), logging.WARNING, []),
        (ValueError("a bug"), logging.ERROR, ["ValueError"]),
        (asyncio.CancelledError(), None, []),
    ],
)
async def test_a_failure_is_logged(
    error: BaseException, level: int | None, traced: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """An expected error is a sentence, a bug comes with its traceback, a cancellation is none."""
    task = asyncio.create_task(fails(error), name="count the sheep")
    task.add_done_callback(log_failure)
    await asyncio.wait({task})

    assert [record.levelno for record in caplog.records] == ([] if level is None else [level])
    assert tracebacks(caplog) == traced
    assert level is None or "count the sheep" in caplog.text


async def test_one_task_too_many_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """The log names it; when one has ended, the next one is started again."""
    tasks, gate, done = BackgroundTasks(most=2), asyncio.Event(), list[str]()

    def work(name: str) -> Callable[[], "asyncio.Future[None]"]:
        async def run() -> None:
            await gate.wait()
            done.append(name)

        return lambda: asyncio.ensure_future(run())

    assert [tasks.begin(name, work(name)) for name in "abc"] == [True, True, False]
    waiting = asyncio.create_task(tasks.free())
    await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    await waiting
    assert tasks.begin("d", work("d"))
    await tasks.settle()

    assert done == ["a", "b", "d"]
    assert "Background task c was left out" in caplog.text


async def test_the_same_task_is_not_started_twice_and_few_run_at_a_time() -> None:
    """What is under way is not done again, and more than `at_once` wait for a place."""
    tasks, gate, running, most = BackgroundTasks(at_once=2), asyncio.Event(), count(), 0
    under_way = set[int]()

    async def work() -> None:
        nonlocal most
        number = next(running)
        under_way.add(number)
        most = max(most, len(under_way))
        await gate.wait()
        under_way.discard(number)

    for _ in range(2):
        for n in range(5):
            tasks.begin_once(f"task {n}", work)
    assert len(tasks) == 5
    await soon(lambda: len(under_way) == 2, "two run")
    gate.set()
    await tasks.settle()

    assert (next(running), most) == (5, 2)


async def test_words_that_cannot_be_said_leave_a_traceback(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """What breaks after a message was taken in is logged, and the inbox goes on."""
    inbox = make_inbox(store, Voice())

    inbox.tell(GROUP, "hello")
    await inbox.settle()

    assert tracebacks(caplog) == ["RuntimeError"]


class Voice:
    """A voice that breaks, or waits until it may go on."""

    def __init__(self, gate: asyncio.Event | None = None) -> None:
        self.words: list[str] = []
        self.gate = gate

    async def say(self, address: Address, text: str) -> bool:
        if self.gate is None:
            raise RuntimeError("a bug")
        await self.gate.wait()
        self.words.append(text)
        return True


def make_inbox(store: Store, voice: Voice) -> Inbox:
    """Make an inbox that speaks with this voice."""
    return Inbox(store.database, Access(store.database, ALICE), voice, meters=Metrics(["telegram"]))


async def test_direct_words_are_left_out_while_too_much_waits(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """A platform that hangs costs bounded memory, and the log says what was left out."""
    gate = asyncio.Event()
    voice = Voice(gate)
    inbox = make_inbox(store, voice)

    for n in range(MOST_TASKS + 1):
        inbox.tell(GROUP, f"{n}")
    gate.set()
    await inbox.settle()

    assert voice.words == [f"{n}" for n in range(MOST_TASKS)]
    assert "say something on telegram was left out" in caplog.text


async def test_a_command_waits_while_too_many_are_done(store: Store) -> None:
    """What a command leaves to do is never left out: the platform waits until there is room."""
    gate, asked = asyncio.Event(), list[str]()

    async def compress(id: SessionId, focus: str) -> str:
        asked.append(focus)
        await gate.wait()
        return "Done."

    front = Front(store, compress=compress)
    taken = await front.inbox.take(front.said("hello"))
    assert taken.turn_id is not None
    id = (await store.turns.get(taken.turn_id)).session_id
    said = front.said("/compress")

    for n in range(MOST_TASKS):
        await front.inbox.run(Compress(session_id=id, focus=f"{n}"), said)
    last = asyncio.create_task(front.inbox.run(Compress(session_id=id, focus="last"), said))
    await soon(lambda: len(asked) == MOST_TASKS, "all the others are under way")
    assert not last.done()
    gate.set()
    await last
    await front.inbox.settle()

    assert asked == [*(f"{n}" for n in range(MOST_TASKS)), "last"]


async def test_who_waits_for_a_reply_hears_that_the_feed_broke(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """They do not wait in vain, and the next one is not kept from trying again."""
    broken, database = faulty(store)
    database.fail("read_feed", RuntimeError("a bug"))
    front = Front(broken)
    taken = await front.take("hello")
    assert taken.turn_id is not None

    for _ in range(2):
        with pytest.raises(RuntimeError, match="a bug"):
            await front.inbox.answer_to(taken.turn_id, timedelta(hours=1))

    assert tracebacks(caplog) == ["RuntimeError", "RuntimeError"]


async def test_a_live_reply_that_breaks_is_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """What is shown of a turn is a courtesy: its failure is logged, and the turn goes on."""
    broken, database = faulty(store)
    database.fail("turn_address", RuntimeError("a bug"))
    worker = Worker(broken, ScriptedAgent(), pace=unhurried())
    async with carrying(broken, Billboard(), live=worker.live), worker:
        await becomes(store, (await tell(store, "hello")).turn_id, TurnState.DONE)

    assert "RuntimeError" in tracebacks(caplog)


async def test_a_repair_that_breaks_is_logged(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """The message may be incomplete, and the log says of which delivery."""
    await tell(store, "hello")
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease)
    (parcel,) = await store.deliveries.lease(["telegram"])
    delivery: Delivery = parcel.delivery
    _, database = faulty(store)
    database.fail("read_whole", RuntimeError("a bug"))
    repair = EditRepair(database, {})

    repair.begin(delivery, "1")
    await repair._tasks.settle()

    assert f"mend a message of delivery {delivery.id}" in caplog.text
    assert tracebacks(caplog) == ["RuntimeError"]


async def test_a_platform_loop_that_breaks_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A bug of ours between a platform and its gate is no silence."""

    def changed() -> None:
        raise RuntimeError("a bug")

    class Quick(Billboard):
        async def register(self, commands: Sequence[Command]) -> None:
            return

        async def run(self, gate: object) -> None:
            return

    supervisor = PlatformSupervisor(
        Quick(), RecordingGate(), now=lambda: A_MONDAY, changed=changed, settled=timedelta(days=1)
    )
    supervisor.open([])
    assert supervisor._task is not None
    await asyncio.wait({supervisor._task})

    assert tracebacks(caplog) == ["RuntimeError"]


@pytest.mark.parametrize("is_thread", [False, True])
async def test_a_hook_that_fails_too_late_is_logged(
    is_thread: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Its caller has gone on by then, but its author wants to know."""
    loop, go_on = asyncio.get_running_loop(), asyncio.Event()

    async def late() -> None:
        try:
            await go_on.wait()
        except asyncio.CancelledError:
            raise RuntimeError("too late") from None

    def late_thread() -> None:
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
        raise RuntimeError("too late")

    callee = Callee("late", late_thread if is_thread else late, SOON)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            await callee.call()
            await callee.idle()
    go_on.set()
    await callee.idle()
    await soon(lambda: "failed after its time was over" in caplog.text, "it is logged")

    assert set(tracebacks(caplog)) == {"RuntimeError"}
    assert sys.exc_info() == (None, None, None)
