"""A torch model as search sees it: NumPy in and out, one step at a time."""

from collections.abc import Mapping
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
    """What the model says about the next symbol; log-probabilities [B, K, V] stay tensors until asked for."""

    def __init__(self, decoded: Decoded, log_probs: Tensor) -> None:
        self._decoded = decoded
        self._log_probs = log_probs

    @property
    def weights(self) -> Mapping[str, FloatArray]:
        """Attention weights by source, [B, K, H, S]."""
        return {name: weights.transpose(1, 2).float().cpu().numpy() for name, weights in self._decoded.weights.items()}

    @property
    def state(self) -> TorchState:
        """The state after this step."""
        return TorchState(self._decoded.state)

    def top(self, k: int, forbid: IntArray) -> tuple[IntArray, FloatArray]:
        """The k best symbols of each row that are not forbidden."""
        allowed = self._log_probs
        if len(forbid):
            allowed = allowed.index_fill(-1, torch.from_numpy(forbid).to(allowed.device), -torch.inf)
        best, ids = allowed.topk(min(k, allowed.shape[-1]), dim=-1)
        missing = k - best.shape[-1]
        if missing > 0:
            best = torch.nn.functional.pad(best, (0, missing), value=-torch.inf)
            ids = torch.nn.functional.pad(ids, (0, missing))
        return ids.cpu().numpy(), best.cpu().numpy()

    def at(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of the given symbols."""
        chosen = torch.from_numpy(ids).to(self._log_probs.device)
        found: FloatArray = self._log_probs.gather(-1, chosen).cpu().numpy()
        return found

    def all(self) -> FloatArray:
        """Log-probabilities of all symbols."""
        every: FloatArray = self._log_probs.cpu().numpy()
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
        return TorchStep(decoded, torch.log_softmax(self._model.decoder.output(decoded.features).float(), dim=-1))

    @torch.inference_mode()
    def score(self, batch: Batch) -> FloatArray:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        scores: FloatArray = self._model.log_probs(batch).cpu().numpy()
        return scores
