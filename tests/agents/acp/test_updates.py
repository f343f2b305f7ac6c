"""What a program tells and asks becomes something that can be kept, and read as it is."""

import asyncio
import re

import pytest
from acp import (
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_tool_call,
    update_user_message_text,
)
from acp.schema import FileEditToolCallContent, PermissionOption, ToolCallUpdate
from msgspec.structs import replace

from threadline.agents.acp.client import HEARD_MOST, UPDATES_MOST, AcpClient, PermissionRequest
from threadline.agents.acp.permissions import (
    is_changed,
    merge,
    question_of,
    withdraw,
    write_diff,
)
from threadline.agents.acp.updates import Replay, UpdateMapper
from threadline.core.agent import TextDelta
from threadline.core.errors import AgentError
from threadline.core.message import NewMessage, Role, Text, ToolCall, ToolResult
from threadline.platforms.telegram.entities import render_entities
from threadline.testing.agent_contract import request_for


def test_what_is_asked_reads_as_it_is() -> None:
    """The title and the arguments are code: Markdown in them hides nothing."""
    call = ToolCallUpdate(
        tool_call_id="1",
        title="[ls](http://far.example)",
        kind="execute",
        raw_input={"command": "**ls** \u202e" + "x" * 2000 + " " * 48 + "; rm"},
    )
    question = question_of(call)
    shown = render_entities(question.text)

    assert "[ls](http://far.example) (execute)" in shown.text
    assert "**ls** ⟦U+202E⟧" + "x" * 2000 + "⟦48 spaces⟧; rm" in shown.text
    assert {entity.type for entity in shown.entities} == {"pre"}


EDIT = FileEditToolCallContent(type="diff", path="/a.py", old_text="salt", new_text="milk")


def test_what_an_agent_said_of_a_call_is_not_taken_back_when_it_asks() -> None:
    """A request without input, or with nothing but words, still shows the input and the edit."""
    telling = UpdateMapper()
    tuple(telling.hear(start_tool_call("1", "Edit", raw_input={"run": "rm"}, content=[EDIT])))
    words = tool_content(text_block("All is well."))
    asked = ToolCallUpdate(tool_call_id="1", title="", raw_input={}, content=[words])
    tuple(telling.ask(asked))
    question = question_of(telling.whole(asked))

    for shown in ("Edit", "run: rm", "-salt", "+milk", "All is well."):
        assert shown in question.text


def test_a_call_with_an_edit_is_no_reading() -> None:
    """An agent that calls an edit a search needs an approver for it all the same."""
    call = ToolCallUpdate(tool_call_id="1", kind="search", content=[EDIT])

    assert not question_of(call).reads_only
    assert question_of(call.model_copy(update={"content": None})).reads_only


def test_a_permission_that_lasts_is_shown_as_such() -> None:
    """An agent that offers no permission for one call is not given a lasting one unseen."""
    call = ToolCallUpdate(tool_call_id="1", kind="execute", raw_input={"command": "ls"})
    once = PermissionOption(option_id="once", name="Yes", kind="allow_once")
    always = PermissionOption(option_id="ever", name="Yes, and never ask", kind="allow_always")

    assert "never ask" in question_of(call, [always]).text
    assert question_of(call, [always, once]) == question_of(call)


@pytest.mark.parametrize("more", [0, 1])
def test_a_diff_of_a_long_file_is_written_in_time(more: int) -> None:
    """Lines that come again and again would be compared for hours; all that changes is shown."""
    before = [str(n % 101) for n in range(50_000)]
    after = [*before[:20_000], *(str(n * 7 % 103) for n in range(10_000 + more)), *before[30_000:]]
    edit = FileEditToolCallContent(
        type="diff", path="/a", old_text="\n".join(before), new_text="\n".join(after)
    )
    lines = write_diff(edit).split("\n")
    minus = [line[1:] for line in lines[3:] if line.startswith("-")]
    plus = [line[1:] for line in lines[3:] if line.startswith("+")]
    at = int(re.findall(r"\d+", lines[2])[0]) + 2  # behind three lines that did not change

    assert [*before[:at], *plus, *before[at + len(minus) :]] == after
    assert minus == before[at : at + len(minus)]
    assert write_diff(edit.model_copy(update={"new_text": edit.old_text})) == "/a: no change"


