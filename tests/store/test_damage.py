"""Damage: full disks, forbidden and torn files, foreign and newer stores, and clocks that jump."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import threadline
from tests.crash.verify import broken_laws, looking
from tests.databases import DURABLE, FAST, POSTGRES, OpenStore, on
from threadline.assembly import open_database
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Damaged, LeaseLost, StorageError
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.turn import LEASE
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store

NOBODY = 65534
ADDRESS = Address(platform="p", kind=Kind.DM, chat="c")


def hello(store: Store, id: str, words: str = "hello") -> Inbound:
    """Make a message."""
    return Inbound.text(
        f"{id} {words}", address=ADDRESS, sender=Sender(id="s"), at=store.now(), message_id=id
    )


async def texts(store: Store) -> list[str]:
    """Read all that people said, in order."""
    found = []
    for row in (await store.sessions.list()).rows:
        found += [
            message.text for message in await store.transcripts.read(row.session.id, most=1000)
        ]
        found += [message.text for message in await store.transcripts.waiting(row.session.id)]
    return found


class SmallDisk(apsw.VFS):
    """A disk with room for so many more bytes."""

    def __init__(self, name: str) -> None:
        self.room = 10**9
        super().__init__(name, "unix")

    def xOpen(  # noqa: N802 - SQLite's own names
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return SmallFile(name, flags, self)


class SmallFile(apsw.VFSFile):
    """A file on a disk that may be full."""

    def __init__(
        self, filename: str | apsw.URIFilename | None, flags: list[int], disk: SmallDisk
    ) -> None:
        self._disk = disk
        super().__init__("unix", filename, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        if self._disk.room < len(data):
            raise apsw.FullError("no room")
        self._disk.room -= len(data)
        super().xWrite(data, offset)


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    """Give SQLite a disk that can be full."""
    disk = SmallDisk("small")
    yield disk
    disk.unregister()


@pytest.mark.parametrize("room", [0, 100, 5_000, 20_000, 60_000])
async def test_a_full_disk(small_disk: SmallDisk, tmp_path: Path, room: int) -> None:
    """A full disk is named, keeps what was acknowledged, is read, and heals when there is room."""
    database = SqliteDatabase(tmp_path / "s.db", vfs="small")
    await database.open()
    async with Store(database) as store:
        told = []
        await store.receive(hello(store, "0"))
        told.append("0 hello")
        small_disk.room = room
        with pytest.raises(StorageError, match="disk is full"):
            for n in range(1, 1000):
                await store.receive(hello(store, f"{n}", "hello " * 100))
                told.append(f"{n} " + "hello " * 100)
        assert await texts(store) == told

        small_disk.room = 10**9
        await store.receive(hello(store, "after"))
        assert await texts(store) == [*told, "after hello"]
        assert await store.check(deep=True) == []
    with looking(str(tmp_path / "s.db")) as look:
        assert broken_laws(look) == []


@contextmanager
def unprivileged() -> Iterator[None]:
    """Be somebody whom file permissions bind, also where the tests run as root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder that everybody can reach."""
    folder = Path(tempfile.mkdtemp(prefix="threadline-damage-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o666, 0o555), (0o444, 0o555), (0, 0o777)])
async def test_a_store_that_may_not_be_opened(
    folder: Path, file_mode: int, folder_mode: int
) -> None:
    """A file or folder without permission is refused with a reason, and stays as it was."""
    path = folder / "s.db"
    async with threadline.open(path) as store:
        await store.receive(hello(store, "1"))
    before = path.read_bytes()
    path.chmod(file_mode)
    folder.chmod(folder_mode)

    with unprivileged(), pytest.raises(StorageError) as caught:
        await open_database(path)

    assert str(path) in str(caught.value)
    assert caught.value.hint
    path.chmod(0o666)
    folder.chmod(0o777)
    assert path.read_bytes() == before
    async with threadline.open(path) as store:
        assert await texts(store) == ["1 hello"]


async def test_a_read_only_file(folder: Path) -> None:
    """A file that may only be read can be read; a write says why it fails, and changes nothing."""
    path = folder / "s.db"
    async with threadline.open(path) as store:
        await store.receive(hello(store, "1"))
    before = path.read_bytes()
    path.chmod(0o444)

    with unprivileged():
        async with threadline.open(path) as store:
            for n in range(3):
                with pytest.raises(StorageError, match="read-only.*writable"):
                    await store.receive(hello(store, f"late {n}"))
            assert await texts(store) == ["1 hello"]

    assert path.read_bytes() == before


async def test_a_lock_file_of_another_user(folder: Path) -> None:
    """Where another user has the store open too, nobody takes them for dead, and all goes on."""
    path = folder / "s.db"
    async with threadline.open(path) as store:
        await store.receive(hello(store, "1"))
        claimed = await store.turns.claim()
        assert claimed is not None
        for file in folder.iterdir():
            file.chmod(0o777)
        with unprivileged():
            async with threadline.open(path) as other:
                assert await other.turns.interrupt_dead() == []
        await store.turns.finish(claimed.lease)


def garbage(path: Path) -> None:
    """Put noise where a database should be."""
    path.write_bytes(bytes(range(256)) * 64)


def foreign(path: Path) -> None:
    """Put another program's database there."""
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE bookmarks (url TEXT)")
    other.close()


