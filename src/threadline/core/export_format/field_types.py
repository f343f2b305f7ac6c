"""Fields: the types of fields that several portable records share."""

from typing import Annotated, TypeAlias

from msgspec import Meta

from threadline.core.message import PARTS_LIMIT, Part
from threadline.core.project import PROJECT_NAME_LIMIT
from threadline.core.validation import TITLE_LIMIT, clean_title, unfit

Title: TypeAlias = Annotated[str, Meta(min_length=1, max_length=TITLE_LIMIT)]
ProjectName: TypeAlias = Annotated[str, Meta(min_length=1, max_length=PROJECT_NAME_LIMIT)]
Parts: TypeAlias = Annotated[tuple[Part, ...], Meta(min_length=1, max_length=PARTS_LIMIT)]


def checked_line(text: str, what: str, limit: int) -> None:
    """Raise Invalid unless a text is one line, with nothing in it that cannot be seen."""
    if clean_title(text, limit) != text:
        raise unfit(text, what, f"one line of at most {limit} characters that can be seen")
