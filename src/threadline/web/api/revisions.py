"""Revisions: nobody overwrites what they have not seen."""

import hashlib
from typing import Annotated

from fastapi import Header, Response

from threadline.web.api.problems import MatchNeeded, Stale

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=200,
        description="The `ETag` that was seen, or `*` for whatever there is now.",
        examples=['"12"', "*"],
    ),
]
"""Which revision whoever wants to change something has seen."""


def tag_of(*values: object) -> str:
    """Make the tag of a revision: the number itself, or a hash of what can be changed."""
    if len(values) == 1 and isinstance(values[0], int):
        return f'"{values[0]}"'
    return f'"{hashlib.sha256(repr(values).encode()).hexdigest()[:32]}"'


def tell_tag(response: Response, tag: str) -> None:
    """Say with an answer which revision it shows."""
    response.headers["ETag"] = tag


def require_match(seen: str | None, tag: str) -> None:
    """Refuse a change by somebody who has not seen what they would change."""
    if seen is None:
        raise MatchNeeded(hint="Send If-Match with the ETag that you have seen, or with *")
    tags = [one.strip() for one in seen.split(",")]
    if "*" not in tags and tag not in tags:
        raise Stale(hint="Read it again, and decide anew")
