"""Text laid out in rows for a language model to read: running text with its start-up, or lines by themselves.

Letters: B rows, T symbols of a row.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from seqloom.data.arrays import BoolArray, IntArray
from seqloom.data.preparing.batches import plan_reading
from seqloom.data.vocabulary import Sequences
from seqloom.symbols import BEGIN, END


@dataclass(frozen=True, eq=False)
class TextRows:
    """Text in rows [B, T]: what is read, what should follow, where that stands in the text, and whether it counts here."""

    inputs: IntArray
    labels: IntArray
    places: IntArray
    counted: BoolArray

    def windows(self, length: int) -> "Iterator[TextRows]":
        """Cut into windows that are read one after the other."""
        for start in range(0, self.inputs.shape[1], length):
            part = (slice(None), slice(start, start + length))
            yield TextRows(self.inputs[part], self.labels[part], self.places[part], self.counted[part])


def running_rows(ids: IntArray, *, rows: int, window: int, start_up: int) -> TextRows:
    """Running text: `end` comes before it, and rows overlap by a start-up that does not count."""
    plan = plan_reading(len(ids), rows=rows, window=window, start_up=start_up)
    steps = np.arange(plan.length)
    places = plan.starts[:, None] + steps
    counted = (places < len(ids)) & ((steps >= plan.start_up) | (plan.starts[:, None] == 0))
    places = np.minimum(places, max(0, len(ids) - 1))
    return TextRows(np.append(END, ids)[places], ids[places], places, counted)


def line_rows(encoded: Sequences, *, budget: int) -> Iterator[TextRows]:
    """Lines by themselves, each from `begin`: those of similar length together, up to a budget of symbols, padding included."""
    starts = np.cumsum(encoded.lengths) - encoded.lengths
    order = np.argsort(-encoded.lengths, kind="stable")
    while len(order):
        together = max(1, budget // int(encoded.lengths[order[0]]))
        chosen, order = order[:together], order[together:]
        lengths = encoded.lengths[chosen]
        steps = np.arange(int(lengths[0]))
        places = starts[chosen][:, None] + np.minimum(steps, lengths[:, None] - 1)
        labels = encoded.ids[places]
        inputs = np.concatenate([np.full((len(chosen), 1), BEGIN, dtype=np.int64), labels[:, :-1]], axis=1)
        yield TextRows(inputs, labels, places, steps < lengths[:, None])
