"""A torch model as search sees it: NumPy in and out, one step at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.data.reading.oracles import Oracle
from seqloom.models.attention.oracle import OracleWeights
from seqloom.models.decoders import Decoded, DecoderState
from seqloom.models.encoder_decoder import EncoderDecoder
from seqloom.models.memory import Memory
from seqloom.models.prediction.energies import attention_energies
from seqloom.models.prediction.language import hidden_states, score_segment, study_segment
from seqloom.results.language import Studied
from seqloom.results.layouts import Layout
from seqloom.search.contracts import FloatArray, IntArray, State, Step
from seqloom.search.ctc import PositionScores
from seqloom.symbols import BEGIN, SPECIALS, UNKNOWN
from seqloom.system.cpu import TorchPrecision


@dataclass(frozen=True)
class TorchState:
    """A decoder state behind the contract that search knows. scores: what positions say, of a state before the first symbol."""

    inner: DecoderState
    scores: PositionScores | None = None

    @property
    def sentences(self) -> int:
        """B, the number of sentences."""
        return len(self.inner.hidden)

    def select(self, sentences: IntArray, parents: IntArray) -> "TorchState":
        """Keep the given sentences and rows; memories are copied only if the sentences change."""
        regrouped = len(sentences) != self.sentences or bool((sentences != np.arange(self.sentences)).any())
        device = self.inner.hidden.device
        chosen, rows = torch.from_numpy(sentences).to(device), torch.from_numpy(np.ascontiguousarray(parents)).to(device)
        return TorchState(self.inner.select(chosen, rows, regrouped=regrouped))


class TorchStep(Step):
    """What the model says about the next symbol, log-probabilities [B, K, V]."""

    def __init__(self, decoded: Decoded, log_probs: Tensor) -> None:
        self._decoded = decoded
        self._log_probs = log_probs

    @cached_property
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
            best, ids = self._log_probs.topk(min(k, self._log_probs.shape[-1]), dim=-1)
        missing = k - best.shape[-1]
        if missing > 0:
            best = torch.nn.functional.pad(best, (0, missing), value=-torch.inf)
            ids = torch.nn.functional.pad(ids, (0, missing))
        return ids.cpu().numpy(), best.cpu().numpy()

    @contextmanager
    def _without(self, forbid: IntArray) -> Iterator[None]:
        """Hide symbols for a while, in place: a copy of all would cost as much as the search for the best."""
        forbid = forbid[forbid < self._log_probs.shape[-1]]
        if not len(forbid):
            yield
            return
        columns = torch.from_numpy(forbid).to(self._log_probs.device)
        hidden = self._log_probs[..., columns]
        self._log_probs.index_fill_(-1, columns, -torch.inf)
        try:
            yield
        finally:
            self._log_probs[..., columns] = hidden

    @torch.inference_mode()
    def at(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of the given symbols."""
        chosen = torch.from_numpy(ids).to(self._log_probs.device)
        found: FloatArray = self._log_probs.gather(-1, chosen).cpu().numpy()
        return found

    @torch.inference_mode()
    def all(self) -> FloatArray:
        """Log-probabilities of all symbols."""
        every: FloatArray = self._log_probs.cpu().numpy()
        return every


