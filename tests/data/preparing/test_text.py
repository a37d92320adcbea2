"""Plain text: how it is split, prepared and laid out in rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.data.preparing.batches import StreamBatch, plan_reading, plan_stream
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import prepare
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.errors import DataError, RecipeError
from seqloom.recipe import recipe_from
from seqloom.symbols import END

MODEL = {"encoder": None, "bridge": {"kind": "none"}}


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text("".join(f"line {number}\n" + ("\n" if number % 10 == 0 else "") for number in range(100)), encoding="utf-8")
    return path


def corpus(path: Path, **data: Any) -> Corpus:
    return Corpus(recipe_from({"data": {"train": str(path), **data}, "model": MODEL}).data, seed=1)


def test_the_end_of_running_text_is_held_out_in_its_order(book: Path) -> None:
    split = {"validation": 0.1, "test": 0.2}
    read = corpus(book, text="stream", split=split)
    lines = book.read_text(encoding="utf-8").splitlines()
    parts = [[example.target for example in read.examples(name)] for name in ("train", "validation", "test")]
    assert [len(part) for part in parts] == [77, 11, 22]
    assert [line for part in parts for line in part] == lines


def test_lines_are_shared_out_by_their_text_and_blank_ones_are_none(book: Path) -> None:
    read = corpus(book, text="lines", split={"validation": 0.2, "test": 0.2})
    parts = {name: [example.target for example in read.examples(name)] for name in ("train", "validation", "test")}
    assert sum(map(len, parts.values())) == 100
    assert all(parts.values())
    assert not any(line == "" for part in parts.values() for line in part)


def test_a_line_break_of_running_text_is_the_symbol_end(book: Path) -> None:
    prepared = prepare(corpus(book, text="stream", split={"validation": 0.0, "test": 0.0}))
    assert list(prepared.vocabularies) == ["target"]
    flat, _ = prepared.splits["train"].sides["target"]
    text = book.read_text(encoding="utf-8")
    assert len(flat) == len(text)
    assert [place for place, symbol in enumerate(flat) if symbol == END] == [
        place for place, character in enumerate(text) if character == "\n"
    ]
    assert prepared.vocabularies["target"].decode(flat[:6].tolist()) == text[:6]


def test_lines_have_no_end_of_their_own(book: Path) -> None:
    prepared = prepare(corpus(book, text="lines", split={"validation": 0.0, "test": 0.0}))
    flat, _ = prepared.splits["train"].sides["target"]
    assert END not in flat


def stream_of(count: int) -> PreparedSplit:
    """A text in which every symbol is its own place, in lines of ten."""
    lines = -(-count // 10)
    offsets = np.minimum(np.arange(lines + 1) * 10, count)
    places = np.stack([np.zeros(lines, np.int64), np.arange(1, lines + 1)], axis=1)
    flat = np.arange(10, 10 + count, dtype=np.uint32)
    return PreparedSplit({"target": (flat, offsets)}, np.ones(lines, np.float32), places, ["a.txt"], 0)


def read(split: PreparedSplit, **wishes: Any) -> list[StreamBatch]:
    plan = plan_reading(split.symbols, **wishes)
    return [split.window(plan, step) for step in range(plan.steps)]


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("window", [1, 16, 50, 1000])
@pytest.mark.parametrize("count", [1, 49, 400, 401])
def test_every_symbol_counts_once_when_a_text_is_judged(count: int, rows: int, window: int) -> None:
    split = stream_of(count)
    counted: list[int] = []
    for batch in read(split, rows=rows, window=window, start_up=20):
        counted += batch.labels.values[batch.counted].tolist()
    assert sorted(counted) == list(range(10, 10 + count))


def test_rows_read_a_start_up_before_what_counts() -> None:
    batches = read(stream_of(400), rows=4, window=30, start_up=40)
    plan = plan_reading(400, rows=4, window=30, start_up=40)
    assert plan.starts.tolist() == [0, 90, 180, 270]
    assert [int(one.counted.sum()) for one in batches[:2]] == [30, 30 + 3 * 20]
    assert [one.fresh for one in batches[:2]] == [True, False]


def test_inputs_are_the_text_one_symbol_late() -> None:
    split = stream_of(200)
    plan = plan_stream(split.symbols, rows=4, window=16, seed=1, epoch=0)
    for step in range(plan.steps):
        batch = split.window(plan, step)
        inputs, labels = batch.inputs.values.astype(np.int64), batch.labels.values.astype(np.int64)
        first = inputs[:, 0] == END  # only at the very beginning of the text
        assert (inputs[~first] == labels[~first] - 1).all()
        assert batch.num_symbols == 64
        assert [origin.line for origin in batch.origins] == [(int(label) - 10) // 10 + 1 for label in labels[:, 0]]


def test_epochs_are_equally_long_and_cut_the_text_elsewhere() -> None:
    plans = [plan_stream(10_007, rows=8, window=32, seed=3, epoch=epoch) for epoch in range(6)]
    assert len({plan.steps for plan in plans}) == 1
    assert len({int(plan.starts[0]) for plan in plans}) > 1
    assert all(int(plan.starts[-1]) + plan.length <= 10_007 for plan in plans)
    assert plans[2].starts.tolist() == plan_stream(10_007, rows=8, window=32, seed=3, epoch=2).starts.tolist()


def test_a_text_shorter_than_a_stretch_is_one_row() -> None:
    plan = plan_stream(5, rows=8, window=32, seed=1, epoch=0)
    assert (plan.starts.tolist(), plan.length, plan.steps) == ([0], 5, 1)


def test_a_vocabulary_can_come_from_a_file(book: Path, tmp_path: Path) -> None:
    own = prepare(corpus(book, text="stream")).vocabularies["target"]
    file = tmp_path / "target.json"
    file.write_text(own.to_json(), encoding="utf-8")
    other = tmp_path / "other.txt"
    other.write_text("line line\nqqq\n" * 30, encoding="utf-8")
    given = prepare(corpus(other, text="lines", vocabularies={"target": {"kind": "file", "file": str(file)}}))
    assert given.vocabularies["target"].to_json() == own.to_json()
    file.write_text("{}", encoding="utf-8")
    with pytest.raises(Exception, match="not a vocabulary that seqloom wrote"):
        prepare(corpus(other, text="lines", vocabularies={"target": {"kind": "file", "file": str(file)}}))


def test_what_is_no_text_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "image.txt"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    with pytest.raises(DataError, match=r"image\.txt:1: expected UTF-8"):
        prepare(corpus(path, text="stream"))
    path.write_bytes(b"a" * 1_100_000)
    with pytest.raises(DataError, match=r"image\.txt:1: expected a line of at most 1,000,000 bytes"):
        prepare(corpus(path, text="stream"))


@pytest.mark.parametrize(
    ("data", "model", "message"),
    [
        ({"train": "a", "text": "lines"}, {}, "`text: lines` has no source to encode"),
        ({"train": "a"}, MODEL, "without an encoder it is a language model"),
        ({"train": {"source": "a", "target": "b"}, "text": "lines"}, MODEL, "which have no source"),
        ({"train": "a", "text": "stream", "format": "csv"}, MODEL, "but `format` says csv"),
        ({"train": "a", "text": "stream", "vocabularies": {"shared": True}}, MODEL, "nothing to share"),
    ],
)
def test_what_does_not_go_with_text_is_refused(data: dict[str, Any], model: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipe_from({"data": data, "model": model})


@pytest.mark.parametrize(
    ("training", "message"),
    [
        ({"validation": {"metric": "cer"}}, "are not wanted ones"),
        ({"loss_per": "sequences"}, "has no sequences to average over"),
    ],
)
def test_training_settings_that_text_has_no_use_for_are_refused(training: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        recipe_from({"data": {"train": "a", "text": "stream"}, "model": MODEL, "training": training})
