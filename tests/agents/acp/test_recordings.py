"""Conversations of real programs, recorded as they ran against a scripted model, played again.

In each of them the program answers a question, runs a command with permission, is started again
and loads its session, and (in most) ends while it waits for permission. In those of the folder
`denied` a command is denied and then approved, a reply is stopped, and the program is killed while
it is idle.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.agents.acp.test_acp import going_on, tools_of
from threadline.agents.acp.agent import AcpAgent
from threadline.agents.acp.process_pool import ProcessPool
from threadline.agents.settings import AcpSettings
from threadline.core.agent import Memory, Output, Question, Request, TextDelta
from threadline.core.errors import AgentError
from threadline.core.message import NewMessage, Role, Text, ToolCall, ToolResult
from threadline.testing.agent_contract import outputs_of, request_for, words_of

HERE = Path(__file__).parent
COMMAND = "touch made.txt && echo made it"
DELETION = "rm -rf scratch && echo made it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a turn with a tool stores: the name, some of the input and some of the result."""

    tools: list[tuple[str, dict[str, object], str]]
    dies: bool = True
    """Whether the program was killed while it waited for permission."""


RECORDINGS = {
    "gemini": Expected(tools=[(COMMAND, {}, "")]),
    "claude": Expected(tools=[(f"`{COMMAND}`", {"command": COMMAND}, "made it")]),
    "claude-agent": Expected(tools=[(COMMAND, {"command": COMMAND}, "made it")], dies=False),
    "codex": Expected(
        tools=[(COMMAND, {"command": ["/bin/bash", "-lc", COMMAND]}, "made it")],
    ),
    "opencode": Expected(tools=[(COMMAND, {"command": COMMAND, "cwd": "/project"}, "made it")]),
    "hermes": Expected(
        tools=[
            (f"recursive delete: {DELETION}", {"command": DELETION}, "reported no result"),
            (f"terminal: {DELETION}", {}, "made it"),
        ]
    ),
}


class Stage:
    """Plays one recording, and remembers the conversation as the store would."""

    def __init__(self, name: str, folder: Path, **environment: str) -> None:
        recording, starts = HERE / "recordings" / f"{name}.json", folder / "starts.txt"
        command = (sys.executable, str(HERE / "player.py"), str(recording), str(starts))
        self.settings = AcpSettings(command=command, folder=str(folder), environment=environment)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[AcpAgent]:
        """Start the program, and end it afterwards."""
        async with ProcessPool(self.settings) as crew:
            yield AcpAgent(self.settings, crew)


def after(request: Request, outputs: list[Output], words: str) -> Request:
    """Make the next request: the history has the messages that the turn stored."""
    memory = [one.text for one in outputs if isinstance(one, Memory)][-1]
    later = going_on(request, words_of(outputs), words, memory)
    *before, said, asked = later.history
    parts = [part for one in outputs if isinstance(one, NewMessage) for part in one.parts]
    whole = [n for n, one in enumerate(outputs) if isinstance(one, NewMessage)]
    last = outputs[whole[-1] + 1 :] if whole else []
    if rest := "".join(one.text for one in last if isinstance(one, TextDelta)):
        parts.append(Text(text=rest))
    return replace(later, history=(*before, replace(said, parts=tuple(parts) or said.parts), asked))


@pytest.mark.parametrize("name", RECORDINGS)
async def test_a_recorded_conversation_is_stored_as_it_was(name: str, tmp_path: Path) -> None:
    """Answers, calls with input and result, and permission requests of a real program are kept."""
    stage, asked = Stage(name, tmp_path), list[Question]()

    async def ask(question: Question) -> str:
        asked.append(question)
        return "approved"

    first = request_for("FIRST question")
    async with stage.opened() as agent:
        said = await outputs_of(agent, first)
        second = after(first, said, "Please USE THE TOOL now")
        used = await outputs_of(agent, replace(second, ask=ask))
    async with stage.opened() as agent:
        again = await outputs_of(agent, after(second, used, "SECOND question"))

    assert words_of(said) == "This is the first answer."
    assert "".join(words_of(used).split()) == "Iwilluseit.Thetoolwasused."
    (question,) = asked
    command = DELETION if name == "hermes" else COMMAND
    assert command in question.text
    for (tool, arguments, result), (wanted, given, told) in zip(
        tools_of(used), RECORDINGS[name].tools, strict=True
    ):
        assert tool == wanted
        assert given.items() <= json.loads(arguments).items()
        assert told in result
        assert bool(told) == bool(result)
    assert not [
        part
        for one in used
        if isinstance(one, NewMessage) and one.role is Role.TOOL
        for part in one.parts
        if getattr(part, "is_error", False)
    ]
    # The replay of the loaded session is no part of the answer.
    assert words_of(again) == "This is the second answer."
    assert tools_of(again) == []


