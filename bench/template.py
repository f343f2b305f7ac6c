"""The template: the rows of one conversation, as the verbs themselves write them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import apsw

from bench.script import ANSWERS, TOKEN, USAGE, chat_of, sender_of, spoken
from threadline.core.errors import StorageError
from threadline.database.port import SqlValue
from threadline.database.sqlite import SqliteDatabase
from threadline.database.timestamps import moment
from threadline.store import Store

TURNS = 10
EVERY = timedelta(days=6)
"""Between two turns of a conversation. All conversations together fill this time evenly."""

Values: TypeAlias = dict[str, SqlValue]

OWN = {
    "addresses": "key",
    "senders": "key",
    "sessions": "key",
    "bindings": None,
    "turns": "id",
    "messages": "key",
    "arrivals": None,
    "usage": "key",
    "deliveries": "id",
    "events": "id",
}
"""The tables in the order of their references, each with its column of numbers."""
REFERENCES = {
    "address_key": "addresses",
    "sender_key": "senders",
    "session_key": "sessions",
    "turn_id": "turns",
    "message_key": "messages",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRow:
    """One row; its own number and its references count from 0 within the conversation."""

    turn: int
    values: Values


Template: TypeAlias = dict[str, list[TemplateRow]]


class Calendar:
    """A clock that is set by hand."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at


async def make_template(folder: Path, turns: int = TURNS) -> Template:
    """Let the verbs carry out one conversation in a store of its own, and copy what they wrote."""
    path = folder / "template.db"
    start = datetime.now(UTC).replace(microsecond=0) - EVERY * turns
    calendar = Calendar(start)
    database = SqliteDatabase(path, durable=False, clock=calendar)
    await database.open()
    async with Store(database, new_id=lambda: 0) as store:
        # The first person of an installation is greeted differently from all others.
        calendar.at = start - timedelta(days=1)
        await converse(store, "first", "first", "1")
        for turn in range(turns):
            calendar.at = start + EVERY * turn
            await converse(store, chat_of(0), sender_of(0), str(turn + 1))
    return _copied(path, start)


async def converse(store: Store, chat: str, sender: str, message_id: str) -> None:
    """Carry out a turn and deliver its answer."""
    await store.receive(spoken(chat, sender, message_id, store.now()))
    claim = await store.turns.claim()
    if claim is None:
        raise StorageError("There was no turn to claim")
    await store.turns.append(claim.lease, ANSWERS)
    await store.turns.finish(claim.lease, usage=[USAGE])
    for parcel in await store.deliveries.lease():
        await store.deliveries.record_sent(parcel.delivery, f"{message_id}a")


def _copied(path: Path, start: datetime) -> Template:
    connection = apsw.Connection(str(path))
    found: dict[str, list[Values]] = {}
    numbers: dict[str, dict[SqlValue, int]] = {}
    for table, own in OWN.items():
        found[table] = list(_rows(connection, table, own))
        if own is not None:
            numbers[table] = {row[own]: n for n, row in enumerate(found[table])}
    connection.close()
    template: Template = {}
    for table, rows in found.items():
        fresh = [_renumbered(table, row, numbers) for row in rows]
        template[table] = [TemplateRow(turn=_turn(table, row, start), values=row) for row in fresh]
    return template


def _rows(connection: apsw.Connection, table: str, own: str | None) -> Iterator[Values]:
    """Read what belongs to the second conversation, without the columns that are empty."""
    whose = own if table in {"addresses", "senders", "sessions"} else "session_key"
    order = own or ("turn_id" if table == "arrivals" else whose)
    cursor = connection.execute(f"SELECT * FROM {table} WHERE {whose} = 2 ORDER BY {order}")
    for row in cursor:
        names = [column[0] for column in cursor.get_description()]
        yield {name: value for name, value in zip(names, row, strict=True) if value is not None}


def _turn(table: str, row: Values, start: datetime) -> int:
    if table == "events":
        since = moment(_number(row["at"])) - start
        return since // EVERY
    if table == "turns":
        return _number(row["id"])
    return _number(row.get("turn_id", 0))


def _number(value: SqlValue) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number")
    return value


def _renumbered(table: str, row: Values, numbers: dict[str, dict[SqlValue, int]]) -> Values:
    fresh = dict(row)
    own = OWN[table]
    if own is not None:
        fresh[own] = numbers[table][row[own]]
    for column, target in REFERENCES.items():
        if column in row:
            fresh[column] = numbers[target][row[column]]
    about = subject_table(row) if table == "events" else None
    if about is not None:
        fresh["subject"] = numbers[about][row["subject"]]
    return fresh


def subject_table(row: Values) -> str | None:
    """Tell which table the subject of an event is in; None: it is no number of a row."""
    noun = str(row["kind"]).partition(".")[0]
    return {"turn": "turns", "delivery": "deliveries"}.get(noun) if "subject" in row else None


def is_token(value: SqlValue) -> bool:
    """Tell whether a text holds the number of its conversation."""
    return isinstance(value, str) and TOKEN in value
