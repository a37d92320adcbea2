"""`bench decode`: sentences a second and the time of one sentence alone, ours beside the textbook with the same weights.

Ours is torch, or with the backend `runtime` the exported model beside torch, so that three sides take turns.
"""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, assert_never

import numpy as np

from seqloom.bench.copying import copy_weights
from seqloom.bench.decisive import make_decisive
from seqloom.bench.measuring import Clock, Deadline
from seqloom.bench.textbook import Textbook, beam_search, greedy_search
from seqloom.bench.training import Batches
from seqloom.bench.workloads import Pairs, Workload, open_pairs
from seqloom.data.arrays import IntArray, Padded
from seqloom.errors import UsageError
from seqloom.export.writing import graph_files
from seqloom.models.encoder_decoder import EncoderDecoder, build_model
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.prediction.backends import OpenedModel, SourceStepper
from seqloom.prediction.inputs import Advance
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import sections
from seqloom.recipe.sections import SOURCE, TARGET, Recipe
from seqloom.runtime.exports import stepper_of
from seqloom.search.request import longest_outputs
from seqloom.system.cpu import InferencePrecision, processor_name
from seqloom.training.machine import computing

Outputs = list[tuple[str, ...]]
"""The symbols of each output, `end` included."""

Backend = Literal["torch", "runtime"]
SideName = Literal["ours", "torch", "textbook"]
SEARCHES = ("beam", "greedy")
_LEAST_AGREEMENT = 0.98
"""Both sides round differently, so that two nearly equal outputs may change places now and then; no more than that."""


class DecodeSettings(sections.Section):
    """How decoding is measured: `repeats` times all sentences by each side and search, and no new round after `seconds`."""

    workload: Workload
    sentences: sections.Positive = 1000
    alone: sections.Positive = 40
    """How many sentences are decoded one at a time."""
    width: sections.Positive = 5
    batch_size: sections.Positive = 64
    textbook_batches: Batches = "random"
    backend: Backend = "torch"
    precision: InferencePrecision = "fp32"
    shortlist: sections.Positive | None = None
    repeats: sections.Positive = 3
    seconds: float = 600.0
    threads: sections.Positive = 1

    @property
    def sides(self) -> tuple[SideName, ...]:
        """Who takes turns: with the exported model torch does, too, in fp32."""
        return ("ours", "textbook") if self.backend == "torch" else ("ours", "torch", "textbook")

    @property
    def approximates(self) -> bool:
        """Whether ours may write something else than the textbook, which is in fp32 and knows all symbols."""
        return self.precision != "fp32" or self.shortlist is not None

    def section(self, search: str) -> sections.Beam | sections.Greedy:
        """The search as a recipe says it."""
        return sections.Beam(width=self.width) if search == "beam" else sections.Greedy()


@dataclass(frozen=True)
class Decoders:
    """All sides, ready to decode texts with the same weights."""

    predictors: dict[SideName, Predictor]
    textbook: Textbook
    settings: DecodeSettings

    def run(self, side: SideName, search: str, texts: Sequence[str]) -> Outputs:
        """The outputs of one side."""
        section = self.settings.section(search)
        if side == "textbook":
            return self._textbook(section, texts)
        predictions = self.predictors[side].predict(texts, search=section, batch_size=self.settings.batch_size)
        return [prediction.tokens for prediction in predictions]

    def _textbook(self, section: sections.Beam | sections.Greedy, texts: Sequence[str]) -> Outputs:
        """Batches in the order of the texts, or sorted by length first as `grouped` wants it."""
        vocabularies = self.predictors["ours"].vocabularies
        sources = vocabularies[SOURCE].encode_sources(texts, [()] * len(texts))
        order = list(range(len(sources)))
        if self.settings.textbook_batches == "grouped":
            order.sort(key=lambda one: len(sources[one]))
        found: Outputs = [()] * len(sources)
        for start in range(0, len(order), self.settings.batch_size):
            chosen = order[start : start + self.settings.batch_size]
            ids = search_textbook(self.textbook, section, [sources[one] for one in chosen])
            for one, written in zip(chosen, ids, strict=True):
                found[one] = vocabularies[TARGET].symbols(written)
        return found


def search_textbook(model: Textbook, section: sections.Beam | sections.Greedy, sources: list[IntArray]) -> list[list[int]]:
    """The best output of each source of a batch, as ids."""
    source = Padded.of(sources)
    limits: list[int] = longest_outputs(section, source.lengths).tolist()
    match section:
        case sections.Beam(width=width, length_power=power):
            return beam_search(model, source, limits, width=width, power=power)
        case sections.Greedy():
            return greedy_search(model, source, limits)
        case _:
            assert_never(section)


def open_decoders(settings: DecodeSettings, pairs: Pairs) -> Decoders:
    """One set of weights in all models."""
    recipe = settings.workload.recipe()
    ours = build_model(recipe, pairs.vocabulary_sizes)
    make_decisive(ours, pairs)
    textbook = Textbook(recipe.model, pairs.vocabulary_sizes).eval()
    copy_weights(ours, textbook)
    steppers: dict[SideName, SourceStepper] = {"ours": _our_stepper(settings, ours, recipe)}
    if settings.backend == "runtime":
        steppers["torch"] = TorchStepper(ours, shortlist=settings.shortlist)
    predictors = {side: Predictor([OpenedModel(one, pairs.vocabularies, recipe)]) for side, one in steppers.items()}
    return Decoders(predictors, textbook, settings)


