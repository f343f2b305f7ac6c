import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.address import Sender
from threadline.core.delivery import DeliveryState, SendOutcome
from threadline.core.errors import ConfigError
from threadline.core.message import Message
from threadline.core.turn import TurnState
from threadline.gateway.hooks import DeliveryFailed, Hooks, SessionStarted, TurnFinished
from threadline.gateway.intervals import Intervals
from threadline.gateway.metrics import Metrics
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.feed import prune_whole_feed
from threadline.store.queries import session_address
from threadline.store.sessions.session_end import RETELLINGS, Ending, list_told
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Fails, ScriptedAgent

SOON = timedelta(milliseconds=20)
LONG = timedelta(seconds=30)
Told: TypeAlias = Mapping[str, Sequence[Callable[..., object]]]


@asynccontextmanager
async def telling(
    store: Store,
    hooks: Told,
    *,
    within: timedelta = LONG,
    meters: Metrics | None = None,
) -> AsyncIterator[Hooks]:
    """Tell hooks, from now on, until the context ends."""
    told = Hooks(store.database, hooks, pace=Intervals(recover=SOON), within=within, meters=meters)
    await told.begin()
    task = asyncio.create_task(told.run())
    try:
        yield told
    finally:
        task.cancel()
        await asyncio.wait({task})


@on(FAST, POSTGRES)
async def test_hooks_hear_of_sessions_and_turns(open_store: OpenStore) -> None:
    """Whoever wants to know learns which session began, and how each turn ended."""
    store, agent = await open_store(), ScriptedAgent()
    started, finished = list[SessionStarted](), list[TurnFinished]()

    async def turn_finished(news: TurnFinished) -> None:
        finished.append(news)

    hooks: Told = {"session_started": [started.append], "turn_finished": [turn_finished]}
    async with telling(store, hooks), Worker(store, agent, pace=unhurried()):
        one = await tell(store, "hello")
        await becomes(store, one.turn_id, TurnState.DONE)
        agent.will(Fails("no"))
        two = await tell(store, "again")
        await becomes(store, two.turn_id, TurnState.FAILED)
        await until(lambda: _truth(len(finished) == 2), "both ends are told")
        await until(lambda: _truth(len(started) == 1), "the beginning is told")

    assert started[0].session.id == one.session_id
    assert not started[0].is_resumed
    assert [(news.turn.id, news.turn.state) for news in finished] == [
        (one.turn_id, TurnState.DONE),
        (two.turn_id, TurnState.FAILED),
    ]
    assert finished[0].session.id == one.session_id


async def test_a_session_that_is_resumed_starts_again(open_store: OpenStore) -> None:
    """Coming back to a session is told as what it is."""
    clock = FakeClock()
    store, started = await open_store(clock=clock), list[SessionStarted]()
    arrival = await tell(store, "hello")
    assert arrival.session_id is not None
    await store.sessions.end(arrival.session_id)
    clock.advance(timedelta(minutes=1))

    async with telling(store, {"session_started": [started.append]}):
        address = await store.database.read(session_address, arrival.session_id)
        await store.sessions.switch(address, _alice(), arrival.session_id)
        await until(lambda: _truth(len(started) == 1), "it is told")

    assert (started[0].session.id, started[0].is_resumed) == (arrival.session_id, True)


async def test_hooks_hear_of_replies_that_never_arrive(store: Store) -> None:
    """A delivery that fails for good is told, with where it should have gone."""
    lost = list[DeliveryFailed]()
    async with telling(store, {"delivery_failed": [lost.append]}):
        arrival = await tell(store, "hello")
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease)
        (parcel,) = await store.deliveries.lease(["telegram"])
        await store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "They blocked us.")
        await until(lambda: _truth(len(lost) == 1), "it is told")

    delivery = lost[0].delivery
    assert (delivery.id, delivery.turn_id) == (parcel.delivery.id, arrival.turn_id)
    assert (delivery.platform, delivery.state) == ("telegram", DeliveryState.FAILED)
    assert delivery.session_id == arrival.session_id


@on(FAST, POSTGRES)
async def test_news_is_told_once_by_all_processes(open_store: OpenStore) -> None:
    """However many gateways share a store, and however often they restart, all is told once."""
    here, there = await open_store(), await open_store()
    finished = list[TurnFinished]()
    hooks: Told = {"turn_finished": [finished.append]}
    arrivals = []

    async def answer() -> None:
        arrivals.append(await tell(here, "hello"))
        claim = await here.turns.claim()
        assert claim is not None
        await here.turns.finish(claim.lease)

    async with telling(here, hooks):
        idle = Hooks(there.database, hooks, pace=Intervals(recover=SOON))
        waiting = asyncio.create_task(idle.run())
        await answer()
        await until(lambda: _truth(len(finished) == 1), "the first is told")
    await answer()
    await until(lambda: _truth(len(finished) == 2), "the other process goes on")
    waiting.cancel()
    await asyncio.wait({waiting})
    await answer()
    async with telling(here, hooks):
        await until(lambda: _truth(len(finished) == 3), "what happened meanwhile is told")

    assert [news.turn.id for news in finished] == [arrival.turn_id for arrival in arrivals]