class TorchStepper:
    """Steps through an EncoderDecoder in evaluation mode, made ready for a precision. Later updates are not followed.

    shortlist: write only so many symbols, the first of the vocabulary after the specials, and share all probability among
    them and `end`. Whole targets are scored with the whole vocabulary.
    """

    def __init__(self, model: EncoderDecoder, *, precision: TorchPrecision = "fp32", shortlist: int | None = None) -> None:
        self._model = model.for_prediction(precision)
        self._output: nn.Module = self._model.decoder.output
        self._size = self._model.decoder.embedding.num_embeddings
        self._off_list: tuple[int, ...] = ()
        if shortlist is not None and len(SPECIALS) + shortlist < self._size:
            self._off_list = (BEGIN, UNKNOWN)
            self._size = len(SPECIALS) + shortlist
            self._output = model.decoder.output.for_prediction(precision, self._size)
        # Whole targets go through training's loops, which know many steps at once, but no precision other than their own.
        self._whole = model.eval() if precision == "fp32" else self._model

    @property
    def vocabulary_size(self) -> int:
        """V, the number of output symbols."""
        return self._size

    @property
    def layouts(self) -> Mapping[str, Layout]:
        """How the positions of each source lie, by name."""
        return self._model.layouts

    @torch.inference_mode()
    def start(self, sources: Mapping[str, Padded], count: int, oracle: Mapping[str, Oracle] | None = None) -> TorchState:
        """Read the sources of `count` sentences; one row each. oracle: sources in which attention looks where it is told."""
        memories = self._model.encode(sources)
        state, scores = self._model.decoder.start(memories, count), self._scores(memories)
        if not oracle:
            return TorchState(state, scores)
        given = {name: self._oracle_weights(one) for name, one in oracle.items()}
        return TorchState(replace(state, link=replace(state.link, oracle=given)), scores)

    def _scores(self, memories: Mapping[str, Memory]) -> PositionScores | None:
        head = self._model.ctc
        if head is None:
            return None
        log_probs, lengths = head(memories[head.source])
        return PositionScores(log_probs[..., : self._size].float().cpu().numpy(), lengths.cpu().numpy())

    def position_scores(self, state: State) -> PositionScores | None:
        """What the positions say for CTC, given the state before the first symbol; None for a model without it."""
        return state.scores if isinstance(state, TorchState) else None

    def _oracle_weights(self, oracle: Oracle) -> OracleWeights:
        device = self._model.device
        return OracleWeights(torch.from_numpy(oracle.weights).to(device), torch.from_numpy(oracle.known).to(device))

    @torch.inference_mode()
    def step(self, tokens: IntArray, state: State) -> TorchStep:
        """Advance every row by one symbol."""
        if not isinstance(state, TorchState):
            raise TypeError(state)
        chosen = torch.from_numpy(np.ascontiguousarray(tokens)).to(state.inner.hidden.device)
        decoded = self._model.decoder.step(chosen, state.inner)
        logits = self._output(decoded.features).float()
        for symbol in self._off_list:
            logits[..., symbol] = -torch.inf
        log_probs = torch.log_softmax(logits, dim=-1)
        return TorchStep(decoded, self._model.decoder.with_copies(log_probs, decoded))

    @torch.inference_mode()
    def encode(self, sources: Mapping[str, Padded]) -> Mapping[str, FloatArray]:
        """The summary of every source, one vector for all of it, [B, D]."""
        return {name: memory.summary.float().cpu().numpy() for name, memory in self._model.encode(sources).items()}

    @torch.inference_mode()
    def looked(self, sources: Mapping[str, Padded]) -> Mapping[str, FloatArray]:
        """Where encoders looked while they read one sentence beside another source, by source [R, H, N, M]."""
        memories = self._model.encode(sources)
        return {name: torch.cat(one.looked).float().cpu().numpy() for name, one in memories.items() if one.looked}

    @torch.inference_mode()
    def energies(self, sources: Mapping[str, Padded], tokens: IntArray) -> Mapping[str, FloatArray]:
        """The scores of attention while one sentence is written, by source [T, H, S]."""
        return attention_energies(self._whole, sources, tokens)

    @torch.inference_mode()
    def score(self, batch: Batch) -> FloatArray:
        """`log p(y_t | y_<t, x)` of every label, [B, T + 1]; zero on padding."""
        scores: FloatArray = self._whole.log_probs(batch).cpu().numpy()
        return scores

    # --- language models --------------------------------------------------------------------------------------------

    @torch.inference_mode()
    def score_stream(self, inputs: IntArray, labels: IntArray, state: State) -> tuple[FloatArray, TorchState]:
        """`log p` of the labels [B, T], each after its input [B, T], from a state of one row each; and the state after."""
        scores, after = score_segment(self._whole, inputs, labels, _inner(state))
        return scores, TorchState(after)

    @torch.inference_mode()
    def study_stream(
        self, inputs: IntArray, labels: IntArray, state: State, *, alternatives: int
    ) -> tuple[Studied, TorchState]:
        """What `score_stream` says, and ranks, entropies and so many of the most probable symbols."""
        studied, after = study_segment(self._whole, inputs, labels, _inner(state), alternatives=alternatives)
        return studied, TorchState(after)

    @torch.inference_mode()
    def hidden_states(self, tokens: IntArray, state: State) -> FloatArray:
        """What every layer shows after each of the symbols [T] is read, [T, layers, D]; from a state of one row."""
        return hidden_states(self._model, tokens, _inner(state))


def _inner(state: State) -> DecoderState:
    if not isinstance(state, TorchState):
        raise TypeError(state)
    return state.inner
