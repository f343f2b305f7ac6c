"""Filling: a store with many conversations, by bulk copies of the template's rows.

Rows lie as if all conversations had gone on side by side: turn by turn, each at its own moment.
Only the events of the last seven days are there, as in a store that is pruned.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TypeAlias

from bench.bare import Bare
from bench.script import LONG, TOKEN
from bench.template import EVERY, OWN, REFERENCES, Template, TemplateRow, is_token, subject_table
from threadline.database.port import SqlValue
from threadline.database.timestamps import stamp

KEPT = timedelta(days=7)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Moving:
    """A number that grows from copy to copy."""

    base: int
    step: int


Filled: TypeAlias = Mapping[str, "SqlValue | Moving"]


class Plan:
    """Which number each row of the template gets in each copy."""

    def __init__(self, template: Template, sessions: int) -> None:
        self.sessions = sessions
        self.drift = EVERY // _MICROSECOND // sessions
        self._numbers = {
            table: list(_numbered(template[table], sessions)) for table in OWN if OWN[table]
        }

    def filled(self, table: str, row: TemplateRow) -> Filled:
        """Say how a row looks in all copies."""
        values: dict[str, SqlValue | Moving] = dict(row.values)
        for column, value in row.values.items():
            if column == OWN[table]:
                values[column] = self._number(table, value)
            elif column in REFERENCES:
                values[column] = self._number(REFERENCES[column], value)
            elif is_moment(column) and isinstance(value, int):
                values[column] = Moving(value, self.drift)
        target = subject_table(row.values) if table == "events" else None
        if target is not None:
            values["subject"] = self._number(target, row.values["subject"])
        return values

    def _number(self, table: str, ordinal: SqlValue) -> Moving:
        if not isinstance(ordinal, int):
            raise TypeError(f"{ordinal!r} is no number of a row of {table}")
        return self._numbers[table][ordinal]


def _numbered(rows: Sequence[TemplateRow], sessions: int) -> Iterator[Moving]:
    before = 0
    for _, group in groupby(rows, key=lambda row: row.turn):
        width = len(list(group))
        for place in range(width):
            yield Moving(before * sessions + place + 1, width)
        before += width


def is_moment(column: str) -> bool:
    """Tell whether a column holds a moment."""
    return column == "at" or column.endswith("_at")


def fill(bare: Bare, template: Template, sessions: int, *, long_messages: int) -> None:
    """Write all conversations, and one that is very long."""
    plan = Plan(template, sessions)
    bare.run("CREATE TEMP TABLE numbers (i INTEGER PRIMARY KEY)")
    most = max(sessions, long_messages // 2)
    bare.run(
        "INSERT INTO numbers WITH RECURSIVE n (i) AS "
        f"(SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {most - 1}) SELECT i FROM n"
    )
    since = stamp(datetime.now(UTC) - KEPT)
    for table in OWN:
        for _, rows in groupby(template[table], key=lambda row: row.turn):
            copies = [plan.filled(table, row) for row in rows]
            _multiply(bare, table, copies, sessions, since=since)
    _fill_long(bare, template, sessions, long_messages)
    bare.run("DROP TABLE numbers")
    bare.run("UPDATE feed_floor SET id = (SELECT coalesce(min(id), 1) - 1 FROM events)")


def _fill_long(bare: Bare, template: Template, sessions: int, messages: int) -> None:
    """Write one conversation that goes on for ever: its second turn again and again."""
    starts = {table: Moving(len(template[table]) * sessions + 1, 0) for table in OWN if OWN[table]}
    for table in ("addresses", "senders", "sessions", "bindings"):
        (row,) = template[table]
        values: dict[str, SqlValue | Moving] = {
            column: value.replace(TOKEN, f"{sessions:08d}") if isinstance(value, str) else value
            for column, value in row.values.items()
        }
        for column in values:
            if column == OWN[table]:
                values[column] = starts[table]
            elif column in REFERENCES:
                values[column] = starts[REFERENCES[column]]
        if table == "sessions":
            values |= {"last_seq": messages, "title": LONG}
        _multiply(bare, table, [values], 1)
    for table in ("turns", "messages", "arrivals", "usage", "deliveries"):
        rows = [row for row in template[table] if row.turn == 1]
        copies = [
            _again(table, n, row, width=len(rows), starts=starts, sessions=sessions)
            for n, row in enumerate(rows)
        ]
        _multiply(bare, table, copies, messages // 2)


def _again(
    table: str,
    place: int,
    row: TemplateRow,
    *,
    width: int,
    starts: Mapping[str, Moving],
    sessions: int,
) -> Filled:
    values: dict[str, SqlValue | Moving] = dict(row.values)
    for column, value in row.values.items():
        target = REFERENCES.get(column)
        if column == OWN[table]:
            values[column] = Moving(starts[table].base + place, width)
        elif target == "turns":
            values[column] = Moving(starts[target].base, 1)
        elif target == "messages":
            values[column] = Moving(starts[target].base, 2)
        elif target is not None:
            values[column] = starts[target]
        elif column in {"seq", "first_seq"}:
            values[column] = Moving(place + 1, 2)
        elif column == "message_id":
            values[column] = TOKEN
        elif isinstance(value, str):
            values[column] = value.replace(TOKEN, f"{sessions:08d}")
        elif is_moment(column) and isinstance(value, int):
            values[column] = Moving(value, 1_000)
    return values


def _multiply(
    bare: Bare, table: str, rows: Sequence[Filled], copies: int, *, since: int = 0
) -> None:
    """Insert some rows many times over, copy by copy."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    moving = {c for c in columns if any(isinstance(row.get(c), Moving) for row in rows)}
    fields = [_field(column, rows, moves=column in moving) for column in columns]
    bare.run(f"CREATE TEMP TABLE copied (j BIGINT, {', '.join(fields)})")
    for place, row in enumerate(rows):
        flat: list[SqlValue] = [place]
        for column in columns:
            flat += _flat(row.get(column), moves=column in moving)
        bare.run(f"INSERT INTO copied VALUES ({', '.join('?' * len(flat))})", flat)
    picked = [_expression(c, rows[0].get(c), moves=c in moving) for c in columns]
    only = f" AND t.at + n.i * t.at_step >= {since}" if table == "events" else ""
    bare.run(
        f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(picked)} "
        f"FROM numbers n CROSS JOIN copied t WHERE n.i < {copies}{only} ORDER BY n.i, t.j"
    )
    bare.run("DROP TABLE copied")


def _field(column: str, rows: Sequence[Filled], *, moves: bool) -> str:
    if moves:
        return f"{column} BIGINT, {column}_step BIGINT"
    is_text = any(isinstance(row.get(column), str) for row in rows)
    return f"{column} {'TEXT' if is_text else 'BIGINT'}"


def _flat(value: SqlValue | Moving, *, moves: bool) -> list[SqlValue]:
    if isinstance(value, Moving):
        return [value.base, value.step]
    return [value, 0] if moves else [value]


def _expression(column: str, value: SqlValue | Moving, *, moves: bool) -> str:
    if moves:
        return f"t.{column} + n.i * t.{column}_step"
    if not isinstance(value, Moving) and is_token(value):
        return f"replace(t.{column}, '{TOKEN}', substr(CAST(100000000 + n.i AS TEXT), 2))"
    return f"t.{column}"
