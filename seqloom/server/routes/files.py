"""The files of the page: its own, and the drawing code that `explain` puts into its pages."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header
from starlette.responses import Response

from seqloom.server.problems import RequestError
from seqloom.system.files import Found, found_at, read_regular
from seqloom.views.drawing.theme import style_sheet

router = APIRouter(include_in_schema=False)

PAGE = Path(__file__).parents[1] / "page"
THEME = "theme.css"
ASSETS = Path(__file__).parents[2] / "views" / "assets"
_LARGEST = 4 << 20
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
Known = Annotated[str | None, Header(alias="If-None-Match")]


@router.api_route("/", methods=["GET", "HEAD"])
async def index(known: Known = None) -> Response:
    """The page."""
    return _file(PAGE, "index.html", known)


@router.api_route("/page/{name:path}", methods=["GET", "HEAD"])
async def page_file(name: str, known: Known = None) -> Response:
    """A part of the page."""
    return _theme(known) if name == THEME else _file(PAGE, name, known)


@router.api_route("/assets/{name}", methods=["GET", "HEAD"])
async def asset(name: str, known: Known = None) -> Response:
    """A part that the page shares with `explain`."""
    return _file(ASSETS, name, known)


def _file(folder: Path, name: str, known: str | None) -> Response:
    path = folder / name
    kind = _TYPES.get(path.suffix)
    inside = "\0" not in name and ".." not in path.parts and path.is_relative_to(folder)
    if kind is None or not inside or found_at(path) is not Found.FILE:
        raise RequestError(404, "not-found", "There is no such file of the page")
    facts = path.stat()
    tag = f'"{facts.st_mtime_ns:x}-{facts.st_size:x}"'
    return _unless_known(lambda: read_regular(path, limit=_LARGEST, inside=folder), tag, known, kind)


def _theme(known: str | None) -> Response:
    """The colours that Python's drawings have."""
    content = style_sheet().encode()
    return _unless_known(lambda: content, f'"{zlib.crc32(content):x}"', known, _TYPES[".css"])


def _unless_known(content: Callable[[], bytes], tag: str, known: str | None, kind: str) -> Response:
    headers = {"ETag": tag, "Cache-Control": "no-cache"}
    if known == tag:
        return Response(status_code=304, headers=headers)
    return Response(content(), media_type=kind, headers=headers)
