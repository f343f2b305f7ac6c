"""A history that a provider would not take is not taken here either."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.doubles.providers import ProviderDouble, Redacts, Says, Spends, Thinks
from threadline.testing.deadline import HANG_SECONDS

CHAT, RESPONSES = "/openai/v1/chat/completions", "/openai/v1/responses"
MESSAGES, GOOGLE = "/anthropic/v1/messages", "/google/v1beta/models/gemini-3-pro:generateContent"
HEADERS = {
    "authorization": "Bearer sk-test",
    "x-goog-api-key": "sk-test",
    "anthropic-version": "2023-06-01",
}

USER = {"role": "user", "content": "hi"}
CALLED = {
    "role": "assistant",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}},
        {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ],
}


def done(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "3"}


USE = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "3"}
TEXT = {"type": "text", "text": "hi"}
CALL = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "3"}
WAIVED = "skip_thought_signature_validator"
GOOGLE_CALL = {"functionCall": {"name": "add", "args": {}}, "thoughtSignature": WAIVED}
GOOGLE_DONE = {"functionResponse": {"name": "add", "response": {"result": 3}}}


def chat(*messages: object, **more: object) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": list(messages), **more}


def responses(*items: object, **more: object) -> dict[str, Any]:
    return {"model": "gpt-5", "input": list(items), **more}


def messages(*turns: object, **more: object) -> dict[str, Any]:
    sides = ("user", "assistant")
    said = [{"role": sides[n % 2], "content": turn} for n, turn in enumerate(turns)]
    return {"model": "claude-sonnet-5", "max_tokens": 2000, "messages": said, **more}


def google(*turns: object) -> dict[str, Any]:
    sides = ("user", "model")
    return {"contents": [{"role": sides[n % 2], "parts": turn} for n, turn in enumerate(turns)]}


STRANGE = json.dumps(
    {
        "model": "m",
        "max_tokens": 1,
        "messages": [{"role": "assistant", "tool_calls": [7]}],
        "contents": [{"role": "user", "parts": 7}],
        "input": [{"type": "function_call"}],
    }
).encode()
HELLO: list[object] = [{"text": "hi"}]
TOOL = {"name": "add", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
THINKING = {"thinking": {"type": "enabled", "budget_tokens": 1024}}


@pytest.fixture
async def http(double: ProviderDouble) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=double.url, headers=HEADERS, verify=False, timeout=HANG_SECONDS
    ) as http:
        yield http


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (CHAT, chat({"role": "system", "content": "be kind"}, USER)),
        (CHAT, chat(USER, CALLED, done("c2"), done("c1"), USER, tools=[FUNCTION])),
        (RESPONSES, {"model": "gpt-5", "input": "hi"}),
        (RESPONSES, responses(USER, CALL, OUTPUT, USER)),
        (MESSAGES, messages("hi")),
        (MESSAGES, messages([TEXT], [TEXT, USE], [RESULT, TEXT], tools=[TOOL])),
        (GOOGLE, google(HELLO, [GOOGLE_CALL], [GOOGLE_DONE])),
        (GOOGLE, google(HELLO, [GOOGLE_CALL, GOOGLE_CALL], [GOOGLE_DONE, GOOGLE_DONE])),
    ],
)
async def test_good_histories_are_taken(http: httpx.AsyncClient, path: str, body: object) -> None:
    """A history that keeps the rules is answered."""
    answer = await http.post(path, json=body)

    assert answer.status_code == 200, answer.text
    assert "hi" in answer.text


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (chat(), "empty"),
        (chat({"role": "alien", "content": "hi"}), "Invalid value: 'alien'"),
        (chat(USER, CALLED, done("c1")), "did not have response messages: c2"),
        (chat(USER, CALLED, USER), "must be followed by tool messages"),
        (chat(USER, done("c1")), "must be a response to a preceeding"),
        (chat(USER, CALLED, done("c1"), done("c1")), "must be a response to a preceeding"),
        (chat(USER, {"role": "assistant", "content": None}), "expected a string, got null"),
        (chat(USER, {"role": "assistant", "tool_calls": []}), "too short"),
        ({"messages": [USER]}, "model"),
        (chat(USER, tools=[{"type": "function", "function": {"name": "a b"}}]), "pattern"),
    ],
)
async def test_bad_chats_are_refused(http: httpx.AsyncClient, body: object, why: str) -> None:
    """OpenAI's chat wants every call answered at once, and nothing answered that was not asked."""
    answer = await http.post(CHAT, json=body)

    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert why in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (responses(), "empty"),
        (responses(USER, OUTPUT), "No tool call found for function call output with call_id c1"),
        (responses(USER, OUTPUT, CALL), "No tool call found"),
        (responses(USER, CALL, USER), "No tool output found for function call c1"),
        (responses(USER, CALL, OUTPUT, OUTPUT), "No tool call found"),
        (responses({**USER, "id": "m"}, {**USER, "id": "m"}), "Duplicate item found with id m"),
        (responses({"type": "reasoning", "id": "rs_9", "summary": []}, USER), "not found"),
        (
            responses({"type": "reasoning", "encrypted_content": "made up"}, USER),
            "could not be verified",
        ),
        (responses(USER, previous_response_id="resp_1"), "Previous response"),
    ],
)
async def test_bad_items_are_refused(http: httpx.AsyncClient, body: object, why: str) -> None:
    """OpenAI's responses want every call with its output, and thoughts as they were given out."""
    answer = await http.post(RESPONSES, json=body)

    assert answer.status_code == 400
    assert why in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (messages(), "empty"),
        (messages([]), "non-empty content"),
        (messages([{"type": "text", "text": " "}]), "text content blocks must be non-empty"),
        ({**messages("hi"), "messages": [{"role": "assistant", "content": "x"}]}, "first message"),
        ({**messages("hi"), "messages": [USER, {"role": "tool", "content": "x"}]}, "role"),
        (messages("hi", [USE]), "without `tool_result` blocks immediately after: t1"),
        (messages("hi", [USE], [TEXT]), "without `tool_result` blocks"),
        (messages("hi", [USE], [TEXT, RESULT]), "must come first"),
        (messages([RESULT]), "unexpected `tool_use_id`"),
        (messages("hi", "ho", [RESULT]), "unexpected `tool_use_id`"),
        (messages("hi", [USE], [RESULT, RESULT]), "single result"),
        (messages("hi", [{**USE, "input": "{}"}], [RESULT]), "valid dictionary"),
        (messages("hi", "ho "), "trailing whitespace"),
        (messages("hi", [USE], [RESULT], **THINKING), "Expected `thinking`"),
        (messages("hi", tools=[TOOL, TOOL]), "unique"),
        (messages("hi", tools=[{"name": "a.b"}]), "pattern"),
        ({"model": "claude-sonnet-5", "messages": [USER]}, "max_tokens"),
        (messages([{**TEXT, "cache_control": {"type": "ephemeral"}}] * 5), "maximum of 4"),
        (messages("hi", [{"type": "thinking", "thinking": "hm", "signature": "x"}]), "signature"),
        (messages("hi", [{"type": "redacted_thinking", "data": "x"}]), "redacted_thinking"),
    ],
)
async def test_bad_messages_are_refused(http: httpx.AsyncClient, body: object, why: str) -> None:
    """Anthropic wants results right after their uses, and thoughts as they were given out."""
    answer = await http.post(MESSAGES, json=body)

    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    assert why in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (google(), "empty"),
        (google([]), "must not be empty"),
        ({"contents": [{"role": "alien", "parts": HELLO}]}, "valid role"),
        (google(HELLO, [GOOGLE_CALL]), "followed by its responses"),
        (google(HELLO, [GOOGLE_CALL], HELLO), "equal to the number of function call parts"),
        (google(HELLO, [GOOGLE_CALL], [GOOGLE_DONE, GOOGLE_DONE]), "equal to the number"),
        (google([GOOGLE_DONE]), "equal to the number"),
        (google(HELLO, [{"text": "x", "thoughtSignature": "bWFkZSB1cA=="}], HELLO), "not valid"),
        (
            google(HELLO, [{"functionCall": {"name": "add"}}], [GOOGLE_DONE]),
            "missing a thought_signature",
        ),
    ],
)
async def test_bad_contents_are_refused(http: httpx.AsyncClient, body: object, why: str) -> None:
    """Google wants as many responses as calls, and the thoughts of its newest models."""
    answer = await http.post(GOOGLE, json=body)

    assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert why in answer.json()["error"]["message"]


