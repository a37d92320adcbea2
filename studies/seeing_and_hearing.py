"""Seeing and hearing: what a model understands that hears a voice in noise, that sees lips alone, and that has both.

    python studies/seeing_and_hearing.py --data DATA --runs RUNS [--threads 1]

DATA holds grid_s1: clips of one person who says six words. Noise of the voice's own colour is added to the sound, always the
same, and written beside the runs. One model hears, one sees, one does both; those that hear have learnt with every level of
noise. Each is judged on the test clips at each level. Writes studies/results/seeing-and-hearing.json, and the tables and the
figure of docs/studies/seeing-and-hearing.md.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from common import (
    Options,
    Run,
    cost,
    cost_table,
    made,
    options,
    results,
    save_figure,
    scores,
    table,
    trained,
    with_interval,
    write_page,
)
from lips import HEIGHT, LOOKS, WIDTH, Film, components_of, corners_of, face_of
from noise import Samples, in_noise, mean_spectrum, noise_of, within_bounds

from seqloom.data.examples import Example
from seqloom.data.media.files import MediaRoot
from seqloom.data.media.sounds import samples_of
from seqloom.data.media.videos import VideoFrames
from seqloom.data.preparing.corpus import Corpus
from seqloom.evaluation.items import items_of
from seqloom.metrics import Item
from seqloom.prediction.predictor import Predictor
from seqloom.views.charts.figures import Curve, line_figure

NAME = "seeing-and-hearing"
LEVELS: Mapping[str, float | None] = {"-5": -5.0, "0": 0.0, "5": 5.0, "10": 10.0, "clean": None}
"""How much louder the voice is than the noise, in decibels; clean: as it was recorded."""
PLACES: Mapping[str, float] = {"-5": -5, "0": 0, "5": 5, "10": 10, "clean": 15}
"""Where each stands in the figure."""
SPLITS = {"train": "train", "dev": "validation", "test": "test"}
RATE, FRAMES_PER_SECOND = 16_000, 25
MARGIN = 2
"""So many frames before and after a word belong to its piece."""
RECORDINGS = 100
"""So many recordings of the training part say what colour the noise has."""


def runs_of(folder: Path) -> dict[str, Run]:
    """One that hears, two that see, and one that does both and begins with what the first of these has learnt to see.

    folder: where the data is that the study wrote.
    """
    lips = (f"data.sources.lips.root={(folder / 'lips.npz').resolve()}",)
    ctc = ("model.ctc={weight: 0.8}", "search.ctc=0.8", "training.epochs=12")
    picture = Run(f"{NAME}-picture", f"{NAME}-picture", lips)
    return {
        "sound": Run(f"{NAME}-sound", f"{NAME}-sound"),
        "picture": picture,
        "picture, CTC": Run(f"{NAME}-picture-ctc", f"{NAME}-picture", (*lips, *ctc)),
        "both": Run(f"{NAME}-both", f"{NAME}-both", lips, start=picture.name),
    }


DRAWN = ("sound", "picture", "agreed")
"""What the figure has."""
METRICS = ("wer", "exact_match")
LIKELY = 5
"""So many sentences of each run are looked at, where two agree."""
WEIGHTS = tuple(round(0.1 * tenths, 1) for tenths in range(1, 21))
"""How much lips may count beside sound."""


# --- data -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Clip:
    """A clip of the data set: its name, its part, its words, and the first and last frame of each word."""

    name: str
    part: str
    words: tuple[str, ...]
    times: tuple[tuple[int, int], ...]

    @property
    def spoken(self) -> slice:
        """The samples from the beginning of the first word to the end of the last."""
        per_frame = RATE // FRAMES_PER_SECOND
        return slice(self.times[0][0] * per_frame, self.times[-1][1] * per_frame)


def clips_of(data: Path) -> list[Clip]:
    """The table of the clips."""
    with (data / "grid_s1" / "clips.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [Clip(row["file"], SPLITS[row["split"]], tuple(row["words"].split()), times_of(row["frames"])) for row in rows]


def times_of(frames: str) -> tuple[tuple[int, int], ...]:
    """The first and the last frame of each word: `17-22 22-27 ...`."""
    pairs = (word.split("-") for word in frames.split())
    return tuple((int(first), int(last)) for first, last in pairs)


def write_data(data: Path, folder: Path) -> None:
    """Sounds at every level, lips as numbers, and tables of sound, lips and words: of all levels together, and of each."""
    if (folder / "pieces.tsv").exists():
        return
    clips, root = clips_of(data), MediaRoot.open(data / "grid_s1" / "clips.zip")
    write_sounds(clips, root, folder)
    write_lips(clips, root, folder)
    for part in SPLITS.values():
        some = [clip for clip in clips if clip.part == part]
        by_level = {level: list(_lines(some, level)) for level in LEVELS}
        for level, lines in by_level.items():
            (folder / f"{part}-{level}.tsv").write_text("".join(lines), encoding="utf-8")
        every = [line for lines in by_level.values() for line in lines]
        (folder / f"{part}.tsv").write_text("".join(every), encoding="utf-8")
    pieces = (f"-\t{name}\t{word}\n" for clip in clips if clip.part == "train" for name, word, _ in pieces_of(clip))
    (folder / "pieces.tsv").write_text("".join(pieces), encoding="utf-8")


def write_sounds(clips: Sequence[Clip], root: MediaRoot, folder: Path) -> None:
    """Every clip's sound at every level."""
    import soundfile

    voices = {clip.name: samples_of(root.resolve(clip.name), RATE) for clip in clips}
    learnt_from = [voices[clip.name] for clip in clips if clip.part == "train"][:RECORDINGS]
    spectrum = mean_spectrum(learnt_from, max(map(len, voices.values())))
    for number, clip in enumerate(clips):
        for level, samples in heard(voices[clip.name], clip.spoken, spectrum, number):
            path = folder / sound_name(clip, level)
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, within_bounds(samples), RATE)


