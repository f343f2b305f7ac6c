"""What all shapes have in common: answers are read only, wishes hold nothing unknown."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Struct
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


def write_moment(at: datetime) -> str:
    """Write a moment as RFC 3339 wants it, in UTC."""
    if at.tzinfo is not UTC:  # those of the store are, and a page has many
        at = at.astimezone(UTC)
    # In two halves, as to write an offset takes longer than all the rest.
    return f"{at.date().isoformat()}T{at.time().isoformat('microseconds')}Z"


Moment = Annotated[
    datetime, PlainSerializer(write_moment, return_type=str, when_used="json-unless-none")
]
"""A moment in an answer, as `2026-01-31T18:45:00.000000Z`."""
REVISION = Field(
    description="Its `ETag`: whoever changes it sends it back as `If-Match`, in quotes.",
    examples=["5f6c1e0b9a3d4c2f8e7a6b5c4d3e2f10"],
)
"""Which state of something that can be changed is told."""


class ResponseBody(BaseModel):
    """Something that the API tells; where it is called like a noun of ours, it is read from one."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Told(Struct, frozen=True):
    """Marks a noun of ours that is told as an answer tells it, without making that answer first.

    A page has so many of them that to make each would take longer than to read them all.
    """

    view: type[ResponseBody]

    def __get_pydantic_core_schema__(
        self, noun: type[object], schemas: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Take the noun as it is; write it as its view."""
        write = core_schema.plain_serializer_function_ser_schema(
            lambda value: self.view.model_validate(value).model_dump(mode="json")
        )
        return core_schema.any_schema(serialization=write)

    def __get_pydantic_json_schema__(
        self, _: CoreSchema, describe: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the view: where it is only a part of something, it is referred to by name."""
        whole = core_schema.list_schema(self.view.__pydantic_core_schema__)
        described: JsonSchemaValue = describe(whole)["items"]
        return described


class RequestBody(BaseModel):
    """Something that a request asks for; what is not known here is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid")
