"""`threadline backup` and `restore` carry everything into one file and back, on both databases."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path

import apsw
import psycopg
import pytest

import threadline
from tests.cli.program import Pipe, run
from tests.cli.web_accounts import seen, welcome
from tests.databases import FAST, POSTGRES, DatabaseFactory, PostgresFactory, Server, on
from threadline.assembly import restore
from threadline.core.address import Address, Kind, Sender
from threadline.core.deletion import Seal
from threadline.core.errors import Conflict, StorageError
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind, Role, Text, say
from threadline.core.person import Identity, Viewer
from threadline.core.session import SessionId
from threadline.database.port import Database
from threadline.database.sqlite.backup import restore as restore_file
from threadline.database.timestamps import stamp
from threadline.store import Store
from threadline.store.deletion.preview import find_forgotten
from threadline.testing.clock import FakeClock

HERE = Address(platform="telegram", kind=Kind.DM, chat="alice")
ALICE = Sender(id="alice", name="Alice")


async def talk(store: Store, text: str) -> SessionId:
    """Say something with a picture, and be answered."""
    photo = await store.attachments.put(
        text.encode() * 99_999, "image/png", MediaKind.IMAGE, "p.png"
    )
    inbound = Inbound(
        address=HERE, sender=ALICE, at=store.now(), parts=(Text(text=text), photo), message_id=text
    )
    arrival = await store.receive(inbound)
    claim = await store.turns.claim()
    assert claim is not None
    assert arrival.session_id is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, f"re: {text}")])
    return arrival.session_id


async def contents(store: Store) -> list[object]:
    """Read everything that can be compared."""
    found: list[object] = []
    for row in (await store.sessions.list()).rows:
        found.append(row.session)
        found += await store.transcripts.read(row.session.id, most=1000)
        found += await store.turns.list(row.session.id)
        found += await store.sessions.routes(row.session.id)
    return found + await seen(store)


async def fill(store: Store) -> SessionId:
    """Make a store in which there is something of many kinds."""
    id = await talk(store, "one")
    await talk(store, "two")
    branch = (await store.transcripts.branch(id, title="a branch")).id
    await store.transcripts.record(branch, [say(Role.ASSISTANT, "own")])
    await store.transcripts.undo(id)
    await welcome(store, branch)
    return branch


@pytest.mark.parametrize("into", ["sqlite", "postgres"])
@on(FAST, POSTGRES)
async def test_a_backup_comes_back_on_either_database(
    database_factory: DatabaseFactory, into: str, home: Path, postgres_server: Server
) -> None:
    """What was backed up while the store was open is there again, and the store goes on."""
    store = Store(await database_factory())
    branch = await fill(store)
    before = await contents(store)
    file = home / "backup.db"

    await store.back_up(file)
    await talk(store, "after the backup")
    name = postgres_server.create()
    where = str(home / "new.db") if into == "sqlite" else postgres_server.url(name)
    assert await restore(where, file) is None

    assert file.stat().st_mode & 0o777 == 0o600
    async with threadline.open(where) as restored:
        assert await contents(restored) == before
        assert await restored.check(deep=True) == []
        found = await restored.search("two OR one own", asker=Viewer.owner())
        assert not found.hits
        hits = (await restored.search("own", asker=Viewer.owner())).hits
        assert {hit.session_id for hit in hits} == {branch}
        again = Inbound.text("one", address=HERE, sender=ALICE, at=restored.now(), message_id="one")
        assert (await restored.receive(again)).is_repeated
        new = await talk(restored, "three")
        assert "three" in [line.text for line in await restored.transcripts.read(new)]
    postgres_server.drop(name)


@on(FAST, POSTGRES)
async def test_a_used_database_is_kept_aside(database_factory: DatabaseFactory, home: Path) -> None:
    """Nothing is overwritten unless asked for, and even then it can be had back."""
    store = Store(await database_factory())
    await fill(store)
    old = await contents(store)
    first, second = home / "first.db", home / "second.db"
    await store.back_up(first)
    await talk(store, "newer")
    newer = await contents(store)
    await store.close()

    with pytest.raises(Conflict):
        await restore(database_factory.where, first)
    async with threadline.open(database_factory.where) as untouched:
        assert await contents(untouched) == newer
        with pytest.raises(Conflict):
            await untouched.back_up(first)
        await untouched.back_up(second)
        await untouched.back_up(second, replace=True)
    aside = await restore(database_factory.where, first, replace=True)

    assert aside is not None
    async with threadline.open(database_factory.where) as restored:
        assert await contents(restored) == old
    async with threadline.open(aside) as kept:
        assert await contents(kept) == newer


@on(FAST)
async def test_an_open_database_is_not_replaced(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """While a process has the file open nobody takes it from under its feet."""
    store = Store(await database_factory())
    await fill(store)
    await store.back_up(home / "backup.db")

    with pytest.raises(Conflict):
        await restore(database_factory.where, home / "backup.db", replace=True)

    assert await contents(store)


@on(FAST)
async def test_writers_go_on_during_a_backup(database_factory: DatabaseFactory, home: Path) -> None:
    """A backup is of one moment, though others write all the time, and does not begin anew."""
    store = Store(await database_factory())
    id = await talk(store, "one")
    for n in range(30):
        await talk(store, f"word {n}")
    over = asyncio.Event()
    said = 0

    async def speak() -> None:
        nonlocal said
        while not over.is_set():
            await store.transcripts.record(id, [say(Role.ASSISTANT, "more")])
            said += 1

    speaking = asyncio.create_task(speak())
    steps: list[tuple[int, int]] = []
    await store.back_up(home / "backup.db", told=lambda *step: steps.append(step))
    over.set()
    await speaking

    assert said > 5
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert len({whole for _, whole in steps}) == 1
    async with threadline.open(home / "backup.db") as kept:
        assert await kept.check(deep=True) == []


@pytest.mark.parametrize(
    "content", [b"", b"no database at all", b"SQLite format 3\0" + b"x" * 4096]
)
def test_what_is_no_backup_is_refused(home: Path, content: bytes) -> None:
    """A file that is empty, foreign or torn is refused before anything is touched."""
    run("chat", lines="hello\n")
    file = home / "file"
    file.write_bytes(content)

    result = run("restore", str(file), "--force")

    assert result.exit_code == 1
    assert result.stderr.startswith("threadline: ")
    assert len(json.loads(run("sessions", "list", "--json").stdout)) == 1


def test_a_newer_backup_is_refused(home: Path) -> None:
    """A backup of a newer Threadline is not brought back by this one."""
    run("chat", lines="hello\n")
    run("backup", "b.db")
    connection = apsw.Connection("b.db")
    connection.execute("INSERT INTO migrations VALUES (9999, 'later', 0)")
    connection.close()

    result = run("restore", "b.db", "--force")

    assert result.exit_code == 1
    assert "newer Threadline" in result.stderr


def test_backup_and_restore_at_the_terminal(home: Path) -> None:
    """Two commands, plain words, and no second file left behind."""
    run("chat", lines="hello\n")
    told = json.loads(run("backup", "b.db", "--json").stdout)
    assert told["bytes"] == (home / "b.db").stat().st_size
    assert run("backup", "b.db").exit_code == 1
    assert run("backup", "b.db", "--force").exit_code == 0
    run("chat", lines="/new\nsomething later\n")

    assert run("restore", "b.db").exit_code == 1
    result = run("restore", "b.db", "--force")

    assert result.exit_code == 0
    assert "What was there before is in" in result.stdout
    assert len(json.loads(run("sessions", "list", "--json").stdout)) == 1
    assert [file.name for file in home.iterdir() if file.name.startswith((".b.db", "b.db"))] == [
        "b.db"
    ]


def test_a_backup_needs_a_folder(home: Path) -> None:
    """A place that is not there is an error in plain words."""
    run("chat", lines="hello\n")

    result = run("backup", "nowhere/b.db")

    assert result.exit_code == 1
    assert "cannot be written" in result.stderr


@on(FAST)
async def test_a_full_disk_leaves_no_half_backup(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """Where a backup cannot be finished, nothing of it is left under any name."""
    store = Store(await database_factory())
    await fill(store)

    def stumble(_done: int, _whole: int) -> None:
        raise StorageError("The disk is full")

    with pytest.raises(StorageError):
        await store.back_up(home / "b.db", told=stumble)

    assert not [file for file in home.iterdir() if "b.db" in file.name]


KILLED = """
import os, sys
from pathlib import Path
from threadline.database.backup import place

