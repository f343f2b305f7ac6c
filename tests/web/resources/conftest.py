"""What the tests of the API share: a household, furnished once."""

import asyncio
from pathlib import Path

import pytest

from tests.web.resources.sample_store import DATABASE, Inventory, furnish
from threadline.testing.scenario import sqlite_at

Template = tuple[Path, Inventory]


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    """Furnish a household, of which every test gets a copy."""
    folder = tmp_path_factory.mktemp("household")
    return folder, asyncio.run(furnish(sqlite_at(folder / DATABASE)))
