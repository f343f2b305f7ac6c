"""Pagination: lists are read page by page, each from where the one before ended."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Generic, TypeVar

from fastapi import Query

from threadline.core.errors import Invalid
from threadline.database.timestamps import moment, stamp
from threadline.web.bodies import View

T = TypeVar("T")
Found = TypeVar("Found")

PAGE = 50
PAGE_MOST = 200

After = Annotated[
    str | None,
    Query(max_length=200, description="Where to go on: what the page before called `next`."),
]
"""Where a page begins; None: at the beginning."""
Most = Annotated[int, Query(ge=1, le=PAGE_MOST, description="How many to answer at the most.")]
"""How much a page holds; give it the default `PAGE`."""


class Page(View, Generic[T], frozen=True, kw_only=True):
    """A page of a list."""

    items: list[T]
    next: str | None = None
    """Give this as `after` for the next page; null: there is none."""

    @classmethod
    def cut(
        cls,
        found: Sequence[Found],
        most: int,
        shape: Callable[[Found], T],
        place: Callable[[Found], object],
    ) -> "Page[T]":
        """Make a page of what was found, of which one more than `most` was asked for.

        `place` names where something stands in the list: the next page begins behind it.
        """
        shown = found[:most]
        after = str(place(shown[-1])) if len(found) > most else None
        return Page(items=[shape(one) for one in shown], next=after)


def number_after(after: str | None, least: int = 0) -> int | None:
    """Read a place that is a number; refuse one that no page could have named."""
    if after is None:
        return None
    if after.isascii() and after.isdigit() and len(after) < 19 and int(after) >= least:
        return int(after)
    raise _no_place(after)


def place_at(at: datetime, id: object) -> str:
    """Name a place in a list that is ordered by moments, and by ids where these are the same."""
    return f"{stamp(at)}-{id}"


def moment_after(after: str | None) -> tuple[datetime, str] | None:
    """Read such a place."""
    if after is None:
        return None
    at, _, id = after.partition("-")
    try:
        return moment(number_after(at) or 0), id
    except OverflowError:
        raise _no_place(after) from None


def _no_place(after: str) -> Invalid:
    return Invalid(
        f"{after[:40]!r} is not a place in this list",
        hint="Pass the `next` of the previous page",
    )
