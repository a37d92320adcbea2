"""Choosing the form by the file's ending."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from seqloom.errors import UsageError, WriteError
from seqloom.results.predictions import Prediction
from seqloom.views import to_json, write_map
from seqloom.views.maps.svg import NO_ATTENTION

from . import samples


@pytest.mark.parametrize(
    ("name", "start"), [("m.html", b"<!doctype html>"), ("m.SVG", b"<svg "), ("m.png", b"\x89PNG"), ("m.json", b"{")]
)
def test_the_ending_decides_the_form(tmp_path: Path, name: str, start: bytes) -> None:
    path = write_map(samples.characters("cat", "kat"), tmp_path / "new" / name)
    assert path.read_bytes().startswith(start)
    assert [one.name for one in path.parent.iterdir()] == [name]


@pytest.mark.parametrize(("name", "got"), [("m.pdf", "the ending '.pdf'"), ("m", "no ending")])
def test_other_endings_are_refused_with_the_four_that_work(tmp_path: Path, name: str, got: str) -> None:
    with pytest.raises(UsageError, match=rf"ends in \.html, \.svg, \.png or \.json, got {got}"):
        write_map(samples.characters("cat", "kat"), tmp_path / name)


def test_several_predictions_go_into_html_and_json_only(tmp_path: Path) -> None:
    both = [samples.characters("cat", "kat"), samples.characters("dog", "dok")]
    assert write_map(both, tmp_path / "m.html").read_text(encoding="utf-8").count('<section class="seqloom-map">') == 2
    assert len(json.loads(write_map(both, tmp_path / "m.json").read_text(encoding="utf-8"))["predictions"]) == 2
    with pytest.raises(UsageError, match="shows one input, got 2"):
        write_map(both, tmp_path / "m.svg")


def test_no_prediction_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least one prediction"):
        write_map([], tmp_path / "m.html")


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(WriteError, match=r"file/m\.html: could not be written"):
        write_map(samples.characters("cat", "kat"), tmp_path / "file" / "m.html")


def test_json_is_the_prediction_with_a_version() -> None:
    prediction = samples.characters("شكرا", "shukran", "shokran")
    assert json.loads(to_json(prediction)) == {"version": 1, **prediction.as_json()}


def test_infinite_scores_become_null() -> None:
    best = replace(samples.without_attention().best, score=float("-inf"))
    prediction = replace(samples.without_attention(), best=best)
    assert json.loads(to_json(prediction))["score"] is None


def classes(*shares: float, attention: bool = True) -> Prediction:
    """A prediction of classes named a, b, c with these probabilities."""
    drawn = samples.characters("cat", "a").best if attention else samples.without_attention().best
    first, *others = (replace(drawn, text="abc"[index], probability=share) for index, share in enumerate(shares))
    return replace(samples.characters("cat", "a"), best=first, alternatives=tuple(others))


def test_drawings_of_classes_show_how_probable_each_is(tmp_path: Path) -> None:
    drawn = write_map(classes(0.7, 0.2, 0.1), tmp_path / "m.svg").read_text(encoding="utf-8")
    assert all(share in drawn for share in (">70.0%<", ">20.0%<", ">10.0%<", "output"))
    assert "all others" not in drawn
    assert ">5.0%<" in write_map(classes(0.7, 0.25), tmp_path / "n.svg").read_text(encoding="utf-8")
    assert write_map(classes(0.7, 0.2, 0.1), tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_classes_of_a_model_without_attention_are_bars_alone(tmp_path: Path) -> None:
    drawn = write_map(classes(0.7, 0.3, attention=False), tmp_path / "m.svg").read_text(encoding="utf-8")
    assert ">30.0%<" in drawn
    assert NO_ATTENTION not in drawn


def test_a_class_alone_has_no_bars(tmp_path: Path) -> None:
    assert "70.0%" not in write_map(classes(0.7), tmp_path / "m.svg").read_text(encoding="utf-8")
