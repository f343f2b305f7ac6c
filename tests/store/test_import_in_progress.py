"""A session that an import is just storing: nobody counts it, judges it or lets it go."""

from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory
from tests.store import transfer_setup
from threadline.core.address import Kind
from threadline.core.errors import NotFound
from threadline.core.export_format.file_records import PortableAddress
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableTurn,
    PortableUsage,
)
from threadline.core.message import Role, Text
from threadline.core.retention import Retention
from threadline.core.turn import TurnState
from threadline.core.usage import CostStatus, UsageBy
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store import Store
from threadline.store.deletion.prune import plan_pruning, prune
from threadline.store.deletion.retention import RetentionCandidate, condemn
from threadline.store.integrity import check_laws
from threadline.store.search.check import check_index
from threadline.store.stats import diagnose, find_session
from threadline.store.transfer import staging_area
from threadline.testing.clock import FakeClock

STAGED = "importing-x"


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture(name="clock")
def a_clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(name="store")
async def a_store(database_factory: DatabaseFactory, clock: FakeClock) -> Store:
    """Open a store into which some of a session's turns, lines and numbers have come."""
    store = Store(await database_factory(clock=clock))
    await transfer_setup.tell(store, "one")
    await transfer_setup.answer(store)
    await store.database.write(_stage, clock)
    return store


def _stage(tx: Transaction, clock: FakeClock) -> None:
    now = clock()
    place = PortableAddress(platform="telegram", kind=Kind.DM, chat="bob")
    key = staging_area.stage(tx, STAGED, place)
    turn = PortableTurn(n=1, state=TurnState.DONE, queued_at=now, ended_at=now, first_seq=2)
    ids = staging_area.stage_turns(tx, key, [turn], place)
    line = PortableMessage(seq=2, turn=1, role=Role.USER, parts=(Text(text="half"),), at=now)
    staging_area.stage_messages(tx, key, [line], ids, {})
    spent = PortableUsage(
        turn=1,
        at=now,
        task="chat",
        provider="p",
        model="m",
        input_tokens=1,
        output_tokens=1,
        cache_read_tokens=0,
        cache_write_tokens=0,
        reasoning_tokens=0,
        prompt_tokens=1,
        cost_status=CostStatus.UNKNOWN,
    )
    staging_area.stage_usage(tx, key, [spent], ids, {})


async def test_a_check_finds_nothing_wrong(store: Store) -> None:
    """Lines that are still to come are no gap, and no turn stands where no line is."""
    assert await store.database.read(check_laws) == []
    assert await store.database.read(check_index) == []


async def test_it_is_not_counted_or_found(store: Store) -> None:
    """The doctor, a search by id and what was spent know only the whole session."""
    assert (await store.database.read(diagnose)).sessions == 1
    with pytest.raises(NotFound):
        await store.database.read(find_session, "importing")
    assert [one.subject for one in await store.usage.sum(UsageBy.MODEL)] == ["acme/large"]


@pytest.mark.parametrize("rules", [Retention(keep=timedelta(days=1)), Retention(most_bytes=1)])
async def test_retention_leaves_it_alone(store: Store, clock: FakeClock, rules: Retention) -> None:
    """However old it seems, and however much there is, only what is whole can go."""
    at = clock()
    clock.advance(timedelta(days=400))
    key = await store.database.read(staging_area.find_staged, STAGED)
    assert key is not None

    plan = await plan_pruning(store.database, rules)
    await prune(store.database, rules)

    assert len(plan.sessions) == 1
    assert (await store.sessions.list()).rows == []
    assert await store.database.read(staging_area.find_staged, STAGED) == key
    found = RetentionCandidate(key=key, id=plan.sessions[0], last_activity_at=stamp(at))
    assert await store.database.write(condemn, [found], None) is None
