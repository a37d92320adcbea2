"""Synthetic data has the shape that it says, and is always the same."""

from pathlib import Path

import numpy as np
import pytest

from bench.tiny import TINY
from seqloom.bench.workloads import (
    WORKLOADS,
    Workload,
    grouped_batches,
    open_pairs,
    padding,
    random_batches,
    spread_out,
)
from seqloom.errors import DataError
from seqloom.recipe.sections import Aligned
from seqloom.symbols import SPECIALS


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
def test_lengths_and_vocabularies_are_those_of_the_workload(workload: Workload) -> None:
    pairs = open_pairs(workload)
    assert pairs.vocabulary_sizes == {"source": workload.source.symbols, "target": workload.target.symbols}
    source, target = pairs.split.lengths("source"), pairs.split.lengths("target")
    assert source.mean() == pytest.approx(workload.source.mean, rel=0.02)
    assert target.mean() == pytest.approx(workload.target.mean, rel=0.02)
    assert np.corrcoef(source, target)[0, 1] == pytest.approx(workload.closeness, abs=0.05)


def test_frequencies_fall_as_zipf_says_and_no_special_symbol_occurs() -> None:
    flat, _ = open_pairs(WORKLOADS["translation"]).split.sides["target"]
    counts = np.bincount(flat)
    assert counts[: len(SPECIALS)].sum() == 0
    assert counts[3] / counts[12] == pytest.approx(10.0, rel=0.1)


def test_the_same_data_is_drawn_every_time() -> None:
    one, other = open_pairs(TINY), open_pairs(TINY)
    assert np.array_equal(one.split.sides["source"][0], other.split.sides["source"][0])


def test_texts_are_read_back_as_the_same_symbols() -> None:
    pairs = open_pairs(TINY)
    flat, offsets = pairs.split.sides["source"]
    ids = pairs.vocabularies["source"].encode_sources(pairs.texts(5), [()] * 5)
    assert [one.tolist() for one in ids] == [flat[offsets[n] : offsets[n + 1]].tolist() for n in range(5)]


def test_grouped_batches_are_padded_less_than_random_ones() -> None:
    pairs = open_pairs(TINY)
    grouped, random = grouped_batches(pairs, TINY.recipe()), random_batches(pairs, TINY.batch_size)
    assert sorted(np.concatenate(grouped)) == sorted(np.concatenate(random)) == list(range(TINY.examples))
    assert padding(pairs, grouped) < 0.5 * padding(pairs, random)


def test_a_few_batches_stand_for_all() -> None:
    pairs = open_pairs(WORKLOADS["characters"])
    batches = grouped_batches(pairs, WORKLOADS["characters"].recipe())
    lengths = pairs.split.lengths("target")
    few = np.concatenate(spread_out(pairs, batches, 8))
    assert lengths[few].mean() == pytest.approx(lengths.mean(), rel=0.05)


def test_given_files_take_the_place_of_synthetic_data(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a b c\nb c\n" * 5)
    (tmp_path / "target").write_text("x y\ny\n" * 5)
    files = Aligned(source=str(tmp_path / "source"), target=str(tmp_path / "target"))
    pairs = open_pairs(TINY.model_copy(update={"files": files}))
    assert (len(pairs.split), pairs.vocabulary_sizes) == (10, {"source": 6, "target": 5})
    assert pairs.texts(2) == ["a b c", "b c"]


def test_files_smaller_than_a_batch_are_refused(tmp_path: Path) -> None:
    for side in ("source", "target"):
        (tmp_path / side).write_text("a\n")
    files = Aligned(source=str(tmp_path / "source"), target=str(tmp_path / "target"))
    with pytest.raises(DataError, match="hold 1 pair; a batch of the workload tiny has 8"):
        open_pairs(TINY.model_copy(update={"files": files}))
