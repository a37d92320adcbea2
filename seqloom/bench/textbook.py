"""The yardstick: an encoder-decoder with additive attention, written as one would write it with torch's own modules.

Honest, not slow on purpose: keys are projected once, packed sequences spare the encoder its padding, the output layer is
applied to all steps at once. What it lacks is what most code lacks: a loss in chunks, a fused optimiser.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seqloom.data.arrays import Padded
from seqloom.data.preparing.batches import Batch
from seqloom.recipe import sections
from seqloom.symbols import BEGIN, END

IGNORED = -100
"""The label of padding, which nn.CrossEntropyLoss leaves out."""

State = tuple[Tensor, Tensor]


class Encoder(nn.Module):
    """A bidirectional LSTM over embeddings."""

    def __init__(self, vocabulary_size: int, embedding: int, size: int, dropout: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, embedding)
        self.dropout = nn.Dropout(dropout)
        self.lstm = nn.LSTM(embedding, size, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Source [B, S] -> states [B, S, 2D], last hidden and last cell state [B, 2D]."""
        embedded = self.dropout(self.embedding(source))
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        outputs, (hidden, cell) = self.lstm(packed)
        states, _ = pad_packed_sequence(outputs, batch_first=True)
        return states, torch.cat([hidden[0], hidden[1]], dim=1), torch.cat([cell[0], cell[1]], dim=1)


class Attention(nn.Module):
    """Additive attention."""

    def __init__(self, query_size: int, memory_size: int, size: int) -> None:
        super().__init__()
        self.query = nn.Linear(query_size, size, bias=False)
        self.key = nn.Linear(memory_size, size, bias=False)
        self.energy = nn.Linear(size, 1, bias=False)

    def forward(self, query: Tensor, keys: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Query [B, D], keys [B, S, A], states [B, S, C] -> context [B, C]."""
        scores = self.energy(torch.tanh(self.query(query).unsqueeze(1) + keys)).squeeze(2)
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=1)
        return torch.bmm(weights.unsqueeze(1), states).squeeze(1)


@dataclass(frozen=True)
class Source:
    """What the decoder reads: encoder states [B, S, C], their keys [B, S, A], mask [B, S]."""

    states: Tensor
    keys: Tensor
    mask: Tensor

    def repeated(self, times: int) -> "Source":
        """Every sentence so many times in a row, for the rows of a beam."""
        return Source(*(one.repeat_interleave(times, dim=0) for one in (self.states, self.keys, self.mask)))


class Textbook(nn.Module):
    """The whole model, for a recipe's model section of this one architecture."""

    def __init__(self, section: sections.Model, vocabulary_sizes: dict[str, int]) -> None:
        super().__init__()
        encoder, decoder, attention = _only_architecture(section)
        memory_size, size = encoder.memory_size, decoder.size
        self.encoder = Encoder(vocabulary_sizes["source"], encoder.embedding, encoder.size, encoder.dropout)
        self.start_hidden = nn.Linear(memory_size, size)
        self.start_cell = nn.Linear(memory_size, size)
        self.embedding = nn.Embedding(vocabulary_sizes["target"], decoder.embedding)
        self.dropout = nn.Dropout(decoder.dropout)
        self.attention = Attention(size, memory_size, attention.size)
        self.cell = nn.LSTMCell(decoder.embedding + memory_size, size)
        self.combine = nn.Linear(size + memory_size, size, bias=False)
        self.output = nn.Linear(size, vocabulary_sizes["target"])

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Source, State]:
        """Read the source [B, S]: what the decoder will see of it, and the decoder's first state."""
        states, hidden, cell = self.encoder(source, lengths)
        mask = torch.arange(states.shape[1]) < lengths.unsqueeze(1)
        state = torch.tanh(self.start_hidden(hidden)), torch.tanh(self.start_cell(cell))
        return Source(states, self.attention.key(states), mask), state

    def step(self, embedded: Tensor, state: State, source: Source) -> tuple[Tensor, State]:
        """One step: embedded [B, E] -> features [B, D] and the next state."""
        context = self.attention(state[0], source.keys, source.states, source.mask)
        hidden, cell = self.cell(torch.cat([embedded, context], dim=1), state)
        return torch.tanh(self.combine(torch.cat([hidden, context], dim=1))), (hidden, cell)

    def forward(self, source: Tensor, lengths: Tensor, inputs: Tensor) -> Tensor:
        """Teacher forcing: inputs [B, T] -> logits [B, T, V]."""
        memory, state = self.encode(source, lengths)
        embedded = self.dropout(self.embedding(inputs))
        features = []
        for time in range(inputs.shape[1]):
            feature, state = self.step(embedded[:, time], state, memory)
            features.append(feature)
        logits: Tensor = self.output(self.dropout(torch.stack(features, dim=1)))
        return logits


def _only_architecture(section: sections.Model) -> tuple[sections.TextEncoder, sections.RecurrentDecoder, sections.Additive]:
    """The parts of a section that the textbook model can be: any other is a mistake of the benchmark's."""
    match section:
        case sections.Model(
            encoder=sections.TextEncoder(cell="lstm", layers=1, bidirectional=True) as encoder,
            decoder=sections.RecurrentDecoder(cell="lstm", layers=1, tied="none") as decoder,
            bridge=sections.AttentionBridge(
                query="previous",
                into=("input", "combined"),
                feed=False,
                start=sections.Start(dense=1),
                attention=sections.Additive() as attention,
            ),
        ):
            return encoder, decoder, attention
        case _:
            raise ValueError(f"the textbook model is one architecture only, not {section!r}")


