import asyncio

import pytest
from msgspec.structs import replace
from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from tests.agents.model.function_model import Actor, agent_of, files
from tests.agents.model.stored_conversation import Talk
from threadline.agents.model.agent import ModelAgent, render_instructions
from threadline.agents.profiles import ByProfile
from threadline.agents.settings import ModelSettings
from threadline.core.agent import Agent
from threadline.core.approval import ToolRules
from threadline.core.errors import AgentError
from threadline.core.message import Role, ToolResult
from threadline.testing.agent_contract import AgentContract, outputs_of, request_for, words_of
from threadline.testing.deadline import HANG_SECONDS


class TestModelAgent(AgentContract):
    """The model agent keeps the contract of all agents."""

    def make_agent(self) -> Agent:
        return agent_of(Actor())


async def test_tools_run_at_the_same_time() -> None:
    """Of two calls neither waits for the other; each result is yielded as it comes."""
    met = asyncio.Barrier(2)
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    async def meet(name: str) -> str:
        """Wait for the other one."""
        async with asyncio.timeout(HANG_SECONDS):
            await met.wait()
        return f"{name} met somebody"

    talk = Talk()
    calls = [("meet", '{"name": "Ann"}'), ("meet", '{"name": "Bob"}')]
    await talk.says(agent_of(Actor(calls, "Nice."), tools), "Meet")

    texts = {part.text for part in talk.parts(Role.TOOL) if isinstance(part, ToolResult)}
    assert texts == {"Ann met somebody", "Bob met somebody"}
    assert [line.role for line in talk.lines][1:] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.TOOL,
        Role.ASSISTANT,
    ]


async def test_what_is_said_meanwhile_is_heard_at_the_next_step() -> None:
    """Steering reaches the model together with the results of its tools."""
    talk = Talk()
    talk.steers = ["Use metres, please"]
    actor = Actor([("files_read", '{"path": "a.txt"}')], "In metres, then.")

    await talk.says(agent_of(actor, files([])), "How long is it?")

    assert any("Use metres, please" in text for text in actor.texts)
    assert isinstance(actor.sent[-1][-1], ModelRequest)
    assert len(actor.sent[-1]) == 3


async def test_a_model_that_comes_to_no_end_is_stopped() -> None:
    """A loop of calls ends with a sentence, and what was done by then is kept."""
    done: list[str] = []
    loop = [[("files_read", '{"path": "a.txt"}')]] * 10
    talk = Talk()

    with pytest.raises(AgentError, match=r"called 3 times in this turn.*max_steps"):
        await talk.says(agent_of(Actor(*loop), files(done), max_steps=3), "Read")

    assert len(done) == 3
    assert talk.lines[-1].role is Role.TOOL


async def test_tools_that_are_barred_are_not_offered() -> None:
    """A model learns nothing of tools that it may not use here, and cannot call them."""
    done: list[str] = []
    actor = Actor([("files_write", '{"path": "a.txt"}')], "ok")
    talk = Talk(tools=("files_r*",))

    await talk.says(agent_of(actor, files(done)), "Write")

    assert actor.offered == ["files_read"]
    assert done == []
    assert any("no tool called files_write" in text for text in actor.texts)


async def test_tools_may_differ_by_platform() -> None:
    """What is allowed at home need not be allowed in a chat."""
    actor = Actor()
    rules = {"telegram": ToolRules(use=("files_read",))}
    agent = agent_of(actor, files([]), tools_by_platform=rules)

    await Talk().says(agent, "Hi")
    assert actor.offered == ["files_read", "files_write"]
    await Talk(platform="telegram").says(agent, "Hi")
    assert actor.offered == ["files_read"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("{}", "arguments do not fit"),
        ('{"path": 3}', "arguments do not fit"),
        ("no json", "arguments do not fit"),
        ('{"path": "\\ud800"}', "arguments do not fit"),
        ("[1]", "arguments do not fit"),
    ],
)
async def test_nonsense_for_a_tool_is_told_to_the_model(arguments: str, told: str) -> None:
    """A model that calls a tool wrongly learns how, and the turn goes on."""
    talk = Talk()
    said = await talk.says(
        agent_of(Actor([("files_read", arguments)], "Sorry."), files([])), "Read"
    )

    assert said == "Sorry."
    [result] = talk.parts(Role.TOOL)
    assert isinstance(result, ToolResult)
    assert told in result.text


