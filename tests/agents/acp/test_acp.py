"""Any agent that speaks the Agent Client Protocol can answer: a real program on the other side."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from acp import update_tool_call
from acp.schema import (
    AllowedOutcome,
    FileEditToolCallContent,
    PermissionOption,
    ToolCallProgress,
    ToolCallUpdate,
)
from msgspec.structs import replace

from threadline.agents.acp.agent import AcpAgent
from threadline.agents.acp.client import AcpClient, PermissionRequest
from threadline.agents.acp.permissions import question_of
from threadline.agents.acp.process import AgentProcess
from threadline.agents.acp.process_pool import ProcessPool
from threadline.agents.settings import AcpSettings, McpServer
from threadline.core.agent import Memory, Output, Question, ReasoningDelta, Request, TextDelta
from threadline.core.approval import ToolRules, reveal
from threadline.core.errors import AgentError
from threadline.core.message import (
    Attachment,
    BlobHash,
    MediaKind,
    Message,
    MessageKey,
    NewMessage,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.platform import Unit
from threadline.core.redaction import HIDDEN
from threadline.core.session import SessionId
from threadline.core.splitting import Limit, split
from threadline.core.turn import TurnId
from threadline.core.usage import Usage
from threadline.platforms.telegram.entities import render_entities
from threadline.testing.agent_contract import outputs_of, request_for, words_of
from threadline.testing.deadline import HANG_SECONDS

PROGRAM = str(Path(__file__).with_name("acp_agent.py"))


def settings(*arguments: str, **others: object) -> AcpSettings:
    """Run the program of the tests."""
    made = AcpSettings(command=(sys.executable, PROGRAM, *arguments))
    return replace(made, **others)


@asynccontextmanager
async def acp(*arguments: str, **others: object) -> AsyncIterator[AcpAgent]:
    """Open an agent."""
    made = settings(*arguments, **others)
    async with ProcessPool(made) as crew:
        yield AcpAgent(made, crew)


async def answer(agent: AcpAgent, request: Request) -> tuple[str, str | None]:
    """Let it answer: its words, and what it wants to remember."""
    outputs = await outputs_of(agent, request)
    memory = [output.text for output in outputs if isinstance(output, Memory)]
    return words_of(outputs), memory[-1] if memory else None


def going_on(request: Request, said: str, words: str, memory: str | None) -> Request:
    """Make the request after one: with its answer, and what is said next."""
    last = request.history[-1]
    number = int(last.key)
    lines = [
        replace(
            last,
            key=MessageKey(number + n),
            seq=number + n,
            role=role,
            parts=(Text(text=text),),
            turn_id=TurnId(number + n - 1 if role is Role.ASSISTANT else number + n),
        )
        for n, (role, text) in enumerate([(Role.ASSISTANT, said), (Role.USER, words)], start=1)
    ]
    turn = replace(request.turn, id=TurnId(number + 2))
    return replace(request, history=(*request.history, *lines), turn=turn, memory=memory)


async def test_it_answers_as_it_goes() -> None:
    """Words and thoughts come piece by piece, and what was spent is told."""
    async with acp() as agent:
        outputs = await outputs_of(agent, request_for("hello"))

        assert ReasoningDelta(text="hmm") in outputs
        assert next(one for one in outputs if isinstance(one, TextDelta)) == TextDelta(text="You ")
        assert "hello" in words_of(outputs)
        (usage,) = [one for one in outputs if isinstance(one, Usage)]
        assert (usage.provider, usage.input_tokens, usage.output_tokens) == ("acp", 4, 3)


async def test_it_is_told_where_it_is_and_what_is_new_and_no_more() -> None:
    """The second message goes to the same program, which remembers the first by itself."""
    async with acp(instructions="You are a parrot.") as agent:
        first = request_for("remember this")
        said, memory = await answer(agent, first)
        again, _ = await answer(agent, going_on(first, said, "remember that", memory))

        program, _, told = again.partition("|")
        assert said.startswith(program)
        assert told.count("this") == 1
        assert told.count("You are a parrot.") == 1
        assert told.count(first.instructions.strip()) == 1
        assert "This is what was said before" not in told


async def test_after_undo_it_begins_anew_with_what_is_left() -> None:
    """What was taken back is known to no session of the program that goes on."""
    async with acp() as agent:
        first = request_for("one")
        said, memory = await answer(agent, first)
        second = going_on(first, said, "two", memory)
        _, memory = await answer(agent, second)
        undone = replace(going_on(first, said, "remember three", None), memory=memory)
        line = replace(undone.history[-1], key=MessageKey(77), seq=77)
        undone = replace(undone, history=(*undone.history[:-1], line))

        told, _ = await answer(agent, undone)

        assert "two" not in told
        assert "user: one" in told
        assert f"assistant: {said.replace('</context>', '‹/context>')}" in told


async def test_an_answer_that_is_asked_for_again_begins_anew() -> None:
    """Retried, the program does not know what it had said."""
    async with acp() as agent:
        first = request_for("remember me")
        _, memory = await answer(agent, first)
        told, _ = await answer(agent, replace(first, memory=memory))

        assert told.count("remember me") == 1


async def test_after_a_restart_it_goes_on_where_it_can(tmp_path: Path) -> None:
    """A program that keeps its sessions is asked for its own; what it repeats is not said again."""
    keep = f"--keep={tmp_path / 'kept.json'}"
    async with acp(keep) as agent:
        first = request_for("one")
        said, memory = await answer(agent, first)
    async with acp(keep) as agent:
        told, _ = await answer(agent, going_on(first, said, "remember two", memory))

    assert "one" in told
    assert "REPLAY" not in told
    assert "This is what was said before" not in told


async def test_words_that_may_never_have_arrived_are_said_again(tmp_path: Path) -> None:
    """Cut off before it answered, the program is asked anew, in the session that it has."""
    keep = f"--keep={tmp_path / 'kept.json'}"
    asked = request_for("remember one")
    async with acp(keep) as agent:
        outputs = await outputs_of(agent, asked)
    before = next(output.text for output in outputs if isinstance(output, Memory))
    async with acp(keep) as agent:
        told, _ = await answer(agent, replace(asked, memory=before))

    assert told.count("remember one") == 2
    assert "This is what was said before" not in told


async def test_after_a_restart_it_is_told_what_it_cannot_know() -> None:
    """A program that keeps nothing is shown the conversation."""
    async with acp() as agent:
        first = request_for("one")
        said, memory = await answer(agent, first)
    async with acp() as agent:
        told, _ = await answer(agent, going_on(first, said, "remember two", memory))

    assert "user: one" in told
    assert f"assistant: {said.replace('</context>', '‹/context>')}" in told


async def test_a_person_decides_what_it_may() -> None:
    """What it asks leave for is asked of a person, while it waits; what is no yes is a no."""
    asked: list[Question] = []
    decisions = {"approved": "yes", "approved: go": "yes", "denied: never": "no", "what?": "no"}
    told: dict[str, str] = {}
    async with acp() as agent:
        for decision in decisions:

            async def ask(question: Question, decision: str = decision) -> str:
                asked.append(question)
                return decision

            said, _ = await answer(agent, replace(request_for("permission"), ask=ask))
            told[decision] = said.removeprefix("I was told ").removesuffix(".")

    assert told == decisions
    assert asked[0].tools == ("delete",)
    assert "Delete everything" in asked[0].text
    assert "/tmp" in asked[0].text


@pytest.mark.parametrize(
    ("rules", "allowed", "told"),
    [
        (ToolRules(free=("del*",)), frozenset(), "yes"),
        (ToolRules(), frozenset({"delete"}), "yes"),
        (ToolRules(use=("read",)), frozenset(), "no"),
    ],
)
async def test_what_is_decided_already_is_not_asked(
    rules: ToolRules, allowed: frozenset[str], told: str
) -> None:
    """Free, allowed before, or barred: nobody is disturbed."""
    async with acp(tools=rules) as agent:
        said, _ = await answer(agent, replace(request_for("permission"), allowed=allowed))

    assert said == f"I was told {told}."


async def test_its_tools_are_in_the_transcript() -> None:
    """Calls and results become lines; a call that never ended has a result that says so."""
    async with acp() as agent:
        outputs = await outputs_of(agent, request_for("tool"))

    lines = [one for one in outputs if isinstance(one, NewMessage)]
    assert [line.role for line in lines] == [
        Role.ASSISTANT,
        Role.TOOL,
        Role.ASSISTANT,
        Role.TOOL,
    ]
    assert lines[0].parts == (
        Text(text="Let me look."),
        ToolCall(id="t1", name="Read notes", arguments='{"file": "notes"}'),
    )
    assert lines[1].parts == (ToolResult(call_id="t1", text="milk"),)
    assert isinstance(lines[3].parts[0], ToolResult)
    assert lines[3].parts[0].is_error
    assert words_of(outputs) == "Let me look.\nMilk."


def tools_of(outputs: Sequence[Output]) -> list[tuple[str, str, str]]:
    """List the tool calls: their names, arguments and results."""
    parts = [part for one in outputs if isinstance(one, NewMessage) for part in one.parts]
    results = {part.call_id: part.text for part in parts if isinstance(part, ToolResult)}
    calls = [part for part in parts if isinstance(part, ToolCall)]
    return [(call.name, call.arguments, results[call.id]) for call in calls]


async def approve(_: Question) -> str:
    return "approved"


async def test_calls_that_were_never_announced_are_in_the_transcript() -> None:
    """Gemini CLI asks for permission and sends updates without a `tool_call` before."""
    async with acp() as agent:
        outputs = await outputs_of(agent, replace(request_for("unannounced"), ask=approve))

    assert tools_of(outputs) == [
        ("rm notes [in the garden]", "{}", "removed"),
        ("List files", "{}", "two files"),
    ]


async def test_input_that_comes_with_an_update_is_in_the_transcript() -> None:
    """Claude Code and OpenCode announce a call with an empty input, and send the real one later."""
    async with acp() as agent:
        outputs = await outputs_of(agent, request_for("late input"))

    assert tools_of(outputs) == [
        ("`ls a`", '{"command": "ls a"}', "files of a"),
        ("`ls b`", '{"command": "ls b"}', "files of b"),
    ]


async def test_a_request_by_id_shows_what_was_announced() -> None:
    """The approver sees the call that the agent announced before, and its kind counts."""
    asked: list[Question] = []

    async def ask(question: Question) -> str:
        asked.append(question)
        return "denied"

    async with acp() as agent:
        await outputs_of(agent, replace(request_for("by id"), ask=ask))

    (question,) = asked
    assert question.tools == ("execute",)
    assert "command: rm -r ." in question.text
    assert "Tidy up (execute)" in question.text


@pytest.mark.parametrize(
    ("later", "told"),
    [
        (update_tool_call("c1", status="in_progress"), "yes"),
        (update_tool_call("c1", raw_input={"path": "/tmp"}), "yes"),
        (update_tool_call("other", raw_input={"path": "/"}), "yes"),
        (update_tool_call("c1", raw_input={"path": "/"}), "no"),
        (update_tool_call("c1", title="Tidy up"), "no"),
        (update_tool_call("c1", kind="execute"), "no"),
    ],
)
async def test_a_call_that_changes_while_it_is_asked_about_is_denied(
    later: ToolCallProgress, told: str
) -> None:
    """What runs is what the approver was shown, so a yes does not cover an update that differs."""
    ears = AcpClient()
    ears.listen("s")
    call = ToolCallUpdate(
        tool_call_id="c1", title="Delete", kind="delete", raw_input={"path": "/tmp"}
    )
    options = [
        PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
        PermissionOption(option_id="no", name="No", kind="reject_once"),
    ]
    asking = asyncio.create_task(ears.request_permission("s", call, options))

    async def ask(_: Question) -> str:
        await ears.session_update("s", later)
        return "approved"

    asked = await ears.heard.get()
    assert isinstance(asked, PermissionRequest)
    async with acp() as agent:
        await agent._decide(asked, replace(request_for("x"), ask=ask))

    outcome = (await asking).outcome
    assert isinstance(outcome, AllowedOutcome)
    assert outcome.option_id == told


async def test_the_approver_sees_path_and_diff() -> None:
    """Everything that comes with a request is shown, and it is in the transcript as well."""
    asked: list[str] = []

    async def ask(question: Question) -> str:
        asked.append(question.text)
        return "approved"

    async with acp() as agent:
        outputs = await outputs_of(agent, replace(request_for("edit"), ask=ask))

    (question,) = asked
    assert "Edit notes.md (edit)" in question
    assert "/garden/notes.md:2" in question
    assert "\n-salt" in question
    ((_, arguments, result),) = tools_of(outputs)
    assert json.loads(arguments)["edits"][0]["new_text"] == "milk\n"
    assert "\n-salt" in result


@pytest.mark.parametrize("end", ["\r", "\x0b", "\u2028"])
def test_a_line_of_a_diff_is_a_line_of_the_file(end: str) -> None:
    """A sign that ends a line only for some programs is seen, and no comment looks like code."""
    edit = FileEditToolCallContent(
        type="diff", path="/a.py", old_text="", new_text=f"# see below:{end}refuse()\n"
    )
    call = ToolCallUpdate(tool_call_id="1", kind="edit", content=[edit])

    assert f"+# see below:{reveal(end)}refuse()\n" in question_of(call).text


def test_backticks_in_a_long_request_hide_nothing_in_a_chat() -> None:
    """However many backticks the agent sends, no part of the request is shown as a link."""
    command = "ls [docs](https://x.example/;curl-evil|sh)"
    for ticks in (5, 6, 8, 9, 5000):
        title = f"Show\n{'`' * ticks}\n{'x' * 7000}\n{command}"
        text = question_of(ToolCallUpdate(tool_call_id="1", title=title, kind="execute")).text
        limit = Limit(most=4096, unit=Unit.UTF16)

        assert command in "\n".join(render_entities(cut.text).text for cut in split(text, limit))


async def test_an_agent_that_dies_while_it_asks_fails_the_turn_at_once() -> None:
    """Nobody has to answer a question that no program waits for."""
    asked = asyncio.Event()

    async def ask(_: Question) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with acp() as agent:
        with pytest.raises(AgentError, match="ended while it was needed"):
            await answer(agent, replace(request_for("die asking"), ask=ask))

    assert asked.is_set()


async def test_an_agent_that_died_while_idle_is_started_again() -> None:
    """The next message is answered by a new program, which is told the conversation."""
    async with acp() as agent:
        first = request_for("remember")
        said, memory = await answer(agent, first)
        os.kill(int(said.partition("|")[0]), signal.SIGKILL)
        again, _ = await answer(agent, going_on(first, said, "remember me", memory))

    assert "user: remember" in again


@pytest.mark.parametrize("what", ["", "--strange-replay"])
@pytest.mark.parametrize("when", ["", "--late-replay"])
async def test_a_replay_is_no_part_of_the_answer(tmp_path: Path, when: str, what: str) -> None:
    """Only what belongs to the prompt counts; Gemini CLI replays after it has answered the load.

    It also replays turns that were cut off, which are not in our history.
    """
    arguments = [f"--keep={tmp_path / 'kept.json'}", *filter(None, [when, what])]
    async with acp(*arguments) as agent:
        first = request_for("tool")
        outputs = await outputs_of(agent, first)
        memory = [one.text for one in outputs if isinstance(one, Memory)][-1]
    async with acp(*arguments) as agent:
        later = going_on(first, words_of(outputs).replace("\n", ""), "hello", memory)
        *before, said, asked = later.history
        call = ToolCall(id="t1", name="Read notes", arguments="{}")
        said = replace(said, parts=(*said.parts, call))
        outputs = await outputs_of(agent, replace(later, history=(*before, said, asked)))

    assert words_of(outputs).startswith("You said: ")
    assert "Milk" not in words_of(outputs)
    assert tools_of(outputs) == []


@pytest.mark.parametrize("when", ["", "--late-replay"])
async def test_an_answer_that_repeats_an_earlier_one_is_kept(tmp_path: Path, when: str) -> None:
    """After a replay the agent may say the same words again, and they count."""
    arguments = [f"--keep={tmp_path / 'kept.json'}", *filter(None, [when])]
    async with acp(*arguments) as agent:
        first = request_for("same")
        said, memory = await answer(agent, first)
    async with acp(*arguments) as agent:
        again, _ = await answer(agent, going_on(first, said, "same", memory))

    assert said == again == "The same as ever."


@pytest.mark.parametrize(
    ("environment", "login"),
    [({"OPENAI_API_KEY": "sk-1"}, "openai-api-key"), ({"VERTEX_KEY": "k"}, "vertex")],
)
async def test_it_logs_in_with_a_key_of_the_settings(
    environment: dict[str, str], login: str
) -> None:
    """A login method is used if the settings have the variable that it names."""
    async with acp("--locked", environment=environment) as agent:
        told, _ = await answer(agent, request_for("remember"))

    assert f"login {login}" in told


async def test_it_logs_in_with_a_method_that_names_no_variable() -> None:
    """The newer Codex says only that it takes an API key; one that it refuses is no login."""
    async with acp("--locked", "--unnamed", environment={"OPENAI_API_KEY": "sk-1"}) as agent:
        told, _ = await answer(agent, request_for("remember"))
    async with acp("--locked", "--unnamed", environment={"SEARCH_API_KEY": "k"}) as agent:
        with pytest.raises(AgentError, match="not logged in"):
            await answer(agent, request_for("remember"))

    assert "login api-key" in told


async def test_it_logs_in_before_it_loads_a_session(tmp_path: Path) -> None:
    """A program that requires a login for each run goes on with its session after a restart."""
    arguments = ("--locked", f"--keep={tmp_path / 'kept.json'}")
    environment = {"OPENAI_API_KEY": "sk-1"}
    async with acp(*arguments, environment=environment) as agent:
        first = request_for("one")
        said, memory = await answer(agent, first)
    async with acp(*arguments, environment=environment) as agent:
        told, _ = await answer(agent, going_on(first, said, "remember two", memory))

    assert "one" in told
    assert "This is what was said before" not in told


async def test_the_hint_names_the_logins_that_the_agent_offers() -> None:
    """Whoever has to log in is told how."""
    async with acp("--locked") as agent:
        with pytest.raises(AgentError) as failed:
            await answer(agent, request_for("hello"))

    assert "Log in with ChatGPT (chatgpt)" in str(failed.value)
    assert "VERTEX_KEY" in str(failed.value)


async def test_mcp_servers_are_given_by_their_transport() -> None:
    """An address that speaks SSE is given as such, and only to an agent that supports it."""
    servers = (
        McpServer(name="old", url="http://127.0.0.1:9/sse"),
        McpServer(name="new", url="http://127.0.0.1:9/mcp"),
        McpServer(name="program", command=("true",)),
    )
    async with acp(servers=servers) as agent:
        told, _ = await answer(agent, request_for("remember"))
    async with acp("--no-sse", servers=servers) as agent:
        without, _ = await answer(agent, request_for("remember"))

    assert "|sse old|http new|stdio program|" in told
    assert "|http new|stdio program|" in without
    assert "sse old" not in without


async def until_said(outputs: AsyncIterator[Output]) -> None:
    """Listen until something is said."""
    async for output in outputs:
        if isinstance(output, TextDelta):
            return


@pytest.mark.parametrize(("words", "survives"), [("slow", True), ("stubborn", False)])
async def test_it_can_be_stopped(words: str, survives: bool) -> None:
    """A cancelled answer ends at once; the program stays, unless it does not listen."""
    async with acp() as agent:
        first, _ = await answer(agent, request_for("remember"))
        async with asyncio.timeout(HANG_SECONDS):
            await until_stopped(agent, words)
        again, _ = await answer(agent, request_for("remember"))

        assert (again.partition("|")[0] == first.partition("|")[0]) is survives


async def test_what_was_stopped_is_not_said_again_with_the_next_message() -> None:
    """The program heard it: told once more, it would do what it was stopped from doing."""
    async with acp() as agent:
        first = request_for("remember one")
        said, memory = await answer(agent, first)
        slow = going_on(first, said, "slow", memory)
        outputs, stopped = agent.answer(slow), list[Output]()
        async for output in outputs:
            stopped.append(output)
            if isinstance(output, TextDelta):
                break
        await outputs.aclose()  # type: ignore[attr-defined]
        memory = [one.text for one in stopped if isinstance(one, Memory)][-1]
        told, _ = await answer(agent, going_on(slow, words_of(stopped), "remember two", memory))

    assert told.count("slow") == 1
    assert told.count("remember two") == 1


async def until_stopped(agent: AcpAgent, words: str) -> None:
    """Ask for something that takes long, and leave when it has begun."""
    outputs = agent.answer(request_for(words))
    await until_said(outputs)
    await outputs.aclose()  # type: ignore[attr-defined]


async def test_a_crash_costs_one_turn() -> None:
    """What it had said is kept, the failure is told plainly, and the next turn works."""
    async with acp() as agent:
        said: list[Output] = []
        with pytest.raises(AgentError, match="ended while it was needed"):
            async for output in agent.answer(request_for("crash")):
                said.append(output)  # noqa: PERF401 - what came before it broke is kept
        again, _ = await answer(agent, request_for("hello"))

        assert TextDelta(text="Half a") in said
        assert "hello" in again


async def test_a_program_that_falls_silent_is_begun_anew() -> None:
    """It runs still, but nothing more will be heard of it."""
    async with acp() as agent:
        with pytest.raises(AgentError, match="ended while it was needed"):
            await answer(agent, request_for("hush"))

        again, _ = await answer(agent, request_for("hello"))

        assert "hello" in again


async def test_garbage_on_its_output_harms_nothing() -> None:
    """Lines that are no messages are passed over."""
    async with acp() as agent:
        said, _ = await answer(agent, request_for("garbage"))

        assert "garbage" in said


@pytest.mark.parametrize(
    ("words", "arguments", "complaint"),
    [
        ("refuse", (), "refused to answer"),
        ("error", (), "The agent refused"),
        ("hello", ("--locked",), "not logged in"),
        ("hello", ("--mute",), "ended while it was needed"),
    ],
)
async def test_what_goes_wrong_is_told_plainly(
    words: str, arguments: Sequence[str], complaint: str
) -> None:
    """Every failure is a sentence, and the program's own words stay in the log."""
    async with acp(*arguments) as agent:
        with pytest.raises(AgentError, match=complaint) as failed:
            await answer(agent, request_for(words))

    assert "sk-secret" not in str(failed.value)


