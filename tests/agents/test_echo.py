from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from threadline.agents.echo import Echo
from threadline.core.agent import Agent, Question, TextDelta
from threadline.core.errors import AgentError
from threadline.core.message import Attachment, BlobHash, MediaKind, Message
from threadline.core.usage import Usage
from threadline.testing.agent_contract import AgentContract, outputs_of, request_for, words_of
from threadline.testing.scripted_agent import ScriptedAgent

NOW = timedelta(0)


def echo() -> Echo:
    return Echo(pause=NOW, long_pause=NOW)


class TestEcho(AgentContract):
    """The echo keeps the contract of all agents."""

    def make_agent(self) -> Agent:
        return Echo(pause=timedelta(milliseconds=1))


class TestScriptedAgent(AgentContract):
    """The agent of the scenarios keeps the contract too."""

    def make_agent(self) -> Agent:
        return ScriptedAgent()


async def test_it_says_back_what_it_heard() -> None:
    """The answer quotes the question and counts the messages."""
    outputs = await outputs_of(echo(), request_for("hello", "how are you?"))

    said = "You said “how are you?”. That is message 2 of our conversation."
    assert words_of(outputs) == said


async def test_it_streams_in_small_pieces() -> None:
    """The answer comes word by word, as that of a model does."""
    outputs = await outputs_of(echo(), request_for("hello"))

    pieces = [output.text for output in outputs if isinstance(output, TextDelta)]
    assert len(pieces) > 5
    assert all(len(piece.split()) <= 1 for piece in pieces)


async def test_the_same_words_get_the_same_answer() -> None:
    """Nothing is left to chance."""
    request = request_for("hello")

    assert await outputs_of(echo(), request) == await outputs_of(echo(), request)


async def test_it_counts_what_it_used() -> None:
    """It reports words as tokens, so that there is something to see."""
    outputs = await outputs_of(echo(), request_for("hello there"))

    (usage,) = [output for output in outputs if isinstance(output, Usage)]
    assert (usage.model, usage.input_tokens, usage.output_tokens) == ("echo", 2, 11)


async def test_it_mentions_attachments() -> None:
    """A picture is heard of, even if it cannot be echoed."""
    picture = Attachment(
        kind=MediaKind.IMAGE, blob=BlobHash("0" * 64), media_type="image/png", size=1
    )
    request = request_for("look")
    (message,) = request.history
    seen = replace(request, history=[replace(message, parts=(*message.parts, picture))])
    silent = replace(request, history=[replace(message, parts=(picture, picture))])

    assert "1 attachment along" in words_of(await outputs_of(echo(), seen))
    answer = words_of(await outputs_of(echo(), silent))
    assert answer.startswith("You said nothing that I could read. You sent 2 attachments along.")


async def test_it_answers_all_messages_of_its_turn() -> None:
    """Messages that were collected into one turn are answered together."""
    request = request_for("one", "two")
    history = [replace(message, turn_id=request.turn.id) for message in request.history]

    outputs = await outputs_of(echo(), replace(request, history=history))

    assert words_of(outputs).startswith("You said “one” and “two”.")


async def test_a_long_text_is_quoted_in_part() -> None:
    """Ten megabytes are not said back."""
    outputs = await outputs_of(echo(), request_for("x" * 1_000_000))

    assert len(words_of(outputs)) < 600


async def test_it_says_that_it_was_cut_off() -> None:
    """After a crash it begins again, and admits it."""
    outputs = await outputs_of(echo(), request_for("hello", attempts=2))

    assert words_of(outputs).startswith("I was cut off; here I am again. You said “hello”.")


async def test_fail_breaks_off() -> None:
    """`fail` begins an answer and raises an error of our family."""
    with pytest.raises(AgentError, match="asked to fail"):
        await outputs_of(echo(), request_for("Fail, please!"))


async def test_ask_asks_and_goes_on_with_the_answer() -> None:
    """`ask` waits for an answer, and then says what it was told."""
    asked = await outputs_of(echo(), request_for("ask me something"))
    answered = await outputs_of(echo(), request_for("ask me something", answer="yes"))

    assert asked == [Question(text="Shall I go on?")]
    assert words_of(answered) == "I asked, and you answered “yes”."


async def test_slow_counts_and_listens() -> None:
    """`slow` takes its time, and can be steered meanwhile."""
    request = request_for("slow")
    added = [list(request_for("faster").history)]

    async def steering() -> Sequence[Message]:
        return added.pop() if added else []

    outputs = await outputs_of(echo(), replace(request, steering=steering))

    words = words_of(outputs)
    assert words.startswith("Slowly, then: 1 (you added: “faster”) 2 3")
    assert words.endswith("20. Done.")
