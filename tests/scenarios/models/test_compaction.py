"""Conversations that become longer than a model can read: room is made, and nothing is lost."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from tests.agents.model.provider_agent import settings_of
from tests.doubles.providers import (
    Asked,
    Fails,
    ProviderDouble,
    Reply,
    Says,
    Spends,
    Thinks,
    TooLong,
)
from tests.scenarios.models.model_scenario import ModelHouse
from threadline.core.summarizer import SUMMARY_TASK
from threadline.core.turn import TurnState
from threadline.testing.scenario import OpenStore

ANSWERS, WRITES = "gpt-5", "gpt-5-nano"
SUMMARY = "They spoke about peas."
FULL = Spends(900, 10)
"""Of the thousand tokens that the model can read."""


@pytest.fixture
async def house(open_again: OpenStore, double: ProviderDouble) -> AsyncIterator[ModelHouse]:
    """Move into a house whose model reads a thousand tokens, and where a cheap one sums up."""
    models = replace(
        settings_of(double, f"openai:{ANSWERS}"), context_tokens=1000, scribe=f"openai:{WRITES}"
    )
    async with ModelHouse(open_again, double, models) as house:
        yield house


def asked(double: ProviderDouble, model: str) -> list[str]:
    """Answer what a model was sent, each time."""
    return [one.body.decode() for one in double.requests if one.json["model"] == model]


def by_model(asked: Asked) -> Reply:
    """Let the scribe write its summary, and the model say again what it hears."""
    return Reply(Says(SUMMARY if asked.model == WRITES else f"You said: {asked.text[-8:]}"))


async def test_an_overflow_is_mended_within_the_turn(
    house: ModelHouse, double: ProviderDouble
) -> None:
    """The provider finds it too long, the scribe makes room, and Alice reads only the answer."""
    alice = house.guest("Alice")
    double.will(Thinks("Peas."), Says("Peas are green."))
    await alice.says("What about peas?")
    double.will(TooLong())
    double.will(Says(SUMMARY), Spends(50, 7))
    double.will(Says("Beans, too."))

    assert await alice.asks("And beans?") == "Beans, too."

    assert [one.json["model"] for one in double.requests] == [ANSWERS, ANSWERS, WRITES, ANSWERS]
    assert "Peas are green." in asked(double, WRITES)[0]
    tried, again = asked(double, ANSWERS)[1:]
    assert "Peas are green." in tried
    assert SUMMARY in again
    assert "Peas are green." not in again
    assert [turn.state for turn in await alice.turns()] == [TurnState.DONE, TurnState.DONE]
    (booked,) = await booked_for(house, SUMMARY_TASK)
    assert booked == ("openai", WRITES, 50, 7)


async def booked_for(house: ModelHouse, task: str) -> list[tuple[str, str, int, int]]:
    """Answer what was booked for a task in the only session."""
    (row,) = await house.sessions()
    usage = [one for one in await house.store.usage.of_session(row.session.id) if one.task == task]
    return [(one.provider, one.model, one.input_tokens, one.output_tokens) for one in usage]


async def test_a_window_that_a_provider_really_has(open_again: OpenStore) -> None:
    """Whoever writes on and on always gets an answer, though the provider counts every byte."""
    async with ProviderDouble(window=2500) as double:
        double.answers(by_model)
        models = replace(settings_of(double, f"openai:{ANSWERS}"), scribe=f"openai:{WRITES}")
        async with ModelHouse(open_again, double, models) as house:
            alice = house.guest("Alice")
            for n in range(6):
                assert await alice.asks(f"{'pea ' * 400}number {n}") == f"You said: number {n}"

        sizes = [len(one.body) // 4 for one in double.requests]
    assert max(sizes) > 2500, "it never became too long"
    assert asked(double, WRITES)


async def test_a_full_conversation_is_compacted_before_its_next_turn(
    house: ModelHouse, double: ProviderDouble
) -> None:
    """At 80 per cent of the window, before the provider complains."""
    alice = house.guest("Alice")
    for n in range(3):
        double.will(Says(f"answer {n}"), Spends(799, 10))
        await alice.says(f"question {n}")
    assert not asked(double, WRITES)
    double.will(Says("answer 3"), Spends(800, 10))
    await alice.says("question 3")
    assert not asked(double, WRITES)

    double.will(Says(SUMMARY))
    double.will(Says("answer 4"), FULL)
    assert await alice.asks("question 4") == "answer 4"

    assert "question 0" in asked(double, WRITES)[0]
    assert SUMMARY in asked(double, ANSWERS)[-1]
    assert "question 0" not in asked(double, ANSWERS)[-1]
    assert "question 3" in asked(double, ANSWERS)[-1]


async def test_a_summary_that_fails_changes_nothing_and_is_said_once(
    house: ModelHouse, double: ProviderDouble
) -> None:
    """The answers come all the same, from everything that was said."""
    double.answers(
        lambda asked: Reply(Fails(401)) if asked.model == WRITES else Reply(Says("Yes."), FULL)
    )
    alice = house.guest("Alice")
    for n in range(5):
        await alice.says(f"question {n}")

    told = [words for words in alice.sees if words != "Yes."]
    assert len(told) == 1
    assert told[0].startswith("I could not make room in this conversation: ")
    assert WRITES in told[0]
    assert len(alice.sees) == 6
    assert "question 0" in asked(double, ANSWERS)[-1]
    assert not await house.store.transcripts.hidden_ranges((await alice.session()).id)


async def test_somebody_makes_room_with_an_eye_on_something(
    house: ModelHouse, double: ProviderDouble
) -> None:
    """The scribe is told what matters, the model reads its summary, and it can be taken back."""
    double.answers(by_model)
    alice = house.guest("Alice")
    for n in range(4):
        await alice.says(f"question {n}")

    said = await alice.asks("/compress the colour of the peas")

    assert "A summary stands for the first " in said
    assert "the colour of the peas" in asked(double, WRITES)[0]
    await alice.says("and now?")
    assert SUMMARY in asked(double, ANSWERS)[-1]
    assert "question 0" not in asked(double, ANSWERS)[-1]

    await alice.says("/compress undo")
    await alice.says("and then?")
    assert SUMMARY not in asked(double, ANSWERS)[-1]
    assert "question 0" in asked(double, ANSWERS)[-1]


async def test_a_summary_that_was_asked_for_and_fails(
    house: ModelHouse, double: ProviderDouble
) -> None:
    """It is said why, and nothing has changed."""
    double.answers(by_model)
    alice = house.guest("Alice")
    for n in range(4):
        await alice.says(f"question {n}")
    double.will(Fails(401))

    said = await alice.asks("/compress")

    assert f"Nothing was compacted: The provider of openai:{WRITES} did not accept the key" in said
    assert not await house.store.transcripts.hidden_ranges((await alice.session()).id)
