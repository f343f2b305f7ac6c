"""Random verbs in random order, on each database, against a model that cannot be wrong for long."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

import hypothesis
from hypothesis.stateful import run_state_machine_as_test

from tests.contracts.machine import Conversations
from tests.databases import Server
from threadline.database.port import Database
from threadline.database.sqlite import SqliteDatabase

SETTINGS = hypothesis.settings(
    max_examples=60,
    stateful_step_count=40,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    report_multiple_bugs=False,
)


def test_sqlite_does_what_the_model_does(tmp_path: Path) -> None:
    """Whatever people, agents and crashes do on SQLite, the model knows the outcome."""

    async def open_database(clock: Callable[[], datetime]) -> Database:
        database = SqliteDatabase(tmp_path / "machine.db", durable=False, clock=clock)
        await database.open()
        return database

    run(open_database, SETTINGS)


def test_postgres_does_what_the_model_does(postgres_server: Server) -> None:
    """Whatever people, agents and crashes do on PostgreSQL, the model knows the outcome."""
    from threadline.database.postgres import PostgresDatabase

    where = postgres_server.url(postgres_server.create())

    async def open_database(clock: Callable[[], datetime]) -> Database:
        database = PostgresDatabase(where, clock=clock)
        await database.open()
        return database

    few = hypothesis.settings(SETTINGS, max_examples=20)
    run(open_database, few)


def run(
    open_database: Callable[[Callable[[], datetime]], Awaitable[Database]],
    settings: hypothesis.settings,
) -> None:
    """Let the machine run on a database."""

    class OnDatabase(Conversations):
        def __init__(self) -> None:
            super().__init__(open_database)

    run_state_machine_as_test(OnDatabase, settings=settings)
