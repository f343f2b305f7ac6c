"""The page of the HTTP API, which loads a viewer built with the web app, and its description."""

import asyncio
import json
from html import escape

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response

from threadline.web.spa import Entry, SpaFiles

SOURCE = "src/api_docs/main.ts"
"""The script of the page, in `ui/`."""

_DESCRIPTION = '<a href="/api/openapi.json">The description of the API</a> is OpenAPI.'


def add_docs(app: FastAPI, screens: SpaFiles | None = None) -> None:
    """Add the description of an application, and the page on which it is read and tried out."""
    described: list[bytes] = []  # encoded once, and shared by all responses

    @app.get("/openapi.json", include_in_schema=False)
    async def read_description() -> Response:
        if not described:
            # On a thread, because it takes long enough to delay other requests.
            described.append(await asyncio.to_thread(_encode_description, app))
        return Response(described[0], media_type="application/json")

    @app.get("/docs", include_in_schema=False)
    async def read_docs() -> Response:
        # Read each time: a newer build may have replaced the files of the last one.
        entry = await asyncio.to_thread(screens.entry, SOURCE) if screens else None
        return HTMLResponse(render_page(app.title, entry))


def _encode_description(app: FastAPI) -> bytes:
    return json.dumps(app.openapi(), ensure_ascii=False).encode()


def render_page(title: str, entry: Entry | None) -> str:
    """Return the page; without a build of the web app it only links to the description."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}: the HTTP API</title>
{_loaded(entry) if entry else ""}</head>
<body>
{_VIEWER if entry else _NO_VIEWER}
</body>
</html>
"""


_VIEWER = f"""<header><p role="status"></p></header>
<div id="viewer"><noscript><p>The viewer needs JavaScript. {_DESCRIPTION}</p></noscript></div>"""
_NO_VIEWER = f"""<main><h1>The HTTP API</h1>
<p>The viewer is part of the web app, which was not built. {_DESCRIPTION}</p></main>"""


def _loaded(entry: Entry) -> str:
    styles = "".join(f'<link rel="stylesheet" href="{escape(one)}">\n' for one in entry.styles)
    return (
        f'<link rel="icon" href="/favicon.svg" type="image/svg+xml">\n{styles}'
        f'<script type="module" src="{escape(entry.script)}"></script>\n'
    )
