"""Calls: one request for a method, whichever way its parameters were written."""

import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from threadline.testing.telegram.refusals import Refusal, Wire, bad

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
        told = _decode(head)
        name = re.search(r'[; ]name="([^"]*)"', told)
        if name is None:
            raise bad("a part of the form has no name")
        if (file := re.search(r'filename="([^"]*)"', told)) is None:
            fields[name.group(1)] = _decode(data)
            continue
        kind = re.search(r"content-type: *([^\r\n;]+)", told, re.IGNORECASE)
        files[name.group(1)] = Upload(
            name=file.group(1),
            data=data,
            media_type=kind.group(1).strip() if kind else "application/octet-stream",
        )
    return fields, files


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise bad("strings must be encoded in UTF-8") from None
