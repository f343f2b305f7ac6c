"""Problems: how an error is told over HTTP (RFC 9457)."""

from threadline.core.errors import ThreadlineError

PROBLEM_TYPE = "application/problem+json"
"""The media type of such an answer."""


def problem_of(error: ThreadlineError, status: int | None = None) -> dict[str, object]:
    """Say in plain values what went wrong, under the error's own status or a nearer one."""
    told: dict[str, object] = {
        "type": "about:blank",
        "title": type(error).__name__,
        "status": status or error.status,
        "detail": fit(error.message),
    }
    if error.id:
        told["id"] = fit(error.id)
    if error.hint:
        told["hint"] = fit(error.hint)
    return told


def fit(text: str) -> str:
    """Leave out what cannot be written: half a surrogate pair can be sent, but not answered."""
    return text.encode("utf-8", "replace").decode()
