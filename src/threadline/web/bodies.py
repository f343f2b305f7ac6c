"""Bodies: the types of what requests bring and responses show, as JSON."""

from datetime import datetime
from typing import Annotated, Self

import msgspec
from msgspec import Meta, Struct


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request brings. A field that is not known here is an error."""


class View(Struct, frozen=True, kw_only=True):
    """What a response shows, where that differs from a value of the store."""

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the view of a value, from its attributes of the same names."""
        return msgspec.convert(value, cls, from_attributes=True)


encode = msgspec.json.Encoder().encode
"""Write a response as JSON; times as RFC 3339 in UTC, and exact numbers as text."""
Time = Annotated[datetime, Meta(tz=True)]
"""A time in a request or a response."""
Revision = Annotated[
    str,
    Meta(
        description="Its `ETag`: whoever changes it sends it back as `If-Match`, in quotes.",
        examples=["5f6c1e0b9a3d4c2f8e7a6b5c4d3e2f10"],
    ),
]
"""The revision of something that can be changed."""
