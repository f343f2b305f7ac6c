"""What only PostgreSQL can get wrong: lost connections, deadlocks, restarts, secrets."""

import asyncio
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from msgspec.structs import replace

from tests.database.breakable_proxy import Loss, breakable
from tests.databases import DatabaseFactory, PostgresFactory, Server, in_time, on
from threadline.assembly import open_database
from threadline.core.address import Address, Kind
from threadline.core.errors import ConfigError, Conflict, StorageError
from threadline.core.inbound import Inbound
from threadline.core.turn import OwnerId
from threadline.database.port import CommitUnknown, Transaction, expect, write_keyed
from threadline.database.postgres import PostgresDatabase
from threadline.database.postgres.connection import ConnectionTarget, ServerInfo, require_safe
from threadline.database.postgres.errors import Commit, history_of, is_committed
from threadline.database.postgres.process_locks import key_of, new_owner
from threadline.database.postgres.transaction import raw
from threadline.store import Store
from threadline.store.inbound.receive import receive
from threadline.testing.database_verbs import error_of, knows, note
from threadline.testing.deadline import HANG_SECONDS

pytestmark = on("postgres")

SECRET = "open-sesame"
HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
NOW = 1_900_000_000_000_000
DYING_COMMIT = """
CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER dying AFTER INSERT ON arrivals DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION die();
"""


def add_sender(tx: Transaction, id: str) -> int:
    row = expect(tx, "add_sender", platform="test", id=id, name="", vouched_by=None, now=NOW)
    return row.number("key")


def rename(tx: Transaction, keys: tuple[int, int], meet: Callable[[], None]) -> None:
    for key in keys:
        tx.run("rename_sender", key=key, name=str(keys), vouched_by=None)
        meet()


async def test_a_lost_connection_is_replaced(database_factory: PostgresFactory) -> None:
    """A verb whose connection is cut before its commit runs again, and its caller sees nothing."""
    database = await database_factory()
    runs = []

    def cut_once(tx: Transaction) -> None:
        runs.append(raw(tx).info.backend_pid)
        note(tx, "a")
        if len(runs) == 1:
            database_factory.tamper(f"SELECT pg_terminate_backend({runs[0]})")
        note(tx, "b")

    await database.write(cut_once)

    assert len(set(runs)) == 2
    assert await database.read(knows, "a")
    assert await database.read(knows, "b")


async def test_a_read_survives_a_lost_connection(database_factory: PostgresFactory) -> None:
    """A query whose connection is cut is asked again."""
    database = await database_factory()
    runs = []

    def cut_once(tx: Transaction) -> bool:
        runs.append(raw(tx).info.backend_pid)
        if len(runs) == 1:
            database_factory.tamper(f"SELECT pg_terminate_backend({runs[0]})")
        return knows(tx, "a")

    assert await database.read(cut_once) is False
    assert len(runs) == 2


@pytest.mark.parametrize("losses", [[Loss.REQUEST], [Loss.BOTH], [Loss.RESPONSE], [*Loss]])
async def test_a_commit_without_an_answer_is_looked_up(
    database_factory: PostgresFactory, losses: list[Loss]
) -> None:
    """When the connection breaks during COMMIT the verb has happened once, and its caller hears so.

    Even if the server still holds the transaction open, as it did not notice that its client is
    gone.
    """
    async with breakable(database_factory.server.folder) as (proxy, port):
        url = f"postgresql://postgres@127.0.0.1:{port}/{database_factory.name}"
        database = PostgresDatabase(url)
        await database.open()
        await database.write(note, "before")
        proxy.losses = list(losses)

        key = await database.write(add_sender, "1")

        assert not proxy.losses
        assert database_factory.tamper("SELECT key, id FROM senders") == [(key, "1")]
        await database.close()


async def test_a_message_whose_commit_was_lost_is_acknowledged(
    database_factory: PostgresFactory,
) -> None:
    """The arrival is told as new, with its turn, and a second delivery finds it."""
    async with breakable(database_factory.server.folder) as (proxy, port):
        url = f"postgresql://postgres@127.0.0.1:{port}/{database_factory.name}"
        database = PostgresDatabase(url)
        await database.open()
        store = Store(database)
        proxy.losses = [Loss.RESPONSE]
        said = Inbound.text("hello", address=HERE, at=store.now(), message_id="1")

        first, second = (
            await store.receive(said),
            await write_keyed(store.database, said.message_id, receive, said),
        )

        assert (first.is_repeated, second.is_repeated) == (False, True)
        assert first.turn_id == second.turn_id is not None
        await store.close()


