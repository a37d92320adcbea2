"""Exact search (S2): the most probable of all outputs, where the model is sure enough for it to be feasible."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqloom.data.arrays import Padded
from seqloom.data.examples import Example
from seqloom.prediction.backends import OpenedModel, open_model
from seqloom.recipe.sections import SOURCE, TARGET, Greedy, Search
from seqloom.results.predictions import Prediction
from seqloom.search.contracts import Hypothesis
from seqloom.search.request import Request, longest_outputs
from seqloom.search.walk import Continuations, Walk
from seqloom.symbols import END

NOTICED = 1e-3
"""Two log-probabilities that differ by less are the same: batches of other shapes round otherwise."""
LEAST_PROBABLE = -7.0
"""Exact search is tried where a beam found something at least this probable (log): then no step has over 1,100 rows."""


def most_probable(walk: Walk, bound: float) -> Hypothesis:
    """The most probable output of all (S2) of a walk's one sentence, one with the log-probability `bound` being known.

    A sum only falls as an output grows, so whatever has fallen below the best known one can be left. The probabilities of
    all beginnings of one length sum to 1 at most, so no more than exp(-bound) of them are ever alive.
    """
    while walk.goes_on:
        step = walk.step()
        ids, log_probs = walk.every(step)
        sums = walk.sums[:, :, None] + log_probs
        bound = max(bound, float(sums[ids == END].max(initial=-math.inf)))
        _, rows, columns = np.nonzero(sums > bound - NOTICED)
        kept = (0, rows[None], columns[None])
        walk.write(step, Continuations(rows[None], ids[kept], log_probs[kept], sums[kept], scores=sums[kept]))
    return walk.hypotheses(1)[0][0]


def request_for(model: OpenedModel, text: str, features: Sequence[str], section: Search) -> tuple[Padded, Request]:
    """One source as the model reads it, and what is asked of a search for it."""
    source = Padded.of([model.vocabularies[SOURCE].encode_source(text, tuple(features)).ids])
    forbid = np.asarray(model.vocabularies[TARGET].feature_ids, dtype=np.int64)
    limits = longest_outputs(section, source.lengths)
    return source, Request(limits, np.zeros(1, np.int64), forbid=forbid, source_lengths={SOURCE: source.lengths})


def _walk(model: OpenedModel, example: Example) -> Walk:
    source, request = request_for(model, example.sources[SOURCE], example.features, Greedy())
    return Walk(model.stepper, model.stepper.start({SOURCE: source}, 1), request, minimum_length=0)


def exact_study(run: Path, examples: Sequence[Example], found: Mapping[int, Sequence[Prediction]]) -> dict[str, Any]:
    """How often each width missed the most probable output, and how long that is, where exact search is feasible."""
    model = open_model(run)
    widest = found[max(found)]
    feasible = [index for index, one in enumerate(widest) if one.best.finished and one.best.log_prob > LEAST_PROBABLE]
    best = [most_probable(_walk(model, examples[index]), widest[index].best.log_prob) for index in feasible]
    sums = np.array([one.log_prob for one in best])
    return {
        "of": len(examples),
        "feasible": len(feasible),
        "empty": sum(len(one.tokens) == 1 for one in best),
        "mean_length": float(np.mean([len(one.tokens) for one in best])),
        "missed": {
            str(width): float(np.mean(sums > np.array([some[index].best.log_prob for index in feasible]) + NOTICED))
            for width, some in found.items()
        },
        "mean_lengths": {
            str(width): float(np.mean([len(some[index].best.log_probs) for index in feasible])) for width, some in found.items()
        },
    }
