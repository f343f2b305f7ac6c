"""Codec: one line of an export each, written in one way only, and read with care."""

from typing import TypeAlias, cast

import msgspec
from msgspec import Struct

from threadline.core import json_codec
from threadline.core.errors import Invalid
from threadline.core.export_format.file_records import (
    FORMAT,
    FORMAT_VERSION,
    AttachmentChunk,
    Footer,
    Header,
    PortableProject,
    PortableSender,
)
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)

LINE_LIMIT = 64 * 1024 * 1024
"""Bytes."""

Record: TypeAlias = (
    Header
    | PortableProject
    | AttachmentChunk
    | PortableSession
    | PortableSender
    | PortableTurn
    | PortableMessage
    | PortableUsage
    | Footer
)

RECORD_TYPES: dict[str, type[Record]] = {
    "header": Header,
    "project": PortableProject,
    "attachment": AttachmentChunk,
    "session": PortableSession,
    "sender": PortableSender,
    "turn": PortableTurn,
    "message": PortableMessage,
    "usage": PortableUsage,
    "footer": Footer,
}
"""What the `type` of a line may be."""


_RECORD = cast("type[Record]", Record)


def encode(record: Record) -> bytes:
    """Write a record as a line."""
    line = msgspec.json.encode(record) + b"\n"
    if len(line) > LINE_LIMIT:
        raise Invalid(f"A {type(record).__name__} of {len(line):,} bytes is too long for a line")
    return line


def decode(line: bytes) -> Record:
    """Read a line, or say what is wrong with it."""
    try:
        record = json_codec.decode(line, _RECORD, "This")
    except Invalid:
        found = json_codec.decode(line, _Format, "This")
        _check_version(found)
        if found.type in RECORD_TYPES:
            return json_codec.decode(line, RECORD_TYPES[found.type], found.type)
        known = ", ".join(RECORD_TYPES)
        raise Invalid(f"{found.type[:40]!r} is no type of line", hint=f"One of: {known}") from None
    if isinstance(record, Header):
        _check_version(record)
    return record


class _Format(Struct):
    """What every version of the format says in its first line."""

    type: str
    format: str | None = None
    version: int | None = None


def _check_version(header: Header | _Format) -> None:
    """Refuse other people's files, and those of a later Threadline."""
    if isinstance(header, _Format) and header.type != "header":
        return
    if header.format != FORMAT:
        raise Invalid("This file is no export of Threadline")
    if header.version is not None and header.version > FORMAT_VERSION:
        raise Invalid(
            f"This file has version {header.version} of the format,"
            f" and only {FORMAT_VERSION} is known",
            hint="Import it with a newer Threadline",
        )


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of a line of the format."""
    schemas, parts = json_codec.json_schemas(list(RECORD_TYPES.values()))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a Threadline export, version {FORMAT_VERSION}",
        "oneOf": schemas,
        "$defs": parts,
    }
