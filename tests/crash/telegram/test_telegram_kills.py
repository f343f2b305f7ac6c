"""Kill -9 of a gateway with a Telegram bot: what people see there keeps every promise, too."""

from collections.abc import AsyncIterator

import pytest

from tests.crash.dying_database import Moment, Step
from tests.crash.gateway.child import LIVE, MAY_I, YIELDED
from tests.crash.gateway.kill_runs import ServingVictim
from tests.crash.gateway.test_gateway_kills import assert_kept
from tests.crash.telegram.bot_users import Bureau
from tests.crash.telegram.killing import telegram_victim
from tests.crash.verify import looking
from tests.databases import DURABLE, DatabaseFactory, on

SEED = 6
KILLS = 3
STEPS = (
    # Taken in, and Telegram has not heard of it: it comes again.
    Step(verb="receive", moment=Moment.COMMITTED, nth=5),
    # Seen by people, and not written down.
    Step(verb="send", moment=Moment.TOLD, nth=5),
    # Written down while it grows.
    Step(verb="record_piece", moment=Moment.COMMITTED, nth=5),
    Step(verb="edit", moment=Moment.TOLD, nth=2),
)
ALICE = 0
"""Her conversation, which is between her and the bot."""


@on(DURABLE)
async def test_everybody_is_answered_once_and_in_order(database_factory: DatabaseFactory) -> None:
    """After a few kills, at random and at the worst moments, with answers that grow."""
    async with telegram_victim(database_factory.where, SEED) as victim:
        for number in range(1, KILLS + 1):
            assert_kept(await victim.kill(), f"kill {number} of seed {SEED}")
        for step in STEPS:
            assert_kept(await victim.kill(step), f"at {step}")
        assert_kept(await victim.rest(), "the end")

        assert len(victim.exchange.acknowledged) > 50
        assert any(one.edits for one in victim.exchange.shown)
        assert any(one.is_marked for one in victim.exchange.shown)


@pytest.fixture
async def quiet(database_factory: DatabaseFactory) -> AsyncIterator[tuple[ServingVictim, Bureau]]:
    """Have a store that is served, and Alice, who writes only what a test says."""
    async with telegram_victim(database_factory.where, SEED, 0) as victim:
        assert isinstance(victim.exchange, Bureau)
        yield victim, victim.exchange


@pytest.mark.parametrize(("how", "times"), [(YIELDED, 1), (LIVE, 2)], ids=["let go", "waits"])
@on(DURABLE)
async def test_a_button_is_pressed_after_a_kill(
    quiet: tuple[ServingVictim, Bureau], how: str, times: int
) -> None:
    """Leave that is given after the restart reaches the agent once, and what is too late does not.

    An agent that let go of its question is not asked again; one that waited is, and asks anew.
    """
    victim, bureau = quiet
    await _serve(victim)
    await bureau.write(ALICE, how)
    await bureau.until(lambda: _count(bureau, MAY_I) == 1 and not _owed(victim))

    await victim.nursery.kill()
    await _serve(victim)
    await bureau.until(lambda: _count(bureau, MAY_I) == times)
    await _press(bureau, "Approve")
    await bureau.until(lambda: _count(bureau, "I was told: approved") > 0)
    await victim.calm_down()
    await _press(bureau, "Deny")
    await bureau.until(lambda: _count(bureau, "Nothing is waiting for an answer here") > 0)
    await victim.calm_down()
    await victim.nursery.kill()

    assert _count(bureau, MAY_I) == times
    assert _count(bureau, "I was told: approved") == _count(bureau, "Approved.") == 1


async def _serve(victim: ServingVictim) -> None:
    await victim.start(victim.nursery)
    await victim.nursery.ready()


async def _press(bureau: Bureau, label: str) -> None:
    """Press a button under the last question; the bot lets it come to rest."""
    place = bureau.places[ALICE]
    asked = [one for one in place.chat.messages if label in one.labels]
    await bureau.api.answered(await place.person.presses(asked[-1], label))


def _owed(victim: ServingVictim) -> bool:
    with looking(victim.where) as look:
        return bool(look("SELECT id FROM deliveries WHERE state IN ('pending', 'sending')"))


def _count(bureau: Bureau, text: str) -> int:
    return sum(words.count(text) for words in bureau.places[ALICE].chat.texts)
