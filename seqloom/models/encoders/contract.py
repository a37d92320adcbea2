"""What every encoder is: it reads one source into a Memory."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from torch import Tensor, nn

from seqloom.models.memory import Memory
from seqloom.models.operations import Multiplications
from seqloom.results.layouts import Layout, Tokens


class Encoder(nn.Module, ABC):
    """memory_size: the width of the states that it writes; summary_size: that of their summary.

    layout: how the positions lie that it writes.
    """

    memory_size: int
    summary_size: int
    layout: Layout = Tokens()

    @abstractmethod
    def forward(self, values: Tensor, lengths: Tensor) -> Memory:
        """Read a source as it comes in batches: values [B, S, ...] and lengths [B]."""

    @property
    @abstractmethod
    def multiplications(self) -> Multiplications:
        """What it costs per sentence, position and pair of positions."""

    @property
    def symbol_embedding(self) -> nn.Embedding | None:
        """The embedding of the symbols that it reads, if it reads any: a decoder may share it."""
        return next((part for part in self.children() if isinstance(part, nn.Embedding)), None)

    def read_beside(self, memories: Mapping[str, Memory], values: Tensor, lengths: Tensor) -> Memory:  # noqa: ARG002
        """Read a source after others, one of which an encoder may build on: such a one has an idea of its own here."""
        memory: Memory = self(values, lengths)
        return memory

    def load_pretrained(self) -> None:
        """Take over what was learnt elsewhere, if anything."""
