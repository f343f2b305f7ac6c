"""What goes wrong between a model and us, over the wire of every provider."""

import asyncio

import pytest
from msgspec.structs import replace

from tests.agents.model.provider_agent import NAMES, Pauses, arithmetic, opened, settings_of
from tests.agents.model.provider_settings import KEY
from tests.agents.model.stored_conversation import Talk
from tests.doubles.providers import (
    Calls,
    Disconnects,
    Fails,
    Hangs,
    Malformed,
    Overloaded,
    ProviderDouble,
    RateLimited,
    Refuses,
    RunsOut,
    Says,
    Spends,
    Step,
    Thinks,
    TooLong,
    Unauthorised,
)
from threadline.core.agent import ReasoningDelta, TextDelta
from threadline.core.errors import AgentError, ContextFull
from threadline.core.message import NewMessage, Role
from threadline.core.session import ModelChoice
from threadline.core.usage import Usage
from threadline.testing.deadline import HANG_SECONDS

OPENAI, LOCAL, ANTHROPIC = NAMES[:3]


@pytest.mark.parametrize("name", NAMES)
async def test_an_answer_comes_in_pieces(name: str) -> None:
    """What is thought and said is yielded as it comes, then the whole message, and what it cost."""
    async with ProviderDouble() as double:
        double.will(Thinks("Let me see."), Says("Once upon a time."), Spends(100, 20))
        talk = Talk()
        async with opened(settings_of(double, name)) as agent:
            said = await talk.says(agent, "Tell me a story")

    assert said == talk.streamed == "Once upon a time."
    assert sum(isinstance(output, TextDelta) for output in talk.outputs) > 1
    assert any(isinstance(output, ReasoningDelta) for output in talk.outputs)
    [usage] = [output for output in talk.outputs if isinstance(output, Usage)]
    assert (usage.provider, usage.input_tokens) == (name.partition(":")[0], 100)
    assert isinstance(talk.outputs[-1], NewMessage)


@pytest.mark.parametrize("name", NAMES)
async def test_tools_are_called_and_their_results_are_sent(name: str) -> None:
    """Parallel calls are run, and the model answers with what came of them."""
    async with ProviderDouble() as double:
        sums = Calls(("add", {"a": 20, "b": 22}), ("divide", {"a": 1, "b": 0}))
        double.will(Thinks("Two at once."), sums)
        double.will(Says("42, and nobody can divide by zero."))
        talk = Talk()
        async with opened(settings_of(double, name), arithmetic()) as agent:
            said = await talk.says(agent, "Calculate")
        sent = double.last.body.decode()

    assert said == "42, and nobody can divide by zero."
    results = talk.parts(Role.TOOL)
    assert {part.text for part in results} == {"42", "The tool failed (ZeroDivisionError)"}  # type: ignore[union-attr]
    assert '"42"' in sent
    assert "ZeroDivisionError" in sent


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "trouble", [Overloaded(), Fails(500), Disconnects(), Malformed(), Fails(503)]
)
async def test_what_passes_is_tried_again(name: str, trouble: Step) -> None:
    """A provider that has a bad moment is asked again, and nobody notices."""
    pauses = Pauses()
    async with ProviderDouble() as double:
        double.will(trouble)
        double.will(trouble)
        double.will(Says("Here I am."))
        talk = Talk()
        async with opened(settings_of(double, name), sleep=pauses) as agent:
            said = await talk.says(agent, "Are you there?")

    assert said == "Here I am."
    assert pauses.seconds == [1.0, 2.0]


@pytest.mark.parametrize("name", NAMES)
async def test_a_provider_says_how_long_to_wait(name: str) -> None:
    """A rate limit is kept to: nobody asks before the provider said so."""
    pauses = Pauses()
    async with ProviderDouble() as double:
        double.will(RateLimited(retry_after=7))
        double.will(Says("Now."))
        talk = Talk()
        async with opened(settings_of(double, name), sleep=pauses) as agent:
            await talk.says(agent, "Now?")

    assert talk.lines[-1].text == "Now."
    assert len(pauses.seconds) == 1
    assert 7 <= pauses.seconds[0] < 8


