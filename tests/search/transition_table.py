"""A model without a network: a table of probabilities, with made-up attention, and the plain ways to search and score it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings
from hypothesis import strategies as st

from seqloom.recipe.sections import Beam, Exhaustive, Greedy, Sample, Search
from seqloom.search import Hypotheses, Hypothesis, Request, State
from seqloom.search.contracts import FloatArray, IntArray, Step
from seqloom.symbols import BEGIN, END

quick = settings(max_examples=30, deadline=None)
"""For property tests: together a few seconds, and none fails because the machine is busy."""

SEARCHES: dict[str, Search] = {
    "greedy": Greedy(),
    "beam": Beam(width=3),
    "coverage": Beam(width=4, coverage=0.3, length_power=0.6),
    "sample": Sample(count=3, seed=5, top_p=0.9),
    "exhaustive": Exhaustive(count=4),
}
every_search = pytest.mark.parametrize("section", SEARCHES.values(), ids=SEARCHES.keys())
"""For tests of what stands between a model and its search."""

Probabilities = npt.NDArray[np.float64]


class Table:
    """Symbol probabilities [N sentences, C codes, V] looked up by a code of the symbols written so far.

    The code after a symbol is `(memory * code + symbol) % C`: the last symbol alone with memory 0, else more of the past.
    Weights are a function of sentence and code too, so weights gathered along a wrong path are wrong numbers.
    """

    def __init__(
        self,
        probabilities: Probabilities,
        *,
        memory: int = 0,
        heads: int = 2,
        source_lengths: Sequence[int] = (),
        vocabulary_size: int | None = None,
    ) -> None:
        with np.errstate(divide="ignore"):
            self.log_probs: FloatArray = np.log(probabilities).astype(np.float32)
        self.memory = memory
        self.heads = heads
        self.source_lengths = np.array(source_lengths or [3] * len(probabilities))
        self.vocabulary_size = vocabulary_size or probabilities.shape[2]
        self.selections = 0

    def start(self, sentences: Sequence[int] | None = None) -> "TableState":
        chosen = np.arange(len(self.log_probs)) if sentences is None else np.array(sentences, np.int64)
        positions = int(self.source_lengths[chosen].max(initial=1))
        return TableState(self, chosen, np.zeros((len(chosen), 1), np.int64), positions)

    def code(self, code: IntArray, token: IntArray) -> IntArray:
        after: IntArray = (self.memory * code + token) % self.log_probs.shape[1]
        return after

    def weights(self, sentences: IntArray, codes: IntArray, positions: int) -> FloatArray:
        """sentences [B], codes [B, K] -> [B, K, H, positions]; nothing on padding."""
        heads, places = np.arange(self.heads)[:, None], np.arange(positions)
        energies = np.exp(
            2 * np.cos((codes[:, :, None, None] + 1.0) * (heads + 1) * (places + 1) + sentences[:, None, None, None])
        )
        energies = energies * (places < self.source_lengths[sentences][:, None, None, None])
        weights: FloatArray = (energies / energies.sum(axis=3, keepdims=True)).astype(np.float32)
        return weights

    def step(self, tokens: IntArray, state: State) -> "TableStep":
        assert isinstance(state, TableState)
        assert tokens.shape == state.codes.shape
        assert tokens.min() >= 0
        codes = self.code(state.codes, tokens)
        return TableStep(replace(state, codes=codes), self.log_probs[state.ids[:, None], codes])


@dataclass(frozen=True, eq=False)
class TableState:
    table: Table
    ids: IntArray
    codes: IntArray
    positions: int

    @property
    def sentences(self) -> int:
        return len(self.ids)

    def select(self, sentences: IntArray, parents: IntArray) -> "TableState":
        assert len(sentences) == len(parents)
        self.table.selections += 1
        return replace(self, ids=self.ids[sentences], codes=self.codes[sentences[:, None], parents])


class TableStep(Step):
    def __init__(self, state: TableState, log_probs: FloatArray) -> None:
        self._state, self.log_probs = state, log_probs

    @property
    def state(self) -> TableState:
        return self._state

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        table = self.state.table
        return {"text": table.weights(self.state.ids, self.state.codes, self.state.positions)} if table.heads else {}

    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        allowed = self.log_probs.copy()
        allowed[:, :, forbid] = -np.inf
        ids = np.argsort(-allowed, axis=2, kind="stable")[:, :, :k]
        assert ids.shape[2] == k
        return ids, np.take_along_axis(allowed, ids, axis=2)

    def at(self, ids: IntArray) -> FloatArray:
        return np.take_along_axis(self.log_probs, ids, axis=2)

    def all(self) -> FloatArray:
        return self.log_probs


def request_for(table: Table, limit: int = 5, sentences: Sequence[int] | None = None, **changes: object) -> Request:
    chosen = np.arange(len(table.log_probs)) if sentences is None else np.array(sentences, np.int64)
    lengths = {"text": table.source_lengths[chosen]}
    plain = Request(limits=np.full(len(chosen), limit), keys=chosen + 100, source_lengths=lengths)
    return replace(plain, **changes)  # type: ignore[arg-type]


def random_table(seed: int, *, sentences: int = 1, symbols: int = 5, memory: int = 3) -> Table:
    random = np.random.default_rng(seed)
    codes = 31 if memory else symbols
    probabilities = random.dirichlet(np.full(symbols, 0.7), (sentences, codes)) + 1e-6
    return Table(probabilities, memory=memory, source_lengths=[int(n) for n in random.integers(1, 6, sentences)])


@st.composite
def tables(draw: st.DrawFn, *, sentences: int = 1, symbols: int = 6) -> Table:
    """Random tables of 1 to `sentences` sentences and 3 to `symbols` symbols."""
    return random_table(
        draw(st.integers(0, 2**32)),
        sentences=draw(st.integers(1, sentences)),
        symbols=draw(st.integers(3, symbols)),
        memory=draw(st.sampled_from([0, 3, 7])),
    )


def path(table: Table, sentence: int, tokens: IntArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The log-probabilities of all symbols [V] and the weights [H, S] before each of the given symbols is written."""
    code = np.zeros(1, np.int64)
    for token in [BEGIN, *tokens.tolist()][: len(tokens)]:
        code = table.code(code, np.array([token]))
        weights = table.weights(np.array([sentence]), code[None], int(table.source_lengths[sentence]))
        yield table.log_probs[sentence, code[0]], weights[0, 0]


