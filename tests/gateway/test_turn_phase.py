"""Turn phases: what may follow what, and that a running turn keeps to it."""

from collections.abc import AsyncIterator
from itertools import product

import pytest

from tests.faulty_database import faulty
from tests.gateway.worker_setup import tell
from threadline.core.agent import Output, TextDelta
from threadline.core.errors import LeaseLost
from threadline.core.turn import TurnState
from threadline.gateway.running_turn import RunningTurn
from threadline.gateway.turn_phase import NEXT, TurnPhase, next_phase
from threadline.gateway.turn_pubsub import Happening, TurnClosed, TurnPubSub
from threadline.store import Store


@pytest.mark.parametrize(("now", "wanted"), list(product(TurnPhase, TurnPhase)))
def test_only_what_is_in_the_table_may_follow(now: TurnPhase, wanted: TurnPhase) -> None:
    """Every other change is a bug, and is named."""
    if wanted is now or wanted in NEXT[now]:
        assert next_phase(now, wanted) is wanted
    else:
        with pytest.raises(RuntimeError, match=f"{now} cannot become {wanted}"):
            next_phase(now, wanted)


def test_nothing_follows_the_last_phase_and_every_phase_leads_there() -> None:
    """A turn that is closed stays closed, and no phase is a dead end."""
    assert NEXT[TurnPhase.CLOSED] == frozenset()
    for phase in TurnPhase:
        reached, before = {phase}, set[TurnPhase]()
        while reached != before:
            before = set(reached)
            reached |= {after for one in before for after in NEXT[one]}
        assert TurnPhase.CLOSED in reached


async def running(store: Store, live: TurnPubSub) -> RunningTurn:
    """Claim a turn."""
    await tell(store, "hello")
    claim = await store.turns.claim()
    assert claim is not None
    return RunningTurn(store.database, claim, live)


async def test_a_lost_turn_takes_nothing_more(store: Store) -> None:
    """Neither a failure nor a second loss: only its close is told, once."""
    live, heard = TurnPubSub(), list[Happening]()
    with live.attend(heard.append):
        turn = await running(store, live)
        assert turn.is_answering
        assert turn.lose()
        assert not turn.lose()
        with pytest.raises(LeaseLost):
            await turn.fail("It broke.")
        turn.close(TurnState.STOPPED)
        turn.close(TurnState.DONE)

    assert (turn.phase, turn.state) == (TurnPhase.CLOSED, TurnState.STOPPED)
    assert [one.state for one in heard if isinstance(one, TurnClosed)] == [TurnState.STOPPED]


async def test_a_failed_turn_is_closed(store: Store) -> None:
    """It is over for its agent, and cannot be lost any more."""
    turn = await running(store, TurnPubSub())
    await turn.fail("It broke.")

    assert (turn.phase, turn.state, turn.lose()) == (TurnPhase.CLOSED, TurnState.FAILED, False)


async def test_a_failure_that_cannot_be_stored_ends_nothing(store: Store) -> None:
    """The agent goes on, as its turn may still be stored by what it says next."""
    locked, database = faulty(store)
    database.fail("fail", LeaseLost(id="1"))
    turn = await running(locked, TurnPubSub())
    with pytest.raises(LeaseLost):
        await turn.fail("It broke.")

    assert turn.phase is TurnPhase.SPEAKING
    assert turn.is_answering


async def test_what_an_agent_says_moves_its_turn(store: Store) -> None:
    """It is silent, speaks, and is closed when its end is stored."""
    turn = await running(store, TurnPubSub())
    seen = list[TurnPhase]()

    async def outputs() -> AsyncIterator[Output]:
        seen.append(turn.phase)
        yield TextDelta(text="hi")
        seen.append(turn.phase)

    await turn.follow(outputs())

    assert [*seen, turn.phase] == [TurnPhase.SILENT, TurnPhase.SPEAKING, TurnPhase.CLOSED]
    assert turn.state is TurnState.DONE
