"""SPA: the web app as it was built, which a browser loads once and then only asks the API."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from threadline.web.headers import POLICY

BUILT = Path(__file__).parent / "built"
"""Where the build of `ui/` leaves the app; a checkout that was never built has none."""

PLACES = (
    "/",
    "/c/{id}",
    "/welcome",
    "/gallery",
    "/jobs",
    "/jobs/{id}",
    "/people",
    "/platforms",
    "/projects",
    "/settings",
    "/settings/{rest:path}",
    "/shares",
    "/spend",
)
"""What the app itself makes a place of; anything else leads nowhere."""

_DRAWING = (
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; "
    "sandbox allow-scripts"
)
"""A diagram is drawn with styles of its own, in a frame that can ask for nothing."""


class Entry(Struct, frozen=True, kw_only=True):
    """What a page of the server's own loads of the build, by addresses that tell its content."""

    script: str
    styles: tuple[str, ...] = ()


class SpaFiles:
    """The pages and files of the app."""

    def __init__(self, built: Path = BUILT) -> None:
        """Show what was built into a folder."""
        self._built = built

    @property
    def is_there(self) -> bool:
        """Tell whether the app was built at all."""
        return (self._built / "index.html").is_file()

    def entry(self, source: str) -> Entry | None:
        """Find what was built from a source; nothing if that was never built."""
        try:
            listed = json.loads((self._built / "manifest.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        made = listed.get(source)
        if made is None:
            return None
        styles = tuple(f"/{name}" for name in made.get("css", ()))
        return Entry(script=f"/{made['file']}", styles=styles)

    def routes(self) -> Sequence[BaseRoute]:
        """Answer what is found where; nothing if there is no app."""
        if not self.is_there:
            return ()
        return (
            *(Route(path, self.show, methods=["GET"]) for path in PLACES),
            Route("/diagram.html", self.show_diagram, methods=["GET"]),
            Route("/favicon.svg", self.show_sign, methods=["GET"]),
            Mount("/assets", app=Assets(self._built / "assets")),
        )

    async def show(self, _: Request) -> Response:
        """Show the app, to anybody: what is in it is only told to those who are logged in."""
        policy = f"{POLICY}; frame-src 'self'"
        return self._file("index.html", {"Content-Security-Policy": policy})

    async def show_diagram(self, _: Request) -> Response:
        """Show the frame in which diagrams are drawn."""
        allowed = {"Content-Security-Policy": _DRAWING, "X-Frame-Options": "SAMEORIGIN"}
        return self._file("diagram.html", allowed)

    async def show_sign(self, _: Request) -> Response:
        """Show the sign of the app."""
        return self._file("favicon.svg", {})

    def _file(self, name: str, headers: dict[str, str]) -> Response:
        # It names the files of one build: a browser has to ask whether there is a newer one.
        return FileResponse(self._built / name, headers={"Cache-Control": "no-cache", **headers})


class Assets(StaticFiles):
    """Files whose names tell their content: whoever has one never asks again."""

    def __init__(self, folder: Path) -> None:
        """Show the files of a folder."""
        super().__init__(directory=folder)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer a file, or its compressed copy if there is one and the browser takes it."""
        if not _NAME.fullmatch(path):
            raise HTTPException(404)  # the system would not take every name, and break on some
        is_small = _takes_gzip(scope) and self.lookup_path(f"{path}.gz")[1] is not None
        response = await super().get_response(f"{path}.gz" if is_small else path, scope)
        response.headers["Vary"] = "Accept-Encoding"
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        # The frame of a diagram has no origin, and loads its script nevertheless.
        response.headers["Access-Control-Allow-Origin"] = "*"
        if is_small:
            response.headers["Content-Encoding"] = "gzip"
            response.headers["Content-Type"] = _TYPES.get(Path(path).suffix, "text/plain")
        return response


_NAME = re.compile(r"[\w.-]{1,200}", re.ASCII)
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}


def _takes_gzip(scope: Scope) -> bool:
    return b"gzip" in dict(scope["headers"]).get(b"accept-encoding", b"")
