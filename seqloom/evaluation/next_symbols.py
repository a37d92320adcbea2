"""What a model holds probable after a beginning, or after every part of it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from seqloom.data.reading.oracles import Unit
from seqloom.prediction.constraints import OracleInput, Prefix
from seqloom.prediction.inputs import Input
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Greedy
from seqloom.results.distributions import NextSymbol, NextSymbols
from seqloom.search.contracts import IntArray, State, Step, Stepper
from seqloom.symbols import BEGIN


@dataclass(frozen=True)
class _Way:
    """Symbols to be read one after the other, from a state. names: makes symbols readable."""

    stepper: Stepper
    state: State
    first: int
    ids: IntArray
    names: Callable[[Iterable[int]], tuple[str, ...]]


def after_prefix(
    predictor: Predictor,
    given: Input,
    *,
    prefix: Prefix = "",
    count: int,
    every: bool = False,
    oracle: OracleInput = None,
    oracle_unit: Unit = "symbols",
) -> Iterator[NextSymbols]:
    """What may follow a prefix of the output for an input. every: also what may follow each shorter one, shortest first."""
    section = Greedy(**predictor.recipe.search.shared)
    task = predictor.task(given, section, prefix=prefix, oracle=oracle, oracle_unit=oracle_unit)
    ids = task.request.prefixes[0] if len(task.request.prefixes) else np.zeros(0, np.int64)
    yield from _followed(_Way(task.stepper, task.state, BEGIN, ids, task.symbols), count, every)


def after_text(model: LanguageModel, text: str, *, count: int, every: bool = False) -> Iterator[NextSymbols]:
    """What may follow a text, for a language model."""
    beginning = model.beginning(text)
    names = model.vocabulary.symbols
    yield from _followed(_Way(beginning.stepper, beginning.state, beginning.first, beginning.ids, names), count, every)


def _followed(way: _Way, count: int, every: bool) -> Iterator[NextSymbols]:
    symbols, state = way.names(way.ids), way.state
    read = [way.first, *way.ids.tolist()]
    for place, token in enumerate(read):
        step = way.stepper.step(np.full((1, 1), token, dtype=np.int64), state)
        state = step.state
        if every or place == len(read) - 1:
            following = None if place == len(read) - 1 else int(way.ids[place])
            yield _said(way, step, symbols[:place], following, count)


def _said(way: _Way, step: Step, prefix: tuple[str, ...], following: int | None, count: int) -> NextSymbols:
    log_probs = step.all()[0, 0].astype(np.float64)
    order = np.argsort(-log_probs, kind="stable")
    order = order[np.isfinite(log_probs[order])]
    ranks = {int(one): rank for rank, one in enumerate(order.tolist(), start=1)}

    def named(ids: list[int]) -> tuple[NextSymbol, ...]:
        last = len(ranks) + 1
        return tuple(
            NextSymbol(name, one, float(log_probs[one]), ranks.get(one, last))
            for name, one in zip(way.names(ids), ids, strict=True)
        )

    real = log_probs[order]
    return NextSymbols(
        prefix=prefix,
        best=named(order[:count].tolist()),
        entropy_bits=float(-(np.exp(real) * real).sum() / np.log(2)),
        taken=None if following is None else named([following])[0],
        attention={name: tuple(weights[0, 0].mean(axis=0).tolist()) for name, weights in step.weights.items()},
    )
