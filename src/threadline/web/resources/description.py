"""The description of the API, as OpenAPI tells it."""

from typing import Any

from fastapi import FastAPI

from threadline.web.resources.examples import example_of
from threadline.web.resources.problems import SCHEMAS, Problem

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


def extend_openapi(app: FastAPI) -> None:
    """Let the description know problems, how one shows who one is, and what a body looks like."""
    write = app.openapi

    def written() -> dict[str, Any]:
        if app.openapi_schema is None:
            _mend(write())
        return write()

    app.openapi = written  # type: ignore[method-assign]


def _mend(schema: dict[str, Any]) -> None:
    components = schema.setdefault("components", {})
    components["securitySchemes"] = _SCHEMES
    schema["security"] = [{name: []} for name in _SCHEMES]
    problem = Problem.model_json_schema(ref_template=f"{SCHEMAS}{{model}}")
    components.setdefault("schemas", {}).update(problem.pop("$defs"), Problem=problem)
    for operations in schema["paths"].values():
        for operation in operations.values():
            _show_body(schema, operation)


def _show_body(schema: dict[str, Any], operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is not None:
        content["example"] = example_of(schema, content["schema"])
