"""What a script says is heard by the real clients, in each provider's language."""

import pytest

from tests.doubles.provider_tests.clients import Client, Heard
from tests.doubles.providers import (
    Asked,
    Calls,
    ProviderDouble,
    Redacts,
    Refuses,
    Reply,
    RunsOut,
    Says,
    Spends,
    Thinks,
)

SUM = Calls(("add", {"a": 1, "b": [2, "ü"]}), ("now", {}))


async def test_words_are_heard(client: Client, double: ProviderDouble, streams: bool) -> None:
    """What is said arrives, in as many pieces as it was cut into if it is streamed."""
    double.will(Says("Grüße an die Welt ☀", chunks=4))
    heard = Heard()
    await client.ask(heard, streams=streams)

    assert heard.text == "Grüße an die Welt ☀"
    assert len(heard.pieces) == (4 if streams else 1)
    assert heard.ending in {"stop", "completed", "end_turn", "STOP"}


async def test_without_a_script_words_come_back(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """Who wrote no script hears the last words of the user."""
    heard = Heard()
    await client.ask(heard, "Is there an echo?", streams=streams)

    assert heard.text == "Is there an echo?"


async def test_a_function_decides(client: Client, double: ProviderDouble, streams: bool) -> None:
    """A function decides by the request, after what stands in the script."""

    def decide(asked: Asked) -> Reply:
        return Reply(Says(f"{asked.text} {asked.number}"))

    double.answers(decide)
    double.will(Says("first"))
    answers = []
    for _ in range(2):
        heard = Heard()
        await client.ask(heard, "request", streams=streams)
        answers.append(heard.text)

    assert answers == ["first", "request 2"]


async def test_tools_are_called_at_once(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """Several calls come in one answer, after what was said before them."""
    double.will(Says("Let me see."), SUM)
    heard = Heard()
    await client.ask(heard, streams=streams)

    assert heard.text == "Let me see."
    assert heard.calls == {"add": {"a": 1, "b": [2, "ü"]}, "now": {}}
    assert heard.ending in {"tool_calls", "completed", "tool_use", "STOP"}


async def test_thoughts_come_under_a_seal(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """What is thought is told apart from what is said, and sealed where the provider does so."""
    double.will(Thinks("Two numbers", seal="c2VhbA=="), Says("It is 3."))
    heard = Heard()
    await client.ask(heard, streams=streams)

    assert "".join(heard.thoughts) == "Two numbers"
    assert heard.text == "It is 3."
    assert heard.seals == ([] if client.name == "openai-chat" else ["c2VhbA=="])


async def test_hidden_thoughts_have_only_a_seal(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """A thought that nobody may read is a bare seal."""
    double.will(Redacts("aGlkZGVu"), Says("Done."))
    heard = Heard()
    await client.ask(heard, streams=streams)

    assert (heard.thoughts, heard.text) == ([], "Done.")
    assert heard.seals == ([] if client.name == "openai-chat" else ["aGlkZGVu"])


@pytest.mark.parametrize("text", ["", "I cannot help with that."])
async def test_an_answer_is_refused(
    client: Client, double: ProviderDouble, streams: bool, text: str
) -> None:
    """A refusal is an ending of its own, or at least has words of its own."""
    double.will(Refuses(text))
    heard = Heard()
    await client.ask(heard, streams=streams)

    assert heard.text == text
    by_words = {"stop", "completed"} if text else set()
    assert heard.ending in {"content_filter", "refusal", "SAFETY"} | by_words


async def test_an_answer_runs_out(client: Client, double: ProviderDouble, streams: bool) -> None:
    """An answer that is too long says that it was cut off."""
    double.will(Says("Once upon"), RunsOut())
    heard = Heard()
    await client.ask(heard, streams=streams)

    assert heard.text == "Once upon"
    assert heard.ending in {"length", "max_output_tokens", "max_tokens", "MAX_TOKENS"}


async def test_tokens_are_reported(client: Client, double: ProviderDouble, streams: bool) -> None:
    """What was spent is told as each provider counts it, and comes to the same."""
    spent = Spends(input=1000, output=50, cache_read=600, reasoning=20)
    double.will(Thinks("hm"), Says("Yes."), spent)
    heard = Heard()
    await client.ask(heard, streams=streams)

    assert heard.spent == (1000, 50, 600, 0 if client.name == "anthropic" else 20)


async def test_tokens_are_counted_if_nobody_says(
    client: Client, double: ProviderDouble, streams: bool
) -> None:
    """Longer requests cost more, also without a script."""
    costs = []
    for text in ("short", "long " * 100):
        heard = Heard()
        await client.ask(heard, text, streams=streams)
        assert heard.spent is not None
        costs.append(heard.spent[:2])

    assert costs[0][0] + 100 < costs[1][0]
    assert costs[0][1] < costs[1][1]


async def test_requests_are_kept(client: Client, double: ProviderDouble, streams: bool) -> None:
    """Every request can be looked at: path, headers, raw bytes, and what they say."""
    await client.ask(Heard(), "keep this", streams=streams)

    assert len(double.requests) == 1
    assert b"keep this" in double.last.body
    assert "keep this" in str(double.last.json)
    assert "sk-test" in str(double.last.headers)
    assert double.last.path.startswith(("/openai/v1/", "/anthropic/v1/", "/google/v1"))