def heard(voice: Samples, spoken: slice, spectrum: Samples, number: int) -> Iterator[tuple[str, Samples]]:
    """A clip's sound at each level, each time with noise of its own. number: the clip's."""
    for place, (level, decibels) in enumerate(LEVELS.items()):
        if decibels is None:
            yield level, voice
        else:
            yield level, in_noise(voice, spoken, noise_of(spectrum, len(voice), [18, place, number]), decibels)


def sound_name(clip: Clip, level: str) -> str:
    """Where a clip's sound at a level is."""
    return f"sounds/{level}/{Path(clip.name).stem}.flac"


def write_lips(clips: Sequence[Clip], root: MediaRoot, folder: Path) -> None:
    """Every clip's lips as numbers; those of training in several looks, and word by word."""
    frontend = VideoFrames(HEIGHT, WIDTH, grey=True)
    frames = {clip.name: frontend.array(root.resolve(clip.name))[..., 0] for clip in clips}
    face = face_of([frames[clip.name] for clip in clips if clip.part == "train"])
    films = {name: Film(some, corners_of(some, face)) for name, some in frames.items()}
    components = components_of([films[clip.name] for clip in clips if clip.part == "train"])
    arrays: dict[str, Any] = {}
    for clip in clips:
        for number, look in enumerate(LOOKS if clip.part == "train" else LOOKS[:1]):
            arrays[lips_name(clip, number)] = (films[clip.name].movement(look) @ components).astype(np.float16)
        for name, _, (first, last) in pieces_of(clip) if clip.part == "train" else ():
            arrays[name] = arrays[lips_name(clip)][max(0, first - MARGIN) : last + MARGIN]
    np.savez(folder / "lips.npz", **arrays)


def lips_name(clip: Clip, look: int = 0) -> str:
    """What a clip's lips are called, looked at in one of several ways."""
    return f"{Path(clip.name).stem}-{look}"


def pieces_of(clip: Clip) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """The words of a clip one by one: what each piece is called, the word, and its first and last frame."""
    for number, (word, times) in enumerate(zip(clip.words, clip.times, strict=True)):
        yield f"{Path(clip.name).stem}-word-{number}", word, times


def _lines(clips: Sequence[Clip], level: str) -> Iterator[str]:
    """Each level has its own look, in training; else all have the first."""
    look = list(LEVELS).index(level)
    for clip in clips:
        lips = lips_name(clip, look if clip.part == "train" else 0)
        yield f"{sound_name(clip, level)}\t{lips}\t{' '.join(clip.words)}\n"


