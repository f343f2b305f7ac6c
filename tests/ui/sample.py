"""A small API, with one of everything that ours has."""

from enum import StrEnum
from typing import Annotated, Generic, Literal, TypeVar

from fastapi import FastAPI, File, Header, UploadFile
from fastapi.responses import PlainTextResponse
from pydantic import BaseModel, ConfigDict

Item = TypeVar("Item")


class Colour(StrEnum):
    """What a pot looks like."""

    RED = "red"
    BLUE = "blue"


class Pot(BaseModel):
    """A pot on a shelf."""

    model_config = ConfigDict(extra="forbid")

    name: str
    colour: Colour = Colour.RED
    lid: str | None = None
    sizes: list[int | None] = []
    kind: Literal["pot"] = "pot"
    notes: dict[str, str] = {}
    corner: tuple[int, int] = (0, 0)


class Page(BaseModel, Generic[Item]):
    """Some of many."""

    items: list[Item]
    next: str | None


def make_sample() -> FastAPI:
    """Make the API of a shelf of pots."""
    app = FastAPI(title="Pots", servers=[{"url": "/api"}])

    @app.get("/pots", operation_id="list_pots", summary="List the pots.")
    async def list_pots(most: int = 50, colour: Colour | None = None) -> Page[Pot]:
        return Page(items=[], next=None)

    @app.post("/pots", operation_id="make_pot", status_code=201, summary="Put a pot there.")
    async def make_pot(pot: Pot, idempotency_key: Annotated[str | None, Header()] = None) -> Pot:
        return pot

    @app.delete("/pots/{pot}", operation_id="delete_pot", status_code=204, summary="Drop it.")
    async def delete_pot(pot: str, if_match: Annotated[str, Header()]) -> None:
        return None

    @app.post("/pots/{pot}/picture", operation_id="upload_picture", summary="Show it.")
    async def upload_picture(pot: str, file: Annotated[UploadFile, File()]) -> dict[str, int]:
        return {}

    @app.get("/label", operation_id="read_label", response_class=PlainTextResponse)
    async def read_label() -> str:
        return "pots"

    return app
