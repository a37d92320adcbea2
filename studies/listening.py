"""Listening: whether attention goes along with a melody, and what becomes of it where one is longer than any of training.

    python studies/listening.py --runs RUNS [--threads 1]

The built-in melodies have 3 to 7 notes in training. The same model names them with attention that may look anywhere (additive),
with attention that sees where it looked last (location-aware), with both that and a window around there, and with the window
alone. Each is judged on melodies of 5 to 30 notes, as it writes by itself, and made to go on until it has written as many notes
as there are: so attention that goes astray is told from a decoder that stops. Writes studies/results/listening.json, and the
tables and figures of docs/studies/listening.md.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from common import Options, Run, cost, cost_table, made, options, results, save_figure, table, trained, write_page
from rapidfuzz.distance import Levenshtein

from seqloom.data.builtin.scenes import Pointing
from seqloom.data.builtin.tones import listening_of, melody_of
from seqloom.prediction.predictor import Predictor
from seqloom.recipe.sections import Greedy
from seqloom.results.predictions import Prediction
from seqloom.views.charts.figures import Curve, line_figure
from seqloom.views.maps.listening import listening_sketch

LOOKS = {
    "anywhere": "{kind: additive, size: 48}",
    "location-aware": "{kind: location, size: 48, filters: 8, width: 15}",
    "location-aware, window": "{kind: location, size: 48, filters: 8, width: 15, window: 16}",
    "window": "{kind: local, centre: previous, window: 16, score: {kind: additive, size: 48}}",
}
"""A window of 16 positions to either side is 0.64 s: the next note is always in it."""
LENGTHS = (5, 7, 10, 15, 20, 30)
COUNT = 100
"""So many melodies of each length, which are no part of training or validation."""
FIRST = 2_000_009
DRAWN = 15


def runs_of() -> dict[str, Run]:
    """A run for each way to look."""
    return {
        name: Run(f"listening-{name.replace(', ', '-')}", "listening", (f"model.bridge.attention={attention}",))
        for name, attention in LOOKS.items()
    }


def melodies(notes: int) -> list[str]:
    """The names of melodies of so many notes; their numbers are those of tests."""
    return [f"tones:{FIRST + 10 * number}/{notes}" for number in range(COUNT)]


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up all runs; how each does by length, and a map of one long melody."""
    found = {}
    for name, run in runs_of().items():
        path = trained(run, wanted)
        found[name] = {**cost(path), **judged(path)}
    return {"runs": found}


def judged(path: Path) -> dict[str, Any]:
    """What a run does on melodies of each length, by itself and made to go on, and a map of the first that is drawn."""
    predictor = Predictor.load(path)
    free = {notes: predictor.predict(melodies(notes)) for notes in LENGTHS}
    made_to = {notes: predictor.predict(melodies(notes), search=Greedy(minimum_length=notes)) for notes in LENGTHS}
    shown = made_to[DRAWN][0]
    title = f"{shown.sources['sound']} → {shown.text}"
    return {
        "by_itself": {str(notes): figures_of(some) for notes, some in free.items()},
        "made_to_go_on": {str(notes): figures_of(some) for notes, some in made_to.items()},
        "map": listening_sketch(shown.exhibit(), title).svg(title),
    }


def figures_of(predictions: Sequence[Prediction]) -> dict[str, float]:
    """In percent: notes wrong, notes written for those played, right ones that were listened to, steps that go on in time."""
    wanted = [melody_of(one.sources["sound"]).names.split() for one in predictions]
    said = [one.text.split() for one in predictions]
    played = sum(map(len, wanted))
    forward = [step >= 0 for one in predictions for step in steps_of(one)]
    return {
        "word_error": 100 * sum(map(Levenshtein.distance, said, wanted)) / played,
        "written": 100 * sum(map(len, said)) / played,
        "listening": 100 * sum(map(listening_of, predictions), start=Pointing()).accuracy,
        "forward": 100 * float(np.mean(forward)) if forward else float("nan"),
    }


def steps_of(prediction: Prediction) -> list[int]:
    """From each note to the next, by how many positions the place went on that was listened to most. `end` is left out."""
    written = len(prediction.tokens) - prediction.best.finished
    peaks = prediction.alignment["sound"].mean[:written].argmax(axis=1).tolist()
    return [after - before for before, after in pairwise(peaks)]


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page."""
    runs = found["runs"]
    validation = {name: [f"{one['validation']['wer']:.1f} %"] for name, one in runs.items()}
    maps = [
        save_figure(f"listening-{name.replace(', ', '-')}", one["map"], f"A melody of {DRAWN} notes, attention: {name}")
        for name, one in runs.items()
    ]
    return {
        "made": made("listening", found).replace(" --data DATA", ""),
        "models": cost_table(runs, ["word error in validation"], validation),
        "by itself": curves_of(runs, "by_itself", "Word error in percent, by the number of notes"),
        "word error": by_length(runs, "by_itself", "word_error"),
        "written": by_length(runs, "by_itself", "written"),
        "made to go on": curves_of(runs, "made_to_go_on", "The same, made to write as many notes as there are"),
        "word error, made to go on": by_length(runs, "made_to_go_on", "word_error"),
        "listening": by_length(runs, "made_to_go_on", "listening"),
        "forward": by_length(runs, "made_to_go_on", "forward"),
        "figures": "\n\n".join(maps),
    }


def curves_of(runs: Mapping[str, Any], way: str, title: str) -> str:
    """The word error by length of the first three runs, as many as a figure tells apart."""
    curves = [Curve(name, points_of(one[way], "word_error")) for name, one in list(runs.items())[:3]]
    return save_figure(f"listening-{way.replace('_', '-')}", line_figure(title, curves, x_label="notes", floor=0.0), title)


def points_of(figures: Mapping[str, Mapping[str, float]], name: str) -> list[tuple[float, float]]:
    """A figure by length."""
    return [(float(notes), values[name]) for notes, values in figures.items()]


def by_length(runs: Mapping[str, Any], way: str, figure: str) -> str:
    """A table of one figure: runs by lengths."""
    rows = [[f"`{name}`", *(f"{value:.1f}" for _, value in points_of(one[way], figure))] for name, one in runs.items()]
    return table(["notes", *map(str, LENGTHS)], rows)


if __name__ == "__main__":
    write_page("listening", page(results("listening", options(__doc__, needs_data=False), measure)))
