"""What comes out of a model, as plain data: the one form that commands, views, servers and notebooks share."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self, assert_never

import numpy as np
import numpy.typing as npt

from seqloom.results.layouts import Film, Frames, Grid, Layout, Tokens

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Alignment:
    """Where the model looked in one source while it wrote.

    weights [H, T, S]: one distribution over source positions per head and output symbol (T counts `end`).
    symbols: the S source symbols as a person reads them, `begin`/`end` marks and features included.
    spans: per source symbol, its start and end in the original text; equal numbers for marks and features.
    layout: how the S positions lie.
    unknown: which of the symbols, counted from 0, are not in the vocabulary. They are shown as they stand in the text.
    looks: how often a step looked; the heads of one look come after those of another.
    """

    weights: FloatArray
    symbols: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    layout: Layout = field(default_factory=Tokens)
    unknown: tuple[int, ...] = ()
    looks: int = 1

    def by_look(self) -> "list[Alignment]":
        """Each look by itself, the first one first."""
        return [replace(self, weights=part, looks=1) for part in np.split(self.weights, self.looks)]

    def __repr__(self) -> str:
        heads, steps, places = self.weights.shape
        return f"Alignment({steps} steps over {places} symbols{f', {heads} heads' if heads > 1 else ''})"

    @property
    def mean(self) -> FloatArray:
        """The weights averaged over heads, [T, S]."""
        averaged: FloatArray = self.weights.mean(axis=0)
        return averaged

    def in_time(self) -> Self:
        """Of a film, the weights of all places of a frame together: a position for each frame. Others stay as they are."""
        if not isinstance(self.layout, Film):
            return self
        weights = self.weights.reshape(*self.weights.shape[:2], -1, self.layout.places).sum(axis=-1)
        count, layout = weights.shape[-1], Frames()
        return replace(self, weights=weights, symbols=layout.names(count), spans=((0, 0),) * count, layout=layout)

    def as_json(self) -> dict[str, Any]:
        """The alignment as JSON-ready data: the weights averaged over heads, and how positions lie that are no symbols."""
        weights = np.round(self.mean.astype(np.float64), 5).tolist()
        unknown = {"unknown": list(self.unknown)} if self.unknown else {}
        looks = {"looks": [one.as_json()["weights"] for one in self.by_look()]} if self.looks > 1 else {}
        return {**_layout_data(self.layout), "symbols": list(self.symbols), **unknown, "weights": weights, **looks}


def _layout_data(layout: Layout) -> dict[str, Any]:
    match layout:
        case Tokens():
            return {}
        case Grid(rows, columns):
            return {"grid": [rows, columns]}
        case Frames(stride, seconds):
            return {"stride": stride, **({} if seconds is None else {"seconds": seconds})}
        case Film(rows, columns):
            return {"film": [rows, columns]}
        case _:
            assert_never(layout)


@dataclass(frozen=True)
class Candidate:
    """One output. `tokens` are its symbols as a person reads them; the last one is `<end>` if it is finished.

    log_prob: the plain sum of log_probs, one per token, the model's own. score: what ranked it (length-normalised under beam
    search, and with the language model's part under fusion). probability: that of a class, if outputs are classes. ids: those
    of the tokens in the vocabulary, if known; two that read alike may differ.
    """

    text: str
    tokens: tuple[str, ...]
    score: float
    log_prob: float
    log_probs: tuple[float, ...]
    alignment: Mapping[str, Alignment] = field(default_factory=dict)
    finished: bool = True
    probability: float | None = None
    ids: tuple[int, ...] = field(default=(), repr=False, compare=False)

    def __repr__(self) -> str:
        return f"Candidate({self.text!r}, log_prob={self.log_prob:.4g}{'' if self.finished else ', cut off'})"

    def as_json(self) -> dict[str, Any]:
        """The candidate as JSON-ready data."""
        return {
            "text": self.text,
            **({} if self.probability is None else {"probability": self.probability}),
            "score": self.score,
            "log_prob": self.log_prob,
            "tokens": list(self.tokens),
            "log_probs": list(self.log_probs),
            "finished": self.finished,
            "alignment": {name: one.as_json() for name, one in self.alignment.items()},
        }


@dataclass(frozen=True)
class Prediction:
    """The best output for one example, and the further ones that were asked for (`alternatives`, best first).

    fusion_weight: how much a language model counted in the scores; None if there was none. unknown: the pieces of the sources
    that the model does not know, and reads as one symbol, whatever they are. target: what should be written, if that is given.
    unread: so many symbols at the ends of long sources were not read, as the recipe says.
    """

    sources: Mapping[str, str]
    best: Candidate
    alternatives: tuple[Candidate, ...] = ()
    features: tuple[str, ...] = ()
    fusion_weight: float | None = None
    unknown: tuple[str, ...] = ()
    target: str | None = None
    unread: int = 0

    def __repr__(self) -> str:
        sources = " | ".join(map(repr, self.sources.values()))
        others = f", {len(self.alternatives)} alternatives" if self.alternatives else ""
        return f"Prediction({sources} -> {self.text!r}, log_prob={self.log_prob:.4g}{others})"

    @property
    def text(self) -> str:
        """The best output as text."""
        return self.best.text

    @property
    def score(self) -> float:
        """What ranked the best output."""
        return self.best.score

    @property
    def log_prob(self) -> float:
        """The log-probability of the best output, a plain sum over its symbols."""
        return self.best.log_prob

    @property
    def tokens(self) -> tuple[str, ...]:
        """The symbols of the best output."""
        return self.best.tokens

    @property
    def alignment(self) -> Mapping[str, Alignment]:
        """Per source, where the model looked while it wrote the best output."""
        return self.best.alignment

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All outputs, best first."""
        return (self.best, *self.alternatives)

    def without_alignment(self) -> Self:
        """The same outputs without where the model looked, which takes most of the memory."""
        best, *others = (replace(one, alignment={}) for one in self.candidates)
        return replace(self, best=best, alternatives=tuple(others))

    def as_json(self) -> dict[str, Any]:
        """The object that `predict --json` prints. With one source, `source` is its text; else a mapping of texts."""
        source = next(iter(self.sources.values())) if len(self.sources) == 1 else dict(self.sources)
        fusion = {} if self.fusion_weight is None else {"fusion_weight": self.fusion_weight}
        return {
            "source": source,
            **({} if self.target is None else {"target": self.target}),
            "features": list(self.features),
            **({"unknown": list(self.unknown)} if self.unknown else {}),
            **({"unread": self.unread} if self.unread else {}),
            **fusion,
            **self.best.as_json(),
            "alternatives": [one.as_json() for one in self.alternatives],
        }


@dataclass(frozen=True)
class ScoredTarget:
    """`log p(y | x)` of a given target: in all, and per symbol, `end` included.

    unknown: the places of the symbols that are not in the vocabulary, from 0; all of them count as one symbol, `unknown`.
    """

    log_prob: float
    symbols: tuple[str, ...]
    log_probs: tuple[float, ...]
    unknown: tuple[int, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The object that `score --json` prints."""
        body = {"log_prob": self.log_prob, "symbols": list(self.symbols), "log_probs": list(self.log_probs)}
        return {**body, "unknown": list(self.unknown)}