def test_what_cannot_be_kept_is_mended() -> None:
    """Half characters, NUL and long ids cost a sign, and not the turn."""
    telling, id = UpdateMapper(), "é" * 200
    said = [
        *telling.hear(update_agent_message_text("a\ud800\0b")),
        *telling.hear(start_tool_call(id, "\ud800", raw_input={"x": "\0\ud800"})),
        *telling.hear(update_tool_call(id, status="completed", raw_output="\0\ud800")),
    ]
    piece, call, result = said

    assert piece == TextDelta(text="a?\ufffdb")
    assert isinstance(call, NewMessage)
    assert isinstance(result, NewMessage)
    assert isinstance(call.parts[1], ToolCall)
    assert result.parts == (ToolResult(call_id=call.parts[1].id, text="\ufffd?"),)


def test_a_replay_may_go_on_after_the_prompt() -> None:
    """What a slow program repeats after the prompt is no answer, if its beginning came before."""
    asked = request_for("hello").history[-1]
    said = replace(asked, role=Role.ASSISTANT, parts=(Text(text="Hi there."),))
    replay = Replay([asked, said])
    replay.skip(update_user_message_text("hello"))

    assert replay.has(update_agent_message_text("Hi there."))
    assert not replay.has(update_agent_message_text("Hi there."))


def test_an_answer_that_begins_like_an_earlier_one_is_whole() -> None:
    """Codex repeats texts without its warnings, so that the replay looks incomplete for us."""
    asked = request_for("hello").history[-1]
    said = replace(asked, role=Role.ASSISTANT, parts=(Text(text="This is the first."),))
    replay = Replay([asked, said])
    replay.skip(update_user_message_text("hello"))
    mapper = UpdateMapper(replay)
    pieces = [
        output
        for text in ("This is ", "the ", "second.")
        for output in mapper.hear(update_agent_message_text(text))
    ]

    assert "".join(one.text for one in pieces if isinstance(one, TextDelta)) == (
        "This is the second."
    )


def test_words_before_a_request_that_begin_like_earlier_ones_come_before_it() -> None:
    """Gemini CLI does not announce its calls, and the question ends a replay as well."""
    asked = request_for("hello").history[-1]
    said = replace(asked, role=Role.ASSISTANT, parts=(Text(text="I will use it now."),))
    replay = Replay([asked, said])
    replay.skip(update_user_message_text("hello"))
    mapper = UpdateMapper(replay)
    before = [*mapper.hear(update_agent_message_text("I will use it"))]
    outputs = [*mapper.ask(ToolCallUpdate(tool_call_id="1", title="ls", kind="execute"))]

    assert before == []
    assert outputs[0] == TextDelta(text="I will use it")


def test_input_that_comes_in_pieces_is_stored_whole() -> None:
    """Claude Code sends the input of a call while the model writes it; the status stays pending."""
    mapper = UpdateMapper()
    outputs = [
        *mapper.hear(start_tool_call("1", "Write", status="pending", raw_input={})),
        *mapper.hear(update_tool_call("1", raw_input={"path": "a"})),
        *mapper.hear(update_tool_call("1", raw_input={"path": "a", "content": "milk"})),
        *mapper.hear(update_tool_call("1", status="completed", raw_output="done")),
    ]
    call = outputs[0]

    assert isinstance(call, NewMessage)
    assert isinstance(call.parts[0], ToolCall)
    assert call.parts[0].arguments == '{"path": "a", "content": "milk"}'


