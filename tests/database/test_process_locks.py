"""Lock files beside the database: never anybody else's, and never outliving their owner."""

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import FAST, SqliteFactory, on
from threadline.assembly import open_database
from threadline.core.errors import StorageError
from threadline.core.turn import OwnerId
from threadline.database.sqlite.process_locks import ProcessLocks
from threadline.testing.database_verbs import knows, note
from threadline.testing.deadline import HANG_SECONDS

NOBODY = 65534
DEAD = "99999-0123abcd"
FORKING = """
import os, sys, time
from pathlib import Path
from threadline.database.sqlite.process_locks import ProcessLocks

owners = ProcessLocks(Path(sys.argv[1]))
child = os.fork()
if not child:
    if sys.argv[2] == "closes":
        owners.close()
    time.sleep(60)
print(owners.me, child, flush=True)
time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "s.db-owners"


@pytest.fixture
def owners(path: Path) -> Iterator[ProcessLocks]:
    owners = ProcessLocks(path)
    yield owners
    owners.close()


def test_only_our_own_files_are_cleared_away(owners: ProcessLocks, folder: Path) -> None:
    """The file of a dead owner goes; other names, folders and links stay as they were."""
    (folder / DEAD).touch()
    (folder / "1-0123ABCD").touch()
    (folder / "precious.txt").touch()
    (folder / "1-00000000").mkdir()
    (folder / "2-00000000").symlink_to(folder / "precious.txt")

    owners.list_others()

    kept = {"1-0123ABCD", "precious.txt", "1-00000000", "2-00000000", owners.me}
    assert {file.name for file in folder.iterdir()} == kept
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("what", ["link", "dangling", "file"])
async def test_a_folder_that_is_none_is_refused(
    what: str, path: Path, folder: Path, tmp_path: Path
) -> None:
    """Through a link we would clear away files in somebody else's folder."""
    theirs = tmp_path / "theirs"
    if what == "file":
        folder.touch()
    else:
        folder.symlink_to(theirs)
    if what == "link":
        theirs.mkdir()
        (theirs / DEAD).touch()

    with pytest.raises(StorageError, match="is a link, or no folder"):
        await open_database(path)

    assert (theirs / DEAD).exists() == (what == "link")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
async def test_a_folder_of_another_user_is_refused(path: Path, folder: Path) -> None:
    """Whoever owns it could exchange our files under our hands."""
    folder.mkdir()
    os.chown(folder, NOBODY, NOBODY)

    with pytest.raises(StorageError, match="belongs to another user"):
        await open_database(path)


def test_a_vanished_folder_is_made_again(owners: ProcessLocks, path: Path, folder: Path) -> None:
    """Else everybody who asks would take us for dead."""
    shutil.rmtree(folder)

    assert not owners.list_others()

    other = ProcessLocks(path)
    assert other.dead(frozenset({owners.me, OwnerId(DEAD)})) == {DEAD}
    assert len(owners.list_others()) == 1
    other.close()


def test_a_folder_that_became_a_link_is_left_alone(
    owners: ProcessLocks, folder: Path, tmp_path: Path
) -> None:
    """Nobody is counted, nobody called dead, nothing cleared away; and nothing raised."""
    folder.rename(tmp_path / "moved")
    (tmp_path / "moved" / DEAD).touch()
    folder.symlink_to(tmp_path / "moved")

    assert not owners.list_others()
    assert owners.dead(frozenset({OwnerId(DEAD)})) == frozenset()
    assert (tmp_path / "moved" / DEAD).exists()


@on(FAST)
async def test_the_sentinel_outlives_its_folder(database_factory: SqliteFactory) -> None:
    """It goes on looking, and the folder is there again."""
    database = await database_factory()
    folder = database_factory.path.with_name("threadline.db-owners")
    shutil.rmtree(folder)

    over = time.monotonic() + HANG_SECONDS
    while not (folder / database.owner).exists():
        assert time.monotonic() < over
        time.sleep(0.05)


@pytest.mark.parametrize("child_does", ["closes", "nothing"])
def test_a_forked_child_does_not_keep_its_parent_alive(
    child_does: str, owners: ProcessLocks, path: Path
) -> None:
    """The lock is the parent's alone: after kill -9 it is dead, though its child lives on."""
    command = [sys.executable, "-c", FORKING, str(path), child_does]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        name, child = parent.stdout.readline().split()
        asked = frozenset({OwnerId(name)})
        try:
            time.sleep(0.2)
            assert owners.dead(asked) == frozenset()
            parent.kill()
            parent.wait(HANG_SECONDS)
            assert owners.dead(asked) == asked
        finally:
            parent.kill()
            os.kill(int(child), 9)


async def test_one_file_under_two_names_is_one_store(path: Path, tmp_path: Path) -> None:
    """Who comes by a link sees the others, and is seen: their locks are in one folder."""
    link = tmp_path / "link.db"
    link.symlink_to(path)
    one, two = await open_database(path), await open_database(link)

    await two.write(note, "a")

    assert await one.read(knows, "a")
    assert await one.dead(frozenset({two.owner})) == frozenset()
    assert await two.dead(frozenset({one.owner})) == frozenset()
    assert not (tmp_path / "link.db-owners").exists()
    await one.close()
    await two.close()


async def test_a_circle_of_links_is_said(path: Path) -> None:
    """A path that leads nowhere is an error of ours."""
    path.symlink_to(path)

    with pytest.raises(StorageError, match="cannot be opened"):
        await open_database(path)


async def test_a_new_database_is_its_owners_alone(path: Path) -> None:
    """So are the files beside it; one that is there already keeps its mode."""
    database = await open_database(path)
    await database.write(note, "a")
    files = [path, path.with_name("s.db-wal"), path.with_name("s.db-shm")]

    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 3
    await database.close()

    path.chmod(0o640)
    await (await open_database(path)).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
