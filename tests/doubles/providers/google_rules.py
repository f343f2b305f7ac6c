"""The rules of Google: what it answers a request with 400 for."""

import base64
import binascii

from tests.doubles.providers.signatures import Seals
from tests.doubles.providers.wire import Json, Objection, lines

_ROLES = frozenset({"user", "model", "function", None})
_WAIVED = frozenset({"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"})
"""What the documentation lets stand for a thought that another model had."""


def check(asked: Json, model: str, seals: Seals) -> None:
    """Object to a request that Google would not take."""
    contents = lines(asked.get("contents"))
    for place, content in enumerate(contents):
        if content.get("role") not in _ROLES:
            raise Objection("Please use a valid role: user, model.")
        if not content.get("parts"):
            raise Objection(f"* GenerateContentRequest.contents[{place}].parts: must not be empty")
        _check_seals(content["parts"], seals)
    if contents[-1].get("role") == "model" and _of(contents[-1], "functionCall"):
        raise Objection("Please ensure that function call turn is followed by its responses.")
    for place, content in enumerate(contents):
        _check_calls(contents, place, content)
    if model.startswith("gemini-3"):
        _check_thoughts(contents)


def _check_calls(contents: list[Json], place: int, content: Json) -> None:
    """See that each turn of calls is followed by as many responses, and each of these has one."""
    before = contents[place - 1] if place else {}
    called = len(_of(before, "functionCall"))
    answered = len(_of(content, "functionResponse"))
    if called != answered:
        raise Objection(
            "Please ensure that the number of function response parts is equal to the number of"
            " function call parts of the function call turn."
        )
    if _of(content, "functionCall") and before.get("role", "user") == "model":
        raise Objection(
            "Please ensure that function call turn comes immediately after a user turn or after a"
            " function response turn."
        )


def _check_seals(parts: list[Json], seals: Seals) -> None:
    for part in parts:
        seal = part.get("thoughtSignature")
        if seal is not None and opened(seal) not in _WAIVED and not seals.fits(opened(seal)):
            raise Objection("Thought signature is not valid.")


def _check_thoughts(contents: list[Json]) -> None:
    """See that the first call of every step since the user spoke last bears its thought."""
    spoken = [n for n, content in enumerate(contents) if _is_spoken(content)]
    for content in contents[spoken[-1] if spoken else 0 :]:
        calls = _of(content, "functionCall")
        if calls and "thoughtSignature" not in calls[0]:
            name = calls[0]["functionCall"].get("name")
            raise Objection(
                "Function call is missing a thought_signature in functionCall parts. Function call"
                f" `{name}`."
            )


def _is_spoken(content: Json) -> bool:
    return content.get("role") != "model" and not _of(content, "functionResponse")


def _of(content: Json, kind: str) -> list[Json]:
    return [part for part in content.get("parts") or () if kind in part]


def sealed(seal: str) -> str:
    """Write a seal as Google does, which is in base64."""
    return base64.b64encode(seal.encode()).decode()


def opened(seal: object) -> str:
    """Read a seal that came back, in either alphabet; empty if it is none."""
    plain = str(seal).replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return str(seal) if str(seal) in _WAIVED else ""
