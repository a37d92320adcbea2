"""Weights that decode as trained ones do, without training: outputs as long as the data's, and symbols chosen with decision.

Fresh weights would find all symbols nearly equally probable and would never come to an end, so that every search would run to
its limit: a benchmark of nothing that anybody does. Two changes make them realistic, and the same in every implementation:

- One unit of the encoder counts the source's symbols, and one of the decoder counts from there down to zero: `end` becomes
  probable around the length that the data would have, over a few steps.
- The output layer is scaled up until the best symbol has about the probability that a trained model gives it.
"""

import math

import numpy as np
import torch
from torch import Tensor

from seqloom.bench.workloads import Pairs
from seqloom.data.preparing.batches import Batch
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.recipe.sections import SOURCE, TARGET
from seqloom.symbols import END

_TICK = 0.005
"""What a counting unit adds per symbol: so little that tanh of the longest count is still nearly straight."""
_OPEN = 12.0
"""A gate's bias that leaves it open."""
_STEEPNESS = 0.25
_STRENGTH = 30.0
"""The score of `end` rises by about their product per step while the count passes zero."""
_SPREAD = 5.0
"""Standard deviation of the scores; with thousands of symbols the best then has a probability of about a half."""
_SAMPLE = 64


_UNIT = 0
"""The unit that counts, in the encoder's forward direction, in the decoder, and in the combined vector."""


@torch.no_grad()
def make_decisive(model: EncoderDecoder, pairs: Pairs) -> None:
    """Change the weights of a fresh model in place."""
    sources, targets = pairs.split.lengths(SOURCE), pairs.split.lengths(TARGET)
    _let_count(model, "encoders.source.forwards.0", parts=1)
    _let_count(model, "decoder.cells.0", parts=2)
    _start_below_zero(model, float(targets.mean() / sources.mean()))
    _sharpen(model, pairs.split.batch(np.arange(min(_SAMPLE, len(pairs.split)))))


def _let_count(model: EncoderDecoder, cell: str, *, parts: int) -> None:
    """Make one unit of an LSTM add a tick at every step, whatever comes in."""
    bias = model.get_parameter(f"{cell}.inputs.0.bias")
    size = len(bias) // 4
    rows = torch.arange(4) * size + _UNIT  # the unit's forget, write and output gates, and its candidate
    for matrix in (*(f"inputs.{part}" for part in range(parts)), "recurrent"):
        model.get_parameter(f"{cell}.{matrix}.weight")[rows] = 0.0
    bias[rows] = torch.tensor([_OPEN, _OPEN, _OPEN, math.atanh(_TICK)])


def _start_below_zero(model: EncoderDecoder, ratio: float) -> None:
    """Start the decoder's count so far below zero that it gets there after `ratio` symbols for each of the source."""
    start = "decoder.bridge.first.leaves.1.0"  # of the state that only the cell sees: it holds the count
    model.get_parameter(f"{start}.weight")[_UNIT] = 0.0
    model.get_parameter(f"{start}.weight")[_UNIT, _UNIT] = -ratio
    model.get_parameter(f"{start}.bias")[_UNIT] = 0.0


def _sharpen(model: EncoderDecoder, batch: Batch) -> None:
    """Scale the output layer to the wanted spread, and tie `end` to the count alone."""
    combine, output = model.get_parameter("decoder.combine.weight"), model.get_parameter("decoder.output.weight")
    combine[_UNIT] = 0.0
    combine[_UNIT, _UNIT] = _STEEPNESS / _TICK
    output[:, _UNIT] = 0.0
    output[END] = 0.0
    output.mul_(_SPREAD / float(_scores(model, batch).std()))
    output[END, _UNIT] = _STRENGTH
    # When the count is at zero, `end` is as good as the best other symbol.
    model.get_parameter("decoder.output.bias")[END] = float(_scores(model, batch)[:, END + 1 :].amax(dim=1).mean())


def _scores(model: EncoderDecoder, batch: Batch) -> Tensor:
    """Scores of all symbols [N, V] at all real positions of a batch."""
    model.eval()
    features = model.decode(batch).features
    scores: Tensor = model.decoder.output(features[torch.from_numpy(batch.labels.mask)])
    return scores
