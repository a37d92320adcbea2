"""The interactive page."""

import time
from dataclasses import replace

import pytest

from seqloom.results.predictions import Prediction
from seqloom.views import to_fragment, to_html
from seqloom.views.maps.heatmap import several_to_html

from . import samples
from .markup import Page, assert_self_contained

EVIL = '</script><img src=x onerror="alert(1)">\u2028<!--'


@pytest.mark.parametrize(
    "prediction",
    [
        samples.characters("रविवार, 15", "2026", "2025", tag="hi_IN", heads=3),
        samples.two_sources(),
        samples.without_attention(),
        samples.long(),
        samples.characters("", ""),
    ],
)
def test_every_page_is_well_formed_and_needs_nothing_else(prediction: Prediction) -> None:
    markup = to_html(prediction, "A title")
    Page(markup)
    assert_self_contained(markup)


def test_output_scores_and_source_can_be_read_without_the_script() -> None:
    page = Page(to_html(samples.characters("रविवार", "2026", "2025", tag="hi_IN"), "Dates"))
    assert all(one in page.text for one in ("Dates", "रविवार", "hi_IN", "2026", "2025", "score \u2212", "log p \u2212"))
    assert page.count("button", kind="candidate") == 2


def test_weights_of_every_head_and_candidate_are_in_the_data() -> None:
    prediction = samples.characters("cat", "kat", "cat", heads=2)
    data = Page(to_html(prediction, "")).data()
    heads = data["candidates"][1]["maps"][0]["heads"]
    weight = prediction.candidates[1].alignment["source"].weights[1, 0, 0]
    assert (len(data["candidates"]), len(heads), len(heads[0])) == (2, 2, 16)
    assert heads[1][0] == round(float(weight) * data["scale"])


def test_source_ranges_are_whole_clusters() -> None:
    data = Page(to_html(samples.characters("किa", "k"), "")).data()
    assert data["candidates"][0]["maps"][0]["segments"] == [[0, 2, [0, 1]], [2, 3, [2]]]


def test_texts_are_whole_so_that_the_browser_shapes_them() -> None:
    assert '<span class="run" dir="auto">شكرا</span>' in to_html(samples.characters("شكرا", "x"), "")


def test_foreign_text_cannot_leave_its_place() -> None:
    prediction = samples.words(f"a {EVIL}", EVIL, f"{EVIL} b")
    page = Page(to_html(prediction, EVIL))
    assert page.count("img") == 0
    assert page.count("script") == 2
    assert EVIL in page.text
    assert page.data()["candidates"][0]["text"] == EVIL


def test_source_names_and_features_are_escaped_too() -> None:
    plain = samples.characters("a", "b", tag=EVIL)
    renamed = Prediction({EVIL: "a"}, plain.best, (), (EVIL,))
    assert Page(to_html(renamed, "")).count("img") == 0


def test_a_model_without_attention_gets_a_page_that_says_so() -> None:
    page = Page(to_html(samples.without_attention(), ""))
    assert "This model has no attention" in page.text
    assert page.data()["candidates"][0]["probabilities"]
    assert page.data()["sources"] == []


def test_several_maps_share_a_page_without_ids() -> None:
    page = Page(several_to_html([samples.two_sources(), samples.long(5, 6)], "Two"))
    assert page.count("section", kind="seqloom-map") == 2
    assert not any("id" in attributes for _, attributes in page.elements)


def test_a_fragment_brings_its_own_style_and_script() -> None:
    page = Page(to_fragment(samples.characters("cat", "kat")))
    assert (page.count("style"), page.count("script"), page.count("html")) == (1, 2, 0)
    assert page.count("svg") == 1


def test_two_hundred_by_two_hundred_takes_less_than_a_second() -> None:
    prediction = samples.long(200, 200, heads=4)
    start = time.perf_counter()
    to_html(prediction, "long")
    assert time.perf_counter() - start < 1.0


def test_an_unknown_symbol_is_shown_as_itself_and_marked() -> None:
    known = samples.characters("a\U0001f600", "b")
    alignment = replace(known.best.alignment["source"], unknown=(1,))
    page = Page(to_html(Prediction(known.sources, replace(known.best, alignment={"source": alignment})), ""))
    [drawn] = page.data()["candidates"][0]["maps"]
    assert drawn["columns"][1][:3] == ["\U0001f600", 0, "doubt"]
    assert drawn["unknown"] == [[1, 3, [0]]]  # in UTF-16, as browsers count
    assert page.count("text", kind="doubt underlined") == 1
    assert "not in the model's vocabulary" in page.text
