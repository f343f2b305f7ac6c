"""A store of every earlier schema is brought up to date with everything in it."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import psycopg
import pytest

import threadline
from tests.databases import DURABLE, POSTGRES, Server, on
from threadline.core.message import Role
from threadline.core.person import Asker
from threadline.core.session import SessionId
from threadline.core.usage import UsageBy
from threadline.storage.migrate import _LEDGER
from threadline.storage.queries import Dialect, migrations

ID = SessionId("20260101_120000_0a1b2c3d")
AT = 1_767_268_800_000_000

ROWS = (
    (
        "INSERT INTO addresses (key, platform, account, kind, chat, thread) "
        "VALUES (1, 'telegram', '', 'dm', 'alice', '')"
    ),
    (
        f"INSERT INTO senders (key, platform, id, name, first_seen_at) "
        f"VALUES (1, 'telegram', 'alice', 'Alice', {AT})"
    ),
    (
        f"INSERT INTO sessions (key, id, profile, platform, kind, address_key, sender_key, cause, "
        f"opened_at, last_activity_at, title, titled_by, last_seq, revision) "
        f"VALUES (1, '{ID}', 'main', 'telegram', 'dm', 1, 1, 'first', {AT}, {AT}, 'Ferry times', "
        f"'first_words', 2, 9)"
    ),
    (
        f"INSERT INTO bindings (route, session_key, bound_at) "
        f"VALUES ('agent:main:telegram:dm:alice', 1, {AT})"
    ),
    (
        f"INSERT INTO turns (id, session_key, address_key, state, queued_at, ended_at, first_seq) "
        f"VALUES (1, 1, 1, 'done', {AT}, {AT}, 1)"
    ),
    (
        f"INSERT INTO messages (key, session_key, seq, turn_id, role, sender_key, text, at) "
        f"VALUES (1, 1, 1, 1, 'user', 1, 'Ferry times', {AT}), "
        f"(2, 1, 2, 1, 'assistant', NULL, 'At nine', {AT})"
    ),
    (
        f"INSERT INTO usage (session_key, turn_id, at, task, provider, model, input_tokens, "
        f"output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, prompt_tokens, "
        f"cost, cost_status) VALUES (1, 1, {AT}, 'turn', 'p', 'm', 5, 7, 0, 0, 0, 5, 3000, 'exact')"
    ),
)
"""What the first schema held: one turn."""


@pytest.fixture
def first(database_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Make a store of the first schema."""
    dialect = Dialect.POSTGRES if database_kind == POSTGRES else Dialect.SQLITE
    step = migrations(dialect)[0]
    ledger = f"INSERT INTO migrations VALUES ({step.number}, '{step.name}', {AT})"
    statements = [_LEDGER, *step.statements, ledger, *ROWS]
    if database_kind == POSTGRES:
        server: Server = request.getfixturevalue("postgres_server")
        name = server.create(empty=True)
        with psycopg.connect(server.url(name)) as connection:
            for statement in statements:
                connection.execute(statement.encode())
        yield server.url(name)
        server.drop(name)
    else:
        path = tmp_path / "old.db"
        file = apsw.Connection(str(path))
        for statement in statements:
            file.execute(statement)
        file.close()
        yield str(path)


@on(DURABLE, POSTGRES)
async def test_a_store_of_the_first_schema_goes_on(first: str) -> None:
    """Nothing is missing: the transcript, the list, what was spent, the search, the route."""
    async with threadline.open(first) as store:
        (row,) = (await store.sessions()).rows
        lines = await store.transcript(ID)
        found = await store.search("ferry", asker=Asker.owner())
        spent = await store.usage_by(UsageBy.MODEL)
        undone = await store.undo(ID)

        assert (row.session.id, row.session.user_messages, row.last_words) == (ID, 1, "At nine")
        assert [(line.role, line.text) for line in lines] == [
            (Role.USER, "Ferry times"),
            (Role.ASSISTANT, "At nine"),
        ]
        assert [hit.session_id for hit in found.hits] == [ID]
        assert [one.input_tokens for one in spent] == [5]
        assert undone.texts == ("Ferry times",)
        assert not [finding for finding in await store.check(deep=True) if finding.grave]
