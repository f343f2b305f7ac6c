"""What somebody sends to do harm is refused clearly, and nothing of it is taken up."""

import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.web.resources.conftest import Template
from tests.web.resources.operation_calls import request_for
from tests.web.resources.sample_store import Caller, Household, move_in
from tests.web.resources.table import TABLE
from threadline.web.request_limits import BODY_LIMIT

PROBLEM = "application/problem+json"
LOOPBACK = "http://169.254.169.254/latest"
"""An address that only a machine itself can reach."""
ODD_BODIES = {
    "no JSON": b"{",
    "NaN": b'{"text": NaN, "name": Infinity, "turns": NaN}',
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "a huge number": b'{"turns": 1' + b"0" * 5000 + b"}",
    "twice the same": b'{"name": "a", "name": 5, "text": "a", "text": 5}',
    "half a character": b'{"name": "\\ud800", "text": "\\ud800", "title": "\\udfff"}',
    "nothing": b'{"name": "\\u0000", "text": "a\\u0000b", "title": "\\u0000"}',
    "no UTF-8": b'{"name": "\xff\xfe"}',
    "another type": b"<xml/>",
    "no object": b'"text"',
}


async def send(household: Household, request: httpx.Request) -> httpx.Response:
    """Send a request."""
    return await household.client.send(request)


def with_bodies() -> list[str]:
    """Name the operations that take JSON; two of them take long because they have to."""
    slow = {"log_in_by_password", "set_password"}
    return [name for name, row in TABLE.items() if row.body is not None and name not in slow]


@pytest.mark.parametrize("kind", ODD_BODIES)
async def test_odd_bodies_are_told_as_problems(
    kind: str, template: Template, tmp_path: Path
) -> None:
    """Whatever stands in a body, every operation answers it, and none breaks."""
    told: dict[str, int] = {}
    async with move_in(*template, tmp_path / "house") as household:
        headers = {**household.headers(Caller.OWNER), "Content-Type": "application/json"}
        for name in with_bodies():
            request = request_for(household, name, headers, content=ODD_BODIES[kind])
            answer = await send(household, request)
            told[name] = answer.status_code
            assert answer.status_code < 400 or answer.headers["content-type"] == PROBLEM, name

    assert len(told) > 25
    assert {name: code for name, code in told.items() if not 400 <= code < 500} == {}


