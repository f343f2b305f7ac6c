"""Refusals: what the Bot API answers when it does not do what it was asked."""

from typing import Any, TypeAlias

Wire: TypeAlias = dict[str, Any]
"""An object as the Bot API writes it."""

_TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    413: "Request Entity Too Large",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


class Refusal(Exception):
    """An answer with a code, a description and perhaps parameters, in the place of a result."""

    def __init__(self, code: int, reason: str = "", **parameters: int) -> None:
        """Say why, in the words of the Bot API; the title of the code comes before them."""
        title = _TITLES.get(code, "Error")
        self.code = code
        self.description = f"{title}: {reason}" if reason else title
        self.parameters = parameters
        super().__init__(self.description)

    def wire(self) -> Wire:
        """Write it as it is answered."""
        told: Wire = {"ok": False, "error_code": self.code, "description": self.description}
        return {**told, "parameters": self.parameters} if self.parameters else told


def bad(reason: str) -> Refusal:
    """Make the commonest refusal: what was asked for makes no sense here."""
    return Refusal(400, reason)


def flood(seconds: int) -> Refusal:
    """Make the refusal that asks for patience."""
    return Refusal(429, f"retry after {seconds}", retry_after=seconds)