async def test_a_hook_that_raises_harms_nobody(store: Store) -> None:
    """The failure is counted, the next news is told, and other hooks hear of everything."""
    tried, heard, meters = list[TurnFinished](), list[TurnFinished](), Metrics()

    def broken(news: TurnFinished) -> None:
        tried.append(news)
        raise SystemExit("I leave")

    hooks: Told = {"turn_finished": [broken, heard.append]}
    async with (
        telling(store, hooks, meters=meters),
        Worker(store, ScriptedAgent(), pace=unhurried()),
    ):
        for n in range(3):
            await becomes(store, (await tell(store, f"{n}")).turn_id, TurnState.DONE)
        await until(lambda: _truth(len(tried) == len(heard) == 3), "both heard of all")

    assert b'threadline_hooks_total{hook="turn_finished",outcome="failed"} 3.0' in meters.text()


async def test_a_coroutine_that_wants_to_end_everything_does_not(store: Store) -> None:
    """Neither leaving the program nor cancelling oneself reaches beyond the hook."""
    heard = list[TurnFinished]()

    async def leaves(_: TurnFinished) -> None:
        raise SystemExit(1)

    async def gives_up(*_: object) -> None:
        raise asyncio.CancelledError

    hooks: Told = {
        "turn_finished": [leaves, gives_up, heard.append],
        "session_ended": [gives_up, leaves],
    }
    async with (
        telling(store, hooks) as told,
        Worker(store, ScriptedAgent(), pace=unhurried(recover=SOON), on_ended=told.on_ended),
    ):
        arrival = await tell(store, "one")
        assert arrival.session_id is not None
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await store.sessions.end(arrival.session_id)
        await becomes(store, (await tell(store, "two")).turn_id, TurnState.DONE)
        await until(lambda: _truth(len(heard) == 2), "the others go on")


