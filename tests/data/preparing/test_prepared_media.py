"""Prepared data whose sources are files: each file is looked at once, kept by its content, and refused with file and line."""

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from seqloom.data.examples import Example, Origin, grouped
from seqloom.data.media.files import Media, MediaError, MediaRoot
from seqloom.data.media.images import ImagePixels
from seqloom.data.media.store import MediaStore, StoredFrontend
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.prepared import Prepared, prepare
from seqloom.errors import DataError
from seqloom.recipe.sections import Data
from seqloom.training.plans import batch_lengths

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255)}


@dataclass
class Counting:
    """A frontend that says how often it was asked: of a file, P positions of F numbers that are its size in bytes."""

    key: str = "counting"
    row: tuple[int, ...] = (3,)
    length: int | None = 2
    kind: Any = np.float16
    asked: list[str] = field(default_factory=list)
    fails_at: str = ""

    def arrays(self, files: Sequence[Media]) -> Iterator[npt.NDArray[Any]]:
        for media in files:
            self.asked.append(media.name)
            if media.name == self.fails_at:
                raise MediaError(f"{media.name}: it breaks off")
            size = len(media.read())
            yield np.full((size if self.length is None else self.length, *self.row), size, dtype=self.kind)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Three pictures with two captions each, and a copy of one under another name."""
    folder = tmp_path / "captions"
    folder.mkdir()
    for number, (name, colour) in enumerate(COLOURS.items(), start=1):
        Image.new("RGB", (8 * number, 8), colour).save(folder / f"{name}.png")
    (folder / "copy.png").write_bytes((folder / "red.png").read_bytes())
    rows = [f"{name}.png\tit is {name}\n{name}.png\ta {name} one\n" for name in COLOURS]
    (folder / "pairs.tsv").write_text("".join(rows) + "copy.png\tred again\n")
    return folder / "pairs.tsv"


def data_of(table: Path, **settings: Any) -> Data:
    sources = {"picture": {"kind": "image", "size": 8, **settings.pop("picture", {})}, **settings.pop("sources", {})}
    body = {"train": str(table), "split": {"validation": 0.0, "test": 0.0}, "sources": sources, **settings}
    return Data.model_validate(body)


def prepared(table: Path, frontend: Counting, **settings: Any) -> Prepared:
    return prepare(Corpus(data_of(table, **settings), 1), frontends={"picture": frontend})


def test_every_content_is_looked_at_once_and_kept_for_later_runs(table: Path) -> None:
    frontend = Counting()
    split = prepared(table, frontend).splits["train"]
    assert frontend.asked == ["red.png", "green.png", "blue.png"]
    values = split.batch(np.arange(7)).sources["picture"].values
    sizes = [(table.parent / name).stat().st_size for name in ("red.png", "green.png", "blue.png")]
    assert values.dtype == np.float32
    assert values.shape == (7, 2, 3)
    np.testing.assert_array_equal(values[:, 0, 0], np.repeat([*sizes, sizes[0]], [2, 2, 2, 1]))
    again = Counting()
    prepared(table, again)
    prepared(table, again, maximum_length=50)  # another corpus of the same files
    assert again.asked == []


def test_pixels_are_one_position_of_bytes(table: Path) -> None:
    corpus = Corpus(data_of(table), 1)
    split = prepare(corpus, frontends={"picture": ImagePixels(8, 8)}).splits["train"]
    picture = split.batch(np.asarray([2, 0])).sources["picture"]
    assert (picture.values.shape, str(picture.values.dtype)) == ((2, 1, 8, 8, 3), "uint8")
    assert picture.lengths.tolist() == [1, 1]
    np.testing.assert_array_equal(picture.values[:, 0, 4, 4], [COLOURS["green"], COLOURS["red"]])


def test_batches_are_planned_by_text_alone(table: Path) -> None:
    split = prepared(table, Counting()).splits["train"]
    [targets] = batch_lengths(split)
    np.testing.assert_array_equal(targets, split.lengths("target") + 1)


def test_a_computation_that_was_interrupted_goes_on(table: Path) -> None:
    names = ["red.png", "green.png", "blue.png"]
    files = {media.content_hash: media for media in map(MediaRoot.open(table.parent).resolve, names)}
    first = Counting(fails_at="blue.png")
    store = MediaStore(first)
    two = dict(list(files.items())[:2])
    store.fill(two)
    arrays = next((table.parent.parent / "cache" / "media").glob("*/arrays"))
    with arrays.open("ab") as stream:
        stream.write(b"half a row")
    second = Counting()
    later = MediaStore(second)
    done: list[int] = []
    later.fill(files, done.append)
    assert (second.asked, done) == (["blue.png"], [3])
    sizes = [media.size for media in files.values()]
    firsts = later.rows()[later.spans(list(files))[:, 0]]
    np.testing.assert_array_equal(firsts[:, 0], np.asarray(sizes, dtype=np.float16))


def test_a_stored_frontend_computes_only_what_is_new(table: Path) -> None:
    prepared(table, Counting())
    fresh = table.parent / "new.png"
    Image.new("RGB", (9, 9)).save(fresh)
    asked = Counting()
    files = [MediaRoot.open(table.parent).resolve(name) for name in ("blue.png", "new.png", "red.png")]
    found = list(StoredFrontend(asked).arrays(files))
    assert asked.asked == ["new.png"]
    np.testing.assert_array_equal([array[0, 0] for array in found], np.asarray([media.size for media in files], np.float16))


def test_a_picture_that_was_changed_is_prepared_again_and_changes_the_fingerprint(table: Path) -> None:
    before = prepared(table, Counting())
    Image.new("RGB", (80, 80), "white").save(table.parent / "green.png")
    asked = Counting()
    after = prepared(table, asked)
    assert asked.asked == ["green.png"]
    assert before.fingerprint != after.fingerprint


def test_a_picture_with_another_name_leaves_the_fingerprint(table: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pictures.zip", "w") as archive:
        for picture in sorted(table.parent.glob("*.png")):
            archive.write(picture, picture.name)
    here, there = (prepared(table, Counting(), picture=root) for root in ({}, {"root": str(tmp_path / "pictures.zip")}))
    assert here.fingerprint == there.fingerprint


def test_captions_of_one_picture_stay_together(table: Path) -> None:
    rows = [f"{name}.png\tnumber {number}\n" for number in range(40) for name in COLOURS]
    table.write_text("".join(rows))
    data = Data.model_validate({**data_of(table).model_dump(), "split": {"validation": 0.4, "test": 0.2}})
    corpus = Corpus(data, 3)
    seen = [{example.sources["picture"] for example in corpus.examples(split)} for split in ("train", "validation", "test")]
    assert sum(map(len, seen)) == len(COLOURS)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("red.png\ta\nnone.png\tb\n", r"pairs\.tsv:2: expected a file '.*none\.png', found nothing there\. Check the name"),
        ("red.png\ta\nnotes.txt\tb\n", r"pairs\.tsv:2: notes\.txt: expected a picture \(JPEG"),
        ("empty.png\ta\n", r"pairs\.tsv:1: empty\.png: expected a picture, found an empty file"),
        (
            "none.png\ta\nred.png\tb\nno.png\tc\n",
            "files cannot be read:\n  .*pairs.tsv:1: .*none.png.*\n  .*pairs.tsv:3: .*no.png",
        ),
        ("red.png\ta\nred.png\n", r"pairs\.tsv:2: expected 2 columns"),
        ("red.png\ta\n \tb\n", r"pairs\.tsv:2: expected text in the picture, found none"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(table: Path, rows: str, said: str) -> None:
    (table.parent / "notes.txt").write_text("no picture")
    (table.parent / "empty.png").touch()
    table.write_text(rows)
    with pytest.raises(DataError, match=said):
        prepared(table, Counting())


def test_a_member_that_a_zip_lacks_is_named_with_its_line(table: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "pictures.zip", "w") as archive:
        archive.write(table.parent / "red.png", "red.png")
    with pytest.raises(
        DataError, match=r"files cannot be read:\n.*pairs\.tsv:3: expected a member 'green\.png' of .*pictures\.zip"
    ):
        prepared(table, Counting(), picture={"root": str(tmp_path / "pictures.zip")})


def test_what_a_frontend_cannot_read_is_named_with_its_line(table: Path) -> None:
    with pytest.raises(DataError, match=r"pairs\.tsv:5: blue\.png: it breaks off"):
        prepared(table, Counting(fails_at="blue.png"))


def test_a_picture_and_a_question_come_from_columns_by_name_or_number(table: Path) -> None:
    table.write_text("answer\tfile\tquestion\nred\tred.png\twhat colour?\nyes\tblue.png\tis it blue?\n")
    sources = {"question": {"kind": "text", "column": "question", "vocabulary": {"kind": "words"}}}
    data = data_of(table, picture={"column": "file"}, sources=sources, columns={"target": 1})
    done = prepare(Corpus(data, 1), frontends={"picture": Counting()})
    assert list(done.vocabularies) == ["question", "target"]
    assert done.vocabularies["question"].find("colour") > 2
    batch = done.splits["train"].batch(np.asarray([0, 1]))
    assert {name: len(source.values) for name, source in batch.sources.items()} == {"question": 2, "picture": 2}


def test_equal_sources_become_one_example_with_several_targets() -> None:
    examples = [
        Example({"picture": name, "question": question}, target, Origin("t", line), features=features)
        for line, (name, question, target, features) in enumerate(
            [("a", "x", "1", ()), ("b", "x", "2", ()), ("a", "x", "3", ()), ("a", "y", "4", ()), ("a", "x", "5", ("f",))]
        )
    ]
    assert [one.targets for one in grouped(examples)] == [("1", "3"), ("2",), ("4",), ("5",)]


def test_files_of_any_length_are_padded_and_batched_by_it(table: Path) -> None:
    split = prepared(table, Counting(length=None, kind=np.float32)).splits["train"]
    sizes = [(table.parent / f"{name}.png").stat().st_size for name in COLOURS]
    batch = split.batch(np.asarray([0, 4])).sources["picture"]
    assert batch.lengths.tolist() == [sizes[0], sizes[2]]
    assert batch.values.shape == (2, max(sizes[0], sizes[2]), 3)
    for values, length in zip(batch.values, batch.lengths, strict=True):
        assert (values[:length] == length).all()
        assert not values[length:].any()
    files, _ = batch_lengths(split)
    np.testing.assert_array_equal(files, np.repeat([*sizes, sizes[0]], [2, 2, 2, 1]))
