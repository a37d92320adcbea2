"""Speech recognition on published recordings: train the packaged recipe `speech`, measure the test part once, print a row.

    python benchmarks/sounds.py fsdd --data DATA --runs RUNS                    (strings of digits, all speakers known)
    python benchmarks/sounds.py fsdd-without-theo --data DATA --runs RUNS       (and the other four; the test is of him alone)
    python benchmarks/sounds.py grid --data DATA --runs RUNS                    (six words, one speaker)
    python benchmarks/sounds.py tones --data DATA --runs RUNS                   (melodies; studies/listening.py has longer ones)

DATA holds the folders fsdd and grid_s1; tables and joined recordings are written beside the runs. A run that was interrupted
goes on, a finished one is picked up. With --split validation, nothing of the test part is looked at.

Strings of fsdd are 3 to 7 digits, joined from recordings of one speaker with nothing between them. Test strings are made of the
test takes (0 to 4) alone, validation strings of takes 5 to 9, and training strings of the others; some of these are shorter.
"""

import csv
import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein
from runs import Found, arguments, report

from seqloom.cli.recipes import find_recipe
from seqloom.data.media.files import MediaRoot
from seqloom.data.media.sounds import samples_of
from seqloom.data.preparing.corpus import Corpus
from seqloom.data.preparing.splitting import SplitName
from seqloom.prediction.predictor import Predictor
from seqloom.recipe import read_recipe
from seqloom.runs import RunFolder

SPEAKERS = ("george", "jackson", "nicolas", "theo", "yweweler")
TAKES: Mapping[SplitName, range] = {"test": range(5), "validation": range(5, 10), "train": range(10, 50)}
STRINGS: Mapping[SplitName, int] = {"test": 500, "validation": 200, "train": 3000}
DIGITS_AT_A_TIME: Mapping[SplitName, tuple[int, int]] = {"test": (3, 7), "validation": (3, 7), "train": (1, 7)}
"""From, to. Single digits tell a model what each sounds like before it has learnt where to listen."""
DIGITS = ("data.sources={sound: {kind: sound, rate: 8000, normalise: together}}", "model.ctc={weight: 0.8}", "search.ctc=0.8")
KNOWN = (*DIGITS, "training.epochs=8")
SPEEDS = "[0.85, 1.0, 1.15]"
UNKNOWN = (*DIGITS, "training.epochs=6", f"training.augment.speeds={SPEEDS}", f"search.speeds={SPEEDS}")
"""What is set otherwise for strings of digits. An epoch is longer than one of grid; other speeds sound like other people."""
RATE = 8_000


# --- data -----------------------------------------------------------------------------------------------------------


def fsdd(data: Path, folder: Path, left_out: str | None, judge: str | None) -> list[str]:
    """Tables of joined recordings, and the settings that read them.

    left_out: a speaker who is heard in the test alone. judge: one who is heard in validation alone, to choose settings by.
    """
    others = [speaker for speaker in SPEAKERS if speaker not in (left_out, judge)]
    heard = {"train": others, "validation": [judge] if judge else others, "test": [left_out] if left_out else others}
    recordings = folder.parent / "fsdd-recordings"
    if not recordings.exists():
        with tarfile.open(data / "fsdd" / "recordings.tar.xz") as archive:
            archive.extractall(recordings, filter="data")
    for number, (split, count) in enumerate(STRINGS.items()):
        spoken = strings(data / "fsdd" / "recordings.tsv", split, heard[split])
        random = np.random.default_rng([18, number])
        _write_strings(folder, split, recordings, spoken, count, random)
    return [*(f"data.{split}={folder / f'{split}.tsv'}" for split in STRINGS), *(KNOWN if left_out is None else UNKNOWN)]


