"""Problems: how every error is told over HTTP, and those that only the web knows."""

from collections.abc import Mapping
from datetime import timedelta

from starlette.responses import JSONResponse, Response

from threadline.core.errors import Refused, ThreadlineError, retry_header
from threadline.core.problem import PROBLEM_TYPE, problem_of


class MatchNeeded(Refused):
    """This is changed only by whoever says which revision they have seen."""

    status = 428


class TooOften(Refused):
    """This was asked too often; it is possible again after a while."""

    status = 429

    def __init__(self, message: str = "", *, after: timedelta) -> None:
        """Say after what time it may be asked again."""
        super().__init__(message, hint="Wait for as long as Retry-After says")
        self.retry_after = after


def tell(
    error: ThreadlineError,
    status: int | None = None,
    *,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> Response:
    """Make the answer that tells an error, with the headers that it wants, and more about it."""
    return JSONResponse(
        {**problem_of(error, status), **more},
        status_code=status or error.status,
        headers={
            **retry_header(error.retry_after),
            **getattr(error, "headers", {}),
            **(headers or {}),
        },
        media_type=PROBLEM_TYPE,
    )
