"""LibreTranslate's shape, so that its clients work as they are: parameters as JSON, as a form or in the query.

Models with language codes are offered: those of the recipe, or of --languages. A text is translated line by line, because that
is what models of pairs have learnt.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from seqloom.server.answers.detection import Profile, codes_of, profile_of, ranked
from seqloom.server.answers.inputs import examples_of, readable, within
from seqloom.server.answers.predictions import FoundPrediction, Wish, find
from seqloom.server.answers.searching import search_of
from seqloom.server.guarding import bearer, require_token
from seqloom.server.problems import JsonResponse, RequestError, as_problem
from seqloom.server.schemas import SearchOptions
from seqloom.server.shelf import Opened
from seqloom.server.waiting import Service, cost_of

router = APIRouter()
ServiceOf = Annotated[Service, Depends(Service.of)]
_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {"description": what, "content": {"application/json": {"schema": {"type": "object"}, "example": {"error": "..."}}}}
    for status, what in {
        400: "A parameter is missing or wrong.",
        403: "The token is wrong.",
        408: "The body took too long to come.",
        413: "The body is too large.",
        429: "Slow down; see Retry-After.",
        500: "A mistake of the server.",
        503: "The model could not be opened, or the server is being stopped.",
        504: "The time limit.",
    }.items()
}
_FORM = {"schema": {"type": "object"}}


def _body(example: dict[str, Any]) -> dict[str, Any]:
    """How the parameters are described."""
    content = {"application/json": {**_FORM, "example": example}, "application/x-www-form-urlencoded": _FORM}
    return {"requestBody": {"content": content}}


@dataclass(frozen=True)
class LibreParameters:
    """The parameters of a request, wherever they stand."""

    values: Mapping[str, Any]

    @classmethod
    async def of(cls, request: Request) -> "LibreParameters":
        """Those of the query, then those of the body."""
        body = await request.body()
        kind = request.headers.get("content-type", "")
        return cls({**dict(request.query_params), **_parsed(body, kind)})

    def text(self, name: str) -> str:
        """A parameter that has to be there, as a text."""
        value = self.values.get(name)
        if not isinstance(value, str) or not value:
            raise _wrong(f"Invalid request: missing {name} parameter")
        return _sound(value)

    def texts(self) -> tuple[list[str], bool]:
        """What is to be translated, and whether it is a list."""
        value = self.values.get("q")
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return [_sound(one) for one in value], True
        if not isinstance(value, str):
            raise _wrong("Invalid request: missing q parameter")
        return [_sound(value)], False

    def number(self, name: str, default: int) -> int:
        """A parameter that is a whole number."""
        value = self.values.get(name, default)
        try:
            if isinstance(value, bool):
                raise ValueError
            return int(value)
        except (TypeError, ValueError, OverflowError):
            raise _wrong(f"Invalid request: {name} is not a number") from None


def _parsed(body: bytes, kind: str) -> dict[str, Any]:
    try:
        if kind.startswith("multipart/form-data"):
            whole = message_from_bytes(b"Content-Type: " + kind.encode("latin-1") + b"\r\n\r\n" + body, policy=HTTP)
            parts = {part.get_param("name", header="content-disposition"): part for part in whole.iter_parts()}
            return {str(name): part.get_payload(decode=True).decode() for name, part in parts.items()}  # type: ignore[union-attr]
        if kind.startswith("application/json"):
            found = json.loads(body or b"{}")
            if not isinstance(found, dict):
                raise ValueError
            return found
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=100))
    except (ValueError, RecursionError, AttributeError, LookupError, TypeError):
        raise _wrong("Invalid request: the body could not be read") from None


def _sound(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _wrong("Invalid request: q has half a character") from None
    return text


def _wrong(message: str) -> RequestError:
    return RequestError(400, "bad-request", message)


async def _allowed(request: Request, service: Service) -> LibreParameters:
    """The parameters of a request that has the token, as `api_key` or in a header."""
    parameters = await LibreParameters.of(request)
    key = parameters.values.get("api_key")
    given = key if isinstance(key, str) and key else bearer(request.headers.get("authorization", ""))
    require_token(service.settings.token, given)
    return parameters


@router.get("/languages", summary="LibreTranslate: the languages", responses=_ANSWERS)
async def languages(service: ServiceOf) -> Response:
    """Each source language with the languages that it can be translated into."""
    pairs = _pairs(service)
    codes = codes_of(list(pairs))
    return JsonResponse(
        [
            {"code": code, "name": language_name(code), "targets": [target for source, target in pairs if source == code]}
            for code in codes
        ]
    )


@router.post(
    "/detect",
    summary="LibreTranslate: which language a text is in",
    responses=_ANSWERS,
    openapi_extra=_body({"q": "Guten Tag"}),
)
async def detect(request: Request, service: ServiceOf) -> Response:
    """The languages that are served, the most probable first."""
    try:
        parameters = await _allowed(request, service)
        texts, _ = parameters.texts()
        found = await _detected(readable("\n".join(texts), service.limits, "q"), service)
    except Exception as error:
        return as_problem(error).libre_response()
    return JsonResponse(found)


@router.post(
    "/translate",
    summary="LibreTranslate: translate",
    responses=_ANSWERS,
    openapi_extra=_body({"q": "Guten Tag", "source": "de", "target": "en"}),
)
async def translate(request: Request, service: ServiceOf) -> Response:
    """`q` is a text or a list; `source` may be `auto`; `alternatives` is how many further translations are wanted."""
    try:
        parameters = await _allowed(request, service)
        return JsonResponse(await _translated(parameters, request, service))
    except Exception as error:
        return as_problem(error).libre_response()


async def _translated(parameters: LibreParameters, request: Request, service: Service) -> dict[str, Any]:
    texts, several = parameters.texts()
    source, target = parameters.text("source"), parameters.text("target")
    if parameters.values.get("format", "text") not in ("text", ""):
        raise _wrong("Invalid request: format html is not supported here. Send text")
    others = within(max(0, parameters.number("alternatives", 0)), service.limits.nbest - 1, "alternatives")
    within(len(texts), service.limits.texts, "q")
    found = await _detected("\n".join(texts)[:_LOOKED_AT], service, into=target) if source == "auto" else None
    name = _model_for(found[0]["language"] if found else source, target, service)
    translations = await _lines(texts, await service.opened(name), others, request, service)
    answers = [_joined(one, others) for one in translations]
    body: dict[str, Any] = {"translatedText": [one[0] for one in answers] if several else answers[0][0]}
    if others:
        body["alternatives"] = [one[1:] for one in answers] if several else answers[0][1:]
    if found:
        body["detectedLanguage"] = [found[0]] * len(texts) if several else found[0]
    return body


_LOOKED_AT = 2000


async def _lines(
    texts: Sequence[str], opened: Opened, others: int, request: Request, service: Service
) -> list[list[list[str]]]:
    """Of each text, of each line, its translations, best first."""
    limits, predictor = service.limits, opened.predictor
    lines = [readable(text, limits, "q").split("\n") for text in texts]
    flat = [line for one in lines for line in one]
    examples = examples_of(flat, predictor.recipe.data.sources, limits)
    nbest = 1 + others
    wish = Wish(search_of(predictor.recipe.search, SearchOptions(), nbest, limits), nbest)

    def shape(found: Sequence[FoundPrediction]) -> list[list[str]]:
        return [[one.text for one in each.prediction.candidates] for each in found]

    key, cost = ("predict", id(opened), wish), cost_of([len(line) for line in flat], wish.section.rows)
    done = iter(
        await service.answered(
            request, examples, lambda inputs, watch: find(predictor, wish, inputs, watch), shape=shape, key=key, cost=cost
        )
    )
    return [[next(done) for _ in one] for one in lines]


def _joined(lines: Sequence[Sequence[str]], others: int) -> list[str]:
    """Translations of a text from those of its lines: the best of all, then the next best of all."""
    most = max((len(one) for one in lines), default=1)
    return ["\n".join(one[min(rank, len(one) - 1)] for one in lines) for rank in range(min(1 + others, most))]


def _pairs(service: Service) -> dict[tuple[str, str], str]:
    """The model of each pair of languages; the first, if several have the same."""
    found: dict[tuple[str, str], str] = {}
    for one in service.shelf.descriptions:
        if one.languages is not None and one.body["kind"] == "pairs" and len(one.body["sources"]) == 1:
            found.setdefault(one.languages, one.name)
    return found


def _model_for(source: str, target: str, service: Service) -> str:
    pairs = _pairs(service)
    if source not in codes_of(list(pairs)):
        raise _wrong(f"{source} is not supported")
    if (source, target) not in pairs:
        raise _wrong(f"{source} cannot be translated into {target} here")
    return pairs[source, target]


async def _detected(text: str, service: Service, into: str | None = None) -> list[dict[str, Any]]:
    """Languages that models read, most probable first. into: only those that can be translated into it."""
    pairs = {pair: name for pair, name in _pairs(service).items() if into in (None, pair[1])}
    if not pairs:
        raise _wrong("No model has languages here. Start the server with --languages FROM:TO")
    profiles: dict[str, Profile] = {}
    for (source, _), name in pairs.items():
        if source not in profiles:
            profiles[source] = await _profile(await service.opened(name))
    return [{"language": code, "confidence": round(percent, 1)} for code, percent in ranked(text, profiles)]


def language_name(code: str) -> str:
    """The English name of a language, if a library knows it; else its code."""
    try:
        from babel import Locale

        return Locale.parse(code, sep="-").english_name or code
    except (ImportError, ValueError, LookupError, TypeError):
        return code


async def _profile(opened: Opened) -> Profile:
    """The profile of what a model reads, made when it is first wanted."""
    if opened.profile is None:
        opened.profile = await asyncio.to_thread(_source_profile, opened)
    return opened.profile


def _source_profile(opened: Opened) -> Profile:
    predictor = opened.predictor
    [name] = predictor.recipe.data.sources
    return profile_of(predictor.corpus, name, predictor.vocabularies[name])