def test_what_a_request_leaves_out_is_as_it_was_announced() -> None:
    """OpenCode announces the folder, asks without it, and then repeats it: that is no change."""
    known = merge(None, start_tool_call("1", "bash", raw_input={"cwd": "/a"}))
    shown = merge(known, ToolCallUpdate(tool_call_id="1", title="ls", raw_input={"command": "ls"}))
    same = update_tool_call("1", title="ls", raw_input={"command": "ls", "cwd": "/a"})
    other = update_tool_call("1", title="ls", raw_input={"command": "ls", "cwd": "/b"})

    assert shown.raw_input == {"cwd": "/a", "command": "ls"}
    assert not is_changed(shown, same)
    assert not is_changed(shown, update_tool_call("1", raw_input={"command": "ls"}))
    assert is_changed(shown, other)
    assert is_changed(shown, update_tool_call("1", raw_input={"command": "ls", "env": "X=1"}))


def test_an_update_before_the_question_is_part_of_the_question() -> None:
    """What the agent adds before anybody was asked is shown, and is no change."""
    update = update_tool_call("1", raw_input={"command": "ls", "cwd": "/a"})
    call = ToolCallUpdate(tool_call_id="1", title="ls", raw_input={"command": "ls"})
    loop = asyncio.new_event_loop()
    asked = PermissionRequest(call, [], loop.create_future(), [update]).of(call)
    loop.close()

    assert "cwd: /a" in question_of(asked.call).text
    assert not asked.has_changed


def test_the_output_of_a_terminal_is_a_result() -> None:
    """Codex sends what a command printed in pieces, beside the fields of the protocol."""
    mapper = UpdateMapper()
    outputs = [*mapper.hear(start_tool_call("1", "ls", raw_input={"command": "ls"}))]
    for n, piece in enumerate(("one\n", "two\n")):
        update = update_tool_call("1", status="completed" if n else "in_progress")
        update.field_meta = {"terminal_output_delta": {"data": piece}}
        outputs += mapper.hear(update)

    assert isinstance(outputs[-1], NewMessage)
    assert outputs[-1].parts == (ToolResult(call_id="1", text="one\ntwo\n"),)


async def test_a_program_that_floods_is_not_kept_in_memory() -> None:
    """Updates that wait to be read have a limit, and the turn learns that it was passed."""
    ears = AcpClient()
    ears.listen("s")
    for n in range(HEARD_MOST + 100):
        await ears.session_update("s", update_agent_message_text(str(n)))
    heard = [ears.heard.get_nowait() for _ in range(ears.heard.qsize())]

    assert len(heard) == HEARD_MOST + 1
    assert isinstance(heard[-1], AgentError)


async def test_a_program_that_floods_with_questions_fails_its_turn() -> None:
    """A question that cannot be queued is withdrawn at once, and the turn learns of the flood."""
    ears = AcpClient()
    ears.listen("s")
    for n in range(HEARD_MOST):
        await ears.session_update("s", update_agent_message_text(str(n)))

    answers = [
        await ears.request_permission("s", ToolCallUpdate(tool_call_id=str(n)), [])
        for n in range(2)
    ]
    heard = [ears.heard.get_nowait() for _ in range(ears.heard.qsize())]

    assert answers == [withdraw(), withdraw()]
    assert len(heard) == HEARD_MOST + 1
    assert isinstance(heard[-1], AgentError)


async def test_a_call_that_changes_all_the_time_is_not_approved() -> None:
    """So many updates of one call count as a change, and are not all kept."""
    ears = AcpClient()
    ears.listen("s")
    call = ToolCallUpdate(tool_call_id="1", title="ls")
    asking = asyncio.create_task(ears.request_permission("s", call, []))
    asked = await ears.heard.get()
    assert isinstance(asked, PermissionRequest)
    for _ in range(UPDATES_MOST - 1):
        await ears.session_update("s", update_tool_call("1"))
    assert not asked.has_changed

    await ears.session_update("s", update_tool_call("1"))
    await ears.session_update("s", update_tool_call("1"))

    assert asked.has_changed
    assert len(asked.updates) == UPDATES_MOST
    ears.listen(None)
    await asking
