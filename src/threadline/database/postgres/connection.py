"""Connections to PostgreSQL: where they go, and how they are set up."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import psycopg
from msgspec import Struct
from psycopg.conninfo import conninfo_to_dict

from threadline.core.database_url import ambiguous, checked_location, is_secret
from threadline.core.errors import ConfigError, Misplaced, StorageError

Raw: TypeAlias = psycopg.Connection[tuple[Any, ...]]

OLDEST_SERVER = 140000
_SAFE_COMMIT = ("on", "remote_apply")
_CONNECT_SECONDS = 5
_IDLE_SECONDS = 60
_WAYS = {
    "fallback_application_name": "threadline",
    "client_encoding": "UTF8",
    "connect_timeout": _CONNECT_SECONDS,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}

_SET_UP = """
SELECT set_config('lock_timeout', '{lock_ms}', false),
       set_config('idle_in_transaction_session_timeout', '{idle_ms}', false),
       set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit')
                  IN ('on', 'remote_apply') THEN current_setting('synchronous_commit')
                  ELSE 'on' END, false)
"""
_READ_BACK = """
SELECT CAST(current_setting('server_version_num') AS INTEGER),
       current_setting('synchronous_commit'), current_setting('server_encoding'),
       current_schema()
"""
_PID = "SELECT pg_backend_pid()"
_SWAPS = 8
"""How often a pooler gets the opportunity to change the server connection."""

_WHICH = """
SELECT (SELECT d.oid::BIGINT FROM pg_database d WHERE d.datname = current_database()),
       to_regclass('migrations')::OID::BIGINT,
       (SELECT m.applied_at FROM migrations m ORDER BY m.number LIMIT 1)
"""
"""What tells one store from all others; the same after a failover to a replica."""


class ServerInfo(Struct, frozen=True, kw_only=True):
    """What a server answered about itself."""

    version: int
    synchronous_commit: str
    encoding: str
    schema: str | None


class ConnectionTarget:
    """A database that can be connected to. Its name never tells the password."""

    def __init__(self, url: str, *, patience_seconds: float = 30.0) -> None:
        """Read the URL."""
        self._ways = {**_WAYS, **_parsed(url)}
        self._lock_ms = max(1, int(patience_seconds * 1000))
        self.where = _described(self._ways)
        self._known: tuple[Any, ...] | None = None
        self._has_sessions = False

    def connect(self) -> Raw:
        """Connect, with settings that were all read back, or say which of them did not hold."""
        connection = self._dial()
        try:
            # First of all: behind such a pooler, settings would reach other programs.
            self._require_sessions(connection)
            text = _SET_UP.format(lock_ms=self._lock_ms, idle_ms=_IDLE_SECONDS * 1000)
            connection.execute(text)
            row = connection.execute(_READ_BACK).fetchone() or (0, "", "", None)
            require_safe(
                ServerInfo(
                    version=row[0], synchronous_commit=row[1], encoding=row[2], schema=row[3]
                ),
                self.where,
            )
            self._require_same(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _dial(self) -> Raw:
        return psycopg.connect(
            **self._ways,  # type: ignore[arg-type]  # libpq's own words
            autocommit=True,
            prepare_threshold=None,
        )

    def _require_sessions(self, connection: Raw) -> None:
        """Refuse a pooler that gives transactions of one client to several server connections.

        A client of the server itself is told at its login which server process it talks to; a
        pooler invents that number. Behind a pooler a second client holds a transaction open: if it
        has the server process that this client had before, or this one gets another, they share.
        """
        if self._has_sessions:
            return
        pid = server_process(connection)
        if pid != connection.info.backend_pid:
            with self._dial() as other:
                for _ in range(_SWAPS):
                    if server_process(other) == pid:
                        raise pooled(self.where)
                    with other.transaction():
                        if server_process(other) == pid or server_process(connection) != pid:
                            raise pooled(self.where)
        self._has_sessions = True

    def remember(self, connection: Raw) -> None:
        """Remember which store this is; from now on a connection to another one is refused."""
        self._known = connection.execute(_WHICH).fetchone()

    def _require_same(self, connection: Raw) -> None:
        if self._known is None:
            return
        there = connection.execute("SELECT to_regclass('migrations') IS NOT NULL").fetchone()
        found = connection.execute(_WHICH).fetchone() if there and there[0] else None
        if found != self._known:
            raise Misplaced(
                "The database was dropped or replaced while it was open",
                id=self.where,
                hint="Stop Threadline, restore a backup if it is not the right one, "
                "and start it again",
            )

    def without_password(self, text: str) -> str:
        """Answer a text that somebody else wrote, fit for logs and screens."""
        for name, value in self._ways.items():
            if is_secret(name) and value:
                text = text.replace(str(value), "…")
        return text


def pooled(where: str, said: str = "") -> StorageError:
    """Return the error that says that a pooler in transaction mode is in between."""
    return StorageError(
        "A connection pooler gives each transaction to another connection of the server"
        + (f" ({said})" if said else ""),
        id=where,
        hint="Set the pooler to session pooling, or connect to the server itself: locks, "
        "notifications and prepared statements belong to one connection",
    )


def server_process(connection: Raw) -> int:
    """Return the id of the server process, also behind a pooler, which tells clients another."""
    row = connection.execute(_PID).fetchone()
    return 0 if row is None else int(row[0])


def require_safe(found: ServerInfo, where: str) -> None:
    """Refuse a server that cannot keep what we promise."""
    if found.version < OLDEST_SERVER:
        raise StorageError(
            f"PostgreSQL {found.version // 10000} is too old",
            id=where,
            hint=f"Threadline needs {OLDEST_SERVER // 10000} or newer",
        )
    if found.synchronous_commit not in _SAFE_COMMIT:
        raise StorageError(
            f"PostgreSQL answered {found.synchronous_commit!r} where "
            "synchronous_commit should be on",
            id=where,
            hint="A pooler may be in between; connect to the server itself",
        )
    if found.encoding != "UTF8":
        raise StorageError(
            f"The database is encoded in {found.encoding}", id=where, hint="Make one with UTF8"
        )
    if found.schema is None:
        raise StorageError(
            "The search path names no schema that exists", id=where, hint="Create it first"
        )


def _parsed(url: str) -> dict[str, object]:
    scheme, mark, rest = checked_location(url).partition("://")
    try:
        # libpq knows its own name in small letters only.
        found = conninfo_to_dict(scheme.lower() + mark + rest if mark else url)
    except psycopg.Error:
        # What libpq says of it may hold the password.
        raise ConfigError(
            "The PostgreSQL URL cannot be read",
            hint="It looks like postgresql://user@host:5432/database",
        ) from None
    ways: dict[str, object] = {name: way for name, way in found.items() if way is not None}
    if any("@" in str(ways.get(name, "")) for name in ("host", "port", "dbname")):
        raise ambiguous()
    if not all(port.isdecimal() or not port for port in str(ways.get("port", "")).split(",")):
        raise ambiguous()
    return ways


def _described(ways: Mapping[str, object]) -> str:
    host = ways.get("host") or ways.get("hostaddr") or "the local server"
    port = f":{ways['port']}" if "port" in ways else ""
    return f"{ways.get('dbname') or ways.get('user') or 'the default database'} at {host}{port}"
