"""Sources that are changed while a model learns."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from seqloom.data.arrays import FloatArray, Padded
from seqloom.data.examples import Origin
from seqloom.data.media.store import MediaSide
from seqloom.data.preparing.batches import Batch
from seqloom.data.preparing.splits import PreparedSplit
from seqloom.errors import RecipeError
from seqloom.recipe import recipe_from
from seqloom.recipe.sections import Augment
from seqloom.symbols import BEGIN, END, UNKNOWN
from seqloom.training.augmentation import hidden, masked
from seqloom.training.plans import build_plans
from seqloom.training.reporting.display import open_display
from seqloom.training.session import train


def frames(*lengths: int, bands: int = 20) -> Padded:
    random = np.random.default_rng(1)
    return Padded.of([random.normal(size=(length, bands)).astype(np.float32) for length in lengths])


def test_stretches_and_bands_are_covered_by_the_mean_and_nothing_else_changes() -> None:
    whole = frames(100, 40)
    covered = masked(whole, Augment(time_masks=1, time_width=10, band_masks=1, band_width=4), np.random.default_rng(3))
    changed = covered.values != whole.values
    for one, before, length in zip(changed, whole.values, (100, 40), strict=True):
        assert not one[length:].any()
        rows, bands = one[:length].all(axis=1), one[:length].all(axis=0)
        assert rows.sum() <= 10
        assert bands.sum() <= 4
        assert (one[:length] == (rows[:, None] | bands[None])).all()
        assert before.any()
    place = np.argwhere(changed[0])[0]
    assert covered.values[0][tuple(place)] == pytest.approx(whole.values[0, :100, place[1]].mean(), abs=1e-5)


def test_a_short_recording_keeps_most_of_itself() -> None:
    covered = masked(frames(5), Augment(time_masks=1, time_width=50, band_masks=0), np.random.default_rng(1))
    assert (covered.values == frames(5).values).all(axis=-1).sum() >= 4


def test_the_same_numbers_cover_the_same_parts() -> None:
    one, other = (masked(frames(50), Augment(), np.random.default_rng(7)).values for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_text_has_nothing_to_cover() -> None:
    with pytest.raises(RecipeError, match=r"training.augment: it covers parts of sounds or other frames, and no source is one"):
        recipe_from({"data": {"builtin": "dates"}, "training": {"augment": {}}})


def test_forms_of_files_are_drawn_without_any_other_augmentation() -> None:
    plain, mirrored = (MediaSide(np.arange(40), np.stack([np.arange(40), np.arange(1, 41)], 1), rows) for rows in form_rows())
    side = replace(plain, variants=(plain, mirrored), in_time=True)
    target = (np.full(40, 4), np.arange(41))
    split = PreparedSplit(
        {"target": target}, np.ones(40, np.float32), np.zeros((40, 2), np.int64), ["a.tsv"], 0, media={"video": side}
    )
    recipe = recipe_from({"data": {"builtin": "dates"}, "training": {"batch_tokens": 40}})
    (batch,) = build_plans(split, recipe).batches(0)
    assert set(np.sign(batch.sources["video"].values).ravel()) == {-1.0, 1.0}
    (again,) = build_plans(split, recipe).batches(0)
    np.testing.assert_array_equal(batch.sources["video"].values, again.sources["video"].values)


def form_rows() -> tuple[FloatArray, FloatArray]:
    rows = np.ones((40, 3), np.float32)
    return rows, -rows


SIZE = 10


def texts(source: list[int], target: list[int]) -> Batch:
    padded = [Padded.of([np.asarray(one), np.asarray([3])]) for one in (source, target)]
    return Batch({"source": padded[0]}, padded[1], np.ones(2, np.float32), (Origin("a.tsv", 1), Origin("a.tsv", 2)))


def test_a_hidden_symbol_that_can_be_copied_has_the_id_of_its_first_place_on_both_sides() -> None:
    batch = texts([4, 5, 4, SIZE + 3], [5, 8, 4, SIZE + 3])
    found = hidden(batch, 1.0, {"source": SIZE}, np.random.default_rng(1), copied="source")
    assert found.sources["source"].values[0].tolist() == [SIZE, SIZE + 1, SIZE, SIZE + 3]
    assert found.target.values[0].tolist() == [SIZE + 1, 8, SIZE, SIZE + 3]
    assert found.sources["source"].values[1].tolist() == [SIZE, 0, 0, 0]  # padding is left alone


def test_what_cannot_be_copied_is_unknown_and_leaves_the_target_alone() -> None:
    batch = texts([BEGIN, 4, 5, END], [5, 4])
    found = hidden(batch, 1.0, {"source": SIZE}, np.random.default_rng(1))
    assert found.sources["source"].values[0].tolist() == [BEGIN, UNKNOWN, UNKNOWN, END]
    assert found.target is batch.target


def test_about_the_wanted_share_is_hidden_and_equal_symbols_together() -> None:
    source = [*range(3, 1003), *range(3, 1003)]
    found = hidden(texts(source, [3]), 0.3, {"source": 2000}, np.random.default_rng(1)).sources["source"].values[0]
    assert 250 < (found[:1000] == UNKNOWN).sum() < 350
    np.testing.assert_array_equal(found[:1000], found[1000:])


def test_symbols_are_hidden_in_texts_only() -> None:
    sound = {"data": {"train": "a.tsv", "sources": {"source": {"kind": "sound"}}}, "training": {"augment": {"hidden": 0.1}}}
    with pytest.raises(RecipeError, match=r"training.augment.hidden: symbols of texts are hidden, and no source is a text"):
        recipe_from({**sound, "model": {"encoder": {"kind": "pyramid"}}})


@pytest.mark.parametrize("copy", [True, False])
def test_a_model_learns_from_texts_with_hidden_symbols(tmp_path: Path, *, copy: bool) -> None:
    (tmp_path / "pairs.tsv").write_text("".join(f"say {word}\tI say {word} .\n" for word in "abcdefgh"))
    recipe = {
        "data": {
            "train": str(tmp_path / "pairs.tsv"),
            "validation": str(tmp_path / "pairs.tsv"),
            "vocabularies": {"source": {"kind": "words"}, "shared": True},
        },
        "model": {
            "encoder": {"kind": "text", "size": 8, "embedding": 8},
            "decoder": {"kind": "recurrent", "size": 8, "embedding": 8},
            "bridge": {"kind": "attention", "query": "current", "into": ["combined"], "copy": copy},
        },
        "training": {"steps": 3, "batch_tokens": 20, "threads": 1, "augment": {"hidden": 0.5}},
    }
    outcome = train(recipe_from(recipe), tmp_path / "run", display=open_display())
    assert outcome.finished
