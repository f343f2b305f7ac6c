from dataclasses import replace

import pytest

from threadline.agents.echo import EchoScribe
from threadline.core.errors import AgentError
from threadline.core.message import Role, Text
from threadline.core.notice import SUMMARY_LIMIT
from threadline.core.scribe import Scribe
from threadline.testing.agent_contract import request_for

SESSION = request_for("hello").session


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("hello", "hello"),
        ("We want to go to Lisbon in May, with the children", "We want to go to Lisbon in"),
        ("  what\n\tnow?! ", "what now"),
        ("a\u202eb \u200bc", "ab c"),
        ("x" * 500, "x" * 64),
    ],
)
async def test_a_title_is_made_of_the_first_words(said: str, title: str) -> None:
    """Without a model a conversation is called after how it began."""
    scribe: Scribe = EchoScribe()

    written = await scribe.write_title(SESSION, request_for(said, "and more").history)

    assert (written.text, written.usage) == (title, ())


async def test_what_others_say_is_no_title() -> None:
    """A note of ours that stands before the first words does not name the conversation."""
    note, said = request_for("a note", "a question").history
    lines = [replace(note, role=Role.SYSTEM), said]

    assert (await EchoScribe().write_title(SESSION, lines)).text == "a question"


async def test_a_summary_quotes_what_was_said() -> None:
    """Every line is there, shortened, except those that speak of the focus."""
    history = request_for("long " * 100, "the red house " * 30).history

    plain = (await EchoScribe().write_summary(SESSION, history)).text
    focused = (await EchoScribe().write_summary(SESSION, history, focus="House")).text

    assert plain.startswith("- user: long long")
    assert [len(line) for line in plain.split("\n")] == [203, 203]
    assert focused.split("\n")[0] == plain.split("\n")[0]
    assert focused.split("\n")[1] == "- user: " + ("the red house " * 30).strip()


async def test_a_summary_keeps_the_newest() -> None:
    """When not everything fits, the beginning is left out, and that is said."""
    history = request_for(*(f"fact {number} " * 20 for number in range(500))).history

    summary = (await EchoScribe().write_summary(SESSION, history)).text

    assert len(summary) <= SUMMARY_LIMIT
    assert "earlier lines are left out" in summary.split("\n")[0]
    assert "fact 499" in summary
    assert "fact 0 " not in summary


async def test_nothing_can_be_written_about_nothing() -> None:
    """A conversation without a word has neither."""
    empty = [replace(request_for("x").history[0], parts=(Text(text=" "),))]

    for lines in ([], empty):
        with pytest.raises(AgentError, match="nothing to name"):
            await EchoScribe().write_title(SESSION, lines)
    with pytest.raises(AgentError, match="nothing to sum up"):
        await EchoScribe().write_summary(SESSION, [])


def test_the_echo_has_no_window() -> None:
    """It reads whatever it is given."""
    assert EchoScribe().window(SESSION) is None