async def test_a_commit_that_cannot_be_looked_up_is_run_again(
    database_factory: PostgresFactory,
) -> None:
    """A message with an id finds its own outcome, even if the server does not know the commit."""
    async with breakable(database_factory.server.folder) as (proxy, port):
        url = f"postgresql://postgres@127.0.0.1:{port}/{database_factory.name}"
        database = PostgresDatabase(url)
        await database.open()
        store = Store(database)
        await store.receive(Inbound.text("hello", address=HERE, at=store.now(), message_id="1"))
        database_factory.tamper("SELECT pg_stat_reset_shared('bgwriter')")
        proxy.losses = [Loss.RESPONSE]
        said = Inbound.text("again", address=HERE, at=store.now(), message_id="2")
        unnamed = replace(said, message_id=None)

        arrival = await store.receive(said)
        database_factory.tamper("SELECT pg_stat_reset_shared('bgwriter')")
        proxy.losses = [Loss.RESPONSE]
        error = await error_of(store.receive(unnamed))

        assert arrival.is_repeated
        assert arrival.turn_id is not None
        assert isinstance(error, CommitUnknown)
        await store.close()


async def test_a_commit_that_never_succeeds_is_an_error(database_factory: PostgresFactory) -> None:
    """A verb whose every commit kills its connection fails in the end, and stores nothing."""
    database = await database_factory(deadline_seconds=0.5)
    database_factory.tamper(DYING_COMMIT)

    error = await error_of(in_time(lambda: database.write(note, "a")))

    assert isinstance(error, StorageError)
    assert "unknown" not in str(error)
    assert not await in_time(lambda: database.read(knows, "a"))
    database_factory.tamper("DROP TRIGGER dying ON arrivals")
    await in_time(lambda: database.write(note, "b"))


async def test_the_fate_of_a_commit_on_another_server_is_unknown(
    database_factory: PostgresFactory,
) -> None:
    """After a failover the ids of transactions mean others, and nothing is guessed from them."""
    target = ConnectionTarget(database_factory.where)
    with target.connect() as connection:
        history = history_of(connection)
        row = connection.execute("SELECT CAST(pg_current_xact_id() AS TEXT)").fetchone()
        assert row is not None
    known = Commit(id=int(row[0]), history=history)
    future = replace(known, id=known.id + 1_000_000)
    elsewhere = replace(known, history="000000FF")
    deadline = time.monotonic() + 30

    found = [is_committed(one, target, deadline=deadline) for one in (known, future, elsewhere)]

    assert found == [True, None, None]


async def test_a_restart_of_the_server_heals(database_factory: PostgresFactory) -> None:
    """When the server crashed and came back all goes on, and nothing acknowledged is gone."""
    database, friend = await database_factory(), await database_factory()
    acknowledged: list[str] = []
    over = False

    async def write(writer: int) -> None:
        n = 0
        while not over:
            error = await error_of(database.write(note, f"{writer}.{n}"))
            if error is None:
                acknowledged.append(f"{writer}.{n}")
            else:
                assert "unknown" in str(error)
            n += 1

    writers = [asyncio.create_task(write(n)) for n in range(4)]
    async with asyncio.timeout(HANG_SECONDS):
        while not acknowledged:
            await asyncio.sleep(0.05)
        await asyncio.to_thread(database_factory.server.restart)
        before = len(acknowledged)
        while len(acknowledged) == before:
            await asyncio.sleep(0.05)
    over = True
    await asyncio.gather(*writers)

    assert all([await friend.read(knows, name) for name in acknowledged])
    with friend.watch() as watch:
        while await watch.wait(timedelta(milliseconds=300)):
            pass
        await database.write(note, "after")
        assert await watch.wait(timedelta(seconds=HANG_SECONDS))
    assert await friend.dead(frozenset({database.owner})) == frozenset()


async def test_a_server_that_stays_away_is_an_error(database_factory: PostgresFactory) -> None:
    """A write waits for the server until its deadline, and then says that it is not there."""
    database = await database_factory(deadline_seconds=0.5)
    name = database_factory.name
    await in_time(lambda: database.write(note, "a"))
    database_factory.server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    database_factory.server.execute(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    )

    error = await error_of(in_time(lambda: database.write(note, "b")))

    assert isinstance(error, StorageError)
    assert "cannot be reached" in str(error)
    database_factory.server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    await in_time(lambda: database.write(note, "b"))


