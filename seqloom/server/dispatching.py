"""The short way to routes that take JSON: by their path, with nothing of the framework between a request and its route.

FastAPI describes these routes, and could serve them. But its search for a route, its stacks of contexts and its dependencies
take 0.3 ms of a request, as much as a small model takes for a quarter of its answer.
"""

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, get_type_hints

from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from seqloom.server.problems import gone, invalid, no_object
from seqloom.server.waiting import Service


@dataclass(frozen=True)
class _Target:
    """A route, and what it is called with: the body as `schema`, and the request itself if it wants that."""

    route: APIRoute
    endpoint: Callable[..., Awaitable[Response]]
    schema: type[BaseModel]
    wants_request: bool

    @classmethod
    def of(cls, route: APIRoute) -> "_Target":
        hints = get_type_hints(route.endpoint)
        return cls(route, route.endpoint, hints["asked"], "request" in hints)


class Dispatcher:
    """An application before whose own routing some of its routes are found.

    They are functions of `asked`, the body, of `service` and perhaps of `request`, and are asked by POST.
    """

    def __init__(self, app: ASGIApp, service: Service, routes: Iterable[BaseRoute]) -> None:
        self._app, self._service = app, service
        self._targets = {route.path: _Target.of(route) for route in routes if isinstance(route, APIRoute)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or leave it to the application."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        target = self._targets.get(scope["path"]) if is_post else None
        if target is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = target.route
        request = Request(scope, receive)
        asked = await _read(request, target.schema)
        further: dict[str, Any] = {"request": request} if target.wants_request else {}
        response = await target.endpoint(asked=asked, service=self._service, **further)
        await response(scope, receive, send)


async def _read(request: Request, schema: type[BaseModel]) -> BaseModel:
    """The body of a request."""
    try:
        body = json.loads(await request.body())
    except ClientDisconnect:
        raise gone() from None
    except (ValueError, RecursionError):
        raise no_object() from None
    if not isinstance(body, dict):
        raise no_object()
    try:
        return schema.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise invalid(first["loc"], first["msg"]) from None
