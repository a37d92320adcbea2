"""Features that others computed: what is read, what is made of it, and what is refused."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqloom.data.doctor.examination import examine
from seqloom.data.doctor.file_checks import file_checks
from seqloom.data.examples import Origin
from seqloom.data.kinds import kind_of
from seqloom.data.kinds.features import FeaturesKind
from seqloom.data.media.features import ArrayProblem, FeatureRows, changes, read_array
from seqloom.data.media.files import Media
from seqloom.errors import RecipeError
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.recipe.sections import FeaturesSource
from seqloom.suggest.recognition import recognise
from seqloom.training.session import train

ROWS = np.arange(12, dtype=np.float32).reshape(4, 3) ** 2


def saved(array: Any, name: str = "a.npy", **options: Any) -> Media:
    stream = io.BytesIO()
    if name.endswith(".npz"):
        np.savez(stream, **array)
    else:
        np.save(stream, array, **options)
    return media_of(stream.getvalue(), name)


def media_of(content: bytes, name: str = "a.npy") -> Media:
    return Media(name, name, len(content), 0, lambda: content)


def rows_of(media: Media, **settings: Any) -> Any:
    (rows,) = FeatureRows(FeaturesSource(width=3, **settings)).arrays([media])
    return rows


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u2", ">f4", "?"])
def test_numbers_of_every_kind_become_float32(dtype: str) -> None:
    rows = rows_of(saved(ROWS.astype(dtype)))
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, ROWS.astype(dtype).astype(np.float32))


def test_columns_may_come_first_and_an_npz_may_hold_one_array() -> None:
    np.testing.assert_array_equal(rows_of(saved(np.asfortranarray(ROWS))), ROWS)
    np.testing.assert_array_equal(rows_of(saved({"any": ROWS}, "a.npz")), ROWS)


def test_rows_are_made_alike_by_file_or_by_given_numbers() -> None:
    rows = rows_of(saved(ROWS), normalise="file")
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(rows.std(axis=0), 1.0, rtol=1e-5)
    np.testing.assert_allclose(rows_of(saved(ROWS), mean=[1, 2, 3], deviation=2.0), (ROWS - [1, 2, 3]) / 2)
    np.testing.assert_allclose(rows_of(saved(np.ones((4, 3))), normalise="file"), 0.0)


def test_how_fast_numbers_change_stands_beside_them() -> None:
    line = np.arange(6, dtype=np.float32)[:, None] * np.ones(3, dtype=np.float32)
    rows = rows_of(saved(line), deltas=2)
    assert rows.shape == (6, 9)
    np.testing.assert_allclose(rows[2:4, 3:6], 1.0)
    np.testing.assert_array_equal(rows[:, 6:], changes(rows[:, 3:6]))


def test_pooled_rows_are_their_mean() -> None:
    np.testing.assert_allclose(rows_of(saved(ROWS), pooled=True), ROWS.mean(axis=0, keepdims=True))


def test_the_key_tells_settings_apart_and_not_places() -> None:
    one, other, third = (
        FeatureRows.of(FeaturesSource(width=3, **settings)).key
        for settings in ({"root": "here"}, {"root": "there", "longest": 5}, {"deltas": 1})
    )
    assert one == other != third


HEADER = b"\x93NUMPY\x01\x00"
BAD = {
    "text": (media_of(b"no array at all"), "not-an-array", "a file that begins with"),
    "nothing": (media_of(b""), "not-an-array", "an empty file"),
    "objects": (saved(np.array([[{}, 1, 2]], dtype=object), allow_pickle=True), "not-an-array", "never unpickled"),
    "words": (saved(np.array([["a", "b", "c"]])), "not-an-array", "values of type <U1"),
    "complex": (saved(ROWS.astype("c8")), "not-an-array", "values of type complex64"),
    "an evil header": (media_of(HEADER + b"\x10\x00" + b"__import__('os')"), "not-an-array", "a file that begins with"),
    "a header without end": (media_of(HEADER + b"\x08\x00{'descr'"), "not-an-array", "a file that begins with"),
    "cut off": (media_of(saved(ROWS).read()[:-5]), "truncated-array", "expected 48 bytes of numbers"),
    "a header that lies": (media_of(saved(ROWS).read().replace(b"(4, 3)", b"(7, 3)")), "truncated-array", "84 bytes"),
    "too wide": (saved(np.ones((4, 5))), "misshapen-array", r"found an array of shape \[4, 5\]"),
    "one dimension": (saved(np.ones(3)), "misshapen-array", r"shape \[3\]"),
    "no rows": (saved(np.ones((0, 3))), "empty-array", "rows of 3 numbers, found none"),
    "too many rows": (saved(np.ones((9, 3))), "enormous-array", "at most 8 rows, found 9"),
    "not a number": (saved(np.array([[1, 2, 3], [1, np.nan, 3]])), "undefined-numbers", "nan in row 2, column 2"),
    "no archive": (media_of(b"PK no", "a.npz"), "not-an-array", "an archive of arrays"),
    "two arrays": (saved({"a": ROWS, "b": ROWS}, "a.npz"), "not-an-array", "one array, found 2"),
}


@pytest.mark.parametrize(("media", "code", "text"), BAD.values(), ids=BAD)
def test_what_is_no_array_of_such_rows_is_refused(media: Media, code: str, text: str) -> None:
    with pytest.raises(ArrayProblem, match=text) as problem:
        rows_of(media, longest=8)
    assert problem.value.code == code
    assert str(problem.value).startswith(media.name)
    kind = FeaturesKind(FeaturesSource(width=3, longest=8))
    told = kind.trouble_in(media)
    assert (told is None) == (code in ("truncated-array", "undefined-numbers"))  # headers do not tell these


def test_an_enormous_promise_takes_no_memory() -> None:
    promised = saved(ROWS).read().replace(b"(4, 3), }        ", b"(9999999999, 3), }")
    with pytest.raises(ArrayProblem):
        read_array(media_of(promised))


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Arrays of one to nine rows, each of which says its letter."""
    monkeypatch.setenv("SEQLOOM_CACHE", str(tmp_path / "cache"))
    random, lines, arrays = np.random.default_rng(1), [], {}
    for number in range(30):
        letters = random.integers(0, 3, size=2 + number % 9)
        arrays[f"clip{number}"] = np.eye(3)[letters]
        np.save(tmp_path / f"clip{number}.npy", arrays[f"clip{number}"])
        lines.append(f"clip{number}.npy\t{''.join('abc'[one] for one in letters)}\n")
    np.savez(tmp_path / "all.npz", allow_pickle=False, **arrays)
    (tmp_path / "table.tsv").write_text("".join(lines))
    return tmp_path / "table.tsv"