async def test_nobody_waits_for_ever() -> None:
    """Five tries, and no longer than a minute in all, then it is said what is wrong."""
    pauses = Pauses()
    async with ProviderDouble() as double:
        for _ in range(10):
            double.will(Overloaded())
        async with opened(settings_of(double, ANTHROPIC), sleep=pauses) as agent:
            with pytest.raises(AgentError, match="overloaded just now"):
                await Talk().says(agent, "Hello?")

    assert len(double.requests) == 5
    assert pauses.seconds == [1.0, 2.0, 4.0, 8.0]


async def test_an_hour_is_not_waited_for() -> None:
    """A provider that wants to be left alone for an hour is not waited for."""
    pauses = Pauses()
    async with ProviderDouble() as double:
        double.will(RateLimited(retry_after=3600))
        async with opened(settings_of(double, OPENAI), sleep=pauses) as agent:
            with pytest.raises(AgentError, match="asked too often"):
                await Talk().says(agent, "Hello?")

    assert pauses.seconds == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("trouble", [Disconnects("Once upon"), Malformed("Once upon")])
async def test_what_was_said_before_it_broke_off_stays(name: str, trouble: Step) -> None:
    """Words that somebody may have read are not said again from the beginning."""
    pauses = Pauses()
    async with ProviderDouble() as double:
        double.will(trouble)
        talk = Talk()
        async with opened(settings_of(double, name), sleep=pauses) as agent:
            with pytest.raises(AgentError) as caught:
                await talk.says(agent, "Tell me a story")

    assert talk.streamed == "Once upon"
    assert pauses.seconds == []
    assert name in str(caught.value)
    is_cut = "broke off in the middle of its answer" in str(caught.value)
    assert is_cut is isinstance(trouble, Disconnects)
    assert not any(isinstance(output, NewMessage) for output in talk.outputs)


@pytest.mark.parametrize("name", NAMES)
async def test_a_refusal_is_said_plainly(name: str) -> None:
    """A filter that answers in the model's place is no answer, and asking again is of no use."""
    async with ProviderDouble() as double:
        double.will(Refuses())
        async with opened(settings_of(double, name)) as agent:
            with pytest.raises(AgentError, match="declined to answer"):
                await Talk().says(agent, "Something bad")

    assert len(double.requests) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_a_conversation_that_is_too_long_is_known_as_such(name: str) -> None:
    """Whoever can make room learns that room is needed, whichever words the provider has for it."""
    async with ProviderDouble() as double:
        double.will(TooLong())
        async with opened(replace(settings_of(double, name), fallback=(LOCAL,))) as agent:
            with pytest.raises(ContextFull, match=r"longer than .* can read"):
                await Talk().says(agent, "And another thing")

    assert len(double.requests) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_a_key_is_never_told(name: str) -> None:
    """An error that quotes the key becomes one that does not."""
    async with ProviderDouble() as double:
        double.will(Unauthorised())
        async with opened(settings_of(double, name)) as agent:
            with pytest.raises(AgentError, match="did not accept the key") as caught:
                await Talk().says(agent, "Hello")

    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    assert len(double.requests) == 1


@pytest.mark.parametrize("name", NAMES)
async def test_a_call_that_was_cut_short_is_not_run(name: str) -> None:
    """Half of a tool call may mean anything."""
    async with ProviderDouble() as double:
        double.will(Calls(("add", '{"a": 1, "b"')), RunsOut())
        async with opened(settings_of(double, name), arithmetic()) as agent:
            with pytest.raises(AgentError, match="used up what it may say"):
                await Talk().says(agent, "Calculate")


