"""Many tasks and several processes at one store, in the same session and in different ones."""

import asyncio
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

import pytest

from tests.crash import peer
from tests.crash.acknowledged import Ledger
from tests.crash.verify import broken_feed, broken_laws, broken_promises, looking
from tests.databases import DURABLE, FAST, POSTGRES, DatabaseFactory, OpenStore, in_time, on
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Conflict, StorageError
from threadline.core.event import Cursor, Event
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.route import MAIN_PROFILE
from threadline.core.session import SessionId
from threadline.core.turn import OwnerId
from threadline.database.port import Transaction
from threadline.database.sqlite.process_locks import ProcessLocks
from threadline.store import Store
from threadline.store.feed import read_feed
from threadline.store.sessions.bindings import switch
from threadline.testing.deadline import HANG_SECONDS


def outcome_of(child: "subprocess.Popen[bytes]") -> dict[str, object]:
    """Wait for a peer; answer its report."""
    said, complaint = child.communicate(timeout=HANG_SECONDS)
    assert child.returncode == 0, complaint.decode()
    return cast("dict[str, object]", json.loads(said.splitlines()[-1]))


async def open_shared(store: Store) -> SessionId:
    """Let the shared conversation begin."""
    arrival = await store.receive(hello(store, "first"))
    assert arrival.session_id is not None
    return arrival.session_id


def hello(store: Store, id: str) -> Inbound:
    """Make a message of the shared conversation."""
    sender = Sender(id="us")
    return Inbound.text(
        f"{id} v0", address=peer.SHARED, sender=sender, at=store.now(), message_id=id
    )


async def events_after(store: Store, cursor: Cursor) -> list[Event]:
    """Read the feed to its end."""
    events: list[Event] = []
    while (page := await store.database.read(read_feed, cursor)).events or page.is_behind:
        events += page.events
        cursor = page.cursor
    return events


@on(DURABLE, POSTGRES)
async def test_many_tasks_in_two_processes(
    database_factory: DatabaseFactory, open_store: OpenStore, capsys: pytest.CaptureFixture[str]
) -> None:
    """32 tasks in 2 processes, a follower in a third: nothing is lost, refused or out of order."""
    store = await open_store()
    await open_shared(store)
    start = Cursor("0.0")
    where = database_factory.where

    with ExitStack() as stack:
        follower = stack.enter_context(peer.start("follow", where, start))
        stack.callback(follower.kill)
        assert follower.stdout is not None
        assert follower.stdout.readline()
        workers = [peer.start("turns", where, name, "16", "8") for name in ("a", "b")]
        reports = [await asyncio.to_thread(outcome_of, worker) for worker in workers]
        events = await events_after(store, start)
        seen = await asyncio.to_thread(read_until, follower, events[-1].cursor)

    print_spans(capsys, database_factory.kind, reports)
    assert [report["errors"] for report in reports] == [[], []]
    ledger = Ledger(messages={str(id): 0 for report in reports for id in told(report)})
    assert len(ledger.messages) == 2 * 16 * 8
    with looking(where) as look:
        assert broken_laws(look) == []
        assert broken_promises(look, ledger) == []
    assert broken_feed(events, {}) == []
    assert seen == [event.cursor for event in events]


def told(report: dict[str, object]) -> list[str]:
    """Answer the ids that a peer was told are stored."""
    return cast("list[str]", report["told"])


def read_until(follower: "subprocess.Popen[bytes]", last: Cursor) -> list[str]:
    """Read what a follower sees, up to one place; it fails where the pipe ends before."""
    seen: list[str] = []
    assert follower.stdout is not None
    while not seen or seen[-1] != last:
        line = follower.stdout.readline()
        assert line, "the follower ended"
        seen.append(json.loads(line)["cursor"])
    return seen


def print_spans(
    capsys: pytest.CaptureFixture[str], kind: str, reports: list[dict[str, object]]
) -> None:
    """Show how fair the store was; times are no matter of right and wrong."""
    spans = "; ".join(f"{r['writes']} writes, p50 {r['p50']}, p99 {r['p99']} ms" for r in reports)
    with capsys.disabled():
        print(f"\n  {kind}: {spans}")


