"""The whole model: encoders, a bridge and a decoder, as `p(y | x) = prod_t p(y_t | y_<t, x)` (E1)."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seqloom.data.batches import Batch, Padded
from seqloom.models.decoders import build_decoder
from seqloom.models.decoding import Decoded, DecoderState
from seqloom.models.encoders import TextEncoder, build_encoder
from seqloom.models.loss import chunked_cross_entropy
from seqloom.models.memory import Memory
from seqloom.models.objective import LookingTerms
from seqloom.models.transformers import TransformerEncoder
from seqloom.recipe import sections


@dataclass(frozen=True)
class Loss:
    """A batch's loss, as sums so that batches can be added up.

    objective: what training minimises, example weights, label smoothing and terms about looking included; nll: plain
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
        self.looking_terms = LookingTerms.of(section.bridge)
        encoder = section.encoder
        self.encoders = nn.ModuleDict()
        if encoder is not None:
            self.encoders["source"] = build_encoder(encoder, vocabulary_sizes["source"], written_out=written_out)
        self.decoder = build_decoder(
            section.decoder,
            section.bridge,
            dict.fromkeys(self.encoders, encoder.memory_size) if encoder is not None else {},
            vocabulary_sizes["target"],
            source_embedding=self._source_embedding(),
            written_out=written_out,
        )

    def _source_embedding(self) -> nn.Embedding | None:
        for encoder in self.encoders.values():
            if isinstance(encoder, TextEncoder | TransformerEncoder):
                return encoder.embedding
        return None

    def encode(self, sources: Mapping[str, Padded]) -> dict[str, Memory]:
        """Read every source into its memory."""
        return {name: encoder(*self.tensors(sources[name])) for name, encoder in self.encoders.items()}

    def decode(self, batch: Batch, state: DecoderState | None = None, *, own_share: float = 0.0) -> Decoded:
        """Read the sources, then the decoder's inputs one after the other. state: goes on from there instead.

        own_share: how many of these inputs are the decoder's own outputs, where others are the right symbols (E7).
        """
        tokens, _ = self.tensors(batch.inputs)
        before = state if state is not None else self.decoder.start(self.encode(batch.sources), len(tokens))
        if own_share > 0.0:
            tokens = self.decoder.with_own_outputs(tokens, before, own_share)
        return self.decoder(tokens, before)  # type: ignore[no-any-return]

    def forward(self, batch: Batch, state: DecoderState | None = None, *, step: int = 0) -> Loss:
        """The loss of a batch: the one entry of training. state: that of running text before this stretch of it.

        step: how many updates came before, which decides in training what the decoder is given.
        """
        # In evaluation the right symbols are given: that is what `log p(y | x)` of a target means.
        own_share = self.decoder.inputs.own_share(step) if self.training else 0.0
        decoded = self.decode(batch, state, own_share=own_share)
        labels, _ = self.tensors(batch.labels)
        counted = batch.counted
        mask = torch.from_numpy(counted).to(labels.device)
        weights = torch.from_numpy(np.repeat(batch.weights, counted.sum(axis=1))).to(self.decoder.output.bias)
        objective, nll = self._cross_entropy(decoded, labels, mask, weights)
        per_sentence = torch.from_numpy(batch.weights).to(self.decoder.output.bias)
        for term in self._looking_terms(decoded, labels, mask):
            objective = objective + term @ per_sentence
        return Loss(objective, nll, decoded.state.detached())

    def _cross_entropy(self, decoded: Decoded, labels: Tensor, counted: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """The objective and the plain `-log p` of the labels [B, T] that count, summed; weights [N] are theirs."""
        if self.decoder.copying is not None:  # the chunks of the other loss know of nothing but the output layer
            learnt = self.decoder.label_log_probs(decoded, labels, learning=True)[counted]
            with torch.no_grad():
                nll = -self.decoder.label_log_probs(decoded, labels)[counted].sum()
            return -(learnt @ weights.to(learnt)), nll
        features = decoded.features[counted]
        return chunked_cross_entropy(
            features, *self.decoder.output.joined(), labels[counted], weights, smoothing=self.label_smoothing
        )

    def _looking_terms(self, decoded: Decoded, labels: Tensor, counted: Tensor) -> list[Tensor]:
        """What the objective has beside cross-entropy, [B] each."""
        terms = self.looking_terms.of_weights(decoded, counted)
        if decoded.chances:
            with torch.no_grad():
                rewards = self.decoder.label_log_probs(decoded, labels)
            terms += self.looking_terms.of_chances(decoded, rewards, counted, flows_back=self.decoder.flows_back)
        return terms

    def log_probs(self, batch: Batch) -> Tensor:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        decoded = self.decode(batch)
        labels, lengths = self.tensors(batch.labels)
        real = torch.arange(labels.shape[1], device=labels.device) < lengths[:, None]
        return self.decoder.label_log_probs(decoded, labels).masked_fill(~real, 0.0)

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
    source = recipe.data.sources.source
    widths = {"source": source.size} if isinstance(source, sections.VectorSource) else {}
    return EncoderDecoder(recipe.model, {**vocabulary_sizes, **widths}, label_smoothing=recipe.training.label_smoothing)
