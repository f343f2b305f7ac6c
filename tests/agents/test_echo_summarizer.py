import pytest
from msgspec.structs import replace

from threadline.agents.echo import EchoSummarizer
from threadline.core.errors import AgentError
from threadline.core.message import Role, Text
from threadline.core.summarizer import Summarizer
from threadline.core.system_notes import SUMMARY_LIMIT
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
    scribe: Summarizer = EchoSummarizer()

    written = await scribe.write_title(SESSION, request_for(said, "and more").history)

    assert (written.text, written.usage) == (title, ())


async def test_what_others_say_is_no_title() -> None:
    """A note of ours that stands before the first words does not name the conversation."""
    note, said = request_for("a note", "a question").history
    lines = [replace(note, role=Role.SYSTEM), said]

    assert (await EchoSummarizer().write_title(SESSION, lines)).text == "a question"


async def test_a_summary_quotes_what_was_said() -> None:
    """Every line is there, shortened, except those that speak of the focus."""
    history = request_for("long " * 100, "the red house " * 30).history

    plain = (await EchoSummarizer().write_summary(SESSION, history)).text
    focused = (await EchoSummarizer().write_summary(SESSION, history, focus="House")).text

    assert plain.startswith("- user: long long")
    assert [len(line) for line in plain.split("\n")] == [203, 203]
    assert focused.split("\n")[0] == plain.split("\n")[0]
    assert focused.split("\n")[1] == "- user: " + ("the red house " * 30).strip()


async def test_a_summary_keeps_the_newest() -> None:
    """When not everything fits, the beginning is left out, and that is said."""
    history = request_for(*(f"fact {number} " * 20 for number in range(500))).history

    summary = (await EchoSummarizer().write_summary(SESSION, history)).text

    assert len(summary) <= SUMMARY_LIMIT
    assert "earlier lines are left out" in summary.split("\n")[0]
    assert "fact 499" in summary
    assert "fact 0 " not in summary


async def test_nothing_can_be_written_about_nothing() -> None:
    """A conversation without a word has neither."""
    empty = [replace(request_for("x").history[0], parts=(Text(text=" "),))]

    for lines in ([], empty):
        with pytest.raises(AgentError, match="nothing to name"):
            await EchoSummarizer().write_title(SESSION, lines)
    with pytest.raises(AgentError, match="nothing to sum up"):
        await EchoSummarizer().write_summary(SESSION, [])


def test_the_echo_has_no_window() -> None:
    """It reads whatever it is given."""
    assert EchoSummarizer().window(SESSION) is None
