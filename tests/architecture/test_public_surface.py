"""What users and other programs rely on changes only on purpose.

Each part of the public surface is compared with a file under `frozen/`. `make freeze` writes these
files again: commit them together with the change, so that a reviewer sees what it does to users.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path

import typer.main

from docs.generate import command_helps, error_family
from docs.http import describe_api
from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.store import transfer_setup
from threadline.cli.main import app
from threadline.core.errors import ThreadlineError
from threadline.store import Store
from threadline.testing.clock import FakeClock

FROZEN = Path(__file__).parent / "frozen"

SQLITE_SCHEMA = """
    SELECT sql || ';' FROM sqlite_master
    WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name
"""
POSTGRES_SCHEMA = """
    SELECT line FROM (
        SELECT format('%s.%s %s%s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
                      CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
                      ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) AS line
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT format('%s: %s', conrelid::regclass, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n'
        UNION ALL
        SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    ) AS found ORDER BY line COLLATE "C"
"""


def compare(name: str, text: str) -> None:
    """Compare a part of the surface with its file, or write the file if `FREEZE` is set."""
    path = FROZEN / name
    if os.environ.get("FREEZE"):
        path.write_text(text, encoding="utf-8")
    frozen = path.read_text(encoding="utf-8")
    assert text.splitlines() == frozen.splitlines(), f"{name} changed; if meant: make freeze"


def lines(rows: Sequence[Sequence[object]]) -> str:
    """Join the first column of rows."""
    return "".join(f"{row[0]}\n" for row in rows)


def shorten(line: str) -> str:
    """Replace the end of a very long line by a checksum of the whole."""
    digest = hashlib.sha256(line.encode()).hexdigest()
    return line if len(line) < 4_000 else f"{line[:200]}… {len(line)} characters, {digest}"


def test_the_http_api_is_unchanged() -> None:
    """The OpenAPI document is the frozen one."""
    compare("openapi.json", json.dumps(describe_api(), indent=1, ensure_ascii=False) + "\n")


def test_the_command_line_is_unchanged() -> None:
    """The help of every command is the frozen one."""
    helps = command_helps(typer.main.get_command(app))
    compare("help.txt", "".join(f"$ {path} --help\n{text}\n\n" for path, text in helps))


def test_the_errors_are_unchanged() -> None:
    """Every error keeps its name and its HTTP status."""
    describe_api()  # Loads the errors of the HTTP API.
    rows = {f"{error.__name__} {error.status}" for error in error_family(ThreadlineError)}
    compare("errors.txt", "".join(f"{row}\n" for row in sorted(rows)))


@on(FAST)
async def test_the_sqlite_schema_is_unchanged(database_factory: DatabaseFactory) -> None:
    """Every table and index on SQLite is the frozen one."""
    await database_factory()
    compare("schema-sqlite.sql", lines(database_factory.tamper(SQLITE_SCHEMA)))


@on(POSTGRES)
async def test_the_postgresql_schema_is_unchanged(database_factory: DatabaseFactory) -> None:
    """Every column, constraint and index on PostgreSQL is the frozen one."""
    await database_factory()
    compare("schema-postgres.txt", lines(database_factory.tamper(POSTGRES_SCHEMA)))


@on(FAST)
async def test_the_export_format_is_unchanged(database_factory: DatabaseFactory) -> None:
    """A store with a bit of everything is exported as the same bytes as ever."""
    clock = FakeClock()
    store = Store(await database_factory(clock=clock), new_id=transfer_setup.one_after_another())
    await transfer_setup.live(store, clock)

    exported = (await transfer_setup.export(store)).decode().splitlines()
    compare("export.jsonl", "".join(f"{shorten(line)}\n" for line in exported))
