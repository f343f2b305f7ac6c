"""Kill -9 while a request is carried out: sent again, it makes nothing twice."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.crash.dying_database import Moment
from tests.crash.request_child import take_back
from tests.store.people_setup import ALICE, talk
from threadline.core.message import Role
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.store.accounts.idempotency import MadeBefore


@pytest.mark.parametrize("moment", [Moment.INSIDE, Moment.COMMITTED])
async def test_a_request_that_died_is_sent_again(tmp_path: Path, moment: Moment) -> None:
    """What was made and its answer are there together, or neither is."""
    file = tmp_path / "threadline.db"
    database = SqliteDatabase(file)
    await database.open()
    id = await talk(Store(database), ALICE, "one", "two", "three")
    await database.close()

    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.crash.request_child", str(file), id, moment
    )
    assert await child.wait() == -signal.SIGKILL

    database = SqliteDatabase(file)
    await database.open()
    store = Store(database)
    if moment is Moment.COMMITTED:
        with pytest.raises(MadeBefore) as before:
            await take_back(store, id)
        assert "three" in before.value.outcome.answer
    else:
        await take_back(store, id)
    said = [line.text for line in await store.transcripts.read(id) if line.role is Role.USER]
    await database.close()
    assert said == ["one", "two"]
