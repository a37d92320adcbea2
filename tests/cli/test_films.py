"""The built-in films and clips of one's own, from a table or a recipe's name to captions, classes, views and the demo."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Seqloom, words
from seqloom.cli import recipes
from seqloom.data.builtin.moves import draw, film, splits
from seqloom.data.media.animations import apng
from seqloom.recipe import read_recipe, to_yaml
from seqloom.training.session import train

pytest.importorskip("av")

TINY = {
    "data.sources": "{video: {kind: video, size: 16, frames_per_second: null}}",
    "training.steps": 2,
    "training.batch_size": 8,
    "training.threads": 1,
    "training.precision": "fp32",
    "model.decoder.size": 12,
    "model.decoder.embedding": 4,
    "model.bridge.attention.size": 8,
    "model.encoder.frames": "{kind: cnn, channels: [4, 6], blocks: 0}",
}


@pytest.fixture(scope="module", autouse=True)
def few_films() -> Iterator[None]:
    """Splits that are drawn in a moment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splits, "FILMS", {"train": 24, "validation": 4, "test": 6})
        yield


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the recipe `moves`, with attention over the places of frames, that has seen a few films."""
    run = tmp_path_factory.mktemp("moves") / "run"
    settings = [f"{key}={value}" for key, value in TINY.items()]
    train(read_recipe(recipes.find_recipe("moves"), [*settings, "model.encoder.memory=grid"]), run)
    return run


def test_films_and_files_are_described(captions: Path, seqloom: Seqloom, here: Path) -> None:
    (here / "film.apng").write_bytes(apng(draw(12, 16)))
    drawn, from_file = seqloom("predict", captions, "moves:12", "film.apng", "--json").objects
    assert drawn["text"] == from_file["text"]
    assert drawn["log_prob"] == pytest.approx(from_file["log_prob"])
    assert drawn["alignment"]["video"]["film"] == [4, 4]
    assert len(drawn["alignment"]["video"]["symbols"]) == 128


def test_what_is_no_film_is_a_sentence(captions: Path, seqloom: Seqloom, here: Path) -> None:
    (here / "clip.mp4").write_bytes(b"no video at all")
    for name, told in {
        "moves:twelve": "input:1: expected a film such as 'moves:12', found 'moves:twelve'",
        "clip.mp4": "input:1: clip.mp4: expected a video (MP4, AVI,",
        "missing.mp4": "missing.mp4: expected a file to read",
    }.items():
        answer = seqloom("predict", captions, name)
        assert answer.code == 3
        assert told in answer.err


def test_explaining_a_film_shows_its_frames_in_every_form(captions: Path, seqloom: Seqloom, here: Path) -> None:
    for ending in ("html", "svg", "png", "json"):
        answer = seqloom("explain", captions, "moves:12", "--prefix", film(12).caption, "--out", f"film.{ending}")
        assert answer.code == 0, answer.err
    page = (here / "film.html").read_text()
    assert 'class="reel" data-frames="8"' in page
    [body] = [json.loads(page.split('<script type="application/json">')[1].split("</script>")[0])]
    assert len(body["reels"][0]["masks"]) == len(body["candidates"][0]["rows"])
    assert len(body["candidates"][0]["maps"][0]["columns"]) == 8
    assert (here / "film.svg").read_text().count("<image") == 8 * (1 + len(body["candidates"][0]["rows"]))
    assert json.loads((here / "film.json").read_text())["alignment"]["video"]["film"] == [4, 4]


def test_a_model_of_films_says_the_same_without_torch(captions: Path, seqloom: Seqloom, here: Path) -> None:
    [body] = seqloom("export", captions, "--out", "light", "--json").objects
    assert body["largest_difference"] < 1e-4
    assert body["symbols_compared"] > 0
    ran, exported = (seqloom("predict", one, "moves:12", "--json").objects[0] for one in (captions, here / "light"))
    assert exported["alignment"]["video"]["film"] == ran["alignment"]["video"]["film"]
    assert exported["log_prob"] == pytest.approx(ran["log_prob"], abs=1e-4)


def test_clips_of_classes_need_no_recipe(seqloom: Seqloom, here: Path) -> None:
    lines = []
    for number in range(40):
        (here / f"{number}.apng").write_bytes(apng(draw(number, 16)))
        lines.append(f"{number}.apng\t{film(number).actors[0].action.split()[0]}\n")
    (here / "clips.tsv").write_text("".join(lines))
    small = ["model.encoder.frames={kind: cnn, channels: [4, 6], blocks: 0}", "training.steps=1", "data.sources.video.size=16"]
    answer = seqloom("train", "--pairs", "clips.tsv", "--out", "run", *(word for one in small for word in ("--set", one)))
    assert answer.code == 0, answer.err
    assert "video files, column 1" in answer.err
    answer = seqloom("predict", "run", "1.apng", "--json")
    assert answer.objects[0]["text"] in ("moves", "grows", "shrinks")
    assert seqloom("evaluate", "run").code == 0


def test_the_doctor_opens_clips(seqloom: Seqloom, here: Path) -> None:
    for number in range(6):
        (here / f"{number}.apng").write_bytes(apng(draw(number, 16)))
    (here / "5.apng").write_bytes((here / "0.apng").read_bytes())
    (here / "4.apng").write_bytes((here / "4.apng").read_bytes()[:200])
    names = [*(f"{number}.apng" for number in range(6)), "6.apng"]
    (here / "clips.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in zip(names, "ababaab", strict=True)))
    sources = "{video: {kind: video, size: 16, maximum_frames: 3}}"
    recipe = f"data:\n  train: clips.tsv\n  sources: {sources}\nmodel: {{encoder: {{kind: video}}}}\n"
    (here / "mine.yaml").write_text(recipe)
    answer = seqloom("check", "mine.yaml", "--json")
    found = json.dumps(answer.objects[0])
    for code in ("missing-video", "truncated-video", "cut-videos"):
        assert code in found


def test_the_demo_tells_films_and_says_when_it_looked(seqloom: Seqloom, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = read_recipe(recipes.find_recipe("moves"), words(TINY)[1::2])
    (here / "tiny.yaml").write_text(to_yaml(recipe))
    monkeypatch.setattr(recipes, "find_recipe", lambda name: here / "tiny.yaml" if name == "moves" else None)
    answer = seqloom("demo", "video", "--out", "run")
    assert answer.code == 0, answer.err
    assert "of 4 films of known combinations" in answer.out
    [body] = seqloom("demo", "video", "--out", "run", "--json").objects
    assert {"exact_match_known", "exact_match_new", "time_pointing", "time_pointing_by_chance"} < set(body)
    assert all(Path(one).stat().st_size for one in body["maps"])
