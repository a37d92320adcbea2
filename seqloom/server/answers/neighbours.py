"""Training examples whose encodings are closest to that of an input.

The index is made when it is first wanted, from the data that the run was trained on: only if that is still there, and to the
bit what the run says. It has a bounded size and takes a bounded time; the answer says how many examples it covers.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from seqloom.data.examples import Example
from seqloom.errors import DataError, RunError
from seqloom.prediction.predictor import Predictor
from seqloom.server.problems import cannot

_MOST = 5000
_SECONDS = 10.0
"""So long the index grows at most."""
_TOGETHER = 64

FloatArray = npt.NDArray[np.float32]


class Neighbourhood:
    """The index of one model. It grows in the one thread that computes; several requests may wait for it together."""

    def __init__(self) -> None:
        self._examples: list[Example] = []
        self._parts: list[FloatArray] = []
        self._source: Iterator[Example] | None = None
        self._seen: set[tuple[str, ...]] = set()
        self._spent = 0.0
        self._whole = False

    def growing(self, predictor: Predictor) -> Iterator[int]:
        """Grow until it is whole; tells how many examples there are."""
        while not self._whole:
            began = time.monotonic()
            self._grow(predictor)
            self._spent += time.monotonic() - began
            if len(self._examples) >= _MOST or self._spent > _SECONDS:
                self._end()
            yield len(self._examples)

    def _grow(self, predictor: Predictor) -> None:
        try:
            if self._source is None:
                self._source = self._fresh(predictor)
            some = list(islice(self._source, _TOGETHER))
            if not some:
                self._end()
                return
            self._parts.append(encodings(predictor, some))
            self._examples += some
        except (DataError, RunError):
            self._source = None
            raise cannot(
                "Neighbours are examples that the model was trained on, and its training data is not there, or not as it was"
            ) from None

    def _fresh(self, predictor: Predictor) -> Iterator[Example]:
        """Training examples that can be read, each source once."""
        for raw in predictor.corpus.examples("train"):
            [example] = predictor.tolerant([raw])
            key = tuple(example.sources.values())
            if key not in self._seen and predictor.reader.fits(example):
                self._seen.add(key)
                yield example

    def _end(self) -> None:
        if not self._examples:
            raise cannot("The training data has no example that this model can read")
        self._whole, self._source = True, None
        self._seen.clear()
        self._parts = [np.concatenate(self._parts)]

    def nearest(self, predictor: Predictor, given: Example, count: int) -> dict[str, Any]:
        """The closest examples, with one minus the cosine as the distance. Only after it has grown."""
        distances = 1.0 - self._parts[0] @ encodings(predictor, [given])[0]
        closest = np.argsort(distances, kind="stable")[:count].tolist()
        return {
            "indexed": len(self._examples),
            "neighbours": [self._shown(index, max(0.0, float(distances[index]))) for index in closest],
        }

    def _shown(self, index: int, distance: float) -> dict[str, Any]:
        example = self._examples[index]
        features = {"features": list(example.features)} if example.features else {}
        return {"distance": round(distance, 6), "input": {**example.sources, **features}, "target": example.target}


def encodings(predictor: Predictor, examples: Sequence[Example]) -> FloatArray:
    """The direction of each encoding, all sources together, [N, D]."""
    vectors = np.concatenate(list(predictor.encode(examples).values()), axis=1).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0.0, 1.0, lengths), dtype=np.float32)
