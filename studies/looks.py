"""Looks: which questions about stories need one, two or three looks at the story.

    python studies/looks.py --data DATA --runs RUNS [--threads 1]

Tasks of bAbI (DATA/babi_en10k) that take one, two or three facts. The same model looks at the sentences once, twice or three
times before it answers, each time asking with what it read before. Writes studies/results/looks.json, and tables and figures
of docs/studies/looks.md. The maps are of a story made here: none of the data set's sentences is in it, which is checked.
"""

import gzip
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import Options, Run, cost, cost_table, made, options, outputs, results, save_figure, table, trained, write_page

from seqloom.prediction.predictor import Predictor
from seqloom.results.predictions import Candidate, Prediction
from seqloom.views import to_svg

TASKS = {
    1: "where somebody is: one fact",
    2: "where a thing is that somebody carries: two facts",
    15: "what an animal is afraid of, by its kind: two facts",
    16: "what colour an animal has, by others of its kind: three facts",
}
LOOKS = (1, 2, 3)
DRAWN = 15
"""The task whose models look at the story that is drawn."""
STORY = (
    "Emily, a wolf.",
    "Cats afraid of sheep.",
    "Wolves afraid of mice.",
    "Winona, a sheep.",
    "Mice afraid of cats.",
    "Sheep afraid of wolves.",
)
QUESTION = "Of what is Emily afraid?"


def file_of(data: Path, task: int, part: str) -> str:
    """The file of a task, below the data folder."""
    [found] = (data / "babi_en10k").glob(f"qa{task}_*_{part}.txt.gz")
    return f"babi_en10k/{found.name}"


def run_of(data: Path, task: int, looks: int) -> Run:
    """A run for each task and number of looks."""
    files = tuple(f"data.{part}={file_of(data, task, part)}" for part in ("train", "test"))
    return Run(f"looks-{task}-{looks}", "looks", (*files, f"model.bridge.looks={looks}"))


def require_own(data: Path) -> None:
    """Refuse a story with sentences of the data set."""
    for part in ("train", "test"):
        with gzip.open(data / file_of(data, DRAWN, part), "rt", encoding="utf-8") as lines:
            told = {line.split(" ", 1)[1].split("\t")[0].strip() for line in lines}
        if same := [one for one in STORY if one in told]:
            raise SystemExit(f"{same[0]!r} is a sentence of the data set. Tell it otherwise")


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up all runs; how right each is on its task."""
    require_own(wanted.data)
    found: dict[str, Any] = {}
    for task in TASKS:
        for looks in LOOKS:
            path = trained(run_of(wanted.data, task, looks), wanted)
            items = outputs(path, "test")
            right = 100 * sum(one.hypothesis in one.references for one in items) / len(items)
            drawn = {"map": drawing(path)} if task == DRAWN else {}
            found[f"{task}-{looks}"] = {**cost(path), "right": right, "count": len(items), **drawn}
    return {"runs": found}


def drawing(path: Path) -> str:
    """What a model looks at while it answers the question about the story that is told here."""
    [prediction] = Predictor.load(path).predict([{"story": " ".join(STORY), "question": QUESTION}])
    return to_svg(answer_alone(prediction), title=f"{QUESTION} \u2192 {prediction.text}")


def answer_alone(prediction: Prediction) -> Candidate:
    """The answer and what of the story it looked at: `end`, which follows every class, tells nothing."""
    best = prediction.best
    story = best.alignment["story"]
    first = replace(story, weights=story.weights[:, :1])
    return replace(best, tokens=best.tokens[:1], log_probs=best.log_probs[:1], alignment={"story": first})


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    runs = found["runs"]
    rows = [
        [f"{task}: {what}", *(f"{runs[f'{task}-{looks}']['right']:.1f} %" for looks in LOOKS)] for task, what in TASKS.items()
    ]
    cells = {name: [f"{one['right']:.1f} %"] for name, one in runs.items()}
    maps = [
        save_figure(f"looks-{looks}", runs[f"{DRAWN}-{looks}"]["map"], f"What is looked at, looks: {looks}") for looks in LOOKS
    ]
    return {
        "made": made("looks", found),
        "right": table(["task", *(f"{looks} look{'s' if looks > 1 else ''}" for looks in LOOKS)], rows),
        "models": cost_table(runs, ["right"], cells),
        "figures": "\n\n".join(maps),
    }


if __name__ == "__main__":
    write_page("looks", page(results("looks", options(__doc__), measure)))
