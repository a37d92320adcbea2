"""Watching a model at work on one input: the tree that its search grows, and how each symbol comes about."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import Padded
from seqloom.data.reading.oracles import Oracle
from seqloom.data.reading.oracles import Unit as OracleUnit
from seqloom.errors import UsageError
from seqloom.prediction.constraints import OracleInput, Prefix
from seqloom.prediction.inputs import Input
from seqloom.prediction.predictor import Predictor
from seqloom.prediction.tasks import Task
from seqloom.recipe.sections import Beam, Greedy, MonotonicBridge, Search
from seqloom.results.search_tree import Branch, Fate, FoundOutput, SearchTree
from seqloom.results.steps import Said, Walkthrough, WrittenSymbol
from seqloom.search.contracts import FloatArray, Hypotheses, Hypothesis, IntArray, State, Step, Stepper
from seqloom.search.dispatch import search as run_search
from seqloom.search.traces import Trace
from seqloom.symbols import BEGIN, END

_MOST_EXPLAINED = 256
"""Symbols of a source that is explained step by step: the model is asked once for each of them at every step."""
_FEWEST_SHOWN = 3
"""Of every beginning, at least so many continuations are shown, however narrow the beam."""


class _Watched:
    """A stepper that remembers what the model found most probable at every step of one sentence."""

    def __init__(self, inner: Stepper, shown: int) -> None:
        self._inner = inner
        self._shown = min(shown, inner.vocabulary_size)
        self.best: list[tuple[IntArray, FloatArray]] = []

    @property
    def vocabulary_size(self) -> int:
        return self._inner.vocabulary_size

    def step(self, tokens: IntArray, state: State) -> Step:
        step = self._inner.step(tokens, state)
        ids, log_probs = step.top(self._shown, np.zeros(0, np.int64))
        self.best.append((ids[0], log_probs[0]))
        return step


def grow_tree(
    predictor: Predictor,
    given: Input,
    *,
    search: Search | None = None,
    prefix: Prefix = "",
    oracle: OracleInput = None,
    oracle_unit: OracleUnit = "symbols",
) -> SearchTree:
    """Search one input and keep all that was looked at. Greedy and beam search only: others do not prune."""
    section = search or predictor.recipe.search
    if not isinstance(section, Beam | Greedy):
        raise UsageError(
            f"a tree shows what a beam keeps and prunes, and the search is {section.kind}. Give a width (--beam 3)"
        )
    width = section.width if isinstance(section, Beam) else 1
    task, plain = (
        predictor.task(given, one, prefix=prefix, oracle=oracle, oracle_unit=oracle_unit)
        for one in (section, Greedy(**section.shared))
    )
    watched = _Watched(task.stepper, max(width, _FEWEST_SHOWN))
    traces, hypotheses = _followed(watched, task)
    [greedy] = _followed(plain.stepper, plain)[1]
    grower = _Grower(task, width)
    for trace, best in zip(traces, watched.best, strict=True):
        grower.add(trace, *best)
    return SearchTree(
        sources=dict(task.read.example.sources),
        width=width,
        length_power=section.length_power if isinstance(section, Beam) else 0.0,
        steps=tuple(map(tuple, grower.finished_steps(hypotheses, greedy[0]))),
        outputs=tuple(
            FoundOutput(task.text(one.tokens), float(one.score), float(one.log_prob), len(one.tokens), one.finished)
            for one in hypotheses[0]
        ),
        greedy=(task.text(greedy[0].tokens), float(greedy[0].log_prob)),
    )


def _followed(stepper: Stepper, task: Task) -> tuple[list[Trace], Hypotheses]:
    steps, traces = run_search(stepper, task.state, task.section, task.request), []
    while True:
        try:
            traces.append(next(steps))
        except StopIteration as stop:
            found: Hypotheses = stop.value
            return traces, found


class _Grower:
    """Puts branches together, step after step.

    _places: where the columns of the last trace are among its step's branches. _rows: the branches that the search goes on
    from, in the order of its live rows, which are the unfinished columns of the trace.
    """

    def __init__(self, task: Task, width: int) -> None:
        self.task, self.width = task, width
        self.steps: list[list[Branch]] = []
        self._paths: list[list[tuple[int, ...]]] = []
        self._places = {0: -1}
        self._rows = [-1]

    def add(self, trace: Trace, ids: IntArray, log_probs: FloatArray) -> None:
        """Add one step: what the model found best after each live row [K, k], and what the search took of it."""
        taken = self._taken(trace)
        found: dict[tuple[int, int], float] = {}
        for row, parent in enumerate(self._rows):
            for token, log_prob in zip(ids[row].tolist(), log_probs[row].tolist(), strict=True):
                if np.isfinite(log_prob):
                    found[parent, token] = self._total(parent) + log_prob
        found |= taken
        ranked = sorted(found, key=lambda one: -found[one])
        worst = min(taken.values(), default=0.0)
        self.steps.append(
            [self._branch(one, found[one], rank, worst, one in taken) for rank, one in enumerate(ranked, start=1)]
        )
        before = self._paths[-1] if self._paths else []
        self._paths.append([(*(before[parent] if parent >= 0 else ()), token) for parent, token in ranked])
        self._go_on(trace, ranked)

    def finished_steps(self, hypotheses: Hypotheses, greedy: Hypothesis) -> list[list[Branch]]:
        """All steps, with the ways of the best output and of greedy search marked, and the last fates told."""
        at_limit = len(self.steps) >= int(self.task.request.limits[0])
        scores = {tuple(one.tokens.tolist()): float(one.score) for one in hypotheses[0]}
        best = next(iter(scores), ())
        other = tuple(greedy.tokens.tolist())
        steps = []
        for number, (step, paths) in enumerate(zip(self.steps, self._paths, strict=True), start=1):
            last = number == len(self.steps)
            steps.append(
                [
                    replace(
                        _ended(one, at_limit=at_limit) if last and one.fate == "kept" else one,
                        score=scores.get(path),
                        chosen=path == best[:number],
                        greedy=path == other[:number],
                    )
                    for one, path in zip(step, paths, strict=True)
                ]
            )
        return steps

    def _taken(self, trace: Trace) -> dict[tuple[int, int], float]:
        """What the search chose: parent and symbol, with the sum."""
        real = np.isfinite(trace.log_probs[0])
        chosen = zip(
            trace.parents[0][real].tolist(), trace.tokens[0][real].tolist(), trace.log_probs[0][real].tolist(), strict=True
        )
        return {(self._places[parent], token): total for parent, token, total in chosen}

    def _total(self, parent: int) -> float:
        return self.steps[-1][parent].total if parent >= 0 else 0.0

    def _branch(self, which: tuple[int, int], total: float, rank: int, worst: float, taken: bool) -> Branch:
        parent, token = which
        fate: Fate = "pruned"
        if taken:
            fate = "finished" if token == END else "kept"
        elif total > worst:
            fate = "forbidden"
        [symbol] = self.task.symbols([token])
        return Branch(symbol, parent, total - self._total(parent), total, fate, self._reason(fate, rank), id=token)

    def _reason(self, fate: Fate, rank: int) -> str:
        match fate:
            case "kept":
                return f"number {rank} of this step; the search keeps {self.width}"
            case "finished":
                return f"number {rank} of this step, and the end of an output"
            case "forbidden":
                return "the settings of the search do not allow it here"
            case _:
                return f"number {rank} of this step; the search keeps {self.width}"

    def _go_on(self, trace: Trace, ranked: Sequence[tuple[int, int]]) -> None:
        places = {one: index for index, one in enumerate(ranked)}
        chosen = zip(trace.parents[0].tolist(), trace.tokens[0].tolist(), np.isfinite(trace.log_probs[0]).tolist(), strict=True)
        columns = {column: places[self._places[parent], token] for column, (parent, token, real) in enumerate(chosen) if real}
        self._rows = [place for column, place in columns.items() if not trace.finished[0, column]]
        self._places = columns


def _ended(branch: Branch, *, at_limit: bool) -> Branch:
    if at_limit:
        return replace(branch, fate="cut off", reason="the longest length that the search allows")
    return replace(branch, fate="left", reason="the search stopped: it cannot become better than the best output any more")


# --- how each symbol comes about ------------------------------------------------------------------------------------

_SAID = 5
"""So many of the most probable symbols are named."""


def walk_through(predictor: Predictor, given: Input, *, search: Search | None = None, prefix: Prefix = "") -> Walkthrough:
    """The best output symbol by symbol: scores, weights, and what the context says, beside what other contexts would say."""
    stepper, name = predictor.alone, predictor.told_source
    task = predictor.task(given, search or predictor.recipe.search, prefix=prefix)
    if task.read.blank:
        raise UsageError("the source is blank, so there is nothing to look at. Give a text")
    if task.read.length > _MOST_EXPLAINED:
        raise UsageError(
            f"--steps asks the model about every source symbol at every step, for {_MOST_EXPLAINED} symbols at most; this "
            f"source has {task.read.length:,}. Give a shorter one"
        )
    best = _followed(task.stepper, task)[1][0][0]
    if name not in best.weights:
        raise UsageError("--steps shows what attention does, and this model has no attention. Use a run that has it")
    alignment = predictor.alignment(task, name, best.weights[name].astype(np.float32))
    scores = stepper.energies(task.sources, best.tokens).get(name)
    symbols = task.symbols(best.tokens.tolist())
    steps = []
    for index, symbol in enumerate(symbols):
        own, even, *alone = _distributions(predictor, task, name, best.tokens[:index], alignment.weights.shape[-1])
        steps.append(
            WrittenSymbol(
                symbol=symbol,
                probability=float(np.exp(best.log_probs[index])),
                energies=None if scores is None else tuple(map(float, scores[index].mean(axis=0))),
                weights=tuple(map(float, alignment.mean[index])),
                own=_most_probable(task, own, _SAID),
                even=_most_probable(task, even, _SAID),
                even_probability=float(even[best.tokens[index]]),
                alone=tuple(_most_probable(task, one, 1)[0] for one in alone),
            )
        )
    return Walkthrough(
        dict(task.read.example.sources),
        name,
        alignment.symbols,
        alignment.unknown,
        task.text(best.tokens),
        tuple(steps),
        spoken=isinstance(predictor.recipe.model.bridge, MonotonicBridge),
    )


def _distributions(predictor: Predictor, task: Task, name: str, before: IntArray, places: int) -> npt.NDArray[np.float64]:
    """P of the symbol after those before it, [2 + S, V]: as the model looks, with even weights, and from each place alone."""
    here = len(before)
    looks = [np.full(places, 1 / places, np.float32), *np.eye(places, dtype=np.float32)]
    told = [{}, *({here: one} for one in looks)]
    oracle = Oracle.of(told, width=places, limits=np.full(len(told), here + 1))
    sources = {
        one: Padded(np.repeat(given.values, len(told), axis=0), np.repeat(given.lengths, len(told)))
        for one, given in task.sources.items()
    }
    state = predictor.alone.start(sources, len(told), {} if oracle is None else {name: oracle})
    for token in (BEGIN, *before.tolist()):
        step = predictor.alone.step(np.full((len(told), 1), token), state)
        state = step.state
    probabilities: npt.NDArray[np.float64] = np.exp(step.all()[:, 0].astype(np.float64))
    return probabilities


def _most_probable(task: Task, probabilities: npt.NDArray[np.float64], count: int) -> tuple[Said, ...]:
    order = np.argsort(-probabilities, kind="stable")[:count].tolist()
    return tuple(Said(symbol, float(probabilities[one])) for symbol, one in zip(task.symbols(order), order, strict=True))
