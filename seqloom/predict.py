"""The one object that the command line, a server and a notebook hold: a trained model, or several as an ensemble.

A language model may have a say in what they write (shallow fusion).
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from seqloom.backends import OpenedModel, SourceStepper, open_model
from seqloom.data.batches import Batch, IntArray, Padded
from seqloom.data.examples import Example, Origin
from seqloom.data.prepared import SOURCE, TARGET
from seqloom.data.vocabulary import Encoded, Vocabulary
from seqloom.errors import DataError, UsageError
from seqloom.metrics import Item
from seqloom.predictions import Alignment, Candidate, Prediction
from seqloom.processor import InferencePrecision
from seqloom.recipe import Recipe
from seqloom.recipe.sections import Beam, Exhaustive, Sample, Search
from seqloom.search.contracts import Hypothesis, State, Stepper
from seqloom.search.dispatch import run
from seqloom.search.ensembles import Ensemble, EnsembleState
from seqloom.search.fusion import Fused, FusedState
from seqloom.search.settings import Request, longest_outputs
from seqloom.symbols import UNKNOWN

Input = str | Mapping[str, Any] | Example
"""What one may ask a prediction for: a text, a mapping with `source` and perhaps `features`, or an example."""

BATCH_SIZE = 64
_MOST_ROWS = 640
"""Rows of all sentences decoded together: a wide beam takes fewer sentences at a time, so that memory stays bounded."""
_CHUNK = 1024
"""A stream is read so many inputs at a time: enough to sort by length, few enough that answers keep coming."""

FUSION_WEIGHT = 0.3
"""How much a fused language model counts unless told otherwise: enough to be seen, too little to write by itself."""

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Scored:
    """`log p(y | x)` of a given target: in all, and per symbol, `end` included."""

    log_prob: float
    symbols: tuple[str, ...]
    log_probs: tuple[float, ...]

    def as_json(self) -> dict[str, Any]:
        """The object that `score --json` prints."""
        return {"log_prob": self.log_prob, "symbols": list(self.symbols), "log_probs": list(self.log_probs)}


class DrawnPrediction(Prediction):
    """A prediction that draws its attention map where a notebook shows it."""

    def _repr_html_(self) -> str:
        from seqloom.views import to_fragment

        return to_fragment(self)


class Predictor:
    """Opened models that share their vocabularies; the first one's recipe gives the default search.

    language_model: one with their target vocabulary, fused into what they say with the given weight. `fusion_weight` is that
    weight, or None without a language model.
    """

    def __init__(
        self, models: Sequence[OpenedModel], *, language_model: OpenedModel | None = None, weight: float = FUSION_WEIGHT
    ) -> None:
        if not models:
            raise UsageError("a predictor needs at least one model")
        self._steppers: list[SourceStepper] = [model.stepper for model in models]
        self._combined: Stepper = models[0].stepper if len(models) == 1 else Ensemble(self._steppers)
        self.vocabularies: Mapping[str, Vocabulary] = models[0].vocabularies
        self.recipe: Recipe = models[0].recipe
        self.fusion_weight = None if language_model is None else weight
        self._language_model: SourceStepper | None = None
        if language_model is not None:
            fused = Fused(self._combined, language_model.stepper, weight)
            if weight:  # without weight it is not even asked
                self._language_model, self._combined = language_model.stepper, fused

    @classmethod
    def load(
        cls,
        *folders: str | Path,
        language_model: str | Path | None = None,
        weight: float = FUSION_WEIGHT,
        precision: InferencePrecision = "fp32",
        shortlist: int | None = None,
    ) -> Self:
        """Open the best weights of one run, or of several as an ensemble, and of a language model to be fused in.

        precision: of matrix products in decoding. shortlist: write only so many symbols, those most frequent in training.
        """
        models = [open_model(Path(folder), precision=precision, shortlist=shortlist) for folder in folders]
        for folder, model in zip(folders, models, strict=True):
            _require_source(folder, model)
        for folder, model in zip(folders[1:], models[1:], strict=True):
            for name, vocabulary in models[0].vocabularies.items():
                if model.vocabularies[name].to_json() != vocabulary.to_json():
                    raise UsageError(
                        f"{folder}: its {name} vocabulary differs from that of {folders[0]}, so they cannot vote on symbols. "
                        "Train the members of an ensemble on the same data with the same vocabularies"
                    )
        if language_model is None or not models:
            return cls(models)
        fused = open_model(Path(language_model), precision=precision, shortlist=shortlist)
        _require_fusible(language_model, fused, models[0].vocabularies[TARGET], beside=folders[0])
        return cls(models, language_model=fused, weight=weight)

    # --- predicting -------------------------------------------------------------------------------------------------

    def predict(
        self,
        inputs: Sequence[Input],
        *,
        search: Search | None = None,
        nbest: int = 1,
        prefix: str = "",
        batch_size: int = BATCH_SIZE,
        first: int = 0,
        progress: Progress = lambda count: None,
    ) -> list[Prediction]:
        """The best outputs for each input, in the order of the inputs.

        A result depends neither on its neighbours nor on `nbest`. prefix: what every output must begin with. first: the
        number of the first input in a longer stream: what sampling draws for an input depends on its number alone. A blank
        source has an empty output: no model has learnt what to say to nothing.
        """
        section = search or self.recipe.search
        _check_nbest(nbest, section)
        examples = [_example(one, number) for number, one in enumerate(inputs)]
        encoded = [self._encode(example) for example in examples]
        forced = self._forced(prefix)
        found: list[list[Hypothesis]] = [[]] * len(examples)
        asked = np.asarray([index for index, example in enumerate(examples) if not _is_blank(example)], dtype=np.int64)
        order = asked[np.argsort([len(encoded[index].ids) for index in asked], kind="stable")]
        together = max(1, min(batch_size, _MOST_ROWS // _width(section)))
        for start in range(0, len(order), together):
            chosen = order[start : start + together]
            hypotheses = self._search([encoded[one] for one in chosen], first + chosen, section, forced)
            for index, ranked in zip(chosen, hypotheses, strict=True):
                found[index] = ranked
            progress(len(chosen))
        return [
            self._prediction(example, source, hypotheses[:nbest])
            for example, source, hypotheses in zip(examples, encoded, found, strict=True)
        ]

    def predict_stream(self, inputs: Iterable[Input], **wishes: Any) -> Iterator[Prediction]:
        """Predictions for a stream of any length, in order, taking the wishes that `predict` takes."""
        remaining = iter(inputs)
        first = 0
        while chunk := list(itertools.islice(remaining, _CHUNK)):
            yield from self.predict(chunk, first=first, **wishes)
            first += len(chunk)

    def tolerant(self, examples: Iterable[Example]) -> list[Example]:
        """Examples of a data set, without the features that training never saw: they count as absent, as in preparation."""
        known = set(self.vocabularies[SOURCE].features)
        return [replace(one, features=tuple(feature for feature in one.features if feature in known)) for one in examples]

    def _encode(self, example: Example) -> Encoded:
        try:
            return self.vocabularies[SOURCE].encode_source(example.sources[SOURCE], example.features)
        except DataError as problem:
            raise DataError(f"{example.origin}: {problem}") from problem

    def _forced(self, prefix: str) -> IntArray:
        ids = self.vocabularies[TARGET].encode_targets([prefix])[0]
        if UNKNOWN in ids:
            raise UsageError(
                f"prefix {prefix!r}: it has symbols that did not occur in training targets, so no output can begin with it. "
                "Leave them out"
            )
        if (ids >= self._combined.vocabulary_size).any():
            raise UsageError(f"prefix {prefix!r}: it has symbols that are not on the shortlist. Make the shortlist longer")
        return ids

    def _search(self, encoded: Sequence[Encoded], keys: IntArray, section: Search, forced: IntArray) -> list[list[Hypothesis]]:
        source = Padded.of([one.ids for one in encoded])
        vocabulary = self.vocabularies[TARGET]
        limits = np.maximum(longest_outputs(section, source.lengths), len(forced) + 1)
        request = Request(
            limits=limits,
            keys=np.asarray(keys, dtype=np.int64),
            prefixes=[forced] * len(encoded) if len(forced) else (),
            forbid=np.asarray([*map(vocabulary.find, section.forbid), *vocabulary.feature_ids], dtype=np.int64),
            source_lengths={SOURCE: source.lengths},
        )
        return run(self._combined, self._start({SOURCE: source}, len(encoded)), section, request)

    def _start(self, sources: Mapping[str, Padded], count: int) -> State:
        states = tuple(stepper.start(sources, count) for stepper in self._steppers)
        state = states[0] if len(states) == 1 else EnsembleState(states)
        return state if self._language_model is None else FusedState(state, self._language_model.start({}, count))

    def _prediction(self, example: Example, source: Encoded, hypotheses: Sequence[Hypothesis]) -> Prediction:
        candidates = [self._candidate(one, source) for one in hypotheses] or [_NOTHING]
        return DrawnPrediction(
            dict(example.sources), candidates[0], tuple(candidates[1:]), example.features, self.fusion_weight
        )

    def _candidate(self, hypothesis: Hypothesis, source: Encoded) -> Candidate:
        vocabulary = self.vocabularies[TARGET]
        alignment = {
            name: Alignment(weights.astype(np.float32), source.symbols, source.spans)
            for name, weights in hypothesis.weights.items()
        }
        return Candidate(
            text=vocabulary.decode(hypothesis.tokens),
            tokens=vocabulary.symbols(hypothesis.tokens),
            score=float(hypothesis.score),
            log_prob=float(hypothesis.log_prob),
            log_probs=tuple(float(one) for one in hypothesis.log_probs),
            alignment=alignment,
            finished=hypothesis.finished,
        )

    # --- scoring ----------------------------------------------------------------------------------------------------

    def score(
        self, examples: Sequence[Example], *, batch_size: int = BATCH_SIZE, progress: Progress = lambda count: None
    ) -> list[Scored]:
        """`log p(y | x)` of given targets, in their order. An ensemble's probabilities are averaged per symbol.

        A language model that is fused in has no part in it.
        """
        vocabulary = self.vocabularies[TARGET]
        sources = [self._encode(example).ids for example in examples]
        targets = vocabulary.encode_targets([_target(example) for example in examples])
        found: list[Scored] = [Scored(0.0, (), ())] * len(examples)
        order = np.argsort([len(one) for one in sources], kind="stable")
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            batch = Batch(
                {SOURCE: Padded.of([sources[one] for one in chosen])},
                Padded.of([targets[one] for one in chosen]),
                np.ones(len(chosen), dtype=np.float32),
                tuple(examples[one].origin for one in chosen),
            )
            rows = self._score(batch)
            for index, row, length, labels in zip(chosen, rows, batch.labels.lengths, batch.labels.values, strict=True):
                found[index] = Scored(
                    float(row[:length].sum()), vocabulary.symbols(labels[:length]), tuple(map(float, row[:length]))
                )
            progress(len(chosen))
        return found

    def _score(self, batch: Batch) -> np.ndarray[Any, np.dtype[np.float64]]:
        rows = np.stack([stepper.score(batch).astype(np.float64) for stepper in self._steppers])
        mean: np.ndarray[Any, np.dtype[np.float64]] = np.logaddexp.reduce(rows, axis=0) - np.log(len(rows))
        return mean

    # --- judging ----------------------------------------------------------------------------------------------------

    def items(self, examples: Sequence[Example], predictions: Sequence[Prediction]) -> list[Item]:
        """What metrics need of each prediction. References are the texts as given, not as the vocabulary would spell them.

        A reference symbol outside the vocabulary can never be matched: two unknowns need not be the same.
        """
        vocabulary = self.vocabularies[TARGET]
        targets = vocabulary.encode_targets([_target(example) for example in examples])
        written = vocabulary.encode_targets([prediction.text for prediction in predictions])
        return [
            Item(
                hypothesis=prediction.text,
                references=(_target(example),),
                hypothesis_symbols=tuple(symbols.tolist()),
                references_symbols=(tuple(-1 if symbol == UNKNOWN else symbol for symbol in target.tolist()),),
                source_length=len(self._encode(example).ids),
            )
            for example, prediction, target, symbols in zip(examples, predictions, targets, written, strict=True)
        ]


def _require_source(folder: str | Path, model: OpenedModel) -> None:
    if model.recipe.model.encoder is None:
        raise UsageError(
            f"{folder}: is a language model, which has no source to predict from. Use `sample` to let it write, or fuse it "
            f"into a model that reads a source: predict RUN --fuse {folder}"
        )


def _require_fusible(folder: str | Path, model: OpenedModel, vocabulary: Vocabulary, *, beside: str | Path) -> None:
    """Refuse what cannot have a say in the outputs of the run `beside`, which has the given target vocabulary."""
    remedy = f"train --text TARGETS --lines --vocabulary {beside} --out LM"
    if model.recipe.model.encoder is not None:
        raise UsageError(
            f"{folder}: expected a language model to fuse, found a model that reads a source. Train one on target texts: "
            f"{remedy}. To let several models vote, name them as runs"
        )
    if model.recipe.data.text == "stream":
        raise UsageError(
            f"{folder}: is a language model of running text, which has not learnt where an output begins and ends. "
            f"Train one on lines (`data.text: lines`): {remedy}"
        )
    if model.vocabularies[TARGET].to_json() != vocabulary.to_json():
        raise UsageError(
            f"{folder}: its vocabulary differs from the target vocabulary of {beside}, so it cannot judge the same symbols. "
            f"Train a language model with that vocabulary: {remedy}"
        )


def _example(one: Input, number: int) -> Example:
    match one:
        case Example():
            return one
        case str():
            return Example({SOURCE: one}, None, Origin("input", number + 1))
        case Mapping():
            unknown = set(one) - {SOURCE, "features"}
            if unknown or SOURCE not in one:
                raise UsageError(f"input {number + 1}: expected the keys `source` and perhaps `features`, found {sorted(one)}")
            features = one.get("features", ())
            return Example({SOURCE: str(one[SOURCE])}, None, Origin("input", number + 1), features=_features(features))


_NOTHING = Candidate(text="", tokens=(), score=0.0, log_prob=0.0, log_probs=())


def _is_blank(example: Example) -> bool:
    return not any(text.strip() for text in example.sources.values())


def _features(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence):
        return tuple(map(str, value))
    raise UsageError(f"features: expected a text or a list of texts, found {value!r}")


def _target(example: Example) -> str:
    if example.target is None:
        raise DataError(f"{example.origin}: this line has no target, so there is nothing to compare with. Give both columns")
    return example.target


def _width(section: Search) -> int:
    """How many outputs a search follows at once."""
    match section:
        case Beam(width=width):
            return width
        case Sample(count=count) | Exhaustive(count=count):
            return count
        case _:
            return 1


def _check_nbest(nbest: int, section: Search) -> None:
    most = _width(section)
    match section:
        case Beam():
            remedy = f"the beam is {most} wide. Use a width of {nbest} or more (--beam {nbest})"
        case Sample() | Exhaustive():
            remedy = f"the search keeps {most}. Raise its count"
        case _:
            remedy = "greedy search finds one output. Use beam search (--beam)"
    if not 1 <= nbest <= most:
        raise UsageError(f"{nbest} best outputs were asked for, but {remedy}")
