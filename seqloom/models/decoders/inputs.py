"""What the steps of a decoder are given of the steps before them (E7), one strategy for each way.

With teacher forcing a decoder reads symbols, the right ones or, by scheduled sampling, some of its own. The other two ways
read none: what their next step is given in the place of a symbol stands in the decoder's state.
"""

from typing import assert_never

import torch
from torch import Tensor, nn

from seqloom.models.decoders.contract import Decoder, DecoderState
from seqloom.models.dropout import InputDropout
from seqloom.recipe import sections
from seqloom.symbols import BEGIN


class TeacherForcing:
    """The right symbols in training; in search, those that were chosen. The base of the others, which read none.

    awaits_outputs: whether what a step is given is not known before the step before has been computed.
    """

    awaits_outputs = False
    reads_symbols = True

    def first(self, embedding: nn.Embedding, batch_size: int) -> Tensor | None:  # noqa: ARG002
        """What the first step is given in the place of a symbol, [B, 1, E]."""
        return None

    def following(self, features: Tensor, output: nn.Module, rows: Tensor) -> Tensor | None:  # noqa: ARG002
        """What the next step is given in the place of a symbol, [B, K, E]. features [B, K, O]: of this one; rows [V, E]."""
        return None

    def vectors(self, dropout: InputDropout, embedding: nn.Embedding, symbols: Tensor, given: Tensor | None) -> Tensor:  # noqa: ARG002
        """What as many steps as there are symbols [B, T] are given, [B, T, E], unless they await outputs."""
        vectors: Tensor = dropout(embedding, symbols)
        return vectors


class NoInputs(TeacherForcing):
    """`e(begin)`, and zeros ever after."""

    reads_symbols = False

    def first(self, embedding: nn.Embedding, batch_size: int) -> Tensor:
        """`e(begin)`."""
        return embedding.weight[BEGIN].expand(batch_size, 1, -1)

    def following(self, features: Tensor, output: nn.Module, rows: Tensor) -> Tensor:  # noqa: ARG002
        """Zeros."""
        return rows.new_zeros(*features.shape[:2], rows.shape[1])

    def vectors(self, dropout: InputDropout, embedding: nn.Embedding, symbols: Tensor, given: Tensor | None) -> Tensor:  # noqa: ARG002
        """What is given now, then zeros."""
        first = stands_for_symbol(given)
        nothing = first.new_zeros(len(first), symbols.shape[1] - 1, first.shape[2])
        vectors: Tensor = dropout.vectors(torch.cat([first, nothing], dim=1))
        return vectors


class ExpectedEmbedding(NoInputs):
    """`e(begin)`, then `sum_y P(y_{t-1} = y) e(y)`: the mean embedding under the distribution of the step before.

    That distribution is the one that prediction would see: the output layer's dropout has no part in it.
    """

    awaits_outputs = True

    def following(self, features: Tensor, output: nn.Module, rows: Tensor) -> Tensor:
        """The mean embedding."""
        return torch.softmax(output(features), dim=-1) @ rows


def stands_for_symbol(given: Tensor | None) -> Tensor:
    """What a state says that its next step is given."""
    if given is None:
        raise TypeError("the state of a decoder that does not read symbols says what it is given in their place")
    return given


def build_step_inputs(section: sections.Inputs) -> TeacherForcing:
    """The strategy that a recipe names."""
    match section:
        case sections.TeacherInputs() | sections.OwnInputs() | sections.MixedInputs():
            return TeacherForcing()
        case sections.NoInputs():
            return NoInputs()
        case sections.DistributionInputs():
            return ExpectedEmbedding()
        case _:
            assert_never(section)


@torch.no_grad()
def scheduled_sampling(decoder: Decoder, tokens: Tensor, state: DecoderState, share: float) -> Tensor:
    """The symbols [B, T], a share of those after the first replaced by the most probable ones of the step before.

    They are what the decoder would write, so nothing is left out at random on the way. Choosing has no gradient: training
    then reads the symbols that were found like any others.
    """
    own = torch.rand(tokens.shape, device=tokens.device) < share
    given = tokens.clone()
    for time in range(1, tokens.shape[1]):
        decoded = decoder.step(given[:, time - 1 : time], state)
        written = decoder.log_probs(decoded).argmax(dim=-1)[:, 0]
        given[:, time] = torch.where(own[:, time], written, tokens[:, time])
        state = decoded.state
    return given