async def test_a_deadlock_is_tried_again(database_factory: DatabaseFactory) -> None:
    """Two verbs that lock the same rows in opposite order both succeed in the end."""
    database = await database_factory()
    one, two = [await database.write(add_sender, id) for id in ("1", "2")]
    barrier = threading.Barrier(2)
    runs = []

    def meet() -> None:
        runs.append(1)
        if not barrier.broken and len(runs) <= 2:
            barrier.wait(HANG_SECONDS)

    await asyncio.gather(
        database.write(rename, (one, two), meet), database.write(rename, (two, one), meet)
    )

    assert len(runs) > 4, "there was no deadlock"


async def test_a_race_for_a_unique_row_is_tried_again(database_factory: DatabaseFactory) -> None:
    """Who comes second to a row that may exist once looks again, and finds it."""
    database = await database_factory()
    barrier = threading.Barrier(2)
    runs = []

    def remember(tx: Transaction) -> int:
        found = tx.one("find_sender", platform="test", id="1")
        runs.append(found)
        if len(runs) <= 2:
            barrier.wait(HANG_SECONDS)
        return add_sender(tx, "1") if found is None else found.number("key")

    keys = await asyncio.gather(database.write(remember), database.write(remember))

    assert keys[0] == keys[1]
    assert len(runs) == 3


async def test_what_is_always_refused_is_a_conflict(database_factory: DatabaseFactory) -> None:
    """A constraint that refuses a verb every time is tried five times, and then raised."""
    database = await database_factory()
    await database.write(note, "a")
    runs = []

    def again(tx: Transaction) -> None:
        runs.append(1)
        note(tx, "a")

    assert isinstance(await error_of(database.write(again)), Conflict)
    assert len(runs) == 5


async def test_rows_held_for_too_long_are_an_error(database_factory: PostgresFactory) -> None:
    """A write waits for rows that a stranger holds until its deadline, and stores nothing."""
    database = await database_factory(deadline_seconds=0.3)
    key = await in_time(lambda: database.write(add_sender, "1"))
    with psycopg.connect(database_factory.where) as stranger:
        stranger.execute("SELECT 1 FROM senders FOR UPDATE")
        error = await error_of(in_time(lambda: database.write(rename, (key, key), lambda: None)))

    assert isinstance(error, StorageError)
    assert "held the rows for too long" in str(error)
    await in_time(lambda: database.write(rename, (key, key), lambda: None))


async def test_a_verb_cannot_go_on_after_a_failed_query(database_factory: DatabaseFactory) -> None:
    """A verb that hides the error of a query is not taken for stored: PostgreSQL rolled it back."""
    database = await database_factory()
    await database.write(note, "a")

    def hide(tx: Transaction) -> None:
        try:
            note(tx, "a")
        except psycopg.Error:
            return

    error = await error_of(database.write(hide))

    assert isinstance(error, StorageError)
    assert "nothing was stored" in str(error)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{SECRET}@127.0.0.1:1/nowhere",
        f"postgresql://me:{SECRET}@/nowhere?host=/no/such/folder",
        f"postgresql://me:{SECRET}@host:port/nowhere",
        f"postgresql://me:{SECRET}@host/nowhere?what={SECRET}",
        f"postgresql://me:x@{SECRET}@host/nowhere",
        f"postgresql://me:x/{SECRET}@host/nowhere",
        f"postgresql://me@/nowhere?host=x@{SECRET}",
        f"postgresql://me@host/nowhere?port={SECRET}",
        f"host=there password={SECRET}",
    ],
)
async def test_no_error_tells_the_password(url: str, database_kind: str) -> None:
    """A server that cannot be reached is named with its database, and never with the password."""
    with pytest.raises((StorageError, ConfigError)) as raised:
        await PostgresDatabase(url).open()

    told = "".join(traceback.format_exception(raised.value)) + repr(raised.value.__cause__)
    assert SECRET not in told.replace(url, "")
    if isinstance(raised.value, StorageError):
        assert "nowhere at " in str(raised.value)


async def test_a_url_in_capitals_is_one(database_factory: PostgresFactory) -> None:
    """`POSTGRESQL://` leads to the server, and does not become a file of that name."""
    database = await open_database(database_factory.where.replace("postgresql", "POSTGRESQL"))

    assert isinstance(database, PostgresDatabase)
    await database.close()


async def test_a_violation_of_the_protocol_is_told_at_once(
    database_factory: PostgresFactory,
) -> None:
    """While the connection stands it is the caller's error, and was tried only once."""
    database = await database_factory()
    runs = []

    def violate(tx: Transaction) -> None:
        runs.append(raw(tx).info.backend_pid)
        raw(tx).execute("DO $$ BEGIN RAISE 'unreadable' USING ERRCODE = '08P01'; END $$")

    error = await error_of(database.write(violate))

    assert isinstance(error, StorageError)
    assert "unreadable" in str(error)
    assert len(runs) == 1
    await database.write(note, "after")


