"""Strips of pictures in print, and the part of a page that shows them."""

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from seqloom.errors import UsageError
from seqloom.results.predictions import Prediction
from seqloom.views import Exhibit, Picture, to_fragment, to_html, to_json, to_png, to_svg, write_map
from seqloom.views.maps.heatmap import several_to_html
from seqloom.views.maps.strips import plan_strip
from seqloom.views.maps.svg import several_to_svg

from . import pictures, samples
from .markup import Page, assert_self_contained

TEXT = "a red ball beside a house under the sun"
EVIL = '</script><img src=x onerror="alert(1)">'
_NAMESPACE = "{http://www.w3.org/2000/svg}"


def _svg(exhibit: Exhibit) -> str:
    return to_svg(exhibit.prediction.best, pictures=exhibit.pictures)


def _steps(markup: str) -> list[ET.Element]:
    groups = ET.fromstring(markup).iter(f"{_NAMESPACE}g")  # noqa: S314  our own output
    return [one for one in groups if one.get("class") == "step"]


def _texts(element: ET.Element) -> list[str]:
    return [one.text or "" for one in element.iter(f"{_NAMESPACE}text")]


# --- in print ---------------------------------------------------------------------------------------------------------


def test_the_picture_comes_first_and_then_one_panel_per_symbol() -> None:
    steps = _steps(_svg(pictures.caption(TEXT)))
    assert [_texts(one)[0] for one in steps] == ["image", *TEXT.split(), "<end>"]
    assert len(list(steps[0].iter(f"{_NAMESPACE}image"))) == 0
    assert all(len(list(one.iter(f"{_NAMESPACE}image"))) == 1 for one in steps[1:])


def test_each_panel_has_its_probability_and_says_where_the_model_looked() -> None:
    exhibit = pictures.caption(TEXT)
    sun = _steps(_svg(exhibit))[9]
    probability = np.exp(exhibit.prediction.best.log_probs[8])
    assert _texts(sun) == ["sun", f"{probability:.2f}"]
    assert "looks upper right" in (sun.findtext(f"{_NAMESPACE}title") or "")


def test_the_picture_is_held_once() -> None:
    markup = _svg(pictures.caption(TEXT))
    assert markup.count('<image id="picture-0-0"') == 1
    assert markup.count('<use href="#picture-0-0"/>') == 11
    assert_self_contained(markup)


def test_the_whole_output_and_its_score_stand_below() -> None:
    [caption] = [one for one in _texts(ET.fromstring(_svg(pictures.caption(TEXT)))) if one == TEXT]  # noqa: S314
    assert caption
    assert "score \u2212" in _svg(pictures.caption(TEXT))


@pytest.mark.parametrize(("words", "per_row"), [(1, 3), (4, 6), (5, 4), (6, 4), (12, 5), (30, 6)])
def test_rows_are_even_and_panels_stay_inside(words: int, per_row: int) -> None:
    strip = plan_strip(pictures.captioned(" ".join(["a"] * words)), "image", Picture(pictures.scene()))
    places = [strip.place(index) for index in range(words + 2)]
    assert sum(y == 0 for _, y in places) == strip.per_row == per_row
    assert max(x for x, _ in places) + strip.panel[0] <= strip.width <= 920


def test_tall_pictures_stay_small_enough_for_a_page() -> None:
    strip = plan_strip(pictures.captioned("a"), "image", Picture(np.zeros((900, 100, 3), np.uint8)))
    assert strip.panel[1] <= 176


def test_hard_attention_is_drawn_as_the_cell_it_chose() -> None:
    strip = plan_strip(pictures.captioned("ball", hard=True), "image", Picture(pictures.scene()))
    [frame] = strip.steps[0].outlines
    cell = strip.steps[0].weights.argmax()
    assert (round(frame.top * 8), round(frame.left * 10)) == divmod(int(cell), 10)
    assert (frame.width, frame.height, frame.named) == (0.1, 0.125, False)
    assert plan_strip(pictures.captioned("ball"), "image", Picture(pictures.scene())).steps[0].outlines == []


