"""Kill -9 of a gateway while an agent waits for leave: the question outlives it, or comes again."""

from collections.abc import AsyncIterator

import pytest

from tests.crash.gateway.chat_platform import Exchange
from tests.crash.gateway.child import LIVE, MAY_I, YIELDED
from tests.crash.gateway.kill_runs import ServingVictim
from tests.crash.gateway.process_starter import nursery
from tests.crash.verify import looking
from tests.databases import DURABLE, POSTGRES, DatabaseFactory, on

SEED = 5
ALICE = 0
"""Her conversation."""


@pytest.fixture
async def victim(database_factory: DatabaseFactory) -> AsyncIterator[ServingVictim]:
    """Have a fresh store that is served, and somebody who writes only what a test says."""
    exchange = Exchange(conversations=0)
    async with exchange.open() as url, nursery() as born:
        yield ServingVictim(database_factory.where, SEED, url, exchange, born)


@pytest.mark.parametrize(("how", "times"), [(YIELDED, 1), (LIVE, 2)], ids=["let go", "waits"])
@on(DURABLE, POSTGRES)
async def test_a_question_is_answered_after_a_kill(
    victim: ServingVictim, how: str, times: int
) -> None:
    """Leave that is given after the restart reaches the agent once.

    An agent that let go of its question is not asked again; one that waited is, and asks anew.
    """
    await _serve(victim)
    victim.exchange.say(ALICE, how)
    await _sees(victim, MAY_I)
    # What was shown and not yet written down would be said again, with a mark.
    await victim.exchange.until(lambda: not _owed(victim))

    await victim.nursery.kill()
    await _serve(victim)
    await _sees(victim, MAY_I, times)
    victim.exchange.say(ALICE, "/approve")

    await _sees(victim, "I was told: approved")
    await victim.calm_down()
    await victim.nursery.kill()
    assert _count(victim, MAY_I) == times
    assert _count(victim, "I was told: approved") == _count(victim, "Approved.") == 1


async def _serve(victim: ServingVictim) -> None:
    await victim.start(victim.nursery)
    await victim.nursery.ready()


async def _sees(victim: ServingVictim, text: str, times: int = 1) -> None:
    await victim.exchange.until(lambda: _count(victim, text) >= times)


def _owed(victim: ServingVictim) -> bool:
    with looking(victim.where) as look:
        return bool(look("SELECT id FROM deliveries WHERE state IN ('pending', 'sending')"))


def _count(victim: ServingVictim, text: str) -> int:
    return sum(one.text.count(text) for one in victim.exchange.shown)
