"""Routes of models that read sources: predictions, whole or bit by bit, and neighbours."""

import time
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from seqloom.data.examples import Example
from seqloom.server.answers.inputs import example_of, examples_of, within
from seqloom.server.answers.predictions import FoundPrediction, Wish, find, find_stepwise, prediction_json
from seqloom.server.answers.searching import prefix_of, search_of
from seqloom.server.problems import JsonResponse, RequestError, cannot, dumps
from seqloom.server.routes.described import ERRORS, PREDICTED, STREAMED, answer_schema
from seqloom.server.schemas import NeighbourRequest, PredictRequest
from seqloom.server.shelf import Opened
from seqloom.server.waiting import Event, Service, cost_of

router = APIRouter(prefix="/v1", responses=ERRORS)
ServiceOf = Annotated[Service, Depends(Service.of)]


@router.post("/predict", summary="The best outputs for inputs", responses={200: answer_schema("Predictions.", PREDICTED)})
async def predict(asked: PredictRequest, request: Request, service: ServiceOf) -> Response:
    """Predict one or many inputs. Results do not depend on what else is asked at the same time."""
    began = time.monotonic()
    opened = await service.opened(asked.model)
    examples, wish = understood(asked, opened, service)
    predictor = opened.predictor

    def shape(found: Sequence[FoundPrediction]) -> bytes:
        predictions = [prediction_json(one, attention=asked.attention, drawing=asked.drawing) for one in found]
        took = round(1000 * (time.monotonic() - began), 2)
        return dumps({"model": opened.name, "milliseconds": took, "predictions": predictions})

    body = await service.answered(
        request,
        examples,
        lambda inputs, watch: find(predictor, wish, inputs, watch),
        shape=shape,
        key=None if wish.is_alone else ("predict", id(opened), wish),
        cost=cost_of_wish(examples, wish),
    )
    return JsonResponse(body)


@router.post("/predict/stream", summary="One output as it is decoded", responses={200: STREAMED})
async def predict_stream(asked: PredictRequest, service: ServiceOf) -> StreamingResponse:
    """The most probable beginning after every step (`step`), then the whole answer (`prediction`) and `done`."""
    if len(asked.inputs) != 1:
        raise RequestError(422, "invalid", f"inputs: a stream is about one input, found {len(asked.inputs)}")
    opened = await service.opened(asked.model)
    [example], wish = understood(asked, opened, service)

    def events() -> Iterator[Event]:
        for one in find_stepwise(opened.predictor, wish, example):
            if isinstance(one, FoundPrediction):
                yield "prediction", prediction_json(one, attention=asked.attention, drawing=asked.drawing)
            else:
                yield "step", one

    return await service.streamed(events(), cost=cost_of_wish([example], wish))


@router.post("/neighbours", summary="Training examples whose encodings are closest")
async def neighbours(asked: NeighbourRequest, service: ServiceOf) -> Response:
    """The first question makes the index, from the data that the model was trained on, if that is still there."""
    opened = await service.opened(asked.model)
    predictor = opened.predictor
    example = example_of(asked.input, opened.description.recipe.data.sources, service.limits)
    count = within(asked.count, service.limits.count, "count")

    def steps() -> Iterator[Any]:
        yield from opened.neighbourhood.growing(predictor)
        yield {"model": opened.name, **opened.neighbourhood.nearest(predictor, example, count)}

    job = service.begun(steps(), cost=cost_of_wish([example], Wish(predictor.recipe.search)))
    event: Any = 0
    while isinstance(event, int):
        event = await service.next_event(job)
    job.gone = True
    if isinstance(event, Exception):
        raise event
    return JsonResponse(event)


def understood(asked: PredictRequest, opened: Opened, service: Service) -> tuple[list[Example], Wish]:
    """The inputs and the wish of a request, as far as they can be checked before anything is computed."""
    predictor = opened.predictor
    limits = service.limits
    if len(asked.inputs) > 1 and (asked.oracle is not None or asked.tree):
        raise RequestError(422, "invalid", "inputs: an oracle and a tree are about one input. Send the others by themselves")
    if asked.oracle is not None and "oracle" not in opened.description.body["can"]:
        raise cannot("An oracle says where attention looks, and this model has no attention")
    wish = Wish(
        section=search_of(predictor.recipe.search, asked, asked.nbest, limits),
        nbest=asked.nbest,
        prefix=prefix_of(asked.prefix, limits),
        oracle=asked.oracle,
        oracle_unit=asked.oracle_unit,
        tree=asked.tree,
    )
    return examples_of(asked.inputs, predictor.recipe.data.sources, limits), wish


def cost_of_wish(examples: Sequence[Example], wish: Wish) -> float:
    """A guess at how much work it is."""
    return cost_of([max(map(len, one.sources.values())) for one in examples], wish.section.rows)
