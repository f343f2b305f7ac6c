"""The database contract, on every database."""

import pytest

from tests.databases import DatabaseFactory
from threadline.testing.database_contract import OBLIGATIONS, name_of
from threadline.testing.database_target import Obligation


@pytest.mark.parametrize("obligation", OBLIGATIONS, ids=name_of)
async def test_the_contract_is_kept(
    obligation: Obligation, database_factory: DatabaseFactory
) -> None:
    """Every database does what the session layer may expect of it."""
    await obligation(database_factory)
