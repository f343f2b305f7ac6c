"""Kill -9 while a request is carried out: sent again, it makes nothing twice."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from tests.contracts.company import ALICE, talk
from tests.crash.asking import take_back
from tests.crash.deadly import Moment
from threadline.core.message import Role
from threadline.sessions.store import Store
from threadline.sessions.welcome.requests import MadeBefore
from threadline.storage.sqlite import SqliteDatabase


@pytest.mark.parametrize("moment", [Moment.INSIDE, Moment.COMMITTED])
async def test_a_request_that_died_is_sent_again(tmp_path: Path, moment: Moment) -> None:
    """What was made and its answer are there together, or neither is."""
    file = tmp_path / "threadline.db"
    database = SqliteDatabase(file)
    await database.open()
    id = await talk(Store(database), ALICE, "one", "two", "three")
    await database.close()

    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.crash.asking", str(file), id, moment
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
    said = [line.text for line in await store.transcript(id) if line.role is Role.USER]
    await database.close()
    assert said == ["one", "two"]
