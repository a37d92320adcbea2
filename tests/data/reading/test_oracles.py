"""Attention weights that are handed in: what entries mean, and what is refused."""

from pathlib import Path

import numpy as np
import pytest

from seqloom.data.reading.oracles import Entry, Oracle, Positions, parse_entry, parse_steps, read_oracle
from seqloom.errors import DataError

FIVE = Positions.symbols(5)


def steps_of(given: object, positions: Positions = FIVE) -> dict[int, list[float]]:
    found = parse_steps(Entry(given, "here"), positions)
    return {step: np.round(row.astype(float), 6).tolist() for step, row in found.items()}


def test_the_oracle_of_the_lectures_is_understood_in_both_forms() -> None:
    aligned = steps_of("0-0 4-1 2-2 3-2 1-3")
    listed = steps_of([[1, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0.5, 0.5, 0], [0, 1, 0, 0, 0]])
    assert aligned == listed
    assert aligned[2] == [0, 0, 0.5, 0.5, 0]


def test_what_is_not_said_is_left_to_the_model() -> None:
    assert steps_of(None) == {}
    assert steps_of("") == {}
    assert steps_of([None, [0, 1, 0, 0, 0], None]) == {1: [0, 1, 0, 0, 0]}
    assert steps_of("3-7") == {7: [0, 0, 0, 1, 0]}


def test_a_pair_that_is_there_twice_counts_once() -> None:
    assert steps_of("1-0 1-0 2-0") == {0: [0, 0.5, 0.5, 0, 0]}


def test_rounded_weights_are_normalised_exactly() -> None:
    [row] = parse_steps(Entry([[0.333, 0.333, 0.333, 0, 0]], "here"), FIVE).values()
    assert float(row.sum()) == pytest.approx(1, abs=1e-6)


def test_an_array_is_as_good_as_a_list() -> None:
    assert steps_of(np.eye(5, dtype=np.float32)[:2]) == {0: [1, 0, 0, 0, 0], 1: [0, 1, 0, 0, 0]}


def test_the_symbols_of_a_word_share_its_weight_and_marks_have_none() -> None:
    # a mark, "ab", a space, "c", a mark
    words = Positions.words("ab c", [(0, 0), (0, 1), (1, 2), (2, 3), (3, 4), (4, 4)])
    assert words.count == 2
    assert steps_of("0-0 1-1", words) == {0: [0, 0.5, 0.5, 0, 0, 0], 1: [0, 0, 0, 0, 1, 0]}
    assert steps_of([[0.5, 0.5]], words) == {0: [0, 0.25, 0.25, 0, 0.5, 0]}


def test_sentences_of_a_batch_keep_their_own_steps_within_their_limits() -> None:
    told = [parse_steps(Entry("1-1 0-9", "here"), Positions.symbols(2)), {}, parse_steps(Entry("2-0", "here"), FIVE)]
    oracle = Oracle.of(told, width=5, limits=np.asarray([4, 4, 4]))
    assert oracle is not None
    assert oracle.known.tolist() == [[False, True], [False, False], [True, False]]
    assert oracle.weights[0, 1].tolist() == [0, 1, 0, 0, 0]
    assert oracle.weights[2, 0].tolist() == [0, 0, 1, 0, 0]
    assert Oracle.of([{}, {}], width=5, limits=np.asarray([4, 4])) is None


@pytest.mark.parametrize(
    ("given", "part"),
    [
        (3, "here: expected null, an alignment"),
        ({"0": [1]}, "here: expected null, an alignment"),
        ([0, 0, 0.5, 0.5, 0], "here, step 0 (from 0): expected null or a list of 5 numbers, found 0"),
        ([[True, 0, 0, 0, 0]], "expected null or a list of 5 numbers"),
        ([[["deep"]]], "expected null or a list of 5 numbers"),
        ([None, [0.5, 0.5]], "here, step 1 (from 0): expected 5 weights, as the source has so many symbols, found 2"),
        ([[-0.5, 1.5, 0, 0, 0]], "expected weights from 0 to 1, found -0.5"),
        ([[float("nan"), 1, 0, 0, 0]], "expected weights from 0 to 1, found nan"),
        ([[10**400, 0, 0, 0, 0]], "expected weights from 0 to 1, found inf"),
        ([[0.5, 0.4, 0, 0, 0]], "expected weights that sum to 1, found a sum of 0.9"),
        ([[0, 0, 0, 0, 0]], "found a sum of 0"),
        ("0-0 5-1", "here: the pair 5-1 names source position 5, but the source has 5 symbols, from 0 to 4"),
        ("0-0 1:1", "expected an alignment of pairs source-target that count from 0, such as 0-0 2-1, found '1:1'"),
        ("0--1", "found '0--1'"),
    ],
    ids=str,
)
def test_a_mistake_is_one_clear_sentence(given: object, part: str) -> None:
    with pytest.raises(DataError) as refused:
        parse_steps(Entry(given, "here"), FIVE)
    assert part in str(refused.value)


def test_a_word_without_a_symbol_cannot_be_looked_at() -> None:
    words = Positions.words("ab c", [(0, 2)])
    with pytest.raises(DataError, match="word 1 of the source has no symbol"):
        parse_steps(Entry("1-0", "here"), words)


def test_lines_are_alignments_or_json_and_a_blank_one_says_nothing(tmp_path: Path) -> None:
    file = tmp_path / "oracle.txt"
    file.write_text('0-0 1-1\n\n[[0.5, 0.5], null]\nnull\n"0-0"\n')
    entries = list(read_oracle(str(file)))
    assert [entry.given for entry in entries] == ["0-0 1-1", None, [[0.5, 0.5], None], None, "0-0"]
    assert entries[2].where == f"{file}:3"


def test_a_json_file_is_a_list_of_entries(tmp_path: Path) -> None:
    file = tmp_path / "oracle.json"
    file.write_text('[\n  "0-0",\n  null,\n  [[1, 0]]\n]\n')
    entries = list(read_oracle(str(file)))
    assert [entry.given for entry in entries] == ["0-0", None, [[1, 0]]]
    assert entries[2].where == f"{file}: entry 3"


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("o.json", '{"a": 1}', "o.json: expected a list with one entry per input, found {'a': 1}"),
        ("o.json", "[1, 2", "o.json: expected JSON, a list with one entry per input, but: "),
        ("o.txt", "0-0\n[[1, 0]\n", "o.txt:2: expected a list of distributions as JSON on one line"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, text: str, part: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as refused:
        list(read_oracle(str(tmp_path / name)))
    assert part in str(refused.value)


def test_a_word_that_is_neither_is_taken_for_an_alignment() -> None:
    assert parse_entry(" 0-0 1-1 ", "here") == Entry("0-0 1-1", "here")
