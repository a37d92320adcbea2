"""Texts of several directions beside each other: none turns another around."""

from pathlib import Path
from typing import Any

import pytest

from seqloom.views import write_map
from seqloom.views.text.labels import isolated, starts_right_to_left

from . import samples
from .markup import Page

ARABIC, DATE = "٣١ ديسمبر ٢٠٠٩", "2009-12-31"
TITLE = f"\u2068{ARABIC}\u2069 \u2192 {DATE}"


def test_only_texts_that_can_turn_others_around_are_isolated() -> None:
    assert isolated("le 3 mai") == "le 3 mai"
    assert isolated("שלום 3") == "\u2068שלום 3\u2069"
    assert isolated("٢٠٠٩") == "\u2068٢٠٠٩\u2069"


def test_an_isolated_text_does_not_decide_the_direction_of_its_line() -> None:
    assert starts_right_to_left(ARABIC)
    assert not starts_right_to_left(TITLE)
    assert starts_right_to_left(f"\u2068abc\u2069 {ARABIC}")


@pytest.mark.parametrize("ending", ["html", "svg"])
def test_the_title_of_an_arabic_map_keeps_the_date_as_it_is(tmp_path: Path, ending: str) -> None:
    written = write_map(samples.characters(ARABIC, DATE), tmp_path / f"map.{ending}").read_text(encoding="utf-8")
    assert TITLE in written
    if ending == "html":
        assert Page(written).count("h1", dir="ltr") == 1


def test_the_title_of_a_png_is_isolated_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canvas = pytest.importorskip("seqloom.views.drawing.canvas")
    drawn: list[str] = []
    draw = canvas.Canvas.text

    def watched(self: Any, x: float, y: float, text: str, *rest: Any, **more: Any) -> None:
        drawn.append(text)
        draw(self, x, y, text, *rest, **more)

    monkeypatch.setattr(canvas.Canvas, "text", watched)
    write_map(samples.characters(ARABIC, DATE), tmp_path / "map.png")
    assert TITLE in drawn


def test_tooltips_isolate_both_symbols(tmp_path: Path) -> None:
    drawing = write_map(samples.characters("دی", "ab"), tmp_path / "map.svg").read_text(encoding="utf-8")
    assert "a \u2190 \u2068د\u2069" in drawing
