"""Routes that ask what a model holds probable: the next symbol, a given target, a text; and what it writes by itself."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from seqloom.evaluation.next_symbols import after_prefix, after_text
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.tasks import Watch
from seqloom.recipe.sections import Beam
from seqloom.server.answers.inputs import bad_input, example_of, examples_of, readable, within
from seqloom.server.answers.language import drawn_pieces, readings
from seqloom.server.answers.searching import prefix_of, sampling_of, search_of
from seqloom.server.answers.verdicts import judged
from seqloom.server.problems import JsonResponse, RequestError, cannot, dumps
from seqloom.server.routes.described import ERRORS, SCORED, STEPPED, STREAMED, WRITTEN, answer_schema
from seqloom.server.schemas import CompleteRequest, SampleRequest, ScoreRequest, StepRequest
from seqloom.server.waiting import Event, Service, cost_of

router = APIRouter(prefix="/v1", responses=ERRORS)
ServiceOf = Annotated[Service, Depends(Service.of)]


@router.post("/step", summary="What may come next", responses={200: answer_schema("Distributions.", STEPPED)})
async def step(asked: StepRequest, request: Request, service: ServiceOf) -> Response:
    """The most probable next symbols after a beginning, or after every part of it."""
    opened = await service.opened(asked.model)
    limits = service.limits
    count = within(asked.count, limits.count, "count")
    prefix = prefix_of(asked.prefix, limits)
    if isinstance(opened.model, LanguageModel):
        model = opened.model
        if asked.input is not None or asked.oracle is not None or not isinstance(prefix, str):
            raise bad_input("A language model reads no input and has no attention: give a prefix, as a text")
        found: Iterator[Any] = after_text(model, prefix, count=count, every=asked.every)
    else:
        if asked.input is None:
            raise bad_input("input: this model reads a source. Give it")
        if asked.oracle is not None and "oracle" not in opened.description.body["can"]:
            raise cannot("An oracle says where attention looks, and this model has no attention")
        example = example_of(asked.input, opened.description.recipe.data.sources, limits)
        told = {"oracle": asked.oracle, "oracle_unit": asked.oracle_unit}
        found = after_prefix(opened.predictor, example, prefix=prefix, count=count, every=asked.every, **told)  # type: ignore[arg-type]

    def compute(_: Sequence[Any], watch: Watch) -> list[Any]:
        steps = []
        for one in found:
            steps.append(one.as_json())
            watch()
        return [steps]

    body = await service.answered(
        request,
        [None],
        compute,
        shape=lambda steps: dumps({"model": opened.name, "steps": steps[0]}),
        cost=cost_of([len(prefix)], 1),
    )
    return JsonResponse(body)


@router.post("/score", summary="How probable a given target is", responses={200: answer_schema("Scores.", SCORED)})
async def score(asked: ScoreRequest, request: Request, service: ServiceOf) -> Response:
    """`log p(y | x)` symbol by symbol, or of a text under a language model. search: says whose error it is."""
    opened = await service.opened(asked.model)
    if isinstance(opened.model, LanguageModel):
        return await _score_texts(asked, opened.model, request, service, opened.name)
    predictor, limits = opened.predictor, service.limits
    if asked.texts or not asked.inputs or len(asked.targets) != len(asked.inputs):
        raise bad_input("Give `inputs`, and as many `targets`; `texts` are for language models")
    examples = examples_of(asked.inputs, predictor.recipe.data.sources, limits)
    pairs = [
        replace(example, target=readable(target, limits, "targets"))
        for example, target in zip(examples, asked.targets, strict=True)
    ]
    section = search_of(predictor.recipe.search, asked, 1, limits) if asked.search else None
    lengths = [max(map(len, one.sources.values())) + len(one.target or "") for one in pairs]
    body = await service.answered(
        request,
        pairs,
        lambda inputs, watch: judged(predictor, inputs, section, watch),
        shape=lambda scores: dumps({"model": opened.name, "scores": scores}),
        key=("score", id(opened), section),
        cost=cost_of(lengths, 1 if section is None else section.rows),
    )
    return JsonResponse(body)


async def _score_texts(asked: ScoreRequest, model: LanguageModel, request: Request, service: Service, name: str) -> Response:
    limits = service.limits
    if asked.inputs or asked.targets or asked.search or not asked.texts:
        raise bad_input("A language model scores `texts`. Give those, and nothing else")
    if len(asked.texts) > limits.texts:
        raise RequestError(422, "too-long", f"texts: expected {limits.texts} at most, found {len(asked.texts)}")
    texts = [readable(text, limits, "texts") for text in asked.texts]
    body = await service.answered(
        request,
        [texts],
        lambda inputs, watch: [readings(model, one, drawing=asked.drawing) for one in inputs],
        shape=lambda found: dumps({"model": name, **found[0]}),
        cost=cost_of([len(text) for text in texts], 1),
    )
    return JsonResponse(body)


@router.post("/complete", summary="How a line may end", responses={200: answer_schema("Texts.", WRITTEN)})
async def complete(asked: CompleteRequest, request: Request, service: ServiceOf) -> Response:
    """The most probable ways in which a language model ends a line, best first."""
    opened = await service.opened(asked.model)
    model, limits = opened.language_model, service.limits
    prompt = readable(asked.prompt, limits, "prompt")
    width, length = within(asked.beam, limits.beam, "beam"), within(asked.length, limits.length, "length")
    section = Beam(width=width, length_power=0.0)

    def compute(_: Sequence[Any], watch: Watch) -> list[Any]:
        return [[one.as_json() for one in model.complete(prompt, search=section, length=length, watch=watch)]]

    body = await service.answered(
        request,
        [None],
        compute,
        shape=lambda found: dumps({"model": opened.name, "texts": found[0]}),
        cost=cost_of([len(prompt) + length], width),
    )
    return JsonResponse(body)


@router.post("/sample", summary="A text drawn at random, as it is written", responses={200: STREAMED})
async def sample(asked: SampleRequest, service: ServiceOf) -> StreamingResponse:
    """Pieces of text (`piece`), then the whole (`text`) and `done`. The same seed gives the same text."""
    opened = await service.opened(asked.model)
    limits = service.limits
    prompt = readable(asked.prompt, limits, "prompt")
    section = sampling_of(opened.model.recipe.search, asked, limits)
    if isinstance(opened.model, LanguageModel):
        if asked.input is not None:
            raise bad_input("A language model reads no input. Give a prompt")
        pieces = opened.model.stream(prompt=prompt, search=section, length=asked.length)
    else:
        if asked.input is None:
            raise bad_input("input: this model reads a source. Give it")
        example = example_of(asked.input, opened.description.recipe.data.sources, limits)
        pieces = drawn_pieces(opened.predictor, example, prompt, section, asked.length)

    def events() -> Iterator[Event]:
        text = ""
        for piece in pieces:
            text += piece
            yield "piece", {"text": piece}
        yield "text", {"text": text}

    return await service.streamed(events(), cost=cost_of([len(prompt) + asked.length], 1))