def test_a_password_in_a_foreign_text_is_hidden(database_kind: str) -> None:
    """What the server says is shown without the password, should it ever hold it."""
    target = ConnectionTarget(f"postgresql://me:{SECRET}@host/base")

    assert target.without_password(f"no {SECRET} here") == "no … here"
    assert SECRET not in target.where


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ServerInfo(version=130011, synchronous_commit="on", encoding="UTF8", schema="a"),
            "too old",
        ),
        (
            ServerInfo(version=140000, synchronous_commit="off", encoding="UTF8", schema="a"),
            "'off'",
        ),
        (
            ServerInfo(version=140000, synchronous_commit="on", encoding="LATIN1", schema="a"),
            "LATIN",
        ),
        (
            ServerInfo(version=140000, synchronous_commit="on", encoding="UTF8", schema=None),
            "schema",
        ),
    ],
)
def test_an_unsafe_server_is_refused(settings: ServerInfo, said: str, database_kind: str) -> None:
    """A server that is too old, may forget commits or cannot store all text is refused by name."""
    with pytest.raises(StorageError, match=said):
        require_safe(settings, "base at host")


async def test_commits_are_durable_whatever_the_url_says(database_factory: PostgresFactory) -> None:
    """A server or URL that prefers fast commits does not get them from us."""
    url = f"{database_factory.where}&options=-c%20synchronous_commit%3Doff"
    with ConnectionTarget(url).connect() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


async def test_an_index_that_is_not_valid_is_found(database_factory: PostgresFactory) -> None:
    """A check names an index that PostgreSQL itself no longer uses."""
    database = await database_factory()
    database_factory.tamper(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'bindings_of_session'::regclass"
    )

    (found,) = await database.check()

    assert found.grave
    assert "bindings_of_session" in found.what


async def test_an_orphan_is_found(database_factory: PostgresFactory) -> None:
    """A check finds rows whose parent is gone, which no constraint would have let happen."""
    database = await database_factory()
    database_factory.tamper(
        "SET session_replication_role = replica; "
        "INSERT INTO bindings (route, session_key, bound_at) VALUES ('a', 77, 0)"
    )

    (found,) = await database.check()

    assert found.grave
    assert found.what == "1 rows of bindings belong to a row of sessions that is gone"


async def test_a_check_tells_that_the_server_is_away(database_factory: PostgresFactory) -> None:
    """A check of a database that cannot be reached raises: that it is away is not damage."""
    database = await database_factory()
    name = database_factory.name
    database_factory.server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")

    with pytest.raises(StorageError, match="cannot be reached"):
        await database.check()
    database_factory.server.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


async def test_time_comes_from_the_server(database_factory: DatabaseFactory) -> None:
    """The time is the server's, unless a test brings a clock of its own."""
    still = datetime(2030, 1, 1, tzinfo=UTC)

    assert (await database_factory(clock=lambda: still)).now() == still
    ours = (await database_factory()).now()
    assert abs(ours - datetime.now(UTC)) < timedelta(seconds=5)


def test_owners_have_locks_of_their_own(database_kind: str) -> None:
    """Each owner's lock is a 64-bit number that depends on the name alone."""
    assert key_of(OwnerId("1-a")) == key_of(OwnerId("1-a")) != key_of(OwnerId("1-b"))
    assert -(2**63) <= key_of(new_owner()) < 2**63


async def test_nothing_is_said_when_nothing_was_written(database_factory: DatabaseFactory) -> None:
    """A verb that changes nothing wakes nobody; else idle workers would keep each other awake."""
    database = await database_factory()
    with database.watch() as watch:
        await watch.wait()
        await database.write(knows, "a")
        assert not await watch.wait(timedelta(milliseconds=200))


async def test_two_schemas_are_two_stores(postgres_server: Server, database_kind: str) -> None:
    """Only the current schema is looked at: somebody else's tables beside it do no harm."""
    name = postgres_server.create(empty=True)
    postgres_server.execute("CREATE TABLE theirs (a INTEGER); CREATE SCHEMA ours", name)
    database = PostgresDatabase(f"{postgres_server.url(name)}&options=-c%20search_path%3Dours")

    await database.open()
    await database.write(note, "a")

    assert await database.read(knows, "a")
    await database.close()
    postgres_server.drop(name)
