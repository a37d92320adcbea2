"""What every decoder is: a state of rows of beams, symbols in, and what the output layer says of the next ones.

A decoder has one way to read a whole target, `forward`, and one to read a symbol in every row, `step`; both say the same.
Search, loss and language models know nothing else of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from seqloom.models.attention import Carry, Chance
from seqloom.models.bridges import Bridge, Link
from seqloom.models.decoders.copying import Copying
from seqloom.models.initialisation import start_matrix
from seqloom.models.memory import CellState
from seqloom.models.mixed_precision import linear
from seqloom.models.operations import Multiplications
from seqloom.models.products import Product, build_product
from seqloom.models.starts import Memories
from seqloom.recipe import sections
from seqloom.symbols import UNKNOWN
from seqloom.system.cpu import TorchPrecision


@dataclass(frozen=True)
class DecoderState:
    """All that a decoder keeps between two symbols, for B sentences of K rows.

    cells: per layer, leaves [B, K, ...], the first of which is what the layer shows [B, K, D]; feed: what the step before
    hands to the first cell beside its state, the combined vector [B, K, D] or, concatenated to the state, the context
    [B, K, C]; carry: what the attentions remember; link: the sources, one row per sentence however many rows the sentence has;
    given: what a decoder that does not read symbols is given next in their place [B, K, E].
    """

    cells: tuple[CellState, ...]
    feed: Tensor | None
    carry: Mapping[str, Carry]
    link: Link
    given: Tensor | None = None

    @property
    def hidden(self) -> Tensor:
        """What the last layer shows of its state, [B, K, D]."""
        return self.cells[-1][0]

    def detached(self) -> "DecoderState":
        """The same state, through which no gradient flows back. What belongs to sources stays: they have one window only."""
        return replace(self, cells=tuple(tuple(leaf.detach() for leaf in layer) for layer in self.cells))

    def select(self, sentences: Tensor, parents: Tensor, *, regrouped: bool) -> "DecoderState":
        """Keep the given sentences [B'] and rows of each [B', K']; `regrouped` is False if the sentences stay as they are."""

        def pick(leaf: Tensor) -> Tensor:
            return leaf[sentences[:, None], parents]

        return DecoderState(
            cells=tuple(tuple(pick(leaf) for leaf in layer) for layer in self.cells),
            feed=None if self.feed is None else pick(self.feed),
            carry={name: tuple(pick(leaf) for leaf in carry) for name, carry in self.carry.items()},
            link=self.link.select(sentences) if regrouped else self.link,
            given=None if self.given is None else pick(self.given),
        )


@dataclass(frozen=True)
class Decoded:
    """A window of decoding.

    features [B, T, O] for the output layer; weights [B, H, T, S] by source; the state after it; chances: what was drawn on the
    way, of the sources in which positions are drawn.
    """

    features: Tensor
    weights: Mapping[str, Tensor]
    state: DecoderState
    chances: Mapping[str, Chance]

    @classmethod
    def joined(cls, steps: Sequence["Decoded"]) -> "Decoded":
        """Steps one after the other as one window."""
        return cls(
            features=torch.cat([step.features for step in steps], dim=1),
            weights={name: torch.cat([step.weights[name] for step in steps], dim=2) for name in steps[0].weights},
            state=steps[-1].state,
            chances={name: Chance.joined([step.chances[name] for step in steps]) for name in steps[0].chances},
        )


class Decoder(nn.Module, ABC):
    """Writes the target one symbol at a time, seeing the sources through a bridge.

    size: D, the width of what every layer shows; inputs: what training gives it of the step before (E7); copying: None if it
    only writes.
    """

    size: int
    inputs: sections.Inputs
    bridge: Bridge
    embedding: nn.Embedding
    output: "OutputLayer"
    copying: Copying | None

    @property
    @abstractmethod
    def flows_back(self) -> bool:
        """Whether what is read at one step changes what a later one computes by more than a constant."""

    @abstractmethod
    def start(self, memories: Memories, batch_size: int) -> DecoderState:
        """The state before the first symbol, one row per sentence."""

    @abstractmethod
    def forward(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read the given symbols [B, T] one after the other from a state of one row per sentence."""

    @abstractmethod
    def step(self, tokens: Tensor, state: DecoderState) -> Decoded:
        """Read one symbol in every row, tokens [B, K]; the T of what comes back counts rows. Nothing is left out at random."""

    @property
    @abstractmethod
    def multiplications(self) -> Multiplications:
        """What it costs, bridge and output layer included."""

    def for_prediction(self, precision: TorchPrecision) -> None:
        """Lay out bridge and output layer for speed in a precision, in place; a kind adds what is its own."""
        self.bridge = self.bridge.for_prediction(precision)
        self.add_module("output", self.output.for_prediction(precision))

    @property
    def symbol_rows(self) -> tuple[Tensor, ...]:
        """The parameters that have a row for each symbol."""
        return self.embedding.weight, *self.output.parameters()

    # --- outputs ------------------------------------------------------------------------------------------------------

    def log_probs(self, decoded: Decoded) -> Tensor:
        """`log p` of all symbols at every step, [B, T, V]; with copying, those that sources alone have behind them."""
        return self.with_copies(torch.log_softmax(self.output(decoded.features), dim=-1), decoded)

    def with_copies(self, log_probs: Tensor, decoded: Decoded) -> Tensor:
        """Log-probabilities of writing [B, T, V] become those of writing or copying, if this decoder copies."""
        if self.copying is None:
            return log_probs
        mixed: Tensor = self.copying(log_probs, decoded.features, *_pointing(decoded))
        return mixed

    def label_log_probs(self, decoded: Decoded, labels: Tensor) -> Tensor:
        """`log p` of the labels [B, T]."""
        every = torch.log_softmax(self.output(decoded.features).float(), dim=-1)
        if self.copying is None:
            return every.gather(-1, labels[..., None]).squeeze(-1)
        inside = labels < every.shape[-1]
        written = every.gather(-1, torch.where(inside, labels, UNKNOWN)[..., None]).squeeze(-1).masked_fill(~inside, -torch.inf)
        return self.copying.of_labels(written, decoded.features, *_pointing(decoded), labels)


def _pointing(decoded: Decoded) -> tuple[Tensor, Tensor]:
    """Where the steps point, [B, T, S], and the symbols that stand there, [B, S]."""
    ((name, symbols),) = decoded.state.link.symbols.items()
    return decoded.weights[name].mean(dim=1), symbols


class OutputLayer(nn.Module, ABC):
    """Scores of all symbols from what a step shows. The softmax that follows makes probabilities of them."""

    @abstractmethod
    def forward(self, features: Tensor) -> Tensor:
        """Features [..., O] -> scores [..., V]."""

    @abstractmethod
    def for_prediction(self, precision: TorchPrecision, symbols: int | None = None) -> nn.Module:
        """The layer laid out for speed, for all symbols or the first ones."""

    @property
    @abstractmethod
    def multiplications(self) -> int:
        """What the scores of a step cost."""


class LinearOutput(OutputLayer):
    """`V s_t + b` (E5), or `W_out s + W_att c + b` where the context comes to the output too (A7).

    tied: an embedding whose rows serve as `V`. input_scale: how large the entries of `s` and `c` are at the start.
    """

    def __init__(
        self, size: int, context_size: int, vocabulary_size: int, *, tied: nn.Embedding | None, input_scale: float = 1.0
    ) -> None:
        super().__init__()
        self.size = size
        self.weight = nn.Parameter(torch.empty(vocabulary_size, size)) if tied is None else tied.weight
        self.attended = nn.Parameter(torch.empty(vocabulary_size, context_size)) if context_size else None
        self.bias = nn.Parameter(torch.zeros(vocabulary_size))
        if tied is None:
            start_matrix(self.weight, input_scale=input_scale)
        if self.attended is not None:
            start_matrix(self.attended, input_scale=input_scale)

    def joined(self) -> tuple[Tensor, Tensor]:
        """The layer as one matrix [V, O], for features [s; c] or s alone, and its bias [V]."""
        matrix = self.weight if self.attended is None else torch.cat([self.weight, self.attended], dim=1)
        return matrix, self.bias

    def forward(self, features: Tensor) -> Tensor:
        """Features [..., O] -> logits [..., V]."""
        return linear(features, *self.joined())

    def for_prediction(self, precision: TorchPrecision, symbols: int | None = None) -> Product:
        """The layer laid out for speed, for all symbols or the first ones."""
        matrix, bias = self.joined()
        return build_product(precision, matrix[:symbols], bias[:symbols])

    @property
    def multiplications(self) -> int:
        """What the logits of a step cost."""
        return self.joined()[0].numel()


class LogProbabilities(OutputLayer):
    """For decoders whose features are log-probabilities already, [..., V]. symbols: how many are kept; None: all.

    The softmax leaves them as they are, or shares all probability among those that are kept.
    """

    def __init__(self, symbols: int | None = None) -> None:
        super().__init__()
        self.symbols = symbols

    def forward(self, features: Tensor) -> Tensor:
        """Log-probabilities as they are, perhaps of the first symbols alone."""
        return features[..., : self.symbols]

    def for_prediction(self, precision: TorchPrecision, symbols: int | None = None) -> "LogProbabilities":  # noqa: ARG002
        """The same in any precision."""
        return LogProbabilities(symbols)

    @property
    def multiplications(self) -> int:
        """None."""
        return 0
