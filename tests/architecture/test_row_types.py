"""Every query that is read as a type has the columns of that type, on both databases."""

import ast
import importlib
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import apsw
import apsw.ext

from tests.architecture.source import PACKAGE, Module, modules
from tests.architecture.test_queries import READS, calls, names
from tests.databases import POSTGRES, DatabaseFactory, on
from threadline.database.port import SqlValue, Transaction
from threadline.database.postgres.transaction import raw, statements
from threadline.database.queries import Dialect, queries
from threadline.database.rows import row_reader
from threadline.database.schema import migrate


def typed_reads() -> Iterator[tuple[str, str, Any]]:
    """Walk over the queries that are read as a type: the place, the query and the type."""
    for module in modules("src"):
        for call in calls(module, READS):
            first = 1 if isinstance(call.func, ast.Name) else 0
            if names(call) and len(call.args) > first + 1:
                kind = _resolve(module, call.args[first + 1])
                for name in names(call):
                    yield module.at(call), name, kind


def _resolve(module: Module, kind: ast.expr) -> Any:
    """Return the type that an expression of a module names."""
    path = module.path.relative_to(PACKAGE.parent).with_suffix("")
    found: Any = importlib.import_module(".".join(path.parts))
    return eval(ast.unparse(kind), vars(found))


def test_sqlite_answers_the_columns_of_each_type() -> None:
    """No column is missing, and none is left over."""
    connection = apsw.Connection(":memory:")
    execute = partial(_execute, connection)
    migrate(execute, frozenset(), Dialect.SQLITE, where="memory", now=datetime.now(UTC))
    wrong = []
    for place, query, kind in typed_reads():
        info = apsw.ext.query_info(connection, queries(Dialect.SQLITE)[query])
        wrong += _misfit(place, query, kind, [column[0] for column in info.description])

    assert not wrong, "\n".join(wrong)


@on(POSTGRES)
async def test_postgres_answers_the_columns_of_each_type(
    database_factory: DatabaseFactory,
) -> None:
    """No column is missing, and none is left over."""
    database = await database_factory()

    def describe(tx: Transaction) -> list[str]:
        wrong = []
        for number, (place, query, kind) in enumerate(typed_reads()):
            statement, connection = statements()[query], raw(tx).pgconn
            name = f"described_{number}".encode()
            connection.prepare(name, statement.text)
            result = connection.describe_prepared(name)
            columns = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
            wrong += _misfit(place, query, kind, columns)
        return wrong

    wrong = await database.read(describe)

    assert not wrong, "\n".join(wrong)


def _execute(connection: apsw.Connection, statement: str) -> list[tuple[SqlValue, ...]]:
    return list(connection.execute(statement))


def _misfit(place: str, query: str, kind: Any, columns: list[str]) -> list[str]:
    try:
        row_reader(kind, columns)
    except TypeError as error:
        return [f"{place}: {query}: {error}"]
    return []
