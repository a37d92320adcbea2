"""Where encoders looked while they read one source beside another, drawn."""

import json
from pathlib import Path

import numpy as np
import pytest

from seqloom.results.inner_looks import InnerLook, Places
from seqloom.results.predictions import FloatArray
from seqloom.views import Exhibit, write_map
from seqloom.views.maps.heatmap import drawing
from seqloom.views.maps.inner import inner_maps, place_segments

from . import samples
from .markup import Page, assert_self_contained

STORY, QUESTION = "Ann ran. Bob <b>.", "Who ran?"


def weights(rounds: int, heads: int, rows: int, columns: int) -> FloatArray:
    found = np.random.default_rng(1).random((rounds, heads, rows, columns)).astype(np.float32)
    shares: FloatArray = found / found.sum(axis=-1, keepdims=True)
    return shares


def rounds_of_sentences() -> InnerLook:
    sentences = Places(("Ann ran.", "Bob <b>."), ((0, 8), (9, 17)), ("story", "story")).after("question", QUESTION)
    return InnerLook("story", "question", weights(2, 2, 3, 3), sentences, sentences)


def comparison() -> InnerLook:
    words = Places(("ann", "ran", ".", "<end>"), ((0, 3), (4, 7), (7, 8), (17, 17)), ("story",) * 4, unknown=(0,))
    asked = Places(("who", "ran", "?"), ((0, 3), (4, 7), (7, 8)), ("question",) * 3)
    return InnerLook("story", "question", weights(1, 1, 4, 3), words, asked)


def exhibit(look: InnerLook) -> Exhibit:
    prediction = samples.characters("cat", "kat")
    told = type(prediction)({"story": STORY, "question": QUESTION}, prediction.best)
    return Exhibit(told, inside=(look,))


@pytest.mark.parametrize("look", [rounds_of_sentences(), comparison()])
@pytest.mark.parametrize("name", ["m.html", "m.svg", "m.png", "m.json"])
def test_every_form_has_it(tmp_path: Path, look: InnerLook, name: str) -> None:
    with_it, without = exhibit(look), Exhibit(exhibit(look).prediction)
    assert write_map(with_it, tmp_path / name).stat().st_size > write_map(without, tmp_path / f"no-{name}").stat().st_size


def test_rounds_are_numbered_and_sentences_called_by_their_numbers(tmp_path: Path) -> None:
    first, second = inner_maps(rounds_of_sentences())
    assert (first.across, second.across) == ("round 1 \u2192", "round 2 \u2192")
    assert [one.text for one in first.rows] == [QUESTION, "1 Ann ran.", "2 Bob <b>."]
    assert [(one.text, one.full) for one in first.columns[:2]] == [("?", QUESTION), ("1", "1 Ann ran.")]
    drawn = write_map(exhibit(rounds_of_sentences()), tmp_path / "m.svg").read_text(encoding="utf-8")
    assert drawn.count(">round ") == 2
    assert "2 Bob &lt;b&gt;." in drawn


def test_words_stand_beside_the_words_that_they_are_compared_with() -> None:
    (only,) = inner_maps(comparison())
    assert (only.across, only.down) == ("question \u2192", "story \u2193")
    assert [(one.text, one.kind) for one in only.rows] == [("ann", "doubt"), ("ran", "ink"), (".", "ink"), ("<end>", "quiet")]
    assert only.weights.shape == (4, 3)


def test_a_page_has_all_heads_and_the_ranges_of_the_texts() -> None:
    page = drawing(exhibit(rounds_of_sentences()))
    (inside,) = page["data"]["inside"]
    assert (len(inside["rounds"]), len(inside["rounds"][0]), len(inside["rounds"][0][0])) == (2, 2, 9)
    assert inside["first"] == 1
    assert inside["row_segments"] == {"question": [(0, 8, (0,))], "story": [(0, 8, (1,)), (9, 17, (2,))]}
    assert place_segments(comparison().columns, {"question": QUESTION})["question"][1] == (4, 7, (1,))


def test_the_page_is_well_formed_and_can_be_read_without_its_script(tmp_path: Path) -> None:
    page = write_map(exhibit(comparison()), tmp_path / "m.html").read_text(encoding="utf-8")
    Page(page)
    assert_self_contained(page)
    assert "Reading story: each word, compared with those of question" in page


def test_json_has_the_mean_of_heads_of_each_round(tmp_path: Path) -> None:
    look = rounds_of_sentences()
    (inside,) = json.loads(write_map(exhibit(look), tmp_path / "m.json").read_text(encoding="utf-8"))["inside"]
    assert (inside["source"], inside["beside"], inside["rows"][0]) == ("story", "question", QUESTION)
    np.testing.assert_allclose(inside["rounds"], look.weights.mean(axis=1), atol=1e-5)
