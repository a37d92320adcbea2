"""Every switch at least once: cells, bridges, kinds of attention, and where the context goes, on two small tasks.

    python studies/switchboard.py --data DATA --runs RUNS [--threads 1]

The built-in dates, and Dutch words to phones (SIGMORPHON 2020; DATA holds the folder sigmorphon2020_g2p). Two designs that can
be read instead of one that cannot: all cells with all bridges, and from the GRU with additive attention one switch at a time.
Writes studies/results/switchboard.json, and the tables and figures of docs/studies/switchboard.md.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from common import (
    Options,
    Run,
    cost,
    is_finished,
    made,
    options,
    outputs,
    results,
    save_figure,
    scores,
    table,
    trained,
    with_interval,
    write_page,
)

from seqloom.views.charts.figures import Estimate, dots_figure

TASKS = {"dates": "Dates", "dutch": "Dutch words to phones"}
METRICS = {"exact_match": "exact match", "symbol_error_rate": "error rate (symbols)"}
"""What runs are judged by, and its name in tables."""

CELLS = ("rnn", "gru", "lstm")
BRIDGES = {
    "initial": "{kind: initial}",
    "every_step": "{kind: every_step}",
    "attention": "{kind: attention, query: previous, into: [input], attention: {kind: additive, size: 64}}",
}
KINDS = {
    "dot": "{kind: dot}",
    "bilinear": "{kind: bilinear}",
    "additive": "{kind: additive, size: 64}",
    "concat": "{kind: concat, size: 64}",
    "projected": "{kind: projected, size: 64}",
    "multi_head": "{kind: multi_head, heads: 4, size: 64}",
    "local, predictive": "{kind: local, centre: predictive, window: 5, score: {kind: additive, size: 64}}",
    "local, monotonic": "{kind: local, centre: monotonic, window: 5, score: {kind: additive, size: 64}}",
    "hard": "{kind: hard, score: {kind: additive, size: 64}}",
}
USES = {
    "previous, [input]": "query: previous, into: [input]",
    "current, [output]": "query: current, into: [output]",
    "current, [combined]": "query: current, into: [combined]",
    "current, [combined], feed": "query: current, into: [combined], feed: true",
    "current, [state]": "query: current, into: [state]",
    "current, [concatenated]": "query: current, into: [concatenated]",
}
PLAIN = "gru, attention"
"""What the kinds and uses change one thing of."""


Settings = tuple[str, ...]


def variations() -> dict[str, dict[str, Settings]]:
    """By table, by name, what is set."""
    cells: dict[str, Settings] = {
        f"{cell}, {bridge}": (f"model.encoder.cell={cell}", f"model.decoder.cell={cell}", f"model.bridge={section}")
        for bridge, section in BRIDGES.items()
        for cell in CELLS
    }
    plain = cells[PLAIN]
    kinds: dict[str, Settings] = {name: (*plain, f"model.bridge.attention={section}") for name, section in KINDS.items()}
    uses: dict[str, Settings] = {
        name: (*plain[:2], f"model.bridge={{kind: attention, {use}, attention: {KINDS['additive']}}}")
        for name, use in USES.items()
    }
    return {"cells": cells, "kinds": kinds, "uses": uses}


def runs_of(task: str) -> dict[str, dict[str, Run]]:
    """By table and name, the runs of a task. What occurs in several tables is one run."""
    same = {"additive": PLAIN, "previous, [input]": PLAIN}
    return {
        design: {name: Run(_folder(task, same.get(name, name)), task, settings) for name, settings in rows.items()}
        for design, rows in variations().items()
    }


def _folder(task: str, name: str) -> str:
    return f"{task}-" + "-".join(name.replace("[", "").replace("]", "").replace(",", "").split())


def measure(wanted: Options) -> dict[str, Any]:
    """Train or pick up all runs, and judge each on the test part."""
    return {task: {design: _judged_rows(rows, wanted) for design, rows in runs_of(task).items()} for task in TASKS}


def _judged_rows(rows: Mapping[str, Run], wanted: Options) -> dict[str, Any]:
    there = {name: run for name, run in rows.items() if is_finished(run, wanted) or not wanted.finished}
    return {name: judged(trained(run, wanted)) for name, run in there.items()}


@cache
def judged(path: Path) -> dict[str, Any]:
    """What a run cost and how good it is; judged once, though it may stand in several tables."""
    items = outputs(path, "test")
    return {**cost(path), "count": len(items), **scores(items, list(METRICS))}


def page(found: Mapping[str, Any]) -> dict[str, str]:
    """The generated parts of the page: one for each task that has runs, with its headings."""
    sections = {task: _section(task, title, found[task]) for task, title in TASKS.items() if any(found[task].values())}
    return {"made": made("switchboard", found), **sections}


def _section(task: str, title: str, designs: Mapping[str, Any]) -> str:
    headings = {"cells": "Cells and bridges", "kinds": "Kinds of attention", "uses": "Where the context goes"}
    parts = [f"## {title}", _cells_by_bridges(designs["cells"])]
    for design, rows in designs.items():
        figure = _figure(f"{task}-{design}", f"{title}: {headings[design].lower()}", rows)
        parts += [f"### {headings[design]}", figure, _rows(rows)]
    return "\n\n".join(parts)


def _figure(name: str, title: str, rows: Mapping[str, Any]) -> str:
    dots = [Estimate(label, run["exact_match"]["score"], run["exact_match"]["interval"]) for label, run in rows.items()]
    svg = dots_figure(title, dots, x_label="exact matches on test, %, with 95 % intervals")
    return save_figure(f"switchboard-{name}", svg, f"{title}, exact matches on test")


def _cells_by_bridges(rows: Mapping[str, Any]) -> str:
    """The readable table: exact matches of every cell with every bridge."""

    def score(cell: str, bridge: str) -> str:
        run = rows.get(f"{cell}, {bridge}")
        return "-" if run is None else f"{run['exact_match']['score']:.1f}"

    body = [[f"`{cell}`", *(score(cell, bridge) for bridge in BRIDGES)] for cell in CELLS]
    return table(["exact match, %", *(f"`{bridge}`" for bridge in BRIDGES)], body)


def _rows(rows: Mapping[str, Any]) -> str:
    watched = {METRICS[metric]: None for run in rows.values() for metric in run["validation"]}
    chosen = f"{', '.join(watched)} on validation"
    head = ["", *METRICS.values(), chosen, "parameters", "updates", "minutes", "tokens/s"]
    return table(
        head,
        [
            [
                name,
                *(with_interval(run[metric]) for metric in METRICS),
                ", ".join(f"{value:.1f}" for value in run["validation"].values()),
                f"{run['parameters']:,}",
                f"{run['steps']:,}",
                run["cpu_minutes"],
                f"{run['tokens_per_second']:,}",
            ]
            for name, run in rows.items()
        ],
    )


if __name__ == "__main__":
    write_page("switchboard", page(results("switchboard", options(__doc__), measure)))
