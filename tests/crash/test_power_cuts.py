"""Power cuts: what was acknowledged is on the disk, because every commit was synced."""

import asyncio
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import pytest

import threadline
from tests.crash.power_cuts import Disk, Image, PowerSystem, Write, _apply, restore
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.database.sqlite import SqliteDatabase, writer
from threadline.store import Store

CUTS = 150
NAME = "power.db"


@dataclass(slots=True)
class Run:
    """A store at work on a disk that is photographed again and again as if its power failed."""

    disk: Disk
    dice: random.Random
    told: list[str] = field(default_factory=list)
    """What was acknowledged, in order."""
    photographs: list[tuple[Image, int]] = field(default_factory=list)
    """The disk after a cut, and how much had been acknowledged before it."""

    def photograph(self, name: str) -> None:
        """Cut the power at some operations, on whatever thread; most often during a checkpoint."""
        chance = 0.1 if name == NAME else 0.04
        if len(self.photographs) < CUTS and self.dice.random() < chance:
            acknowledged = len(self.told)
            self.photographs.append((self.disk.cut(self.dice), acknowledged))


@pytest.fixture
def disk() -> Iterator[Disk]:
    """Give SQLite a disk whose power may fail."""
    disk = Disk()
    system = PowerSystem("power", disk)
    yield disk
    system.unregister()


async def work(disk: Disk, folder: Path, seed: int, *, durable: bool) -> Run:
    """Let a store work until enough photographs were taken."""
    run = Run(disk, random.Random(seed))
    database = SqliteDatabase(folder / NAME, vfs="power", durable=durable)
    await database.open()
    disk.on_operation = run.photograph
    async with Store(database) as store, asyncio.TaskGroup() as tasks:
        for number in range(4):
            tasks.create_task(converse(store, number, run))
    return run


async def converse(store: Store, number: int, run: Run) -> None:
    """Ask and answer until enough photographs were taken; a checkpoint happens now and then."""
    address, sender = Address(platform="p", kind=Kind.DM, chat=f"{number}"), Sender(id=f"{number}")
    turn = 0
    while len(run.photographs) < CUTS:
        turn += 1
        words = f"{number}.{turn} " + "x" * run.dice.randrange(3000)
        arrival = await store.receive(
            Inbound.text(
                words, address=address, sender=sender, at=store.now(), message_id=f"{number}.{turn}"
            )
        )
        run.told.append(words)
        claimed = await store.turns.claim(arrival.session_id)
        assert claimed is not None
        await store.turns.finish(claimed.lease, [say(Role.ASSISTANT, f"re {words}")])
        run.told.append(f"re {words}")


def damage_after(image: Image, promised: list[str], folder: Path) -> str | None:
    """Start again after a cut; tell what is broken or missing then."""
    restore(image, folder)
    try:
        file = apsw.Connection(str(folder / NAME))
        try:
            ((verdict,),) = file.execute("PRAGMA integrity_check(1)").fetchall()
            there = {text for (text,) in file.execute("SELECT text FROM messages")}
        finally:
            file.close()
    except apsw.Error as error:
        return f"broken: {error}"
    finally:
        shutil.rmtree(folder)
    missing = [words[:20] for words in promised if words not in there]
    if verdict != "ok":
        return f"broken: {verdict}"
    return f"lost: {missing[:3]}" if missing else None


@pytest.mark.parametrize("seed", [1, 2])
async def test_acknowledged_commits_outlive_a_power_cut(
    disk: Disk, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 150 power cuts at any moment none loses or breaks anything that was acknowledged."""
    monkeypatch.setattr(writer, "CHECKPOINT_PAGES", 500)  # so that some cuts fall into one
    run = await work(disk, tmp_path, seed, durable=True)

    for number, (image, acknowledged) in enumerate(run.photographs):
        damage = damage_after(image, run.told[:acknowledged], tmp_path / f"cut{number}")
        assert damage is None, f"cut {number} of seed {seed}: {damage}"
    assert len(run.photographs) == CUTS
    sizes = {len(image.get(NAME, b"")) for image, _ in run.photographs}
    assert len(sizes) > 3, "no cut came during or after a checkpoint"


async def test_a_store_goes_on_after_a_power_cut(disk: Disk, tmp_path: Path) -> None:
    """A store that opens after a cut needs no repair, is whole, and takes the next message."""
    run = await work(disk, tmp_path, 3, durable=True)

    for number, (image, acknowledged) in list(enumerate(run.photographs))[::20]:
        folder = tmp_path / f"cut{number}"
        restore(image, folder)
        async with threadline.open(folder / NAME) as store:
            assert await store.check(deep=True) == []
            texts = [m.text for row in (await store.sessions.list()).rows
                     for m in (*await store.transcripts.read(row.session.id, most=1000),
                               *await store.transcripts.waiting(row.session.id))]  # fmt: skip
            assert set(run.told[:acknowledged]) <= set(texts)
            address = Address(platform="p", kind=Kind.DM, chat="after")
            await store.receive(Inbound.text("on we go", address=address, at=store.now()))


async def test_without_syncs_a_power_cut_does_lose_something(disk: Disk, tmp_path: Path) -> None:
    """The same cuts harm a store that does not sync: so a missing fsync would be noticed."""
    run = await work(disk, tmp_path, 1, durable=False)

    damages = [
        damage_after(image, run.told[:acknowledged], tmp_path / f"cut{number}")
        for number, (image, acknowledged) in enumerate(run.photographs)
    ]
    assert sum(damage is not None for damage in damages) > CUTS / 3


def test_a_cut_keeps_what_was_synced_and_any_part_of_the_rest() -> None:
    """Synced bytes always survive; an unsynced write does so whole, in sectors, or not at all."""
    disk = Disk()
    disk.make("f")
    disk.write("f", Write(offset=0, data=b"a" * 2048))
    disk.sync("f", with_folder=False)
    disk.write("f", Write(offset=512, data=b"b" * 1536))

    images = {disk.cut(random.Random(seed))["f"] for seed in range(200)}

    assert all(image[:512] == b"a" * 512 for image in images)
    assert {b"a" * 2048, b"a" * 512 + b"b" * 1536} < images
    assert all(
        len(set(image[at : at + 512])) == 1 for image in images for at in range(0, 2048, 512)
    )
    content = bytearray(b"abc")
    _apply(content, Write(offset=1, data=None))
    assert content == b"a"
