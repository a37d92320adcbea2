"""One output step by step, as `explain --steps` has it: energies, weights, and what other weights would have written."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import save_figure, table

from seqloom.evaluation.tracing import walk_through
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Greedy
from seqloom.results.steps import Walkthrough
from seqloom.views.charts.steps import steps_sketch
from seqloom.views.drawing.page import number
from seqloom.views.text.labels import visible


def walked(path: Path, text: str) -> dict[str, Any]:
    """One greedy output with all its steps."""
    return walk_through(Predictor.load(path), text, search=Greedy()).as_json()


def drawn(body: Mapping[str, Any], chosen: Sequence[int]) -> str:
    """All steps as a table, below a figure of the chosen ones, which are counted from 1."""
    walk = Walkthrough.from_json(body)
    title = f"Score, weights, context, word: {walk.sources[walk.name]}"
    there = [one - 1 for one in chosen if one <= len(walk.steps)]
    picture = save_figure("alignments-steps", steps_sketch(walk, there, title).svg(title), title)
    head = ["step", "written", "P", "P with even weights", "highest weight on", "its energy", "its weight"]
    rows = []
    for index, step in enumerate(walk.steps):
        place = int(np.argmax(step.weights))
        rows.append(
            [
                index + 1,
                f"`{_shown(step.symbol)}`",
                f"{step.probability:.2f}",
                f"{step.even_probability:.2f}",
                f"`{_shown(walk.symbols[place])}`",
                "" if step.energies is None else number(step.energies[place], 2),
                f"{step.weights[place]:.2f}",
            ]
        )
    return f"{picture}\n\n{table(head, rows)}"


def _shown(symbol: str) -> str:
    return visible(symbol.strip() or symbol)