async def test_a_program_that_is_not_there_is_named() -> None:
    """The setting that has to be changed is told."""
    made = AcpSettings(command=("no-such-agent-anywhere",))
    async with ProcessPool(made) as crew:
        with pytest.raises(AgentError, match="agent.command"):
            await answer(AcpAgent(made, crew), request_for("hello"))


async def test_it_works_in_the_folder_of_the_session(tmp_path: Path) -> None:
    """The session's own folder goes before that of the settings."""
    request = request_for("remember")
    request = replace(request, session=replace(request.session, workspace=str(tmp_path)))
    async with acp(folder=str(Path.home())) as agent:
        told, _ = await answer(agent, request)

    assert f"cwd {tmp_path}" in told


async def test_it_inherits_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of our environment it gets the way to programs and home, and what the settings give."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-ours")
    async with acp(environment={"ITS_OWN": "1"}) as agent:
        told, _ = await answer(agent, request_for("environment"))

    given = json.loads(told)
    assert given["ITS_OWN"] == "1"
    assert "OPENAI_API_KEY" not in given


async def test_pictures_are_shown_to_who_takes_them() -> None:
    """An image is given as one, and a file is named."""
    request = request_for("remember")
    blob = BlobHash("0" * 64)
    files = tuple(
        Attachment(kind=kind, blob=blob, media_type="image/png", size=3, name=f"{kind}.bin")
        for kind in (MediaKind.IMAGE, MediaKind.FILE)
    )
    line: Message = request.history[-1]
    line = replace(line, parts=(*files, *line.parts))
    later = replace(line, key=MessageKey(2), seq=2, parts=(Text(text="remember"),))
    async with acp() as agent:
        told, _ = await answer(agent, replace(request, history=(line, later)))

    assert "<image>" in told
    assert "[file: file.bin" in told


