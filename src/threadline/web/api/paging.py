"""Paging: lists are read page by page, each from where the one before ended."""

from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import Field

from threadline.core.errors import Invalid
from threadline.web.api.shapes.model import Answer

T = TypeVar("T")

PAGE = 50
PAGE_MOST = 200

After = Annotated[
    str | None,
    Query(max_length=200, description="Where to go on: what the page before called `next`."),
]
"""Where a page begins; None: at the beginning."""
Most = Annotated[int, Query(ge=1, le=PAGE_MOST, description="How many to answer at the most.")]
"""How much a page holds; give it the default `PAGE`."""


class Page(Answer, Generic[T]):
    """A page of a list."""

    items: list[T]
    next: str | None = Field(
        default=None, description="Give this as `after` for the next page; null: there is none."
    )


def number_after(after: str | None, least: int = 0) -> int | None:
    """Read a place that is a number; refuse one that no page could have named."""
    if after is None:
        return None
    if after.isascii() and after.isdigit() and len(after) < 19 and int(after) >= least:
        return int(after)
    raise Invalid(
        f"{after[:40]!r} is no place in this list",
        hint="Give what the page before called next",
    )
