"""A torch model as search sees it: NumPy in and out, one step at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from seqloom.data.batches import Batch, Padded
from seqloom.models.decoders import Decoded, DecoderState
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.search.contracts import FloatArray, IntArray, State


@dataclass(frozen=True)
class TorchState:
    """A decoder state behind the contract that search knows."""

    inner: DecoderState

    @property
    def sentences(self) -> int:
        """B, the number of sentences."""
        return len(self.inner.hidden)

    def select(self, sentences: IntArray, parents: IntArray) -> "TorchState":
        """Keep the given sentences and rows; memories are copied only if the sentences change."""
        regrouped = len(sentences) != self.sentences or bool((sentences != np.arange(self.sentences)).any())
        device = self.inner.hidden.device
        chosen, rows = torch.from_numpy(sentences).to(device), torch.from_numpy(np.ascontiguousarray(parents)).to(device)
        return replace(self, inner=self.inner.select(chosen, rows, regrouped=regrouped))


class TorchStep:
    """What the model says about the next symbol. Logits [B, K, V] stay a tensor, and are normalised only where asked for."""

    def __init__(self, decoded: Decoded, logits: Tensor) -> None:
        self._decoded = decoded
        self._logits = logits
        self._total = torch.logsumexp(logits, dim=-1, keepdim=True)

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        """Attention weights by source, [B, K, H, S]."""
        return {name: weights.transpose(1, 2).float().cpu().numpy() for name, weights in self._decoded.weights.items()}

    @property
    def state(self) -> TorchState:
        """The state after this step."""
        return TorchState(self._decoded.state)

    @torch.inference_mode()
    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        """The k best symbols of each row that are not forbidden."""
        with self._without(forbid):
            best, ids = self._logits.topk(min(k, self._logits.shape[-1]), dim=-1)
        best = best - self._total
        missing = k - best.shape[-1]
        if missing > 0:
            best = torch.nn.functional.pad(best, (0, missing), value=-torch.inf)
            ids = torch.nn.functional.pad(ids, (0, missing))
        return ids.cpu().numpy(), best.cpu().numpy()

    @contextmanager
    def _without(self, forbid: IntArray) -> Iterator[None]:
        """Hide symbols for a while, in place: a copy of all logits would cost as much as the search for the best."""
        if not len(forbid):
            yield
            return
        columns = torch.from_numpy(forbid).to(self._logits.device)
        hidden = self._logits[..., columns]
        self._logits.index_fill_(-1, columns, -torch.inf)
        try:
            yield
        finally:
            self._logits[..., columns] = hidden

    @torch.inference_mode()
    def at(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of the given symbols."""
        chosen = torch.from_numpy(ids).to(self._logits.device)
        found: FloatArray = (self._logits.gather(-1, chosen) - self._total).cpu().numpy()
        return found

    @torch.inference_mode()
    def all(self) -> FloatArray:
        """Log-probabilities of all symbols."""
        every: FloatArray = (self._logits - self._total).cpu().numpy()
        return every


class TorchStepper:
    """Steps through an EncoderDecoder in evaluation mode, in float32."""

    def __init__(self, model: EncoderDecoder) -> None:
        self._model = model.eval()

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return len(self._model.decoder.output.bias)

    @torch.inference_mode()
    def start(self, sources: Mapping[str, Padded], count: int) -> TorchState:
        """Read the sources of `count` sentences; one row each."""
        return TorchState(self._model.decoder.start(self._model.encode(sources), count))

    @torch.inference_mode()
    def step(self, tokens: IntArray, state: State) -> TorchStep:
        """Advance every row by one symbol."""
        if not isinstance(state, TorchState):
            raise TypeError(state)
        chosen = torch.from_numpy(np.ascontiguousarray(tokens)).to(self._model.device)
        decoded = self._model.decoder.step(chosen, state.inner)
        return TorchStep(decoded, self._model.decoder.output(decoded.features).float())

    @torch.inference_mode()
    def score(self, batch: Batch) -> FloatArray:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        scores: FloatArray = self._model.log_probs(batch).cpu().numpy()
        return scores