async def test_a_broken_rule_costs_no_script(
    http: httpx.AsyncClient, double: ProviderDouble
) -> None:
    """A request that is refused leaves the script for the next one."""
    double.will(Says("as written"))
    refused = await http.post(CHAT, json=chat())
    answer = await http.post(CHAT, json=chat(USER))

    assert refused.status_code == 400
    assert answer.json()["choices"][0]["message"]["content"] == "as written"


async def test_thoughts_come_back_unchanged_or_not_at_all(
    http: httpx.AsyncClient, double: ProviderDouble
) -> None:
    """Anthropic knows its thoughts by their seals, also hidden ones; a changed one is refused."""
    double.will(Thinks("One and two."), Redacts(), Says("Three."))
    given = (await http.post(MESSAGES, json=messages("hi"))).json()["content"]
    changed = [{**given[0], "thinking": "Two and two."}, *given[1:]]
    same = await http.post(MESSAGES, json=messages("hi", given, "go on"))
    other = await http.post(MESSAGES, json=messages("hi", changed, "go on"))

    assert (same.status_code, other.status_code) == (200, 400)


async def test_what_came_of_a_thought_comes_back_with_it(
    http: httpx.AsyncClient, double: ProviderDouble
) -> None:
    """OpenAI wants a thought with what came of it, and what came of it with the thought."""
    double.will(Thinks("One and two."), Says("Three."))
    body = responses(USER, include=["reasoning.encrypted_content"])
    thought, said = (await http.post(RESPONSES, json=body)).json()["output"]
    both = await http.post(RESPONSES, json=responses(USER, thought, said, USER))
    bare = await http.post(RESPONSES, json=responses(USER, said, USER))
    alone = await http.post(RESPONSES, json=responses(USER, thought, USER))

    assert both.status_code == 200, both.text
    assert "without its required 'reasoning' item" in bare.json()["error"]["message"]
    assert "without its required following item" in alone.json()["error"]["message"]


