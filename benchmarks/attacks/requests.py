"""Requests to the service, in this process: whatever comes, the answer is a sentence in JSON and no fault of the server."""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

from attacks.ground import Answer, words

_BODIES = {
    "/v1/predict": {"model": "run", "inputs": ["abcd", "hgfe"], "beam": 3, "nbest": 2, "attention": True},
    "/v1/step": {"model": "run", "input": "abcd", "prefix": ["A"]},
    "/v1/score": {"model": "run", "inputs": ["abcd"], "outputs": ["ABCD"]},
    "/v1/neighbours": {"model": "run", "input": "abcd", "count": 3},
    "/translate": {"q": "abcd", "source": "en", "target": "de"},
    "/detect": {"q": "abcd"},
}


def request(draw: random.Random) -> bytes:
    """A body, its path and a blank in front."""
    path = draw.choice(list(_BODIES))
    [word] = words(draw, 1)
    return f"{path} {json.dumps(_BODIES[path]).replace('abcd', word)}".encode()


def asker(run: Path) -> Callable[[bytes], Answer]:
    """Asks a server of this run, which is started now."""
    from starlette.testclient import TestClient

    from seqloom.server.app import build_app
    from seqloom.server.settings import ServedModel, Settings

    app = build_app(Settings(models=(ServedModel("run", run, ("en", "de")),)))
    client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
    client.__enter__()  # it ends with its process

    def ask(content: bytes) -> Answer:
        name, _, body = content.partition(b" ")
        path = name.decode("utf-8", "replace")
        began = time.monotonic()
        answer = client.post(
            path if path in _BODIES else "/v1/predict", content=body, headers={"content-type": "application/json"}
        )
        seconds = time.monotonic() - began
        if answer.status_code < 400:
            return Answer(0, answer.text, "", seconds)
        told = answer.text if "error" in answer.text else ""
        return Answer(2 if answer.status_code < 500 else -1, "", told, seconds)

    return ask
