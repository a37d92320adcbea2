"""All that a search has written, kept step by step, and how whole outputs are read back from it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from seqloom.search.contracts import FloatArray, Hypotheses, Hypothesis, IntArray
from seqloom.search.traces import BoolArray, Sums


@dataclass(frozen=True, eq=False)
class Written:
    """One step.

    parents [B, W]: columns of the step before. rows [B, W]: rows of the state, to which `weights` [B, K, H, S] belong.
    tokens and log_probs [B, W]: the symbols and what the model itself says of each.
    """

    sentences: IntArray
    parents: IntArray
    rows: IntArray
    tokens: IntArray
    log_probs: FloatArray
    weights: Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class Endings:
    """Outputs that came to an end, one entry each: where their last symbol is written, and what they are worth."""

    sentences: IntArray
    columns: IntArray
    lengths: IntArray
    scores: Sums
    finished: BoolArray

    def __getitem__(self, which: IntArray | BoolArray) -> "Endings":
        return Endings(*(getattr(self, name)[which] for name in self.__dataclass_fields__))

    def best(self, count: int, *, finished_first: bool) -> "Endings":
        """At most `count` for each sentence, by score, sentence after sentence.

        finished_first: an output that was cut off comes after all that ended by themselves, whatever its score.
        """
        cut_off = ~self.finished & finished_first
        ranked = self[np.lexsort((-self.scores, cut_off, self.sentences))]
        rank = np.arange(len(ranked.sentences)) - np.searchsorted(ranked.sentences, ranked.sentences)
        return ranked[rank < count]


def _in_order(log_probs: FloatArray) -> Sums:
    """Add up the symbols of each output [N, T] -> [N] from first to last in double precision, as a search does on its way."""
    sums: Sums = np.cumsum(log_probs, axis=1, dtype=np.float64)[:, -1:].sum(axis=1)  # of no symbols: 0
    return sums


def _joined(parts: list[Endings]) -> Endings:
    return Endings(*(np.concatenate([getattr(part, name) for part in parts]) for name in Endings.__dataclass_fields__))


class History:
    """Steps and endings in the order they came. Nothing is copied along beams: outputs are followed back once, at the end."""

    def __init__(self) -> None:
        self._steps: list[Written] = []
        self._endings: list[Endings] = []

    def write(self, written: Written) -> None:
        """Add a step."""
        self._steps.append(written)

    def end(self, endings: Endings) -> None:
        """Add outputs that end here."""
        self._endings.append(endings)

    def hypotheses(self, sentences: int, count: int, *, finished_first: bool, lengths: Mapping[str, IntArray]) -> Hypotheses:
        """For each of the sentences its best outputs, `count` at most; weights are cut to the sources' lengths."""
        found: Hypotheses = [[] for _ in range(sentences)]
        if not self._endings:
            return found
        endings = _joined(self._endings).best(count, finished_first=finished_first)
        tokens, log_probs, weights = self._follow(endings)
        sums = _in_order(log_probs)
        for n, sentence in enumerate(endings.sentences.tolist()):
            length = int(endings.lengths[n])
            found[sentence].append(
                Hypothesis(
                    tokens=tokens[n, :length].copy(),
                    log_prob=float(sums[n]),
                    score=float(endings.scores[n]),
                    log_probs=log_probs[n, :length].copy(),
                    finished=bool(endings.finished[n]),
                    weights={
                        name: values[n, :, :length, : lengths[name][sentence] if name in lengths else None].copy()
                        for name, values in weights.items()
                    },
                )
            )
        return found

    def _follow(self, endings: Endings) -> tuple[IntArray, FloatArray, dict[str, FloatArray]]:
        """Follow N outputs from last symbol to first: tokens and log-probabilities [N, T], weights per source [N, H, T, S]."""
        shape = (len(endings.sentences), int(endings.lengths.max()))
        tokens = np.zeros(shape, np.int64)
        log_probs = np.zeros(shape, np.float32)
        weights = {
            name: np.zeros((shape[0], values.shape[2], shape[1], values.shape[3]), np.float32)
            for name, values in self._steps[0].weights.items()
        }
        columns = endings.columns.copy()
        everywhere, shortest = np.arange(shape[0]), int(endings.lengths.min())
        for t in reversed(range(shape[1])):
            written = self._steps[t]
            here = everywhere if t < shortest else np.flatnonzero(endings.lengths > t)
            # Sentences leave but never change places, so their numbers are sorted in every step.
            place = (np.searchsorted(written.sentences, endings.sentences[here]), columns[here])
            tokens[here, t] = written.tokens[place]
            log_probs[here, t] = written.log_probs[place]
            for name, values in written.weights.items():
                weights[name][here, :, t] = values[place[0], written.rows[place]]
            columns[here] = written.parents[place]
        return tokens, log_probs, weights
