"""What can go wrong with a request, as JSON with a code and a sentence. No answer shows a traceback or a path of the server."""

import json
import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request, Response
from starlette.exceptions import HTTPException

from seqloom.errors import DataError, MissingExtraError, RunError, SeqloomError, UsageError

log = logging.getLogger("seqloom.server")


GONE = 499
"""The status of a request whose client did not wait; nobody sees it but the counters."""
LATE = 504


class RequestError(HTTPException):
    """A request that cannot be answered. code: a stable word; message: a sentence for people.

    The framework lets its own exceptions pass, also out of the reading of a body, so that this is one of them.
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.status, self.code, self.message = status, code, message

    def response(self) -> Response:
        """The answer."""
        body = {"error": {"code": self.code, "message": self.message}}
        return JsonResponse(body, self.status, headers=dict(self.headers or {}))

    def libre_response(self) -> Response:
        """The answer in LibreTranslate's form."""
        status = {401: 403, 422: 400}.get(self.status, self.status)
        return JsonResponse({"error": self.message}, status, headers=dict(self.headers or {}))


def busy(seconds: float) -> RequestError:
    """Too much is waiting already; try again after so many seconds."""
    wait = str(max(1, math.ceil(seconds)))
    return RequestError(
        429, "busy", f"More requests are waiting than can be answered in time. Try again in {wait} s", {"Retry-After": wait}
    )


def cannot(message: str) -> RequestError:
    """The model does not do what is asked of it."""
    return RequestError(422, "cannot", message)


def no_object() -> RequestError:
    """The body is not what every route reads."""
    return RequestError(400, "bad-request", "Expected a JSON object as the body. See /openapi.json")


def invalid(place: Sequence[int | str], message: str) -> RequestError:
    """A field of the body is not as its schema says. place: where it stands."""
    return RequestError(422, "invalid", f"{'.'.join(map(str, place)) or 'body'}: {message}")


def gone() -> RequestError:
    """The client does not wait any more."""
    return RequestError(GONE, "gone", "The client has gone")


def late(seconds: float) -> RequestError:
    """The time is over."""
    return RequestError(
        LATE, "time-limit", f"The answer was not there within {seconds:g} s. Ask for less at once, or for a narrower beam"
    )


def as_problem(error: Exception) -> RequestError:
    """What an exception means to whoever asked."""
    match error:
        case RequestError():
            return error
        case MissingExtraError():
            log.error("a library is missing: %s", error)
            return RequestError(503, "loading-failed", "A library that this model needs is not installed on the server")
        case UsageError() | DataError():
            return RequestError(422, "bad-input", str(error))
        case RunError():
            log.error("a run cannot be used: %s", error)
            return cannot("The run's folder, or the data that it was trained on, is not as it was. The server's log says more")
        case SeqloomError():
            return RequestError(422, "bad-input", str(error))
        case _:
            note_fault(error)
            return RequestError(500, "fault", "The server made a mistake. Its log says where")


def note_fault(error: BaseException) -> None:
    """Log where an error of ours happened, and not what it says: that could be a user's text."""
    trace, place = error.__traceback__, "?"
    while trace is not None:
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
        trace = trace.tb_next
    log.error("fault: %s at %s", type(error).__name__, place)


def dumps(body: Any) -> bytes:
    """JSON; numbers that JSON does not have (an impossible symbol's log-probability) become null."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except ValueError:
        return json.dumps(_finite(body), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _finite(body: Any) -> Any:
    match body:
        case float():
            return body if math.isfinite(body) else None
        case dict():
            return {key: _finite(value) for key, value in body.items()}
        case list() | tuple():
            return [_finite(value) for value in body]
        case _:
            return body


class JsonResponse(Response):
    """An answer in JSON; bytes are JSON already."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The body."""
        return content if isinstance(content, bytes) else dumps(content)


async def answer_problem(request: Request, error: Exception) -> Response:  # noqa: ARG001 (as FastAPI calls it)
    """For whatever a route raises that means something to people."""
    return as_problem(error).response()


async def answer_status(request: Request, error: Exception) -> Response:  # noqa: ARG001
    """What the framework itself refuses."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    code, message = {
        400: ("bad-request", "The body could not be read as JSON"),
        404: ("not-found", "There is nothing at this path. See /openapi.json"),
        405: ("wrong-method", "This path takes another method. See /openapi.json"),
    }.get(status, ("refused", "The request was refused"))
    return RequestError(status, code, message, headers).response()