def test_a_table_is_recognised_examined_and_suggested_for(table: Path) -> None:
    found = recognise(str(table))
    assert {name: source.kind for name, source in found.sources.items()} == {"frames": "features"}
    np.save(table.parent / "clip3.npy", np.ones((2, 7)))
    (table.parent / "clip4.npy").write_text("no array")
    diagnosis = examine({"train": str(table)}, sources=found.sources, further=file_checks(found.sources, sized=True))
    assert {one.code for one in diagnosis.findings if one.severity == "error"} == {"not-an-array"}
    kind = kind_of(next(iter(found.sources.values())))
    assert isinstance(kind, FeaturesKind)
    files = [kind.find(f"clip{number}.npy", Origin(str(table), 1)) for number in range(9)]
    source, encoder = kind.suggested(files, 16)
    assert source["width"] == 3
    assert encoder["layers"] == 1


@pytest.mark.parametrize("name", ["clip7.npy", "clip7"])
def test_names_lead_into_an_npz(name: str, table: Path) -> None:
    kind = FeaturesKind(FeaturesSource(width=3, root=str(table.parent / "all.npz")))
    (rows,) = kind.frontend().arrays([kind.find(name, Origin(str(table), 8))])
    np.testing.assert_array_equal(rows, np.load(table.parent / "clip7.npy"))


def test_they_train_predict_and_are_explained(table: Path) -> None:
    outcome = train(
        {
            "data": {"train": str(table), "sources": {"frames": {"kind": "features", "width": 3, "deltas": 1}}},
            "model": {
                "encoder": {"kind": "pyramid", "size": 4, "layers": 2},
                "decoder": {"cell": "gru", "size": 8, "embedding": 8},
            },
            "training": {"steps": 2, "batch_tokens": 60, "threads": 1},
        },
        table.parent / "run",
    )
    predictor = Predictor.load(outcome.path)
    long, short = predictor.predict([str(table.parent / "clip7.npy"), str(table.parent / "clip0.npy")])
    assert [one.alignment["frames"].symbols for one in (long, short)] == [("1", "3", "5", "7", "9"), ("1",)]
    assert long.alignment["frames"].as_json()["stride"] == 2
    assert "clip7.npy" in long.save(table.parent / "map.html").read_text(encoding="utf-8")


def test_a_recipe_has_to_say_the_width(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text(
        "data: {train: t.tsv, sources: {frames: {kind: features}}}\nmodel: {encoder: {kind: pyramid}}\n"
    )
    with pytest.raises(RecipeError, match="how many numbers a row of its features has"):
        read_recipe(tmp_path / "r.yaml")