async def test_a_cancelled_turn_cancels_its_tools() -> None:
    """A tool that runs when its turn is stopped is stopped with it."""
    running, stopped = asyncio.Event(), asyncio.Event()
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    async def wait_for_ever() -> str:
        """Wait."""
        running.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ""

    agent = agent_of(Actor([("wait_for_ever", "{}")]), tools)
    task = asyncio.create_task(Talk().says(agent, "Wait"))
    await running.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()


async def test_a_model_that_says_nothing_is_asked_again() -> None:
    """An empty answer is none; after some tries it is said so."""
    actor = Actor(*[""] * 10)
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    settings = ModelSettings(model="stage:actor")
    agent = ModelAgent(settings, lambda _n, _u: actor.model(), sleep=sleep, chance=lambda: 1.0)

    with pytest.raises(AgentError, match="stage:actor said nothing"):
        await Talk().says(agent, "Hello")
    assert len(actor.sent) == 5
    assert len(slept) == 4


def test_instructions_are_the_same_in_every_turn() -> None:
    """Providers keep what they have read once: who, how and where stay as they are."""
    settings = ModelSettings(model="a:b", instructions="Be kind.", personalities={"pirate": "Arr."})
    first, later = request_for("one"), request_for("one", "two", "three", attempts=2)

    assert render_instructions(settings, first) == render_instructions(settings, later)
    assert render_instructions(settings, first).startswith("Be kind.\n\n")
    assert first.instructions.strip() in render_instructions(settings, first)
    pirate = replace(first, session=replace(first.session, personality="pirate"))
    assert render_instructions(settings, pirate).startswith("Arr.\n\n")
    unknown = replace(first, session=replace(first.session, personality="gone"))
    assert render_instructions(settings, unknown).startswith("Be kind.\n\n")


async def test_an_error_that_nobody_foresaw_is_a_sentence() -> None:
    """Whatever a provider's package raises, its words are not passed on."""

    async def break_down(*_: object) -> object:
        raise RuntimeError("key sk-secret leaked")
        yield ""

    model = FunctionModel(stream_function=break_down)  # type: ignore[arg-type]

    async def sleep(_: float) -> None:
        pass

    agent = ModelAgent(ModelSettings(model="stage:actor"), lambda _n, _u: model, sleep=sleep)
    with pytest.raises(AgentError, match=r"could not be asked \(RuntimeError\)") as caught:
        await Talk().says(agent, "Hello")
    assert "sk-secret" not in str(caught.value)


async def test_each_profile_has_its_own_agent() -> None:
    """A profile is answered by its agent, and all others by the one for all."""
    both = ByProfile({"work": agent_of(Actor("at work"))}, agent_of(Actor("at home")))
    request = request_for("hello")
    work = replace(request, session=replace(request.session, profile="work"))

    assert words_of(await outputs_of(both, work)) == "at work"
    assert words_of(await outputs_of(both, request)) == "at home"


async def test_a_turn_that_is_asked_once_more_ends_with_a_question() -> None:
    """A history that ends with the model's own words is not sent as if it were a question."""
    actor, talk = Actor("First.", "Second."), Talk()
    agent = agent_of(actor)
    await talk.says(agent, "Hello")
    await talk.goes_on(agent)

    last = actor.sent[-1][-1]
    assert isinstance(last, ModelRequest)
    assert isinstance(actor.sent[-1][-2], ModelResponse)
    assert [part for part in last.parts if isinstance(part, UserPromptPart)]


async def test_a_name_that_two_servers_claim_belongs_to_none() -> None:
    """Leave for the tool of one server is no leave for that of another with the same name."""
    done: list[str] = []
    actor, talk = Actor([("files_write", '{"path": "a"}')], "ok"), Talk()

    await talk.says(agent_of(actor, files(done), files(done)), "Do it")

    assert (done, actor.offered) == ([], [])
