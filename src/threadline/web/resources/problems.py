"""Problems: how the API describes its errors, and tells those of its framework."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from msgspec import to_builtins
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from threadline.core.errors import (
    PROBLEM_TYPE,
    Invalid,
    NotFound,
    PlatformError,
    Refused,
    ThreadlineError,
    fit,
)
from threadline.web.bodies import View
from threadline.web.problems import allowed_methods, problem_response
from threadline.web.resources.json_schemas import SCHEMAS

MALFORMED = "json_invalid"
"""The type of the error of a body that is not JSON, as FastAPI calls it."""
NOT_JSON = "not_json"
"""The type of the error of a body that says that it is something else."""
FIELDS_TOLD = 20
"""How many mistakes of one request are named."""


class FieldErrorView(View, frozen=True, kw_only=True):
    """What is wrong with one field of a request."""

    field: str
    """Its place, as `body.title`."""
    message: str


class Problem(View, frozen=True, omit_defaults=True, kw_only=True):
    """What went wrong, to which id, and what to do."""

    type: str = "about:blank"
    """Always `about:blank`."""
    title: str
    """The kind of error, as `NotFound`."""
    status: int
    """The HTTP status, once more."""
    detail: str
    """What happened, as a sentence."""
    id: str | None = None
    """What it happened to."""
    hint: str | None = None
    """What to do."""
    errors: list[FieldErrorView] | None = None
    """Which fields are wrong."""


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the problems that a route may answer with, for its documentation.

    They are named, and not made a field of each route: that would be a thousand of them.
    """
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {PROBLEM_TYPE: {"schema": {"$ref": f"{SCHEMAS}Problem"}}},
        }
        for status in statuses
    }


EVERYWHERE = problem_responses(400, 401, 403, 404, 405, 408, 413, 415, 422, 429, 500, 503)
"""The problems that any route may answer with."""


def tell_problems(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Make an application answer all its errors as problems; `routes` are those that it has."""

    async def tell_http(request: Request, error: Exception) -> Response:
        return _tell_http(request, cast("HTTPException", error), routes)

    app.add_exception_handler(ThreadlineError, _tell_ours)
    app.add_exception_handler(RequestValidationError, _tell_mistakes)
    app.add_exception_handler(HTTPException, tell_http)
    app.add_exception_handler(Exception, _tell_failure)


async def _tell_ours(_: Request, error: Exception) -> Response:
    return problem_response(cast("ThreadlineError", error))


async def _tell_mistakes(_: Request, error: Exception) -> Response:
    """Name the fields that are wrong. Their values are not repeated: one may be a secret."""
    found = cast("RequestValidationError", error).errors()[:FIELDS_TOLD]
    if found[0]["type"] == MALFORMED:
        return problem_response(Invalid("The body is not valid JSON"), 400)
    if found[0]["type"] == NOT_JSON:
        return problem_response(Invalid("The body must be application/json"), 415)
    mistakes = [
        FieldErrorView(field=fit(".".join(map(str, one["loc"]))), message=fit(str(one["msg"])))
        for one in found
    ]
    first = mistakes[0]
    wrong = Invalid(f"{first.field}: {first.message}")
    return problem_response(wrong, errors=to_builtins(mistakes))


def _tell_http(request: Request, error: HTTPException, routes: Sequence[BaseRoute]) -> Response:
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem_response(NotFound("There is nothing here", id=request.url.path[:100]))
    phrase = HTTPStatus(error.status_code).phrase
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = allowed_methods(routes, request.scope)
        return problem_response(Refused(phrase), error.status_code, headers=allowed)
    return problem_response(Invalid(phrase), error.status_code, headers=error.headers)


async def _tell_failure(_: Request, __: Exception) -> Response:
    """Say that something broke. What it was stands in the log, as it may hold secrets."""
    return problem_response(PlatformError("Something went wrong here"), 500)
