"""The loss of every update of a few short trainings on the built-in dates, with all digits.

    python tests/curve.py > before          and after a change: python tests/curve.py | diff before -
    python tests/curve.py > tests/golden/curves.json        what the tests expect from now on

A commit that only moves code leaves every bit of them as it was, on one machine. On another one the last digits differ.
"""

import json
import os
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from seqloom.data.builtin import dates
from seqloom.training.reporting.display import SilentDisplay, StepReport
from seqloom.training.session import train

STEPS = 25
EXAMPLES = 300

_RECURRENT = {"size": 24, "embedding": 12}
MODELS: dict[str, dict[str, Any]] = {
    "gru, additive": {
        "encoder": {"kind": "text", "cell": "gru", "bidirectional": True, "size": 12, "embedding": 12},
        "decoder": {"kind": "recurrent", "cell": "gru", **_RECURRENT},
        "bridge": {"kind": "attention", "query": "previous", "into": ["input"], "attention": {"kind": "additive", "size": 12}},
    },
    "lstm, input feeding, dropout, scheduled sampling": {
        "encoder": {"kind": "text", "cell": "lstm", "layers": 2, "dropout": 0.2, **_RECURRENT},
        "decoder": {
            "kind": "recurrent",
            "cell": "lstm",
            "layers": 2,
            "dropout": 0.2,
            **_RECURRENT,
            "inputs": {"kind": "mixed", "rise": 20},
        },
        "bridge": {"kind": "attention", "into": ["combined"], "feed": True, "attention": {"kind": "bilinear"}},
    },
    "transformer": {
        "encoder": {"kind": "transformer", "size": 16, "heads": 2, "layers": 1},
        "decoder": {"kind": "transformer", "size": 16, "heads": 2, "layers": 1},
        "bridge": {"kind": "cross_attention"},
    },
}


class _Losses(SilentDisplay):
    """Keeps the mean loss per symbol of every update."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def stepped(self, report: StepReport) -> None:
        self.values.append(report.loss)


def curves(folder: Path) -> dict[str, list[float]]:
    """The loss of every update, for each of the models. folder: for what trainings write."""
    return {name: _curve(model, folder / str(number)) for number, (name, model) in enumerate(MODELS.items())}


def _curve(model: dict[str, Any], folder: Path) -> list[float]:
    folder.mkdir()
    losses = _Losses()
    train(
        {
            "data": {"train": _lines("train", EXAMPLES, folder), "validation": _lines("validation", 4, folder)},
            "model": model,
            "training": {"steps": STEPS, "batch_tokens": 600, "learning_rate": 4e-3, "precision": "fp32", "threads": 1},
        },
        folder / "run",
        display=losses,
    )
    return losses.values


def _lines(split: dates.Split, count: int, folder: Path) -> str:
    """The first dates of a split, as a file."""
    file = folder / f"{split}.tsv"
    examples = islice(dates.examples(split), count)
    file.write_text("".join(f"{one.sources['source']}\t{one.target}\n" for one in examples), encoding="utf-8")
    return str(file)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.environ["SEQLOOM_CACHE"] = place
        json.dump(curves(Path(place)), sys.stdout, indent=1)
        print()
