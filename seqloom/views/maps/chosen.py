"""What of a candidate is drawn: which of its sources, which head, how probable its symbols were."""

import math
from dataclasses import replace

import numpy as np

from seqloom.errors import UsageError
from seqloom.results.predictions import Alignment, Candidate, FloatArray


def chosen_sources(candidate: Candidate, source: str | None) -> list[str | None]:
    """Name the alignments to draw; a single None if the model has no attention."""
    if source is None:
        return [*candidate.alignment] or [None]
    if source not in candidate.alignment:
        known = ", ".join(sorted(candidate.alignment)) or "none: the model has no attention"
        raise UsageError(f"There is no attention over a source named '{source}'. Sources with attention: {known}.")
    return [source]


def by_look(candidate: Candidate) -> Candidate:
    """The same with each look at a source as a map of its own, named by its number."""
    parted = {name: one.by_look() for name, one in candidate.alignment.items()}
    return replace(
        candidate,
        alignment={
            f"{name}, look {number}" if len(looks) > 1 else name: look
            for number in range(1, max((len(looks) for looks in parted.values()), default=0) + 1)
            for name, looks in parted.items()
            for look in looks[number - 1 : number]
        },
    )


def chosen_weights(alignment: Alignment, head: int | None) -> FloatArray:
    """Give the weights of one head, or their mean, [T, S]; anything that is not a number counts as 0."""
    if head is not None and not 0 <= head < len(alignment.weights):
        raise UsageError(f"There is no attention head {head}: heads run from 0 to {len(alignment.weights) - 1}.")
    weights = alignment.mean if head is None else alignment.weights[head]
    cleaned: FloatArray = np.nan_to_num(weights.astype(np.float32), posinf=0.0, neginf=0.0)
    return cleaned


def probability(log_prob: float) -> float:
    """Give the probability, 0 for what is not a number."""
    return 0.0 if math.isnan(log_prob) else math.exp(min(log_prob, 0.0))
