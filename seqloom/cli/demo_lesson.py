"""What `seqloom demo lesson` does: the models of the studio's lesson, which differ in how they see the source."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seqloom.cli.demo_showing import percent
from seqloom.cli.options import next_commands, open_console, print_json

if TYPE_CHECKING:
    from seqloom.prediction.predictor import Predictor

Train = Callable[[str, Sequence[str], Path], float]
"""Trains a recipe with changed settings into a run folder, and says how many seconds it took."""

LESSON: Mapping[str, str] = {
    "no-attention": "model.bridge={kind: initial}",
    "every-step": "model.bridge={kind: every_step}",
    "attention": "model.bridge={kind: attention, query: previous, into: [input], attention: {kind: additive, size: 64}}",
}
"""By the name of each run, which the studio's lesson knows: how its decoder sees the source."""

# One epoch each: enough to tell them apart, and nobody waits long.
_SHORT = ["training.epochs=1"]
_TRIED = 1000


def teach(folder: Path, train: Train, *, json: bool) -> None:
    """Train the models of the lesson, say how well each does, and how to begin."""
    seconds = {name: train("dates", [*_SHORT, bridge], folder / name) for name, bridge in LESSON.items()}
    from seqloom.prediction.predictor import Predictor

    right = {name: _exact_match(Predictor.load(folder / name)) for name in LESSON}
    if json:
        runs = [
            {"run": str(folder / name), "training_seconds": round(seconds[name], 1), "exact_match": right[name]}
            for name in LESSON
        ]
        print_json({"runs": runs})
        return
    _tell(right, seconds)
    folders = " ".join(str(folder / name) for name in LESSON)
    typer.echo(f"\n{sum(seconds.values()):.0f} s of training. Now start the studio, and press `lesson`:")
    typer.echo(next_commands([f"serve {folders}"]))


def _exact_match(predictor: "Predictor") -> float:
    examples = list(predictor.corpus.examples("test"))[:_TRIED]
    return percent([one.text == example.target for one, example in zip(predictor.predict(examples), examples, strict=True)])


def _tell(right: Mapping[str, float], seconds: Mapping[str, float]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2))
    for title in ("model", "exact match", "seconds"):
        table.add_column(title, justify="left" if title == "model" else "right")
    for name in LESSON:
        table.add_row(name, f"{right[name]:.1f} %", f"{seconds[name]:.0f}")
    open_console().print(table)
