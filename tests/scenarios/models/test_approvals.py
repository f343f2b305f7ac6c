"""A model that wants to use a tool for which a person is asked first."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic_ai.toolsets import FunctionToolset

from tests.agents.model.provider_agent import settings_of
from tests.databases import FAST, POSTGRES, on
from tests.doubles.providers import Calls, ProviderDouble, Says, Thinks
from tests.doubles.providers.wire import texts
from tests.scenarios.models.model_scenario import ModelHouse
from threadline.core.approval import PermissionDuration, ToolRules
from threadline.core.turn import TurnState
from threadline.testing.gateway_scenario import ADMIN
from threadline.testing.scenario import OpenStore

HM, DELETE = Thinks("Hm."), Calls(("delete", {"path": "notes.txt"}))


@pytest.fixture
def deleted() -> list[str]:
    """What was deleted, each time."""
    return []


@pytest.fixture
async def house(
    open_again: OpenStore, double: ProviderDouble, deleted: list[str]
) -> AsyncIterator[ModelHouse]:
    """Move into a house where one tool is free, and for the other leave is asked."""
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    def delete(path: str) -> str:
        """Delete a file."""
        deleted.append(path)
        return f"{path} is gone"

    @tools.tool_plain
    async def burn() -> str:
        """Burn everything, and never end."""
        deleted.append("everything")
        await asyncio.Event().wait()
        return "ashes"

    @tools.tool_plain
    def look() -> str:
        """List the files."""
        return "notes.txt"

    models = settings_of(double, "anthropic:claude-haiku-4-5", tools=ToolRules(free=("look",)))
    async with ModelHouse(open_again, double, models, tools) as house:
        yield house


def results(double: ProviderDouble) -> list[str]:
    """Answer the results of tools that the model was sent last."""
    return [
        texts(block["content"])
        for message in double.last.json["messages"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_result"
    ]


async def test_a_free_tool_runs_and_the_other_is_asked_for(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """Alice sees what it wants to do with what; on her word it is done, once."""
    alice = house.guest("Alice")
    double.will(Thinks("Look first."), Says("I look."), Calls(("look", {}), *DELETE.tools))
    asked = await alice.asks("tidy up")
    assert "I look." in asked
    assert "May I use this tool?\n\n```\ndelete\n  path: notes.txt\n```" in asked
    assert (deleted, len(double.requests)) == ([], 1)

    double.will(Says("Done."))
    await alice.presses("Approve")

    assert alice.sees[-2:] == ["Approved.", "Done."]
    assert deleted == ["notes.txt"]
    assert results(double) == ["notes.txt", "notes.txt is gone"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("/deny not that one", "They said: not that one"),
        ("/deny", "did not allow this."),
        ("rather archive it", "They said: rather archive it"),
    ],
)
async def test_a_denial_reaches_the_model(
    house: ModelHouse, double: ProviderDouble, deleted: list[str], said: str, told: str
) -> None:
    """With the words that came with it; free words are a denial, too."""
    alice = house.guest("Alice")
    double.will(HM, DELETE)
    await alice.says("tidy up")

    double.will(Says("As you wish."))
    await alice.says(said)

    assert alice.sees[-1] == "As you wish."
    assert deleted == []
    (result,) = results(double)
    assert told in result


async def test_leave_for_the_session_asks_nobody_again(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """The next call of that tool just runs, also after a restart; in a new session it asks."""
    alice = house.guest("Alice")
    double.will(HM, DELETE)
    await alice.says("tidy up")
    double.will(Says("Done."))
    await alice.says("/approve session")

    await house.crashes_and_comes_back()
    double.will(HM, DELETE)
    double.will(Says("Done again."))
    assert await alice.asks("once more") == "Done again."
    assert len(deleted) == 2

    await alice.says("/new")
    double.will(HM, DELETE)
    assert "May I use this tool?" in await alice.asks("and here?")
    assert len(deleted) == 2


async def test_leave_for_always_is_given_by_an_admin(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """Alice cannot; the admin can, and from then on nobody is asked in any conversation."""
    alice, boss = house.guest("Alice"), house.guest(ADMIN)
    double.will(HM, DELETE)
    await alice.says("tidy up")
    assert "Only an admin may always allow a tool" in await alice.asks("/approve always")
    assert await house.store.approvals.list_permissions() == []
    assert deleted == []

    double.will(HM, DELETE)
    await boss.says("tidy up")
    double.will(Says("Done."))
    await boss.says("/approve always")
    (allowance,) = await house.store.approvals.list_permissions()
    assert (allowance.tool, allowance.extent) == ("delete", PermissionDuration.ALWAYS)

    bob = house.guest("Bob", on="discord")
    double.will(HM, DELETE)
    double.will(Says("Done for Bob."))
    assert await bob.asks("tidy up") == "Done for Bob."
    assert len(deleted) == 2


async def test_an_answer_comes_hours_after_a_crash(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """The question stands where it stood, and is asked once."""
    alice = house.guest("Alice")
    double.will(HM, DELETE)
    await alice.says("tidy up")

    await house.crashes_and_comes_back()
    await house.time_passes(hours=23)
    await house.sweeps()
    assert len(alice.sees) == 1
    double.will(Says("Done."))
    await alice.says("/approve")

    assert alice.sees[-1] == "Done."
    assert deleted == ["notes.txt"]


async def test_what_was_begun_on_a_word_is_not_begun_twice(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """The gateway dies while the tool runs; afterwards the model is told that it was cut off."""
    alice = house.guest("Alice")
    double.will(HM, Calls(("burn", {})))
    await alice.says("tidy up")
    alice.writes("/approve")
    await house.until(lambda: deleted == ["everything"], "the fire")

    double.will(Says("I do not know what is left."))
    await house.crashes_and_comes_back()

    assert any("I do not know what is left." in words for words in alice.sees)
    assert deleted == ["everything"]
    (result,) = results(double)
    assert "interrupted before a result" in result


async def test_another_model_is_chosen_while_somebody_is_asked(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """It goes on from what the first one had begun, thoughts of another provider included."""
    boss = house.guest(ADMIN)
    double.will(HM, Says("Hello."))
    await boss.says("hello")
    await boss.says("/model openai:gpt-5")
    double.will(HM, DELETE)
    await boss.says("tidy up")
    await boss.says("/model anthropic:claude-haiku-4-5")

    double.will(Says("Done."))
    await boss.says("/approve")

    assert boss.sees[-1] == "Done."
    assert deleted == ["notes.txt"]
    paths = [one.path for one in double.requests[1:]]
    assert paths == ["/openai/v1/responses", "/anthropic/v1/messages"]


async def test_nobody_answers_for_a_day(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """The model is told no by a gateway that never asked, and the session is free again."""
    alice = house.guest("Alice")
    double.will(HM, DELETE)
    await alice.says("tidy up")

    await house.crashes_and_comes_back()
    double.will(Says("Then not."))
    await house.time_passes(hours=25)
    await house.sweeps()

    assert alice.sees[-1] == "Then not."
    assert deleted == []
    assert "did not allow this" in results(double)[0]
    assert [turn.state for turn in await alice.turns()] == [TurnState.DONE]


@on(FAST, POSTGRES)
async def test_two_answers_at_once(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """Alice and an admin decide in the same moment: one decision counts, the other is told so."""
    alice, boss = (house.guest(name).in_thread("Garden", "peas") for name in ("Alice", ADMIN))
    double.will(HM, DELETE)
    await alice.says("tidy up")

    double.will(Says("So be it."))
    alice.writes("/approve")
    boss.writes("/deny")
    await house.rests()

    decided = [words for words in alice.sees if words in {"Approved.", "Denied."}]
    assert len(decided) == 1
    assert sum("Nothing is waiting for an answer here" in words for words in alice.sees) == 1
    assert alice.sees.count("So be it.") == 1
    assert len(deleted) == (decided == ["Approved."])
    assert len(double.requests) == 2


async def test_somebody_who_may_not_approve(
    house: ModelHouse, double: ProviderDouble, deleted: list[str]
) -> None:
    """In a thread it is for whoever asked, or an admin; nothing is done on Bob's word."""
    alice, bob, boss = (
        house.guest(name).in_thread("Garden", "peas") for name in ("Alice", "Bob", ADMIN)
    )
    double.will(HM, DELETE)
    await alice.says("tidy up")

    for words in ("/approve", "/approve session", "/approve always"):
        assert "Only whoever was asked" in await bob.asks(words)
    assert (deleted, len(double.requests)) == ([], 1)
    assert await house.store.approvals.list_permissions() == []

    double.will(Says("Done."))
    await boss.says("/approve")
    assert alice.sees[-1] == "Done."
    assert deleted == ["notes.txt"]