DENIED: dict[str, tuple[dict[str, object], str]] = {
    "claude-agent": ({"command": COMMAND, "description": "Make a file"}, "refused permission"),
    "codex": ({"command": ["/bin/bash", "-lc", COMMAND]}, "Permission was denied."),
    "codex-2": ({"command": COMMAND, "cwd": "/project"}, "Permission was denied."),
    "gemini": ({}, "Permission was denied."),
    "hermes": ({"command": DELETION}, "Permission was denied."),
    "opencode": ({"command": COMMAND, "cwd": "/project"}, "user rejected permission"),
    "qwen": ({"command": COMMAND, "description": "Make a file"}, "canceled by the user"),
}
"""The arguments of the command, and the result of the one that was denied."""


@pytest.mark.parametrize("name", DENIED)
async def test_a_recorded_refusal_and_a_recorded_stop_end_as_they_should(
    name: str, tmp_path: Path
) -> None:
    """A denied call has its result before the next words, and after a stop the program goes on."""
    stage, asked = Stage(f"denied/{name}", tmp_path, OPENAI_API_KEY="sk-1"), list[Question]()
    arguments, refusal = DENIED[name]

    def deciding(decision: str) -> Callable[[Question], Awaitable[str]]:
        async def ask(question: Question) -> str:
            asked.append(question)
            return decision

        return ask

    first = request_for("FIRST question")
    async with stage.opened() as agent:
        said = await outputs_of(agent, first)
        request = replace(after(first, said, "Please USE THE TOOL now"), ask=deciding("denied"))
        denied = await outputs_of(agent, request)
        request = replace(after(request, denied, "USE THE TOOL again"), ask=deciding("approved"))
        used = await outputs_of(agent, request)
        request = after(request, used, "Please GO SLOW")
        stopped = await until(agent, request, "tick 3")
        request = after(request, stopped, "THIRD question")
        third = await outputs_of(agent, request)
    async with stage.opened() as agent:
        again = await outputs_of(agent, after(request, third, "SECOND question"))

    assert len(asked) == 2
    for _, given, _ in (tools_of(denied)[0], tools_of(used)[0]):
        assert arguments.items() <= json.loads(given).items()
    assert refusal in tools_of(denied)[0][2]
    assert is_followed_by_its_result(denied)
    assert "made it" in " ".join(told for _, _, told in tools_of(used)) or name == "gemini"
    assert words_of(third).endswith("This is the third answer.")
    assert words_of(again).endswith("This is the second answer.")


async def until(agent: AcpAgent, request: Request, words: str) -> list[Output]:
    """Collect what an agent says up to some words, and stop it then."""
    outputs, said = agent.answer(request), list[Output]()
    async for output in outputs:
        said.append(output)
        if words in words_of(said):
            break
    await outputs.aclose()  # type: ignore[attr-defined]
    return said


def is_followed_by_its_result(outputs: list[Output]) -> bool:
    """Return whether no words are between a call that failed and its result."""
    parts = [part for one in outputs if isinstance(one, NewMessage) for part in one.parts]
    failed = next(n for n, one in enumerate(parts) if isinstance(one, ToolResult) and one.is_error)
    return isinstance(parts[failed - 1], ToolCall)


@pytest.mark.parametrize("name", [name for name, one in RECORDINGS.items() if one.dies])
async def test_a_recorded_program_that_dies_while_it_asks_fails_the_turn(
    name: str, tmp_path: Path
) -> None:
    """The turn fails at once, and the command that was asked about is in the transcript."""
    stage = Stage(name, tmp_path)
    (tmp_path / "starts.txt").write_text("started\nstarted\n")
    stored: list[Output] = []
    async with stage.opened() as agent:
        with pytest.raises(AgentError, match="ended while it was needed"):
            request = replace(request_for("Please USE THE TOOL now"), ask=_never)
            async for output in agent.answer(request):
                stored += [output]

    command = DELETION if name == "hermes" else COMMAND
    calls = [str(part) for one in stored if isinstance(one, NewMessage) for part in one.parts]
    assert command in " ".join(calls)


async def test_codex_is_logged_in_with_a_key_of_the_settings(tmp_path: Path) -> None:
    """With `OPENAI_API_KEY` in the settings Codex is logged in; without, the hint names it."""
    async with Stage("codex-login", tmp_path, OPENAI_API_KEY="sk-1").opened() as agent:
        said = await outputs_of(agent, request_for("FIRST question"))
    async with Stage("codex-login", tmp_path).opened() as agent:
        with pytest.raises(AgentError) as failed:
            await outputs_of(agent, request_for("FIRST question"))

    assert words_of(said).endswith("This is the first answer.")
    assert "not logged in" in str(failed.value)
    assert "Use OPENAI_API_KEY (openai-api-key): OPENAI_API_KEY" in str(failed.value)


async def _never(_: Question) -> str:
    await asyncio.Event().wait()
    raise AssertionError


def test_recordings_are_small_and_name_their_programs() -> None:
    """Each file says which version was recorded, and is small enough to be read."""
    for path in sorted((HERE / "recordings").rglob("*.json")):
        text = path.read_text()
        assert len(text) < 40_000
        assert json.loads(text)["program"]
    names = {path.stem for path in (HERE / "recordings").glob("*.json")}
    assert names == {*RECORDINGS, "codex-login"}
    assert {path.stem for path in (HERE / "recordings" / "denied").glob("*.json")} == {*DENIED}
