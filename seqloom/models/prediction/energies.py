"""The scores behind the weights of attention (A1), for those who want to see how weights come about."""

from collections.abc import Mapping

import torch

from seqloom.data.arrays import IntArray, Padded
from seqloom.models.attention import ScoredAttention
from seqloom.models.bridges import AttentionBridge
from seqloom.models.decoders import RecurrentDecoder
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.search.contracts import FloatArray
from seqloom.symbols import BEGIN


def attention_energies(model: EncoderDecoder, sources: Mapping[str, Padded], tokens: IntArray) -> dict[str, FloatArray]:
    """`e_jt` of every step while one sentence is written, by source, [T, H, S].

    tokens [T]: what is written. Nothing for attention whose weights are no softmax of scores, and for transformers, whose
    layers have many.
    """
    decoder, bridge = model.decoder, model.decoder.bridge
    if not isinstance(decoder, RecurrentDecoder) or not isinstance(bridge, AttentionBridge):
        return {}
    state = decoder.start(model.encode(sources), 1)
    scored = {name: one for name in state.link.keys if isinstance(one := bridge.attention(name), ScoredAttention)}
    found: dict[str, list[torch.Tensor]] = {name: [] for name in scored}
    for token in (BEGIN, *tokens[:-1].tolist()):
        decoded = decoder.step(torch.tensor([[token]], device=model.device), state)
        query = decoded.state.hidden if decoder.uses.query_current else state.hidden
        for name, attention in scored.items():
            scores = attention.scores(query, state.link.keys[name])[0, :, 0]
            # A context that is added to the state leaves no trace of the state that had asked for it.
            if torch.allclose(scores.softmax(dim=-1), decoded.weights[name][0, :, 0], atol=1e-3):
                found[name].append(scores)
        state = decoded.state
    return {name: torch.stack(steps).float().cpu().numpy() for name, steps in found.items() if len(steps) == len(tokens)}
