"""Access that is taken away while a request is under way: from then on it does and reads nothing.

Each operation is asked for again and again, and access is taken away before its first transaction,
before its second one, and so on to its end.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, closing, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeAlias, cast

import apsw
import psycopg
import pytest
from psycopg import sql
from starlette.requests import HTTPConnection

from tests.databases import FAST, POSTGRES, DatabaseFactory, PostgresFactory, Server, on
from tests.interrupted_database import Interrupted
from tests.web.resources.callers import calling
from tests.web.resources.conftest import Template
from tests.web.resources.operation_calls import request_for
from tests.web.resources.sample_store import (
    DATABASE,
    Caller,
    Household,
    Inventory,
    furnish,
    live_in,
)
from tests.web.resources.table import OK, TABLE, Row
from tests.web.resources.test_deleted_answers import long_talk, served
from threadline.core.account import AccountKey, TokenScope
from threadline.core.delivery import LOCAL
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.person import Identity
from threadline.core.session_list import ListSection, SessionFilter
from threadline.core.settings import Settings
from threadline.core.summarizer import SUMMARY_TASK
from threadline.database.port import Database, Transaction
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.store.commands.execute import execute_waiting
from threadline.testing.clock import FakeClock
from threadline.testing.scenario import sqlite_at
from threadline.web.authentication import (
    COOKIE,
    CSRF_HEADER,
    TOKEN_PREFIX,
    NotLoggedIn,
    authority_of,
    csrf_of,
    hash_secret,
)

WITHOUT_ACCESS = {
    "log_in_by_password": "it is asked before anybody is known",
    "ask_passkey": "the same",
    "log_in_by_passkey": "the same",
    "prove_by_password": "the table gives a wrong password, and a wrong guess is counted",
    "prove_by_passkey": "the table gives an answer that no passkey signed",
    "add_passkey": "the same; see test_login_passkeys.py",
}
"""Operations that the table cannot let somebody do, and why."""
CHANGES_NOTHING = {
    "ask_proof",
    "ask_new_passkey",
    "plan_forgetting_person",
    "probe_settings",
    "reload_settings",
    "import_history",  # the table asks for a dry run
    "compress_session",  # nobody writes summaries in the household
    "hand_back",  # nobody has taken the conversation over
    "upload_attachment",  # the file is known
    "mark_unread",
    "delete_draft",
}
"""Operations that are no GET, and change nothing as the table asks for them."""
MADE_SLOWLY = {"make_token", "make_login_link"}
"""Operations that know a repeated request by two further transactions."""
LAST = {"reload_settings": 3, "compress_session": 5}
"""The last transaction of operations that leave nothing by which they can be seen to be done."""
WITHOUT_TRANSACTION = {"ask_proof", "probe_settings", "import_history"}
"""Operations that need nothing of the store, as the table asks for them."""
STREAMS = {"follow", "export_session", "export_history", "download_attachment"}
"""Their answers begin before they have read everything."""


Contents: TypeAlias = Mapping[str, object]
"""What each table holds, and each file beside the database."""
Take: TypeAlias = Callable[[], Awaitable[None]]
"""Takes access away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A household whose requests can be interrupted."""

    household: Household
    store: Store
    """A store that is not interrupted."""
    database: Interrupted
    read_all: Callable[[], Contents]

    def key(self, name: str) -> AccountKey:
        """Return the key of an account of the household."""
        return AccountKey(int(self.household.inventory.things[name]))

    async def ask(self, operation: str, headers: Mapping[str, str]) -> tuple[int, object]:
        """Ask for an operation as the table says, and return the status and what is told."""
        answer = await self.household.client.send(request_for(self.household, operation, headers))
        return answer.status_code, answer.json() if answer.content else None


async def by_login(place: Place, row: Row, number: int) -> tuple[dict[str, str], Take]:
    """Log a browser in that is logged out later."""
    account = place.key("member" if row.audience[Caller.MEMBER] == OK else "owner")
    secret = f"browser-{number}"
    login = await place.store.begin_login(account, hash_secret(secret), "a browser")

    async def log_out() -> None:
        await place.store.end_login(login.key, account)

    return {"Cookie": f"{COOKIE}={secret}", CSRF_HEADER: csrf_of(secret)}, log_out


async def by_token(place: Place, row: Row, number: int) -> tuple[dict[str, str], Take]:
    """Create a token that is revoked later."""
    assert row.audience[Caller.ADMIN] == OK
    account, secret = place.key("owner"), f"{TOKEN_PREFIX}{number}"
    made = await place.store.make_token(account, secret, TokenScope, hash_secret(secret))
    await place.store.find_token(hash_secret(secret))  # the first use of a token is written down

    async def revoke() -> None:
        await place.store.end_token(made.key, account)

    return {"Authorization": f"Bearer {secret}"}, revoke


async def by_link(place: Place, row: Row, number: int) -> tuple[dict[str, str], Take]:
    """Link the other member with the one to whom everything belongs, until they are unlinked."""
    assert row.audience[Caller.MEMBER] == OK
    if number == 1:
        account = await place.store.account(place.key("other"))
        here, at = account.place("hello"), place.store.now()
        await place.store.receive(Inbound.text("hi", address=here, sender=account.sender, at=at))
    other, member = (
        Identity(platform=LOCAL, id=f"account-{place.key(name)}") for name in ("other", "member")
    )
    await place.store.join(other, member)

    async def unlink() -> None:
        await place.store.part(other)

    return place.household.headers(Caller.OTHER), unlink


WAYS = {"login": by_login, "token": by_token, "link": by_link}
NEVER_HAD = {"login": Caller.ENDED, "token": Caller.REVOKED, "link": Caller.OTHER}
"""Who is told what a user is told whose access was taken away."""


def cases() -> Iterator[tuple[str, str]]:
    """List operations, each with a way to have access to it."""
    for operation, row in TABLE.items():
        if operation in STREAMS | WITHOUT_ACCESS.keys():
            continue
        has_token = row.audience[Caller.ADMIN] == OK and operation != "log_out"
        yield operation, "token" if has_token else "login"
        if row.audience[Caller.MEMBER] == OK and (
            row.audience[Caller.OTHER] or operation == "arrange_sessions"
        ):
            yield operation, "link"


@pytest.fixture(scope="session")
def postgres_household(postgres_server: Server) -> tuple[str, Inventory]:
    """Furnish a household on PostgreSQL, of which every test gets a copy."""
    factory = PostgresFactory(postgres_server)

    async def open_one(
        *, rules: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> Store:
        return Store(await factory(clock=clock), rules)

    return factory.name, asyncio.run(furnish(open_one))


@pytest.fixture
def server_copy(
    database_kind: str, request: pytest.FixtureRequest
) -> tuple[PostgresFactory, Inventory] | None:
    """Copy the household on PostgreSQL, for a test that runs there."""
    if database_kind != POSTGRES:
        return None
    name, inventory = request.getfixturevalue("postgres_household")
    server = request.getfixturevalue("postgres_server")
    return PostgresFactory(server, copy_of=name), inventory


@pytest.fixture
async def place(
    server_copy: tuple[PostgresFactory, Inventory] | None, template: Template, tmp_path: Path
) -> AsyncIterator[Place]:
    """Move into a copy of the household."""
    folder = tmp_path / "house"
    if server_copy is not None:
        factory, inventory = server_copy
        folder.mkdir()
        async with moved_in(await factory(clock=FakeClock()), inventory, folder) as (one, asked):
            read = partial(read_server, factory.where, folder)
            yield Place(household=one, store=one.store, database=asked, read_all=read)
        assert factory.leftovers() == []
    else:
        furnished, inventory = template
        shutil.copytree(furnished, folder)
        database = SqliteDatabase(folder / DATABASE, durable=False, clock=FakeClock())
        await database.open()
        async with moved_in(database, inventory, folder) as (one, asked):
            read = partial(read_file, folder)
            yield Place(household=one, store=one.store, database=asked, read_all=read)


@asynccontextmanager
async def moved_in(
    database: Database, inventory: Inventory, folder: Path
) -> AsyncIterator[tuple[Household, Interrupted]]:
    """Serve a furnished database to requests that can be interrupted."""
    interrupted = Interrupted(database)
    asked = Store(cast("Database", interrupted))
    async with live_in(Store(database), asked, inventory, folder) as household:
        yield household, interrupted


def read_file(folder: Path) -> Contents:
    """Read all that SQLite holds."""
    path = str(folder / DATABASE)
    with closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as db:
        named = db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        ).fetchall()
        rows: dict[str, object] = {
            str(name): db.execute(f'SELECT * FROM "{name}"').fetchall() for (name,) in named
        }
    return rows | files_in(folder)


def read_server(where: str, folder: Path) -> Contents:
    """Read all that PostgreSQL holds."""
    rows = sql.SQL("SELECT t::text FROM {} t ORDER BY 1")
    with psycopg.connect(where, autocommit=True) as db:
        named = db.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        ).fetchall()
        held = {name: db.execute(rows.format(sql.Identifier(name))).fetchall() for (name,) in named}
    return held | files_in(folder)


def files_in(folder: Path) -> dict[str, object]:
    """Read the files beside the database."""
    files = [one for one in folder.rglob("*") if one.is_file() and DATABASE not in one.name]
    return {str(one.relative_to(folder)): one.read_bytes() for one in files}


def trace(contents: Contents, operation: str) -> object:
    """Return what an operation would change.

    Not which requests are known, as one that was begun and refused is not known any more; and of
    the settings only the file, as a gateway that serves writes by itself.
    """
    if TABLE[operation].is_served:
        return {name: held for name, held in contents.items() if isinstance(held, bytes)}
    return {name: held for name, held in contents.items() if name != "outcomes"}


READS = ("read_", "list_", "count_", "find_", "sum_", "plan_")
"""How the names of operations begin that only read."""


@on(FAST, POSTGRES)
@pytest.mark.parametrize(
    ("operation", "way"), [case for case in cases() if not case[0].startswith(READS)]
)
async def test_nothing_is_done_after_access_was_taken_away(
    operation: str, way: str, place: Place
) -> None:
    """Whichever transaction follows, it changes nothing, and tells what a stranger is told."""
    is_changed, transactions = await sweep(operation, way, place)

    assert transactions > 1 or operation in WITHOUT_TRANSACTION
    # Otherwise it could not be told here whether it was refused.
    assert is_changed or way == "link" or operation in CHANGES_NOTHING


@on(FAST)
@pytest.mark.parametrize(
    ("operation", "way"), [case for case in cases() if case[0].startswith(READS)]
)
async def test_nothing_is_told_after_access_was_taken_away(
    operation: str, way: str, place: Place
) -> None:
    """Whichever transaction follows, it tells what a stranger is told."""
    await sweep(operation, way, place)


async def sweep(operation: str, way: str, place: Place) -> tuple[bool, int]:
    """Ask for an operation, and take access away before its first transaction, then its second.

    Return whether anything is changed by it in the end, and before how many transactions it was
    refused.
    """
    row = TABLE[operation]
    refusal = await place.ask(operation, place.household.headers(NEVER_HAD[way]))
    has_key = way == "link" or operation in MADE_SLOWLY
    async with place.household.gateway if row.is_served else nullcontext():
        for nth in count(1):
            shown, take = await WAYS[way](place, row, nth)
            before, then = place.read_all(), list[Contents]()

            async def take_away(take: Take = take, then: list[Contents] = then) -> None:
                then.append(place.read_all())
                await take()
                then.append(place.read_all())

            place.database.before(nth, take_away)
            known = {"Idempotency-Key": f"key-{nth}"} if has_key else {}
            status, told = await place.ask(operation, shown | known)
            after = place.read_all()
            is_over = not then or nth == LAST.get(operation)
            if is_over or trace(then[0], operation) != trace(before, operation):
                assert status < 500
                return trace(after, operation) != trace(before, operation), nth - 1
            assert (status, told) == refusal, f"before transaction {nth}"
            assert trace(after, operation) == trace(then[1], operation)
            assert row.is_served or after["outcomes"] == before["outcomes"]
    raise AssertionError("A request has no end")


@on(FAST, POSTGRES)
@pytest.mark.parametrize("change", ["role = 'member'", "profile = 'coder'"])
async def test_rights_that_became_less_are_rights_no_more(
    database_factory: DatabaseFactory, change: str
) -> None:
    """Whoever may do less than when the request began is refused, and asks again."""
    database = Interrupted(await database_factory())
    store = Store(cast("Database", database))

    async def change_account() -> None:
        database_factory.tamper(f"UPDATE accounts SET {change} WHERE role = 'owner'")

    async with calling(store) as callers:
        before = await callers.owner.get("/api/projects")
        database.before(2, change_account)
        refused = await callers.owner.post("/api/projects", json={"name": "House"})

    assert (before.status_code, refused.status_code) == (200, 401)
    assert await store.projects() == []


@on(FAST, POSTGRES)
async def test_an_import_stops_where_access_ends(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """Sessions that were imported before are kept; none is added after."""
    async with await sqlite_at(tmp_path / "elsewhere.db")() as full, calling(full) as callers:
        for n in range(3):
            await callers.talk("member", f"n{n}")
        file = (await callers.owner.get("/api/exports/history")).content
    database = Interrupted(await database_factory())
    store = Store(cast("Database", database))
    async with calling(store) as callers:
        owner = callers.accounts["owner"].key
        (token,) = [one for one in await store.tokens(owner) if TokenScope.ADMIN in one.scopes]
        await callers.owner.get("/api/me")  # the first use of a token is written down

        async def revoke() -> None:
            await store.end_token(token.key, owner)

        database.before(5, revoke)
        refused = await callers.owner.post("/api/imports", content=file)
    rows = (await store.sessions.list(SessionFilter(shelf=ListSection.ALL))).rows

    assert database.has_happened
    assert refused.status_code == 401
    assert len(rows) < 3


@on(FAST, POSTGRES)
async def test_a_summary_is_not_used_by_whom_it_is_not_shown(store: Store) -> None:
    """Access that ends while a summary is written lets the transcript stay as it was."""
    gateway, scribe = served(store)
    async with calling(store, gateway=gateway) as callers:
        id = await long_talk(callers)
        scribe.free.clear()
        asked = asyncio.create_task(callers.member.post(f"/api/sessions/{id}/compress", json={}))
        while not scribe.wrote(SUMMARY_TASK):
            await asyncio.sleep(0)
        await store.end_account(callers.accounts["member"].key)
        scribe.free.set()
        refused = await asked

    assert refused.status_code == 401
    assert await store.transcripts.hidden_ranges(id) == []


@on(FAST, POSTGRES)
@pytest.mark.parametrize("has_access", [True, False])
async def test_a_command_that_waited_is_carried_out_for_whom_it_is_shown(
    store: Store, *, has_access: bool
) -> None:
    """A command from the web app that had to wait asks again when its time has come."""
    async with calling(store) as callers:
        id = await long_talk(callers)
        await callers.member.post(f"/api/sessions/{id}/messages", json={"text": "five"})
        line = {"line": "/compress"}
        waits = await callers.member.post(f"/api/sessions/{id}/commands", json=line)
        if not has_access:
            await store.end_account(callers.accounts["member"].key)
        claim = await store.turns.claim()
        assert claim is not None
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])
        (done,) = await execute_waiting(store.database)

    assert waits.json()["text"].startswith("That waits")
    assert done.reply is not None
    assert (done.reply.errand is not None) is has_access


async def test_no_request_uses_the_store_before_it_is_known_who_asks() -> None:
    """A route that forgets to ask who asks reads nothing and writes nothing."""
    authority = authority_of(HTTPConnection({"type": "http"}))

    with pytest.raises(NotLoggedIn):
        authority.check(cast("Transaction", None))
