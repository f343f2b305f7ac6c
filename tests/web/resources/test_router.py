"""The router: bodies become structs, structs become responses, and errors name their field."""

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated, Any

import httpx
import pytest
from fastapi import Depends, FastAPI, Request, Response
from msgspec import Meta

from threadline.web.bodies import Body, View
from threadline.web.problems import MatchNeeded
from threadline.web.resources.problems import tell_problems
from threadline.web.resources.router import Router


class Color(StrEnum):
    """A colour."""

    RED = "red"
    BLUE = "blue"


class Leaf(Body, frozen=True, kw_only=True):
    """A part of a plant."""

    color: Color


class PlantRequest(Body, frozen=True, kw_only=True):
    """A plant to be set."""

    name: Annotated[str, Meta(min_length=1, max_length=10)]
    height: float = 0
    leaves: tuple[Leaf, ...] = ()
    labels: dict[str, Any] | None = None


class PlantView(View, frozen=True, kw_only=True):
    """A plant that was set."""

    name: str
    height: float


class Plant:
    """What a store would return: more than is shown."""

    def __init__(self, name: str, height: float, secret: str) -> None:
        self.name, self.height, self.secret = name, height, secret


router = Router(prefix="/plants", tags=["plants"])


async def _refuse(request: Request) -> None:
    if "refused" in request.headers:
        raise MatchNeeded


@router.post("", status_code=201, dependencies=[Depends(_refuse)])
async def set_plant(wish: PlantRequest, response: Response) -> PlantView:
    """Set a plant."""
    response.headers["ETag"] = f'"{wish.name}"'
    return PlantView.of(Plant(wish.name, wish.height, "hidden"))


@router.get("/{name}")
def read_plant(name: str) -> PlantView:
    """Read a plant, in a thread."""
    return PlantView(name=name, height=1)


@router.delete("/{name}", status_code=204)
async def remove_plant(name: str, request: Request, wish: Leaf) -> None:
    """Remove leaves of a plant; its body is read beside the request."""
    assert (request.method, wish.color, bool(name)) == ("DELETE", Color.BLUE, True)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """Give a client of an application that has these routes only."""
    app = FastAPI(openapi_url=None)
    app.include_router(router)
    tell_problems(app, router.routes)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
        yield client


async def send(client: httpx.AsyncClient, body: bytes, **headers: str) -> httpx.Response:
    """Send a body as JSON."""
    given = {"Content-Type": "application/json", **headers}
    return await client.post("/plants", content=body, headers=given)


async def test_a_struct_goes_in_and_out(client: httpx.AsyncClient) -> None:
    """The status and the headers of the route are those of the response, the fields the view's."""
    made = await send(client, b'{"name": "fern", "height": 0.5, "leaves": [{"color": "red"}]}')
    read = await client.get("/plants/fern")

    assert (made.status_code, made.json()) == (201, {"name": "fern", "height": 0.5})
    assert (made.headers["etag"], made.headers["content-type"]) == ('"fern"', "application/json")
    assert (read.status_code, read.json()) == (200, {"name": "fern", "height": 1})


async def test_a_route_with_a_body_may_return_nothing(client: httpx.AsyncClient) -> None:
    """A route that takes the request itself finds it, and one without a response has none."""
    gone = await client.request("DELETE", "/plants/fern", json={"color": "blue"})

    assert (gone.status_code, gone.content) == (204, b"")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"name": 7}', "body.name"),
        (b'{"name": ""}', "body.name"),
        (b'{"name": "a", "unknown": 1}', "body.unknown"),
        (
            b'{"name": "a", "leaves": [{"color": "red"}, {"color": "red", "x": 1}]}',
            "body.leaves.1.x",
        ),
        (b'{"height": 1}', "body.name"),
        (b'{"name": "a", "leaves": [{"color": "hunter2"}]}', "body.leaves.0.color"),
        (b'{"name": "a", "height": "1"}', "body.height"),
        (b'{"name": "a", "labels": {"k": 1e999}}', "body.labels"),
        (b'{"name": {"hunter2": "hunter2"}}', "body.name"),
        (b"null", "body"),
        (b"[]", "body"),
        (b"", "body"),
    ],
)
async def test_an_error_names_its_field(client: httpx.AsyncClient, body: bytes, field: str) -> None:
    """It is a problem with the place of the field, and without the value, which may be a secret."""
    wrong = await send(client, body)

    assert wrong.status_code == 422
    assert [one["field"] for one in wrong.json()["errors"]] == [field]
    assert wrong.json()["title"] == "Invalid"
    assert "hunter2" not in wrong.text


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
async def test_what_is_no_number_is_refused(client: httpx.AsyncClient, number: bytes) -> None:
    """JSON has no NaN; other readers take it, and it would be stored as null."""
    wrong = await send(client, b'{"name": "a", "height": ' + number + b"}")

    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "body")


@pytest.mark.parametrize("body", [b"{", b'{"name": "a"} {', b"[" * 100_000, b"name"])
async def test_a_body_that_is_not_json_is_malformed(client: httpx.AsyncClient, body: bytes) -> None:
    """It is told apart from JSON that does not fit."""
    wrong = await send(client, body)

    assert (wrong.status_code, wrong.json()["detail"]) == (400, "The body is not valid JSON")


async def test_a_body_must_say_that_it_is_json(client: httpx.AsyncClient) -> None:
    """A form of another page, which a browser sends without asking, is not read."""
    wrong = await client.post("/plants", content=b'{"name": "a"}')
    right = await send(client, b'{"name": "a"}', **{"Content-Type": "application/x+json; a=b"})

    assert (wrong.status_code, right.status_code) == (415, 201)


async def test_a_body_is_read_last(client: httpx.AsyncClient) -> None:
    """A caller who may not do this is refused, whatever the body says."""
    refused = await send(client, b"{", refused="yes")

    assert refused.status_code == 428