def _our_stepper(settings: DecodeSettings, model: EncoderDecoder, recipe: Recipe) -> SourceStepper:
    """The model in torch, or as it is exported."""
    if settings.backend == "torch":
        if settings.precision == "int8":
            raise UsageError("int8 is for exported models. Measure them: bench decode --backend runtime --precision int8")
        return TorchStepper(model, precision=settings.precision, shortlist=settings.shortlist)
    if settings.precision == "bf16":
        raise UsageError("exported models compute in fp32 or int8. Choose one of them, or --backend torch")
    weights = {name: value.numpy() for name, value in model.state_dict().items()}
    files, facts = graph_files(recipe, weights, precision=settings.precision, shortlist=settings.shortlist)
    return stepper_of(files, facts, recipe.encoders, threads=settings.threads)


# --- the run --------------------------------------------------------------------------------------------------------


@dataclass
class _Tally:
    """What one side did by one search: outputs, seconds per round for all sentences, and for single ones."""

    outputs: Outputs = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)

    @property
    def sentences_per_second(self) -> float:
        return len(self.outputs) / statistics.median(self.seconds)

    def figures(self) -> dict[str, float]:
        tokens = sum(map(len, self.outputs))
        return {
            "sentences_per_second": round(self.sentences_per_second, 2),
            "tokens_per_second": round(tokens / statistics.median(self.seconds), 1),
            "latency_ms": round(1000 * statistics.median(self.alone), 2),
        }


Tallies = dict[str, dict[SideName, _Tally]]


def bench_decoding(settings: DecodeSettings, progress: Advance = lambda count: None) -> dict[str, Any]:
    """Measure and report; the object that `bench decode --json` prints."""
    clock = Clock(settings.threads)
    with computing(settings.threads):
        pairs = open_pairs(settings.workload)
        decoders = open_decoders(settings, pairs)
        texts = pairs.texts(settings.sentences)
        tallies: Tallies = {search: {side: _Tally() for side in settings.sides} for search in SEARCHES}
        _measure_alone(decoders, texts[: settings.alone], tallies, clock)
        deadline = Deadline(settings.seconds)
        for round_number in range(settings.repeats):
            if round_number and deadline.passed:
                break
            _measure_round(decoders, texts, tallies, clock, progress)
    return {**_report(settings, tallies), "clock": clock.name, "processor": processor_name()}


def _measure_alone(decoders: Decoders, texts: Sequence[str], tallies: Tallies, clock: Clock) -> None:
    """One sentence at a time, sides in turn; the first one warms up."""
    for search, sides in tallies.items():
        for number, text in enumerate([texts[0], *texts]):
            for side, tally in sides.items():
                seconds = clock.timed(_decoding(decoders, side, search, [text]))
                if number:
                    tally.alone.append(seconds)


def _measure_round(decoders: Decoders, texts: Sequence[str], tallies: Tallies, clock: Clock, progress: Advance) -> None:
    for search, sides in tallies.items():
        for side, tally in sides.items():
            tally.seconds.append(clock.timed(_decoding(decoders, side, search, texts, tally)))
            progress(len(texts))


def _decoding(
    decoders: Decoders, side: SideName, search: str, texts: Sequence[str], tally: _Tally | None = None
) -> Callable[[], None]:
    """Work to be timed, which leaves its outputs in the tally."""

    def work() -> None:
        outputs = decoders.run(side, search, texts)
        if tally is not None:
            tally.outputs = outputs

    return work


def _report(settings: DecodeSettings, tallies: Tallies) -> dict[str, Any]:
    reports = {search: _search_report(sides) for search, sides in tallies.items()}
    lengths = [len(output) for output in tallies["beam"]["ours"].outputs]
    least = 0.0 if settings.approximates else _LEAST_AGREEMENT
    disagreeing = {search: report["agreement"] for search, report in reports.items() if report["agreement"] < least}
    return {
        "workload": settings.workload.name,
        "backend": settings.backend,
        "precision": settings.precision,
        "shortlist": settings.shortlist,
        "search": f"beam {settings.width}",
        **reports["beam"],
        "greedy": reports["greedy"],
        "textbook_batches": settings.textbook_batches,
        "sentences": len(lengths),
        "mean_length": round(float(np.mean(lengths)), 2),
        "batch_size": settings.batch_size,
        "threads": settings.threads,
        "repeats": len(tallies["beam"]["ours"].seconds),
        "warnings": [_differing(search, share) for search, share in disagreeing.items()],
    }


def _search_report(sides: dict[SideName, _Tally]) -> dict[str, Any]:
    ours, textbook, torch = sides["ours"], sides["textbook"], sides.get("torch")
    found = {side: tally.figures() for side, tally in sides.items()}
    beside = {} if torch is None else {"torch_ratio": _ratio(ours, torch), "torch_agreement": _agreement(ours, torch)}
    return {**found, "ratio": _ratio(ours, textbook), "agreement": _agreement(ours, textbook), **beside}


def _ratio(one: _Tally, other: _Tally) -> float:
    return round(one.sentences_per_second / other.sentences_per_second, 3)


def _agreement(one: _Tally, other: _Tally) -> float:
    """The share of outputs that both wrote alike."""
    same = [ours == theirs for ours, theirs in zip(one.outputs, other.outputs, strict=True)]
    return round(sum(same) / len(same), 4)


def _differing(search: str, share: float) -> str:
    return (
        f"{search}: only {100 * share:.1f} % of the outputs are the same on both sides, although their weights are. "
        "The figures do not compare the same work"
    )
