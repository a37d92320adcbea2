"""Exact monotonic hard attention (Wu and Cotterell 2019): every symbol is read off one position, and positions never go back.

Which positions these are is never said, so all ways to walk along the source count:

    p(y_t | y_<t, x) = sum_j w_tj p(y_t | s_t, h_j)
    w_tj             = sum_i b_{t-1,i} p(i -> j | s_t)           b_t,j proportional to w_tj p(y_t | s_t, h_j)

`w_t` says where step t reads, given what was written before it, and `b_t` where it has read, once its symbol is known. Cells
see symbols alone, so that they run over a whole target first. Soft attention mixes states and then speaks; here every position
speaks, and what they say is mixed. Of few examples that is learnt far sooner: a letter says its sound, wherever it stands.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from seqloom.models.attention import Carry, KeyValues
from seqloom.models.bridges import Link, MonotonicBridge
from seqloom.models.decoders.contract import Decoded, DecoderState, LogProbabilities, OutputLayer
from seqloom.models.decoders.recurrent import RecurrentDecoder
from seqloom.models.mixed_precision import Linear
from seqloom.models.operations import Multiplications, matrix_entries
from seqloom.models.products import build_product
from seqloom.models.starts import Memories, MemorySizes
from seqloom.recipe import sections
from seqloom.system.cpu import TorchPrecision

_MOST_NUMBERS = 1 << 24
"""So many numbers of features are made at a time where nothing is learnt from them; then steps are read in pieces."""


class MonotonicDecoder(RecurrentDecoder):
    """Cells that read symbols, and an output layer that speaks for every position: `softmax(V tanh(W_s s_t + W_h h_j) + b)`.

    What it decodes are log-probabilities already. `output_dropout` thins the states and, once more, what the output layer sees.
    Carried from step to step are `w_t`, [B, K, S], and the log-probabilities of what every position would have said,
    [B, K, S, V], by which the symbol that was written tells where it was read.
    """

    def __init__(
        self,
        section: sections.RecurrentDecoder,
        bridge: sections.MonotonicBridge,
        memory_sizes: MemorySizes,
        vocabulary_size: int,
        source_embedding: nn.Embedding | None = None,
    ) -> None:
        super().__init__(section, bridge, memory_sizes, vocabulary_size, source_embedding)
        (memory_size,) = memory_sizes.values()
        self.from_state: nn.Module = Linear(section.size, section.size)
        self.from_source: nn.Module = Linear(memory_size.states, section.size, bias=False)
        self.emission: nn.Module = self.output
        self.output = LogProbabilities()

    @property
    def _path(self) -> MonotonicBridge:
        if not isinstance(self.bridge, MonotonicBridge):
            raise TypeError(self.bridge)
        return self.bridge

    def start(self, memories: Memories, batch_size: int) -> DecoderState:
        """At the first position, with nothing written: every position has said the same."""
        state = super().start(memories, batch_size)
        ((name, keys),) = state.link.keys.items()
        said = self.from_source(keys.values).masked_fill(~keys.mask[..., None], 0.0)
        first = torch.zeros_like(said[:, None, :, 0])
        first[..., 0] = 1.0
        emissions = said.new_zeros(batch_size, 1, said.shape[1], self.embedding.num_embeddings)
        link = replace(state.link, keys={name: KeyValues(keys.keys, said, keys.mask)})
        return replace(state, link=link, carry={name: (first, emissions)})

    def _needs_order(self, state: DecoderState) -> bool:
        """The cells do not know where was read, so they never wait for it."""
        return bool(state.link.oracle)

    def forward(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read the given symbols [B, T] one after the other from a state of one row per sentence."""
        decoded = super().forward(tokens, state)
        ((name, carry),) = state.carry.items()
        steps, link, log_probs, looked = self._steps_at_once(decoded, name), state.link, [], []
        for hidden, symbols in zip(torch.split(decoded.features, steps, 1), torch.split(tokens, steps, 1), strict=True):
            weights, before = carry
            emissions = self._emissions(hidden, link, thinned=True)
            told = _read_off(torch.cat([before, emissions[:, :-1]], dim=1), symbols)
            walked = []
            for query, said in zip(torch.split(hidden, 1, 1), torch.split(told, 1, 1), strict=True):
                weights = _directed(name, _moved(weights, said, self._path.moves(query, link)), link)
                walked.append(weights)
                link = link.later()
            looked.append(torch.cat(walked, dim=1))
            log_probs.append(_mixed(looked[-1], emissions))
            carry = weights, emissions[:, -1:]
        return _spoken(decoded, name, torch.cat(log_probs, dim=1), torch.cat(looked, dim=1), carry)

    def step(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read one symbol in every row, tokens [B, K]; the T of what comes back counts rows. Nothing is left out at random."""
        decoded = super().step(tokens, state)
        ((name, (weights, before)),) = state.carry.items()
        moves = self._path.moves(decoded.features, state.link)
        weights = _directed(name, _moved(weights, _read_off(before, tokens), moves), state.link)
        emissions = self._emissions(decoded.features, state.link, thinned=False)
        return _spoken(decoded, name, _mixed(weights, emissions), weights, (weights, emissions))

    def _steps_at_once(self, decoded: Decoded, name: str) -> int:
        """How many steps speak together: all, where gradients need what they say; else as many as memory should hold."""
        batch, steps, size = decoded.features.shape
        if torch.is_grad_enabled():
            return max(1, steps)
        return max(1, _MOST_NUMBERS // (batch * decoded.state.link.keys[name].mask.shape[1] * size))

    def _emissions(self, hidden: Tensor, link: Link, *, thinned: bool) -> Tensor:
        """`log p(y | s_t, h_j)` of all symbols for every position; hidden [B, T, D] -> [B, T, S, V]."""
        (keys,) = link.keys.values()
        features = torch.tanh(self.from_state(hidden)[:, :, None] + keys.values[:, None])
        if thinned:
            features = self.output_dropout(features.flatten(1, 2)).view_as(features)
        return torch.log_softmax(self.emission(features), dim=-1)

    # --- other forms --------------------------------------------------------------------------------------------------

    @property
    def symbol_rows(self) -> tuple[Tensor, ...]:
        """The parameters that have a row for each symbol."""
        return *super().symbol_rows, *self.emission.parameters()

    @property
    def multiplications(self) -> Multiplications:
        """Those of the cells; what state and positions say, and the output layer for each pair of them."""
        own = Multiplications(
            source=matrix_entries(self.from_source),
            target=matrix_entries(self.from_state),
            pair=self.emission.multiplications if isinstance(self.emission, OutputLayer) else 0,
        )
        return super().multiplications + own

    def for_prediction(self, precision: TorchPrecision) -> None:
        """Lay out cells, bridge and what every position says."""
        super().for_prediction(precision)
        if isinstance(self.emission, OutputLayer):
            self.emission = self.emission.for_prediction(precision)
        for name in ("from_state", "from_source"):
            layer = getattr(self, name)
            self.add_module(name, build_product(precision, layer.weight, layer.bias))


def _moved(before: Tensor, said: Tensor, moves: Tensor) -> Tensor:
    """`w_t`: where a step reads [B, K, S], from where the step before may have read and what was written then.

    before [B, K, S]: `w_{t-1}`; said [B, K, S]: the log-probability of what was written at every position; moves [B, K, S, S]:
    how probable it is to go from one position to another.
    """
    there = torch.softmax(_log(before) + said, dim=-1)
    return (there[:, :, None] @ moves).squeeze(2)


def _directed(name: str, weights: Tensor, link: Link) -> Tensor:
    """Weights [B, K, S], or those that an oracle gives in their place."""
    return link.oracle[name].over(weights[:, None])[:, 0] if name in link.oracle else weights


def _read_off(emissions: Tensor, tokens: Tensor) -> Tensor:
    """The log-probability of symbols [B, T] at every position, [B, T, S]."""
    return emissions.gather(-1, tokens[..., None, None].expand(-1, -1, emissions.shape[2], -1)).squeeze(-1)


def _mixed(weights: Tensor, emissions: Tensor) -> Tensor:
    """What all positions say together, [B, T, V], by the weights [B, T, S] of the steps."""
    return torch.logsumexp(_log(weights)[..., None] + emissions, dim=2)


def _log(weights: Tensor) -> Tensor:
    """Logarithms; -inf, and no gradient, of what cannot be: padding, and positions that were left behind."""
    there = weights > 0
    return torch.where(there, torch.where(there, weights, 1.0).log(), -torch.inf)


def _spoken(decoded: Decoded, name: str, log_probs: Tensor, weights: Tensor, carry: Carry) -> Decoded:
    """What was decoded: log-probabilities in the place of features, where steps read, and what they carry on."""
    mask = decoded.state.link.keys[name].mask
    after = replace(decoded.state, carry={name: carry})
    return Decoded(log_probs, {name: (weights * mask[:, None])[:, None]}, after, {})
