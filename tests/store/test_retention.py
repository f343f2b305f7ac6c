"""Retention: what goes by age and size, what never does, and routes that are let go."""

from datetime import timedelta

import pytest

from tests.databases import OpenStore
from tests.store.delivery_setup import run_steadily
from tests.store.query_log import Listener
from threadline.core.address import Address, Kind, Sender
from threadline.core.deletion import DeletionKind, DeletionState, Seal
from threadline.core.errors import Invalid
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind, Role, say
from threadline.core.retention import Retention
from threadline.core.session import Cause, Origin, SessionId
from threadline.core.settings import Settings
from threadline.database.port import Transaction
from threadline.gateway.maintenance import Maintenance
from threadline.store import Store, blobs
from threadline.store.deletion import retention, tasks
from threadline.store.deletion.preview import begin_sessions, find_forgotten
from threadline.store.deletion.prune import (
    list_prunable,
    plan_pruning,
    prune,
    sweep_pieces,
    unbind_idle,
)
from threadline.testing.clock import FakeClock

DAY = timedelta(days=1)
YEAR = timedelta(days=365)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


async def talk(
    store: Store, who: str, *, platform: str = "telegram", kind: Kind = Kind.DM, text: str = "hello"
) -> SessionId:
    """Say something and be answered."""
    where = Address(platform=platform, kind=kind, chat=who)
    inbound = Inbound.text(text, address=where, sender=Sender(id=who), at=store.now())
    arrival = await store.receive(inbound)
    claim = await store.turns.claim(arrival.session_id)
    assert claim is not None
    assert arrival.session_id is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hi")], deliver=False)
    return arrival.session_id


async def ids(store: Store) -> set[SessionId]:
    """List all sessions."""
    return {row.session.id for row in (await store.sessions.list()).rows}


async def test_nothing_goes_unless_somebody_says_so(open_store: OpenStore) -> None:
    """Without rules even the oldest sessions stay."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    id = await talk(store, "alice")
    clock.advance(100 * YEAR)

    assert await prune(store.database) is None
    assert await unbind_idle(store.database) == 0
    assert await ids(store) == {id}


async def test_old_sessions_go_and_young_ones_stay(open_store: OpenStore) -> None:
    """Age is counted from the last activity; a dry run tells the same as the real one."""
    clock = FakeClock()
    store = await open_store(rules=Settings(retention=Retention(keep=30 * DAY)), clock=clock)
    old = {await talk(store, f"old {n}") for n in range(45)}
    clock.advance(30 * DAY)
    young = await talk(store, "young")
    clock.advance(2 * DAY)

    plan = await plan_pruning(store.database)
    assert await ids(store) > {young}
    certificate = await prune(store.database)

    assert set(plan.sessions) == old
    assert plan.kind is DeletionKind.RETENTION
    assert certificate is not None
    assert certificate.state is DeletionState.DONE
    assert certificate.counts["sessions"] == 45
    assert await ids(store) == {young}
    assert await prune(store.database) is None
    assert await store.check(deep=True) == []


async def test_the_most_special_rule_wins(open_store: OpenStore) -> None:
    """Origin, then platform, then kind, then the default."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    dm = await talk(store, "dm")
    group = await talk(store, "group", kind=Kind.GROUP)
    slack = await talk(store, "slack", platform="slack", kind=Kind.GROUP)
    clock.advance(50 * DAY)
    rules = Retention(
        keep=40 * DAY, by_kind={Kind.GROUP: 60 * DAY}, by_platform={"slack": 45 * DAY}
    )

    plan = await plan_pruning(store.database, rules)

    assert set(plan.sessions) == {dm, slack}
    assert group not in plan.sessions
    imports = Retention(by_origin={Origin.IMPORT: DAY})
    assert not (await plan_pruning(store.database, imports)).sessions


async def test_what_is_protected_stays(open_store: OpenStore) -> None:
    """Pinned, held, busy and suspended sessions stay, and what a branch shares with them."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    pinned = await talk(store, "pinned")
    held = await talk(store, "held")
    busy = await talk(store, "busy")
    base = await talk(store, "base")
    doomed = await talk(store, "doomed")
    await store.pin([pinned])
    clock.advance(YEAR)
    await store.sessions.hold(held, "somebody", store.now() + DAY)
    where = Address(platform="telegram", kind=Kind.DM, chat="busy")
    await store.receive(Inbound.text("?", address=where, sender=Sender(id="busy"), at=store.now()))
    assert await store.turns.claim() is not None
    branch = (await store.transcripts.branch(base)).id
    clock.advance(30 * DAY)
    await store.sessions.hold(held, "somebody", store.now() + DAY)

    certificate = await prune(store.database, Retention(keep=7 * DAY))

    assert certificate is not None
    left = await ids(store)
    assert {pinned, held, busy, base} <= left
    assert not {doomed, branch} & left


async def test_the_longest_silent_go_first_when_there_is_too_much(open_store: OpenStore) -> None:
    """Sessions go, oldest first, until the rest fits."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    made = []
    for n in range(10):
        made.append(await talk(store, f"person {n}", text="x" * 10_000))
        clock.advance(DAY)

    await prune(store.database, Retention(most_bytes=45000))

    assert await ids(store) == set(made[-4:])
    assert await prune(store.database, Retention(most_bytes=45000)) is None


