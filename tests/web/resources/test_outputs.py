"""Files that were written of sessions go with them, also when that is asked for over the API."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.store.people_setup import answers, says
from tests.web.resources.callers import calling
from threadline.assembly.export_files import drop_outputs, profile_folder
from threadline.core.address import Address, Kind, Sender
from threadline.core.deletion import DeletionState
from threadline.core.errors import StorageError
from threadline.core.job import NewJob
from threadline.core.message import BlobHash
from threadline.core.person import Identity, Viewer
from threadline.core.platform import Outgoing
from threadline.core.session import SessionId
from threadline.gateway.maintenance import Maintenance
from threadline.platforms.local import Local
from threadline.store import Store
from threadline.store.deletion.forget import finish_deletions


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write into a home of our own."""
    monkeypatch.setenv("HOME", str(tmp_path))


def write(id: SessionId, profile: str = "main") -> Path:
    """Write a file of a session, as the chat does."""
    file = profile_folder(profile) / f"{id}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a secret word")
    return file


@pytest.fixture
async def store(database_factory: DatabaseFactory) -> Store:
    """Open a store as everybody does: with files beside it."""
    return Store(await database_factory(), drop_outputs=drop_outputs)


@on(FAST)
async def test_what_was_written_goes_with_a_session(store: Store) -> None:
    """One that is forgotten alone, one of a batch, and nothing of any other."""
    async with calling(store) as callers:
        alone, several, kept = [await callers.talk("owner") for _ in range(3)]
        files = [write(alone), write(alone, "work"), write(several), write(kept)]
        any_one = {"If-Match": "*"}
        stale = await callers.owner.delete(f"/api/sessions/{alone}", headers={"If-Match": '"0"'})
        before = [file.exists() for file in files]
        gone = await callers.owner.delete(f"/api/sessions/{alone}", headers=any_one)
        wish = {"ids": [several], "action": "forget"}
        batch = await callers.owner.post("/api/batches", json=wish)

    assert (stale.status_code, before) == (412, [True] * 4)
    assert (gone.status_code, batch.status_code) == (200, 200)
    assert [file.exists() for file in files] == [False, False, False, True]


@on(FAST)
async def test_what_was_written_goes_with_a_person(store: Store) -> None:
    """Of all their conversations."""
    async with calling(store) as callers:
        mine, theirs = await callers.talk("member"), await callers.talk("other")
        files = [write(mine), write(theirs)]
        sender = {"sender": f"local:{callers.accounts['member'].sender.id}"}
        gone = await callers.owner.post("/api/people/forgettings", json=sender)

    assert gone.status_code == 200
    assert [file.exists() for file in files] == [False, True]


class PowerCut(BaseException):
    """Ends a process in the middle of its work."""


@on(FAST, POSTGRES)
async def test_a_forgetting_that_was_cut_off_deletes_the_files_at_its_end(
    database_factory: DatabaseFactory,
) -> None:
    """Whoever goes on with it knows of them, also of a session that is gone by then."""
    database = await database_factory()
    store = Store(database, drop_outputs=drop_outputs)
    slices: list[int] = []

    def die(done: int) -> None:
        slices.append(done)
        if done == 3:
            raise PowerCut

    async with calling(store) as callers:
        gone, kept = await callers.talk("member"), await callers.talk("other")
        shared = await callers.talk("owner")
        files = [write(gone), write(shared), write(kept)]
        branch = await store.transcripts.branch(gone)
        files.append(write(branch.id))
        with pytest.raises(PowerCut):
            await store.sessions.delete(gone, progress=die)
        before = [file.exists() for file in files]
        await Maintenance(store.database).sweep()

    assert before == [True] * 4
    assert [file.exists() for file in files] == [False, True, True, False]
    assert database_factory.tamper("SELECT * FROM forgetting_outputs") == []


@on(FAST)
async def test_a_file_that_cannot_be_deleted_is_tried_again(
    database_factory: DatabaseFactory,
) -> None:
    """Nobody is given a certificate before it is gone, and other forgettings come to their end."""
    refused: set[SessionId] = set()

    async def drop(ids: Sequence[str]) -> None:
        if refused & set(ids):
            raise StorageError("A file could not be deleted")

    store = Store(await database_factory(), drop_outputs=drop)
    async with calling(store) as callers:
        stuck, free = await callers.talk("member"), await callers.talk("other")
        refused |= {stuck, free}
        for id in (stuck, free):
            with pytest.raises(StorageError):
                await store.sessions.delete(id)
        refused.remove(free)
        with pytest.raises(StorageError):
            await finish_deletions(store.database)
        states = [one.state for one in await store.certificates()]
        refused.clear()
        (late,) = await finish_deletions(store.database)

    assert states == [DeletionState.DONE, DeletionState.WIPING]
    assert late.state is DeletionState.DONE


async def no_blob(_: BlobHash) -> AsyncIterator[bytes]:
    """Read an attachment that there is none of."""
    yield b""


async def deliver(store: Store, *, is_noted: bool) -> set[Path]:
    """Carry what is owed next to this machine; the process may die before that is stored."""
    (parcel,) = await store.deliveries.lease()
    key = f"{parcel.delivery.id}-0"
    out = Outgoing(address=parcel.delivery.address, text=parcel.text, key=key)
    name = await Local(profile_folder("main").parent).send(out, no_blob)
    if is_noted:
        await store.deliveries.record_sent(parcel.delivery, name)
    assert name is not None
    return {profile_folder("main") / name}


@on(FAST, POSTGRES)
@pytest.mark.parametrize("is_noted", [True, False])
@pytest.mark.parametrize("whole", ["session", "person"])
async def test_the_files_of_jobs_go_with_their_sessions(
    store: Store, is_noted: bool, whole: str
) -> None:
    """What a job sent to `local` is deleted, also if a crash kept its name from being stored."""
    files: dict[str, set[Path]] = {}
    sessions = {}
    for name in ("bob", "alice"):
        chat = Address(platform="telegram", kind=Kind.DM, chat=name)
        asker = Viewer(address=chat, sender=Sender(id=name))
        await says(store, asker.sender, "hello", at=chat)
        await answers(store, "hi")
        (hello,) = await store.deliveries.lease()
        await store.deliveries.record_sent(hello.delivery)
        wish = NewJob(prompt="news", schedule="every 1h", target="local")
        job = await store.jobs.create(wish, asker)
        started = await store.jobs.run(job.id, platforms={"telegram", "local"})
        assert started.turn_id is not None
        sessions[name] = (await store.turns.get(started.turn_id)).session_id
        await answers(store, f"a secret of {name}")
        files[name] = await deliver(store, is_noted=is_noted or name == "bob")
    moved = profile_folder("renamed")
    moved.mkdir(parents=True)
    (old,) = files["alice"]
    renamed = moved / old.name
    renamed.write_bytes(old.read_bytes())
    (moved / f".{old.name}.0123abcd.part").write_bytes(old.read_bytes())

    if whole == "session":
        await store.sessions.delete(sessions["alice"])
    else:
        await store.people.delete(Identity(platform="telegram", id="alice"))

    assert not old.exists()
    assert list(moved.iterdir()) == []
    assert all(file.exists() for file in files["bob"])
