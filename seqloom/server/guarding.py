"""The door of the server: who may ask, how much may be sent and how slowly, and the headers of every answer.

It stands before everything else, so that what is refused costs next to nothing. What is logged of a request is its method,
its route and its status, never what it holds.
"""

import asyncio
import logging
import secrets
import time
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from seqloom.server.engine import Engine
from seqloom.server.measuring import Meters
from seqloom.server.problems import GONE, RequestError, as_problem, busy
from seqloom.server.settings import Settings, is_address, is_loopback

log = logging.getLogger("seqloom.server")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_UNKEPT = ((b"cache-control", b"no-store"),)
LIBRE = ("/translate", "/detect", "/languages")
"""Paths of LibreTranslate's shape: their errors have its form, and their token may stand in the body."""
_NAMES = 64
"""So many names by which it was addressed are remembered with whether they are its own."""
_OPEN = ("/", "/health", "/ready", *LIBRE)
_OPEN_FOLDERS = ("/page/", "/assets/")


class Guard:
    """The application behind a door."""

    def __init__(self, app: ASGIApp, settings: Settings, engine: Engine, meters: Meters) -> None:
        self._app, self._settings, self._engine, self._meters = app, settings, engine, meters
        self._is_own = lru_cache(_NAMES)(self._answers_to)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, answer = time.monotonic(), _Answer(send)
        try:
            self._check(scope)
            body = _Body(receive, self._settings.limits.body_bytes, self._settings.limits.body_seconds)
            await self._app(scope, body, answer)
        except Exception as error:
            if not answer.begun:
                await self._refuse(as_problem(error), scope, receive, answer)
        finally:
            self._note(scope, answer.status, time.monotonic() - began)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = _host(headers.get("host", ""))
        if not self._is_own(host):
            raise RequestError(403, "foreign-host", "This server does not answer to this name. Start it with --allow-host NAME")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
            raise RequestError(403, "foreign-origin", "The request comes from a page of another site")
        path = scope["path"]
        if path not in _OPEN and not path.startswith(_OPEN_FOLDERS):
            require_token(self._settings.token, bearer(headers.get("authorization", "")))
        if scope["method"] == "POST":
            self._check_body(path, headers)

    def _check_body(self, path: str, headers: Headers) -> None:
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._settings.limits.body_bytes:
            raise _too_large(self._settings.limits.body_bytes)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if path not in LIBRE and kind != "application/json":
            raise RequestError(415, "wrong-content-type", "Expected a body with Content-Type: application/json")
        if self._engine.is_full:
            self._meters.refused.inc()
            raise busy(self._engine.seconds_ahead)

    def _answers_to(self, host: str) -> bool:
        settings = self._settings
        if is_loopback(host) or host in (one.lower() for one in (*settings.hosts, settings.host)):
            return True
        return is_address(host) and not is_loopback(settings.host)

    async def _refuse(self, problem: RequestError, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        response = problem.libre_response() if scope["path"] in LIBRE else problem.response()
        await response(scope, receive, answer)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self._meters.requests.labels(route, str(status)).inc()
        self._meters.seconds.labels(route).observe(seconds)
        log.info("%s %s %d %.0f ms", scope["method"], route, status, 1000 * seconds)


class _Answer:
    """Sends an answer with the headers that all have."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = GONE

    @property
    def begun(self) -> bool:
        return self.status != GONE

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = message["headers"]
            kept = () if any(name == b"cache-control" for name, _ in own) else _UNKEPT
            message["headers"] = [*own, *_RAW_HEADERS, *kept]
        await self._send(message)


class _Body:
    """Receives a body that is neither too large nor too slow in coming."""

    def __init__(self, receive: Receive, most: int, seconds: float) -> None:
        self._receive, self._room, self._most = receive, most, most
        self._until = time.monotonic() + seconds
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            close = {"Connection": "close"}
            raise RequestError(408, "slow-body", "The body took too long to come. Send it at once", close) from None
        self._room -= len(message.get("body", b""))
        if self._room < 0:
            raise _too_large(self._most)
        self._whole = not message.get("more_body", False)
        return message


def _too_large(most: int) -> RequestError:
    message = f"Expected a body of {most:,} bytes at most. Send less at once"
    return RequestError(413, "body-too-large", message, {"Connection": "close"})


def _host(value: str) -> str:
    """The name or address in a Host header, without its port."""
    if value.startswith("["):
        return value[1:].partition("]")[0].lower()
    return value.rpartition(":")[0].lower() if ":" in value else value.lower()


def bearer(authorization: str) -> str:
    """The token of an Authorization header; empty if it has none."""
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def require_token(wanted: str | None, given: str) -> None:
    """Refuse who does not have the token, if the server has one."""
    if wanted is not None and not secrets.compare_digest(given.encode(), wanted.encode()):
        headers = {"WWW-Authenticate": "Bearer"}
        raise RequestError(401, "token-needed", "This server wants a token. Send it as Authorization: Bearer TOKEN", headers)