def test_what_a_word_names_is_outlined() -> None:
    strip = plan_strip(pictures.captioned("a Ball, a house"), "image", Picture(pictures.scene(), pictures.BOXES))
    named = [len(step.outlines) for step in strip.steps]
    assert named == [0, 1, 0, 1, 0]
    left, top, right, _ = pictures.BOXES["ball"][0]
    frame = strip.steps[1].outlines[0]
    assert (frame.left * 300, frame.top * 240, frame.width * 300) == pytest.approx((left, top, right - left))


def test_parts_of_a_word_have_its_box_too() -> None:
    tokens = ["b", "all", "<end>"]
    best = samples.candidate("ball", tokens, image=pictures.picture_alignment(tokens))
    strip = plan_strip(best, "image", Picture(pictures.scene(), pictures.BOXES))
    assert [len(step.outlines) for step in strip.steps] == [1, 1, 0]


def test_boxes_follow_a_picture_that_is_shrunk() -> None:
    large = np.repeat(np.repeat(pictures.scene(), 4, axis=0), 4, axis=1)
    boxes = {"ball": [tuple(4 * side for side in pictures.BOXES["ball"][0])]}
    small = plan_strip(pictures.captioned("ball"), "image", Picture(pictures.scene(), pictures.BOXES))
    strip = plan_strip(pictures.captioned("ball"), "image", Picture(large, boxes))  # type: ignore[arg-type]
    assert max(strip.pixels.shape) <= 640
    assert strip.steps[0].outlines == small.steps[0].outlines


def test_a_head_can_be_chosen_and_the_mean_is_drawn_else() -> None:
    best, held = pictures.captioned(TEXT, heads=2), {"image": Picture(pictures.scene())}
    assert len({to_svg(best, head=head, pictures=held) for head in (None, 0, 1)}) == 3
    with pytest.raises(UsageError, match="no attention head 2"):
        to_svg(best, head=2, pictures=held)


def test_right_to_left_words_and_foreign_text_stay_what_they_are() -> None:
    markup = _svg(pictures.caption("كرة </text><b>"))
    assert 'direction="rtl"' in markup
    assert [_texts(one)[0] for one in _steps(markup)] == ["image", "كرة", "</text><b>", "<end>"]


def test_without_pixels_the_weights_lie_on_a_plain_ground() -> None:
    alone = pictures.caption(TEXT).prediction
    assert len(_steps(to_svg(alone.best))) == 11
    Page(to_html(alone, ""))
    assert to_png(alone.best)[:4] == b"\x89PNG"


def test_runs_to_compare_stand_below_each_other_with_their_labels() -> None:
    both = [pictures.caption(TEXT, label="soft"), pictures.caption(TEXT, label="hard", hard=True)]
    markup = several_to_svg(both)
    assert markup.index(">soft<") < markup.index(">hard<")
    assert len(_steps(markup)) == 22
    assert len(set(re.findall(r'<image id="([^"]+)"', markup))) == 2
    assert markup.count("white frame") == 1


def test_a_question_has_its_heat_map_below_the_strip() -> None:
    markup = _svg(pictures.answer())
    assert len(_steps(markup)) == 4
    assert {"question \u2192", "weight"} <= set(_texts(ET.fromstring(markup)))  # noqa: S314


@pytest.mark.parametrize("ending", ["html", "svg", "png", "json"])
def test_every_form_holds_one_or_several(tmp_path: Path, ending: str) -> None:
    one, both = pictures.answer(), [pictures.caption(TEXT, label="soft"), pictures.caption("a ball", label="hard", hard=True)]
    sizes = [write_map(shown, tmp_path / f"m.{ending}").stat().st_size for shown in (one, both)]
    assert min(sizes) > 1000


def test_json_has_grid_weights_and_words() -> None:
    exhibit = pictures.caption(TEXT, label="soft")
    read = json.loads(to_json(exhibit))
    assert (read["label"], read["tokens"]) == ("soft", [*TEXT.split(), "<end>"])
    found = read["alignment"]["image"]
    assert found["grid"] == list(pictures.GRID)
    assert np.allclose(found["weights"], exhibit.prediction.alignment["image"].mean, atol=1e-5)
    assert "grid" not in json.loads(to_json(samples.characters("cat", "kat")))["alignment"]["source"]