# --- measuring ------------------------------------------------------------------------------------------------------


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up all runs; how each does at each level."""
    folder = wanted.runs / "tables" / NAME
    write_data(wanted.data, folder)
    placed = Options(wanted.runs / "tables", wanted.runs, wanted.threads, wanted.show, wanted.finished)
    paths = {name: trained(run, placed) for name, run in runs_of(folder).items()}
    runs = {name: {**cost(path), "levels": judged(path, folder)} for name, path in paths.items()}
    return {"runs": runs, "agreed": agreed(paths["sound"], paths["picture"], folder)}


def judged(path: Path, folder: Path) -> dict[str, Any]:
    """Word error and exact sentences of a run at each level; what hears nothing is the same at all."""
    predictor = Predictor.load(path)
    levels = list(LEVELS) if "sound" in predictor.recipe.data.sources else ["clean"]
    found = {level: judged_at(predictor, folder / f"test-{level}.tsv") for level in levels}
    return {level: found.get(level, found["clean"]) for level in LEVELS}


def judged_at(predictor: Predictor, test: Path) -> dict[str, Any]:
    """What a run does on a table of test clips."""
    examples = examples_in(predictor, test)
    return scores(items_of(predictor, examples, predictor.predict(examples)), METRICS)


def examples_in(predictor: Predictor, test: Path) -> list[Example]:
    """A table of test clips, as a run reads them."""
    data = predictor.recipe.data.model_copy(update={"test": str(test.resolve())})
    return list(Corpus(data, predictor.recipe.seed).examples("test"))


def agreed(sound: Path, picture: Path, folder: Path) -> dict[str, Any]:
    """What two runs agree on at each level, one that hears and one that sees; how much the second counts is chosen before."""
    members = [Predictor.load(path) for path in (sound, picture)]
    weight = chosen_weight(ballots_of(members, folder / "validation.tsv"))
    levels = {level: elected(ballots_of(members, folder / f"test-{level}.tsv"), weight) for level in LEVELS}
    return {"weight": weight, "levels": levels}


@dataclass(frozen=True)
class Ballot:
    """What was said in a clip, and the log-probabilities that each run has for the sentences that either thinks likely."""

    wanted: str
    votes: Mapping[str, list[float]]

    def winner(self, weight: float) -> str:
        """The sentence with the largest sum, the second run counting so much."""
        return max(self.votes, key=lambda text: self.votes[text][0] + weight * self.votes[text][1])


def ballots_of(members: Sequence[Predictor], clips: Path) -> list[Ballot]:
    """What both runs say of each clip in a table."""
    examples = [examples_in(member, clips) for member in members]
    likely: list[dict[str, list[float]]] = [{} for _ in examples[0]]
    for member, own in zip(members, examples, strict=True):
        for found, one in zip(likely, member.predict(own, beam=LIKELY, nbest=LIKELY), strict=True):
            found.update({candidate.text: [] for candidate in (one.best, *one.alternatives)})
    for member, own in zip(members, examples, strict=True):
        asked = [
            (replace(one, target=text), votes) for one, found in zip(own, likely, strict=True) for text, votes in found.items()
        ]
        for told, (_, votes) in zip(member.score([one for one, _ in asked]), asked, strict=True):
            votes.append(told.log_prob)
    return [Ballot(one.target or "", found) for one, found in zip(examples[0], likely, strict=True)]


def chosen_weight(ballots: Sequence[Ballot]) -> float:
    """How much the lips count: with the fewest words wrong over all levels; the least of several such weights."""
    return min(WEIGHTS, key=lambda weight: (elected(ballots, weight)["wer"]["score"], weight))


def elected(ballots: Sequence[Ballot], weight: float) -> dict[str, Any]:
    """How the sentences do that both runs together are for."""
    return scores([item_of(one.winner(weight), one.wanted) for one in ballots], METRICS)


def item_of(text: str, wanted: str) -> Item:
    """An output beside what was wanted."""
    return Item(text, (wanted,), tuple(text.split()), (tuple(wanted.split()),), source_length=1)


# --- the page -------------------------------------------------------------------------------------------------------


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    runs = found["runs"]
    title = "Words wrong, in percent, by how much louder the voice is than the noise"
    levels = {**{name: one["levels"] for name, one in runs.items()}, "agreed": found["agreed"]["levels"]}
    curves = [Curve(name, *points_of(levels[name])) for name in DRAWN]
    marks = [(place, level) for level, place in PLACES.items()]
    figure = line_figure(title, curves, x_label="decibels", marks=marks, floor=0.0)
    validation = {name: [f"{one['validation']['wer']:.1f} %"] for name, one in runs.items()}
    return {
        "made": made("seeing_and_hearing", found),
        "models": cost_table(runs, ["word error in validation"], validation),
        "figure": save_figure(NAME, figure, title),
        "word error": by_level(levels, "wer"),
        "sentences": by_level(levels, "exact_match"),
    }


def points_of(levels: Mapping[str, Any]) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Word error by level, and its intervals."""
    points = [(PLACES[level], one["wer"]["score"]) for level, one in levels.items()]
    return points, [(one["wer"]["interval"][0], one["wer"]["interval"][1]) for one in levels.values()]


def by_level(levels: Mapping[str, Any], metric: str) -> str:
    """A table of one metric: who judges, by levels."""
    head = ["decibels", *(level if LEVELS[level] is None else f"{level} dB" for level in LEVELS)]
    rows = [[f"`{name}`", *(with_interval(one[level][metric]) for level in LEVELS)] for name, one in levels.items()]
    return table(head, rows)


if __name__ == "__main__":
    write_page(NAME, page(results(NAME, options(__doc__), measure)))
