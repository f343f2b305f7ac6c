"""The wire of the double, for whoever speaks to it without an SDK."""

import httpx
import pytest
from aiogram.exceptions import TelegramUnauthorizedError

from tests.doubles.telegram import BotApi, Chat
from tests.doubles.telegram.calls import read_parameters
from tests.doubles.telegram_tests.bots import open_bot
from threadline.testing.deadline import HANG_SECONDS


async def ask(api: BotApi, method: str, **more: object) -> httpx.Response:
    """Call a method by hand."""
    verb = "GET" if "params" in more else "POST"
    async with httpx.AsyncClient(trust_env=False, timeout=HANG_SECONDS) as client:
        return await client.request(verb, f"{api.url}/bot{api.token}/{method}", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("way", ["params", "data", "json", "files"])
async def test_parameters_come_in_four_ways(api: BotApi, dm: Chat, way: str) -> None:
    """A query, a form, JSON and a form with files all say the same."""
    told: dict[str, object] = {"chat_id": dm.id, "text": "Hé <b>da</b>", "parse_mode": "HTML"}
    if way == "files":
        told = {name: (None, str(value)) for name, value in told.items()}

    answer = await ask(api, "sendMessage", **{way: told})

    assert answer.json()["ok"] is True
    assert (dm.texts, api.calls[-1].method) == (["Hé da"], "sendMessage")


async def test_names_of_methods_may_be_written_in_any_case(api: BotApi) -> None:
    """As in Telegram, nobody minds the case."""
    assert (await ask(api, "GETME")).json()["result"]["username"] == "double_bot"


async def test_strangers_are_turned_away(api: BotApi) -> None:
    """A wrong token is refused, for methods and files."""
    async with open_bot(api, "4242:another") as bot:
        with pytest.raises(TelegramUnauthorizedError):
            await bot.get_me()
    async with httpx.AsyncClient(trust_env=False, timeout=HANG_SECONDS) as client:
        answer = await client.get(f"{api.url}/file/bot4242:another/documents/file_0")

    assert answer.json() == {"ok": False, "error_code": 401, "description": "Unauthorized"}
    assert api.calls == []


async def test_methods_that_are_not_there(api: BotApi) -> None:
    """An unknown method is not found, and neither is an unknown path."""
    answer = await ask(api, "makeTea")
    assert (answer.status_code, answer.json()["description"]) == (
        404,
        "Not Found: method not found",
    )
    async with httpx.AsyncClient(trust_env=False, timeout=HANG_SECONDS) as client:
        assert (await client.get(f"{api.url}/elsewhere")).status_code == 404


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"content": b"{", "headers": {"content-type": "application/json"}}, "can't parse JSON"),
        ({"content": b"[]", "headers": {"content-type": "application/json"}}, "expected a JSON"),
        ({"content": b"text=\xff", "headers": {"content-type": "text/plain"}}, "UTF-8"),
        ({"content": b"x", "headers": {"content-type": "multipart/form-data"}}, "boundary"),
        ({"json": {}}, "chat_id is empty"),
        ({"json": {"chat_id": "no one"}}, "chat not found"),
        ({"json": {"chat_id": 1001}}, "message text is empty"),
        ({"json": {"chat_id": 1001, "text": "x", "parse_mode": "Tex"}}, "unsupported parse_mode"),
        ({"json": {"chat_id": 1001, "text": "x", "message_thread_id": "x"}}, "invalid"),
        ({"json": {"chat_id": 1001, "text": "x", "reply_markup": "{"}}, "can't parse reply_markup"),
        ({"json": {"chat_id": 1001, "text": "x", "reply_markup": [1]}}, "object expected"),
        ({"json": {"chat_id": 1001, "text": "x", "entities": "[1]"}}, "expected an Object"),
        ({"json": {"chat_id": 1001, "text": "x", "reply_parameters": "[1]"}}, "reply parameters"),
    ],
)
async def test_nonsense_is_refused(
    api: BotApi, dm: Chat, more: dict[str, object], why: str
) -> None:
    """Whatever cannot be read is a bad request that says why, and nothing is shown."""
    answer = await ask(api, "sendMessage", **more)

    assert (answer.status_code, answer.json()["error_code"], dm.texts) == (400, 400, [])
    assert why in answer.json()["description"]


async def test_a_flood_is_told_twice(api: BotApi, dm: Chat) -> None:
    """How long to wait stands in the answer and in its headers."""
    api.flood(7)

    answer = await ask(api, "sendMessage", json={"chat_id": dm.id, "text": "x"})

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "7")
    assert answer.json() == {
        "ok": False,
        "error_code": 429,
        "description": "Too Many Requests: retry after 7",
        "parameters": {"retry_after": 7},
    }


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        ('form-data; name="document"; filename="a b.txt"', "a b.txt"),
        ("form-data; name=document; filename=a.txt", "a.txt"),
        ('form-data; filename="a.txt"; name="document"', "a.txt"),
        ('form-data; name="document";\r\n filename="ü.txt"', "ü.txt"),
        ("form-data; name=document; filename=\"a.txt\"; filename*=UTF-8''b.txt", "a.txt"),
        ("form-data; name=document; filename*=UTF-8''a.txt", None),
    ],
)
def test_names_of_files_are_read_as_the_bot_api_reads_them(
    disposition: str, name: str | None
) -> None:
    """Quotes are optional, headers may be folded, and only `filename` makes a part a file."""
    body = f"--x\r\nContent-Disposition: {disposition}\r\n\r\ndata\r\n--x--\r\n".encode()
    fields, files = read_parameters("multipart/form-data; boundary=x", "", body)

    assert [one.name for one in files.values()] == ([] if name is None else [name])
    assert set(fields) | set(files) == {"document"}
