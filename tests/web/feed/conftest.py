"""Stores for the feed: on fast SQLite, where a test does not say more."""

import pytest

from tests.databases import FAST


@pytest.fixture(params=(FAST,))
def database_kind(request: pytest.FixtureRequest) -> str:
    """Choose the database."""
    return str(request.param)
