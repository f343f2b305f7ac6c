"""Every operation of the API × everybody who may ask: each answer is the one in the table."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from starlette.applications import Starlette

from tests.web.resources.conftest import Template
from tests.web.resources.operation_calls import ask_as
from tests.web.resources.sample_store import Caller, count_rows, move_in
from tests.web.resources.table import OK, TABLE, Row
from threadline.config import Config
from threadline.web.app import WebApp
from threadline.web.server import make_app


async def test_the_table_forgets_nothing(template: Template, tmp_path: Path) -> None:
    """An operation that is not in the table is one of whose safety nobody has thought."""
    async with move_in(*template, tmp_path / "house") as household:
        assert sorted(household.places) == sorted(TABLE)


async def test_what_is_tested_is_what_is_served(template: Template, tmp_path: Path) -> None:
    """A household has the rooms of a site, and the same stands before its doors."""
    async with move_in(*template, tmp_path / "house") as household:
        site = WebApp(household.gateway, household.store, Config())
        served = make_app(household.gateway, site=site)
        site.close()

        assert _doors(household.app) == _doors(served)


@pytest.mark.parametrize("operation", TABLE)
async def test_everybody_is_answered_as_the_table_says(
    operation: str, template: Template, tmp_path: Path
) -> None:
    """Each caller gets the status that the table tells; who is refused has changed nothing."""
    row = TABLE[operation]
    told: dict[Caller, int] = {}
    async with move_in(*template, tmp_path / "house") as household:
        # The first invalid token of a period is in the audit log; more of them are counted there.
        await ask_as(household, "read_me", Caller.REVOKED)
        before = await household.store.feed.end(), count_rows(tmp_path / "house")
        for caller in _refused(row):
            told[caller] = await ask_as(household, operation, caller)
        after = await household.store.feed.end(), count_rows(tmp_path / "house")
        assert after == before
        is_safe = household.places[operation][0] == "GET"
        for caller in _served(row) if is_safe else ():
            told[caller] = await ask_as(household, operation, caller)
    for caller in () if is_safe else _served(row):
        # Each finds everything as it was: what is deleted once cannot be deleted again.
        async with (
            move_in(*template, tmp_path / caller) as household,
            household.gateway if row.is_served else nullcontext(),
        ):
            told[caller] = await ask_as(household, operation, caller)

    assert told == {caller: row.expected(caller) for caller in Caller}


def _doors(app: Starlette) -> tuple[list[str], list[object]]:
    paths = [getattr(route, "path", "") for route in app.routes]
    return paths, [one.cls for one in app.user_middleware]


def _refused(row: Row) -> list[Caller]:
    return [caller for caller in Caller if row.audience[caller] != OK]


def _served(row: Row) -> list[Caller]:
    return [caller for caller in Caller if row.audience[caller] == OK]
