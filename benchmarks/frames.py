"""Models that read rows of numbers which others computed: cut the data, train, measure the test part once, print a row.

    python benchmarks/frames.py an4 --data DATA/an4 --runs RUNS
    python benchmarks/frames.py msvd --data DATA/msvd_features --runs RUNS --threads 1

`an4` is speech as 13 cepstra every 10 ms, by `benchmarks/recipes/an4.yaml`; of its training speakers, every tenth is kept to
choose by. `msvd` is videos as what VGG16 says of 20 frames each, by the recipe `feature-captions`. A name says what is changed
in its recipe. A run that was interrupted goes on. The row is printed as JSON and as a line of docs/results.md.
"""

import csv
import gzip
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from captions import figures, measure
from runs import arguments, report

from seqloom.cli.recipes import find_recipe
from seqloom.recipe import read_recipe

CHANGES: dict[str, list[str]] = {
    "an4": [],
    "an4-ctc": ["model.ctc={weight: 0.8}", "search.ctc=0.8"],
    "msvd": [],
    "msvd-mean": ["data.sources.frames.pooled=true"],
}
"""What each row changes in its recipe."""

SPLITS = ("train", "validation", "test")
Rows = Iterable[tuple[str, str]]


def cut_an4(data: Path, out: Path) -> dict[str, Rows]:
    """The official parts; every tenth of the training speakers is kept to choose by."""
    rows = list(csv.DictReader((data / "transcripts.tsv").open(encoding="utf-8"), delimiter="\t"))
    with np.load(data / "mfcc.npz") as stored:
        frames, offsets = stored["frames"], stored["offsets"]
    np.savez(out / "arrays.npz", **{row["id"]: frames[offsets[i] : offsets[i + 1]] for i, row in enumerate(rows)})
    speakers = sorted({row["speaker"] for row in rows if row["split"] == "train"})
    parts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in rows:
        part = "validation" if row["split"] == "train" and row["speaker"] in speakers[::10] else row["split"]
        parts[part].append((row["id"], row["transcript"]))
    return dict(parts)


def cut_msvd(data: Path, out: Path) -> dict[str, Rows]:
    """The official parts, all captions of a clip one below the other."""
    with np.load(data / "features.npz") as stored:
        frames = stored["frames"].astype(np.float32) * stored["step"]
        np.savez(
            out / "arrays.npz",
            **{str(name): one.astype(np.float16) for name, one in zip(stored["videos"], frames, strict=True)},
        )
    with (data / "videos.tsv").open(encoding="utf-8") as stream:
        part_of = {row["video"]: row["split"].replace("dev", "validation") for row in csv.DictReader(stream, delimiter="\t")}
    parts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with gzip.open(data / "captions.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            video, caption = line.rstrip("\n").split("\t", 1)
            if video in part_of:
                parts[part_of[video]].append((video, caption))
    return dict(parts)


def settings_of(name: str, data: Path, runs: Path) -> list[str]:
    """Where the data of a row is, and what it changes in its recipe."""
    dataset = name.split("-")[0]
    folder = (runs / f"{dataset}-tables").resolve()
    if not (folder / "test.tsv").exists():
        folder.mkdir(parents=True, exist_ok=True)
        parts = {"an4": cut_an4, "msvd": cut_msvd}[dataset](data, folder)
        for split in SPLITS:
            (folder / f"{split}.tsv").write_text("".join(f"{one}\t{text}\n" for one, text in parts[split]), encoding="utf-8")
    files = [f"data.{split}={folder / split}.tsv" for split in SPLITS]
    scale = ["data.sources.frames.deviation=2.2"] if dataset == "msvd" else []
    return [*files, f"data.sources.frames.root={folder / 'arrays.npz'}", *scale, *CHANGES[name]]


def main() -> None:
    """Train or pick up a run, then measure it."""
    parser = arguments(__doc__)
    parser.add_argument("name", choices=CHANGES)
    parser.add_argument("--as", dest="called", metavar="NAME", help="the name of the run folder, if not that of the row")
    wanted = parser.parse_args()
    settings = [*settings_of(wanted.name, wanted.data, wanted.runs), f"training.threads={wanted.threads}", *wanted.set]
    own = Path(__file__).parent / "recipes" / "an4.yaml"
    recipe = read_recipe(own if wanted.name.startswith("an4") else find_recipe("feature-captions"), settings)
    name = wanted.called or wanted.name
    report(name, recipe, wanted.runs / name, measure=measure, figures=figures)


if __name__ == "__main__":
    main()