# --- training -------------------------------------------------------------------------------------------------------


def tensors(batch: Batch) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Source, its lengths, inputs and labels, padding labelled IGNORED."""
    source = batch.sources["source"]
    labels = np.where(batch.labels.mask, np.asarray(batch.labels.values, dtype=np.int64), IGNORED)
    return (*source_tensors(source), torch.from_numpy(np.asarray(batch.inputs.values)), torch.from_numpy(labels))


def source_tensors(source: Padded) -> tuple[Tensor, Tensor]:
    """Symbols [B, S] and lengths [B]."""
    return torch.from_numpy(np.asarray(source.values)), torch.from_numpy(source.lengths)


def train_step(model: Textbook, batch: Batch, optimiser: torch.optim.Optimizer, criterion: nn.Module, *, clip: float) -> float:
    """One update; returns the loss, the mean over all symbols."""
    source, lengths, inputs, labels = tensors(batch)
    optimiser.zero_grad()
    logits = model(source, lengths, inputs)
    loss = criterion(logits.reshape(-1, logits.shape[2]), labels.reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()
    return float(loss.item())


# --- decoding -------------------------------------------------------------------------------------------------------


@torch.inference_mode()
def greedy_search(model: Textbook, source: Padded, limits: list[int]) -> list[list[int]]:
    """The most probable symbol at every step, until all sentences of the batch have ended or reached their limits."""
    memory, state = model.encode(*source_tensors(source))
    tokens = torch.full((len(limits),), BEGIN)
    longest = torch.tensor(limits)
    ended = torch.zeros(len(limits), dtype=torch.bool)
    written = []
    for length in range(1, max(limits) + 1):
        features, state = model.step(model.embedding(tokens), state, memory)
        logits = model.output(features)
        logits[:, BEGIN] = float("-inf")
        tokens = logits.argmax(dim=1)
        written.append(tokens)
        ended |= (tokens == END) | (longest <= length)
        if bool(ended.all()):
            break
    return [_cut(row, limit) for row, limit in zip(torch.stack(written, dim=1).tolist(), limits, strict=True)]


def _cut(row: list[int], limit: int) -> list[int]:
    """What was written up to the first `end`, or to the limit."""
    row = row[:limit]
    return row[: row.index(END) + 1] if END in row else row


@dataclass
class Beam:
    """The outputs of one sentence that have ended, each with its score; and whether the search for it is over."""

    finished: list[tuple[float, list[int]]]
    cut_off: list[tuple[float, list[int]]]
    done: bool = False

    def best(self) -> list[int]:
        """The best output: one that ended by itself, if there is any."""
        return max(self.finished or self.cut_off, key=lambda one: one[0])[1]


@torch.inference_mode()
def beam_search(model: Textbook, source: Padded, limits: list[int], *, width: int, power: float = 1.0) -> list[list[int]]:
    """The best of `width` beams for each sentence of a batch, which runs until its last sentence is done.

    The same rules as ours, so that outputs can be compared: what ends leaves the beam; a sentence is done when `width`
    outputs have ended and no live one can still beat the best of them by `log_prob / length^power`.
    """
    count = len(limits)
    memory, (hidden, cell) = model.encode(*source_tensors(source))
    memory = memory.repeated(width)
    hidden, cell = hidden.repeat_interleave(width, dim=0), cell.repeat_interleave(width, dim=0)
    tokens = torch.full((count * width,), BEGIN)
    sums = torch.full((count, width), float("-inf"))
    sums[:, 0] = 0.0
    written = torch.zeros(count, width, 0, dtype=torch.long)
    beams = [Beam([], []) for _ in range(count)]
    for length in range(1, max(limits) + 1):
        features, (hidden, cell) = model.step(model.embedding(tokens), (hidden, cell), memory)
        log_probs = torch.log_softmax(model.output(features), dim=1).view(count, width, -1)
        log_probs[:, :, BEGIN] = float("-inf")
        size = log_probs.shape[2]
        sums, best = (sums.unsqueeze(2) + log_probs).view(count, -1).topk(width, dim=1)
        parents, symbols = best // size, best % size
        written = torch.cat([written.gather(1, parents.unsqueeze(2).expand_as(written)), symbols.unsqueeze(2)], dim=2)
        _note_endings(beams, sums, written, limits, length=length, power=power)
        if all(beam.done for beam in beams):
            break
        sums = sums.masked_fill(symbols == END, float("-inf"))
        rows = (torch.arange(count).unsqueeze(1) * width + parents).view(-1)
        hidden, cell = hidden[rows], cell[rows]
        tokens = symbols.view(-1)
    return [beam.best() for beam in beams]


def _note_endings(beams: list[Beam], sums: Tensor, written: Tensor, limits: list[int], *, length: int, power: float) -> None:
    """Move outputs that ended in this step to their sentence's lists, and see which sentences are done."""
    for beam, of_sentence, rows, limit in zip(beams, sums.tolist(), written.tolist(), limits, strict=True):
        if beam.done:
            continue
        alive = [total for total, row in zip(of_sentence, rows, strict=True) if row[-1] != END]
        for total, row in zip(of_sentence, rows, strict=True):
            if total == float("-inf"):
                continue
            if row[-1] == END:
                beam.finished.append((total / length**power, row))
            elif length >= limit:
                beam.cut_off.append((total / length**power, row))
        hope = max(alive, default=float("-inf")) / limit**power
        enough = len(beam.finished) >= len(rows) and hope <= max(score for score, _ in beam.finished)
        beam.done = enough or length >= limit or hope == float("-inf")
