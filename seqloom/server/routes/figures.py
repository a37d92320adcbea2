"""The figures of `explain`, as files to download."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from seqloom.data.examples import Example
from seqloom.prediction.tasks import Watch
from seqloom.server.answers.figures import figure_file
from seqloom.server.problems import RequestError, cannot
from seqloom.server.routes.described import ERRORS
from seqloom.server.routes.predicting import cost_of_wish, understood
from seqloom.server.schemas import FigureRequest
from seqloom.server.waiting import Service

router = APIRouter(prefix="/v1", responses=ERRORS)
_TYPES = {"svg": "image/svg+xml", "png": "image/png", "html": "text/html; charset=utf-8", "json": "application/json"}
_FILE: dict[str, Any] = {"description": "The file.", "content": {kind.partition(";")[0]: {} for kind in _TYPES.values()}}


@router.post("/figure", summary="A figure of `explain`, as a file", responses={200: _FILE}, response_class=Response)
async def figure(asked: FigureRequest, request: Request, service: Annotated[Service, Depends(Service.of)]) -> Response:
    """Where the model looked (`map`), the tree of its search (`tree`), or how each symbol comes about (`steps`)."""
    if len(asked.inputs) != 1:
        raise RequestError(422, "invalid", f"inputs: a figure is about one input, found {len(asked.inputs)}")
    opened = await service.opened(asked.model)
    [example], wish = understood(asked, opened, service)
    if asked.figure == "steps" and "attention" not in opened.description.body["can"]:
        raise cannot("Steps show what attention does, and this model has no attention")

    def compute(inputs: Sequence[Example], _: Watch) -> list[bytes]:
        return [figure_file(opened.predictor, wish, one, asked.figure, asked.form) for one in inputs]

    content = await service.answered(
        request, [example], compute, shape=lambda found: found[0], cost=cost_of_wish([example], wish)
    )
    name = f'attachment; filename="{asked.figure}.{asked.form}"'
    return Response(content, media_type=_TYPES[asked.form], headers={"Content-Disposition": name})
