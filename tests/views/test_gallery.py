"""Galleries: pictures with what a model says of each."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from seqloom.errors import UsageError
from seqloom.views.pages.gallery import MOST, gallery_page, gallery_sketch, write_gallery

from . import pictures
from .markup import Page, assert_self_contained

ONE = pictures.caption("a house beside a red ball")


def test_a_page_has_every_picture_and_what_is_said_of_it() -> None:
    markup = gallery_page([ONE] * 3, "</script>")
    assert Page(markup).text.count("a house beside a red ball") >= 3
    assert markup.count("<figure>") == markup.count("where it looked") == 3
    assert_self_contained(markup)


def test_large_galleries_leave_out_where_the_model_looked() -> None:
    markup = gallery_page([ONE] * 25, "x")
    assert (markup.count("<figure>"), "where it looked" in markup) == (25, False)


def test_a_drawing_has_rows_of_four_and_wraps_what_is_said() -> None:
    one, two = gallery_sketch([ONE] * 4, "x"), gallery_sketch([ONE] * 5, "x")
    assert (one.width, two.height > 1.7 * one.height - 60) == (two.width, True)
    assert ET.fromstring(two.svg("x")).tag.endswith("svg")  # noqa: S314  our own output


def test_the_ending_decides_the_form(tmp_path: Path) -> None:
    body = json.loads(write_gallery([ONE], tmp_path / "a.json", title="x").read_text(encoding="utf-8"))
    assert len(body["predictions"]) == 1
    with pytest.raises(UsageError, match="do not fit into a gallery"):
        write_gallery([ONE] * (MOST + 1), tmp_path / "a.html", title="x")
