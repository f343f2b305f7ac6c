"""Fields: the values in the fields of portable records that are more than text or a number."""

from typing import Annotated, TypeAlias

from threadline.core.errors import Invalid
from threadline.core.json_codec import Shape, text_shape
from threadline.core.message import (
    BlobHash,
    Part,
    checked_hash,
    checked_parts,
    parts_from,
    plain_parts,
)
from threadline.core.project import PROJECT_NAME_LIMIT
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import TITLE_LIMIT, checked_id, clean_title, unfit


def _read_title(value: object, what: str) -> str:
    if isinstance(value, str) and value and clean_title(value) == value:
        return value
    raise unfit(value, what, f"one line of at most {TITLE_LIMIT} characters that can be seen")


def _read_project_name(value: object, what: str) -> str:
    if isinstance(value, str) and value and clean_title(value, PROJECT_NAME_LIMIT) == value:
        return value
    raise unfit(value, what, f"one line of at most {PROJECT_NAME_LIMIT} characters")


def _read_session_id(value: object, what: str) -> str:
    try:
        return checked_session_id(value)
    except Invalid as error:
        raise unfit(value, what, "a session id such as 20260131_184500_0a1b2c3d") from error


def _read_word(value: object, what: str) -> str:
    word = checked_id(value, what)
    if not word:
        raise unfit(value, what, "at least one character")
    return word


def _read_parts(value: object, what: str) -> tuple[Part, ...]:
    try:
        return checked_parts(parts_from(value))
    except Invalid as error:
        raise Invalid(f"{what}: {error.message}", hint=error.hint) from error


def _write_parts(value: object) -> object:
    return plain_parts(value) if isinstance(value, tuple) else value


_PARTS = Shape(
    read=_read_parts,
    write=_write_parts,
    schema={
        "type": "array",
        "minItems": 1,
        "items": {
            "type": "object",
            "properties": {
                "type": {
                    "enum": [
                        "text",
                        "attachment",
                        "tool_call",
                        "tool_result",
                        "reasoning",
                        "marker",
                        "note",
                    ]
                }
            },
            "required": ["type"],
        },
    },
)
_HASH_SCHEMA = {"pattern": "^[0-9a-f]{64}$"}
_SESSION_SCHEMA = {"pattern": r"^\d{8}_\d{6}_[0-9a-f]{8}$"}

Word: TypeAlias = Annotated[str, text_shape(_read_word, {"minLength": 1})]
Title: TypeAlias = Annotated[str, text_shape(_read_title, {"maxLength": TITLE_LIMIT})]
ProjectName: TypeAlias = Annotated[
    str, text_shape(_read_project_name, {"maxLength": PROJECT_NAME_LIMIT})
]
Reference: TypeAlias = Annotated[SessionId, text_shape(_read_session_id, _SESSION_SCHEMA)]
Hash: TypeAlias = Annotated[
    BlobHash, text_shape(lambda value, _: checked_hash(value), _HASH_SCHEMA)
]
Parts: TypeAlias = Annotated[tuple[Part, ...], _PARTS]
