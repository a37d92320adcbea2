"""How answers are described in /openapi.json: examples of them, and the errors that all routes share."""

from typing import Any

from seqloom.server.schemas import ErrorAnswer, answer_schema

__all__ = ["ERRORS", "MODELS", "PREDICTED", "SCORED", "STEPPED", "STREAMED", "WRITTEN", "answer_schema"]

_STATUSES = {
    400: "The body is no JSON object.",
    401: "A token is needed.",
    403: "From a foreign page, or to a foreign name.",
    404: "No such model.",
    408: "The body took too long to come.",
    413: "The body is too large.",
    415: "The body is not said to be JSON.",
    422: "Something in the request is wrong, or the model cannot do it.",
    429: "Too many requests are waiting; see Retry-After.",
    500: "A mistake of the server.",
    503: "The model could not be opened, or the server is being stopped.",
    504: "The time limit.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": what} for status, what in _STATUSES.items()
}

_CANDIDATE = {
    "text": "1978-05-03",
    "tokens": ["1", "9", "7", "8", "-", "0", "5", "-", "0", "3", "<end>"],
    "log_probs": [-0.01],
    "log_prob": -0.12,
    "score": -0.011,
    "confidence": 0.99,
    "finished": True,
}
PREDICTED = {
    "model": "dates",
    "milliseconds": 9.1,
    "predictions": [
        {
            "input": {"source": "3 May 1978"},
            "unknown": [],
            "candidates": [_CANDIDATE],
            "flags": {"never_read": [], "repeated": []},
        }
    ],
}
STREAMED: dict[str, Any] = {
    "description": "Server-sent events; the last is `done` or `error`.",
    "content": {"text/event-stream": {"schema": {"type": "string"}, "example": 'event: step\ndata: {"step":1,"text":"1"}\n\n'}},
}
STEPPED = {
    "model": "dates",
    "steps": [
        {
            "prefix": ["1", "9"],
            "next": [{"symbol": "7", "id": 12, "log_prob": -0.02, "probability": 0.98, "rank": 1}],
            "entropy_bits": 0.13,
            "attention": {"source": [0.0, 0.1, 0.9]},
        }
    ],
}
SCORED = {
    "model": "dates",
    "scores": [
        {
            "log_prob": -0.12,
            "symbols": ["1", "9"],
            "log_probs": [-0.1, -0.02],
            "unknown": [],
            "found": {"text": "1978-05-03", "log_prob": -0.12},
            "verdict": "right",
        }
    ],
}
WRITTEN = {
    "model": "book",
    "texts": [{"text": "The king", "log_prob": -9.1, "completion_log_prob": -1.2, "given": 6, "finished": True}],
}
MODELS = {
    "models": [
        {
            "name": "dates",
            "kind": "pairs",
            "sources": [{"name": "source", "kind": "text"}],
            "can": ["predict", "stream", "attention", "oracle", "tree", "step", "score", "sample", "neighbours"],
            "examples": [{"input": "3 May 1978", "target": "1978-05-03"}],
        }
    ]
}
