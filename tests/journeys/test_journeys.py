"""Five people with five aims, who have read the README and nothing else. What they type is what it shows."""

import contextlib
import io
import json
import re
import zipfile
from pathlib import Path

import little_data
import pytest
from cli.conftest import Seqloom
from pages import TOP, Command, blocks, commands, play

README = TOP / "README.md"
SMALL = {"training.threads": 1, "training.steps": 6, "model.decoder.size": 24, "model.decoder.embedding": 8}
TEXT = {**SMALL, "model.encoder.size": 12, "model.encoder.embedding": 8}


def typed(*words: str) -> Command:
    """The README's first command that has these words next to each other."""
    found = next((one for one in commands(README) if one.has(*words)), None)
    assert found is not None, f"the README does not say: seqloom {' '.join(words)}"
    return found


def with_text(command: Command, text: str) -> Command:
    """The README's command with another text to explain."""
    return Command(tuple(text if word in ("an input", "namaste") else word for word in command.words), command.given)


def test_pronunciations_of_a_language(seqloom: Seqloom, here: Path) -> None:
    little_data.write_lines(here / "words.tsv", little_data.pronunciations(150))
    checked, _, *_, evaluated = play(
        [
            typed("check", "words.tsv"),
            typed("train", "--pairs", "words.tsv", "--out", "runs/words"),
            typed("report", "runs/words"),
            with_text(typed("explain", "runs/words"), "chaton"),
            typed("evaluate", "runs/words", "--json"),
        ],
        seqloom,
        {**TEXT, "training.steps": 60},
    )
    assert "fit for training" in checked.out
    assert evaluated.objects[0]["count"] > 0
    said = seqloom(*typed("predict", "runs/words").words, given="chaton\n")
    outputs = [line.split("\t")[-1] for line in said.out.splitlines()]
    assert len(outputs) == 3
    sounds = {sound for output in outputs for sound in output.split()}
    assert sounds <= set(little_data.SOUNDS.values()), "sounds, not letters"
    assert (here / "runs/words/report.html").stat().st_size > 10_000
    assert "<html" in (here / "map.html").read_text(encoding="utf-8")


def test_a_lesson_on_attention(seqloom: Seqloom, here: Path) -> None:
    little_data.write_lines(here / "words.tsv", little_data.transliterations(150))
    train = typed("train", "--pairs", "words.tsv", "--out", "runs/words")
    other = Command(tuple("runs/other" if word == "runs/words" else word for word in train.words))
    play([train, other.then("--set", "model.bridge.attention.kind=bilinear")], seqloom, TEXT)
    beside = with_text(typed("explain", "runs/words", "runs/other"), "namara")
    play([beside, with_text(typed("explain", "runs/words", "namaste"), "namara").then("--json")], seqloom, TEXT)
    assert "other" in (here / "both.html").read_text(encoding="utf-8")
    [told] = seqloom("explain", "runs/words", "namara", "--out", "map.json", "--json").objects
    alignment = told["alignment"]["source"]
    assert alignment["symbols"] == ["<begin>", *"namara", "<end>"]
    assert [sum(row) for row in alignment["weights"]] == pytest.approx([1.0] * len(told["tokens"]), abs=1e-2)


def test_a_small_translator(seqloom: Seqloom, here: Path) -> None:
    little_data.write_lines(here / "words.tsv", little_data.translations())
    little_data.write_lines(here / "pairs.tsv", little_data.translations()[:10])
    inputs = [line.split("\t")[0] for line in little_data.translations()[:20]]
    answers = play(
        [
            typed("train", "--pairs", "words.tsv", "--out", "runs/words"),
            typed("score", "runs/words", "pairs.tsv"),
            Command(("predict", "runs/words"), "".join(f"{line}\n" for line in inputs)),
        ],
        seqloom,
        TEXT,
    )
    assert len(answers[1].out.splitlines()) == 10
    together = answers[2].out.splitlines()
    assert len(together) == len(inputs), "a line for each line"
    assert seqloom("predict", "runs/words", given=f"{inputs[7]}\n").out == f"{together[7]}\n", "whatever its neighbours are"


def test_a_baseline_for_a_paper(seqloom: Seqloom, here: Path) -> None:
    pairs = little_data.transliterations(220)
    for name, part in {"train": pairs[:160], "dev": pairs[160:190], "test": pairs[190:]}.items():
        little_data.write_lines(here / f"{name}.tsv", part)
    little_data.write_lines(here / "held-out.tsv", pairs[190:])
    [recipe] = blocks(README, "yaml")
    (here / "recipe.yaml").write_text(recipe, encoding="utf-8")
    [shown] = blocks(README, "python")
    assert 'seqloom.train("recipe.yaml", out=' in shown
    # The README's way with a recipe, in place of its ten minutes without one.
    program = re.sub(r"^seqloom\.train\(.*$", 'seqloom.train("recipe.yaml", out="runs/words")', shown, flags=re.MULTILINE)
    with contextlib.redirect_stderr(io.StringIO()):
        exec(compile(program, "README.md", "exec"), {})  # noqa: S102
    first, again = (seqloom(*typed("evaluate", "runs/words", "--json").words).objects[0] for _ in range(2))
    assert (first["count"], first) == (30, again)
    assert first["signatures"].keys() == first["metrics"].keys()
    assert seqloom("train", "recipe.yaml", "--set", "seed=2", "--out", "runs/other").code == 0
    compared = seqloom(*typed("compare", "runs/words", "runs/other").then("--json").words)
    assert compared.objects[0]["differences"] == {"runs/other": ["seed: 1 -> 2"]}


def test_a_folder_of_photographs(seqloom: Seqloom, here: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    from seqloom.data.builtin import scenes

    lines = []
    with zipfile.ZipFile(here / "photos.zip", "w") as photos:
        for number in range(24):
            written = io.BytesIO()
            image.fromarray(scenes.draw(number, 32)).save(written, "JPEG")
            photos.writestr(f"{number}.jpg", written.getvalue())
            lines.append(f"{number}.jpg\t{scenes.scene(number).caption}")
    (here / "photo.jpg").write_bytes(written.getvalue())
    little_data.write_lines(here / "captions.tsv", lines)
    train = typed("train", "--pairs", "captions.tsv", "--images", "photos.zip")
    play([train, typed("explain", "runs/captions", "photo.jpg")], seqloom, {**SMALL, "model.encoder.channels": "[4, 8]"})
    page = (here / "photo.html").read_text(encoding="utf-8")
    assert "data:image/" in page, "the photograph is in the page"
    assert json.loads(seqloom("predict", "runs/captions", "photo.jpg", "--json").out)["alignment"]["image"]["grid"]