def strings(table: Path, split: SplitName, speakers: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """The files of a split by speaker and word."""
    found: dict[str, dict[str, list[str]]] = {speaker: defaultdict(list) for speaker in speakers}
    for row in _rows(table):
        if row["speaker"] in found and int(row["index"]) in TAKES[split]:
            found[row["speaker"]][row["word"]].append(row["file"])
    return found


def _write_strings(
    folder: Path,
    split: SplitName,
    recordings: Path,
    spoken: Mapping[str, Mapping[str, Sequence[str]]],
    count: int,
    random: np.random.Generator,
) -> None:
    """Join recordings, and write the table that names them."""
    import soundfile

    if (folder / f"{split}.tsv").exists():
        return
    root = MediaRoot.open(recordings)
    places = {path.name: str(path.relative_to(recordings)) for path in recordings.rglob("*.wav")}
    samples = {
        file: samples_of(root.resolve(places[file]), RATE)
        for words in spoken.values()
        for files in words.values()
        for file in files
    }
    (folder / split).mkdir(parents=True, exist_ok=True)
    fewest, most = DIGITS_AT_A_TIME[split]
    lines = []
    for number in range(count):
        words = spoken[str(random.choice(sorted(spoken)))]
        said = random.choice(sorted(words), size=random.integers(fewest, most + 1))
        joined = np.concatenate([samples[str(random.choice(words[str(word)]))] for word in said])
        soundfile.write(folder / split / f"{number}.flac", joined, RATE)
        lines.append(f"{split}/{number}.flac\t{' '.join(said)}\n")
    (folder / f"{split}.tsv").write_text("".join(lines))


def grid(data: Path, folder: Path) -> list[str]:
    """Tables of the splits, and the settings that read the sound of the clips."""
    names = {"train": "train", "dev": "validation", "test": "test"}
    lines: dict[str, list[str]] = defaultdict(list)
    for row in _rows(data / "grid_s1" / "clips.tsv"):
        lines[names[row["split"]]].append(f"{row['file']}\t{row['words']}\n")
    folder.mkdir(parents=True, exist_ok=True)
    for split, some in lines.items():
        (folder / f"{split}.tsv").write_text("".join(some))
    root = data / "grid_s1" / "clips.zip"
    sound = f"data.sources={{sound: {{kind: sound, bands: 40, root: {root}}}}}"
    return [*(f"data.{split}={folder / f'{split}.tsv'}" for split in lines), sound]


def _rows(table: Path) -> Iterator[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as stream:
        yield from csv.DictReader(stream, delimiter="\t")


TASKS = ("fsdd", *(f"fsdd-without-{speaker}" for speaker in SPEAKERS), "grid", "tones")


def settings_of(name: str, data: Path, folder: Path, judge: str | None = None) -> list[str]:
    """What a task sets in the recipe; its tables are written if they are not there."""
    if name == "tones":
        return []
    folder.mkdir(parents=True, exist_ok=True)
    if name == "grid":
        return grid(data, folder)
    return fsdd(data, folder, name.removeprefix("fsdd").removeprefix("-without-") or None, judge)


# --- rows -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measure:
    """What a run does on a part of its data."""

    split: SplitName

    def __call__(self, path: Path) -> Found:
        """Word error: edits a word that was said; sentence accuracy: all words right."""
        recipe = RunFolder.open(path).recipe
        examples = list(Corpus(recipe.data, recipe.seed).examples(self.split))
        outputs = [prediction.text.split() for prediction in Predictor.load(path).predict(examples)]
        said = [(example.target or "").split() for example in examples]
        edits = sum(Levenshtein.distance(one, other) for one, other in zip(outputs, said, strict=True))
        whole = sum(one == other for one, other in zip(outputs, said, strict=True))
        return {
            "count": len(said),
            "split": self.split,
            "word error": 100 * edits / sum(map(len, said)),
            "sentences right": 100 * whole / len(said),
        }


def figures(found: Found) -> str:
    """The figures of a row."""
    return f"{found['word error']:.2f} | {found['sentences right']:.1f}"


def main() -> None:
    """Print the rows of some tasks."""
    parser = arguments(__doc__)
    parser.add_argument("names", nargs="+", choices=TASKS)
    parser.add_argument("--split", choices=["validation", "test"], default="test")
    parser.add_argument(
        "--by", choices=SPEAKERS, help="fsdd: train without this one, too, who is all of validation, and measure that"
    )
    given = parser.parse_args()
    for task in given.names:
        name = f"{task}-by-{given.by}" if given.by else task
        own = settings_of(task, given.data.resolve(), given.runs.resolve() / f"{name}-data", given.by)
        recipe = read_recipe(
            find_recipe("tones" if task == "tones" else "speech"), [*own, f"training.threads={given.threads}", *given.set]
        )
        report(name, recipe, given.runs / name, measure=Measure("validation" if given.by else given.split), figures=figures)


if __name__ == "__main__":
    main()