async def test_a_hook_that_raises_leaves_a_traceback(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """Its author finds the line in the log, whatever the hook is told of."""

    def raises(*news: object) -> None:
        raise ValueError("a bug")

    hooks: Told = {"turn_finished": [raises], "session_ended": [raises]}
    told = Hooks(store.database, hooks)
    async with telling(store, hooks), Worker(store, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await until(lambda: _truth("failed" in caplog.text), "it is logged")
    assert arrival.session_id is not None
    await store.sessions.end(arrival.session_id)
    await store.sessions.tell_endings(told.tell_ended)

    traced = [record.exc_info[0] for record in caplog.records if record.exc_info]
    assert traced.count(ValueError) >= 2


async def test_a_hook_that_hangs_harms_nobody(store: Store) -> None:
    """One that does not come back is given up; it is not called again before it has."""
    go_on, calls, heard = threading.Event(), list[TurnFinished](), list[TurnFinished]()
    slow = list[TurnFinished]()

    def hangs(news: TurnFinished) -> None:
        calls.append(news)
        go_on.wait(HANG_SECONDS)

    async def dawdles(news: TurnFinished) -> None:
        slow.append(news)
        await asyncio.sleep(60)

    hooks: Told = {"turn_finished": [hangs, dawdles, heard.append]}
    async with telling(store, hooks, within=SOON), Worker(store, ScriptedAgent(), pace=unhurried()):
        for n in range(3):
            await becomes(store, (await tell(store, f"{n}")).turn_id, TurnState.DONE)
        await until(lambda: _truth(len(heard) == 3), "the quick one heard of all")
        await until(lambda: _truth(len(slow) == 3), "a coroutine is cancelled, and called again")
        assert len(calls) == 1
        go_on.set()
        await until(lambda: _truth(len(calls) == 3), "it hears of the rest when it is back")


async def test_a_follower_that_was_away_for_long_goes_on(
    open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Of what the feed no longer keeps nobody can be told; the log says so, and it goes on."""
    clock = FakeClock()
    store, finished = await open_store(clock=clock), list[TurnFinished]()
    hooks: Told = {"turn_finished": [finished.append]}
    async with telling(store, hooks):
        pass
    for n in range(3):
        await tell(store, f"{n}")
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease)
        clock.advance(timedelta(days=9))
    await prune_whole_feed(store.database)

    async with telling(store, hooks):
        await until(lambda: _truth("away for too long" in caplog.text), "it is logged")
        arrival = await tell(store, "now")
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease)
        await until(lambda: _truth(len(finished) == 1), "it hears of the next one")

    assert finished[0].turn.id == arrival.turn_id


async def test_endings_are_told_to_each_hook_once(open_store: OpenStore) -> None:
    """A hook that fails is told again, and the one that did not fail is left alone."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    good, bad = list[str](), list[str]()

    async def fine(ending: Ending, transcript: Sequence[Message]) -> None:
        good.append(f"{ending.reason}: {[line.text for line in transcript]}")

    def broken(ending: Ending, _: Sequence[Message]) -> None:
        bad.append(ending.reason)
        if len(bad) < 3:
            raise RuntimeError("not yet")

    hooks = Hooks(store.database, {"session_ended": [fine, broken]})
    assert hooks.on_ended is not None
    arrival = await tell(store, "hello")
    assert arrival.session_id is not None
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease)
    await store.sessions.end(arrival.session_id)
    for _ in range(5):
        await store.sessions.tell_endings(hooks.on_ended)
        clock.advance(timedelta(minutes=1))

    assert len(good) == 1
    assert good[0].startswith("closed: ")
    assert good[0].endswith("'hello']")
    assert len(bad) == 3


async def test_a_hook_that_was_told_is_left_alone_whatever_else_ended(
    open_store: OpenStore,
) -> None:
    """Neither another ending in between nor a restart lets the same ending be told twice."""
    clock, told, dead = FakeClock(), list[Ending](), list[Ending]()
    store = await open_store(clock=clock)

    def hears(ending: Ending, _: Sequence[Message]) -> None:
        told.append(ending)

    def breaks(ending: Ending, _: Sequence[Message]) -> None:
        dead.append(ending)
        raise RuntimeError("no")

    for who in ("ann", "bob"):
        arrival = await tell(store, "hello", who=who)
        assert arrival.session_id is not None
        await store.sessions.end(arrival.session_id)
    for _ in range(5):
        # Each time as if the process had just begun.
        on_ended = Hooks(store.database, {"session_ended": [hears, breaks]}).on_ended
        assert on_ended is not None
        await store.sessions.tell_endings(on_ended)
        clock.advance(timedelta(minutes=1))

    assert len({ending.id for ending in told}) == len(told) == 2
    assert len(dead) == 2 * (1 + RETELLINGS)
    assert [await store.database.read(list_told, ending.id) for ending in told] == [frozenset()] * 2


async def test_an_ending_that_hangs_is_told_again_and_given_up(open_store: OpenStore) -> None:
    """A hook of endings that never comes back costs its own calls, and no other hook's."""
    clock = FakeClock()
    store, heard = await open_store(clock=clock), list[Ending]()

    async def hangs(_: Ending, __: Sequence[Message]) -> None:
        await asyncio.sleep(60)

    def hears(ending: Ending, _: Sequence[Message]) -> None:
        heard.append(ending)

    hooks = Hooks(store.database, {"session_ended": [hangs, hears]}, within=SOON)
    assert hooks.on_ended is not None
    arrival = await tell(store, "hello")
    assert arrival.session_id is not None
    await store.sessions.end(arrival.session_id)

    assert await store.sessions.tell_endings(hooks.on_ended) == 0
    await until(lambda: _truth(len(heard) == 1), "the other one is told")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_package.hooks:tell", "no_such_package"),
        ("json:no_such_function", "no_such_function"),
        ("no_such_entry_point", "no_such_entry_point"),
        ("json:", "json:"),
        ("sys:maxsize", "cannot be called"),
    ],
)
async def test_a_wrong_name_is_a_clear_error(store: Store, name: str, words: str) -> None:
    """The error names the hook, says what is wrong, and how a hook is named."""
    with pytest.raises(ConfigError, match="package.module:function") as caught:
        Hooks(store.database, {"turn_finished": [name]})
    assert words in str(caught.value)
    assert repr(name) in str(caught.value)


async def test_hooks_are_found_by_name(store: Store) -> None:
    """A dotted name, also into a class, is followed to what it names."""
    hooks = Hooks(store.database, {"turn_finished": ["json:dumps", "json:JSONDecoder.decode"]})

    assert [one.name for one in hooks._followers] == [
        "turn_finished json:dumps",
        "turn_finished json:JSONDecoder.decode",
    ]
    assert hooks.on_ended is None


async def test_packages_bring_their_hooks_along(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name without a colon is that of an entry point, which an installed package declares."""
    declared = tmp_path / "garden-1.0.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: garden\nVersion: 1.0\n")
    (declared / "entry_points.txt").write_text("[threadline.hooks]\nbell = garden:ring\n")
    (tmp_path / "garden.py").write_text("rung = []\nring = rung.append\n")
    monkeypatch.syspath_prepend(str(tmp_path))

    hooks = Hooks(store.database, {"turn_finished": ["bell"]})

    assert [one.name for one in hooks._followers] == ["turn_finished bell"]


async def test_there_is_no_such_news(store: Store) -> None:
    """A kind of news that does not exist is named, with those that do."""
    with pytest.raises(ConfigError, match="session_started, session_ended"):
        Hooks(store.database, {"turn_finnished": ["json:dumps"]})


def _alice() -> Sender:
    return Sender(id="alice", name="Alice")


async def _truth(value: bool) -> bool:
    return value
