"""Router: routes whose request bodies and responses are structs, read and written by msgspec."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast, get_origin, get_type_hints

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.datastructures import DefaultPlaceholder
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool

from threadline.core.errors import Invalid
from threadline.core.json_codec import decode, misfit_of
from threadline.web.bodies import Body, encode
from threadline.web.resources.problems import MALFORMED, NOT_JSON

T = TypeVar("T")

_REQUEST = "request_of_body"
"""The parameter by which FastAPI gives a route its request, where its function takes none."""
_NAMED = re.compile(r"Object (?:contains unknown|missing required) field `(?P<name>.*)`", re.DOTALL)
_VALUE = re.compile(r"(Invalid (?:enum )?value) .*", re.DOTALL)


class BodyTypes(msgspec.Struct, frozen=True, kw_only=True):
    """The types of one operation that are structs."""

    request: Any = None
    """The type of its body; None: it has none."""
    response: Any = None
    """The type of what it returns; None: FastAPI describes it."""
    status: int = 200


class Router(APIRouter):
    """Routes of one resource.

    A parameter whose type is a `Body` is read from the body of the request. A struct that a route
    returns, or names as its `response_model`, is what the description of the API shows.
    """

    def __init__(self, *, prefix: str = "", tags: list[str]) -> None:
        """Create a router for paths below a prefix."""
        super().__init__(prefix=prefix, tags=list(tags))
        self.body_types: dict[str, BodyTypes] = {}
        """The types of its operations, by their ids."""

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route."""
        hints = get_type_hints(endpoint, include_extras=True)
        model = options.get("response_model")
        if model is None or isinstance(model, DefaultPlaceholder):
            model = hints.get("return")
        body = next((name for name, hint in hints.items() if _is_body(hint)), None)
        is_shown = _is_struct(model)
        if is_shown:
            options["response_model"] = None
        self.body_types[endpoint.__name__] = BodyTypes(
            request=None if body is None else hints[body],
            response=model if is_shown else None,
            status=options.get("status_code") or 200,
        )
        if is_shown or body is not None:
            endpoint = _wrapped(endpoint, hints, body, options.get("status_code") or 200)
        super().add_api_route(path, endpoint, **options)


async def read_body(request: Request, kind: type[T]) -> T:
    """Return the body of a request as its type describes it.

    It is read after everything else about the request was found right, so no error in it is
    reported to a user who may not send it.
    """
    body = await request.body()
    if body and not _has_json(request):
        raise _wrong(NOT_JSON, "body", "The body must be application/json")
    if not body:
        raise _wrong("missing", "body", "Field required")
    try:
        return decode(body, kind, "body")
    except Invalid as error:
        if not is_json(body):
            raise _wrong(MALFORMED, "body", "The body is not valid JSON") from error
        if isinstance(error.__cause__, msgspec.MsgspecError):
            raise _wrong("misfit", *_place(error.__cause__)) from error
        raise


def is_json(body: bytes) -> bool:
    """Return whether Python can read a body, which it does for numbers that JSON does not have."""
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _place(error: BaseException) -> tuple[str, str]:
    """Return which field is wrong, and how, without its value: that may be a secret."""
    path, problem = misfit_of(error)
    # As `body.parts.0.text`; which value of a mapping it is about, msgspec does not know.
    field = "body" + path.replace("[...]", "").replace("[", ".").replace("]", "")
    if named := _NAMED.fullmatch(problem):
        is_unknown = "unknown" in problem[: named.start("name")]
        return f"{field}.{named['name']}", "Unknown field" if is_unknown else "Field required"
    return field, _VALUE.sub(r"\1", problem)


def _wrong(kind: str, field: str, message: str) -> RequestValidationError:
    return RequestValidationError([{"type": kind, "loc": (field,), "msg": message}])


def _has_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and "+json" in kind)


def _wrapped(
    endpoint: Callable[..., Any], hints: Mapping[str, Any], body: str | None, status: int
) -> Callable[..., Any]:
    """Return a function for FastAPI: it reads the body of the request and writes the response."""
    request = next((name for name, hint in hints.items() if hint is Request), _REQUEST)
    response = next(
        (name for name, hint in hints.items() if hint is Response and name != "return"), None
    )
    is_async = inspect.iscoroutinefunction(endpoint)

    @wraps(endpoint)
    async def serve(**values: Any) -> Response:
        if body is not None:
            asked = values[request] if request in hints else values.pop(request)
            values[body] = await read_body(cast("Request", asked), hints[body])
        if is_async:
            made = await endpoint(**values)
        else:
            made = await run_in_threadpool(endpoint, **values)
        if isinstance(made, Response) or made is None:
            return cast("Response", made)
        written = Response(encode(made), status, media_type="application/json")
        if response is not None:
            written.raw_headers.extend(values[response].raw_headers)
        return written

    signature = inspect.signature(endpoint)
    given = [one for name, one in signature.parameters.items() if name != body]
    if body is not None and request not in hints:
        keyword = inspect.Parameter.KEYWORD_ONLY
        given.append(inspect.Parameter(_REQUEST, keyword, annotation=Request))
    is_returned = hints.get("return") is type(None)
    vars(serve)["__signature__"] = signature.replace(
        parameters=given, return_annotation=None if is_returned else Response
    )
    return serve


def _is_body(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, Body)


def _is_struct(hint: object) -> bool:
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)
