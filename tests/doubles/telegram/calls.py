"""Calls: one request for a method, whichever way its parameters were written."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from tests.doubles.telegram.refusals import Refusal, Wire, bad

UPLOAD_LIMIT = 50_000_000
"""How many bytes a bot may send at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that came with a call."""

    name: str
    data: bytes
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One method that a bot called, with its parameters as they were written."""

    method: str
    parameters: Wire = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)
    at: datetime

    def text(self, name: str) -> str:
        """Read a parameter as words; empty: it is not there."""
        value = self.parameters.get(name)
        return "" if value is None else str(value)

    def number(self, name: str, default: int = 0) -> int:
        """Read a parameter as a whole number."""
        value = self.parameters.get(name)
        if value is None or value == "":
            return default
        try:
            return int(value)
        except (TypeError, ValueError):
            raise bad(f"invalid {name} specified") from None

    def flag(self, name: str) -> bool:
        """Read a parameter as yes or no."""
        return str(self.parameters.get(name, "")).lower() in {"1", "true", "yes"}

    def structure(self, name: str) -> Any:
        """Read a parameter that is JSON, or was written as JSON; None: it is not there."""
        value = self.parameters.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise bad(f"can't parse {name} JSON object") from None

    def upload(self, value: object) -> Upload | None:
        """Find the file that a value speaks of as `attach://name`."""
        if isinstance(value, str) and value.startswith("attach://"):
            return self.files.get(value.removeprefix("attach://"))
        return None


def read_parameters(media_type: str, query: str, body: bytes) -> tuple[Wire, dict[str, Upload]]:
    """Read the parameters of a request, and the files that came with it."""
    if len(body) > UPLOAD_LIMIT + 1_000_000:
        raise Refusal(413)
    parameters: Wire = dict(parse_qsl(query, keep_blank_values=True))
    kind = media_type.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        fields, files = _read_multipart(media_type, body)
        return parameters | fields, files
    if kind == "application/json":
        return parameters | _read_json(body), {}
    return parameters | dict(parse_qsl(_decode(body), keep_blank_values=True)), {}


def _read_json(body: bytes) -> Wire:
    try:
        told = json.loads(body or b"{}")
    except ValueError:
        raise bad("can't parse JSON object") from None
    if not isinstance(told, dict):
        raise bad("expected a JSON object")
    return told


def _read_multipart(media_type: str, body: bytes) -> tuple[Wire, dict[str, Upload]]:
    """Take a form apart at its boundary; a part with a file name is a file."""
    found = re.search(r'boundary="?([^";]+)', media_type)
    if not found:
        raise bad("can't find the boundary of the form")
    fields: Wire = {}
    files: dict[str, Upload] = {}
    for part in (b"\r\n" + body).split(b"\r\n--" + found.group(1).encode())[1:]:
        head, gap, data = part.partition(b"\r\n\r\n")
        if not gap:  # the end
            continue
        headers = _read_headers(_decode(head))
        form, _, written = headers.get("content-disposition", "").partition(";")
        if form.lower() != "form-data":
            raise bad("expected form-data content disposition")
        told = _read_options(written)
        if not told.get("name"):
            raise bad("field name in multipart/form-data not found")
        if "filename" not in told:
            fields[told["name"]] = _decode(data)
            continue
        kind = headers.get("content-type", "application/octet-stream").partition(";")[0].strip()
        files[told["name"]] = Upload(name=told["filename"], data=data, media_type=kind)
    return fields, files


def _read_headers(head: str) -> dict[str, str]:
    """Read the headers of a part; a line that begins with a blank goes on with the one before."""
    lines = re.sub(r"\r\n[ \t]+", " ", head).split("\r\n")
    return {
        name.strip().lower(): value.strip()
        for name, colon, value in (line.partition(":") for line in lines)
        if colon
    }


def _read_options(written: str) -> dict[str, str]:
    """Read `name="file"; filename="a b.txt"` as the Bot API does.

    It ends a value at the next semicolon, also inside quotes, takes quotes off, undoes no escapes,
    and does not know `filename*`: a part that has only this is no file.
    """
    options: dict[str, str] = {}
    for one in written.split(";"):
        name, sign, value = one.partition("=")
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] == '"':
            value = value[1:-1]
        if sign:
            options[name.strip()] = value
    return options


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise bad("strings must be encoded in UTF-8") from None