async def test_who_speaks_meanwhile_keeps_the_session(open_store: OpenStore) -> None:
    """What was found too old, and is spoken in before its turn comes, is spared."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    id = await talk(store, "alice")
    clock.advance(YEAR)
    rules = Retention(keep=DAY)
    found = await list_prunable(store.database, rules)
    await talk(store, "alice", text="still here")

    assert await store.database.write(retention.condemn, found, None) is None
    assert await ids(store) == {id}


async def test_silent_routes_are_let_go_and_transcripts_stay(open_store: OpenStore) -> None:
    """After a long silence the next message begins a first session; the old one can be read."""
    clock = FakeClock()
    rules = Settings(retention=Retention(unbind_after=30 * DAY))
    store = await open_store(rules=rules, clock=clock)
    old = await talk(store, "alice")
    held = await talk(store, "held")
    clock.advance(31 * DAY)
    await store.sessions.hold(held, "somebody", store.now() + DAY)
    fresh = await talk(store, "bob")
    cursor = await store.feed.end()

    assert await unbind_idle(store.database) == 1

    assert await store.sessions.routes(old) == []
    assert len(await store.sessions.routes(held)) == 1
    assert len(await store.sessions.routes(fresh)) == 1
    events = (await store.feed.read(cursor)).events
    assert [(e.session_id, e.kind) for e in events] == [(old, EventKind.SESSION_CHANGED)]
    new = await store.sessions.get(await talk(store, "alice"))
    assert (new.cause, new.parent_id) == (Cause.FIRST, None)
    assert [line.text for line in await store.transcripts.read(old) if line.role is Role.USER] == [
        "hello"
    ]


@pytest.mark.parametrize("taking", ["lock_routes", "unbind_if_idle"])
async def test_routes_are_taken_before_any_session(open_store: OpenStore, taking: str) -> None:
    """Whoever arrives takes a route and then its session; nobody waits the other way round."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    for n in range(3):
        await talk(store, f"person {n}")
    clock.advance(YEAR)
    found = await list_prunable(store.database, Retention(keep=DAY))

    def listen(tx: Transaction) -> list[str]:
        listener = Listener(tx)
        if taking == "lock_routes":
            retention.condemn(listener, found, None)
        else:
            retention.unbind_idle(listener, before=clock())
        return [query for query, _key in listener.only(taking, "lock_session_by_key")]

    heard = await store.database.write(listen)

    assert heard == [taking] * 3 + ["lock_session_by_key"] * 3


async def test_all_pages_are_looked_through(
    open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The longest silent go first whatever their keys; sizes are added up only if they matter."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    for n in range(10):
        await talk(store, f"person {n}", text="x" * 10_000)
    made = []
    for n in reversed(range(10)):
        clock.advance(DAY)
        made.append(await talk(store, f"person {n}"))
    monkeypatch.setattr(retention, "_PAGE", 3)
    monkeypatch.setattr(retention, "BATCH", 2)

    by_size = await plan_pruning(store.database, Retention(most_bytes=45000))
    both = await plan_pruning(store.database, Retention(keep=8 * DAY, most_bytes=45000))
    monkeypatch.delattr(retention, "session_sizes")
    by_age = await plan_pruning(store.database, Retention(keep=4 * DAY))

    assert list(by_size.sessions) == list(both.sessions) == made[:6]
    assert list(by_age.sessions) == made[:5]


async def test_pieces_of_attachments_that_never_came_are_swept(store: Store) -> None:
    """Pieces are suspects at the first look and go at the second; whole attachments stay."""
    whole = await store.attachments.put(b"whole" * 99_999, "image/png", MediaKind.IMAGE)
    data = b"half" * 999_999
    name = blobs.hash_of(data)
    for n, piece in enumerate(blobs.pieces_of(data)[:10]):
        await store.database.write(blobs.put_piece, name, n, piece)

    suspects = await sweep_pieces(store.database)
    assert suspects == {name}
    assert await store.database.read(blobs.read_piece, name, 0) is not None
    assert await sweep_pieces(store.database, suspects) == frozenset()

    assert await store.database.read(blobs.read_piece, name, 0) is None
    assert (
        b"".join([piece async for piece in store.attachments.read(whole.blob)]) == b"whole" * 99_999
    )
    late = await store.attachments.put(data, "image/png", MediaKind.IMAGE)
    assert b"".join([piece async for piece in store.attachments.read(late.blob)]) == data


@pytest.mark.parametrize(
    "rules",
    [
        {"keep": timedelta(hours=1)},
        {"keep": timedelta(days=-1)},
        {"by_kind": {Kind.DM: timedelta(0)}},
        {"by_platform": {"slack": 30}},
        {"most_bytes": 0},
        {"unbind_after": timedelta(minutes=5)},
    ],
)
def test_rules_that_would_hurt_are_refused(rules: dict[str, object]) -> None:
    """Nobody prunes what was said today, by mistake or with a wrong number."""
    with pytest.raises(Invalid):
        Retention(**rules)  # type: ignore[arg-type]


async def test_a_keeper_prunes_unbinds_and_finishes(open_store: OpenStore) -> None:
    """What is configured happens in the background, and so does what was interrupted."""
    clock = FakeClock()
    rules = Settings(retention=Retention(keep=60 * DAY, unbind_after=30 * DAY))
    store = await open_store(rules=rules, clock=clock)
    oldest = await talk(store, "alice")
    clock.advance(31 * DAY)
    old = await talk(store, "bob")
    begun = await store.database.write(begin_sessions, [old])
    clock.advance(30 * DAY)
    await Maintenance(store.database).sweep()
    assert oldest in await ids(store), "a clock that may have jumped deletes nothing"
    await run_steadily(store, clock, 2 * DAY)

    await Maintenance(store.database).sweep()

    assert await ids(store) == set()
    assert await store.database.read(
        find_forgotten, [oldest, old], seal=Seal(key=await store.database.secret())
    ) == {oldest, old}
    assert (await store.database.read(tasks.certificate, begun)).state is DeletionState.DONE
