"""Judging a model while it is trained: loss, metrics, samples, and whether it uses its source at all."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import torch

from seqloom.data.arrays import Padded
from seqloom.data.examples import Example
from seqloom.data.media.store import StoredFrontend
from seqloom.data.preparing.batches import Batch, BatchPlan, plan_epoch, plan_reading
from seqloom.data.preparing.prepared import Prepared
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.evaluation.items import items_of, usual_metrics
from seqloom.metrics import SLOW, NotComputedError, evaluate
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.prediction.stepper import TorchStepper
from seqloom.prediction.backends import OpenedModel
from seqloom.prediction.language_model import LanguageModel
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Greedy, Recipe
from seqloom.results.predictions import Prediction
from seqloom.training.plans import batch_lengths

_SAMPLES = 8
_TEXTS = 3
_TEXT_LENGTH = 200
_ROWS = 64
_START_UP = 200
"""Symbols that a row of running text reads before its own: what lies further back changes a loss in the fourth digit."""
_ENOUGH = 1000
"""With so many examples it shows whether a model uses its source."""
_LITTLE = 0.02
"""A model whose loss grows by less than this share when it is given wrong sources does not use them."""


@dataclass(frozen=True)
class ValidationResult:
    """One validation. values: loss and metrics by name; samples: predictions beside what was wanted.

    silent: metrics that say nothing about this data, and that nobody chose to be judged by. texts: what a language model wrote.
    """

    values: dict[str, float]
    shuffled_loss: float
    samples: Sequence[tuple[Prediction, str]]
    silent: frozenset[str] = frozenset()
    texts: tuple[str, ...] = ()

    @property
    def uses_source(self) -> bool:
        """Whether wrong sources make the targets clearly less probable."""
        return math.isnan(self.shuffled_loss) or self.shuffled_loss - self.values["loss"] > _LITTLE * self.values["loss"]

    def as_json(self) -> dict[str, Any]:
        """What the run folder keeps: samples with their outputs, and one attention map."""
        samples = [{**prediction.as_json(), "reference": reference} for prediction, reference in self.samples]
        for sample in samples[1:]:
            del sample["alignment"]
        shuffled = None if math.isnan(self.shuffled_loss) else self.shuffled_loss  # JSON has no NaN
        body = {"values": self.values, "shuffled_loss": shuffled, "uses_source": self.uses_source, "samples": samples}
        return {**body, "texts": list(self.texts)} if self.texts else body


class Validator(Protocol):
    """Judges one model on the validation split."""

    def validate(self, model: EncoderDecoder) -> ValidationResult:
        """Validate the model as it is now."""
        ...


@dataclass(frozen=True)
class PairValidator:
    """Judges by the loss and by outputs. examples: those that are decoded, as they stand in their files.

    frontends: what makes arrays of the sources that are files.
    """

    recipe: Recipe
    prepared: Prepared
    examples: list[Example]
    frontends: Mapping[str, StoredFrontend] = field(default_factory=dict)

    def validate(self, model: EncoderDecoder) -> ValidationResult:
        """Validate the model as it is now."""
        model.eval()
        split = self.prepared.splits["validation"]
        plan = _plan(split, self.recipe)
        losses = [_loss(model, split.batch(numbers)) for numbers in plan.batches]
        loss = _mean(losses)
        shuffled = loss * _growth_if_wrong(model, split, plan, losses)
        opened = OpenedModel(
            TorchStepper(model), self.prepared.vocabularies, self.recipe, self.frontends, self.prepared.unknown_targets > 0
        )
        predictor = Predictor([opened])
        examples = predictor.tolerant(self.examples)
        predictions = predictor.predict(examples, search=Greedy(**self.recipe.search.shared))
        chosen = self.recipe.training.validation.metric
        items = items_of(predictor, examples, predictions)
        evaluation = evaluate(items, _judged_by(usual_metrics(predictor.recipe, items), chosen))
        if chosen in evaluation.absent:
            raise NotComputedError(f"training.validation.metric is {chosen}, but {evaluation.absent[chosen]}")
        model.train()
        samples = [(prediction, example.target or "") for prediction, example in zip(predictions, examples, strict=True)]
        silent = frozenset(evaluation.silent) - {chosen}
        return ValidationResult({"loss": loss, **evaluation.metrics}, shuffled, samples[:_SAMPLES], silent)


@dataclass(frozen=True)
class TextValidator:
    """Judges a language model by how probable it finds the text. Running text is read in rows, each with a start-up."""

    recipe: Recipe
    prepared: Prepared

    def validate(self, model: EncoderDecoder) -> ValidationResult:
        """Validate the model as it is now."""
        model.eval()
        loss = validation_loss(model, self.prepared.splits["validation"], self.recipe)
        opened = LanguageModel(OpenedModel(TorchStepper(model), self.prepared.vocabularies, self.recipe))
        texts = tuple(one.text for one in opened.sample(_TEXTS, length=_TEXT_LENGTH))
        model.train()
        values = {"loss": loss, "perplexity": math.exp(min(loss, 700.0)), "bits_per_symbol": loss / math.log(2)}
        return ValidationResult(values, math.nan, [], texts=texts)


def validation_loss(model: EncoderDecoder, split: PreparedSplit, recipe: Recipe) -> float:
    """Mean `-log p` per symbol of a split. The model is left in evaluation mode."""
    model.eval()
    if recipe.data.text == "stream":
        return _stream_loss(model, split)
    return _mean(_loss(model, split.batch(numbers)) for numbers in _plan(split, recipe).batches)


def _judged_by(usual: Sequence[str], chosen: str) -> list[str]:
    """The metrics that suit the data and cost little, and the one that decides."""
    names: list[str] = [name for name in usual if name not in SLOW]
    return names if chosen in ("loss", *names) else [*names, chosen]


def _plan(split: PreparedSplit, recipe: Recipe) -> BatchPlan:
    """All examples once, by length; the largest batches that training has."""
    return plan_epoch(batch_lengths(split), budget=recipe.training.batch_tokens, most=None, seed=0, epoch=0, shuffle=False)


@torch.inference_mode()
def _stream_loss(model: EncoderDecoder, split: PreparedSplit) -> float:
    """Mean `-log p` per symbol of running text."""
    rows = max(1, min(_ROWS, split.symbols // (10 * _START_UP)))
    plan = plan_reading(split.symbols, rows=rows, window=_START_UP, start_up=_START_UP)
    nll, symbols, state = 0.0, 0, None
    for step in range(plan.steps):
        batch = split.window(plan, step)
        loss = model(batch, state)
        state = loss.state
        nll += float(loss.nll)
        symbols += batch.num_symbols
    return nll / symbols


@dataclass(frozen=True)
class _Loss:
    """`-log p` of all symbols of a batch, and how many they are."""

    nll: float
    symbols: int


def _mean(losses: Iterable[_Loss]) -> float:
    """Per symbol of all batches; not a number if there is none."""
    taken = list(losses)
    symbols = sum(loss.symbols for loss in taken)
    return sum(loss.nll for loss in taken) / symbols if symbols else math.nan


@torch.inference_mode()
def _loss(model: EncoderDecoder, batch: Batch) -> _Loss:
    return _Loss(float(model(batch).nll), batch.num_symbols)


def _growth_if_wrong(model: EncoderDecoder, split: PreparedSplit, plan: BatchPlan, losses: Sequence[_Loss]) -> float:
    """How many times the loss grows if sources are those of a neighbour in the batch; not a number if there are no neighbours.

    Batches are taken from the whole range of lengths. losses: what the right sources give, batch by batch.
    """
    comparable = [place for place, numbers in enumerate(plan.batches) if len(numbers) > 1]
    examples = sum(len(plan.batches[place]) for place in comparable)
    taken = comparable[:: max(1, examples // _ENOUGH)]
    right = _mean(losses[place] for place in taken)
    wrong = _mean(_loss(model, _with_wrong_sources(split.batch(plan.batches[place]))) for place in taken)
    return wrong / right if right else math.nan


def _with_wrong_sources(batch: Batch) -> Batch:
    sources = {
        name: Padded(np.roll(source.values, 1, axis=0), np.roll(source.lengths, 1)) for name, source in batch.sources.items()
    }
    return replace(batch, sources=sources)
