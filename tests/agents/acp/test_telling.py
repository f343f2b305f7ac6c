"""What a program tells and asks becomes something that can be kept, and read as it is."""

from acp import start_tool_call, update_agent_message_text, update_tool_call
from acp.schema import ToolCallUpdate

from threadline.agents.acp.outputs import Telling
from threadline.agents.acp.permissions import question_of
from threadline.core.agent import Piece
from threadline.core.message import NewMessage, ToolCall, ToolResult
from threadline.platforms.telegram.rendering import render


def test_what_is_asked_reads_as_it_is() -> None:
    """The title and the arguments are code: Markdown in them hides nothing."""
    call = ToolCallUpdate(
        tool_call_id="1",
        title="[ls](http://far.example)",
        kind="execute",
        raw_input={"command": "**ls** \u202e" + "x" * 2000 + " " * 48 + "; rm"},
    )
    question = question_of(call)
    shown = render(question.text)

    assert "[ls](http://far.example) (execute)" in shown.text
    assert "**ls** ⟦U+202E⟧" + "x" * 2000 + "⟦48 spaces⟧; rm" in shown.text
    assert {entity.type for entity in shown.entities} == {"pre"}


def test_what_cannot_be_kept_is_mended() -> None:
    """Half characters, NUL and long ids cost a sign, and not the turn."""
    telling, id = Telling(), "é" * 200
    said = [
        *telling.hear(update_agent_message_text("a\ud800\0b")),
        *telling.hear(start_tool_call(id, "\ud800", raw_input={"x": "\0\ud800"})),
        *telling.hear(update_tool_call(id, status="completed", raw_output="\0\ud800")),
    ]
    piece, call, result = said

    assert piece == Piece(text="a?\ufffdb")
    assert isinstance(call, NewMessage)
    assert isinstance(result, NewMessage)
    assert isinstance(call.parts[1], ToolCall)
    assert result.parts == (ToolResult(call_id=call.parts[1].id, text="\ufffd?"),)
