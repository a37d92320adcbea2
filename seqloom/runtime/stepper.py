"""An exported model as search sees it: ONNX Runtime computes, arrays go in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.data.reading.oracles import Oracle
from seqloom.results.layouts import Layout
from seqloom.runtime.sessions import Session
from seqloom.search.contracts import FloatArray, IntArray, State, Step
from seqloom.search.ctc import PositionScores
from seqloom.symbols import BEGIN

if TYPE_CHECKING:
    from seqloom.results.language import Studied

Array = npt.NDArray[Any]
Arrays = dict[str, Array]


@dataclass(frozen=True)
class ModelShape:
    """What a runtime must know of a model's graphs: the leaves of its state, the sources that it attends to, its symbols.

    layouts: how the positions of each source lie, by name.
    """

    rows: tuple[str, ...]
    sentences: tuple[str, ...]
    attended: tuple[str, ...]
    vocabulary_size: int
    layouts: Mapping[str, Layout] = field(default_factory=dict)


SCORES, POSITIONS = "ctc", "ctc.lengths"
"""What an encoder's graph gives beside the first state: what positions say, and how many there are."""


@dataclass(frozen=True)
class RuntimeState:
    """A state as named arrays: those of rows [B, K, ...], and those that the rows of a sentence share [B, ...]."""

    rows: Arrays
    shared: Arrays
    count: int
    told: Mapping[str, Oracle] = field(default_factory=dict)
    time: int = 0
    scores: PositionScores | None = None
    """What positions say, of a state before the first symbol."""

    @property
    def sentences(self) -> int:
        """B, the number of sentences."""
        return self.count

    def select(self, sentences: IntArray, parents: IntArray) -> "RuntimeState":
        """Keep the given sentences and rows; what rows share is copied only if the sentences change."""
        regrouped = len(sentences) != self.count or bool((sentences != np.arange(self.count)).any())
        places = (sentences[:, None], parents)
        return RuntimeState(
            rows={name: leaf[places] for name, leaf in self.rows.items()},
            shared={name: leaf[sentences] for name, leaf in self.shared.items()} if regrouped else self.shared,
            count=len(sentences),
            told={name: _selected(oracle, sentences) for name, oracle in self.told.items()} if regrouped else self.told,
            time=self.time,
        )


def _selected(oracle: Oracle, sentences: IntArray) -> Oracle:
    return Oracle(oracle.weights[sentences], oracle.known[sentences])


