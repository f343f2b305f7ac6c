"""Codec: one line of an export each, written in one way only, and read with care."""

import json
from typing import TypeAlias

from threadline.core.errors import Invalid
from threadline.core.export_format.files import (
    FORMAT,
    FORMAT_VERSION,
    AttachmentChunk,
    Footer,
    Header,
    PortableProject,
    PortableSender,
)
from threadline.core.export_format.sessions import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)
from threadline.core.json_codec import read_record, schema_of, write_record

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

_NAMES = {kind: name for name, kind in RECORD_TYPES.items()}


def encode(record: Record) -> bytes:
    """Write a record as a line."""
    plain = {"type": _NAMES[type(record)], **write_record(record)}
    line = json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    if len(line) > LINE_LIMIT:
        raise Invalid(f"A {plain['type']} of {len(line):,} bytes is too long for a line")
    return line


def decode(line: bytes) -> Record:
    """Read a line, or say what is wrong with it."""
    plain = _parse(line)
    name = plain.pop("type", None)
    if not isinstance(name, str) or name not in RECORD_TYPES:
        known = ", ".join(RECORD_TYPES)
        raise Invalid(f"{str(name)[:40]!r} is no type of line", hint=f"One of: {known}")
    if name == "header":
        _check_version(plain)
    return read_record(RECORD_TYPES[name], plain, name)


def _parse(line: bytes) -> dict[str, object]:
    try:
        plain: object = json.loads(
            line.decode(), object_pairs_hook=_unique, parse_constant=_refuse_constant
        )
    except RecursionError as error:
        raise Invalid("This is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise Invalid("This is no UTF-8") from error
    except ValueError as error:
        raise Invalid(f"This is no JSON: {error}"[:200]) from error
    if not isinstance(plain, dict):
        raise Invalid("A line holds one JSON object")
    return plain


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    plain = dict(pairs)
    if len(plain) != len(pairs):
        raise ValueError("a field stands in it twice")
    return plain


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _check_version(plain: dict[str, object]) -> None:
    """Refuse other people's files, and those of a later Threadline."""
    if plain.get("format") != FORMAT:
        raise Invalid("This file is no export of Threadline")
    version = plain.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise Invalid("The version of this file is no number")
    if version > FORMAT_VERSION:
        raise Invalid(
            f"This file has version {version} of the format, and only {FORMAT_VERSION} is known",
            hint="Import it with a newer Threadline",
        )


def json_schema() -> dict[str, object]:
    """Describe a line of the format as JSON Schema."""
    kinds = {}
    for name, kind in RECORD_TYPES.items():
        schema = schema_of(kind)
        properties, required = schema["properties"], schema["required"]
        if isinstance(properties, dict) and isinstance(required, list):
            schema["properties"] = {"type": {"const": name}, **properties}
            schema["required"] = ["type", *required]
        kinds[name] = schema
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a Threadline export, version {FORMAT_VERSION}",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds],
        "$defs": kinds,
    }
