"""The studio in a browser: every item of the page, on a small run, a language model and a captioner."""

import io
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from cli.test_films import TINY as TINY_FILMS
from cli.test_melodies import FEW_MELODIES, TINY_TONES
from cli.test_scenes import TINY_CAPTIONS, trained
from PIL import Image, ImageSequence
from playwright.sync_api import Browser, Download, expect

from seqloom.__main__ import main
from seqloom.data.builtin import moves, scenes, tones
from seqloom.training.session import train
from server.browsing import Watched, attacks, opened_browser
from server.live import LiveServer

Open = Callable[..., Watched]
LESSON = ("no-attention", "every-step", "attention")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with opened_browser() as found:
        yield found


@pytest.fixture(scope="module")
def payloads() -> list[str]:
    """Texts that run as scripts wherever they become markup."""
    return [re.sub(r"\s+", " ", one) for one in attacks().payloads()]


@pytest.fixture(scope="module")
def hostile_run(payloads: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose symbols are payloads, on both sides, and whose attention has two heads."""
    folder = tmp_path_factory.mktemp("hostile")
    # A symbol is what stands between spaces.
    written = [one.replace(" ", "\u00a0") for one in payloads]
    (folder / "pairs.tsv").write_text("".join(f"{one}\t{one}\n" for one in written), encoding="utf-8")
    symbols, pairs = {"kind": "symbols"}, str(folder / "pairs.tsv")
    recipe: dict[str, Any] = {
        "data": {"train": pairs, "validation": pairs, "test": pairs, "vocabularies": {"source": symbols, "target": symbols}},
        "model": {
            "encoder": {"size": 8, "embedding": 8},
            "decoder": {"size": 8, "embedding": 8},
            "bridge": {"kind": "attention", "attention": {"kind": "multi_head", "heads": 2, "size": 8}},
        },
        "training": {"steps": 2, "validation": {"every_steps": 2, "examples": 4}, "precision": "fp32", "threads": 1},
        "search": {"kind": "beam", "width": 3, "minimum_length": 2},
    }
    train(recipe, folder / "hostile")
    return folder / "hostile"


@pytest.fixture(scope="module")
def caption_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scenes.splits, "PICTURES", {"train": 40, "validation": 8, "test": 12})
        return trained("scenes", TINY_CAPTIONS, tmp_path_factory.mktemp("captions") / "captions")


@pytest.fixture(scope="module")
def melody_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tones.splits, "MELODIES", FEW_MELODIES)
        return trained("tones", TINY_TONES, tmp_path_factory.mktemp("melodies") / "melodies")


@pytest.fixture(scope="module")
def film_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moves.splits, "FILMS", {"train": 24, "validation": 4, "test": 6})
        return trained("moves", TINY_FILMS, tmp_path_factory.mktemp("films") / "films")


@pytest.fixture(scope="module")
def server(
    tiny_run: Path,
    text_runs: dict[str, Path],
    hostile_run: Path,
    caption_run: Path,
    melody_run: Path,
    film_run: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[LiveServer]:
    lessons = [f"{name}={tiny_run}" for name in LESSON]
    book = f"book={text_runs['stream-characters']}"
    words = [str(tiny_run), book, *map(str, (caption_run, melody_run, film_run, hostile_run)), *lessons]
    live = LiveServer(words, tmp_path_factory.mktemp("studio") / "log.txt", token=None)
    live.start()
    yield live
    live.stop()


@pytest.fixture
def studio(browser: Browser, server: LiveServer) -> Iterator[Open]:
    """Opens pages. When the test ends, none of them may have complained or asked for anything elsewhere."""
    pages: list[Watched] = []

    def open_page(**options: Any) -> Watched:
        pages.append(Watched(browser, server.address, **options))
        return pages[-1]

    yield open_page
    for one in pages:
        one.close()


# --- answers --------------------------------------------------------------------------------------------------------


def test_typing_is_answered_as_it_is_decoded(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    assert "v1/predict/stream" in watched.asked
    assert page.locator(".candidate").count() == 4
    assert re.match(r"confidence [01]\.\d{3}", page.inner_text("#facts"))
    assert "confidence" in page.locator(".candidate").nth(1).inner_text()
    page.click("#examples button >> nth=1")
    expect(page.locator("#tries .try")).to_have_count(3)
    assert page.input_value("#fields textarea") in page.inner_text("#examples button >> nth=1")


def test_map_and_ribbons_are_linked(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    expect(page.locator(".ribbons path").first).to_be_attached()
    page.locator(".plot svg").focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".seqloom-map .tip b").inner_text()
    faint = page.evaluate(
        "[...document.querySelectorAll('.ribbons path')].filter((one) => one.style.opacity === '0.03').length"
    )
    assert 0 < faint < page.locator(".ribbons path").count()
    page.locator(".shadeable.source").hover()
    assert page.locator(".shadeable.source .box.here").count() == 1


def test_heads_can_be_told_apart(studio: Open) -> None:
    watched = studio().go()
    watched.page.select_option("#model", "hostile")
    heads = watched.page.locator(".controls .choice button")
    expect(heads).to_have_text(["mean", "1", "2"])
    heads.nth(2).click()
    expect(heads.nth(2)).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_nothing_to_scroll_sideways(studio: Open, scheme: str) -> None:
    watched = studio(viewport={"width": 390, "height": 800}, color_scheme=scheme).go()
    for tab in ("answer", "search", "suppose", "reasons", "code"):
        watched.tab(tab)
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 390
    dark = watched.page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")


def test_two_models_answer_beside_each_other(studio: Open) -> None:
    watched = studio().go()
    watched.page.select_option("#beside", "attention")
    expect(watched.page.locator(".beside .seqloom-map")).to_have_count(2)
    watched.page.locator(".beside .plot svg").first.focus()
    watched.page.keyboard.press("ArrowDown")
    expect(watched.page.locator(".beside .plot svg .cursor")).to_have_count(2)


# --- the search, and what if ----------------------------------------------------------------------------------------


def test_a_pruned_node_of_the_tree_can_be_gone_on_from(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    watched.tab("search")
    pruned = page.locator(".search .node", has_text="pruned").first
    expect(pruned).to_be_attached()
    pruned.dispatch_event("pointerenter")
    assert re.search(r"pruned; number \d+ of this step.*Probability.*sum", page.inner_text(".told"))
    pruned.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#forced .chip")).to_contain_text("begins with")
    began = page.inner_text("#forced bdi").replace(" ", "")
    expect(page.locator("#live")).to_have_text(re.compile(f"^{re.escape(began)}"))
    page.click("#forced button")
    watched.expect_output("BAD")


def test_a_source_word_can_be_replaced_and_an_output_symbol_forced(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    watched.tab("suppose")
    page.click(".suppose section:nth-child(1) .chip")
    page.fill("[aria-label='instead of bad']", "cab")
    page.keyboard.press("Enter")
    watched.expect_output("CAB")
    assert page.input_value("#fields textarea") == "cab"
    page.click(".suppose section:nth-child(2) .words >> nth=0 >> button >> nth=1")
    page.fill("[aria-label='any other symbol']", "H")
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_have_text(re.compile("^CH"))


def test_attention_can_be_drawn_and_is_used_as_a_whole(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    watched.tab("suppose")
    with page.expect_request("**/v1/predict/stream") as sent:
        bars = page.locator(".editor .slot i")
        first, last = (bars.nth(place).bounding_box() for place in (0, 2))
        assert first is not None
        assert last is not None
        page.mouse.move(first["x"] + 5, first["y"] + first["height"] - 8)
        page.mouse.down()
        page.mouse.move(last["x"] + 5, last["y"] + 10, steps=6)
        page.mouse.up()
    oracle = json.loads(sent.value.post_data or "")["oracle"]
    assert len(oracle[0]) == 3
    assert sum(oracle[0]) == pytest.approx(1, abs=1e-4)
    assert oracle[0][2] == max(oracle[0])
    expect(page.locator("#forced .chip")).to_contain_text("looks where you said")
    watched.tab("answer")
    # A row of the map that is dragged sideways moves its weights.
    box = page.locator(".plot svg").bounding_box()
    row = page.evaluate(
        "(({ left, top, cell }) => [left, top, cell])(document.querySelector('.seqloom-map').heatMap.map.layout)"
    )
    assert box is not None
    left, top, cell = row
    with page.expect_request("**/v1/predict/stream") as dragged:
        page.mouse.move(box["x"] + left + cell * 0.5, box["y"] + top + cell * 1.5)
        page.mouse.down()
        page.mouse.move(box["x"] + left + cell * 2.5, box["y"] + top + cell * 1.5, steps=4)
        page.mouse.up()
    assert json.loads(dragged.value.post_data or "")["oracle"][1][2] > 0.9


def test_tries_are_a_tree_and_differ_with_a_sign(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    for word in ("bad", "cab"):
        watched.type(word)
        watched.expect_output(word.upper())
        page.dispatch_event("#fields textarea", "change")
    expect(page.locator("#tries .try")).to_have_count(3)
    page.keyboard.press("Control+z")
    watched.expect_output("BAD")
    assert page.input_value("#fields textarea") == "bad"
    watched.type("fed")
    watched.expect_output("FED")
    expect(page.locator("#tries .try")).to_have_count(4)
    depths = page.eval_on_selector_all("#tries li", "all => all.map((one) => one.style.getPropertyValue('--depth'))")
    assert depths == ["0", "0", "1", "1"]
    page.locator("#tries li", has_text="BAD").get_by_role("button", name=re.compile("difference")).click()
    expect(page.locator(".difference h2")).to_have_text("Try 4 minus try 2")
    assert page.locator(".difference ins").count()
    assert page.locator(".difference del").count()
    assert page.locator(".difference .plot rect.doubt, .difference .plot rect.accent").count()


# --- why, neighbours, code, links -----------------------------------------------------------------------------------


def test_every_step_has_its_distribution_and_an_error_its_culprit(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    watched.tab("reasons")
    expect(page.locator(".why tbody tr")).to_have_count(4)
    for wanted, verdict in (("BAD", "what the model found"), ("HHH", "Model error")):
        page.fill(".reasons input", wanted)
        page.click("text=whose error?")
        expect(page.locator(".verdict strong")).to_contain_text(verdict)
    page.locator(".why tbody tr").nth(1).locator(".chip").first.click()
    expect(page.locator("#forced .chip")).to_contain_text("begins with B")


def test_neighbours_are_training_examples_to_click(studio: Open) -> None:
    watched = studio().go()
    watched.tab("neighbours")
    first = watched.page.locator(".neighbour").first
    source = first.locator("bdi").first.inner_text().split(" ")[0]
    first.click()
    expect(watched.page.locator("#fields textarea")).to_have_value(re.compile(re.escape(source.strip("\u2068\u2069"))))


def test_the_link_restores_what_was_asked(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    watched.tab("suppose")
    page.click(".suppose section:nth-child(2) .words >> nth=0 >> button >> nth=1")
    page.fill("[aria-label='any other symbol']", "H")
    page.keyboard.press("Enter")
    expect(page.locator("#live")).to_have_text(re.compile("^BH"))
    expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")
    page.click("#link-button")
    expect(page.locator("#link-button")).to_have_text("copied")
    link = page.evaluate("navigator.clipboard.readText()")
    again = studio().go(link.removeprefix(watched.address))
    again.expect_output(watched.output)
    assert again.page.input_value("#fields textarea") == "bad"
    expect(again.page.locator("#tab-suppose")).to_have_attribute("aria-selected", "true")


def test_figures_are_downloaded_and_the_commands_make_them(
    studio: Open, tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = studio().go()
    page = watched.page
    watched.type("bad")
    watched.expect_output("BAD")
    watched.tab("code")
    for form, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("HTML", b"<!doctype"), ("JSON", b"{")):
        with page.expect_download() as saved:
            page.click(f".code .row >> text={form}")
        assert _content(saved.value).startswith(begins)
    with page.expect_download() as saved:
        page.click(".code .row >> text=SVG")
    command = shlex.split(page.locator("section.code pre").nth(0).inner_text())
    assert command[:3] == ["seqloom", "explain", "tiny"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["seqloom", "explain", str(tiny_run), *command[3:]])
    with pytest.raises(SystemExit, match="0"):
        main()
    assert (tmp_path / "map.svg").read_bytes() == _content(saved.value)
    written = io.StringIO()
    with redirect_stdout(written):
        exec(page.locator("section.code pre").nth(2).inner_text(), {})  # noqa: S102 (our own page's text)
    assert "'BAD'" in written.getvalue()


def _content(saved: Download) -> bytes:
    return Path(saved.path()).read_bytes()


# --- other models ---------------------------------------------------------------------------------------------------


def test_a_language_model_completes_and_shows_its_surprise(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    page.select_option("#model", "book")
    page.fill(".writing textarea", "the")
    expect(page.locator(".shaded i")).to_have_count(4)  # and the end of the line
    expect(page.locator(".completions .chip").first).to_be_visible()
    page.locator(".shaded i").first.hover()
    expect(page.locator(".seqloom-text .tip .other").first).to_be_visible()
    before = page.input_value(".writing textarea")
    page.focus(".writing textarea")
    page.keyboard.press("Tab")
    expect(page.locator(".writing textarea")).not_to_have_value(before)
    page.fill(".sampling label:nth-of-type(2) input", "20")
    page.click("text=write on")
    expect(page.locator(".sample")).not_to_be_empty()
    expect(page.locator("text=stop")).to_be_disabled()
    again = studio().go(page.url.removeprefix(watched.address))
    expect(again.page.locator(".writing textarea")).to_have_value(page.input_value(".writing textarea"))


def test_a_captioner_shows_where_it_looked_and_reads_dropped_pictures(studio: Open, tmp_path: Path) -> None:
    watched = studio().go()
    page = watched.page
    page.select_option("#model", "captions")
    expect(page.locator(".look .step").first).to_be_visible()
    page.locator(".look .step").first.hover()
    assert "greatest weight" in page.inner_text(".look .status")
    Image.new("RGB", (64, 48), (200, 30, 30)).save(tmp_path / "red.png")
    page.set_input_files(".drop input", tmp_path / "red.png")
    expect(page.locator("#tries .try[aria-current=true]")).to_contain_text("red.png")
    expect(page.locator(".preview img")).to_be_visible()
    content = list((tmp_path / "red.png").read_bytes())
    page.evaluate(
        """(content) => {
          const data = new DataTransfer();
          data.items.add(new File([new Uint8Array(content)], "dropped.png", { type: "image/png" }));
          document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }""",
        content,
    )
    expect(page.locator("#tries .try[aria-current=true]")).to_contain_text("dropped.png")
    watched.tab("suppose")
    cell = page.locator(".painted .slot").nth(3)
    cell.click()
    expect(page.locator("#forced .chip")).to_contain_text("looks where you said")


def test_a_sound_is_played_along_where_the_model_listened(studio: Open, tmp_path: Path) -> None:
    tones.write_melodies(tmp_path, {"test": 1})
    [recording] = (tmp_path / "sounds").iterdir()
    watched = studio().go()
    page = watched.page
    page.select_option("#model", "melodies")
    expect(page.locator(".listening image")).to_be_visible()
    page.set_input_files(".drop input", recording)
    expect(page.locator("#tries .try[aria-current=true]")).to_contain_text(recording.name)
    expect(page.locator(".preview audio")).to_be_visible()
    page.wait_for_function("document.querySelector('.listening audio').readyState > 0")
    page.locator(".listening image").click()
    # In the middle of the spectrogram or, by now, behind it.
    page.wait_for_function("document.querySelector('.listening audio').currentTime > 0.5")
    page.wait_for_function("document.querySelector('.listening line.line-b').x1.baseVal.value > 300")


def test_a_film_runs_lit_as_the_model_looked(studio: Open, tmp_path: Path) -> None:
    first, *others = (Image.fromarray(one) for one in moves.draw(12, 16))
    first.save(tmp_path / "film.gif", save_all=True, append_images=others)
    count = len(list(ImageSequence.Iterator(Image.open(tmp_path / "film.gif"))))  # fewer than were drawn: equal ones become one
    watched = studio().go()
    page = watched.page
    page.select_option("#model", "films")
    expect(page.locator(".reel .rows li").first).to_be_visible()
    page.set_input_files(".drop input", tmp_path / "film.gif")
    expect(page.locator("#tries .try[aria-current=true]")).to_contain_text("film.gif")
    expect(page.locator(".preview img")).to_be_visible()
    page.locator(".reel .play").click()
    expect(page.locator(".reel .status")).to_have_text(re.compile(rf"frame [2-9] of {count}.+weight 0\.\d{{3}}"))
    page.locator(".reel .play").click()
    expect(page.locator(".reel .play")).to_contain_text("play")


def test_the_lesson_has_five_steps(studio: Open) -> None:
    watched = studio().go()
    page = watched.page
    page.click("#lesson-button")
    for number, (model, tab) in enumerate(
        [
            ("no-attention", "answer"),
            ("every-step", "answer"),
            ("attention", "answer"),
            ("attention", "search"),
            ("attention", "suppose"),
        ]
    ):
        expect(page.locator(".ways [aria-current=step]")).to_have_text(str(number + 1))
        expect(page.locator("#model")).to_have_value(model)
        expect(page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
        expect(page.locator("#answer")).not_to_have_attribute("aria-busy", "true")
        if number < 4:
            page.get_by_role("button", name="next", exact=True).click()
    page.click("#lesson-button")
    expect(page.locator("#lesson")).to_be_hidden()


# --- hostile texts --------------------------------------------------------------------------------------------------


def test_payloads_are_inert_in_inputs_and_outputs(studio: Open, payloads: list[str]) -> None:
    watched = studio().go()
    page = watched.page
    assert len(payloads) >= 50
    for text in payloads:
        with page.expect_response("**/v1/predict/stream"):
            watched.type(text)
    page.select_option("#model", "hostile")
    for text in payloads[::8]:
        with page.expect_response("**/v1/predict/stream"):
            watched.type(text.replace(" ", "\u00a0"))
    for tab in ("search", "suppose", "reasons", "neighbours", "code", "answer"):
        watched.tab(tab)
        expect(page.locator(f"#panel-{tab}")).not_to_be_empty()
        page.wait_for_load_state("networkidle")
    assert page.evaluate("document.querySelectorAll('img, iframe, object, embed, base, main script, main style').length") == 0
