"""Language models on published texts: cut the text as published, train, measure the test part once, print a row.

    python benchmarks/language_models.py tinyshakespeare-10 --data DATA/tinyshakespeare --runs RUNS
    python benchmarks/language_models.py ptb-30 --data DATA/ptb --runs RUNS --threads 2

    python benchmarks/language_models.py tinyshakespeare-gru --minutes 5 --data DATA/tinyshakespeare --runs RUNS
    python benchmarks/language_models.py tinyshakespeare-gru --set training.steps=1000 --data DATA/tinyshakespeare --runs RUNS

With --minutes, as many updates are made as fit. With --split validation, nothing of the test part is looked at: so one
chooses between recipes (--set). DATA/tinyshakespeare holds input.txt.gz, DATA/ptb holds ptb.{train,valid,test}.txt.gz. A
run that was interrupted goes on. Recipes are in benchmarks/recipes; the row is printed as JSON and as a line of
docs/results.md.
"""

import gzip
from pathlib import Path

import numpy as np
from runs import Found, add_minutes, arguments, report

from seqloom.prediction.backends import open_model
from seqloom.prediction.language_model import LanguageModel
from seqloom.recipe import read_recipe
from seqloom.results.language import Summary
from seqloom.runs import RunFolder
from seqloom.symbols import END

RECIPES = Path(__file__).parent / "recipes"
WINDOW, WINDOWS = 256, 1000


LAST_PLAY = "SLY:\nI'll pheeze you"
"""How the last play that begins in the first 90 % begins."""


def cut_shakespeare(data: Path, out: Path) -> None:
    """First 90 % to train on, of which the last play is to choose by; last 10 % to report.

    Those are of plays that training does not have. So must be what one chooses by: the more of a play one knows by heart, the
    better one is at the rest of it, and the worse at others.
    """
    text = gzip.decompress((data / "input.txt.gz").read_bytes()).decode()
    end = len(text) * 9 // 10
    middle = text.index(LAST_PLAY)
    for name, part in (("train", text[:middle]), ("validation", text[middle:end]), ("test", text[end:])):
        (out / f"{name}.txt").write_text(part, encoding="utf-8", newline="")


def cut_treebank(data: Path, out: Path) -> None:
    """The three files as they are, without the spaces around each line."""
    for name, file in (("train", "train"), ("validation", "valid"), ("test", "test")):
        lines = gzip.decompress((data / f"ptb.{file}.txt.gz").read_bytes()).decode().splitlines()
        (out / f"{name}.txt").write_text("".join(f"{line.strip()}\n" for line in lines), encoding="utf-8")


CUTS = {"tinyshakespeare": cut_shakespeare, "ptb": cut_treebank}


def prepared_text(dataset: str, data: Path, runs: Path) -> dict[str, str]:
    """The parts of a text as files of their own."""
    folder = runs / f"{dataset}-parts"
    if not (folder / "test.txt").exists():
        folder.mkdir(parents=True, exist_ok=True)
        CUTS[dataset](data, folder)
    return {name: str(folder / f"{name}.txt") for name in ("train", "validation", "test")}


def windows_loss(run: Path, text: Path) -> float:
    """Mean loss over random windows that each start from nothing, as models without a state are judged."""
    model = open_model(run)
    lines = text.read_text(encoding="utf-8").split("\n")[:-1]
    symbols = np.concatenate([np.append(line, END) for line in model.vocabularies["target"].encode_targets(lines)])
    starts = np.random.default_rng(1).integers(len(symbols) - WINDOW - 1, size=WINDOWS)
    windows = symbols[starts[:, None] + np.arange(WINDOW + 1)]
    log_probs = [
        model.stepper.score_stream(part[:, :-1], part[:, 1:], model.stepper.start({}, len(part)))[0]
        for part in np.split(windows, range(100, WINDOWS, 100))
    ]
    return -float(np.mean(np.concatenate(log_probs)))


def measure(name: str, run: Path, text: Path) -> Found:
    """What is reported of a finished run: its loss on a part of the text, beside that in validation, by which it was chosen."""
    opened = RunFolder.open(run)
    counters = opened.counters() or {}
    scored = Summary.of(LanguageModel.load(run).score(text.read_text(encoding="utf-8").split("\n")[:-1]))
    return {
        "loss": -scored.log_prob / scored.symbols,
        "perplexity": scored.perplexity,
        "symbols": scored.symbols,
        "windows_loss": windows_loss(run, text) if name.startswith("tinyshakespeare") else None,
        "validation_loss": counters["best"],
        "precision": opened.facts["precision"],
        "finished": counters["finished"],
    }


def figures(found: Found) -> str:
    """Losses in validation, on the part that is measured and in windows of it, and perplexity."""
    windows = "" if found["windows_loss"] is None else f"{found['windows_loss']:.4f}"
    return f"{found['validation_loss']:.4f} | {found['loss']:.4f} | {windows} | {found['perplexity']:.2f}"


def main() -> None:
    """Train or pick up a run, then measure it."""
    parser = arguments(__doc__)
    parser.add_argument("name", choices=sorted(path.stem for name in CUTS for path in RECIPES.glob(f"{name}-*.yaml")))
    parser.add_argument("--split", choices=["validation", "test"], default="test")
    add_minutes(parser)
    wanted = parser.parse_args()
    texts = prepared_text(wanted.name.split("-")[0], wanted.data, wanted.runs)
    settings = [f"data.{name}={path}" for name, path in texts.items()]
    recipe = read_recipe(RECIPES / f"{wanted.name}.yaml", [*settings, f"training.threads={wanted.threads}", *wanted.set])
    part = Path(texts[wanted.split])
    report(
        wanted.name,
        recipe,
        wanted.runs / wanted.name,
        measure=lambda run: {"split": wanted.split, **measure(wanted.name, run, part)},
        figures=figures,
        minutes=wanted.minutes,
    )


if __name__ == "__main__":
    main()
