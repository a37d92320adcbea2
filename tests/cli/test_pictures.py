"""`seqloom explain` and `report`: pages and pictures."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from cli.conftest import Seqloom


class _Outside(HTMLParser):
    """Collects whatever a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href")]


def assert_self_contained(page: Path) -> None:
    outside = _Outside()
    outside.feed(page.read_text(encoding="utf-8"))
    assert [one for one in outside.found if not one.startswith(("#", "data:"))] == []


@pytest.mark.parametrize(("ending", "opening"), [("html", b"<!doctype html"), ("svg", b"<svg"), ("png", b"\x89PNG")])
def test_explain_writes_the_form_that_the_name_asks_for(
    seqloom: Seqloom, tiny_run: Path, here: Path, ending: str, opening: bytes
) -> None:
    answer = seqloom("explain", tiny_run, "abc", "--out", f"map.{ending}")
    assert answer.code == 0
    assert answer.out == f"ABC\nmap.{ending}\n"
    assert opening in (here / f"map.{ending}").read_bytes()[:200]


def test_a_map_is_self_contained_and_has_the_whole_beam(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    assert seqloom("explain", tiny_run, "abc", "--beam", 3).code == 0
    assert_self_contained(here / "map.html")
    assert seqloom("explain", tiny_run, "abc", "--beam", 3, "--out", "map.json").code == 0
    body = json.loads((here / "map.json").read_text())
    assert (body["text"], len(body["alternatives"])) == ("ABC", 2)


def test_explain_says_as_json_what_it_wrote(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    [body] = seqloom("explain", tiny_run, "abc", "--feature", "loud", "--out", "new/map.svg", "--json").objects
    assert (body["text"], body["features"], body["written"]) == ("ABC!", ["loud"], "new/map.svg")
    assert (here / "new" / "map.svg").exists()


def test_several_runs_explain_one_input_beside_each_other(seqloom: Seqloom, tiny_run: Path, finished: Path, here: Path) -> None:
    answer = seqloom("explain", tiny_run, finished, "abc", "--out", "both.html")
    assert answer.out == f"{tiny_run}: ABC\n{finished}: ABC\nboth.html\n"
    page = (here / "both.html").read_text(encoding="utf-8")
    assert page.count('<h2 class="whose"') == 2
    assert f"{finished}: bilinear attention" in page
    assert seqloom("explain", tiny_run, finished, "abc", "--out", "both.svg").code == 0


def test_several_runs_as_json_are_told_apart_by_their_folders(
    seqloom: Seqloom, tiny_run: Path, finished: Path, here: Path
) -> None:
    [body] = seqloom("explain", tiny_run, finished, "abc", "--out", "both.json", "--json").objects
    assert [(one["run"], one["text"]) for one in body["predictions"]] == [(str(tiny_run), "ABC"), (str(finished), "ABC")]
    assert json.loads((here / "both.json").read_text())["predictions"][1]["label"].startswith(f"{finished}: ")


def test_a_language_model_is_explained_alone(seqloom: Seqloom, tiny_run: Path, tiny_language_run: Path) -> None:
    answer = seqloom("explain", tiny_run, tiny_language_run, "abc")
    assert (answer.code, "Explain it alone" in answer.err) == (2, True)


def test_an_unknown_ending_is_bad_usage(seqloom: Seqloom, tiny_run: Path) -> None:
    answer = seqloom("explain", tiny_run, "abc", "--out", "map.pdf")
    assert answer.code == 2
    assert ".html, .svg, .png or .json" in answer.err


def test_the_report_lies_in_the_run_and_is_self_contained(seqloom: Seqloom, finished: Path) -> None:
    answer = seqloom("report", finished)
    assert answer.code == 0
    assert answer.out == f"{finished}/report.html\n"
    assert_self_contained(finished / "report.html")
    page = (finished / "report.html").read_text(encoding="utf-8")
    for part in ("Quality", "95 % interval", "Worst outputs", "Best outputs", "Attention", "The resolved recipe"):
        assert part in page


def test_a_report_can_go_elsewhere(seqloom: Seqloom, tiny_run: Path, here: Path) -> None:
    assert seqloom("report", tiny_run, "--out", "page.html", "--most", 5).code == 0
    assert re.search(r"\b5 (of [\d,]+ )?test examples", (here / "page.html").read_text(encoding="utf-8"))
