"""`threadline doctor` finds what is wrong, and does not call well what it could not see."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

import threadline
from tests.cli.program import run
from tests.doubles.providers import ProviderDouble, Says
from threadline.cli.doctor_checks import run_checks
from threadline.core.account import ShareId
from threadline.core.address import Address, Kind, Sender
from threadline.core.gateway_status import PlatformHealth, PlatformState
from threadline.core.inbound import Inbound
from threadline.core.message import MediaKind, Role, Text, say
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.store.deletion.preview import begin_sessions
from threadline.store.gateways import register_gateway
from threadline.store.search.search import index_all
from threadline.testing.clock import FakeClock


def test_the_doctor_notes_what_others_can_read(home: Path) -> None:
    """A database made by us is private; one that others can read is a note, and not grave."""
    run("chat", lines="hello\n")
    assert "Other users can read" not in run("doctor").stdout

    (home / ".threadline" / "threadline.db").chmod(0o644)
    result = run("doctor")

    assert result.exit_code == 0
    assert "note   Other users can read the database (mode 0644)" in result.stdout
    assert "Degraded" in result.stdout


def test_a_missing_store_is_not_called_well(home: Path) -> None:
    """Where nothing could be looked at, nothing is said to be well."""
    result = run("doctor", "-d", str(home / "nowhere" / "store.db"))

    assert "All is well" not in result.stdout
    assert "GRAVE  There is no database, and no folder" in result.stdout
    assert result.exit_code == 1
    assert "nothing to examine" in run("doctor").stdout


BREAKS = {
    "UPDATE messages SET seq = 99 WHERE text = 'hi'": "without a gap",
    "UPDATE sessions SET last_seq = last_seq + 1": "without a gap",
    "UPDATE cuts SET to_seq = 999": "a cut where there is no line",
    "UPDATE sessions SET base_seq = 99 WHERE base_key IS NOT NULL": "than its base has",
    "UPDATE sessions SET base_key = key WHERE base_key IS NOT NULL": "lead in a circle",
    "UPDATE sessions SET root_key = key": "a root that is none",
    "UPDATE turns SET first_seq = 9999": "a turn that nobody runs",
    "INSERT INTO allowances (profile, session_key, tool, allowed_at) VALUES ('x', 1, 'rm', 0)": (
        "a session of another profile"
    ),
    "UPDATE accounts SET ended_at = 1": "an account that has ended",
    "UPDATE shares SET revoked_at = 1": "after it was revoked",
    "UPDATE blobs SET size = size + 1": "pieces missing",
    "UPDATE sessions SET revision = revision + 1": "the feed does not tell",
    "INSERT INTO drafts VALUES ('main', 'phone', 777, 'x', 0)": "a session that is gone",
    "UPDATE messages SET text = 'else' WHERE text = 'hi'": "search",
}


@pytest.mark.parametrize("damage", BREAKS)
async def test_the_doctor_finds_what_should_never_be(home: Path, damage: str) -> None:
    """Each law of the store is looked after by a deep examination, and a whole store is well."""
    where = home / "store.db"
    async with threadline.open(where) as store:
        await fill(store)
        while await index_all(store.database):
            pass
    well = await asyncio.to_thread(run, "doctor", "--deep", "-d", str(where))
    assert "All is well" in well.stdout, well.stdout
    connection = apsw.Connection(str(where))
    connection.execute(damage)
    connection.close()

    result = await asyncio.to_thread(run, "doctor", "--deep", "-d", str(where))

    assert BREAKS[damage] in result.stdout


async def fill(store: Store) -> None:
    """Make a store with a branch, a cut, an attachment, a login and a shared page."""
    here = Address(platform="telegram", kind=Kind.DM, chat="alice")
    photo = await store.attachments.put(b"photo", "image/png", MediaKind.IMAGE)
    parts = (Text(text="hello"), photo)
    inbound = Inbound(address=here, sender=Sender(id="alice"), at=store.now(), parts=parts)
    arrival = await store.receive(inbound)
    claim = await store.turns.claim()
    assert claim is not None
    assert arrival.session_id is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hi")], deliver=False)
    branch = await store.transcripts.branch(arrival.session_id)
    await store.transcripts.record(branch.id, [say(Role.ASSISTANT, "more")])
    await store.transcripts.undo(arrival.session_id)
    await store.begin_login((await store.make_account("ada")).key, "1" * 64, "a browser")
    await store.make_share(branch.id, ShareId("share"), "a page")


async def test_the_doctor_tells_of_an_unfinished_forgetting(home: Path) -> None:
    """What was interrupted while it was forgotten is named, with what to do."""
    where = home / "store.db"
    async with threadline.open(where) as store:
        await fill(store)
        rows = (await store.sessions.list()).rows
        ids = [row.session.id for row in rows]
        await store.database.write(begin_sessions, ids)

    result = await asyncio.to_thread(run, "doctor", "-d", str(where))

    assert "threadline forget finish" in result.stdout
    assert result.exit_code == 0


async def test_the_doctor_asks_the_model(home: Path) -> None:
    """It says who answered, and what did not; with --offline nobody is called."""
    async with ProviderDouble() as double:
        double.will(Says("yes"))
        (home / "threadline.toml").write_text(
            "[agent]\nmodel = 'openai:x'\nfallback = ['ollama:y']\n"
            "[providers.ollama]\nbase_url = 'http://127.0.0.1:9/v1'\n"
            f"[providers.openai]\nbase_url = '{double.url}/openai/v1'\napi_key = 'sk-s3cret'\n"
        )
        quiet = await asyncio.to_thread(run, "doctor", "--offline")
        assert not double.requests
        done = await asyncio.to_thread(run, "doctor")

    assert "model openai:x" not in quiet.stdout
    assert re.search(r"^agent +openai:x$", quiet.stdout, re.MULTILINE)
    assert re.search(r"^model openai:x +.* answered in", done.stdout, re.MULTILINE)
    assert "note   Model ollama:y:" in done.stdout
    assert done.exit_code == 0
    assert "s3cret" not in done.stdout + quiet.stdout


async def test_a_live_process_that_cannot_renew_is_not_called_gone(tmp_path: Path) -> None:
    """On a full disk a running process cannot renew its lease; the doctor does not call it gone."""
    path = tmp_path / "s.db"
    clock = FakeClock(datetime.now(UTC) - timedelta(hours=1))
    database = SqliteDatabase(path, durable=False, clock=clock)
    await database.open()
    async with Store(database) as store:
        at = Address(platform="p", kind=Kind.DM, chat="c")
        await store.receive(Inbound.text("hi", address=at, sender=Sender(id="s"), at=store.now()))
        assert await store.turns.claim() is not None

        found = await run_checks({"database": str(path)}, deep=False)

    (note,) = [one.what for one in found.findings if "is held by" in one.what]
    assert "still runs" in note
    assert "gone" not in note


async def test_a_deleted_database_that_is_still_open_is_grave(tmp_path: Path) -> None:
    """Where a process still has the deleted file open, the doctor says which, and what to do."""
    path = tmp_path / "s.db"
    database = SqliteDatabase(path, durable=False)
    await database.open()
    path.unlink()

    found = await run_checks({"database": str(path)}, deep=False)

    await database.close()
    assert not found.is_well
    assert any(str(database.owner) in one.what for one in found.findings)
    assert not path.exists()


@pytest.mark.parametrize(
    ("served", "says", "exit_code"),
    [
        (None, "No gateway serves", 0),
        (PlatformState.DOWN, "telegram is not up", 0),
        (PlatformState.UP, "A gateway serves and does not do it", 1),
    ],
    ids=["nobody serves", "the platform is down", "the platform is up"],
)
async def test_overdue_work_is_not_called_well(
    home: Path, served: PlatformState | None, says: str, exit_code: int
) -> None:
    """It is a finding, and grave where a gateway serves that should have done it."""
    clock = FakeClock(datetime.now(UTC) - timedelta(hours=1))
    database = SqliteDatabase(home / "s.db", durable=False, clock=clock)
    await database.open()
    async with Store(database) as store:
        for chat in ("a", "b"):
            await store.deliveries.create(
                Address(platform="telegram", kind=Kind.DM, chat=chat), "hi"
            )
        if served is not None:
            health = PlatformHealth(state=served, since=store.now())
            await store.database.write(
                register_gateway,
                owner=store.database.owner,
                host="h",
                pid=1,
                version="1",
                url=None,
                platforms={"telegram": health},
            )
        told = await asyncio.to_thread(run, "doctor", "--offline", "-d", str(home / "s.db"))
        status = await asyncio.to_thread(run, "status", "-d", str(home / "s.db"))

    assert "All is well" not in told.stdout
    assert "2 replies on telegram are overdue, the oldest since 1 hour ago." in told.stdout
    assert says in told.stdout
    assert told.exit_code == exit_code
    assert "2 replies on telegram are overdue" in status.stdout
