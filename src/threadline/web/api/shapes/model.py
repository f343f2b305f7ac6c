"""What all shapes have in common: answers are read only, wishes hold nothing unknown."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer


def write_moment(at: datetime) -> str:
    """Write a moment as RFC 3339 wants it, in UTC."""
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


Moment = Annotated[
    datetime, PlainSerializer(write_moment, return_type=str, when_used="json-unless-none")
]
"""A moment in an answer, as `2026-01-31T18:45:00.000000Z`."""


class Answer(BaseModel):
    """Something that the API tells."""

    model_config = ConfigDict(frozen=True)


class Wish(BaseModel):
    """Something that a request asks for; what is not known here is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")
