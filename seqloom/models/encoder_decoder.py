"""The whole model: encoders, a bridge and a decoder, as `p(y | x) = prod_t p(y_t | y_<t, x)` (E1)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seqloom.data.batches import Batch, Padded
from seqloom.models.decoders import Decoded, DecoderState, RecurrentDecoder
from seqloom.models.encoders import TextEncoder
from seqloom.models.loss import chunked_cross_entropy
from seqloom.models.memory import Memory
from seqloom.recipe import sections


@dataclass(frozen=True)
class Loss:
    """A batch's loss, as sums so that batches can be added up.

    objective: what training minimises, example weights, label smoothing and penalties included; nll: plain
    `-log p(y | x)` over all symbols, `end` included; state: the decoder's after the batch, cut from the gradient.
    """

    objective: Tensor
    nll: Tensor
    state: DecoderState


class EncoderDecoder(nn.Module):
    """Built from a recipe's model section and the sizes of the vocabularies by name; 'target' is the decoder's.

    written_out: train through the written-out loops; else through the plain code that they are checked against.
    """

    def __init__(
        self,
        section: sections.Model,
        vocabulary_sizes: Mapping[str, int],
        *,
        label_smoothing: float = 0.0,
        written_out: bool = True,
    ) -> None:
        super().__init__()
        self.label_smoothing = label_smoothing
        encoder = section.encoder
        self.encoders = nn.ModuleDict()
        if encoder is not None:
            self.encoders["source"] = TextEncoder(encoder, vocabulary_sizes["source"], written_out=written_out)
        self.decoder = RecurrentDecoder(
            section.decoder,
            section.bridge,
            dict.fromkeys(self.encoders, encoder.memory_size) if encoder is not None else {},
            vocabulary_sizes["target"],
            source_embedding=self._source_embedding(),
            written_out=written_out,
        )

    def _source_embedding(self) -> nn.Embedding | None:
        for encoder in self.encoders.values():
            if isinstance(encoder, TextEncoder):
                return encoder.embedding
        return None

    def encode(self, sources: Mapping[str, Padded]) -> dict[str, Memory]:
        """Read every source into its memory."""
        return {name: encoder(*self.tensors(sources[name])) for name, encoder in self.encoders.items()}

    def decode(self, batch: Batch, state: DecoderState | None = None) -> Decoded:
        """Read the sources, then the decoder's inputs one after the other. state: goes on from there instead."""
        tokens, _ = self.tensors(batch.inputs)
        before = state if state is not None else self.decoder.start(self.encode(batch.sources), len(tokens))
        return self.decoder(tokens, before)  # type: ignore[no-any-return]

    def forward(self, batch: Batch, state: DecoderState | None = None) -> Loss:
        """The loss of a batch: the one entry of training. state: that of running text before this stretch of it."""
        decoded = self.decode(batch, state)
        labels, _ = self.tensors(batch.labels)
        counted = batch.counted
        mask = torch.from_numpy(counted).to(labels.device)
        features = decoded.features[mask]  # real positions only
        weights = torch.from_numpy(np.repeat(batch.weights, counted.sum(axis=1))).to(self.decoder.output.bias)
        objective, nll = chunked_cross_entropy(
            features, *self.decoder.output.joined(), labels[mask], weights, smoothing=self.label_smoothing
        )
        for penalty in decoded.penalties.values():
            objective = objective + penalty
        return Loss(objective, nll, decoded.state.detached())

    def log_probs(self, batch: Batch) -> Tensor:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        decoded = self.decode(batch)
        labels, lengths = self.tensors(batch.labels)
        every = torch.log_softmax(self.decoder.output(decoded.features).float(), dim=-1)
        real = torch.arange(labels.shape[1], device=labels.device) < lengths[:, None]
        return every.gather(-1, labels[..., None]).squeeze(-1).masked_fill(~real, 0.0)

    @property
    def device(self) -> torch.device:
        """Where the parameters live."""
        return next(self.parameters()).device

    @property
    def num_parameters(self) -> int:
        """How many numbers are learned; tied ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def tensors(self, padded: Padded) -> tuple[Tensor, Tensor]:
        """Arrays become tensors here and in the stepper, nowhere else."""
        values = torch.from_numpy(np.ascontiguousarray(padded.values)).to(self.device)
        return values, torch.from_numpy(padded.lengths).to(self.device)


def build_model(recipe: sections.Recipe, vocabulary_sizes: Mapping[str, int]) -> EncoderDecoder:
    """A fresh model with weights drawn from the recipe's seed."""
    torch.manual_seed(recipe.seed)
    return EncoderDecoder(recipe.model, vocabulary_sizes, label_smoothing=recipe.training.label_smoothing)
