import asyncio
import os
import re
import signal
import sys
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from threadline.cli.demo import choose_folder, play
from threadline.cli.demo_script import Narrator
from threadline.core.address import Address, Kind
from threadline.core.errors import Conflict
from threadline.testing.deadline import HANG_SECONDS

SCENES = (
    "1. A first hello",
    "2. In a group everybody has a conversation of their own",
    "3. In a thread all of them share one",
    "4. Somebody corrects themselves",
    "5. A file",
    "6. Commands, the same in every chat",
    "7. Matrix asks for patience",
    "8. A stranger",
    "9. A new day",
    "10. A job: a prompt that is asked by itself",
    "11. A crash, in the middle of an answer",
    "12. Another gateway takes over",
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which nobody has lived yet."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


async def test_the_story_is_told_to_its_end(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All scenes happen on the real loops, the crash included, and the gateway stays up."""
    config = choose_folder({"server.port": "0"}, keep=False)
    narrator, told = Narrator(pause=timedelta(0), colour=False), ""
    async with (
        play(config, narrator) as (gateway, url),
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=HANG_SECONDS) as client,
    ):
        ready = await client.get("/readyz")
        metrics = await client.get("/metrics")
        page = await gateway.store.sessions.list()
        told += capsys.readouterr().out
        (link,) = re.findall(r"Log in once.*: (http\S+)", told)
        entered = await client.get(link)
        listed = await client.get("/api/sessions")
        settings = await client.get("/api/settings")
        alice = Address(platform="telegram", kind=Kind.DM, chat="alice")
        await gateway.store.deliveries.create(alice, "Dinner is ready")
        async with asyncio.timeout(HANG_SECONDS):
            while "Dinner" not in (after := capsys.readouterr().out):
                told += after
                await asyncio.sleep(0.05)

    assert (entered.status_code, listed.status_code) == (303, 200)
    shown = {row["session"]["id"] for row in listed.json()["items"]}
    assert shown == {row.session.id for row in page.rows}
    assert (settings.status_code, settings.json()["hint"]) == (
        409,
        "Run `threadline serve` to change settings",
    )
    assert "   telegram  → Alice: Dinner is ready" in after
    assert "A new day has begun, so this is a fresh conversation." in told
    assert [line for line in told.splitlines() if line in SCENES] == list(SCENES)
    assert "→ Alice: You said “hello”. That is message 1 of our conversation." in told
    assert "It was tried 3 times, and shown once." in told
    assert "1 attachment along" in told
    assert told.count("18 19 20. Done.") == 1
    assert "\x1b" not in told
    assert ready.json()["platforms"].keys() == {"telegram", "discord", "slack", "matrix"}
    assert b"threadline_turns_total" in metrics.content
    assert {row.session.platform for row in page.rows} >= {"telegram", "discord", "slack", "matrix"}


async def test_the_demo_ends_when_it_is_asked_to(home: Path) -> None:
    """A signal in the middle of the story ends the process in order."""
    demo = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from threadline.cli.main import main; main()",
        "serve",
        "--demo",
        "--port",
        "0",
        stdout=asyncio.subprocess.PIPE,
        env={"HOME": str(home), "PATH": os.environ["PATH"]},
    )
    assert demo.stdout
    async with asyncio.timeout(HANG_SECONDS):
        while b"A first hello" not in await demo.stdout.readline():
            pass
        demo.send_signal(signal.SIGTERM)
        rest, _ = await demo.communicate()

    assert demo.returncode == 0
    assert rest.endswith(b"Stopped.\n")
    assert b"Traceback" not in rest


def test_the_store_of_the_last_demo_is_made_anew(home: Path) -> None:
    """A demo begins with an empty store, unless it shall be kept."""
    old = home / ".threadline" / "demo.db"
    old.parent.mkdir()
    old.write_bytes(b"old")

    assert choose_folder({}, keep=True).path == old
    assert old.exists()
    assert choose_folder({}, keep=False).path == old
    assert not old.exists()


async def test_a_store_that_is_open_is_left_alone(home: Path) -> None:
    """While somebody looks at the last demo, or plays it, nobody deletes it."""
    from threadline.assembly import open as open_store

    path = home / ".threadline" / "demo.db"
    path.parent.mkdir()
    async with open_store(path):
        with pytest.raises(Conflict, match="open"):
            choose_folder({}, keep=False)
    choose_folder({}, keep=False)

    assert not path.exists()


def test_a_store_of_somebody_is_never_deleted(tmp_path: Path) -> None:
    """A database that was named is played in only if it is new, or shall be kept."""
    mine = tmp_path / "mine.db"
    mine.write_bytes(b"years of history")

    with pytest.raises(Conflict, match="deletes nothing"):
        choose_folder({"database": str(mine)}, keep=False)

    assert mine.read_bytes() == b"years of history"
    assert choose_folder({"database": str(mine)}, keep=True).path == mine
    assert choose_folder({"database": str(tmp_path / "new.db")}, keep=False).path.name == "new.db"


def test_the_demo_listens_and_logs_as_the_settings_say(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option wins over a variable; where everything else is kept does not count."""
    monkeypatch.setenv("THREADLINE_SERVER__PORT", "9123")
    monkeypatch.setenv("THREADLINE_DATABASE", str(home / "mine.db"))

    assert choose_folder({}, keep=False).server.port == 9123
    assert choose_folder({"server.port": "9124"}, keep=False).server.port == 9124
    assert choose_folder({}, keep=False).path == home / ".threadline" / "demo.db"
