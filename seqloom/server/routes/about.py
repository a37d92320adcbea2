"""Routes about the server itself: its models, its health, its limits, its counters."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from seqloom.server.problems import JsonResponse
from seqloom.server.routes.described import ERRORS, MODELS, answer_schema
from seqloom.server.waiting import Service

router = APIRouter()
ServiceOf = Annotated[Service, Depends(Service.of)]
_REFUSED: dict[int | str, dict[str, Any]] = {status: ERRORS[status] for status in (401, 403)}


@router.get(
    "/v1/models", summary="The models and what they can do", responses={200: answer_schema("Models.", MODELS), **_REFUSED}
)
async def models(service: ServiceOf) -> Response:
    """All models, the first of which is meant if a request names none. Nothing is loaded for it."""
    shelf = service.shelf
    return JsonResponse({"models": [one.as_json(loaded=shelf.is_loaded(one.name)) for one in shelf.descriptions]})


@router.get("/health", summary="Whether the server lives", responses={403: ERRORS[403]})
async def health() -> Response:
    """Answers as long as there is a server."""
    return JsonResponse({"status": "ok"})


@router.get(
    "/ready", summary="Whether the first model is loaded", responses={403: ERRORS[403], 503: {"description": "Not yet."}}
)
async def ready(service: ServiceOf) -> Response:
    """Ready when the first model is in memory. Others are loaded when they are first asked."""
    loaded = service.shelf.is_loaded(service.shelf.names[0])
    return JsonResponse({"status": "ready" if loaded else "loading"}, 200 if loaded else 503)


@router.get("/limits", summary="How much the server takes", responses=_REFUSED)
async def limits(service: ServiceOf) -> Response:
    """Sizes, lengths, and times in seconds."""
    return JsonResponse(service.limits.as_json())


@router.get("/metrics", summary="Counters for Prometheus", responses=_REFUSED)
async def metrics(service: ServiceOf) -> Response:
    """In the text form that Prometheus reads."""
    return Response(service.meters.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
