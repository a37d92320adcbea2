"""A language model over windows of text: state in, state out, so that a text of any length goes through bit by bit.

Letters: B rows, T symbols of a window, V vocabulary, N rows of logits at a time.
"""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from seqloom.models.decoders import DecoderState
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.results.language import FloatArray, IntArray, Studied

_MOST_LOGITS = 1 << 23
"""How many logits are held at once, whatever the size of the vocabulary."""


def score_segment(
    model: EncoderDecoder, inputs: IntArray, labels: IntArray, state: DecoderState
) -> tuple[FloatArray, DecoderState]:
    """`log p` of the labels [B, T], each after its input [B, T], and the state after the last one."""
    features, wanted, after = _read(model, inputs, labels, state)
    scores = [
        (logits.gather(-1, chosen[:, None]).squeeze(-1) - torch.logsumexp(logits, dim=-1))
        for logits, chosen in _logits(model, features, wanted)
    ]
    return _array(scores, labels.shape), after


def study_segment(
    model: EncoderDecoder, inputs: IntArray, labels: IntArray, state: DecoderState, *, alternatives: int
) -> tuple[Studied, DecoderState]:
    """All that `Studied` holds of the labels, and the state after the last one."""
    features, wanted, after = _read(model, inputs, labels, state)
    parts = [_study(logits, chosen, alternatives) for logits, chosen in _logits(model, features, wanted)]
    log_probs, ranks, entropies, top_ids, top_log_probs = zip(*parts, strict=True)
    several = (*labels.shape, top_ids[0].shape[-1])
    studied = Studied(
        log_probs=_array(log_probs, labels.shape),
        ranks=torch.cat(ranks).cpu().numpy().reshape(labels.shape),
        entropies=_array(entropies, labels.shape),
        top_ids=torch.cat(top_ids).cpu().numpy().reshape(several),
        top_log_probs=_array(top_log_probs, several),
    )
    return studied, after


def hidden_states(model: EncoderDecoder, tokens: IntArray, state: DecoderState) -> FloatArray:
    """What every layer shows after each of the given symbols [T] is read, [T, layers, D]; from a state of one row."""
    found = []
    for token in torch.from_numpy(tokens).to(model.device):
        state = model.decoder.step(token.view(1, 1), state).state
        found.append(torch.stack([layer[0][0, 0] for layer in state.cells]))
    shape = (0, len(state.cells), model.decoder.size)
    hidden: FloatArray = torch.stack(found).float().cpu().numpy() if found else np.zeros(shape, np.float32)
    return hidden


def _read(
    model: EncoderDecoder, inputs: IntArray, labels: IntArray, state: DecoderState
) -> tuple[Tensor, Tensor, DecoderState]:
    """Read the inputs: features [B * T, O], labels [B * T], and the state after them."""
    tokens = torch.from_numpy(np.ascontiguousarray(inputs)).to(model.device)
    decoded = model.decoder(tokens, state)
    wanted = torch.from_numpy(np.ascontiguousarray(labels)).to(model.device)
    return decoded.features.flatten(0, 1), wanted.flatten(), decoded.state


def _logits(model: EncoderDecoder, features: Tensor, labels: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Logits [N, V] and labels [N], so many positions at a time that memory stays bounded."""
    together = max(1, _MOST_LOGITS // model.decoder.embedding.num_embeddings)
    for start in range(0, len(features), together):
        yield model.decoder.output(features[start : start + together]).float(), labels[start : start + together]


def _study(logits: Tensor, labels: Tensor, alternatives: int) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    every = torch.log_softmax(logits, dim=-1)
    own = every.gather(-1, labels[:, None])
    entropies = -(every.exp() * every).sum(dim=-1) / math.log(2)
    ranks = (every > own).sum(dim=-1) + 1
    best, ids = every.topk(min(alternatives, every.shape[-1]), dim=-1)
    return own.squeeze(-1), ranks, entropies, ids, best


def _array(parts: list[Tensor] | tuple[Tensor, ...], shape: tuple[int, ...]) -> FloatArray:
    found: FloatArray = torch.cat(list(parts)).float().cpu().numpy().reshape(shape)
    return found