@on(DURABLE, POSTGRES)
async def test_two_processes_write_to_one_session(
    database_factory: DatabaseFactory, open_store: OpenStore, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two processes write 300 times each to the same session, in two ways: none lost or refused."""
    store = await open_store()
    session_id = await open_shared(store)
    where = database_factory.where

    writers = [peer.start("same", where, name, session_id, "300") for name in ("a", "b")]
    reports = [await asyncio.to_thread(outcome_of, writer) for writer in writers]

    print_spans(capsys, database_factory.kind, reports)
    assert [report["errors"] for report in reports] == [[], []]
    ledger = Ledger(messages={id: 0 for report in reports for id in told(report)})
    assert len(ledger.messages) == 300
    with looking(where) as look:
        assert broken_laws(look) == []
        assert broken_promises(look, ledger) == []
        rows = look("SELECT text FROM messages WHERE text LIKE 'noted %' AND seq IS NOT NULL")
    assert sorted(str(text) for (text,) in rows) == sorted(
        f"noted {name}.{n}" for name in "ab" for n in range(0, 300, 2)
    )


@on(FAST, POSTGRES)
async def test_many_tasks_claim_and_none_gets_the_same_turn(open_store: OpenStore) -> None:
    """32 tasks of two owners claim at once: of one session only one turn is given, and once."""
    stores = [await open_store(rules=peer.RULES) for _ in range(2)]
    for n in range(4):
        await stores[0].receive(hello(stores[0], f"{n}"))

    claims = await asyncio.gather(*(stores[n % 2].turns.claim() for n in range(32)))

    assert len([claimed for claimed in claims if claimed is not None]) == 1


@on(POSTGRES)
async def test_a_session_that_is_held_for_nothing_is_not_passed_over(
    open_store: OpenStore,
) -> None:
    """Whoever claims while somebody holds the only session waits: if nothing comes of that, nobody
    would tell that its turn still waits. A second press on retry left the first one lying.
    """
    one, other = await open_store(rules=peer.RULES), await open_store(rules=peer.RULES)
    id = await open_shared(one)
    has_it, may_go = threading.Event(), threading.Event()

    def hold_in_vain(tx: Transaction) -> None:
        tx.one("lock_session", id=id)
        has_it.set()
        assert may_go.wait(HANG_SECONDS)
        raise Conflict("nothing comes of it")

    holding = asyncio.create_task(one.database.write(hold_in_vain))
    assert await asyncio.to_thread(has_it.wait, HANG_SECONDS)
    claiming = asyncio.create_task(other.turns.claim())
    await asyncio.sleep(0.1)
    is_waiting = not claiming.done()
    may_go.set()

    with pytest.raises(Conflict):
        await holding
    claimed = await claiming
    assert is_waiting
    assert claimed is not None
    assert claimed.lease.session_id == id
    assert claimed.asker, "it counts among the turns of its person, however it was claimed"


@contextmanager
def held(where: str) -> Iterator[Callable[[], object]]:
    """Hold the store as a foreign program may do; yield what makes it let go."""
    with peer.start("hold", where) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline()
        yield holder.stdin.close
        holder.stdin.close()


def test_owners_come_and_go(tmp_path: Path) -> None:
    """Whoever opens a store while the last other one closes it finds its folder, and is alive.

    The last one takes the folder away; and two who asked for the same dead owner at the same
    moment took each other's question for a sign of life.
    """
    dead = OwnerId("1-dead")

    def come_and_go(_: int) -> list[bool]:
        seen = []
        for _ in range(200):
            owners = ProcessLocks(tmp_path / "s.db")
            seen.append(owners.dead(frozenset({dead, owners.me})) == {dead})
            owners.close()
        return seen

    with ThreadPoolExecutor(4) as threads:
        assert all(all(seen) for seen in threads.map(come_and_go, range(4)))


@on(DURABLE, POSTGRES)
async def test_a_write_waits_while_another_program_holds_the_store(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """While a foreign program holds the lock a write waits, reads go on, and then it is stored."""
    store = await open_store()
    session_id = await open_shared(store)

    with held(database_factory.where) as release:
        writing = asyncio.create_task(
            store.transcripts.record(session_id, [say(Role.SYSTEM, "waited")])
        )
        assert (await store.sessions.get(session_id)).last_seq == 0
        await asyncio.wait({writing}, timeout=0.5)
        assert not writing.done()
        release()
        assert await writing == 1

    assert [message.text for message in await store.transcripts.read(session_id)] == ["waited"]


@on(DURABLE)
async def test_a_write_waits_for_twenty_seconds(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """Twenty seconds are not too long: the default deadline of a write is thirty."""
    store = await open_store()
    session_id = await open_shared(store)

    with held(database_factory.where) as release:
        writing = asyncio.create_task(
            store.transcripts.record(session_id, [say(Role.SYSTEM, "waited")])
        )
        await asyncio.wait({writing}, timeout=20)
        assert not writing.done()
        release()
        assert await writing == 1


@on(DURABLE, POSTGRES)
async def test_past_its_deadline_a_write_is_refused(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """After its deadline a write raises our error and has stored nothing, then or later."""
    store = await open_store()
    session_id = await open_shared(store)
    hasty = Store(await database_factory(deadline_seconds=0.3))

    with held(database_factory.where), pytest.raises(StorageError) as caught:
        await in_time(lambda: hasty.transcripts.record(session_id, [say(Role.SYSTEM, "too late")]))

    assert "nothing was stored" in str(caught.value)
    assert await store.transcripts.read(session_id) == []
    assert (
        await in_time(lambda: hasty.transcripts.record(session_id, [say(Role.SYSTEM, "in time")]))
        == 1
    )
    assert (await store.sessions.get(session_id)).revision == [
        event.revision for event in await events_after(store, Cursor("0.0"))
    ][-1]


@on(POSTGRES)
async def test_two_routes_that_swap_their_sessions_do_not_wait_for_each_other(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Each takes both sessions in the same order, so that no deadlock has to be resolved."""
    sender = Sender(id="1")
    here = Address(platform="telegram", kind=Kind.DM, chat="1")
    there = Address(platform="telegram", kind=Kind.DM, chat="1", thread="7")
    ids: list[SessionId] = []
    for n, address in enumerate((here, there)):
        arrival = await store.receive(
            Inbound.text("hi", address=address, sender=sender, at=store.now(), message_id=f"m{n}")
        )
        assert arrival.session_id is not None
        assert arrival.turn_id is not None
        await store.turns.stop(arrival.turn_id)
        ids.append(arrival.session_id)
    for n in range(60):
        one, other = ids if n % 2 else ids[::-1]
        await asyncio.gather(
            store.sessions.switch(here, sender, one),
            store.database.write(switch, there, sender, profile=MAIN_PROFILE, to=other),
        )
    await asyncio.sleep(1.1)  # the server tells of deadlocks once a second
    ((deadlocks,),) = database_factory.tamper(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    )

    assert deadlocks == 0
