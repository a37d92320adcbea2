"""Batches, and which examples go together. NumPy only.

Letters: B examples in a batch, S source positions, T target positions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqloom.data.arrays import BoolArray, FloatArray, IntArray, Padded
from seqloom.data.examples import Origin
from seqloom.symbols import BEGIN, END


@dataclass(frozen=True)
class Batch:
    """Examples that go through a model together. `target` holds symbols without `begin` and `end`; weights [B]."""

    sources: Mapping[str, Padded]
    target: Padded
    weights: FloatArray
    origins: tuple[Origin, ...]

    @property
    def inputs(self) -> Padded:
        """What the decoder reads, [B, T + 1]: `begin`, then the target."""
        values = np.asarray(self.target.values, dtype=np.int64)
        begin = np.full((len(values), 1), BEGIN, dtype=np.int64)
        return Padded(np.concatenate([begin, values], axis=1), self.target.lengths + 1)

    @property
    def labels(self) -> Padded:
        """What the decoder should say, [B, T + 1]: the target, then `end`."""
        values = np.asarray(self.target.values, dtype=np.int64)
        labels = np.concatenate([values, np.full((len(values), 1), END, dtype=np.int64)], axis=1)
        labels[np.arange(len(labels)), self.target.lengths] = END
        return Padded(labels, self.target.lengths + 1)

    @property
    def counted(self) -> BoolArray:
        """Which labels the loss is about, [B, T + 1]: all real ones."""
        return self.labels.mask

    @property
    def num_symbols(self) -> int:
        """How many symbols the decoder has to say, `end` included."""
        return int(self.counted.sum())


@dataclass(frozen=True)
class StreamBatch(Batch):
    """A window of running text in B rows, each a place in it. `target` holds the symbols, `end` for a line break.

    before [B]: the symbol in front of each row's window. fresh: whether rows begin here; else the state comes from the batch
    before. counted_from [B]: from which position on a row's symbols count; those before only bring its state up.
    """

    before: IntArray
    fresh: bool
    counted_from: IntArray

    @property
    def inputs(self) -> Padded:
        """What the decoder reads, [B, T]: the text, one symbol late."""
        values = np.asarray(self.target.values, dtype=np.int64)
        return Padded(np.concatenate([self.before[:, None], values[:, :-1]], axis=1), self.target.lengths)

    @property
    def labels(self) -> Padded:
        """What the decoder should say, [B, T]: the text."""
        return Padded(np.asarray(self.target.values, dtype=np.int64), self.target.lengths)

    @property
    def counted(self) -> BoolArray:
        """Which labels the loss is about, [B, T]: all but those that bring a row's state up."""
        counted: BoolArray = self.labels.mask & (np.arange(self.target.values.shape[1]) >= self.counted_from[:, None])
        return counted


@dataclass(frozen=True)
class BatchPlan:
    """One epoch's batches, as arrays of example numbers in the order of training.

    waste: the share of padding among all positions of both sides.
    """

    batches: tuple[IntArray, ...]
    waste: float


@dataclass(frozen=True)
class StreamPlan:
    """Running text in rows, read side by side: row r is `length` symbols from `starts[r]` on, `window` at a time.

    start_up: all rows but the first begin so many symbols before what they are there for. These symbols do not count.
    """

    starts: IntArray
    length: int
    window: int
    start_up: int = 0

    @property
    def steps(self) -> int:
        """Stretches of a row."""
        return -(-self.length // self.window)


def plan_stream(symbols: int, *, rows: int, window: int, seed: int, epoch: int) -> StreamPlan:
    """Lay a text out for training, in at most so many rows. Epochs differ in where the first row begins, so in all cuts."""
    rows = max(1, min(rows, symbols // window))
    length = max(1, symbols // rows // window) * window if symbols >= window else symbols
    offset = int(np.random.default_rng([seed, epoch]).integers(symbols - rows * length + 1))
    return StreamPlan(offset + length * np.arange(rows), length, window)


def plan_reading(symbols: int, *, rows: int, window: int, start_up: int) -> StreamPlan:
    """Lay a text out for judging: every symbol counts once, in rows that overlap by a start-up; one row is exact."""
    own = -(-max(1, symbols - start_up) // rows)
    if rows == 1 or own < start_up:  # too little text to be worth it
        return StreamPlan(np.zeros(1, dtype=np.int64), symbols, window)
    return StreamPlan(own * np.arange(rows), start_up + own, window, start_up)


def plan_epoch(
    lengths: Sequence[IntArray], *, budget: int, most: int | None, seed: int, epoch: int, shuffle: bool = True
) -> BatchPlan:
    """Group examples of similar lengths into batches whose longer side has at most `budget` positions, padding included.

    lengths: one array [N] per side. The plan is a function of (seed, epoch): nothing needs saving, and the order in which
    batches are prepared cannot matter. An example longer than the budget is a batch of its own.
    """
    sides = np.stack([np.asarray(one, dtype=np.int64) for one in lengths])  # [sides, N]
    generator = np.random.default_rng([seed, epoch])
    longest, difference = sides.max(axis=0), sides[0] - sides[-1]
    order = _inverse(generator.permutation(sides.shape[1])) if shuffle else np.arange(sides.shape[1])
    # The signed difference keeps long-to-short apart from short-to-long, which would pad each other. Boustrophedon: odd
    # lengths run through it backwards, so that neighbours stay alike across the turn.
    for key in (np.where(longest % 2, -difference, difference), longest):
        order = order[np.argsort(_short(key)[order], kind="stable")]
    starts = _cut(longest[order], budget, most)
    batches = np.split(order, starts[1:]) if len(starts) else []
    waste = _waste(starts, sides[:, order])
    if shuffle:
        batches = [batches[index] for index in generator.permutation(len(batches))]
    return BatchPlan(tuple(batches), waste)


def _inverse(permutation: IntArray) -> IntArray:
    inverse = np.empty_like(permutation)
    inverse[permutation] = np.arange(len(permutation))
    return inverse


def _short(key: IntArray) -> npt.NDArray[np.signedinteger]:
    """The key in 16 bits if it fits: NumPy then sorts in time that grows with N alone."""
    fits = not len(key) or max(int(key.max()), -int(key.min())) < 2**15
    return key.astype(np.int16) if fits else key


def _cut(longest: IntArray, budget: int, most: int | None) -> list[int]:
    """Where batches begin among examples whose lengths rise."""
    starts = []
    start = 0
    while start < len(longest):
        starts.append(start)
        # A batch costs (its size) * (its last length), which rises with its end: search for the end.
        reach = min(len(longest), start + min(most or budget, budget // max(1, int(longest[start])) + 1))
        cost = np.arange(1, reach - start + 1) * longest[start:reach]
        start += max(1, int(np.searchsorted(cost, budget, side="right")))
    return starts


def _waste(starts: Sequence[int], sides: IntArray) -> float:
    """The share of padding. sides [sides, N]: lengths in the order in which batches were cut."""
    if not starts:
        return 0.0
    sizes = np.diff([*starts, sides.shape[1]])
    padded = int((np.maximum.reduceat(sides, starts, axis=1).sum(axis=0) * sizes).sum())
    return 1.0 - float(sides.sum()) / padded if padded else 0.0
