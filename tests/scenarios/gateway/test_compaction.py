"""Conversations that become long, get a name, and are told of in the next one."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from threadline.core.reset_policy import Carry, Policies
from threadline.core.session import TitleSource
from threadline.core.summarizer import SUMMARY_TASK, TITLE_TASK
from threadline.core.usage import Usage
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scenario import OpenStore, quiet_nights
from threadline.testing.scripted_agent import Hangs, Overflows, Says, Spends
from threadline.testing.scripted_summarizer import ScriptedSummarizer

FULL = Spends(Usage(provider="p", model="m", prompt_tokens=900))


@pytest.fixture
def scribe() -> ScriptedSummarizer:
    """A scribe for a model that reads a thousand tokens."""
    return ScriptedSummarizer(window=1000)


@pytest.fixture
async def house(
    open_again: OpenStore, scribe: ScriptedSummarizer
) -> AsyncIterator[GatewayScenario]:
    """Move into a house with a scribe."""
    async with GatewayScenario(open_again, rules=quiet_nights(), scribe=scribe) as house:
        yield house


async def test_a_full_conversation_goes_on_with_a_summary(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """People notice nothing; the agent reads the summary in the place of the beginning."""
    alice = house.guest("Alice")
    for n in range(3):
        house.agent.will(Says(f"answer {n}"), FULL)
        await alice.says(f"question {n}")

    assert alice.sees == ["answer 0", "answer 1", "answer 2"]
    assert house.agent.was_told(scribe.summary)
    assert house.agent.saw_only("question 1", "question 2")


async def test_a_summary_that_fails_is_said_once(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """Beside the answer, which comes all the same."""
    alice = house.guest("Alice")
    scribe.fails(9)
    for n in range(5):
        house.agent.will(Says(f"answer {n}"), FULL)
        await alice.says(f"question {n}")

    told = [text for text in alice.sees if text.startswith("I could not make room")]
    assert len(told) == 1
    assert "answer 4" in alice.sees[-1]
    assert house.agent.saw_only(*(f"question {n}" for n in range(5)))


async def test_a_model_that_overflows_answers_after_all(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """Overflow, compaction, success: Alice reads only the success."""
    alice = house.guest("Alice")
    await alice.says("one")
    house.agent.will(Overflows())
    house.agent.will(Says("two!"))

    assert await alice.asks("two") == "two!"
    assert len(scribe.wrote(SUMMARY_TASK)) == 1


async def test_somebody_asks_for_a_summary(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """With an eye on something; it is said what came of it, and can be taken back."""
    alice = house.guest("Alice")
    for n in range(4):
        await alice.says(f"question {n}")

    said = await alice.asks("/compress the peas")

    assert "A summary stands for the first " in said
    assert scribe.wrote(SUMMARY_TASK)[0].focus == "the peas"
    await alice.says("and now?")
    assert house.agent.was_told(scribe.summary)

    await alice.says("/compress undo")
    await alice.says("and then?")
    assert not house.agent.was_told(scribe.summary)


async def test_a_summary_that_was_asked_for_fails(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """It is said, and nothing has changed."""
    alice = house.guest("Alice")
    for n in range(4):
        await alice.says(f"question {n}")
    scribe.fails()

    assert "Nothing was compacted: The scribe has no ink." in await alice.asks("/compress")
    assert not await house.store.transcripts.hidden_ranges((await alice.session()).id)


async def test_a_summary_that_was_asked_for_while_a_turn_runs(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """It waits for its turn, and is written then."""
    alice = house.guest("Alice")
    for n in range(4):
        await alice.says(f"question {n}")
    house.agent.will(Hangs(), Says("late"))
    await alice.says("a long one")
    await alice.says("/compress")
    assert not scribe.wrote(SUMMARY_TASK)

    await house.agent_goes_on()

    assert "A summary stands for the first " in alice.sees[-1]


async def test_a_conversation_gets_a_name(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """After the first exchange; a name that Alice gives stays for ever."""
    alice = house.guest("Alice")
    await alice.says("how do peas grow?")
    session = await alice.session()
    assert (session.title, session.titled_by) == (scribe.title, TitleSource.MODEL)

    await alice.says("/title Peas")
    await alice.says("and beans?")

    assert (await alice.session()).title == "Peas"
    assert len(scribe.wrote(TITLE_TASK)) == 1


async def test_the_next_conversation_is_told_of_the_last(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """Where the policy says so, a summary of what ended by itself opens the new session."""
    policy = replace(house.rules.policies.default, carry=Carry.summary())
    house.lives_by(replace(house.rules, policies=Policies(default=policy)))
    alice = house.guest("Alice")
    await alice.says("the number is 7")

    await house.time_passes(hours=9)
    await house.sweeps()
    await alice.says("hello again")

    assert house.agent.was_told(scribe.summary)
    assert house.agent.saw_only("hello again")
    (asked,) = scribe.wrote(SUMMARY_TASK)
    assert "the number is 7" in asked.lines


async def test_nobody_sums_up_what_is_not_told(
    house: GatewayScenario, scribe: ScriptedSummarizer
) -> None:
    """Where nothing goes over, nothing is written and nothing is paid."""
    alice = house.guest("Alice")
    await alice.says("the number is 7")

    await house.time_passes(hours=9)
    await house.sweeps()
    await alice.says("hello again")

    assert not scribe.wrote(SUMMARY_TASK)
