"""Text in rows: every symbol counts once, after the symbol before it."""

import numpy as np
import pytest

from seqloom.data.preparing.text_rows import line_rows, running_rows
from seqloom.data.vocabulary import Sequences
from seqloom.symbols import BEGIN, END


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("length", [1, 2, 6_999, 7_000, 30_001])
def test_every_symbol_of_running_text_counts_once(rows: int, length: int) -> None:
    ids = np.arange(3, 3 + length)
    laid_out = running_rows(ids, rows=rows, window=512, start_up=1000)
    assert sorted(laid_out.places[laid_out.counted].tolist()) == list(range(length))
    np.testing.assert_array_equal(laid_out.labels[laid_out.counted], ids[laid_out.places[laid_out.counted]])
    before = np.append(END, ids)
    np.testing.assert_array_equal(laid_out.inputs, before[laid_out.places])


def test_a_row_starts_up_on_the_text_before_its_own_part() -> None:
    laid_out = running_rows(np.arange(3, 10_003), rows=3, window=512, start_up=1000)
    assert laid_out.counted[0].all()
    assert not laid_out.counted[1:, :1000].any()
    assert laid_out.counted[1, 1000:].all()


@pytest.mark.parametrize("budget", [1, 8, 100])
def test_every_line_is_read_from_begin_to_end(budget: int) -> None:
    lines = [[5, 6, END], [END], [7, 8, 9, 9, END], [5, END]]
    encoded = Sequences.of(lines)
    read = []
    for laid_out in line_rows(encoded, budget=budget):
        assert len(laid_out.inputs) == 1 or laid_out.inputs.size <= budget
        for inputs, labels, counted in zip(laid_out.inputs, laid_out.labels, laid_out.counted, strict=True):
            np.testing.assert_array_equal(inputs[counted], [BEGIN, *labels[counted][:-1]])
            read.append(labels[counted].tolist())
        np.testing.assert_array_equal(encoded.ids[laid_out.places[laid_out.counted]], laid_out.labels[laid_out.counted])
    assert sorted(read) == sorted(lines)


def test_windows_are_the_rows_cut_up() -> None:
    laid_out = running_rows(np.arange(3, 103), rows=1, window=7, start_up=10)
    parts = list(laid_out.windows(7))
    assert [part.inputs.shape[1] for part in parts] == [7] * 14 + [2]
    np.testing.assert_array_equal(np.concatenate([part.labels for part in parts], axis=1), laid_out.labels)