class RuntimeStep(Step):
    """What the model says about the next symbol."""

    def __init__(self, found: Arrays, state: RuntimeState, shape: ModelShape, best: Session) -> None:
        self._found, self._before, self._shape, self._best = found, state, shape, best

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        """Attention weights by source, [B, K, H, S]."""
        return {name: self._found[f"weights.{name}"] for name in self._shape.attended}

    @property
    def scores(self) -> Mapping[str, FloatArray]:
        """The scores behind the weights, of the sources that have any, [B, K, H, S]."""
        names = {name: f"scores.{name}" for name in self._shape.attended}
        return {name: self._found[key] for name, key in names.items() if key in self._found}

    @property
    def state(self) -> RuntimeState:
        """The state after this step."""
        before = self._before
        rows = {name: self._found[f"{name}.next"] for name in self._shape.rows}
        return RuntimeState(rows, before.shared, before.count, before.told, before.time + 1)

    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        """The k best symbols of each row that are not forbidden."""
        every = self.all()
        size = every.shape[-1]
        forbid = forbid[forbid < size]
        wanted = min(k, size)
        if len(forbid):
            hidden = every[..., forbid]
            every[..., forbid] = -np.inf
        best, ids = self._ranked(every, wanted)
        if len(forbid):
            every[..., forbid] = hidden
        if wanted < k:
            missing = [(0, 0), (0, 0), (0, k - wanted)]
            best, ids = np.pad(best, missing, constant_values=-np.inf), np.pad(ids, missing)
        return ids, best

    def _ranked(self, values: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
        """The k largest values of each row and where they stand; the first of equal ones comes first."""
        if k == 1:  # a graph would take longer to be called than this takes
            return values.max(axis=-1, keepdims=True), values.argmax(axis=-1, keepdims=True)
        best, ids = self._best.run(["best", "ids"], {"values": values, "k": np.array([k])})
        return best, ids

    def at(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of the given symbols; minus infinity for those that a shortlist leaves out."""
        every = self.all()
        inside = ids < every.shape[-1]
        if inside.all():
            return np.take_along_axis(every, ids, axis=-1)
        return np.where(inside, np.take_along_axis(every, np.where(inside, ids, 0), axis=-1), -np.inf)

    def all(self) -> FloatArray:
        """Log-probabilities of all symbols."""
        return self._found["log_probs"]


class RuntimeStepper:
    """Steps through an exported model."""

    def __init__(self, encoder: Session, step: Session, best: Session, shape: ModelShape) -> None:
        self._encoder, self._step, self._best, self._shape = encoder, step, best, shape

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._shape.vocabulary_size

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """How the positions of each source lie, by name."""
        return self._shape.layouts

    def start(self, sources: Mapping[str, Padded], count: int, oracle: Mapping[str, Oracle] | None = None) -> RuntimeState:
        """Read the sources of `count` sentences; one row each."""
        names = [*self._shape.rows, *self._shape.sentences]
        more = [name for name in (SCORES, POSITIONS) if name in self._encoder.outputs]
        wanted = [*(f"{name}.first" for name in names), *more]
        found = dict(zip([*names, *more], self._encoder.run(wanted, self._read(sources, count)), strict=True))
        shared = {name: found[name] for name in self._shape.sentences}
        for name in self._shape.attended:
            mask = shared[f"mask.{name}"]
            shared |= {f"told.{name}": np.zeros(mask.shape, np.float32), f"known.{name}": np.zeros(len(mask), np.bool_)}
        return RuntimeState(
            rows={name: found[name] for name in self._shape.rows},
            shared=shared,
            count=count,
            told=oracle or {},
            scores=PositionScores(found[SCORES], found[POSITIONS]) if more else None,
        )

    def position_scores(self, state: State) -> PositionScores | None:
        """What the positions say for CTC, given the state before the first symbol; None for a model without it."""
        return _required(state).scores

    def _read(self, sources: Mapping[str, Padded], count: int) -> Arrays:
        if not sources:
            return {"count": np.array([count], np.int64)}
        given: Arrays = {}
        for name, padded in sources.items():
            given[name] = np.ascontiguousarray(padded.values, dtype=self._encoder.dtypes[name])
            given[f"{name}.lengths"] = np.asarray(padded.lengths, np.int64)
        return given

    def step(self, tokens: IntArray, state: State) -> RuntimeStep:
        """Advance every row by one symbol."""
        before = _required(state)
        given = {"tokens": np.ascontiguousarray(tokens, dtype=np.int64), **before.rows, **before.shared, **self._told(before)}
        found = dict(zip(self._step.outputs, self._step.run(self._step.outputs, given), strict=True))
        return RuntimeStep(found, before, self._shape, self._best)

    def _told(self, state: RuntimeState) -> Arrays:
        """Where attention is told to look at this step, and of which sentences that is known; nothing where nobody says so."""
        given: Arrays = {}
        for name in self._shape.attended if state.told else ():
            oracle = state.told.get(name)
            if oracle is not None and state.time < oracle.known.shape[1]:
                told = np.ascontiguousarray(oracle.weights[:, state.time], dtype=np.float32)
                given |= {f"told.{name}": told, f"known.{name}": np.ascontiguousarray(oracle.known[:, state.time])}
        return given

    def encode(self, sources: Mapping[str, Padded]) -> Mapping[str, FloatArray]:
        """The summary of every source, one vector for all of it, [B, D]."""
        count = len(next(iter(sources.values())).lengths) if sources else 1
        summaries = self._encoder.run([f"summary.{name}" for name in sources], self._read(sources, count))
        return dict(zip(sources, summaries, strict=True))

    def looked(self, sources: Mapping[str, Padded]) -> Mapping[str, FloatArray]:
        """Where encoders looked while they read one sentence beside another source, by source [R, H, N, M].

        Nothing for models that were exported before graphs said it.
        """
        names = [name for name in sources if f"looked.{name}" in self._encoder.outputs]
        found = self._encoder.run([f"looked.{name}" for name in names], self._read(sources, 1)) if names else []
        return {name: rounds[0] for name, rounds in zip(names, found, strict=True)}

    def energies(self, sources: Mapping[str, Padded], tokens: IntArray) -> Mapping[str, FloatArray]:
        """The scores of attention while one sentence is written, by source [T, H, S]."""
        state, steps = self.start(sources, 1), []
        for token in (BEGIN, *tokens[:-1].tolist()):
            steps.append(self.step(np.array([[token]]), state))
            state = steps[-1].state
        names = steps[0].scores if steps else ()
        return {name: np.stack([step.scores[name][0, 0] for step in steps]) for name in names}

    def score(self, batch: Batch) -> FloatArray:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        labels = np.asarray(batch.labels.values, np.int64)
        state = self.start(batch.sources, len(labels))
        scores, _ = self.score_stream(np.asarray(batch.inputs.values, np.int64), labels, state)
        return np.where(batch.labels.mask, scores, np.float32(0.0))

    # --- language models --------------------------------------------------------------------------------------------

    def score_stream(self, inputs: IntArray, labels: IntArray, state: State) -> tuple[FloatArray, RuntimeState]:
        """`log p` of the labels [B, T], each after its input [B, T], from a state of one row each; and the state after."""
        found, before = [], _required(state)
        for tokens, wanted in zip(inputs.T, labels.T, strict=True):
            step = self.step(tokens[:, None], before)
            found.append(step.at(wanted[:, None, None])[:, 0, 0])
            before = step.state
        return np.stack(found, axis=1) if found else np.zeros(labels.shape, np.float32), before

    def study_stream(
        self, inputs: IntArray, labels: IntArray, state: State, *, alternatives: int
    ) -> "tuple[Studied, RuntimeState]":
        """What `score_stream` says, and ranks, entropies and so many of the most probable symbols."""
        from seqloom.results.language import Studied

        parts, before = [], _required(state)
        for tokens, wanted in zip(inputs.T, labels.T, strict=True):
            step = self.step(tokens[:, None], before)
            parts.append(_studied(step, wanted, alternatives))
            before = step.state
        log_probs, ranks, entropies, ids, best = (np.stack(part, axis=1) for part in zip(*parts, strict=True))
        return Studied(log_probs=log_probs, ranks=ranks, entropies=entropies, top_ids=ids, top_log_probs=best), before

    def hidden_states(self, tokens: IntArray, state: State) -> FloatArray:
        """What every layer shows after each of the symbols [T] is read, [T, layers, D]; from a state of one row."""
        found, before = [], _required(state)
        layers = [name for name in self._shape.rows if name.startswith("cells.") and name.endswith(".0")]
        for token in tokens.tolist():
            before = self.step(np.array([[token]]), before).state
            found.append(np.stack([before.rows[name][0, 0] for name in layers]))
        width = before.rows[layers[0]].shape[-1]
        return np.stack(found) if found else np.zeros((0, len(layers), width), np.float32)


def _studied(step: RuntimeStep, wanted: IntArray, alternatives: int) -> Sequence[Array]:
    """What one step says of the symbols [B] that were read."""
    every = step.all()[:, 0]
    own = np.take_along_axis(every, wanted[:, None], axis=-1)
    entropies = -(np.exp(every) * np.where(np.isfinite(every), every, 0.0)).sum(axis=-1) / np.float32(np.log(2.0))
    ids, best = step.top(min(alternatives, every.shape[-1]), np.zeros(0, np.int64))
    return own[:, 0], (every > own).sum(axis=-1) + 1, entropies, ids[:, 0], best[:, 0]


def _required(state: State) -> RuntimeState:
    if not isinstance(state, RuntimeState):
        raise TypeError(state)
    return state
