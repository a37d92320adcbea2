"""The whole model: encoders, a bridge and a decoder, as `p(y | x) = prod_t p(y_t | y_<t, x)` (E1)."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from seqloom.data.arrays import Padded
from seqloom.data.kinds.contract import InputSize
from seqloom.data.preparing.batches import Batch
from seqloom.errors import RecipeError
from seqloom.models.ctc import CtcHead
from seqloom.models.decoders import Decoded, DecoderState, LinearOutput, LogProbabilities, build_decoder
from seqloom.models.decoders.inputs import scheduled_sampling
from seqloom.models.encoders import Encoder, build_encoder
from seqloom.models.encoders.frontends import input_sizes
from seqloom.models.memory import Memory, MemorySize
from seqloom.models.operations import Multiplications
from seqloom.models.training.loss import chunked_cross_entropy, cross_entropy_of, sampled_outputs
from seqloom.models.training.objective import AttentionLosses
from seqloom.recipe import sections
from seqloom.recipe.sections import TARGET
from seqloom.results.layouts import Layout
from seqloom.system.cpu import TorchPrecision


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
    """Built from a recipe's model section and the input sizes of the sources by name; 'target' is the decoder's vocabulary.

    sampled_softmax: in training, so many symbols stand for those of the vocabulary that are no label of the batch.
    """

    def __init__(
        self,
        section: sections.Model,
        sizes: Mapping[str, InputSize],
        *,
        label_smoothing: float = 0.0,
        sampled_softmax: int | None = None,
    ) -> None:
        super().__init__()
        self.label_smoothing = label_smoothing
        self.sampled_softmax = sampled_softmax
        self.attention_losses = AttentionLosses.of(section.bridge)
        self.encoders = nn.ModuleDict()
        sections_by_source = _by_source(section, [name for name in sizes if name != TARGET])
        for name in sections.in_reading_order(sections_by_source):
            if hasattr(self.encoders, name):
                raise RecipeError(f"data.sources: torch keeps the word {name!r} for itself. Call the source something else")
            before = {other: self.encoder(other) for other in self.encoders}
            self.encoders[name] = build_encoder(sections_by_source[name], sizes[name], before)
        self.sources = tuple(sections_by_source)
        memory_sizes = {name: MemorySize(one.memory_size, one.summary_size) for name, one in self._encoders_in_order()}
        vocabulary_size = sizes[TARGET]
        if not isinstance(vocabulary_size, int):
            raise TypeError(vocabulary_size)
        self.decoder = build_decoder(
            section.decoder,
            section.bridge,
            memory_sizes,
            vocabulary_size,
            source_embedding=self._source_embedding(),
        )
        self.ctc: CtcHead | None = None
        if section.ctc is not None:
            source = section.ctc.source or next(iter(memory_sizes))
            self.ctc = CtcHead(section.ctc, source, memory_sizes[source].states, vocabulary_size)

    def _source_embedding(self) -> nn.Embedding | None:
        return next((one.symbol_embedding for _, one in self._encoders_in_order() if one.symbol_embedding is not None), None)

    def _encoders_in_order(self) -> Iterator[tuple[str, Encoder]]:
        """The encoders in the order of the sources, which need not be the one in which these are read."""
        return ((name, self.encoder(name)) for name in self.sources)

    def encoder(self, name: str) -> Encoder:
        """The encoder of a source."""
        encoder = self.encoders[name]
        if not isinstance(encoder, Encoder):
            raise TypeError(encoder)
        return encoder

    def load_pretrained(self) -> None:
        """Take over what parts of the model have learnt elsewhere."""
        for name in self.encoders:
            self.encoder(name).load_pretrained()

    def encode(self, sources: Mapping[str, Padded]) -> dict[str, Memory]:
        """Read every source into its memory."""
        memories: dict[str, Memory] = {}
        for name in self.encoders:
            memories[name] = self.encoder(name).read_beside(memories, *self.tensors(sources[name]))
        return {name: memories[name] for name in self.sources}

    def decode(self, batch: Batch, state: DecoderState | None = None) -> Decoded:
        """Read the sources, then the decoder's inputs one after the other. state: goes on from there instead."""
        return self._decode(batch, state, {} if state is not None else self.encode(batch.sources))

    def _decode(
        self, batch: Batch, state: DecoderState | None, memories: Mapping[str, Memory], *, own_share: float = 0.0
    ) -> Decoded:
        """Read the decoder's inputs one after the other.

        own_share: how many of these inputs are the decoder's own outputs, where others are the right symbols (E7).
        """
        tokens, _ = self.tensors(batch.inputs)
        before = state if state is not None else self.decoder.start(memories, len(tokens))
        if own_share > 0.0:
            tokens = scheduled_sampling(self.decoder, tokens, before, own_share)
        return self.decoder(tokens, before)  # type: ignore[no-any-return]

    def forward(self, batch: Batch, state: DecoderState | None = None, *, step: int = 0) -> Loss:
        """The loss of a batch: the one entry of training. state: that of running text before this window of it.

        step: how many updates came before, which decides in training what the decoder is given.
        """
        # In evaluation the right symbols are given: that is what `log p(y | x)` of a target means.
        own_share = self.decoder.inputs.own_share(step) if self.training else 0.0
        memories = {} if state is not None else self.encode(batch.sources)
        decoded = self._decode(batch, state, memories, own_share=own_share)
        labels, _ = self.tensors(batch.labels)
        counted = batch.counted
        mask = torch.from_numpy(counted).to(labels.device)
        weights = torch.from_numpy(np.repeat(batch.weights, counted.sum(axis=1))).to(self.decoder.embedding.weight)
        objective, nll = self._cross_entropy(decoded, labels, mask, weights)
        per_sentence = torch.from_numpy(batch.weights).to(self.decoder.embedding.weight)
        for term in self._attention_losses(decoded, labels, mask):
            objective = objective + term @ per_sentence
        if self.ctc is not None and memories:
            spelled = self.ctc.loss(memories[self.ctc.source], *self.tensors(batch.target))
            objective = torch.lerp(objective, spelled @ per_sentence, self.ctc.weight)
        return Loss(objective, nll, decoded.state.detached())

    def _cross_entropy(self, decoded: Decoded, labels: Tensor, counted: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """The objective and the plain `-log p` of the labels [B, T] that count, summed; weights [N] are theirs."""
        if self.decoder.copying is not None:  # the chunks of the other loss know of nothing but the output layer
            log_probs = self.decoder.label_log_probs(decoded, labels)[counted]
            return -(log_probs @ weights.to(log_probs)), -log_probs.detach().sum()
        output, right = self.decoder.output, labels[counted]
        if isinstance(output, LogProbabilities):
            return cross_entropy_of(decoded.features[counted], right, weights, smoothing=self.label_smoothing)
        if not isinstance(output, LinearOutput):
            raise TypeError(output)
        matrix, bias = output.joined()
        if self.training and self.sampled_softmax is not None:
            matrix, bias, right = sampled_outputs(matrix, bias, right, self.sampled_softmax)
        return chunked_cross_entropy(decoded.features[counted], matrix, bias, right, weights, smoothing=self.label_smoothing)

    def _attention_losses(self, decoded: Decoded, labels: Tensor, counted: Tensor) -> list[Tensor]:
        """What the objective has beside cross-entropy, [B] each."""
        terms = self.attention_losses.of_weights(decoded, counted)
        if decoded.chances:
            with torch.no_grad():
                rewards = self.decoder.label_log_probs(decoded, labels)
            terms += self.attention_losses.of_chances(decoded, rewards, counted, flows_back=self.decoder.flows_back)
        return terms

    def log_probs(self, batch: Batch) -> Tensor:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        decoded = self.decode(batch)
        labels, lengths = self.tensors(batch.labels)
        real = torch.arange(labels.shape[1], device=labels.device) < lengths[:, None]
        return self.decoder.label_log_probs(decoded, labels).masked_fill(~real, 0.0)

    @property
    def layouts(self) -> dict[str, Layout]:
        """How the positions of each memory lie, by the source's name."""
        return {name: self.encoder(name).layout for name in self.encoders}

    @property
    def multiplications(self) -> Multiplications:
        """What a batch costs per sentence, position and pair of positions."""
        return sum((self.encoder(name).multiplications for name in self.encoders), start=self.decoder.multiplications)

    @torch.inference_mode()
    def for_prediction(self, precision: TorchPrecision) -> "EncoderDecoder":
        """The same model in evaluation mode, its decoder laid out for speed in a precision; the encoder, a few percent of the
        work, stays as it is. It shares the parameters that it does not lay out anew, and does not follow later updates.
        """  # noqa: D205
        shared = {id(parameter): parameter for parameter in self.parameters()}
        prepared = deepcopy(self, shared).eval()
        prepared.decoder.for_prediction(precision)
        return prepared

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


def build_model(recipe: sections.Recipe, vocabulary_sizes: Mapping[str, int], *, fresh: bool = True) -> EncoderDecoder:
    """A model with weights drawn from the recipe's seed, and others that were learnt elsewhere.

    fresh: False if all of them will be replaced, so that nothing learnt elsewhere needs to be there.
    """
    torch.manual_seed(recipe.seed)
    try:
        model = EncoderDecoder(
            recipe.model,
            input_sizes(recipe, vocabulary_sizes),
            label_smoothing=recipe.training.label_smoothing,
            sampled_softmax=recipe.training.sampled_softmax,
        )
    except (RuntimeError, MemoryError, OverflowError) as problem:  # torch, of shapes that it cannot set up
        raise RecipeError(
            f"model: its weights do not fit into any memory here ({str(problem).splitlines()[0]}). Use smaller sizes"
        ) from problem
    if fresh:
        model.load_pretrained()
    return model


def _by_source(section: sections.Model, names: Sequence[str]) -> dict[str, sections.AnyEncoder | sections.SameEncoder]:
    """The encoders in the order of the sources."""
    if section.encoders is not None:
        return {name: section.encoders[name] for name in names}
    return {} if section.encoder is None else {names[0]: section.encoder}
