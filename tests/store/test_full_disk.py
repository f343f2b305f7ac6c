"""A disk that is full: whoever only looks is still let in."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import pytest

from threadline.core.account import TokenScope
from threadline.core.errors import StorageError
from threadline.database.port import Transaction
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.testing.clock import FakeClock

P = ParamSpec("P")
T = TypeVar("T")


class FullDisk(SqliteDatabase):
    """A database on a disk that is full as soon as somebody says so."""

    is_full = False

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if self.is_full:
            raise StorageError("The disk is full")
        return await super().write(verb, *args, **kwargs)


async def test_people_still_read_on_a_full_disk(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """That they were here cannot be noted; once that turned away whoever only wanted to look."""
    clock = FakeClock()
    database = FullDisk(tmp_path / "s.db", durable=False, clock=clock)
    await database.open()
    async with Store(database) as store:
        owner = await store.owner_account()
        login = await store.begin_login(owner.key, "1" * 64, "a browser")
        token = await store.make_token(owner.key, "script", [TokenScope.READ], "2" * 64)
        clock.advance(timedelta(minutes=5))
        database.is_full = True

        seen, used = await store.find_login("1" * 64), await store.find_token("2" * 64)

    assert seen is not None
    assert used is not None
    assert (seen.key, used.key) == (login.key, token.key)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2