async def test_no_program_is_left_behind() -> None:
    """When the agent is closed, all of its programs have ended."""
    async with acp() as agent:
        told, _ = await answer(agent, request_for("remember"))
    program = int(told.partition("|")[0])

    with pytest.raises(ProcessLookupError):
        os.kill(program, 0)


async def test_sessions_have_programs_of_their_own() -> None:
    """Two conversations never meet in one program, and the idle one makes room."""
    made = settings()
    request = request_for("remember")
    other = replace(request.session, id=SessionId("20260302_090000_00000002"))
    async with ProcessPool(made, most=1) as crew:
        agent = AcpAgent(made, crew)
        one, _ = await answer(agent, request)
        two, _ = await answer(agent, replace(request, session=other))

        assert one.partition("|")[0] != two.partition("|")[0]


async def test_a_turn_waits_for_the_one_that_is_just_leaving() -> None:
    """Who writes right after a stop is answered by the same program, as soon as it is free."""
    async with acp() as agent:
        first = agent.answer(request_for("slow"))
        await until_said(first)
        second = asyncio.create_task(answer(agent, request_for("hello")))
        await asyncio.sleep(0)
        await first.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(HANG_SECONDS):
            said, _ = await second

    assert "hello" in said


async def test_a_secret_on_standard_error_is_hidden_wherever_a_read_ends() -> None:
    """Neither the log nor the last words have a part of what the program or a server was given."""
    server = McpServer(name="x", url="https://x.example/mcp", headers={"X-Key": "marigold-77"})
    given = settings(environment={"A": "tulip-and-rose"}, servers=(server,))
    companion = AgentProcess(given, ".")
    stream = asyncio.StreamReader()
    stream.feed_data(b"x" * 3_990 + b" tulip-and-rose marigold-77 password=hunter22\nthe end")
    stream.feed_eof()
    companion._process = cast("asyncio.subprocess.Process", SimpleNamespace(stderr=stream))

    written = [line async for line in companion._errors()]
    stream = asyncio.StreamReader()
    stream.feed_data(b"\n".join(written[:1]))
    stream.feed_eof()
    companion._process = cast("asyncio.subprocess.Process", SimpleNamespace(stderr=stream))
    await companion._log_errors()

    assert b"tulip-and-rose" in written[0]
    assert written[-1] == b"the end"
    assert companion._said.endswith(f"{HIDDEN} {HIDDEN} password=[secret]")