def rescored(table: Table, sentence: int, tokens: IntArray) -> FloatArray:
    """The log-probabilities of the given symbols, looked up one by one."""
    found = [log_probs[token] for token, (log_probs, _) in zip(tokens.tolist(), path(table, sentence, tokens), strict=True)]
    return np.array(found, np.float32)


def looked_up_weights(table: Table, sentence: int, tokens: IntArray) -> FloatArray:
    """The weights [H, T, S] of the given output, looked up one by one."""
    return np.stack([weights for _, weights in path(table, sentence, tokens)], axis=1)


def assert_same(found: Hypothesis, expected: Hypothesis) -> None:
    assert found.tokens.tolist() == expected.tokens.tolist()
    assert found.finished == expected.finished
    np.testing.assert_allclose(found.log_prob, expected.log_prob, rtol=1e-9)
    np.testing.assert_allclose(found.score, expected.score, rtol=1e-6)
    np.testing.assert_array_equal(found.log_probs, expected.log_probs)
    assert found.weights.keys() == expected.weights.keys()
    for name, weights in expected.weights.items():
        np.testing.assert_array_equal(found.weights[name], weights)


def assert_all_same(found: Hypotheses, expected: Hypotheses) -> None:
    assert [len(one) for one in found] == [len(one) for one in expected]
    for ours, theirs in zip(found, expected, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)


WORDS = ("begin", "end", "unknown", "it", "I", "am", "was", "going", "home", "there", "we", "you", "they")


def lecture_chain() -> Table:
    """Lecture 004: "it" (0.121) is a little more probable than "I" (0.119), but nothing good follows it."""
    follows = {
        "begin": {"it": 0.121, "I": 0.119},
        "I": {"am": 0.9},
        "am": {"going": 0.9},
        "going": {"home": 0.9},
        "home": {"end": 0.9},
        "it": {"was": 0.3},
        "was": {"there": 0.3},
        "there": {"end": 0.5},
    }
    probabilities = np.zeros((1, len(WORDS), len(WORDS)))
    for n, word in enumerate(WORDS):
        known = follows.get(word, {"end": 0.2})
        others = [WORDS.index(other) for other in WORDS if other not in known]
        probabilities[0, n, others] = (1 - sum(known.values())) / len(others)
        for other, probability in known.items():
            probabilities[0, n, WORDS.index(other)] = probability
    return Table(probabilities)


def words(hypothesis: Hypothesis) -> str:
    return " ".join(WORDS[token] for token in hypothesis.tokens)


def plain_beam(table: Table, sentence: int, *, width: int, limit: int, power: float, stops_early: bool) -> list[Hypothesis]:
    """Beam search over one sentence as one would write it down, with lists and no grid."""
    live: list[tuple[float, list[int]]] = [(0.0, [])]
    ended: list[tuple[float, float, list[int]]] = []
    while live and len(live[0][1]) < limit:
        extensions = []
        for log_prob, tokens in live:
            *_, (log_probs, _) = path(table, sentence, np.array([*tokens, END]))
            extensions += [(log_prob + float(p), [*tokens, v]) for v, p in enumerate(log_probs) if v != BEGIN]
        best = sorted(extensions, key=lambda one: -one[0])[:width]
        ended += [(log_prob / len(tokens) ** power, log_prob, tokens) for log_prob, tokens in best if tokens[-1] == END]
        live = [(log_prob, tokens) for log_prob, tokens in best if tokens[-1] != END]
        highest = max((score for score, _, _ in ended), default=-np.inf)
        if stops_early and len(ended) >= width and all(log_prob / limit**power <= highest for log_prob, _ in live):
            live = []
    cut_off = [(log_prob / limit**power, log_prob, tokens) for log_prob, tokens in live]
    ranked = [(*one, True) for one in sorted(ended, key=lambda one: -one[0])]
    ranked += [(*one, False) for one in sorted(cut_off, key=lambda one: -one[0])]
    return [
        Hypothesis(
            tokens=np.array(tokens),
            log_prob=log_prob,
            score=score,
            log_probs=rescored(table, sentence, np.array(tokens)),
            finished=finished,
            weights={"text": looked_up_weights(table, sentence, np.array(tokens))},
        )
        for score, log_prob, tokens, finished in ranked[:width]
    ]
