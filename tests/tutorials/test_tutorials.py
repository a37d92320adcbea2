"""Every tutorial, played from top to bottom: its commands in order, on small data, with a model that trains in a moment."""

from dataclasses import dataclass, field
from pathlib import Path

import little_data
import pytest
from cli.conftest import Seqloom
from pages import TOP, Write, commands, play, write_files

PAGES = TOP / "docs" / "tutorials"
SHORT: dict[str, object] = {"training.steps": 8, "training.threads": 1, "model.decoder.size": 16, "model.decoder.embedding": 8}
TEXT: dict[str, object] = {**SHORT, "model.encoder.size": 8, "model.encoder.embedding": 8}


@dataclass(frozen=True)
class Tutorial:
    """write: the data that the page takes for granted. pictures: what the last commands draw. settings: a small model."""

    write: Write
    pictures: tuple[str, ...]
    settings: dict[str, object] = field(default_factory=lambda: dict(TEXT))


def pronunciation(folder: Path) -> None:
    little_data.write_lines(folder / "words.tsv", [*little_data.pronunciations(150), "chanson\tʃ ɑ̃ s ɔ̃"])


def transliteration(folder: Path) -> None:
    little_data.write_lines(folder / "names.tsv", [*little_data.transliterations(150), "bharat\tभारत"])


def translation(folder: Path) -> None:
    little_data.write_lines(
        folder / "sentences.tsv",
        [*little_data.translations() * 2, "Two dogs are playing in the snow.\tZwei Hunde spielen im Schnee."],
    )
    little_data.write_lines(folder / "letters.txt", ["we like the red cat", "I see the old house"])


def captions(folder: Path) -> None:
    from seqloom.data.builtin import scenes
    from seqloom.data.builtin.scenes.files import png

    (folder / "pictures").mkdir()
    lines = []
    for number in range(1, 31):
        name = f"{number:04}.png"
        (folder / "pictures" / name).write_bytes(png(scenes.draw(number, 32)))
        lines.append(f"{name}\t{scenes.scene(number).caption}")
    little_data.write_lines(folder / "captions.tsv", lines)


def speech(folder: Path) -> None:
    from seqloom.data.builtin.tones import write_melodies

    write_melodies(folder, {"train": 24})
    (folder / "train.tsv").rename(folder / "clips.tsv")
    first = sorted((folder / "sounds").iterdir())[0]
    (folder / "talk.wav").write_bytes(first.read_bytes())


def language_model(folder: Path) -> None:
    little_data.write_lines(folder / "book.txt", little_data.story(400))
    little_data.write_lines(folder / "chapter.txt", ["the king sleeps at night .", "a cat xyz the sea ."])


def classes(folder: Path) -> None:
    little_data.write_lines(folder / "labelled.tsv", [*little_data.labelled(150), "hjarta\tIcelandic"])


def two_sources(folder: Path) -> None:
    little_data.write_lines(folder / "forms.tsv", [*little_data.inflections(), "hablar\tind prs 1 pl\thablamos"])
    little_data.write_lines(folder / "new.tsv", ["cantar\t1 pl", "comer\t3 sg"])


def video(folder: Path) -> None:
    from seqloom.data.builtin import moves
    from seqloom.data.media.animations import apng

    lines = []
    for number in range(1, 31):
        name = f"{number:04}.apng"
        (folder / name).write_bytes(apng(moves.draw(number, 16)))
        lines.append(f"{name}\t{moves.film(number).actors[0].action.split()[0]}")
    little_data.write_lines(folder / "clips.tsv", lines)


FRAMES = {"model.encoder.frames": "{kind: cnn, channels: [4, 8], blocks: 0}", "data.sources.video.size": 16}


def inflection(folder: Path) -> None:
    little_data.write_lines(folder / "forms.tsv", [*little_data.tagged_forms(), "hablar\tind;prs;1;pl\thablamos"])
    little_data.write_lines(folder / "new.tsv", ["cantar\tind;1;pl", "comer\tind;3;sg"])


def summaries(folder: Path) -> None:
    little_data.write_lines(folder / "articles.tsv", little_data.articles(120))
    little_data.write_lines(folder / "new.txt", ["Ann met Bob at the harbour last night .", "Cem slept ."])


def answers(folder: Path) -> None:
    little_data.write_lines(folder / "questions.tsv", little_data.questions(150))
    little_data.write_lines(folder / "new.tsv", ["Ann beat Bob with ease today .\twho won ?\t"])


def entailment(folder: Path) -> None:
    little_data.write_lines(folder / "pairs.tsv", little_data.entailments(150))
    little_data.write_lines(folder / "new.tsv", ["A man is playing chess\tNobody is playing a game"])


def stories(folder: Path) -> None:
    little_data.write_lines(folder / "stories.txt", little_data.stories(120))
    little_data.write_lines(folder / "more.txt", little_data.stories(2, seed=10))


def dialogue(folder: Path) -> None:
    little_data.write_lines(folder / "turns.tsv", little_data.turns(150))


LEAST: dict[str, object] = {"training.steps": 8, "training.threads": 1}
TIED: dict[str, object] = {**TEXT, "model.decoder.embedding": 16}

TUTORIALS = {
    "pronunciation": Tutorial(pronunciation, ("map.svg", "runs/words/report.html")),
    "transliteration": Tutorial(transliteration, ("map.svg",)),
    "translation": Tutorial(translation, ("map.svg",)),
    "captions": Tutorial(captions, ("looked.html", "looked.svg"), {**SHORT, "model.encoder.channels": "[4, 8]"}),
    "speech": Tutorial(speech, ("heard.html", "heard.svg"), {**SHORT, "model.encoder.size": 8}),
    "language-model": Tutorial(language_model, ("surprise.html", "next.html"), {**SHORT, "model.decoder.embedding": 16}),
    "classes": Tutorial(classes, ("map.svg",)),
    "video": Tutorial(video, ("clip.html",), {**SHORT, **FRAMES}),
    "inflection": Tutorial(inflection, ("map.svg",)),
    "summaries": Tutorial(summaries, ("map.svg",)),
    "answers": Tutorial(answers, ("map.svg",), LEAST),
    "entailment": Tutorial(entailment, ("why.svg", "runs/mine/report.html"), LEAST),
    "stories": Tutorial(stories, ("why.svg",), LEAST),
    "dialogue": Tutorial(dialogue, ("map.svg",), TIED),
    "two-sources": Tutorial(two_sources, ("map.html", "map.png"), SHORT),
}


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_command_of_the_tutorial_works_and_the_last_draws(name: str, seqloom: Seqloom, here: Path) -> None:
    tutorial, page = TUTORIALS[name], PAGES / f"{name}.md"
    tutorial.write(here)
    write_files(page, "yaml", here)
    play(commands(page), seqloom, tutorial.settings)
    assert all((here / picture).stat().st_size > 500 for picture in tutorial.pictures)


@pytest.mark.parametrize("name", TUTORIALS)
def test_the_tutorial_ends_with_a_picture(name: str) -> None:
    page = PAGES / f"{name}.md"
    shown = [
        line.split("](")[1].removesuffix(")") for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("![")
    ]
    assert len(shown) == 1
    assert (PAGES / shown[0]).stat().st_size > 500
    assert page.read_text(encoding="utf-8").index("![") > page.read_text(encoding="utf-8").index("explain")


def test_every_tutorial_is_listed_and_tested() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")} - {"index", "notebooks"}
    assert pages == TUTORIALS.keys()
    assert all(f"({name}.md)" in (PAGES / "index.md").read_text(encoding="utf-8") for name in pages)
