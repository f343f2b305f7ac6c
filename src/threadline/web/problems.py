"""Problems: how every error is told over HTTP, and those that only the web knows."""

from collections.abc import Iterable, Mapping
from datetime import timedelta

from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import Scope

from threadline.core.errors import (
    PROBLEM_TYPE,
    Invalid,
    Refused,
    ThreadlineError,
    problem_of,
    retry_header,
)


class MatchNeeded(Refused):
    """This is changed only by whoever says which revision they have seen."""

    status = 428


class ProofNeeded(Refused):
    """This needs a fresh proof of who you are: a login within the last ten minutes."""


class NotUtf8(Invalid):
    """The body is not UTF-8."""

    status = 400


class WrongCharset(Invalid):
    """The body must be UTF-8."""

    status = 415


class TooOften(Refused):
    """This was asked too often; it is possible again after a while."""

    status = 429

    def __init__(self, message: str = "", *, after: timedelta) -> None:
        """Say after what time it may be asked again."""
        super().__init__(message, hint="Wait for as long as Retry-After says")
        self.retry_after = after


def problem_response(
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


def allowed_methods(routes: Iterable[BaseRoute], scope: Scope) -> dict[str, str]:
    """Return the `Allow` header of a path: the methods of all its routes, not of the first one.

    Where `/people/join` also fits `/people/{key}`, the path with fewer parameters counts.
    """
    path = scope["path"].removeprefix(scope.get("root_path", ""))
    fitting = [one for one in routes if isinstance(one, Route) and one.path_regex.match(path)]
    fewest = min((len(one.param_convertors) for one in fitting), default=0)
    nearest = (one for one in fitting if len(one.param_convertors) == fewest)
    return {"Allow": ", ".join(sorted({name for one in nearest for name in one.methods or ()}))}