def newer(path: Path) -> None:
    """Put a store there that a later version has written."""
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT, applied_at INT)")
    other.execute("INSERT INTO migrations VALUES (999, 'the future', 0)")
    other.close()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (garbage, "no SQLite database"),
        (foreign, "belongs to another program"),
        (newer, "newer Threadline: its schema is 999"),
        (Path.mkdir, "cannot be opened"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(50)), "no SQLite database"),
    ],
    ids=["garbage", "foreign", "newer", "directory", "stump"],
)
async def test_what_is_no_store_of_ours_is_refused(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    """Whatever else lies at the path is refused with its reason, and not one byte is changed."""
    path = tmp_path / "s.db"
    make(path)
    before = path.read_bytes() if path.is_file() else None

    with pytest.raises(StorageError, match=why) as caught:
        await open_database(path)

    assert str(path) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [file.name for file in tmp_path.iterdir()] == ["s.db"]


async def test_a_missing_folder(tmp_path: Path) -> None:
    """A store in a folder that is not there says so, and makes none."""
    with pytest.raises(StorageError, match="cannot be opened.*folder"):
        await open_database(tmp_path / "no" / "such" / "s.db")

    assert not (tmp_path / "no").exists()


async def filled(path: Path, count: int = 60) -> list[str]:
    """Make a store with some pages in it; answer what was said."""
    async with threadline.open(path) as store:
        for n in range(count):
            await store.receive(hello(store, f"{n}", "x" * 500))
        return await texts(store)


async def test_a_torn_page_is_named(tmp_path: Path) -> None:
    """Bytes that changed on the disk are found by a check, or refused when they are read."""
    path = tmp_path / "s.db"
    said = await filled(path)
    content = path.read_bytes()
    found = refused = 0
    said_why: list[str | None] = []
    for page in range(1, len(content) // 4096):
        torn = bytearray(content)
        torn[page * 4096 : page * 4096 + 2048] = os.urandom(2048)
        path.write_bytes(torn)
        try:
            async with threadline.open(path) as store:
                findings = await store.check(deep=True)
                found += any(finding.grave for finding in findings)
                await texts(store)
        except StorageError as error:
            refused += 1
            said_why.append(error.hint)
        for rest in tmp_path.glob("s.db-*"):
            shutil.rmtree(rest) if rest.is_dir() else rest.unlink()
    assert found + refused >= len(content) // 4096 - 1
    assert found
    assert refused
    assert all(said_why)
    path.write_bytes(content)
    async with threadline.open(path) as store:
        assert await texts(store) == said


async def test_a_page_torn_while_the_store_is_open(tmp_path: Path) -> None:
    """A store that meets damage while it runs says so to each caller, and its threads live on."""
    path = tmp_path / "s.db"
    await filled(path)
    size = path.stat().st_size
    async with threadline.open(path) as store:
        with path.open("r+b") as file:
            for page in range(1, size // 4096):
                file.seek(page * 4096)
                file.write(os.urandom(4096))
        for n in range(3):
            with pytest.raises(StorageError, match="damaged"):
                await store.receive(hello(store, f"late {n}"))
            with pytest.raises(StorageError, match="damaged"):
                await texts(store)
        assert any(finding.grave for finding in await store.check())


async def test_a_log_that_was_cut_off_or_taken_away(tmp_path: Path) -> None:
    """With a shortened write-ahead log the store is whole and ends earlier: never a mixture."""
    live = tmp_path / "live.db"
    async with threadline.open(live) as store:
        said = []
        for n in range(40):
            await store.receive(hello(store, f"{n}", "x" * 200))
            said.append(f"{n} " + "x" * 200)
        log = Path(f"{live}-wal").read_bytes()
        main = live.read_bytes()
    assert len(log) > 100_000

    ends = set()
    for number, length in enumerate([0, 10, 32, 5_000, len(log) // 2, len(log) - 1, len(log)]):
        path = tmp_path / f"{number}" / "s.db"
        path.parent.mkdir()
        path.write_bytes(main)
        if length:
            Path(f"{path}-wal").write_bytes(log[:length])
        async with threadline.open(path) as store:
            assert await store.check(deep=True) == []
            there = await texts(store)
            assert there == said[: len(there)]
            ends.add(len(there))
            await store.receive(hello(store, "after"))
            assert (await texts(store))[-1] == "after hello"
    assert {0, 40} < ends


class Clock:
    """A clock that can be set."""

    def __init__(self) -> None:
        self.at = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at


@on(FAST, POSTGRES)
async def test_the_clock_jumps_back(open_store: OpenStore) -> None:
    """A lease given before the clock went back counts as over once it is two leases ahead."""
    clock = Clock()
    worker, other = await open_store(clock=clock), await open_store(clock=clock)
    arrival = await worker.receive(hello(worker, "1"))
    claimed = await worker.turns.claim()
    assert claimed is not None
    assert arrival.session_id is not None

    clock.at -= LEASE
    assert await other.turns.interrupt_dead() == []
    clock.at -= LEASE + timedelta(seconds=1)
    assert await other.turns.interrupt_dead() == [claimed.turn.id]

    with pytest.raises(LeaseLost):
        await worker.turns.append(claimed.lease, [say(Role.ASSISTANT, "too late")])
    assert (await other.turns.recover()).resumed == (claimed.turn.id,)
    again = await other.turns.claim()
    assert again is not None
    await other.turns.finish(again.lease, [say(Role.ASSISTANT, "done")])
    await other.receive(hello(other, "2"))
    session = await other.sessions.get(arrival.session_id)
    assert session.is_open
    assert session.last_activity_at == datetime(2026, 5, 1, 12, tzinfo=UTC)
    seqs = [message.seq for message in await other.transcripts.read(session.id)]
    assert seqs == list(range(1, session.last_seq + 1))


@on(FAST, POSTGRES)
async def test_the_clock_jumps_forwards(open_store: OpenStore) -> None:
    """After a jump ahead a lease is over, its worker is refused, and the message is answered."""
    clock = Clock()
    worker, other = await open_store(clock=clock), await open_store(clock=clock)
    await worker.receive(hello(worker, "1"))
    claimed = await worker.turns.claim()
    assert claimed is not None

    clock.at += LEASE * 2
    assert await other.turns.interrupt_dead() == [claimed.turn.id]
    with pytest.raises(LeaseLost):
        await worker.turns.finish(claimed.lease)
    clock.at += timedelta(days=400)
    assert (await other.turns.recover()).resumed == (claimed.turn.id,)
    assert (await other.turns.claim()) is not None
    assert "1 hello" in await texts(other)


@on(DURABLE, POSTGRES)
async def test_a_living_lease_outlasts_a_small_correction(open_store: OpenStore) -> None:
    """A clock that is set right by seconds takes no turn away from anybody."""
    clock = Clock()
    worker, other = await open_store(clock=clock), await open_store(clock=clock)
    await worker.receive(hello(worker, "1"))
    claimed = await worker.turns.claim()
    assert claimed is not None

    for seconds in (-20, 10, 40, -15):
        clock.at += timedelta(seconds=seconds)
        assert await other.turns.interrupt_dead() == []
        assert await worker.turns.renew([claimed.lease]) == frozenset()
    await worker.turns.finish(claimed.lease)


class BadDisk(apsw.VFS):
    """A disk that fails to read as soon as it is told to."""

    is_bad = False

    def __init__(self) -> None:
        super().__init__("bad", "unix")

    def xOpen(  # noqa: N802 - SQLite's own names
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return BadFile(name, flags, self)


class BadFile(apsw.VFSFile):
    """A file on a disk that may fail."""

    def __init__(
        self, filename: str | apsw.URIFilename | None, flags: list[int], disk: BadDisk
    ) -> None:
        self._disk = disk
        super().__init__("unix", filename, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if self._disk.is_bad:
            raise apsw.IOError("disk I/O error")
        return super().xRead(amount, offset)


async def test_a_disk_that_fails_to_read_is_not_called_damage(tmp_path: Path) -> None:
    """An error of the disk may pass: neither the check nor readiness calls it damage."""
    disk = BadDisk()
    try:
        database = SqliteDatabase(tmp_path / "s.db", durable=False, vfs="bad")
        await database.open()
        async with Store(database) as store:
            await store.receive(hello(store, "1"))
            disk.is_bad = True

            with pytest.raises(StorageError, match="failed to read") as check:
                await store.check()
            with pytest.raises(StorageError, match="failed to read"):
                await store.sessions.list()

            assert not isinstance(check.value, Damaged)
            assert store.trouble is None
            disk.is_bad = False
            assert await store.check() == []
    finally:
        disk.unregister()