async def test_google_knows_its_thoughts_in_either_alphabet(
    http: httpx.AsyncClient, double: ProviderDouble
) -> None:
    """A seal of Google comes back in plain base64 or in the one for addresses."""
    double.will(Thinks("hm", seal="~~~???>>>"), Says("Three."))
    given = (await http.post(GOOGLE, json=google(HELLO))).json()
    part = given["candidates"][0]["content"]["parts"][-1]
    seal = part["thoughtSignature"].replace("+", "-").replace("/", "_")
    answers = [
        await http.post(GOOGLE, json=google(HELLO, [{**part, "thoughtSignature": one}], HELLO))
        for one in (part["thoughtSignature"], seal)
    ]

    assert seal != part["thoughtSignature"]
    assert [answer.status_code for answer in answers] == [200, 200]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (CHAT, chat(USER), 401),
        (RESPONSES, responses(USER), 401),
        (MESSAGES, messages("hi"), 401),
        (GOOGLE, google(HELLO), 403),
        ("/openrouter/api/v1/chat/completions", chat(USER), 401),
        ("/local/v1/chat/completions", chat(USER), 200),
    ],
)
async def test_nobody_is_answered_without_a_key(
    double: ProviderDouble, path: str, body: object, status: int
) -> None:
    """Every provider wants a key, and a server of one's own wants none."""
    headers = {"anthropic-version": "2023-06-01"}
    async with httpx.AsyncClient(
        base_url=double.url, headers=headers, verify=False, timeout=HANG_SECONDS
    ) as http:
        answer = await http.post(path, json=body)

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("path", "body"),
    [(CHAT, chat(USER)), (RESPONSES, responses(USER)), (MESSAGES, messages("hi"))],
)
async def test_unknown_keys_and_models_are_refused(path: str, body: dict[str, Any]) -> None:
    """Where one key and some models are known, every other is refused."""
    async with (
        ProviderDouble(key="sk-test", models={"known"}) as double,
        httpx.AsyncClient(
            base_url=double.url, headers=HEADERS, verify=False, timeout=HANG_SECONDS
        ) as http,
    ):
        wrong = await http.post(path, json=body, headers={"authorization": "Bearer sk-other"})
        missing = await http.post(path, json=body)
        right = await http.post(path, json={**body, "model": "known"})

    assert (wrong.status_code, missing.status_code, right.status_code) == (401, 404, 200)
    assert "sk-other" in wrong.text  # as providers do: whoever reads it must not pass it on


async def test_models_are_listed() -> None:
    """Whoever asks which models there are is told, as OpenAI tells it."""
    async with (
        ProviderDouble(models={"small", "large"}) as double,
        httpx.AsyncClient(base_url=double.url, verify=False, timeout=HANG_SECONDS) as http,
    ):
        listed = (await http.get("/openai/v1/models")).json()

    assert [model["id"] for model in listed["data"]] == ["large", "small"]


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES, GOOGLE])
@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"model": 7}', STRANGE])
async def test_garbage_is_refused(http: httpx.AsyncClient, path: str, body: bytes) -> None:
    """What is no request at all is refused, and kept for looking at."""
    answer = await http.post(path, content=body)

    assert answer.status_code == 400
    assert json.loads(answer.text)["error"]["message"]


async def test_openrouter_tells_the_cost(http: httpx.AsyncClient, double: ProviderDouble) -> None:
    """OpenRouter says with the tokens what was paid for them; OpenAI does not."""
    usages = []
    for path in ("/openrouter/api/v1/chat/completions", CHAT):
        double.will(Says("x"), Spends(input=10, output=5, cost=0.0125))
        usages.append((await http.post(path, json=chat(USER))).json()["usage"])

    assert usages[0]["cost"] == 0.0125
    assert "cost" not in usages[1]
