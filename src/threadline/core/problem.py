"""Problems: how an error is told over HTTP (RFC 9457)."""

from threadline.core.errors import ThreadlineError

PROBLEM_TYPE = "application/problem+json"
"""The media type of such an answer."""


def problem_of(error: ThreadlineError, status: int | None = None) -> dict[str, object]:
    """Say in plain values what went wrong, under the error's own status or a nearer one."""
    return {
        "type": "about:blank",
        "title": type(error).__name__,
        "status": status or error.status,
        "detail": str(error),
    }
