import asyncio
import re
from datetime import timedelta

from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.delivery import DeliveryState
from threadline.core.gateway_status import PlatformState
from threadline.core.platform import ReceiveStatus
from threadline.core.turn import TurnState
from threadline.gateway.metrics import Metrics
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.turn_queue.queue import claim
from threadline.testing.scripted_agent import Fails, Hangs, Says, ScriptedAgent


def read(meters: Metrics, name: str) -> float:
    """Read one figure as Prometheus would."""
    found = re.search(
        rf"^threadline_{re.escape(name)} (\S+)$", meters.text().decode(), re.MULTILINE
    )
    return float(found[1]) if found else -1.0


def test_what_happens_is_counted() -> None:
    """Arrivals, deliveries and platforms are counted by name and outcome."""
    meters = Metrics(["telegram"])

    meters.arrived("telegram", ReceiveStatus.TAKEN)
    meters.arrived("telegram", ReceiveStatus.TAKEN)
    meters.arrived("telegram", ReceiveStatus.REFUSED)
    meters.delivered("telegram", DeliveryState.SENT, timedelta(seconds=3))
    meters.delivered("telegram", DeliveryState.FAILED)
    meters.platform_is("telegram", PlatformState.UP)

    assert read(meters, 'arrivals_total{platform="telegram",reception="taken"}') == 2
    assert read(meters, 'arrivals_total{platform="telegram",reception="refused"}') == 1
    assert read(meters, 'deliveries_total{platform="telegram",state="failed"}') == 1
    assert read(meters, "delivery_seconds_count") == 1
    assert read(meters, "delivery_seconds_sum") == 3
    assert read(meters, 'platform_up{platform="telegram"}') == 1
    meters.platform_is("telegram", PlatformState.DOWN)
    assert read(meters, 'platform_up{platform="telegram"}') == 0


def test_unknown_platforms_share_one_label() -> None:
    """However many names a stranger makes up, the figures do not grow."""
    meters = Metrics(["telegram"])

    for n in range(100):
        meters.arrived(f"made up {n}", ReceiveStatus.REFUSED)

    assert read(meters, 'arrivals_total{platform="other",reception="refused"}') == 100
    assert b"made up" not in meters.text()


def test_two_meters_share_nothing() -> None:
    """Each has a registry of its own, so that two gateways fit into one process."""
    one, other = Metrics(["telegram"]), Metrics(["telegram"])

    one.arrived("telegram", ReceiveStatus.TAKEN)

    assert read(other, 'arrivals_total{platform="telegram",reception="taken"}') == -1


async def test_turns_are_counted_by_their_end(store: Store) -> None:
    """Each turn that ran is counted once, by the state it came to."""
    agent, meters = ScriptedAgent(), Metrics()
    agent.will(Says("yes"))
    agent.will(Fails())
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried(), meters=meters):
        await becomes(store, (await tell(store, "one", who="a")).turn_id, TurnState.DONE)
        await becomes(store, (await tell(store, "two", who="b")).turn_id, TurnState.FAILED)
        third = await tell(store, "three", who="c")
        assert third.turn_id is not None
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        await store.turns.stop(third.turn_id)
        await until(lambda: _truth(bool(agent.cancelled)), "it is let go")

        def is_counted() -> bool:
            return read(meters, "turn_seconds_count") == 3

        await until(lambda: _truth(is_counted()), "all are counted")
    for state in ("done", "failed", "stopped"):
        assert read(meters, f'turns_total{{state="{state}"}}') == 1
    assert read(meters, "lease_losses_total") == 0
    assert read(meters, "commit_seconds_count") == 3


async def test_a_turn_that_was_taken_away_is_counted(store: Store) -> None:
    """A lease that is lost while an agent works shows in the figures."""
    agent, meters = ScriptedAgent(), Metrics()
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried(), meters=meters) as worker:
        await tell(store, "hello")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        await store.turns.interrupt_own()
        await until(lambda: _truth(not worker.running), "it is let go")
        await until(lambda: _truth(read(meters, "lease_losses_total") == 1), "it is counted")


async def test_what_there_is_to_do_is_shown(store: Store) -> None:
    """The depth of the queue, what runs, what is owed and the size are read from the store."""
    meters = Metrics()
    for who in ("alice", "bob", "carol", "dave"):
        await tell(store, "hello", who=who)
    first, second = await store.turns.claim(), await claim(store.database)
    assert first is not None
    assert second is not None
    await store.turns.finish(first.lease)

    await meters.look(store.database)

    assert read(meters, "queued_turns") == 2
    assert read(meters, "running_turns") == 1
    assert read(meters, "owed_deliveries") == 1
    assert read(meters, "storage_bytes") > 10_000


async def test_the_lag_of_the_loop_is_measured(store: Store) -> None:
    """While the meters run, the lag is measured by itself, and the store is looked at."""
    meters = Metrics()

    running = asyncio.create_task(meters.run(store.database))
    await until(lambda: _truth(read(meters, "loop_lag_seconds_count") > 0), "the lag is measured")
    await until(lambda: _truth(read(meters, "storage_bytes") > 0), "the store is looked at")
    running.cancel()
    await asyncio.wait({running})

    assert running.cancelled()


async def _truth(value: bool) -> bool:
    return value


def test_what_is_not_signed_is_counted() -> None:
    """As an arrival of a kind of its own, by the platform that turned it away."""
    meters = Metrics(["hook"])
    meters.unsigned("hook")

    line = b'threadline_arrivals_total{platform="hook",reception="unsigned"} 1.0'
    assert line in meters.text()
