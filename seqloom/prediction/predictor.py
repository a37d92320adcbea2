"""The one object that the command line, a server and a notebook hold: a trained model, or several as an ensemble.

A language model may have a say in what they write (shallow fusion).
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack

import numpy as np

from seqloom.data.arrays import IntArray, Padded
from seqloom.data.examples import Example
from seqloom.data.kinds.text import Limit
from seqloom.data.preparing.batches import Batch
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.reading.oracles import Oracle, Steps, Unit
from seqloom.data.vocabulary import Vocabulary
from seqloom.errors import DataError, UsageError
from seqloom.prediction.backends import OpenedModel, SourceStepper, open_model
from seqloom.prediction.combining import Voices
from seqloom.prediction.constraints import OracleInput, Prefix, forced_symbols, said_values, told_steps
from seqloom.prediction.drawn import DrawnPrediction
from seqloom.prediction.ensembles import agree_on_copying, require_agreement, require_fusible
from seqloom.prediction.inner_looks import looking_inside
from seqloom.prediction.inputs import Advance, Input, Reader, ReadExample
from seqloom.prediction.tasks import Task, Watch, batches_of, next_chunk, require_nbest
from seqloom.recipe import Recipe
from seqloom.recipe.sections import TARGET, AttentionBridge, Beam, Search
from seqloom.results.predictions import Alignment, Candidate, FloatArray, ScoredTarget
from seqloom.runs.seeds import runs_at
from seqloom.search.classification import ClassHypothesis, ranking_classes
from seqloom.search.contracts import Hypothesis
from seqloom.search.request import Request, longest_outputs, require_bounded
from seqloom.symbols import UNKNOWN
from seqloom.system.cpu import InferencePrecision

BATCH_SIZE = 64
_CHUNK = 1024
"""A stream is read so many inputs at a time: enough to sort by length, few enough that answers keep coming."""

FUSION_WEIGHT = 0.3
"""How much a fused language model counts unless told otherwise: enough to be seen, too little to write by itself."""


class PredictOptions(TypedDict, total=False):
    """What `Predictor.predict` and `predict_stream` may both be told."""

    search: Search | None
    beam: int | None
    nbest: int
    prefix: Prefix
    batch_size: int
    oracle_unit: Unit
    progress: Advance


class Predictor:
    """Opened models that share their vocabularies; the first one's recipe gives the default search.

    language_model: one with their target vocabulary, fused into what they say with the given weight. `fusion_weight` is that
    weight, or None without a language model. maximum_input: longer inputs, in symbols, are refused; the recipe says it if not
    given.
    """

    def __init__(
        self,
        models: Sequence[OpenedModel],
        *,
        language_model: OpenedModel | None = None,
        weight: float = FUSION_WEIGHT,
        maximum_input: int | None = None,
    ) -> None:
        if not models:
            raise UsageError("a predictor needs at least one model")
        self.vocabularies: Mapping[str, Vocabulary] = models[0].vocabularies
        self.recipe: Recipe = models[0].recipe
        self.corpus = models[0].corpus or Corpus(self.recipe.data, self.recipe.seed)
        self._bridges = [model.recipe.model.bridge for model in models]
        copied = agree_on_copying(models, language_model)
        # A symbol that no target of the training had is never right.
        self._never = () if any(model.knows_unknown for model in models) else (UNKNOWN,)
        self.reader = Reader(
            self.recipe.data,
            self.vocabularies,
            models[0].frontends,
            models[0].stepper.layouts,
            tell_apart=copied,
            limit=None if maximum_input is None else Limit(maximum_input),
        )
        self._looks_inside = looking_inside(models, self.reader)
        self.fusion_weight = None if language_model is None else weight
        beside = None if language_model is None else language_model.stepper
        self._voices = Voices([model.stepper for model in models], beside, weight)

    @classmethod
    def load(
        cls,
        *folders: str | Path,
        language_model: str | Path | None = None,
        weight: float = FUSION_WEIGHT,
        precision: InferencePrecision = "fp32",
        shortlist: int | None = None,
        maximum_input: int | None = None,
    ) -> Self:
        """Open the best weights of one run, or of several as an ensemble, and of a language model to be fused in.

        A folder of runs that differ in their seed stands for all of them.
        precision: of matrix products in decoding. shortlist: write only so many symbols, those most frequent in training.
        maximum_input: refuse inputs of more symbols, in place of the recipe's limit.
        """
        folders = tuple(run for folder in folders for run in runs_at(Path(folder)))
        models = [open_model(Path(folder), precision=precision, shortlist=shortlist) for folder in folders]
        require_agreement(folders, models)
        if language_model is None or not models:
            return cls(models, maximum_input=maximum_input)
        fused = open_model(Path(language_model), precision=precision, shortlist=shortlist)
        require_fusible(language_model, fused, models[0].vocabularies[TARGET], beside=folders[0])
        return cls(models, language_model=fused, weight=weight, maximum_input=maximum_input)

    def __repr__(self) -> str:
        count = len(self._voices.models)
        several = f", an ensemble of {count}" if count > 1 else ""
        return f"Predictor({' and '.join(self.recipe.data.sources)} -> target, {self.recipe.search.kind} search{several})"

    # --- predicting -------------------------------------------------------------------------------------------------

    def predict(
        self,
        inputs: Input | Iterable[Input],
        *,
        search: Search | None = None,
        beam: int | None = None,
        nbest: int = 1,
        prefix: Prefix = "",
        batch_size: int = BATCH_SIZE,
        first: int = 0,
        oracle: Sequence[OracleInput] | None = None,
        oracle_unit: Unit = "symbols",
        progress: Advance = lambda count: None,
        watch: Watch = lambda: None,
    ) -> list[DrawnPrediction]:
        """The best outputs for each input, in the order of the inputs: a list, also for a single one.

        inputs: texts (or names of image files), mappings of named sources and perhaps `features`, or a single one of these.
        beam: beam search of this width, in place of the recipe's search; nbest: so many outputs each, at most the width.
        A result depends neither on its neighbours nor on `nbest`. prefix: what every output must begin with. first: the
        number of the first input in a longer stream: what sampling draws for an input depends on its number alone. A blank
        source has an empty output: no model has learnt what to say to nothing. oracle: for each input, where attention has to
        look: None, an alignment "0-0 2-1", or per output step a distribution or None; oracle_unit: over what. watch: is called
        at every step of the search; what it raises ends the work.
        """
        section = self._search_section(search, beam, nbest)
        read = [self.reader.read(one) for one in self.reader.examples_of(inputs)]
        told = self._told(oracle, read, oracle_unit)
        forced = self._forced(prefix)
        found: list[list[Hypothesis]] = [[]] * len(read)
        asked = np.asarray([index for index, one in enumerate(read) if not one.blank], dtype=np.int64)
        order = asked[np.argsort([read[index].length for index in asked], kind="stable")]
        for chosen in batches_of(order, [read[index].length for index in order], section, batch_size):
            steps = [told[one] for one in chosen]
            task = self._task([read[one] for one in chosen], first + chosen, section, forced, steps)
            for index, ranked in zip(chosen, task.hypotheses(watch), strict=True):
                found[index] = ranked
            progress(len(chosen))
        return [self._prediction(one, hypotheses[:nbest]) for one, hypotheses in zip(read, found, strict=True)]

    def _search_section(self, search: Search | None, beam: int | None, nbest: int) -> Search:
        if beam is not None and (search is not None or beam < 1):
            raise UsageError(f"beam={beam}: expected a width of 1 or more, and no other search beside it")
        section = search or self.recipe.search if beam is None else Beam.like(self.recipe.search, width=beam)
        if self.vocabularies[TARGET].whole:
            section = ranking_classes(section, nbest)
        require_nbest(nbest, section)
        return section

    def predict_stream(
        self,
        inputs: Iterable[Input],
        *,
        oracle: Iterable[OracleInput] | None = None,
        at_once: int | None = None,
        **options: Unpack[PredictOptions],
    ) -> Iterator[DrawnPrediction]:
        """Predictions for a stream of any length, in order, with the options of `predict`.

        at_once: read so many inputs before the first of them is answered.
        """
        remaining, entries = iter(inputs), None if oracle is None else iter(oracle)
        first = 0
        while chunk := next_chunk(remaining, at_once or _CHUNK):
            told = None if entries is None else list(itertools.islice(entries, len(chunk)))
            if told is not None and len(told) < len(chunk):
                raise DataError(
                    f"the oracle has {first + len(told)} entries, but there are more inputs. "
                    "Give one for each input, null (or an empty line) where the model may look for itself"
                )
            yield from self.predict(chunk, first=first, oracle=told, **options)
            first += len(chunk)
        if entries is not None and any(True for _ in entries):
            raise DataError(f"the oracle has more entries than the {first} inputs. Give one for each input")

    def tolerant(self, examples: Iterable[Example]) -> list[Example]:
        """Examples of a data set, without the features that training never saw: they count as absent, as in preparation."""
        known = self.reader.known_features
        return [replace(one, features=tuple(feature for feature in one.features if feature in known)) for one in examples]

    def _forced(self, prefix: Prefix) -> IntArray:
        return forced_symbols(prefix, self.vocabularies[TARGET], self.reader.limit, self._voices.vocabulary_size)

    def _told(self, oracle: Sequence[OracleInput] | None, read: Sequence[ReadExample], unit: Unit) -> list[Steps]:
        return told_steps(oracle, read, unit, reader=self.reader, bridges=self._bridges)

    def task(
        self,
        given: Input,
        search: Search | None = None,
        *,
        nbest: int = 1,
        prefix: Prefix = "",
        oracle: OracleInput = None,
        oracle_unit: Unit = "symbols",
    ) -> Task:
        """One input made ready to be searched, for those who want to watch; the options are those of `predict`."""
        section = self._search_section(search, None, nbest)
        read = [self.reader.read(self.reader.example_of(given, 0))]
        told = self._told(None if oracle is None else [oracle], read, oracle_unit)
        return self._task(read, np.zeros(1, np.int64), section, self._forced(prefix), told)

    def prediction(self, task: Task, hypotheses: Sequence[Hypothesis]) -> DrawnPrediction:
        """What the search of a task found, best first."""
        return self._prediction(task.read, hypotheses)

    @property
    def alone(self) -> SourceStepper:
        """The one model, where what is asked makes sense for a single one only."""
        return self._voices.alone

    @property
    def told_source(self) -> str:
        """The source that an oracle speaks of."""
        return self.reader.told_source

    def alignment(self, task: Task, name: str, weights: FloatArray) -> Alignment:
        """Weights over a source of a task, [H, T, S], with the symbols that they are over."""
        return self.reader.alignment(name, task.read, weights)

    def _task(
        self, read: Sequence[ReadExample], keys: IntArray, section: Search, forced: IntArray, told: Sequence[Steps]
    ) -> Task:
        forms = self.reader.forms(read, section.speeds)
        sources = forms[0]
        vocabulary = self.vocabularies[TARGET]
        longest = longest_outputs(section, np.asarray([one.length for one in read], dtype=np.int64))
        for one, limit in zip(read, longest.tolist(), strict=True):
            try:
                require_bounded(section, limit, one.length)
            except DataError as problem:
                raise DataError(f"{one.example.origin}: {problem}") from problem
        never = [*map(vocabulary.find, section.forbid), *vocabulary.feature_ids, *self._never]
        if vocabulary.whole:  # a class: one symbol, no fewer and no more, and `end`
            section, longest = section.model_copy(update={"minimum_length": 1}), np.full_like(longest, 2)
            never.append(UNKNOWN)
        limits = np.maximum(longest, len(forced) + 1)
        request = Request(
            limits=limits,
            keys=np.asarray(keys, dtype=np.int64),
            prefixes=[forced] * len(read) if len(forced) else (),
            forbid=np.asarray(never, dtype=np.int64),
            # What encoders make of a file has no padding, however many positions it has.
            source_lengths=self.reader.positions_in(sources),
            closed=vocabulary.whole,
            phrases=said_values(read, vocabulary) if isinstance(section, Beam) and section.values else (),
        )
        name = self.reader.told_source
        width = max((len(row) for steps in told for row in steps.values()), default=0)
        oracle = Oracle.of(told, width=max(width, sources[name].values.shape[1]), limits=limits)
        if oracle is not None and len(forms) > 1:
            raise UsageError("an oracle looks at a recording as it is, not at other speeds (`speeds`). Leave one of them out")
        told_by_name = {} if oracle is None else {name: oracle}
        stepper, start = self._voices.start(
            forms, len(read), told_by_name, ctc=section.ctc, biases=vocabulary.by_ids(section.bias)
        )
        return Task(stepper, start, section, request, sources, read[0], vocabulary)

    def _prediction(self, read: ReadExample, hypotheses: Sequence[Hypothesis]) -> DrawnPrediction:
        candidates = [self._candidate(one, read) for one in hypotheses] or [_NOTHING]
        example = read.example
        return DrawnPrediction(
            dict(example.sources),
            candidates[0],
            tuple(candidates[1:]),
            example.features,
            self.fusion_weight,
            read.unknown,
            example.target,
            read.unread,
            renderers=self.reader.renderers(read),
            players=self.reader.players(read),
            inside=None if self._looks_inside is None or not hypotheses else partial(self._looks_inside, read),
        )

    def _candidate(self, hypothesis: Hypothesis, read: ReadExample) -> Candidate:
        vocabulary = self.vocabularies[TARGET]
        bridge = self.recipe.model.bridge
        looks = bridge.looks if isinstance(bridge, AttentionBridge) else 1
        alignment = {
            name: replace(self.reader.alignment(name, read, weights.astype(np.float32)), looks=looks)
            for name, weights in hypothesis.weights.items()
        }
        return Candidate(
            text=vocabulary.decode(hypothesis.tokens, read.copies),
            tokens=vocabulary.symbols(hypothesis.tokens, read.copies),
            score=float(hypothesis.score),
            log_prob=float(hypothesis.log_prob),
            log_probs=tuple(float(one) for one in hypothesis.log_probs),
            alignment=alignment,
            finished=hypothesis.finished,
            probability=hypothesis.probability if isinstance(hypothesis, ClassHypothesis) else None,
            ids=tuple(hypothesis.tokens.tolist()),
        )

    # --- encoding ---------------------------------------------------------------------------------------------------

    def encode(
        self, inputs: Input | Iterable[Input], *, batch_size: int = BATCH_SIZE, progress: Advance = lambda count: None
    ) -> dict[str, FloatArray]:
        """The encoder's summary of each input: by the source's name, one vector for all of it, [N, D].

        It is what a decoder starts from; with a bridge `initial` it is all that the decoder ever knows of the source.
        """
        if len(self._voices.models) > 1:
            raise UsageError("encodings are those of one model, and this is an ensemble of several. Name one run")
        read = [self.reader.read(one) for one in self.reader.examples_of(inputs)]
        order = np.argsort([one.length for one in read], kind="stable")
        parts: dict[str, list[FloatArray]] = {}
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            for name, summaries in self._voices.models[0].encode(self.reader.batch([read[one] for one in chosen])).items():
                parts.setdefault(name, []).append(summaries)
            progress(len(chosen))
        return {name: np.concatenate(found)[np.argsort(order)] for name, found in parts.items()}

    # --- scoring ----------------------------------------------------------------------------------------------------

    def score(
        self, examples: Sequence[Example], *, batch_size: int = BATCH_SIZE, progress: Advance = lambda count: None
    ) -> list[ScoredTarget]:
        """`log p(y | x)` of given targets, in their order. An ensemble's probabilities are averaged per symbol.

        A language model that is fused in has no part in it.
        """
        vocabulary = self.vocabularies[TARGET]
        sources = [self.reader.read(example) for example in examples]
        targets = self.reader.encode_targets([self.reader.targets(example)[0] for example in examples], sources)
        found: list[ScoredTarget] = [ScoredTarget(0.0, (), ())] * len(examples)
        order = np.argsort([one.length for one in sources], kind="stable")
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            batch = Batch(
                self.reader.batch([sources[one] for one in chosen]),
                Padded.of([targets[one] for one in chosen]),
                np.ones(len(chosen), dtype=np.float32),
                tuple(examples[one].origin for one in chosen),
            )
            rows = self._score(batch)
            for index, row, length, labels in zip(chosen, rows, batch.labels.lengths, batch.labels.values, strict=True):
                symbols = vocabulary.symbols(labels[:length], sources[index].copies)
                unknown = tuple(np.flatnonzero(labels[:length] == UNKNOWN).tolist())
                found[index] = ScoredTarget(float(row[:length].sum()), symbols, tuple(map(float, row[:length])), unknown)
            progress(len(chosen))
        return found

    def _score(self, batch: Batch) -> np.ndarray[Any, np.dtype[np.float64]]:
        rows = np.stack([stepper.score(batch).astype(np.float64) for stepper in self._voices.models])
        mean: np.ndarray[Any, np.dtype[np.float64]] = np.logaddexp.reduce(rows, axis=0) - np.log(len(rows))
        return mean


_NOTHING = Candidate(text="", tokens=(), score=0.0, log_prob=0.0, log_probs=())
