"""Judging a model while it is trained: loss, metrics, samples, and whether it uses its source at all."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from seqloom.backends import OpenedModel
from seqloom.data.batches import Batch, BatchPlan, Padded
from seqloom.data.examples import Example
from seqloom.data.prepared import Prepared, PreparedSplit
from seqloom.metrics import evaluate
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.stepper import TorchStepper
from seqloom.predict import Predictor
from seqloom.predictions import Prediction
from seqloom.recipe.sections import Greedy, Recipe, SearchSection

_SAMPLES = 8
_LITTLE = 0.02
"""A model whose loss grows by less than this share when it is given wrong sources does not use them."""


@dataclass(frozen=True)
class Judgement:
    """One validation. values: loss and metrics by name; samples: predictions beside what was wanted.

    silent: metrics that say nothing about this data, and that nobody chose to be judged by.
    """

    values: dict[str, float]
    shuffled_loss: float
    samples: list[tuple[Prediction, str]]
    silent: frozenset[str] = frozenset()

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
        return {"values": self.values, "shuffled_loss": shuffled, "uses_source": self.uses_source, "samples": samples}


@dataclass(frozen=True)
class Judge:
    """Judges one model on the validation split. examples: those that are decoded, as they stand in their files."""

    recipe: Recipe
    prepared: Prepared
    plan: BatchPlan
    examples: list[Example]

    def judge(self, model: EncoderDecoder) -> Judgement:
        """Validate the model as it is now."""
        model.eval()
        split = self.prepared.splits["validation"]
        loss = _mean_loss(model, split, self.plan, shuffled=False)
        shuffled = _mean_loss(model, split, self.plan, shuffled=True) if model.encoders else math.nan
        predictor = Predictor([OpenedModel(TorchStepper(model), self.prepared.vocabularies, self.recipe)])
        examples = predictor.tolerant(self.examples)
        predictions = predictor.predict(examples, search=_greedy(self.recipe))
        evaluation = evaluate(predictor.items(examples, predictions))
        model.train()
        samples = [(prediction, example.target or "") for prediction, example in zip(predictions, examples, strict=True)]
        silent = frozenset(evaluation.silent) - {self.recipe.training.validation.metric}
        return Judgement({"loss": loss, **evaluation.metrics}, shuffled, samples[:_SAMPLES], silent)


def _greedy(recipe: Recipe) -> Greedy:
    """Greedy search within the limits of the recipe's own."""
    return Greedy(**{name: getattr(recipe.search, name) for name in SearchSection.model_fields})


@torch.inference_mode()
def _mean_loss(model: EncoderDecoder, split: PreparedSplit, plan: BatchPlan, *, shuffled: bool) -> float:
    """Mean `-log p` per symbol, with the right sources or with those of a neighbour in the batch; NaN if there is none."""
    nll, symbols = 0.0, 0
    for numbers in plan.batches:
        batch = split.batch(numbers)
        if shuffled:
            if len(numbers) < 2:
                continue
            batch = _with_wrong_sources(batch)
        nll += float(model(batch).nll)
        symbols += batch.num_symbols
    return nll / symbols if symbols else math.nan


def _with_wrong_sources(batch: Batch) -> Batch:
    sources = {
        name: Padded(np.roll(source.values, 1, axis=0), np.roll(source.lengths, 1)) for name, source in batch.sources.items()
    }
    return replace(batch, sources=sources)
