"""Files that were written of sessions go with them, also when that is asked for over the API."""

from pathlib import Path

import pytest

from tests.databases import FAST, on
from tests.web.api.callers import calling
from threadline.assembly.outputs import output_folder
from threadline.core.session import SessionId
from threadline.sessions.store import Store


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write into a home of our own."""
    monkeypatch.setenv("HOME", str(tmp_path))


def write(id: SessionId, profile: str = "main") -> Path:
    """Write a file of a session, as the chat does."""
    file = output_folder(profile) / f"{id}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("a secret word")
    return file


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
