"""A connection pooler between Threadline and PostgreSQL: refused, or as good as none."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from tests.cli.program import run_apart
from tests.database.pooler import pooler
from tests.databases import PostgresFactory, on
from threadline.core.address import Address, Kind
from threadline.core.errors import StorageError
from threadline.core.inbound import Inbound
from threadline.database.availability import FaultReport
from threadline.database.postgres import PostgresDatabase
from threadline.database.postgres.connection import ConnectionTarget
from threadline.database.postgres.errors import translate
from threadline.database.postgres.listener import CHANNEL, NotificationListener
from threadline.database.postgres.process_locks import new_owner
from threadline.store import Store
from threadline.testing.database_verbs import knows, note

pytestmark = on("postgres")

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
LOCK_TIMEOUT = "SELECT current_setting('lock_timeout')"


def url_of(port: int, factory: PostgresFactory) -> str:
    return f"postgresql://postgres@127.0.0.1:{port}/{factory.name}"


async def test_a_pooler_in_transaction_mode_is_refused(database_factory: PostgresFactory) -> None:
    """The store is not opened, and the error says what to do."""
    async with pooler(database_factory.server.folder, "transaction") as port:
        database = PostgresDatabase(url_of(port, database_factory))
        with pytest.raises(StorageError) as refused:
            await database.open()

    assert "session pooling" in str(refused.value)
    assert "to the server itself" in str(refused.value)


async def test_a_busy_pooler_in_transaction_mode_is_refused(
    database_factory: PostgresFactory,
) -> None:
    """It is recognised among many server connections, while other clients change them."""
    async with pooler(database_factory.server.folder, "transaction") as port:
        url = url_of(port, database_factory)
        others = [await psycopg.AsyncConnection.connect(url) for _ in range(6)]
        for other in others:
            await other.execute("SELECT 1")  # In a transaction, which stays open.
        for other in others[::2]:
            await other.commit()
        with pytest.raises(StorageError, match="pooler"):
            await PostgresDatabase(url).open()
        for other in others:
            await other.close()


async def test_a_refused_pooler_keeps_the_settings_of_others(
    database_factory: PostgresFactory,
) -> None:
    """No setting of ours stays behind in connections that other programs use next."""
    async with pooler(database_factory.server.folder, "transaction") as port:
        url = url_of(port, database_factory)
        with pytest.raises(StorageError):
            await PostgresDatabase(url).open()
        async with await psycopg.AsyncConnection.connect(url) as other:
            found = await (await other.execute(LOCK_TIMEOUT)).fetchone()

    assert found == ("0",)


async def test_a_pooler_in_session_mode_is_as_good_as_none(
    database_factory: PostgresFactory,
) -> None:
    """Two stores behind it hear of each other's commits and know who is alive."""
    direct = await database_factory()
    async with pooler(database_factory.server.folder, "session") as port:
        url = url_of(port, database_factory)
        first, second = PostgresDatabase(url), PostgresDatabase(url)
        await first.open()
        await second.open()
        with second.watch() as watch:
            await first.write(note, "one")
            while not await second.read(knows, "one"):
                await watch.wait()
        assert await direct.dead(frozenset({first.owner, second.owner})) == frozenset()
        store = Store(second)
        said = Inbound.text("hello", address=HERE, at=store.now(), message_id="1")
        arrivals = await asyncio.gather(*(store.receive(said) for _ in range(10)))
        assert sum(not one.is_repeated for one in arrivals) == 1
        await first.close()
        while not await direct.dead(frozenset({first.owner})):
            await asyncio.sleep(0.05)  # Nobody is called dead soon after the server's start.
        await second.close()


@pytest.mark.parametrize("is_pooled", [False, True])
async def test_nobody_hears_their_own_news(
    database_factory: PostgresFactory, is_pooled: bool
) -> None:
    """A process is notified of the commits of others, also where a pooler names other processes."""
    heard: list[str] = []
    async with pooler(database_factory.server.folder, "session") as port:
        url = url_of(port, database_factory) if is_pooled else database_factory.where
        target = ConnectionTarget(url)
        listener = await asyncio.to_thread(  # The pooler needs this thread.
            NotificationListener,
            await asyncio.to_thread(target.connect),
            target,
            new_owner(),
            heard=lambda: heard.append("news"),
            died=lambda: None,
            trouble=FaultReport(),
        )
        async with await psycopg.AsyncConnection.connect(
            database_factory.where, autocommit=True
        ) as other:
            await other.execute(f"LISTEN {CHANNEL}")
            await other.execute(f"NOTIFY {CHANNEL}")
            listener.announce()
            async for notify in other.notifies():
                if notify.pid != other.info.backend_pid:
                    break
        # The news of the other one came before its own.
        await asyncio.to_thread(listener.close)

    assert heard == ["news"]


async def test_the_doctor_recognises_the_pooler(
    database_factory: PostgresFactory, tmp_path: Path
) -> None:
    """`threadline doctor` says what is wrong, and its exit code is 1."""
    async with pooler(database_factory.server.folder, "transaction") as port:
        url = url_of(port, database_factory)
        ran = await asyncio.to_thread(run_apart, tmp_path, "doctor", "--offline", "--database", url)

    said = (ran.stdout + ran.stderr).decode()
    assert ran.returncode == 1
    assert "session pooling" in " ".join(said.split())
    assert "All is well" not in said
    assert "Traceback" not in said


@pytest.mark.parametrize("statement", ["PREPARE one AS SELECT 1", "EXECUTE two"])
async def test_changed_connections_are_recognised_later(
    database_factory: PostgresFactory, statement: str
) -> None:
    """A pooler whose mode is changed while the store is open is named by its symptom."""
    with psycopg.connect(database_factory.where, autocommit=True) as connection:
        connection.execute("PREPARE one AS SELECT 1")
        with pytest.raises(psycopg.Error) as failed:
            connection.execute(statement.encode())

    assert "session pooling" in str(
        translate(failed.value, ConnectionTarget(database_factory.where))
    )
