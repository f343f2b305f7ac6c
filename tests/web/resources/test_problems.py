"""Problems: every error is told in one way, and nothing of a request is repeated."""

import re

import httpx
import pytest

from tests.databases import FAST, on
from tests.web.resources.callers import calling
from threadline.store import Store
from threadline.web.problems import MatchNeeded
from threadline.web.resources.etags import seen_in

PROBLEM = "application/problem+json"
JSON = {"Content-Type": "application/json"}
ID = "20260131_184500_0a1b2c3d"


@on(FAST)
@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", JSON, 400),
        (b"[" * 60_000, JSON, 400),
        (b"[" * 100_000, JSON, 413),
        (b'{"text": 7}', JSON, 422),
        (b'{"text": "a", "unknown": 1}', JSON, 422),
        (b'{"text": "a\\u0000b"}', JSON, 422),
        (b'{"text": "\\ud800"}', JSON, 422),
        (b'{"text": NaN}', JSON, 422),
        (b"null", JSON, 422),
        (b"", JSON, 422),
        (b"text=a", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b'{"text": "a"}', {**JSON, "Idempotency-Key": "x" * 201}, 422),
        (b'{"text": "a"}', {**JSON, "Idempotency-Key": "a b"}, 422),
    ],
)
async def test_garbage_is_a_problem(
    store: Store, body: bytes, headers: dict[str, str], status: int
) -> None:
    """Whatever is sent, the answer says what is wrong, and nothing is stored."""
    async with calling(store) as callers:
        answer = await callers.owner.post("/api/sessions", content=body, headers=headers)
        left = await callers.owner.get("/api/sessions?shelf=all&with_empty=true")

    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == PROBLEM
    assert answer.json()["status"] == status
    assert left.json()["items"] == []


@on(FAST)
async def test_the_wrong_path_and_the_wrong_method_are_problems(store: Store) -> None:
    """They are told in our words, and the methods that there are go along."""
    async with calling(store) as callers:
        nowhere = await callers.owner.get("/api/nowhere")
        odd = await callers.owner.get("/api/sessions/../../etc/passwd")
        method = await callers.owner.put("/api/sessions", json={})
        query = await callers.owner.get("/api/sessions?most=0")

    assert [one.status_code for one in (nowhere, odd, method, query)] == [404, 404, 405, 422]
    assert {one.headers["content-type"] for one in (nowhere, method, query)} == {PROBLEM}
    assert method.headers["allow"] == "GET, POST"
    assert query.json()["errors"][0]["field"] == "query.most"


@on(FAST)
async def test_allow_names_all_methods_of_a_path(store: Store) -> None:
    """Each path of the description tells its methods, whichever of them stands first."""
    async with calling(store) as callers:
        paths = (await callers.owner.get("/api/openapi.json")).json()["paths"]
        answers = {
            path: await callers.owner.request(method, "/api" + re.sub(r"{\w+}", "1", path))
            for path in paths
            for method in ("TRACE", "OPTIONS", "HEAD")
        }

    wanted = {path: ", ".join(sorted(one.upper() for one in paths[path])) for path in paths}
    assert {one.status_code for one in answers.values()} == {405}
    assert {path: one.headers["allow"] for path, one in answers.items()} == wanted


@on(FAST)
@pytest.mark.parametrize(
    "query",
    [
        "sessions?active_since=",
        "search?text=a&since=",
        "search?text=a&until=",
        "usage?since=",
        "usage?until=",
        f"sessions/{ID}/rounds?since=",
    ],
)
async def test_a_moment_is_written_as_text(store: Store, query: str) -> None:
    """A number is no moment: it was read as seconds or milliseconds, by its size."""
    async with calling(store) as callers:
        answers = [
            await callers.owner.get(f"/api/{query}{written}")
            for written in ("1700000000", "1.7e9", "-1", "2026-01-31", "2026-01-31T18:45:00")
        ]
        right = await callers.owner.get(f"/api/{query}2026-01-31T18:45:00%2B01:00")

    assert [one.status_code for one in answers] == [422] * 5
    assert right.status_code in {200, 404}


@on(FAST)
async def test_no_value_is_repeated(store: Store) -> None:
    """What somebody put into the wrong field may be a secret."""
    async with calling(store) as callers:
        wish = {"text": {"password": "hunter2"}, "hunter2": "hunter2"}
        answer = await callers.owner.post("/api/sessions", json=wish)

    assert answer.status_code == 422
    assert "password" not in answer.text


def test_a_revision_must_have_been_seen() -> None:
    """Several may be named, a star stands for all of them, and a weak tag for none."""
    assert seen_in('"7"') == frozenset({"7"})
    assert seen_in('"6", "7"') == frozenset({"6", "7"})
    assert not any(seen_in(header) for header in ('W/"7"', "7", '"'))
    assert seen_in('"6", *') is None
    with pytest.raises(MatchNeeded):
        seen_in(None)


async def described(client: httpx.AsyncClient) -> dict[str, dict[str, object]]:
    """Read the operations of the description."""
    description = await client.get("/api/openapi.json")
    assert description.status_code == 200
    paths: dict[str, dict[str, object]] = description.json()["paths"]
    return paths


@on(FAST)
async def test_every_operation_has_a_name_of_its_own(store: Store) -> None:
    """No two operations of the description share a name."""
    async with calling(store) as callers:
        paths = await described(callers.nobody)

    names = [one["operationId"] for two in paths.values() for one in two.values()]  # type: ignore[index]
    assert len(names) == len(set(names))


@on(FAST)
async def test_every_operation_is_described(store: Store) -> None:
    """It has a summary, a sentence, and the problems that it may answer with."""
    async with calling(store) as callers:
        paths = await described(callers.nobody)

    bare = [
        f"{method} {path}"
        for path, operations in paths.items()
        for method, operation in operations.items()
        if not isinstance(operation, dict)
        or not {"summary", "description"} <= operation.keys()
        or not {"401", "403", "404", "422"} <= operation["responses"].keys()
    ]
    assert not bare