def test_the_example_of_the_documentation_draws_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    documentation = Path(__file__).parents[2] / "docs" / "views.md"
    *_, example = re.findall(r"```python\n(.*?)```", documentation.read_text(encoding="utf-8"), re.DOTALL)
    exec(example, {})  # noqa: S102
    assert Page((tmp_path / "square.html").read_text(encoding="utf-8")).count("i", kind="outline named") == 1


def test_only_arrays_of_bytes_are_pictures() -> None:
    with pytest.raises(UsageError, match=r"bytes \[height, width, 3\], got float64 of shape \[4, 4\]"):
        Picture(np.zeros((4, 4)))  # type: ignore[arg-type]


# --- on a page --------------------------------------------------------------------------------------------------------


def test_a_page_is_well_formed_and_needs_nothing_else() -> None:
    for shown in (pictures.caption(TEXT, "a ball", heads=3, boxes=pictures.BOXES), pictures.answer()):
        markup = to_html(shown, "A title")
        Page(markup)
        assert_self_contained(markup)


def test_the_strip_can_be_read_without_the_script() -> None:
    page = Page(to_html(pictures.caption(TEXT), ""))
    assert (page.count("div", kind="look"), page.count("img", kind="mask")) == (1, 10)
    spoken = [attributes["alt"] or "" for tag, attributes in page.elements if tag == "img"]
    assert spoken[8].startswith("sun: probability 0.")
    assert all(word in page.text for word in TEXT.split())


def test_weights_of_every_head_and_candidate_are_in_the_data() -> None:
    exhibit = pictures.caption(TEXT, "a ball", heads=2, boxes=pictures.BOXES)
    data = Page(to_html(exhibit, "")).data()
    second = data["candidates"][1]["maps"][0]
    weights = exhibit.prediction.alternatives[0].alignment["image"].weights
    assert (second["grid"], len(second["heads"]), len(second["heads"][0])) == ([8, 10], 2, 3 * 80)
    assert second["heads"][1][:80] == [round(float(one) * data["scale"]) for one in weights[1, 0]]
    assert [len(one) for one in second["boxes"]] == [0, 1, 0]
    assert data["lighting"]["veil"][:3] == [13, 18, 24]


def test_a_picture_alone_has_no_heat_map_and_a_question_beside_it_has_one() -> None:
    assert Page(to_html(pictures.caption(TEXT), "")).count("div", kind="plot") == 0
    page = Page(to_html(pictures.answer(), ""))
    assert (page.count("div", kind="look"), page.count("div", kind="plot")) == (1, 1)
    assert page.data()["sources"] == ["image", "question"]


def test_labelled_predictions_stand_beside_each_other() -> None:
    both = [pictures.caption(TEXT, label="soft"), pictures.caption(TEXT, label="<hard>", hard=True)]
    page = Page(several_to_html(both, "Two"))
    assert (page.count("div", kind="beside"), page.count("h2", kind="whose"), page.count("div", kind="look")) == (1, 2, 2)
    assert "<hard>" in page.text
    unlabelled = [replace(one, label="") for one in both]
    assert Page(several_to_html(unlabelled, "Two")).count("div", kind="beside") == 0


def test_a_notebook_gets_the_strip_alone() -> None:
    page = Page(to_fragment(pictures.caption(TEXT)))
    assert (page.count("div", kind="look compact"), page.count("div", kind="view"), page.count("img")) == (1, 0, 10)


def test_foreign_words_and_names_cannot_leave_their_place() -> None:
    plain = pictures.caption(f"{EVIL} ball", EVIL, boxes={EVIL: [(0, 0, 9, 9)]})
    best = replace(plain.prediction.best, alignment={EVIL: plain.prediction.alignment["image"]})
    renamed = Exhibit(Prediction({EVIL: EVIL}, best), {EVIL: plain.pictures["image"]}, EVIL)
    for shown in (plain, renamed):
        page = Page(to_html(shown, EVIL))
        assert page.count("img") == page.count("img", kind="mask")
        assert page.count("script") == 2