async def test_another_model_answers_in_its_place() -> None:
    """A model that is down is replaced by the next one on the list, for the rest of the turn."""
    async with ProviderDouble() as double:
        for _ in range(5):
            double.will(Overloaded())
        double.will(Calls(("add", {"a": 1, "b": 1})))
        double.will(Says("2"))
        talk = Talk()
        settings = replace(settings_of(double, ANTHROPIC), fallback=(OPENAI,))
        async with opened(settings, arithmetic()) as agent:
            said = await talk.says(agent, "Calculate")
        paths = [request.path for request in double.requests]

    assert said == "2"
    assert [("anthropic" in path, "openai" in path) for path in paths] == (
        [(True, False)] * 5 + [(False, True)] * 2
    )
    usages = [output for output in talk.outputs if isinstance(output, Usage)]
    assert {usage.provider for usage in usages} == {"openai"}


async def test_a_model_that_cannot_be_made_does_not_take_over() -> None:
    """A slip in the list of those who take over costs nothing while the first one answers."""
    async with ProviderDouble() as double:
        double.will(Says("I am here."))
        settings = replace(settings_of(double, OPENAI), fallback=("nobody:none", LOCAL))
        async with opened(settings) as agent:
            assert await Talk().says(agent, "Hello") == "I am here."
            for _ in range(5):
                double.will(Overloaded())
            double.will(Says("So am I."))
            assert await Talk().says(agent, "Hello") == "So am I."


async def test_another_provider_takes_over_a_conversation() -> None:
    """Thoughts and ids of one provider are no obstacle for the next one."""
    talk = Talk()
    async with ProviderDouble() as double:
        for name in (*NAMES, *NAMES):
            before = len(double.requests)
            double.will(Thinks(f"So thinks {name}."), Calls(("add", {"a": 1, "b": 1})))
            double.will(Thinks("Done."), Says(f"{name} says 2"))
            async with opened(settings_of(double, name), arithmetic()) as agent:
                assert await talk.says(agent, "1 + 1?") == f"{name} says 2"
            sent = double.requests[before].body.decode()
            assert not [other for other in NAMES if other != name and f"thinks {other}" in sent]


async def test_a_model_that_somebody_chose_is_not_replaced_in_silence() -> None:
    """Who asked for a model that there is not learns that, though another one could answer."""
    talk = Talk(choice=ModelChoice(model="gpt-99", provider="openai"))
    async with ProviderDouble(models=["gpt-5", "llama3"]) as double:
        settings = replace(settings_of(double, OPENAI), fallback=(LOCAL,))
        async with opened(settings) as agent:
            with pytest.raises(AgentError, match="no model called openai:gpt-99"):
                await talk.says(agent, "Hello")


async def test_a_session_may_choose_its_model_and_server() -> None:
    """What a session was told to use is asked, at the address that was chosen for it."""
    async with ProviderDouble() as elsewhere, ProviderDouble() as double:
        elsewhere.will(Says("I am elsewhere."))
        choice = ModelChoice(model="o4-mini", base_url=f"{elsewhere.url}/openai/v1")
        talk = Talk(choice=choice)
        async with opened(settings_of(double, OPENAI)) as agent:
            said = await talk.says(agent, "Where are you?")

        assert said == "I am elsewhere."
        assert elsewhere.last.json["model"] == "o4-mini"
        assert double.requests == []


@pytest.mark.parametrize("name", NAMES)
async def test_a_cancelled_answer_closes_its_connection(name: str) -> None:
    """Stopping a turn ends what the provider makes for it."""
    async with ProviderDouble() as double:
        double.will(Says("Once upon"), Hangs(), Says(" a time."))
        talk = Talk()
        async with opened(settings_of(double, name)) as agent:
            task = asyncio.create_task(talk.says(agent, "Tell me a story"))
            await double.hangs()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            async with asyncio.timeout(HANG_SECONDS):
                await double.is_free()

    assert "Once upon".startswith(talk.streamed)
