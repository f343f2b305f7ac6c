"""The description of the API, as OpenAPI tells it."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, FastAPI

from threadline.web.resources.examples import example_of
from threadline.web.resources.json_schemas import request_schemas, response_schemas
from threadline.web.resources.problems import Problem
from threadline.web.resources.router import Router

ABOUT = """Every conversation over one interface.

Log in with a cookie, or send `Authorization: Bearer tl_…` with a token. Errors are told as
`application/problem+json`. Lists are read page by page: give what a page calls `next` as `after`.
What can be edited has an `ETag`; send it back as `If-Match`. Whatever would be done twice if it
were sent twice takes an `Idempotency-Key`. Moments are RFC 3339, in UTC.
"""
_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer", "description": "A token, as `tl_…`."},
    "login": {"type": "apiKey", "in": "cookie", "name": "threadline"},
}


def extend_openapi(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Add to the description: structs, problems, credentials, and an example of each body."""
    write = app.openapi

    def written() -> dict[str, Any]:
        if app.openapi_schema is None:
            _extend(write(), routers)
        return write()

    app.openapi = written  # type: ignore[method-assign]


def _extend(schema: dict[str, Any], routers: Sequence[APIRouter]) -> None:
    components = schema.setdefault("components", {})
    components["securitySchemes"] = _SCHEMES
    schema["security"] = [{name: []} for name in _SCHEMES]
    _add_structs(schema, routers)
    for operations in schema["paths"].values():
        for operation in operations.values():
            _show_body(schema, operation)


def _add_structs(schema: dict[str, Any], routers: Sequence[APIRouter]) -> None:
    operations = {
        one["operationId"]: one for path in schema["paths"].values() for one in path.values()
    }
    known = [
        (operations[id], kinds)
        for router in routers
        if isinstance(router, Router)
        for id, kinds in router.body_types.items()
    ]
    takes = [(one, kinds) for one, kinds in known if kinds.request is not None]
    shows = [(one, kinds) for one, kinds in known if kinds.response is not None]
    bodies, request_parts = request_schemas([kinds.request for _, kinds in takes])
    answers, response_parts = response_schemas([Problem, *(kinds.response for _, kinds in shows)])
    for (one, _), body in zip(takes, bodies, strict=True):
        content = {"application/json": {"schema": body}}
        one["requestBody"] = {"required": True, "content": content}
    for (one, kinds), answer in zip(shows, answers[1:], strict=True):
        one["responses"][str(kinds.status)]["content"] = {"application/json": {"schema": answer}}
    parts = schema["components"].setdefault("schemas", {})
    parts.update({**request_parts, **response_parts})
    schema["components"]["schemas"] = dict(sorted(parts.items()))


def _show_body(schema: dict[str, Any], operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is not None:
        content["example"] = example_of(schema, content["schema"])
