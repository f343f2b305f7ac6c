"""A provider, and each of the clients that can be spoken to it with."""

from collections.abc import AsyncIterator

import pytest

from tests.doubles.provider_tests.clients import CLIENTS, Client, open_client
from tests.doubles.providers import ProviderDouble


@pytest.fixture
async def double() -> AsyncIterator[ProviderDouble]:
    async with ProviderDouble() as double:
        yield double


@pytest.fixture(params=CLIENTS, ids=lambda kind: kind.name)
async def client(request: pytest.FixtureRequest, double: ProviderDouble) -> AsyncIterator[Client]:
    async with open_client(request.param, double) as client:
        yield client


@pytest.fixture(params=[True, False], ids=["stream", "whole"])
def streams(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)