@pytest.mark.parametrize("field", ["name", "title", "text"])
async def test_odd_characters_break_nothing(field: str, template: Template, tmp_path: Path) -> None:
    """Half characters and NUL are refused; what turns the line around or hides does no harm."""
    odd = ["\u202egnp.exe", "a\u200bb", "\ufeff", "e\u0301" * 30, "\U0010ffff", "\x1b[31m", "\x7f"]
    told = set()
    async with move_in(*template, tmp_path / "house") as household:
        for name in with_bodies():
            body = TABLE[name].body
            if not isinstance(body, dict) or field not in body:
                continue
            for text in odd:
                wish = json.dumps({**body, field: text}).encode()
                headers = {**household.headers(Caller.OWNER), "Content-Type": "application/json"}
                answer = await send(household, request_for(household, name, headers, content=wish))
                told.add(answer.status_code // 100)
                assert "\u202e" not in json.loads(answer.text or "{}").get("name", ""), name

    assert told <= {2, 4}
    assert 2 in told


async def test_too_much_is_refused_before_it_is_read(template: Template, tmp_path: Path) -> None:
    """A body that says how long it is, and one that does not, end at the limit."""

    async def endless() -> Any:
        for _ in range(BODY_LIMIT // 1_000_000 + 1):
            yield b" " * 1_000_000

    async with move_in(*template, tmp_path / "house") as household:
        headers = {**household.headers(Caller.OWNER), "Content-Type": "application/json"}
        huge = {**headers, "Content-Length": str(BODY_LIMIT + 1)}
        long = request_for(household, "begin_session", huge, content=b"{}")
        told = await send(household, long)
        unsaid = await household.client.post("/api/sessions", content=endless(), headers=headers)
        file = await household.client.post("/api/attachments", content=endless(), headers=headers)

    assert (told.status_code, unsaid.status_code, file.status_code) == (413, 413, 413)
    assert {one.headers["content-type"] for one in (told, unsaid, file)} == {PROBLEM}


@pytest.mark.parametrize(
    "path",
    [
        "/api/attachments/../../etc/passwd",
        "/api/attachments/..%2f..%2fetc%2fpasswd",
        "/api/attachments/%2e%2e/%2e%2e/etc/passwd?session=x",
        "/api/exports/sessions/..%2f..%2fthreadline.db",
        "/api/sessions/..%2f..%2fetc",
        "/api/shares/..%2fx",
        "/s/..%2f..%2fthreadline.db",
        "/s/%00",
        "/api/attachments/%00",
        "/api//sessions",
        "/api/sessions/",
    ],
)
async def test_no_path_leads_out(path: str, template: Template, tmp_path: Path) -> None:
    """A path names something of ours, or nothing."""
    async with move_in(*template, tmp_path / "house") as household:
        answer = await household.client.get(path, headers=household.headers(Caller.OWNER))

    assert answer.status_code in {404, 405, 422}
    assert "root:" not in answer.text
    assert "SQLite format" not in answer.text


def bomb() -> bytes:
    """Make a file that is small, and large when it is unpacked."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(20_000_000))
    return packed.getvalue()


def giant() -> bytes:
    """Make the beginning of a picture that says it has four thousand million lines."""
    size = (2**32 - 1).to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + size + size + b"\x08\x06\x00\x00\x00" + bytes(4)


async def test_bombs_are_kept_as_they_are(template: Template, tmp_path: Path) -> None:
    """Nothing is unpacked or drawn here: an archive, a picture, and what says it is packed."""
    packed = gzip.compress(bytes(20_000_000))
    async with move_in(*template, tmp_path / "house") as household:
        for data, extra in (
            (bomb(), {}),
            (giant(), {}),
            (packed, {"Content-Encoding": "gzip"}),
        ):
            headers = {**household.headers(Caller.MEMBER), **extra}
            made = await household.client.post("/api/attachments", content=data, headers=headers)
            assert made.status_code == 201
            assert made.json()["size"] == len(data)


@pytest.mark.parametrize(
    "name",
    ['a"\r\nSet-Cookie: x=1\r\n.html', "../../x.html", "\u202egnp.html", "x" * 900, ";%00.svg", ""],
)
async def test_no_file_name_writes_a_header(name: str, template: Template, tmp_path: Path) -> None:
    """A file is saved under a harmless name, is run by nobody, and is what its content says."""
    page = b"<script>alert(1)</script>"
    async with move_in(*template, tmp_path / "house") as household:
        headers = household.headers(Caller.MEMBER)
        made = await household.client.post(
            "/api/attachments", params={"name": name}, content=page, headers=headers
        )
        told = made.json()
        answer = await household.client.get(
            f"/api/attachments/{told['blob']}", params={"ticket": told["ticket"]}, headers=headers
        )

    shown = answer.headers["content-disposition"]
    assert answer.status_code == 200
    assert shown.startswith("attachment")
    assert "set-cookie" not in answer.headers
    assert not any(sign in shown for sign in ("\r", "\n", "/", "\u202e"))
    assert "sandbox" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "html" not in answer.headers["content-type"]


async def test_nobody_attaches_what_they_cannot_see(template: Template, tmp_path: Path) -> None:
    """Knowing the hash of a file is not leave to read it: it cannot be attached, then fetched."""
    async with move_in(*template, tmp_path / "house") as household:
        picture = household.inventory.things["picture"]
        headers = household.headers(Caller.OTHER)
        taken = {
            "kind": "image",
            "blob": picture,
            "media_type": "image/png",
            "size": 72,
            "name": "picture.png",
        }
        sent = await household.client.post(
            "/api/sessions", json={"text": "mine", "attachments": [taken]}, headers=headers
        )
        session = sent.json().get("session_id", "none")
        got = await household.client.get(
            f"/api/attachments/{picture}", params={"session": session}, headers=headers
        )

    assert sent.status_code in {403, 404, 422}
    assert got.status_code in {404, 422}


async def test_only_an_owner_says_where_a_model_is_asked(
    template: Template, tmp_path: Path
) -> None:
    """No member lets this machine call an address: not by a session, a job or a setting."""
    async with move_in(*template, tmp_path / "house") as household:
        talk = household.inventory.things["talk"]
        headers = {**household.headers(Caller.MEMBER), "If-Match": "*"}
        model = {"model": {"model": "x", "base_url": LOOPBACK}}
        chosen = await household.client.patch(f"/api/sessions/{talk}", json=model, headers=headers)
        job = {"prompt": "x", "schedule": "every day 9:00", "target": "telegram:42"}
        planned = await household.client.post("/api/jobs", json=job, headers=headers)
        urls = {"agent.base_url": LOOPBACK, "mcp.x.url": LOOPBACK, "platforms.h.callback": LOOPBACK}
        told = [
            (
                await household.client.patch(
                    "/api/settings", json={"set": {key: url}}, headers=headers
                )
            ).status_code
            for key, url in urls.items()
        ]
        session = await household.store.sessions.get(talk)  # type: ignore[arg-type]

    assert (chosen.status_code, planned.status_code, told) == (403, 403, [403] * 3)
    assert session.choice is None


@pytest.mark.parametrize(
    "change",
    [
        {"agent.command": ["sh", "-c", "true"]},
        {"agent.python": "os:system"},
        {"mcp.x.command": ["sh"]},
        {"hooks.on_ended": ["os:system"]},
        {"database": "/etc/passwd"},
        {"agent.api_key": "file:/etc/passwd"},
        {"agent.api_key": "file:../../etc/passwd"},
    ],
)
async def test_no_login_is_a_shell(
    change: dict[str, object], template: Template, tmp_path: Path
) -> None:
    """Not even an owner's browser chooses a program to run, or a file to read, on this machine."""
    async with move_in(*template, tmp_path / "house") as household:
        headers = {**household.headers(Caller.OWNER), "If-Match": "*"}
        async with household.gateway:
            answer = await household.client.patch(
                "/api/settings", json={"set": change}, headers=headers
            )

    assert answer.status_code in {403, 422}
    assert "root:" not in answer.text


async def test_a_batch_reaches_only_what_is_ones_own(template: Template, tmp_path: Path) -> None:
    """What is not there and what is another's is told in the same words, and stays as it was."""
    async with move_in(*template, tmp_path / "house") as household:
        talk, none = str(household.inventory.things["talk"]), "20260101_000000_00000000"
        told = {}
        for action in ("pin", "archive", "read", "forget"):
            wish = {"ids": [talk, none], "action": action}
            answer = await household.client.post(
                "/api/batches", json=wish, headers=household.headers(Caller.OTHER)
            )
            told[action] = [one["error"] for one in answer.json()["outcomes"]]
        session = await household.store.sessions.get(talk)  # type: ignore[arg-type]

    assert all(one is not None and one == other for one, other in told.values())
    assert (session.pinned_at, session.archived_at) == (None, None)