def make(unseen):
    unseen.with_name(unseen.name + "-journal").touch()
    print("begun", flush=True)
    if sys.argv[2] == "killed":
        os._exit(9)
    sys.stdin.read()

place(Path(sys.argv[1]), make, replace=False)
"""
"""Begins a backup, and dies or waits in the middle of it."""


@on(FAST)
async def test_a_killed_backup_is_removed_by_the_next_one(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """What a killed backup left in a folder goes with the next backup there; a live one stays."""
    store = Store(await database_factory())
    await fill(store)
    script = home / "backup.py"
    script.write_text(KILLED)
    living = subprocess.Popen(
        [sys.executable, script, home / "living.db", "waits"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert living.stdout is not None
    await asyncio.to_thread(living.stdout.readline)
    subprocess.run([sys.executable, script, home / "killed.db", "killed"], check=False)
    assert [file for file in home.iterdir() if file.name.startswith(".killed.db")]

    await store.back_up(home / "b.db")

    assert not [file for file in home.iterdir() if file.name.startswith(".killed.db")]
    assert [file for file in home.iterdir() if file.name.startswith(".living.db")]
    await asyncio.to_thread(living.communicate)
    assert not [file for file in home.iterdir() if file.name.startswith(".living.db")]


@on(FAST, POSTGRES)
async def test_what_was_forgotten_does_not_come_back_with_a_backup(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """Who was forgotten after the backup is forgotten again; who had come back before it stays."""
    store = Store(await database_factory())
    mine = await talk(store, "mine")
    there = Address(platform="telegram", kind=Kind.DM, chat="bob")
    his = Inbound.text("his", address=there, sender=Sender(id="bob"), at=store.now())
    await store.receive(his)
    back = Address(platform="telegram", kind=Kind.DM, chat="carol")
    hers = Inbound.text("hers", address=back, sender=Sender(id="carol"), at=store.now())
    await store.receive(hers)
    await store.people.delete(Identity(platform="telegram", id="carol"))
    returned = (await store.receive(hers)).session_id
    await store.sessions.reset(HERE, ALICE)
    kept = await talk(store, "kept")
    await store.back_up(home / "backup.db")
    await store.sessions.delete(mine)
    await store.people.delete(Identity(platform="telegram", id="bob"))
    await store.close()

    aside = await restore(database_factory.where, home / "backup.db", replace=True)

    assert aside is not None
    async with threadline.open(database_factory.where) as restored:
        assert {row.session.id for row in (await restored.sessions()).rows} == {kept, returned}
        assert await restored.database.read(
            find_forgotten,
            [mine, kept],
            seal=Seal(key=await restored.database.secret()),
        ) == {mine}
        assert all(one.state == "done" for one in await restored.certificates())


@pytest.mark.parametrize("start", [0, 4096])
def test_a_damaged_database_is_replaced(home: Path, start: int) -> None:
    """Damage is why one restores: the damaged file is kept aside, and the backup is there."""
    run("chat", lines="hello\n")
    run("backup", "b.db")
    file = home / ".threadline" / "threadline.db"
    content = file.read_bytes()
    file.write_bytes(content[:start] + b"\xff" * 30_000 + content[start + 30_000 :])

    result = run("restore", "b.db", "--force")

    assert result.exit_code == 0, result.stderr
    assert len(json.loads(run("sessions", "list", "--json").stdout)) == 1
    assert run("doctor", "--deep").exit_code == 0


@on(FAST)
async def test_last_commits_are_kept_aside_with_their_database(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """What was only in the journal when a process died is found again in what is kept aside."""
    store = Store(await database_factory())
    await store.back_up(home / "backup.db")
    await talk(store, "only in the journal")
    died, journal = home / "died.db", home / "died.db-wal"
    died.write_bytes(Path(database_factory.where).read_bytes())
    journal.write_bytes(Path(f"{database_factory.where}-wal").read_bytes())
    written = journal.read_bytes()
    now = store.now()

    aside = restore_file(died, home / "backup.db", replace=True, now=now, told=lambda *_: None)

    assert aside is not None
    assert Path(f"{aside}-wal").read_bytes() == written
    assert not journal.exists()
    async with threadline.open(aside) as kept, threadline.open(died) as restored:
        (row,) = (await kept.sessions()).rows
        assert row.session.title == "only in the journal"
        assert (await restored.sessions()).rows == []


@on(FAST)
async def test_a_stray_journal_does_not_get_into_what_is_restored(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """The journal of a database that somebody deleted is put away, and nothing of it is read."""
    store = Store(await database_factory())
    await store.back_up(home / "backup.db")
    await talk(store, "of another database")
    stray = home / "new.db-wal"
    stray.write_bytes(Path(f"{database_factory.where}-wal").read_bytes())

    assert await restore(home / "new.db", home / "backup.db") is None

    async with threadline.open(home / "new.db") as restored:
        assert (await restored.sessions()).rows == []
        assert await restored.check(deep=True) == []


@on(POSTGRES)
async def test_a_backup_tells_the_time_by_the_clock_of_the_store(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """The file that is made of tables was made when everybody else says it was."""
    clock = FakeClock()
    store = Store(await database_factory(clock=clock))
    await store.back_up(home / "backup.db")

    file = apsw.Connection(str(home / "backup.db"))
    made = file.execute("SELECT DISTINCT applied_at FROM migrations").fetchall()
    file.close()

    assert made == [(stamp(clock()),)]


def test_a_database_is_not_replaced_by_its_own_backup(home: Path) -> None:
    """Neither when it is copied nor when it is restored: nothing is moved, nothing is lost."""
    run("chat", lines="precious words\n")
    path = home / ".threadline" / "threadline.db"

    for command in (["backup", str(path), "--force"], ["restore", str(path), "--force"]):
        result = run(*command)
        assert result.exit_code == 1
        assert "This is the database itself" in result.stderr
    assert "precious words" in run("search", "precious").stdout.replace("[", "").replace("]", "")
    assert not list(path.parent.glob("*.before-*"))


def test_a_backup_does_not_take_the_place_of_a_store_in_use(home: Path) -> None:
    """Whoever writes there would lose their words."""
    run("chat", lines="hello\n")
    run("chat", "-d", "other.db", lines="theirs\n")
    with Pipe(home, "-d", "other.db") as chat:
        chat.say("still here")
        chat.expect("still here")
        result = run("backup", "other.db", "--force")

    assert result.exit_code == 1
    assert "Another process has the database open" in result.stderr
    assert "still here" in run("sessions", "search", "still", "-d", "other.db").stdout.replace(
        "[", ""
    ).replace("]", "")


async def test_a_restore_that_fails_leaves_the_database_where_it_was(home: Path) -> None:
    """Nothing is put aside before the copy is whole."""
    path, backup = home / "a.db", home / "b.db"
    async with threadline.open(path) as store:
        await talk(store, "precious")
        await store.back_up(backup)

    def break_off(_done: int, _whole: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore_file(path, backup, replace=True, now=FakeClock()(), told=break_off)

    assert not list(home.glob("*.before-*"))
    async with threadline.open(path) as store:
        assert len((await store.sessions.list()).rows) == 1


@on(FAST, POSTGRES)
async def test_a_store_that_is_open_is_not_replaced(
    database_factory: DatabaseFactory, home: Path
) -> None:
    """While a process has the store open, restoring is refused, and nothing changes."""
    store = Store(await database_factory())
    await talk(store, "old")
    await store.back_up(home / "b.db")
    await talk(store, "new")
    before = await texts(store)

    with pytest.raises(Conflict, match="has the database open"):
        await restore(database_factory.where, home / "b.db", replace=True)

    assert await texts(store) == before
    assert not list(home.glob("*.before-*"))


@on(POSTGRES)
async def test_the_copy_and_the_swap_are_one_step(
    database_factory: PostgresFactory, home: Path
) -> None:
    """From the copy to the end of the swap nobody can open the store or write to it.

    In between, messages were acknowledged that were neither in the database nor in the copy.
    """
    store = Store(await database_factory())
    await talk(store, "old")
    await store.back_up(home / "b.db")
    await talk(store, "new")
    await store.close()
    loop = asyncio.get_running_loop()
    opening: list[Future[Database]] = []
    refusals: list[bool] = []

    def interfere(_done: int, _whole: int) -> None:
        if not opening:
            opening.append(asyncio.run_coroutine_threadsafe(database_factory(), loop))
        with psycopg.connect(database_factory.where) as stranger:
            stranger.execute("SET lock_timeout = '1ms'")
            try:
                stranger.execute("SELECT key FROM sessions")
            except psycopg.errors.LockNotAvailable:
                refusals.append(opening[0].done())

    aside = await restore(database_factory.where, home / "b.db", replace=True, told=interfere)
    late = Store(await asyncio.wrap_future(opening[0]))

    assert refusals
    assert set(refusals) == {False}
    assert "old" in await texts(late)
    assert "new" not in await texts(late)
    assert aside is not None
    async with threadline.open(aside) as kept:
        assert "new" in await texts(kept)


async def texts(store: Store) -> list[str]:
    """Return what was said in all sessions."""
    rows = (await store.sessions.list()).rows
    return [line.text for row in rows for line in await store.transcripts.read(row.session.id)]
